//! `--max-duration`: the time limit of a run.

use crate::util::{Folder, contacts, number, scenario};

#[test]
fn time_that_is_up_ends_cleanly_and_the_same_command_goes_on() {
    let folder = Folder::with_leads(&contacts(100));
    let service = scenario("latency_ms = 25");
    let args = [
        "--max-duration",
        "1s",
        "--concurrency",
        "2",
        "--format",
        "json",
    ];
    let mut runs = 0;
    loop {
        let output = folder.import_leads(&service, &args).output();
        runs += 1;
        let summary = output.json();
        let made = service.leads().len();
        assert_eq!(summary["counts"]["created"], made, "{}", output.stderr);
        assert_eq!(summary["rows"], made);
        assert_eq!(folder.records("leads.results.csv").len(), made);
        if output.code == 0 {
            break;
        }
        assert_eq!(output.code, 4, "{}", output.stderr);
        assert_eq!(summary["stopped_by"], "max_duration");
        assert_eq!(summary["complete"], false);
        assert!(summary["elapsed_s"].as_f64().unwrap() >= 1.0);
        assert!(runs < 30, "it does not come to its end");
    }
    // A hundred requests of 25 ms, two at a time, take more than a second.
    assert!(runs >= 2, "{runs}");
    assert_eq!(service.stats().lead_requests, 100, "nothing was sent twice");
    assert_eq!(
        folder.column("leads.results.csv", "status"),
        ["created"; 100]
    );
}

#[test]
fn what_is_in_flight_when_the_time_is_up_is_awaited() {
    let folder = Folder::with_leads(&contacts(20));
    let service = scenario(&format!(
        "[[rule]]\nphone_number = '{}'\nreply = {{ delay_ms = 3500, then = 'usual' }}",
        number(5)
    ));
    let args = [
        "--max-duration",
        "2s",
        "--concurrency",
        "1",
        "--format",
        "json",
    ];
    let output = folder.import_leads(&service, &args).expect(4);
    let summary = output.json();
    assert_eq!(summary["stopped_by"], "max_duration");
    assert_eq!(summary["counts"]["created"], 6);
    assert_eq!(summary["rows"], 6);
    assert_eq!(service.stats().lead_requests, 6);
    assert!(summary["elapsed_s"].as_f64().unwrap() >= 3.5);
    output.tells("waiting for 1 answer");
}

#[test]
fn time_that_is_up_before_anything_is_sent_leaves_nothing_in_doubt() {
    let folder = Folder::with_leads(&contacts(20));
    let service = scenario("");
    let args = ["--max-duration", "1ms", "--format", "json"];
    let summary = folder.import_leads(&service, &args).expect(4).json();
    assert_eq!(summary["stopped_by"], "max_duration");
    assert_eq!(summary["complete"], false);
    assert_eq!(summary["rows"], service.leads().len());
    assert!(service.leads().len() < 20);
    folder.import_leads(&service, &[]).expect(0);
    assert_eq!(service.stats().lead_requests, 20);
    assert_eq!(
        folder.column("leads.results.csv", "status"),
        ["created"; 20]
    );
}

#[test]
fn time_that_is_up_is_no_error_and_nothing_to_those_who_want_to_hear_of_errors_alone() {
    let time_up = |args: &[&str]| {
        let folder = Folder::with_leads(&contacts(20));
        let service = scenario("latency_ms = 150");
        let all = [&["--max-duration", "2s", "--concurrency", "1"], args].concat();
        folder.import_leads(&service, &all).expect(4)
    };
    let said = "stopped by `--max-duration`";
    let output = time_up(&[]);
    output.shows("`--max-duration`");
    assert!(!output.stderr.contains("error"), "{}", output.stderr);
    assert!(!output.stderr.contains(said), "{}", output.stderr);
    let output = time_up(&["--format", "json"]);
    output.tells(&format!("\n{said}\n"));
    let output = time_up(&["--log-format", "json"]);
    let lines = output.stderr.lines().map(serde_json::from_str);
    let lines: Vec<serde_json::Value> = lines.collect::<Result<_, _>>().unwrap();
    assert!(
        lines.iter().all(|line| line["level"] != "ERROR"),
        "{lines:?}"
    );
    let line = lines.iter().find(|line| line["message"] == said).unwrap();
    assert_eq!([&line["level"], &line["event"]], ["INFO", "note"]);
    for form in ["text", "json"] {
        let output = time_up(&["--quiet", "--log-format", form]);
        assert_eq!(output.stderr, "", "{form}");
        output.shows("`--max-duration`");
    }
    // Also before the first row.
    let folder = Folder::with_leads(&contacts(20));
    let service = scenario("");
    let args = ["--max-duration", "1ms", "--quiet"];
    assert_eq!(folder.import_leads(&service, &args).expect(4).stderr, "");
}

#[test]
fn a_run_that_stops_says_how_many_rows_its_rejects_have() {
    for (settings, args, code) in [
        ("latency_ms = 100", "--max-duration 2s", 4),
        ("token_revoked_after = 3", "--max-attempts 8", 3),
    ] {
        let folder = Folder::with_leads(&format!("phone,name\nx,Ada\n,Bob\n{}", contacts(40)));
        let service = scenario(settings);
        let run = folder.import_leads(&service, &["--concurrency", "1"]);
        let output = run.args(args).expect(code);
        // The header of the second list is a row without a number, too.
        output.shows("leads.rejects.csv (3 rows)\n");
        assert_eq!(folder.records("leads.rejects.csv").len(), 3);
    }
}

#[test]
fn rows_that_wait_to_be_sent_again_when_the_time_is_up_are_not_hidden() {
    let folder = Folder::with_leads(&contacts(20));
    let service = scenario(&format!(
        "latency_ms = 5\n[[rule]]\nphone_number = '{}'\nreply = {{ store = true, then = 'drop' }}\n\
         [[rule]]\nphone_number = '{}'\nreply = {{ status = 429, headers = {{ Retry-After = '60' }} }}",
        number(2),
        number(4)
    ));
    let args = ["--max-duration", "2s", "--concurrency", "1"];
    folder.import_leads(&service, &args).expect(4);
    let rows: Vec<String> = folder
        .records("leads.results.csv")
        .iter()
        .map(|row| format!("{} {}", row["row"], row["status"]))
        .collect();
    assert_eq!(rows, ["1 created", "2 created", "3 uncertain", "4 created"]);
}

#[cfg(unix)]
mod signals {
    use std::io::{BufRead, BufReader};
    use std::process::Child;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::util::{Output, signal};

    /// A run whose time is up while its third row is in flight, and its log from then on.
    fn drains(folder: &Folder, reply: &str) -> (leadload::sandbox::Sandbox, Child) {
        let service = scenario(&format!(
            "[[rule]]\nphone_number = '{}'\nreply = {reply}",
            number(2)
        ));
        let args = [
            "--max-duration",
            "2s",
            "--concurrency",
            "1",
            "--format",
            "json",
        ];
        let mut child = folder.import_leads(&service, &args).start();
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(stderr.any(|line| line.unwrap().contains("stopping: `--max-duration`")));
        (service, child)
    }

    #[test]
    fn a_signal_after_the_time_is_up_still_awaits_what_is_in_flight() {
        let folder = Folder::with_leads(&contacts(10));
        let (service, child) = drains(&folder, "{ delay_ms = 3500, then = 'usual' }");
        signal(&child, "-INT");
        let output = Output::of(child);
        assert_eq!(output.code, 4);
        let summary = output.json();
        assert_eq!(summary["counts"]["created"], 3);
        assert_eq!(summary["counts"]["uncertain"], 0);
        assert_eq!(service.leads().len(), 3);
    }

    #[test]
    fn a_second_signal_after_the_time_is_up_ends_at_once() {
        let folder = Folder::with_leads(&contacts(10));
        let (_service, mut child) = drains(&folder, "{ then = 'hang' }");
        signal(&child, "-INT");
        // Two signals that are pending at the same time may arrive as one.
        sleep(Duration::from_millis(300));
        assert!(child.try_wait().unwrap().is_none(), "one is not enough");
        signal(&child, "-INT");
        let began = Instant::now();
        let output = Output::of(child);
        assert_eq!(output.code, 4);
        // A request may take a minute.
        assert!(began.elapsed() < Duration::from_secs(20));
        assert_eq!(output.json()["counts"]["uncertain"], 1);
        assert_eq!(
            folder.column("leads.results.csv", "status"),
            ["created", "created", "uncertain"]
        );
    }
}
