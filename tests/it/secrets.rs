//! The token and personal data do not appear where they should not.

use std::fs;

#[cfg(unix)]
use std::io::{BufRead, BufReader};

use crate::relay::always;
#[cfg(unix)]
use crate::util::signal;
use crate::util::{Folder, contacts, holds_a_number, number, scenario};

const TOKEN: &str = "17|s3cretTokenOfTheCustomer";

#[test]
fn the_token_appears_nowhere_even_where_the_service_echoes_it() {
    let folder = Folder::with_leads(&contacts(6));
    let service = scenario(&format!(
        r#"token = "{TOKEN}"
        [[rule]]
        phone_number = "+447911000001"
        reply = {{ status = 422, body = '{{"message":"bad token {TOKEN}"}}' }}
        [[rule]]
        phone_number = "+447911000002"
        reply = {{ status = 200, body = '{{"data":{{"id":"{TOKEN}"}}}}', store = true }}
        [[rule]]
        phone_number = "+447911000003"
        attempts = [1]
        reply = {{ status = 500, body = '{{"message":"17%7Cs3cretTokenOfTheCustomer"}}' }}
        [[rule]]
        phone_number = "+447911000005"
        reply = {{ status = 401, body = '{{"message":"{TOKEN} is revoked"}}' }}"#
    ));
    for format in ["text", "json"] {
        let output = folder
            .import_leads(&service, &["-vv", "--concurrency", "1", "--format", format])
            .expect(3);
        let mut shown = output.stdout + &output.stderr;
        for name in folder.names() {
            shown += &fs::read_to_string(folder.path(&name)).unwrap();
        }
        assert!(shown.contains("[token]"));
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}

/// Parts of the token and the whole, as services, proxies and their pages of errors spell them; and
/// a part of each by which it would be known.
const ECHOES: [(&str, &str); 12] = [
    ("s3cretTokenO is too short", "cretTok"),
    ("ends with OfTheCustomer", "TheCust"),
    ("17&#124;s3cretTokenOfTheCustomer", "TheCust"),
    ("&#x31;&#X37;&vert;s3cret&#84;oken&amp;#79;fThe", "s3cret"),
    ("%31%37%7c%733cret%54okenOfThe", "okenOf"),
    ("17%257Cs3cretToken", "cretTok"),
    (r"17\\u007cs3cret\\u0054okenOf", "okenOf"),
    (r"17\u007cs3cret\u0054okenOf", "okenOf"),
    // `Bearer ` and the token; its end; all of it, in the alphabet of addresses.
    (
        "QmVhcmVyIDE3fHMzY3JldFRva2VuT2ZUaGVDdXN0b21lcg==",
        "Y3JldFRv",
    ),
    ("got a2VuT2ZUaGVDdXN0b21lcg", "GVDdXN0b"),
    ("x MTd8czNjcmV0VG9rZW5PZlRoZUN1c3RvbWVy y", "V0VG9rZ"),
    ("dXNlcjoxN3xzM2NyZXRUb2tlbk9mVGhlQ3VzdG9tZXI%3D", "yZXRUb2"),
];

#[test]
fn no_twelve_characters_of_an_echoed_token_are_shown_however_they_are_spelled() {
    let rows = ECHOES.len();
    let rules = ECHOES.iter().enumerate().map(|(row, (echo, _))| {
        let status = [422, 400, 409][row % 3];
        let number = number(row);
        format!(
            r#"[[rule]]
            phone_number = "{number}"
            reply = {{ status = {status}, headers = {{ X-Request-Id = "{TOKEN}" }}, body = '''{{"message":"no: {echo}"}}''' }}
            [[rule]]
            phone_number = "{lead}"
            reply = {{ status = 200, body = '''{{"data":{{"id":"{echo}"}}}}''' }}
            "#,
            lead = self::number(rows + row),
        )
    });
    let rules: String = rules.collect();
    let folder = Folder::with_leads(&contacts(2 * rows));
    let service = scenario(&format!("token = '{TOKEN}'\n{rules}"));
    let args = ["-vv", "--report", "report.html"];
    let output = folder.import_leads(&service, &args).output();
    let mut shown = output.stdout + &output.stderr;
    let again = ["--again", "--format", "json", "--log-format", "json", "-vv"];
    let output = folder.import_leads(&service, &again).output();
    shown += &(output.stdout + &output.stderr);
    for name in folder.names() {
        shown += &String::from_utf8_lossy(&fs::read(folder.path(&name)).unwrap());
    }
    shown += &String::from_utf8_lossy(&fs::read(folder.ledger()).unwrap());
    assert!(shown.contains("no: [token]"), "{shown}");
    for (echo, part) in ECHOES {
        assert!(echo.contains(part), "{echo}");
        assert!(!shown.contains(part), "{echo}: {shown}");
    }
}

#[cfg(unix)]
#[test]
fn a_crash_leaves_no_core_file() {
    use std::os::unix::process::ExitStatusExt;
    let folder = Folder::new();
    let script = "ulimit -c \"$(ulimit -H -c)\"; exec \"$0\" \"$@\"";
    let sandbox = folder.through_shell(script, &["sandbox", "--listen", "127.0.0.1:0"]);
    let mut child = sandbox.start();
    let mut line = String::new();
    let mut told = BufReader::new(child.stdout.as_mut().unwrap());
    told.read_line(&mut line).unwrap();
    if cfg!(target_os = "linux") {
        let limits = fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
        let core = limits
            .lines()
            .find(|line| line.starts_with("Max core file size"));
        let words: Vec<&str> = core.unwrap().split_whitespace().collect();
        assert_eq!(words[4..6], ["0", "0"], "{limits}");
    }
    signal(&child, "-ABRT");
    let ended = child.wait().unwrap();
    assert_eq!(ended.signal(), Some(6));
    assert!(!ended.core_dumped());
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
fn log_lines_and_the_summary_carry_row_numbers_and_no_people() {
    let folder = Folder::with_leads(
        "phone,name\n+447911000001,Ada Lovelace\n07911 000002,Bob Bobson\n+447911000003,Cy\n+447911000004,Ada\n+447911000005,Ed\n",
    );
    let service = scenario(
        r#"[[rule]]
        phone_number = "+447911000003"
        attempts = [1]
        reply = { status = 500, body = '{"message":"Cannot call Cy at +447911000003"}' }
        [[rule]]
        phone_number = "+447911000004"
        reply = { status = 422, body = '{"message":"Ada at +44 7911 000004 is no customer"}' }
        [[rule]]
        phone_number = "+447911000005"
        reply = { status = 401, body = '{"message":"No right to call +447911000005"}' }"#,
    );
    let output = folder
        .import_leads(&service, &["-vv", "--concurrency", "1"])
        .expect(3);
    let shown = output.stdout + &output.stderr;
    assert!(shown.contains("row 3 "), "{shown}");
    assert!(shown.contains("No right to call +…"), "{shown}");
    // The service's text is in the files, which only the owner can read.
    assert!(folder.read("leads.results.csv").contains("is no customer"));
    assert!(!holds_a_number(&shown), "{shown}");
    for private in ["Ada", "Lovelace", "Bob"] {
        assert!(!shown.contains(private), "{private}: {shown}");
    }
}

/// Text of the service that repeats a row appears only in the results.
#[test]
fn a_rejection_that_repeats_the_row_is_logged_without_its_values() {
    let service = scenario(
        r#"[[rule]]
        reply = { status = 403, body = '{"message":"the name Zebedee Q. of Leeds is not allowed"}' }"#,
    );
    let folder = Folder::with_leads("Phone,Name,City\n+447911000001,Zebedee,Leeds\n");
    let output = folder.import_leads(&service, &[]).expect(3);
    output.tells("HTTP 403: the name … Q. of … is not allowed)");
}

/// An answer that was not understood is shown only with full logging, and
/// shows no personal data either.
#[test]
fn an_answer_that_was_not_understood_is_shown_to_those_who_ask_for_everything() {
    let page = format!(
        "<html>\\u001b[2J<p>Welcome Zebedee of Leeds, +44 7911 000001, {TOKEN}</p>{}",
        "x".repeat(1000)
    );
    let shown = "<html>\u{FFFD}[2J<p>Welcome … of …, +…, [token]</p>xxx";
    for (args, is_shown) in [
        (&["-vv"][..], true),
        (&["-vv", "--log-format", "json"], true),
        (&["-v"], false),
        (&["-v", "--log-format", "json"], false),
        (&[], false),
    ] {
        let folder = Folder::with_leads("Phone,Name,City\n+447911000001,Zebedee,Leeds\n");
        let service = scenario(&format!(
            "token = '{TOKEN}'\n[[rule]]\nreply = {{ body = \"{page}\" }}"
        ));
        let once = ["--max-attempts", "1"];
        let output = folder.import_leads(&service, &[&once, args].concat());
        let stderr = output.expect(1).stderr;
        let line = stderr.lines().find(|line| line.contains("<html>"));
        assert_eq!(line.is_some(), is_shown, "{args:?} {stderr}");
        let Some(line) = line else { continue };
        let told = format!("(HTTP 200); it begins: {shown}");
        assert!(line.contains(&told), "{line}");
        assert!(!holds_a_number(&stderr), "{stderr}");
        for private in ["Zebedee", "Leeds", "s3cret"] {
            assert!(!stderr.contains(private), "{private}: {stderr}");
        }
        match serde_json::from_str::<serde_json::Value>(line) {
            Ok(line) => {
                assert_eq!(line["event"], "unreadable");
                assert_eq!(line["http_status"], 200);
                let answer = line["answer"].as_str().unwrap();
                assert!(answer.starts_with(shown), "{answer}");
                assert_eq!(answer.chars().count(), 300);
            }
            Err(_) => assert!(line.ends_with("xxx… (run 1)"), "{line}"),
        }
    }
}

#[test]
fn a_list_that_was_not_understood_is_shown_to_those_who_ask_for_everything_too() {
    let folder = Folder::new();
    let address = always(200, r#"{"message":"Hello, +447911000001"}"#);
    let list = |args: &str| {
        let campaigns = folder.leadload(&["campaigns"]).args(args);
        let campaigns = campaigns.env("LEADLOAD_TOKEN", TOKEN);
        campaigns
            .env("LEADLOAD_BASE_URL", &address)
            .expect(3)
            .stderr
    };
    let told = r#"it begins: {"message":"Hello, +…"}"#;
    assert!(list("-vv").contains(told), "{}", list("-vv"));
    assert!(!list("-v").contains("Hello"));
}
