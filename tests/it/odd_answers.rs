//! Answers as some services and the machines before them give them: refusals inside a success,
//! other text around an answer, heads that break the rules, and a 408 after the work was done.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::listen::listen;
use crate::util::{Folder, Run, contacts, holds_a_number, number, scenario};

const TOKEN: &str = "17|s3cretTokenOfTheCustomer";

const CREATED: &str = r#"{"message":"ok","data":{"id":"5"}}"#;

/// The address of a service whose answer to each lead has these header lines and this body, and
/// how many leads were sent to it.
fn raw(lines: &str, body: &str) -> (String, Arc<AtomicUsize>) {
    raw_with("200 OK", lines, body)
}

fn raw_with(status: &str, lines: &str, body: &str) -> (String, Arc<AtomicUsize>) {
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{lines}\r\n{body}"
    );
    let sent = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&sent);
    let address = listen(move |connection| {
        let (answer, counting) = (answer.clone(), Arc::clone(&counting));
        async move {
            let mut connection = BufReader::new(connection);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                if connection.read_line(&mut head).await? == 0 {
                    return Ok(());
                }
            }
            let length = head.to_lowercase();
            let length = length.split("content-length: ").nth(1).unwrap_or("0\r\n");
            let length = length.split("\r\n").next().unwrap().parse().unwrap();
            connection.read_exact(&mut vec![0; length]).await?;
            if head.starts_with("POST ") {
                counting.fetch_add(1, Ordering::SeqCst);
            }
            connection.write_all(answer.as_bytes()).await
        }
    });
    (format!("http://{address}"), sent)
}

fn import_at(folder: &Folder, address: &str, args: &[&str]) -> Run {
    let all = ["import", "leads.csv", "--campaign", "101", "--rate", "none"];
    let run = folder.leadload(&[&all[..], args].concat());
    run.env("LEADLOAD_BASE_URL", address)
        .env("LEADLOAD_TOKEN", TOKEN)
}

#[track_caller]
fn creates_one(lines: &str, body: &str) {
    let folder = Folder::with_leads(&contacts(1));
    let (address, sent) = raw(lines, body);
    import_at(&folder, &address, &[]).expect(0);
    assert_eq!(folder.column("leads.results.csv", "lead_id"), ["5"]);
    assert_eq!(sent.load(Ordering::SeqCst), 1, "{lines}{body}");
}

#[test]
fn heads_that_other_clients_read_are_read() {
    creates_one(&"X-More: more\r\n".repeat(500), CREATED);
    for lines in [
        "X-Folded: one\r\n two\r\n\tthree\r\n",
        "X-Spaced : one\r\n",
        "X-Control: a\u{1}b\u{7f}\r\n",
        "no colon\r\n",
    ] {
        creates_one(lines, CREATED);
    }
}

#[test]
fn a_head_that_nobody_can_read_says_why() {
    let folder = Folder::with_leads(&contacts(1));
    let (address, _) = raw("X-Nul: a\0b\r\n", CREATED);
    let args = ["--max-attempts", "1", "-vv"];
    let output = import_at(&folder, &address, &args).expect(1);
    let errors = folder.column("leads.results.csv", "error");
    assert!(errors[0].contains("its head"), "{errors:?}");
    output.tells(&errors[0]);
}

/// It shows no personal data and no secrets.
#[test]
fn the_head_of_an_answer_that_was_not_understood_is_shown_to_those_who_ask_for_everything() {
    let lines = format!(
        "content-encoding: br\r\nserver: nginx\r\nset-cookie: session=abcdef\r\n\
         x-echo: Zebedee, +44 7911 000001\r\nx-token: {TOKEN}\r\n"
    );
    for (level, is_shown) in [("-vv", true), ("-v", false)] {
        let folder = Folder::with_leads("Phone,Name\n+447911000001,Zebedee\n");
        let (address, _) = raw(&lines, CREATED);
        let args = ["--max-attempts", "1", level];
        let stderr = import_at(&folder, &address, &args).expect(1).stderr;
        let told = "(HTTP 200): content-length: 34; connection: close; \
                    content-encoding: br; server: nginx; set-cookie: …; x-echo: …, +…; \
                    x-token: [token] (run 1)\n";
        assert_eq!(stderr.contains(told), is_shown, "{stderr}");
        assert!(!holds_a_number(&stderr), "{stderr}");
        for private in ["Zebedee", "abcdef", "s3cret"] {
            assert!(!stderr.contains(private), "{private}: {stderr}");
        }
    }
}

#[test]
fn an_answer_counts_whatever_stands_around_it() {
    let php = "<br />\n<b>Warning</b>:  Undefined variable on line <b>3</b><br />\n";
    creates_one("", &format!("{php}{CREATED}"));
    creates_one("", &format!("{CREATED}\nDEBUG: took 12 ms"));
    creates_one("", &format!("{CREATED}{{\"id\":6}}"));
}

#[test]
fn the_request_id_of_a_refusal_stands_in_the_results_and_in_the_log() {
    for name in ["X-Request-Id", "Request-Id", "X-Correlation-ID"] {
        let folder = Folder::with_leads(&contacts(1));
        let lines = format!("{name}: 7f3a-{TOKEN}-81bc\r\n");
        let body = r#"{"message":"no such street"}"#;
        let (address, _) = raw_with("422 Unprocessable", &lines, body);
        let output = import_at(&folder, &address, &["-v"]).expect(1);
        let errors = folder.column("leads.results.csv", "error");
        let id = "(request id 7f3a-[token]-81bc)";
        assert!(
            errors[0].ends_with(&format!("no such street {id}")),
            "{errors:?}"
        );
        output.tells("row 1: HTTP 422 (request id 7f3a-[token]-81bc)");
    }
}

#[test]
fn a_request_id_with_the_number_in_it_is_not_shown() {
    for id in [
        "lead:+NUMBER:x",
        "req_NUMBER",
        "abc-0NATIONAL-def",
        "%2BNUMBER",
    ] {
        let folder = Folder::with_leads(&contacts(1));
        let sent = number(0);
        let id = id.replace("+NUMBER", &sent).replace("NUMBER", &sent[1..]);
        let line = format!("X-Request-Id: {}\r\n", id.replace("NATIONAL", &sent[3..]));
        let (address, _) = raw_with("422 Unprocessable", &line, r#"{"message":"no"}"#);
        let output = import_at(&folder, &address, &["-v"]).expect(1);
        assert!(!holds_a_number(&output.stderr), "{}", output.stderr);
        assert!(!output.stderr.contains("request id"), "{}", output.stderr);
        assert_eq!(
            folder.column("leads.results.csv", "error"),
            ["HTTP 422: no"]
        );
    }
}

#[test]
fn request_ids_do_not_make_refusals_for_one_reason_different_ones() {
    let folder = Folder::with_leads(&contacts(4));
    let rule = |row: usize| {
        format!(
            "[[rule]]\nphone_number = '{}'\nreply = {{ status = 422, \
             headers = {{ X-Request-Id = 'row{row}' }}, body = '{{\"message\":\"no\"}}' }}\n",
            number(row)
        )
    };
    let service = scenario(&(0..4).map(rule).collect::<String>());
    let args = [
        "--stop-after",
        "3",
        "--concurrency",
        "1",
        "--format",
        "json",
    ];
    let output = folder.import_leads(&service, &args).expect(3);
    assert_eq!(output.json()["stopped_by"], "rejections");
}

#[test]
fn a_stop_names_the_request_that_was_refused() {
    let folder = Folder::with_leads(&contacts(1));
    let (address, _) = raw_with("401 Unauthorized", "X-Request-Id: abc\r\n", "{}");
    let output = import_at(&folder, &address, &[]).expect(3);
    output.tells("request id abc");
}
