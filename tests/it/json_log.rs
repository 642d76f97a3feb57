//! `--log-format json`: each line on standard error is an object, in every case.

use serde_json::{Value, json};

use crate::util::{Folder, Output, contacts, holds_a_number, scenario, service};

const JSON: [&str; 2] = ["--log-format", "json"];

/// The lines of standard error. Checks the fields that every line has.
fn lines(output: &Output) -> Vec<Value> {
    let lines = output.stderr.lines().map(|line| {
        let line: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let timestamp = line["timestamp"].as_str().unwrap();
        assert!(timestamp.ends_with('Z'), "{line}");
        timestamp.parse::<jiff::Timestamp>().unwrap();
        let level = line["level"].as_str().unwrap();
        assert!(
            ["ERROR", "WARN", "INFO", "DEBUG"].contains(&level),
            "{line}"
        );
        assert!(!line["message"].as_str().unwrap().is_empty(), "{line}");
        let is_snake = |name: &String| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        assert!(line.as_object().unwrap().keys().all(is_snake), "{line}");
        line
    });
    lines.collect()
}

#[test]
fn every_line_says_what_it_is_of_also_where_most_is_said() {
    let folder = Folder::with_leads("phone\n");
    let service = service();
    let more = ["-vv", "--ledger", "none"];
    let output = folder.import_leads(&service, &[&more[..], &JSON].concat());
    let lines = lines(&output.expect(0));
    assert!(!words(&lines).contains(&""), "{lines:?}");
    assert_eq!(lines.iter().filter(|l| l["event"] == "warning").count(), 2);
}

fn words(lines: &[Value]) -> Vec<&str> {
    let words = lines.iter().map(|line| line["event"].as_str());
    words.map(Option::unwrap_or_default).collect()
}

/// The only line with this event.
#[track_caller]
fn only<'a>(lines: &'a [Value], event: &str) -> &'a Value {
    let mut found = lines.iter().filter(|line| line["event"] == event);
    let first = found
        .next()
        .unwrap_or_else(|| panic!("no {event}: {lines:?}"));
    assert!(found.next().is_none(), "{lines:?}");
    first
}

#[test]
fn a_run_is_logged_from_start_to_end_at_the_default_level() {
    let folder = Folder::with_leads(&(contacts(3) + "x,Bob\n"));
    let service = service();
    let output = folder.import_leads(&service, &JSON).expect(1);
    let lines = lines(&output);
    assert_eq!(words(&lines), ["note", "note", "start", "paced", "end"]);
    // Before the run begins there is none to name.
    assert_eq!(lines[0].get("run"), None);
    assert!(lines[1..].iter().all(|line| line["run"] == 1), "{lines:?}");
    let start = only(&lines, "start");
    assert_eq!(start["command"], "import");
    assert_eq!(start["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(start["run"], 1);
    assert_eq!(start["continues"], false);
    assert_eq!(start["inputs"], 1);
    assert_eq!(start["service"], service.base_url());
    assert_eq!(start["campaign"], "101");
    let mut end = only(&lines, "end").clone();
    for changing in ["timestamp", "elapsed_s"] {
        assert!(!end[changing].take().is_null());
    }
    assert_eq!(
        end,
        json!({
            "timestamp": null, "level": "INFO", "message": "complete after 4 rows, exit code 1",
            "event": "end", "exit_code": 1, "complete": true, "run": 1, "rows": 4,
            "rows_total": 4,
            "created": 3, "duplicate": 0, "repeated": 0, "already_imported": 0, "excluded": 0, "suppressed": 0,
            "invalid": 1, "rejected": 0, "failed": 0, "uncertain": 0, "ready": 0,
            "known_bad": 0, "requests": 3, "elapsed_s": null
        })
    );
    assert!(!holds_a_number(&output.stderr), "{}", output.stderr);
    for private in ["Name 1", service.token()] {
        assert!(!output.stderr.contains(private), "{}", output.stderr);
    }
    // With `--quiet` there is nothing but errors.
    let quiet = [&JSON[..], &["--quiet"]].concat();
    assert_eq!(folder.import_leads(&service, &quiet).expect(1).stderr, "");
}

#[test]
fn a_test_lead_has_an_end_too_however_it_ends() {
    let folder = Folder::with_leads(&contacts(3));
    let args = [&JSON[..], &["--test-to", "+447911999999"]].concat();
    for (settings, code, stopped_by, rows) in [
        ("", 0, json!(null), 1),
        (
            "[[rule]]\nreply = { status = 422, body = '{}' }",
            1,
            json!(null),
            1,
        ),
        (
            "[[rule]]\nreply = { status = 401, body = '{}' }",
            3,
            json!("token"),
            0,
        ),
    ] {
        let service = scenario(settings);
        let output = folder.import_leads(&service, &args).expect(code);
        let lines = lines(&output);
        let end = only(&lines, "end");
        assert_eq!(lines.last(), Some(end));
        assert_eq!(end["exit_code"], code);
        assert_eq!(end["complete"], stopped_by.is_null());
        assert_eq!(end.get("stopped_by").unwrap_or(&json!(null)), &stopped_by);
        assert_eq!((&end["rows"], &end["requests"]), (&json!(rows), &json!(1)));
        assert_eq!((end.get("run"), end.get("rows_total")), (None, None));
        assert!(!holds_a_number(&output.stderr), "{}", output.stderr);
    }
}

#[test]
fn every_change_is_an_event_with_its_figures() {
    let folder = Folder::with_leads(&contacts(40));
    let service = scenario(
        "latency_ms = 2\noutage = { after_requests = 20, for_s = 0.9 }\n\
         [[rule]]\nphone_number = '+447911000005'\nattempts = [1]\n\
         reply = { status = 429, headers = { Retry-After = '1' } }\n\
         [[rule]]\nphone_number = '+447911000007'\nattempts = [1]\n\
         reply = { status = 500 }\n",
    );
    let args = ["--concurrency", "1", "-vv"];
    let output = folder
        .import_leads(&service, &[&JSON[..], &args].concat())
        .expect(0);
    let lines = lines(&output);
    let held = only(&lines, "held");
    assert_eq!(held["reason"], "http_429");
    assert!(held["wait_s"].as_f64().unwrap() >= 1.0, "{held}");
    let retrying = lines
        .iter()
        .find(|line| line["event"] == "retrying")
        .unwrap();
    assert_eq!(
        (&retrying["row"], &retrying["attempt"]),
        (&json!(8), &json!(1))
    );
    assert_eq!(retrying["reason"], "http_500");
    let outage = lines.iter().find(|line| line["event"] == "outage").unwrap();
    assert_eq!(
        (&outage["level"], &outage["reason"]),
        (&json!("WARN"), &json!("connection"))
    );
    outage["since"]
        .as_str()
        .unwrap()
        .parse::<jiff::Timestamp>()
        .unwrap();
    assert!(only(&lines, "recovered")["outage_s"].as_f64().unwrap() > 0.5);
    let settled: Vec<_> = lines
        .iter()
        .filter(|line| line["event"] == "settled")
        .collect();
    assert_eq!(settled.len(), 40);
    assert_eq!(settled[0]["status"], "created");
    assert!(!holds_a_number(&output.stderr), "{}", output.stderr);
}

#[test]
fn a_stop_is_logged_with_its_reason() {
    let folder = Folder::with_leads(&contacts(9));
    let service = scenario("token_revoked_after = 4");
    let args = [&JSON[..], &["--concurrency", "1"]].concat();
    let output = folder.import_leads(&service, &args).expect(3);
    let lines = lines(&output);
    let stopping = only(&lines, "stopping");
    assert_eq!(
        (&stopping["stopped_by"], &stopping["in_flight"]),
        (&json!("token"), &json!(0))
    );
    let error = only(&lines, "error");
    assert_eq!(
        (&error["level"], &error["run"]),
        (&json!("ERROR"), &json!(1))
    );
    assert!(error["hint"].is_string(), "{error}");
    let end = only(&lines, "end");
    assert_eq!(
        (&end["exit_code"], &end["complete"]),
        (&json!(3), &json!(false))
    );
    assert_eq!(end["stopped_by"], "token");
    assert_eq!(words(&lines).last(), Some(&"end"));
}

#[test]
fn mistakes_are_objects_too_whatever_the_command() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    for (args, error) in [
        (
            "import nothing.csv --campaign 101 --log-format json",
            "nothing.csv",
        ),
        ("import leads.csv --rate 5 --log-format=json", "`5`"),
        ("import --log-format json", "list"),
        ("runs show 7 --log-format json", "no runs"),
        ("campaigns --log-format json --ca-file nothing", "nothing"),
        ("check leads.csv --region XX --log-format json", "XX"),
        ("check nothing.csv --log-format json -q", "nothing.csv"),
    ] {
        let run = folder.leadload(&[]).args(args).at(&service);
        let output = run.expect(2);
        let lines = lines(&output);
        let found = only(&lines, "error");
        let message = found["message"].as_str().unwrap();
        assert!(message.contains(error), "{args}: {message}");
        assert_eq!(output.stdout, "");
        if !args.contains("-q") {
            assert_eq!(only(&lines, "end")["exit_code"], 2, "{args}");
        }
    }
}

#[test]
fn a_check_is_logged_too_and_a_bar_is_never_drawn_in_between() {
    let folder = Folder::with_leads(&contacts(2));
    let args = ["check", "leads.csv", "--progress", "always"];
    let output = folder.leadload(&[&args[..], &JSON].concat()).expect(0);
    let lines = lines(&output);
    assert_eq!(words(&lines), ["start", "end"]);
    assert_eq!(lines[0]["command"], "check");
    assert_eq!(lines[1]["ready"], 2);
}

#[test]
fn what_is_logged_as_text_has_no_fields_and_one_line_for_each_event() {
    let folder = Folder::with_leads(&contacts(1));
    let args = ["--progress", "never", "-vv"];
    let output = folder.import_leads(&service(), &args).expect(0);
    let logged: Vec<&str> = output
        .stderr
        .lines()
        .filter_map(|line| line.split_once("Z ").map(|(_, line)| line.trim_start()))
        // Libraries log connections, too.
        .filter(|line| !line.contains("connect"))
        .collect();
    assert_eq!(logged.len(), 4, "{logged:?}");
    for (line, begin) in
        logged
            .iter()
            .zip(["INFO ", "INFO ", "DEBUG row 1 (line 2): created, ", "INFO "])
    {
        assert!(line.starts_with(begin), "{line}");
        assert!(line.ends_with(" (run 1)"), "{line}");
    }
}

#[test]
fn what_is_done_about_a_run_names_it_too() {
    let folder = Folder::with_leads(&contacts(1));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    // It needs a confirmation.
    let undo = folder.leadload(&[&["runs", "undo", "last"][..], &JSON].concat());
    let lines = lines(&undo.at(&service).expect(2));
    assert_eq!(words(&lines), ["error", "end"]);
    assert!(lines.iter().all(|line| line["run"] == 1), "{lines:?}");
}
