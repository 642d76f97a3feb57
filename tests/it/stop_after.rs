//! `--stop-after`: rows that are rejected for the same reason.

use crate::util::{Folder, Output, contacts, number, replaced, scenario};
use leadload::sandbox::Sandbox;

/// A service that rejects these rows, each with its text.
fn rejects(rows: impl IntoIterator<Item = (usize, &'static str)>) -> Sandbox {
    let rule = |(row, text)| {
        format!(
            "[[rule]]\nphone_number = '{}'\n\
             reply = {{ status = 422, body = '{{\"message\":\"{text}\"}}' }}\n",
            number(row)
        )
    };
    let rules: String = rows.into_iter().map(rule).collect();
    scenario(&rules)
}

fn import(folder: &Folder, service: &Sandbox, most: &str, code: i32) -> Output {
    let args = ["--concurrency", "1", "--format", "json"];
    let args = [&args[..], &["--stop-after", most]].concat();
    folder.import_leads(service, &args).expect(code)
}

const CITY: &str = "The city is missing.";
const NAME: &str = "The name is missing.";

#[test]
fn equal_rejections_stop_the_run_and_are_in_results_and_rejects() {
    let folder = Folder::with_leads(&contacts(30));
    let service = rejects((3..30).map(|row| (row, CITY)));
    let output = import(&folder, &service, "4", 3);
    let summary = output.json();
    assert_eq!(summary["stopped_by"], "rejections");
    assert_eq!(summary["complete"], false);
    assert_eq!(summary["rows"], 7);
    assert_eq!(service.stats().lead_requests, 7);
    assert_eq!(
        folder.column("leads.results.csv", "status"),
        [
            "created", "created", "created", "rejected", "rejected", "rejected", "rejected"
        ]
    );
    assert_eq!(
        folder.column("leads.rejects.csv", "leadload_row"),
        ["4", "5", "6", "7"]
    );
    let error = summary["error"].as_str().unwrap();
    assert!(error.contains(CITY), "{error}");
    assert!(error.contains("--stop-after"), "{error}");
}

#[test]
fn the_same_command_goes_on_after_equal_rejections() {
    let folder = Folder::with_leads(&contacts(12));
    let service = rejects((3..12).map(|row| (row, CITY)));
    import(&folder, &service, "4", 3);
    let service = replaced(service, "");
    let output = import(&folder, &service, "4", 0);
    let summary = output.json();
    assert_eq!(summary["complete"], true);
    // What was wrong with these rows may have been mended at the service: they are sent again.
    assert_eq!(summary["counts"]["created"], 12);
    assert_eq!(service.stats().lead_requests, 9);
    assert_eq!(folder.records("leads.results.csv").len(), 12);
    assert_eq!(folder.names(), ["leads.csv", "leads.results.csv"]);
}

#[test]
fn another_text_another_status_or_a_success_in_between_restarts_the_count() {
    let alike = |row| (row, CITY);
    let with = |other: &'static str| {
        let first = (0..3).map(alike);
        first.chain([(3, other)]).chain((4..7).map(alike))
    };
    let texts = rejects(with(NAME));
    let success = rejects((0..3).chain(4..7).map(alike));
    let statuses = scenario(
        &(0..7)
            .map(|row| {
                format!(
                    "[[rule]]\nphone_number = '{}'\n\
                     reply = {{ status = {}, body = '{{\"message\":\"{CITY}\"}}' }}\n",
                    number(row),
                    if row == 3 { 400 } else { 422 }
                )
            })
            .collect::<String>(),
    );
    for service in [texts, success, statuses] {
        let folder = Folder::with_leads(&contacts(10));
        let summary = import(&folder, &service, "4", 1).json();
        assert_eq!(summary["complete"], true);
        assert_eq!(summary["rows"], 10);
        assert_eq!(service.stats().lead_requests, 10);
    }
}

#[test]
fn that_many_rejections_at_the_very_end_leave_nothing_undone() {
    for extra in [0, 1] {
        let folder = Folder::with_leads(&contacts(6 + extra));
        let service = rejects((2..6).map(|row| (row, CITY)));
        let code = if extra == 0 { 1 } else { 3 };
        let output = import(&folder, &service, "4", code);
        let summary = output.json();
        assert_eq!(summary["complete"], extra == 0);
        assert_eq!(output.stderr.matches("WARN stopping").count(), extra);
        assert_eq!(summary["rows"], 6);
        assert_eq!(summary["counts"]["rejected"], 4);
        assert_eq!(service.stats().lead_requests, 6);
    }
}

#[test]
fn a_list_of_nothing_but_such_rows_is_complete_where_there_are_no_more() {
    let folder = Folder::with_leads(&contacts(4));
    let service = rejects((0..4).map(|row| (row, CITY)));
    let output = import(&folder, &service, "4", 1);
    let summary = output.json();
    assert_eq!(summary["complete"], true);
    assert_eq!(summary["rows_total"], 4);
    assert_eq!(output.stderr.matches("WARN stopping").count(), 0);
}

#[test]
fn the_first_rejected_row_stops_where_one_is_enough() {
    let folder = Folder::with_leads(&contacts(10));
    let service = rejects([(2, CITY)]);
    let summary = import(&folder, &service, "1", 3).json();
    assert_eq!(summary["stopped_by"], "rejections");
    assert_eq!(service.stats().lead_requests, 3);
    assert_eq!(
        folder.column("leads.results.csv", "status"),
        ["created", "created", "rejected"]
    );
    // Each start gets one row further, so the list is finished in the end.
    let summary = import(&folder, &service, "1", 1).json();
    assert_eq!(summary["counts"]["created"], 9);
    // The rejected row is tried once more, after another one was taken.
    assert_eq!(service.stats().lead_requests, 11);
}

#[test]
fn what_was_in_flight_is_awaited_and_has_its_outcome_too() {
    let folder = Folder::with_leads(&contacts(200));
    let service = scenario(
        "latency_ms = 20\n[[rule]]\n\
         reply = { status = 422, body = '{\"message\":\"No.\"}' }",
    );
    let args = [
        "--concurrency",
        "8",
        "--stop-after",
        "20",
        "--format",
        "json",
    ];
    let output = folder.import_leads(&service, &args).expect(3);
    let requests = service.stats().lead_requests;
    assert!((20..20 + 8).contains(&requests), "{requests}");
    assert_eq!(output.json()["counts"]["rejected"], requests);
    assert_eq!(folder.records("leads.rejects.csv").len() as u64, requests);
}
