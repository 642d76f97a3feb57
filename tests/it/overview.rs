//! What is shown before anything is sent, and the question.

use std::time::{Duration, Instant};

use leadload::sandbox::Sandbox;

use crate::terminal::Terminal;
use crate::util::{
    Folder, Output, Run, contacts, contacts_of, number, replaced, scenario, seen, service,
    wait_for_requests,
};

/// Rows of every kind.
const MIXED: &str = "Phone,First Name,City\n\
    +447911000000,Ada,Leeds\n\
    +447911000001,Bob,York\n\
    ,Cyd,Hull\n\
    +447911000000,Ada,Leeds\n\
    +447911000002,Dan,Bath\n\
    12,Eve,Ely\n\
    +447911000003,Fay,Deal\n";

/// A folder with rows of every kind, and a do-not-call list.
fn mixed() -> Folder {
    let folder = Folder::with_leads(MIXED);
    folder.write("dnc.txt", "+447911000002\n");
    folder
}

/// A service that keeps the requests.
fn recorder() -> Sandbox {
    scenario("keep_bodies = true")
}

/// The import of [`mixed`].
fn import_mixed(folder: &Folder, service: &Sandbox, args: &[&str]) -> Run {
    folder.import_leads(service, &[&["--suppress", "dnc.txt"], args].concat())
}

/// The screen without the parts that differ in every test.
fn steady(shown: &str, service: &Sandbox) -> String {
    shown.replace(&service.base_url(), "http://127.0.0.1:12345")
}

/// The numbers that were sent to the service.
fn sent(service: &Sandbox) -> Vec<String> {
    seen(service).into_iter().map(|seen| seen.phone).collect()
}

/// The beginning of a line about the rows that have this status.
fn counted(status: &str, rows: u64) -> String {
    format!("\n  {status:<17}{rows:>9}  ")
}

/// Starts an import in a terminal and waits for the question.
fn asked(run: Run) -> Terminal {
    let terminal = Terminal::start(run, 80, 40);
    terminal.wait_for("[y/N]");
    terminal
}

/// The same import with its standard output in `out.txt`.
fn with_output_apart(folder: &Folder, service: &Sandbox, args: &[&str]) -> Run {
    let args = [&["import", "leads.csv", "--campaign", "101"], args].concat();
    let script = r#"exec "$0" "$@" >out.txt"#;
    folder.through_shell(script, &args).at(service)
}

#[test]
fn the_overview_ends_with_the_question_and_what_is_agreed_to_is_sent() {
    for (columns, lines) in [(80, 24), (40, 12)] {
        let (folder, service) = (mixed(), recorder());
        let args = ["import", "leads.csv", "--campaign", "101"];
        let run = folder.leadload(&args).at(&service);
        let run = run.args("--suppress dnc.txt --rate 100/min");
        let mut terminal = Terminal::start(run, columns, lines);
        let shown = terminal.wait_for("[y/N]");
        insta::assert_snapshot!(format!("overview_{columns}"), steady(&shown, &service));
        assert_eq!(sent(&service), [""; 0]);
        terminal.type_in("n\r");
        terminal.end();
        let mut terminal = Terminal::start(import_mixed(&folder, &service, &[]), columns, lines);
        terminal.wait_for("[y/N]");
        terminal.type_in("y\r");
        let (code, shown) = terminal.end();
        assert_eq!(code, 1, "{shown}");
        let mut sent = sent(&service);
        sent.sort();
        assert_eq!(sent, [0, 1, 3].map(number));
        assert_eq!(folder.records("leads.results.csv").len(), 7);
    }
}

#[test]
fn nothing_is_coloured() {
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb"), ("COLORFGBG", "0;15")] {
        let (folder, service) = (mixed(), recorder());
        let run = import_mixed(&folder, &service, &[]).env(name, value);
        let terminal = asked(run);
        let written = terminal.written();
        let mut sequences = written.split("\u{1b}[").skip(1);
        let is_colour = |rest: &str| {
            let end = rest.find(|c: char| c.is_ascii_alphabetic());
            end.is_some_and(|end| rest[end..].starts_with('m'))
        };
        assert!(!sequences.any(is_colour), "{name}: {written:?}");
    }
}

#[test]
fn the_time_that_the_user_takes_to_answer_is_not_counted() {
    let service = recorder();
    let folder = Folder::with_leads(&contacts(3));
    folder.write("long.csv", contacts(100_000));
    let began = Instant::now();
    let mut terminal = asked(with_output_apart(&folder, &service, &["--format", "json"]));
    let thinking = Instant::now();
    folder.leadload(&["check", "long.csv"]).expect(0);
    let thought = thinking.elapsed();
    terminal.type_in("y\r");
    assert_eq!(terminal.end().0, 0);
    let all = began.elapsed().as_secs_f64();
    let summary: serde_json::Value = serde_json::from_str(&folder.read("out.txt")).unwrap();
    let elapsed = summary["elapsed_s"].as_f64().unwrap();
    assert!(
        elapsed + thought.as_secs_f64() <= all,
        "{elapsed} s of {all} s, {thought:?} of which were for the answer"
    );
}

#[test]
fn whatever_is_not_yes_sends_nothing_and_leaves_nothing_behind() {
    let service = recorder();
    for answer in ["n\r", "\r", "maybe\r", "\u{4}"] {
        let folder = Folder::with_leads(&contacts(3));
        let mut terminal = asked(with_output_apart(&folder, &service, &[]));
        terminal.type_in(answer);
        let (code, shown) = terminal.end();
        assert_eq!(code, 2, "{answer:?}: {shown}");
        assert!(shown.contains("Cancelled"), "{shown}");
        assert_eq!(folder.names(), ["leads.csv", "out.txt"]);
        assert_eq!(folder.read("out.txt"), "");
        let runs = folder.leadload(&["runs", "--format", "json"]).expect(0);
        assert_eq!(runs.stdout, "{\"runs\":[]}\n");
    }
    assert_eq!(sent(&service), [""; 0]);
}

#[test]
fn yes_is_yes_in_any_case() {
    for answer in ["Y\r", "YES\r", " yes \r"] {
        let (folder, service) = (Folder::with_leads(&contacts(2)), recorder());
        let mut terminal = asked(folder.import_leads(&service, &[]));
        terminal.type_in(answer);
        let (code, shown) = terminal.end();
        assert_eq!(code, 0, "{answer:?}: {shown}");
        assert!(shown.contains("\nrun 1\n"), "{shown}");
        assert_eq!(sent(&service), [number(0), number(1)]);
    }
}

#[test]
fn a_question_is_declined_for_machines_too() {
    let (folder, service) = (Folder::with_leads(&contacts(3)), recorder());
    for (answer, code, stopped_by) in [("n\r", 2, "usage"), ("\u{3}", 4, "signal")] {
        let run = with_output_apart(&folder, &service, &["--format", "json"]);
        let mut terminal = asked(run);
        terminal.type_in(answer);
        assert_eq!(terminal.end().0, code);
        let summary: serde_json::Value = serde_json::from_str(&folder.read("out.txt")).unwrap();
        assert_eq!(summary["stopped_by"], stopped_by);
        assert_eq!(summary["exit_code"], code);
        assert_eq!(summary["requests"], 0);
        assert_eq!(summary["run"], serde_json::Value::Null);
    }
    assert_eq!(sent(&service), [""; 0]);
}

#[test]
fn a_signal_ends_the_question() {
    let (folder, service) = (Folder::with_leads(&contacts(3)), recorder());
    let mut terminal = asked(folder.import_leads(&service, &[]));
    terminal.type_in("\u{3}");
    let (code, shown) = terminal.end();
    assert_eq!(code, 4, "{shown}");
    assert!(shown.contains("\nCancelled"), "{shown}");
    assert_eq!(folder.names(), ["leads.csv"]);
    assert_eq!(sent(&service), [""; 0]);
}

#[test]
fn the_time_that_a_run_is_given_ends_the_question() {
    let (folder, service) = (Folder::with_leads(&contacts(3)), recorder());
    let run = folder.import_leads(&service, &["--max-duration", "1s"]);
    let (code, shown) = asked(run).end();
    assert_eq!(code, 4, "{shown}");
    assert!(shown.contains("\n`--max-duration`"), "{shown}");
    assert!(!shown.contains("error"), "{shown}");
    assert_eq!(sent(&service), [""; 0]);
}

#[test]
fn a_signal_ends_the_reading_of_a_long_input_at_once() {
    let (folder, service) = (Folder::with_leads(&contacts(1_500_000)), recorder());
    let mut terminal = Terminal::start(folder.import_leads(&service, &[]), 80, 24);
    // The progress bar.
    terminal.wait_for(" rows");
    let began = Instant::now();
    terminal.type_in("\u{3}");
    let (code, shown) = terminal.end();
    assert_eq!(code, 4, "{shown}");
    assert!(!shown.contains("ready"), "{shown}");
    // The key is echoed into the bar, of which a line may stay above this one.
    assert!(shown.contains("Cancelled"), "{shown}");
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(folder.names(), ["leads.csv"]);
}

#[test]
fn yes_on_the_command_line_shows_the_overview_and_asks_nothing() {
    let (folder, service) = (mixed(), recorder());
    let run = import_mixed(&folder, &service, &["--yes"]);
    let (code, shown) = Terminal::start(run, 80, 60).end();
    assert_eq!(code, 1, "{shown}");
    assert!(shown.contains(&counted("ready", 3)), "{shown}");
    assert!(
        shown.contains("“Spring promo” (101), in-progress"),
        "{shown}"
    );
    assert!(!shown.contains("[y/N]"), "{shown}");
    assert_eq!(sent(&service).len(), 3);
}

#[test]
fn quietly_the_question_carries_what_must_be_known() {
    let (folder, service) = (mixed(), recorder());
    let mut terminal = asked(import_mixed(&folder, &service, &["-q"]));
    let shown = terminal.shown();
    assert!(shown.starts_with("7 rows\n  repeated "), "{shown}");
    assert!(shown.contains(&counted("ready", 3)), "{shown}");
    assert!(shown.contains("warning "), "{shown}");
    terminal.type_in("y\r");
    assert_eq!(terminal.end().0, 1);
    assert_eq!(sent(&service).len(), 3);
}

#[test]
fn a_run_that_goes_on_says_what_it_has_done_and_what_is_left() {
    let folder = Folder::with_leads(&contacts(5));
    let first = scenario(&format!(
        "[[rule]]\nphone_number = '{}'\nreply = {{ status = 422, body = '{{}}' }}\n\
         [[rule]]\nphone_number = '{}'\nreply = {{ status = 401, body = '{{}}' }}",
        number(1),
        number(3)
    ));
    folder
        .import_leads(&first, &["--concurrency", "1"])
        .expect(3);
    let service = replaced(first, "keep_bodies = true");
    let mut terminal = asked(folder.import_leads(&service, &[]));
    let shown = terminal.shown();
    let begin = "\nrun 1 ";
    assert!(shown.contains(begin), "{shown}");
    for (status, rows) in [("created", 2), ("rejected", 1), ("ready", 2)] {
        assert!(shown.contains(&counted(status, rows)), "{status}: {shown}");
    }
    terminal.type_in("y\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 1, "{shown}");
    assert_eq!(sent(&service), [number(3), number(4)]);
}

#[test]
fn what_another_unfinished_run_has_otherwise_is_said_before_the_question() {
    let folder = Folder::with_leads(&contacts(3));
    let first = scenario("token_revoked_after = 1");
    folder.import_leads(&first, &[]).expect(3);
    let service = replaced(first, "keep_bodies = true");
    let run = folder.import(&service, &["leads.csv", "--campaign", "102"]);
    let mut terminal = asked(run);
    let shown = terminal.shown();
    assert!(shown.contains("run 1,"), "{shown}");
    assert!(shown.contains("101, is 102"), "{shown}");
    terminal.type_in("n\r");
    assert_eq!(terminal.end().0, 2);
}

#[test]
fn where_nothing_is_to_be_sent_nothing_is_asked() {
    let (folder, service) = (Folder::with_leads(&contacts(3)), recorder());
    folder.import_leads(&service, &[]).expect(0);
    let run = folder.import_leads(&service, &[]);
    let (code, shown) = Terminal::start(run, 80, 40).end();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains(&counted("already_imported", 3)), "{shown}");
    assert!(!shown.contains("\n  ready "), "{shown}");
    assert_eq!(sent(&service).len(), 3);
    assert_eq!(
        folder.column("leads.results.csv", "status"),
        ["already_imported"; 3]
    );
}

/// The overview without a terminal, from a command that sends nothing.
fn overview(folder: &Folder, service: &Sandbox, args: &[&str]) -> String {
    let args = [&["--max-new", "0"], args].concat();
    folder.import_leads(service, &args).expect(2).stderr
}

#[track_caller]
fn assert_counted(overview: &str, expected: &[(&str, u64)]) {
    for (status, rows) in expected {
        let line = counted(status, *rows);
        assert!(overview.contains(&line), "{line}:\n{overview}");
    }
}

#[test]
fn what_flags_make_of_known_rows_is_counted_as_it_is_sent() {
    let folder = Folder::with_leads(&contacts(3));
    let first = scenario(&format!(
        "[[rule]]\nphone_number = '{}'\nreply = {{ status = 422, body = '{{}}' }}\n\
         [[rule]]\nphone_number = '{}'\nreply = {{ then = 'drop' }}",
        number(1),
        number(2)
    ));
    let hold = ["--on-uncertain", "hold"];
    folder.import_leads(&first, &hold).expect(1);
    let service = replaced(first, "");

    let again = overview(&folder, &service, &[]);
    assert_counted(&again, &[("already_imported", 1), ("ready", 2)]);
    let held = overview(&folder, &service, &hold);
    assert_counted(&held, &[("ready", 1), ("uncertain", 1)]);
    assert!(held.contains("--on-uncertain resend"), "{held}");
    let skipped = overview(&folder, &service, &["--known-bad", "skip"]);
    assert_counted(&skipped, &[("ready", 1), ("rejected", 1)]);
    let left = "--known-bad skip): 1 row ";
    assert!(skipped.contains(left), "{skipped}");
    let doubled = overview(&folder, &service, &["--allow-duplicates", "--again"]);
    assert_counted(&doubled, &[("ready", 3)]);

    let elsewhere = ["leads.csv", "--campaign", "102", "--max-new", "0"];
    let elsewhere = |args: &[&str]| {
        let args = [&elsewhere, args].concat();
        folder.import(&service, &args).expect(2).stderr
    };
    assert_counted(&elsewhere(&[]), &[("ready", 3)]);
    assert_counted(&elsewhere(&["--once", "service"]), &[("ready", 1)]);
    assert_eq!(service.stats().lead_requests, 0);
}

#[test]
fn campaigns_by_name_in_a_column_are_listed_before_anything_is_sent() {
    let mut list = contacts_of(&[102, 101, 101], 6);
    list = list.replace(",101\n", ",Spring promo\n");
    let (folder, service) = (Folder::with_leads(&list), recorder());
    let args = ["leads.csv", "--campaign-column", "list"];
    let output = folder.import(&service, &args).expect(0);
    let shown = steady(&output.stderr, &service);
    insta::assert_snapshot!("overview_of_campaigns_by_name", shown);
    assert_eq!(sent(&service).len(), 6);
    // If campaigns are ids there is no overview without a terminal.
    let folder = Folder::with_leads(&contacts_of(&[101, 102], 4));
    let output = folder.import(&service, &args).output();
    let shows = output.stderr.contains("[y/N]") || output.stderr.contains("ready");
    assert!(!shows, "{}", output.stderr);
}

#[test]
fn what_comes_in_by_standard_input_is_sent_without_a_question() {
    let (folder, service) = (Folder::with_leads(&contacts(3)), recorder());
    let args = ["import", "-", "--campaign", "101", "--rate", "none"];
    let run = folder.through_shell(r#"exec "$0" "$@" <leads.csv"#, &args);
    let (code, shown) = Terminal::start(run.at(&service), 80, 40).end();
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains("[y/N]"), "{shown}");
    assert_eq!(sent(&service).len(), 3);
}

#[test]
fn on_the_sandbox_nothing_is_asked() {
    let folder = Folder::with_leads(&contacts(3));
    let run = folder.leadload(&["import", "leads.csv", "--sandbox", "--campaign", "101"]);
    let (code, shown) = Terminal::start(run, 80, 40).end();
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains("[y/N]"), "{shown}");
}

#[test]
fn any_status_and_none_is_shown_as_it_is() {
    for (campaigns, said, warns) in [
        (
            "[[campaign]]\nid = 101\nname = 'A'\nstatus = 'Läuft'",
            "“A” (101), Läuft\n",
            false,
        ),
        (
            "[[campaign]]\nid = 101\nname = 'A'\nstatus = 'Draft'",
            "“A” (101), which",
            false,
        ),
        (
            "[[campaign]]\nid = 101\nname = 'A'\nstatus = ''",
            "“A” (101)\n",
            false,
        ),
        ("[[campaign]]\nid = 7\nname = 'A'", "101\n  warning ", true),
    ] {
        let (folder, service) = (Folder::with_leads(&contacts(1)), scenario(campaigns));
        let mut terminal = asked(folder.import_leads(&service, &[]));
        let shown = terminal.shown();
        assert!(shown.contains(&format!("\n  campaign   {said}")), "{shown}");
        assert_eq!(shown.contains("warning"), warns, "{shown}");
        terminal.type_in("n\r");
        assert_eq!(terminal.end().0, 2);
    }
}

#[test]
fn a_token_that_is_not_accepted_is_reported_before_the_question() {
    let (folder, service) = (Folder::with_leads(&contacts(3)), recorder());
    let run = folder
        .import_leads(&service, &[])
        .env("LEADLOAD_TOKEN", "no");
    let (code, shown) = Terminal::start(run, 80, 40).end();
    assert_eq!(code, 3, "{shown}");
    assert!(shown.contains("HTTP 401"), "{shown}");
    assert_eq!(folder.names(), ["leads.csv"]);
    assert_eq!(sent(&service), [""; 0]);
}

#[test]
fn an_input_that_changes_while_the_question_is_open_is_not_sent() {
    let (folder, service) = (Folder::with_leads(&contacts(3)), recorder());
    let mut terminal = asked(folder.import_leads(&service, &[]));
    folder.write("leads.csv", contacts(4));
    terminal.type_in("y\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 5, "{shown}");
    assert!(shown.contains("leads.csv` "), "{shown}");
    assert_eq!(sent(&service), [""; 0]);
    assert_eq!(folder.names(), ["leads.csv"]);
}

#[test]
fn another_run_is_told_that_a_question_is_open() {
    let (folder, service) = (Folder::with_leads(&contacts(3)), service());
    let mut terminal = asked(folder.import_leads(&service, &[]));
    let busy = folder.import_leads(&service, &[]).expect(6);
    busy.tells("terminal");
    terminal.type_in("n\r");
    assert_eq!(terminal.end().0, 2);
}

#[test]
fn a_log_for_machines_is_asked_nothing_at_a_terminal_either() {
    let folder = Folder::with_leads(&contacts(3));
    let service = service();
    let args = ["--log-format", "json", "--format", "json"];
    let run = folder.import_leads(&service, &args);
    let (code, shown) = Terminal::start(run, 400, 40).end();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.lines().all(|line| line.starts_with('{')), "{shown}");
    assert_eq!(service.stats().lead_requests, 3);
}

#[test]
fn what_is_typed_before_the_question_is_no_answer_to_it() {
    let folder = Folder::with_leads(&contacts(4));
    folder.write("other.csv", contacts(2));
    let service = scenario("latency_ms = 1000");
    let first = folder
        .import_leads(&service, &["--concurrency", "1"])
        .start();
    wait_for_requests(&service, 1);
    let args = ["other.csv", "--campaign", "102", "--wait"];
    let mut second = Terminal::start(folder.import(&service, &args), 80, 40);
    second.wait_for("waiting");
    second.type_in("y\r");
    second.wait_for("[y/N]");
    assert_eq!(Output::of(first).code, 0);
    second.type_in("n\r");
    assert_eq!(second.end().0, 2);
    assert_eq!(service.stats().lead_requests, 4);
}
