//! `--stop-after`: rows that are rejected for the same reason.

use crate::util::{Folder, Output, contacts, number, replaced, scenario};
use leadload::sandbox::Sandbox;

/// A service that rejects these rows alike.
fn rejects(rows: impl IntoIterator<Item = usize>) -> Sandbox {
    let rule = |row| {
        format!(
            "[[rule]]\nphone_number = '{}'\n\
             reply = {{ status = 422, body = '{{\"message\":\"{CITY}\"}}' }}\n",
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

#[test]
fn equal_rejections_stop_the_run_and_are_in_results_and_rejects() {
    let folder = Folder::with_leads(&contacts(30));
    let service = rejects(3..30);
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
fn rows_that_are_rejected_alike_at_the_end_of_the_list_stop_nothing() {
    let folder = Folder::with_leads(&contacts(7));
    let summary = import(&folder, &rejects(3..7), "4", 1).json();
    assert_eq!(
        (&summary["stopped_by"], &summary["complete"]),
        (&serde_json::Value::Null, &true.into())
    );
    assert_eq!(summary["rows"], 7);
}

#[test]
fn the_same_command_goes_on_after_equal_rejections() {
    let folder = Folder::with_leads(&contacts(12));
    let service = rejects(3..12);
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
