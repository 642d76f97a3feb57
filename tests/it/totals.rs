//! The total number of rows is printed wherever it is known.

use serde_json::{Value, json};

use crate::util::{Folder, Output, contacts, scenario};

/// More rows than are read ahead of the rows that are sent.
const MANY: usize = 150_000;

/// An import whose token is refused after four leads.
fn stopped(folder: &Folder, args: &[&str]) -> Output {
    let service = scenario("token_revoked_after = 4");
    let one = ["--concurrency", "1"];
    folder
        .import_leads(&service, &[&one, args].concat())
        .expect(3)
}

#[test]
fn a_list_that_was_read_to_its_end_before_the_stop_is_known() {
    let folder = Folder::with_leads(&contacts(9));
    let output = stopped(&folder, &["--metrics-file", "leadload.prom"]);
    let first = output.stdout.lines().next().unwrap();
    assert!(first.contains("4 of 9 rows"), "{first}");
    let figures = folder.read("leadload.prom");
    assert!(
        figures.contains("\nleadload_rows_expected{profile=\"\",input=\"leads.csv\"} 9\n"),
        "{figures}"
    );
    let args = [
        "--format",
        "json",
        "--log-format",
        "json",
        "--report",
        "page.html",
    ];
    let output = stopped(&folder, &args);
    let summary = output.json();
    assert_eq!(
        (&summary["rows"], &summary["rows_total"]),
        (&json!(4), &json!(9))
    );
    let end: Value = serde_json::from_str(output.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&end["event"], &end["rows_total"]),
        (&json!("end"), &json!(9))
    );
    let page = folder.read("page.html");
    assert!(page.contains("4 of 9 rows"), "{page}");
}

#[test]
fn a_longer_list_is_known_where_it_was_read_for_another_reason_first() {
    let folder = Folder::with_leads(&contacts(MANY));
    for (args, total) in [
        (&["--ledger", "a.sqlite3"][..], Value::Null),
        (
            &[
                "--ledger",
                "b.sqlite3",
                "--new-ledger",
                "--max-new",
                "200000",
            ],
            json!(MANY),
        ),
    ] {
        let summary = stopped(&folder, &[args, &["--format", "json"]].concat()).json();
        assert_eq!(summary["rows_total"], total, "{args:?}");
        assert_eq!(summary["counts"]["created"], 4, "{args:?}");
    }
    let args = ["--ledger", "b.sqlite3", "--max-new", "200000"];
    let first = stopped(&folder, &args).stdout;
    assert!(first.contains("4 of 150,000 rows"), "{first}");
}

#[test]
fn an_error_after_the_input_was_read_has_the_number_of_rows() {
    let folder = Folder::with_leads(&contacts(9));
    let service = scenario("");
    let args = [
        "--max-new",
        "5",
        "--format",
        "json",
        "--metrics-file",
        "leadload.prom",
    ];
    let summary = folder.import_leads(&service, &args).expect(2).json();
    assert_eq!(
        (&summary["rows"], &summary["rows_total"]),
        (&json!(0), &json!(9))
    );
    let figures = folder.read("leadload.prom");
    assert!(
        figures.contains("\nleadload_rows_expected{profile=\"\",input=\"leads.csv\"} 9\n"),
        "{figures}"
    );
}
