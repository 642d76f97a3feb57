//! Forms with a file.

use std::io::Write;
use std::net::Shutdown;
use std::time::Duration;

use super::{Answer, Browser, TestServer};
use crate::web::Limits;

const BOUNDARY: &str = "----form7";

fn field(name: &str, value: &str) -> String {
    format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
}

fn file(name: &str, content: &str) -> String {
    format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"list\"; filename=\"{name}\"\r\nContent-Type: text/csv\r\n\r\n{content}\r\n"
    )
}

fn token(browser: &Browser<'_>) -> String {
    field("form_token", &browser.token)
}

fn head(browser: &Browser<'_>, page: &str, length: usize) -> String {
    let head = browser.change(page);
    format!(
        "{head}Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// A whole request of these parts.
pub fn multipart(browser: &Browser<'_>, page: &str, parts: &[String]) -> String {
    let body = format!("{}--{BOUNDARY}--\r\n", parts.concat());
    head(browser, page, body.len()) + &body
}

fn send(browser: &Browser<'_>, parts: &[String]) -> String {
    let answer = browser.server.raw(multipart(browser, "list", parts));
    assert_eq!(answer.status, 200, "{answer:?}");
    browser.server.wait_until_no_file_is_left();
    answer.body
}

#[test]
fn a_file_arrives_with_the_fields_around_it() {
    let server = TestServer::new();
    let browser = server.sign_in();
    let parts = [
        token(&browser),
        field("job", "7"),
        file("october.csv", "phone\n+1\r\n--not-the-end\r\n"),
        field("note", "Größe"),
    ];
    let expected =
        "october.csv 25 \"phone\\n+1\\r\\n--not-the-\" [(\"job\", \"7\"), (\"note\", \"Größe\")]";
    assert_eq!(send(&browser, &parts), expected);
    let large = "x".repeat(5 << 20);
    let parts = [token(&browser), file("a.csv", &large)];
    assert!(send(&browser, &parts).starts_with("a.csv 5242880 "));
    // An empty list is one; that is for its reader to say.
    let parts = [token(&browser), file("empty.csv", "")];
    assert_eq!(send(&browser, &parts), "empty.csv 0 \"\" []");
}

#[test]
fn a_file_name_leads_nowhere() {
    let server = TestServer::new();
    let browser = server.sign_in();
    for (given, safe) in [
        ("../../../../etc/cron.d/leads.csv", "leads.csv"),
        ("C:\\Windows\\leads.csv", "leads.csv"),
        ("..", "list"),
        ("/etc/passwd", "passwd"),
        ("con.csv", "_con.csv"),
        ("<script>.csv", "_script_.csv"),
    ] {
        let name = send(&browser, &[token(&browser), file(given, "x")]);
        assert_eq!(name, format!("{safe} 1 \"x\" []"));
    }
}

#[test]
fn the_form_token_comes_first() {
    let server = TestServer::new();
    let browser = server.sign_in();
    let strange = server.sign_in_another();
    let list = file("a.csv", "x");
    for parts in [
        vec![],
        vec![list.clone()],
        vec![field("job", "7"), token(&browser), list.clone()],
        vec![list.clone(), token(&browser)],
        vec![token(&strange), list.clone()],
        vec![field("form_token", ""), list.clone()],
    ] {
        assert_eq!(send(&browser, &parts), "FormToken");
    }
    let twice = [token(&browser), token(&browser), list];
    assert_eq!(send(&browser, &twice), "Unreadable");
}

#[test]
fn a_form_without_a_file_or_with_two_is_told_apart() {
    let server = TestServer::new();
    let browser = server.sign_in();
    assert_eq!(
        send(&browser, &[token(&browser), file("", "")]),
        "no file []"
    );
    assert_eq!(send(&browser, &[token(&browser)]), "no file []");
    let two = [token(&browser), file("a.csv", "1"), file("b.csv", "2")];
    assert_eq!(send(&browser, &two), "Unreadable");
    let body = "this is no form with a file";
    let request = head(&browser, "list", body.len()) + body;
    assert_eq!(server.raw(request).body, "Unreadable");
}

#[test]
fn ten_thousand_parts_are_refused() {
    let server = TestServer::new();
    let browser = server.sign_in();
    let mut parts = vec![token(&browser)];
    parts.extend((0..10_000).map(|n| field(&n.to_string(), "x")));
    assert_eq!(send(&browser, &parts), "TooManyParts");
    // Also behind the file.
    parts.insert(1, file("a.csv", "x"));
    assert_eq!(send(&browser, &parts), "TooManyParts");
}

#[test]
fn a_part_that_is_too_long_is_refused_wherever_it_is() {
    let server = TestServer::new();
    let browser = server.sign_in();
    let token = token(&browser);
    let long = "x".repeat(8 << 20);
    let headers = format!("--{BOUNDARY}\r\nX: {long}\r\n\r\n\r\n");
    assert_eq!(
        send(&browser, &[token.clone(), field("a", &long)]),
        "TooManyParts"
    );
    for before in [vec![], vec![token.clone()], vec![token, file("a.csv", "1")]] {
        let parts = [before, vec![headers.clone()]].concat();
        assert_eq!(send(&browser, &parts), "TooManyParts");
    }
    // Before the first part.
    let request = head(&browser, "list", long.len()) + &long;
    assert_eq!(server.raw(request).body, "TooManyParts");
}

#[test]
fn a_file_that_is_too_large_is_refused_and_the_answer_is_seen() {
    let limits = Limits {
        file_bytes: 1 << 20,
        ..Limits::default()
    };
    let server = TestServer::with(limits);
    let browser = server.sign_in();
    let fits = "x".repeat(1 << 20);
    let parts = [token(&browser), file("a.csv", &fits)];
    assert!(send(&browser, &parts).starts_with("a.csv 1048576 "));
    // One byte more, and far more than is announced beforehand.
    for size in [(1 << 20) + 1, 30 << 20] {
        let parts = [token(&browser), file("a.csv", &"x".repeat(size))];
        assert_eq!(send(&browser, &parts), "TooLarge { limit: 1048576 }");
    }
}

#[test]
fn a_form_that_breaks_off_leaves_no_file() {
    let server = TestServer::new();
    let browser = server.sign_in();
    let parts = [token(&browser), file("a.csv", "phone\n+1")].concat();
    let mut stream = server.connect();
    let request = head(&browser, "list", 1 << 20) + &parts[..parts.len() - 2];
    stream.write_all(request.as_bytes()).unwrap();
    let began = std::time::Instant::now();
    while server.files().is_empty() {
        assert!(began.elapsed() < super::PATIENCE);
        std::thread::sleep(Duration::from_millis(5));
    }
    stream.shutdown(Shutdown::Both).unwrap();
    server.wait_until_no_file_is_left();
    // The end of the form is missing, although as much has come as was announced.
    let request = head(&browser, "list", parts.len()) + &parts;
    assert_eq!(server.raw(request).body, "Unreadable");
    server.wait_until_no_file_is_left();
}

#[test]
fn a_file_that_stops_coming_is_given_up() {
    let limits = Limits {
        idle_time: Duration::from_millis(300),
        ..Limits::default()
    };
    let server = TestServer::with(limits);
    let browser = server.sign_in();
    let parts = [token(&browser), file("a.csv", "phone\n+1")].concat();
    let mut stream = server.connect();
    let request = head(&browser, "list", 1 << 20) + &parts[..parts.len() - 2];
    stream.write_all(request.as_bytes()).unwrap();
    assert_eq!(Answer::read(&mut stream).body, "TooSlow");
    server.wait_until_no_file_is_left();
}

#[test]
fn a_folder_that_is_gone_is_reported() {
    let server = TestServer::new();
    let browser = server.sign_in();
    std::fs::remove_dir(server.folder.path()).unwrap();
    let parts = [token(&browser), file("a.csv", "x")];
    let answer = server.raw(multipart(&browser, "list", &parts));
    assert!(answer.body.starts_with("Disk("), "{answer:?}");
    std::fs::create_dir(server.folder.path()).unwrap();
}
