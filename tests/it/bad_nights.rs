//! The nightly command, night after night, at a service that refuses rows, breaks at some of them, or is
//! ill for a while: who is sent in the end, and what each night costs.

use std::fmt::Write as _;

use leadload::sandbox::Sandbox;
use serde_json::Value;

#[cfg(unix)]
use crate::cluster::Cluster;
#[cfg(unix)]
use crate::shared_ledger::with_ledger;
use crate::util::{Folder, REFUSALS_OF_ALL, contacts, number, replaced, scenario};

/// Answers these rows so.
fn rules(rows: impl IntoIterator<Item = usize>, reply: &str) -> String {
    let mut rules = String::new();
    for row in rows {
        let number = number(row);
        let _ = writeln!(
            rules,
            "[[rule]]\nphone_number = '{number}'\nreply = {reply}"
        );
    }
    rules
}

const LATER: &str =
    "{ status = 423, headers = { Retry-After = '1' }, body = '{\"message\":\"locked\"}' }";

fn night(folder: &Folder, service: &Sandbox, code: i32) -> Value {
    let flags = ["--known-bad", "skip", "--format", "json"];
    folder.import_leads(service, &flags).expect(code).json()
}

fn count(summary: &Value, status: &str) -> u64 {
    summary["counts"][status].as_u64().unwrap()
}

#[test]
fn a_night_that_refuses_all_costs_a_handful_and_its_rows_are_sent_when_another_one_was() {
    for (reply, by) in REFUSALS_OF_ALL {
        let folder = Folder::with_leads(&contacts(67));
        let mut service = scenario(&format!("[[rule]]\nreply = {reply}"));
        let first = night(&folder, &service, 3);
        assert_eq!(first["stopped_by"], by, "{reply}");
        assert_eq!(first["requests"], 6, "{reply}");
        let lines = first["stopped_at"].as_array().unwrap();
        assert_eq!(lines.len(), 6, "{reply}");
        assert!(lines.contains(&2.into()), "{lines:?}");
        assert_eq!(count(&first, "rejected"), 0, "{reply}");
        // One of them is refused for itself; the others were not.
        service = replaced(service, &rules([0], reply));
        let second = night(&folder, &service, 1);
        assert_eq!(count(&second, "created"), 66, "{reply}");
        assert_eq!(count(&second, "rejected"), 1, "{reply}");
        assert_eq!(second["stopped_at"], Value::Array(Vec::new()), "{reply}");
        let statuses = folder.column("leads.results.csv", "status");
        assert_eq!(statuses[0], "rejected", "{reply}");
    }
}

#[test]
fn a_row_that_is_asked_to_come_back_for_ever_keeps_nobody_waiting_for_long() {
    let folder = Folder::with_leads(&contacts(20));
    let service = scenario(&rules([0], LATER));
    let flags = [
        "--max-attempts",
        "3",
        "--known-bad",
        "skip",
        "--format",
        "json",
    ];
    let summary = folder.import_leads(&service, &flags).expect(1).json();
    assert_eq!(count(&summary, "created"), 19);
    assert_eq!(count(&summary, "rejected"), 1);
    // It was asked to come back: the next night tries it again.
    let service = replaced(service, "");
    let summary = folder.import_leads(&service, &flags).expect(0).json();
    assert_eq!(count(&summary, "created"), 1);
}

#[test]
fn with_several_lists_the_refused_rows_are_named_with_their_file() {
    let folder = Folder::with_leads(&contacts(3));
    folder.write("more.csv", "phone,name\n+447911900001,Ada\n");
    let service = scenario("[[rule]]\nreply = { status = 404, body = '{}' }");
    let args = ["leads.csv", "more.csv", "--campaign", "101"];
    let json = [&args[..], &["--format", "json"]].concat();
    let summary = folder.import(&service, &json).expect(3).json();
    let named = summary["stopped_at"].as_array().unwrap();
    let last = serde_json::json!({ "file": "more.csv", "line": 2 });
    assert!(named.len() == 4 && named.contains(&last), "{named:?}");
    let output = folder.import(&service, &args).expect(3);
    output.shows("more.csv line 2");
}

#[cfg(unix)]
#[test]
fn on_a_shared_ledger_too_what_met_a_stop_is_sent_and_only_bad_rows_are_known_bad() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let night = |folder: &Folder, service: &Sandbox, code: i32| {
        let flags = ["--known-bad", "skip", "--format", "json"];
        let run = folder.import_leads(service, &flags);
        with_ledger(run, &database).expect(code).json()
    };
    for (reply, by) in REFUSALS_OF_ALL {
        let folder = Folder::with_leads(&contacts(67));
        let mut service = scenario(&format!("[[rule]]\nreply = {reply}"));
        assert_eq!(night(&folder, &service, 3)["stopped_by"], by, "{reply}");
        assert_eq!(service.stats().lead_requests, 6, "{reply}");
        service = replaced(service, &rules([0], reply));
        let second = night(&folder, &service, 1);
        assert_eq!(count(&second, "created"), 66, "{reply}");
        assert_eq!(count(&second, "rejected"), 1, "{reply}");
        let third = night(&folder, &service, 0);
        assert_eq!(third["known_bad"], 1, "{reply}");
        assert_eq!(third["requests"], 0, "{reply}");
    }
    for people in [30, 100] {
        let folder = Folder::with_leads(&contacts(people));
        let ill = "[[rule]]\nreply = { status = 451, body = '{}' }";
        let mut service = scenario(ill);
        for _ in 0..2 {
            night(&folder, &service, if people > 50 { 3 } else { 1 });
        }
        service = replaced(service, "");
        let summary = night(&folder, &service, 0);
        assert_eq!(service.stats().created, people as u64);
        assert_eq!(summary["known_bad"], 0);
    }
}

#[cfg(unix)]
#[test]
fn on_a_shared_ledger_too_rows_that_are_put_off_keep_nobody_waiting() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let folder = Folder::with_leads(&contacts(12));
    let mut service = scenario(&rules(0..2, LATER));
    let night = |service: &Sandbox, code: i32| {
        let flags = "--concurrency 1 --on-uncertain hold --max-outage 20s --max-attempts 3 \
            --known-bad skip --format json";
        let run = folder.import_leads(service, &[]).args(flags);
        with_ledger(run, &database).expect(code).json()
    };
    for created in [10, 0] {
        let summary = night(&service, 1);
        assert_eq!(count(&summary, "created"), created);
        assert_eq!(count(&summary, "rejected"), 2);
    }
    service = replaced(service, "");
    assert_eq!(count(&night(&service, 0), "created"), 2);
}

#[test]
fn a_start_that_ends_remembers_which_rows_were_put_off() {
    let folder = Folder::with_leads(&contacts(2));
    let service = scenario(&rules(0..2, LATER));
    let flags = "--concurrency 1 --max-outage 6s --max-attempts 2 --format json";
    let night = |code| {
        let run = folder.import_leads(&service, &[]);
        run.args(flags).expect(code).json()
    };
    // The service may be busy, and take nobody.
    let first = night(3);
    assert_eq!(first["stopped_by"], "outage");
    assert_eq!(count(&first, "rejected"), 0);
    // Both were put off in two nights, so it is about them.
    assert_eq!(count(&night(1), "rejected"), 2);
}
