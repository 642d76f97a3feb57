//! Who is let in.

use super::{Answer, TestServer, form};

/// What an answer has in common with every other one.
#[track_caller]
fn is_sealed(answer: &Answer) {
    for (name, value) in [
        (
            "content-security-policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("referrer-policy", "same-origin"),
        ("x-frame-options", "DENY"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{answer:?}");
    }
    assert_eq!(answer.header("server"), None);
}

#[track_caller]
fn is_refused(answer: &Answer, status: u16, words: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert!(answer.body.contains(words), "{answer:?}");
    assert_eq!(answer.header("set-cookie"), None);
    is_sealed(answer);
}

#[test]
fn the_link_signs_a_browser_in_by_a_page_that_goes_on_by_itself() {
    let server = TestServer::new();
    let start = format!("http://127.0.0.1:{}{}open?code=", server.port, server.base);
    assert!(server.link.starts_with(&start));
    let answer = server.get(&format!("open?code={}", server.code()), "");
    assert_eq!(answer.status, 200);
    is_sealed(&answer);
    let onward = format!("http-equiv=\"refresh\" content=\"0;url={}\"", server.base);
    assert!(answer.body.contains(&onward), "{}", answer.body);
    let cookie = answer.header("set-cookie").unwrap();
    let (pair, attributes) = cookie.split_once("; ").unwrap();
    let (name, value) = pair.split_once('=').unwrap();
    assert_eq!(
        (name, value.len()),
        (&*format!("leadload_{}", server.port), 32)
    );
    let expected = format!("Path={}; HttpOnly; SameSite=Strict", server.base);
    assert_eq!(attributes, expected);
    let page = server.browser(&answer).get("");
    assert_eq!(page.status, 200);
    is_sealed(&page);
}

#[test]
fn a_code_works_once_and_leads_on_whoever_is_in_already() {
    let server = TestServer::new();
    let browser = server.sign_in();
    let open = format!("open?code={}", server.code());
    is_refused(&server.get(&open, ""), 403, "This link has been used");
    for wrong in ["open", "open?code=", "open?code=0", "open?other=1"] {
        is_refused(&server.get(wrong, ""), 403, "This link has been used");
    }
    let again = browser.get(&open);
    assert_eq!((again.status, again.header("set-cookie")), (200, None));
    assert!(again.body.contains("refresh"));
    assert_eq!(browser.get("").status, 200);
}

#[test]
fn looking_at_a_link_does_not_use_it_up() {
    let server = TestServer::new();
    let open = format!("open?code={}", server.code());
    let head = format!("{}\r\n", server.head("HEAD", &open));
    assert_eq!(server.raw(head).status, 403);
    server.sign_in();
}

#[test]
fn a_foreign_host_name_is_refused_before_anything_else() {
    let server = TestServer::new();
    let browser = server.sign_in();
    let (base, port, cookie) = (&server.base, server.port, &browser.cookie);
    for host in [
        "Host: evil.example".to_owned(),
        format!("Host: evil.example:{port}"),
        format!("Host: localhost:{port}"),
        "Host: 127.0.0.1".to_owned(),
        format!("Host: 127.0.0.1:{port}.evil.example"),
        format!("Host: 127.0.0.1:{port}\r\nHost: 127.0.0.1:{port}"),
        "Host:".to_owned(),
    ] {
        for path in [base.clone(), "/".to_owned(), format!("{base}open?code=1")] {
            let request = format!(
                "GET {path} HTTP/1.1\r\n{host}\r\nCookie: {cookie}\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n\r\n"
            );
            is_refused(&server.raw(request), 421, "There is nothing here");
        }
    }
    let absolute = format!(
        "GET http://evil.example{base} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    );
    is_refused(&server.raw(absolute), 421, "There is nothing here");
    let old = format!("GET {base} HTTP/1.0\r\nCookie: {cookie}\r\n\r\n");
    is_refused(&server.raw(old), 421, "There is nothing here");
}

#[test]
fn outside_the_prefix_there_is_nothing() {
    let server = TestServer::new();
    let browser = server.sign_in();
    let (port, cookie) = (server.port, &browser.cookie);
    let without_slash = server.base.trim_end_matches('/');
    let below = format!("/x/..{}", server.base);
    for path in [
        "/",
        "/favicon.ico",
        "/open?code=1",
        without_slash,
        &below,
        "*",
    ] {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
        );
        is_refused(&server.raw(request), 404, "There is nothing here");
    }
}

#[test]
fn without_the_cookie_of_this_program_and_port_nothing_is_seen() {
    let server = TestServer::new();
    let browser = server.sign_in();
    let former = TestServer::new();
    let old = former.sign_in();
    let (_, value) = browser.cookie.split_once('=').unwrap();
    let (_, old_value) = old.cookie.split_once('=').unwrap();
    let name = format!("leadload_{}", server.port);
    for headers in [
        String::new(),
        format!("Cookie: {}\r\n", old.cookie),
        format!("Cookie: {name}={old_value}\r\n"),
        format!("Cookie: leadload_{}={value}\r\n", former.port),
        format!("Cookie: leadload={value}\r\n"),
        format!("Cookie: x{name}={value}\r\n"),
        format!("Cookie: {name}=\r\n"),
        format!("Cookie: {name}={}\r\n", browser.token),
        format!("Authorization: Bearer {value}\r\n"),
    ] {
        let words = "Start leadload again. That opens the page here.";
        is_refused(&server.get("", &headers), 403, words);
        let change = format!("{}{headers}", server.head("POST", "echo"));
        let body = format!("form_token={}", browser.token);
        is_refused(&server.raw(form(&change, &body)), 403, words);
    }
    // Another local server may set a cookie of this name, which browsers send along.
    let both = format!("Cookie: a=b; {name}=0; {name}={value}\r\n");
    assert_eq!(server.get("", &both).status, 200);
    let both = format!("Cookie: {name}=0\r\nCookie: {name}={value}\r\n");
    assert_eq!(server.get("", &both).status, 200);
}

#[test]
fn a_change_comes_from_our_own_page() {
    let server = TestServer::new();
    let browser = server.sign_in();
    let body = format!("form_token={}&a=1", browser.token);
    let plain = format!(
        "{}Cookie: {}\r\n",
        server.head("POST", "echo"),
        browser.cookie
    );
    let port = server.port;
    let ours = format!("Origin: http://127.0.0.1:{port}\r\n");
    for headers in [
        String::new(),
        "Origin: null\r\n".to_owned(),
        "Origin: http://evil.example\r\n".to_owned(),
        "Origin: http://127.0.0.1\r\n".to_owned(),
        format!("Origin: http://localhost:{port}\r\n"),
        format!("Origin: https://127.0.0.1:{port}\r\n"),
        format!("Origin: http://127.0.0.1:{port}/\r\n"),
        "Origin: null\r\nSec-Fetch-Site: same-origin\r\n".to_owned(),
        "Origin: http://127.0.0.1:1\r\nSec-Fetch-Site: same-origin\r\n".to_owned(),
        format!("{ours}Origin: http://evil.example\r\n"),
        "Sec-Fetch-Site: same-site\r\n".to_owned(),
        "Sec-Fetch-Site: cross-site\r\n".to_owned(),
        "Sec-Fetch-Site: none\r\n".to_owned(),
        "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: none\r\n".to_owned(),
    ] {
        let answer = server.raw(form(&format!("{plain}{headers}"), &body));
        is_refused(&answer, 403, "This request came from another site");
    }
    for headers in [&*ours, "Sec-Fetch-Site: same-origin\r\n"] {
        let answer = server.raw(form(&format!("{plain}{headers}"), &body));
        assert_eq!((answer.status, &*answer.body), (200, "[(\"a\", \"1\")]"));
        is_sealed(&answer);
    }
}

#[test]
fn a_change_needs_the_form_token_of_its_own_session() {
    let server = TestServer::new();
    let browser = server.sign_in();
    let strange = server.sign_in_another();
    assert_ne!(browser.cookie, strange.cookie);
    let token = &browser.token;
    for body in [
        String::new(),
        "a=1".to_owned(),
        "form_token=".to_owned(),
        format!("form_token={}", strange.token),
        format!("form_token={}", &token[1..]),
        format!("form_token=0&form_token={token}"),
        format!("FORM_TOKEN={token}"),
    ] {
        let answer = browser.post("echo", &body);
        is_refused(&answer, 403, "This form is out of date");
    }
    let in_address = browser.post(&format!("echo?form_token={token}"), "a=1");
    is_refused(&in_address, 403, "This form is out of date");
}

#[test]
fn a_change_is_a_form_that_is_posted() {
    let server = TestServer::new();
    let browser = server.sign_in();
    let json = format!("{{\"form_token\":\"{}\"}}", browser.token);
    for kind in ["application/json", "text/plain", "multipart/form-data", ""] {
        let head = browser.change("echo");
        let request = format!(
            "{head}Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n{json}",
            json.len()
        );
        is_refused(&server.raw(request), 415, "Nothing was changed");
    }
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "LEAD"] {
        let head = browser.change("echo").replacen("POST", method, 1);
        let request = form(&head, &format!("form_token={}", browser.token));
        is_refused(&server.raw(request), 405, "Nothing was changed");
    }
    // A page that takes no form does not get one that has not been read.
    let answer = server.raw(super::uploads::multipart(&browser, "echo", &[]));
    assert_eq!(answer.status, 500);
}

#[test]
fn a_page_that_fails_says_so_and_takes_nothing_with_it() {
    let server = TestServer::new();
    let browser = server.sign_in();
    is_refused(&browser.get("panic"), 500, "Something went wrong");
    let missing = browser.get("missing");
    assert_eq!(missing.status, 404);
    is_sealed(&missing);
    assert_eq!(browser.get("").status, 200);
}
