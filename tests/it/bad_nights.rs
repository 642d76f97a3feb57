//! The nightly command, night after night, at a service that refuses rows, breaks at some of them, or is
//! ill for a while: who is sent in the end, and what each night costs.

use std::fmt::Write as _;

use leadload::sandbox::Sandbox;
use serde_json::Value;

#[cfg(unix)]
use crate::cluster::{Cluster, Database};
#[cfg(unix)]
use crate::shared_ledger::with_ledger;
use crate::util::{
    Folder, Output, REFUSALS_OF_ALL, Run, contacts, contacts_of, kill, number, replaced, scenario,
    signal, wait_for_requests,
};

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

fn night(folder: &Folder, service: &Sandbox, code: i32) -> Value {
    let flags = ["--known-bad", "skip", "--format", "json"];
    folder.import_leads(service, &flags).expect(code).json()
}

fn count(summary: &Value, status: &str) -> u64 {
    summary["counts"][status].as_u64().unwrap()
}

#[test]
fn rows_that_are_refused_like_all_keep_nobody_else_from_being_sent_wherever_they_stand() {
    for (reply, _) in REFUSALS_OF_ALL {
        for (from, to) in [(0, 1), (0, 3), (30, 33), (66, 67)] {
            let folder = Folder::with_leads(&contacts(67));
            let service = scenario(&rules(from..to, reply));
            let summary = night(&folder, &service, 1);
            let refused = (to - from) as u64;
            assert_eq!(count(&summary, "created"), 67 - refused, "{reply} {from}");
            assert_eq!(count(&summary, "rejected"), refused, "{reply} {from}");
            assert_eq!(service.stats().lead_requests, 67, "{reply} {from}");
            // Other rows were taken that night, so these are known to be bad.
            let summary = night(&folder, &service, 0);
            assert_eq!(summary["known_bad"], refused, "{reply} {from}");
            assert_eq!(summary["requests"], 0, "{reply} {from}");
        }
    }
}

#[test]
fn nights_on_which_everything_is_refused_make_nobody_known_bad() {
    for status in [400, 406, 410, 419, 423, 451, 499] {
        for people in [1, 30, 100] {
            let folder = Folder::with_leads(&contacts(people));
            let ill = format!(
                "[[rule]]\nreply = {{ status = {status}, body = '{{\"message\":\"not now\"}}' }}"
            );
            let mut service = scenario(&ill);
            for _ in 0..2 {
                let code = if people > 50 { 3 } else { 1 };
                night(&folder, &service, code);
            }
            service = replaced(service, "");
            let summary = night(&folder, &service, 0);
            assert_eq!(service.stats().created, people as u64, "{status} {people}");
            assert_eq!(summary["known_bad"], 0, "{status} {people}");
        }
    }
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
fn rows_that_break_the_service_are_no_outage() {
    let folder = Folder::with_leads(&contacts(90));
    let broken = rules(20..30, "{ status = 500, body = 'Server Error' }");
    let service = scenario(&broken);
    let flags = ["--max-attempts", "2", "--format", "json"];
    let output = folder.import_leads(&service, &flags).expect(1);
    let summary = output.json();
    assert_eq!(count(&summary, "created"), 80);
    assert_eq!(count(&summary, "uncertain"), 10);
    assert_eq!(service.stats().lead_requests, 80 + 10 * 2);
    assert!(
        !output.stderr.contains("not answering"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_row_that_is_asked_to_come_back_for_ever_keeps_nobody_waiting_for_long() {
    let folder = Folder::with_leads(&contacts(20));
    let later =
        "{ status = 423, headers = { Retry-After = '1' }, body = '{\"message\":\"locked\"}' }";
    let service = scenario(&rules([0], later));
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

/// A night that is interrupted in its midst, and the well one after it, with a ledger of each kind.
#[cfg(unix)]
#[test]
fn a_bad_night_that_is_interrupted_keeps_nobody_from_being_sent() {
    let shared = Cluster::database();
    let ledgers = [None, shared.as_ref().map(Database::url)];
    let unwell = r#"{ status = 419, body = '{"message":"Page Expired"}' }"#;
    let refused_in_200 = r#"{ status = 200, body = '{"ok":false,"message":"not verified"}' }"#;
    let firewall = r#"{ status = 403, body = '{"message":"Forbidden"}' }"#;
    for ledger in ledgers.iter().take(1 + usize::from(shared.is_some())) {
        for (reply, requests) in [(unwell, 15), (refused_in_200, 15), (firewall, 2)] {
            for is_killed in [true, false] {
                let folder = Folder::with_leads(&contacts(30));
                let at_ledger = |run: Run| match ledger {
                    Some(url) => run.env("LEADLOAD_LEDGER", url),
                    None => run,
                };
                let night = |service: &Sandbox| {
                    let flags = ["--known-bad", "skip", "--format", "json"];
                    let flags = [&flags[..], &["--timeout", "1s", "--wait"]].concat();
                    at_ledger(folder.import_leads(service, &flags))
                };
                let ill = format!("latency_ms = 30\n[[rule]]\nreply = {reply}");
                let mut service = scenario(&ill);
                let child = night(&service).start();
                wait_for_requests(&service, requests);
                if is_killed {
                    kill(child);
                } else {
                    signal(&child, "-TERM");
                    assert_eq!(Output::of(child).code, 4, "{reply}");
                    let export = folder.leadload(&["runs", "export", "last", "--results", "x.csv"]);
                    at_ledger(export).expect(0);
                    let statuses = folder.column("x.csv", "status");
                    assert!(statuses.len() as u64 >= requests, "{reply}");
                    assert!(
                        statuses.iter().all(|s| s == "rejected"),
                        "{reply}: {statuses:?}"
                    );
                    std::fs::remove_file(folder.path("x.csv")).unwrap();
                }
                service = replaced(service, "");
                let what = format!("{reply}, killed: {is_killed}, ledger: {ledger:?}");
                let summary = night(&service).expect(0).json();
                assert_eq!(service.stats().created, 30, "{what}");
                assert_eq!(summary["known_bad"], 0, "{what}");
                assert_eq!(folder.records("leads.results.csv").len(), 30, "{what}");
            }
        }
    }
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

#[test]
fn a_list_that_grows_is_sent_within_two_nights_however_many_of_its_rows_are_refused_before() {
    let bad = r#"{ status = 400, body = '{"message":"Bad"}' }"#;
    let in_200 = r#"{ status = 200, body = '{"success":false,"message":"no"}' }"#;
    let replies = REFUSALS_OF_ALL.iter().map(|(reply, _)| *reply);
    for reply in replies.chain([bad, in_200]) {
        for (refused, known_bad) in [(8, "retry"), (60, "retry"), (60, "skip")] {
            let folder = Folder::with_leads(&contacts(0));
            let service = scenario(&rules(0..refused, reply));
            let mut people_before = 0;
            for night in 0..4 {
                let people = 40 + 10 * night;
                folder.write("leads.csv", contacts(refused + people));
                let flags = ["--known-bad", known_bad];
                let output = folder.import_leads(&service, &flags).output();
                let created = service.stats().created;
                let what = format!("{reply}, {refused}, {known_bad}, night {night}");
                assert!(created >= people_before, "{what}: {}", output.stderr);
                people_before = people as u64;
            }
            assert_eq!(service.stats().created, people_before, "{reply}, {refused}");
        }
    }
}

#[test]
fn rows_that_met_a_stop_are_judged_by_rows_of_their_own_campaign_alone() {
    for (reply, _) in REFUSALS_OF_ALL {
        for (of_101, of_102) in [(30, 6), (4, 4), (30, 1)] {
            let lists: Vec<u32> = [vec![101; of_101], vec![102; of_102]].concat();
            let folder = Folder::with_leads(&contacts_of(&lists, of_101 + of_102));
            let night = |service: &Sandbox, code: i32| {
                let flags = ["leads.csv", "--campaign-column", "list"];
                let flags = [&flags[..], &["--known-bad", "skip", "--format", "json"]].concat();
                folder.import(service, &flags).expect(code).json()
            };
            let mut service = scenario(&format!("[[rule]]\nreply = {reply}"));
            night(&service, 3);
            let one = format!("[[rule]]\ncampaign_id = 102\nreply = {reply}");
            service = replaced(service, &one);
            let second = night(&service, 3);
            assert_eq!(count(&second, "created"), of_101 as u64, "{reply}");
            assert_eq!(count(&second, "rejected"), 0, "{reply}");
            service = replaced(service, "");
            let third = night(&service, 0);
            assert_eq!(service.stats().created, of_102 as u64, "{reply}");
            assert_eq!(third["known_bad"], 0, "{reply}");
        }
    }
}

#[test]
fn a_campaign_that_refuses_all_its_rows_makes_none_known_bad_by_the_leads_of_another() {
    let folder = Folder::with_leads(&contacts_of(&[101, 102], 60));
    let night = |service: &Sandbox, code: i32| {
        let flags = ["leads.csv", "--campaign-column", "list"];
        let flags = [&flags[..], &["--known-bad", "skip", "--format", "json"]].concat();
        folder.import(service, &flags).expect(code).json()
    };
    let gone = "[[rule]]\ncampaign_id = 102\nreply = { status = 410, body = '{}' }";
    let mut service = scenario(gone);
    let first = night(&service, 1);
    assert_eq!(count(&first, "rejected"), 30);
    service = replaced(service, "");
    let second = night(&service, 0);
    assert_eq!(count(&second, "created"), 30);
    assert_eq!(second["known_bad"], 0);
}

#[cfg(unix)]
#[test]
fn leads_of_an_earlier_night_make_nobody_known_bad_on_one_that_refuses_everything() {
    let folder = Folder::with_leads(&contacts(40));
    let mut service = scenario("latency_ms = 30");
    let flags = ["--known-bad", "skip", "--concurrency", "2"];
    let child = folder.import_leads(&service, &flags).start();
    wait_for_requests(&service, 15);
    signal(&child, "-TERM");
    assert_eq!(Output::of(child).code, 4);
    let made = service.stats().created;
    service = replaced(service, "[[rule]]\nreply = { status = 400, body = '{}' }");
    let second = night(&folder, &service, 1);
    assert_eq!(count(&second, "rejected"), 40 - made);
    service = replaced(service, "");
    let third = night(&folder, &service, 0);
    assert_eq!(count(&third, "created"), 40 - made);
    assert_eq!(third["known_bad"], 0);
}
