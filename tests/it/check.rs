//! What `leadload check` shows besides the reading of each row, which the corpus tests.

use rusqlite::Connection;

use crate::util::{Folder, contacts, sample_data, service};

/// The output of the command that begins like this, from the page about uploading.
fn documented_output(command: &str) -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/upload.md");
    let text = std::fs::read_to_string(page).unwrap();
    let (_, block) = text.split_once(command).unwrap();
    let (_, output) = block.split_once('\n').unwrap();
    output.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_report_is_the_one_in_the_documentation() {
    let folder = Folder::new();
    for name in ["kontakte.csv", "do-not-call.txt"] {
        std::fs::copy(sample_data(name), folder.path(name)).unwrap();
    }
    let args = "check kontakte.csv --region DE --suppress do-not-call.txt --campaign 101";
    let args: Vec<&str> = args.split(' ').collect();
    let output = folder.leadload(&args).expect(1);
    assert_eq!(
        output.stdout,
        documented_output("$ leadload check kontakte.csv")
    );
    assert_eq!(output.stderr, "");
    assert_eq!(folder.names(), ["do-not-call.txt", "kontakte.csv"]);
}

#[test]
fn the_object_for_machines_has_all_that_was_found() {
    let folder = Folder::with_leads(
        "phone;name\n+447400123456;Ada\n+12125550123;Bob\n+447400123456;Ada\nx;Cy\n",
    );
    folder.write("dnc.txt", "+447400999999\n");
    let args = "check leads.csv --suppress dnc.txt --format json";
    let args: Vec<&str> = args.split(' ').collect();
    let found = folder.leadload(&args).expect(1).json();
    assert_eq!(found["counts"]["ready"], 2);
    assert_eq!(found["inputs"][0]["delimiter"], ";");
    assert_eq!(found["inputs"][0]["columns"][0]["read_for"], "phone_number");
    assert_eq!(found["inputs"][0]["columns"][1]["variables"][0], "name");
    let samples = serde_json::json!(["Ada", "Bob", "Cy"]);
    assert_eq!(found["inputs"][0]["columns"][1]["samples"], samples);
    assert_eq!(found["lists"][0]["numbers"], 1);
    assert_eq!(found["lead_bodies"][1]["phone_number"], "+12125550123");
    assert_eq!(found["groups"][0]["status"], "repeated");
    assert_eq!(found["groups"][0]["first"][0]["line"], 4);
    assert_eq!(found["groups"][1]["error_code"], "phone_not_e164");
    assert!(
        found["groups"][1]["example"]
            .as_str()
            .unwrap()
            .contains("number")
    );
    let country = |at: usize| found["numbers"][at]["country"].as_str().unwrap();
    assert_eq!([country(0), country(1)], ["GB", "US"]);
    assert_eq!(found["numbers"][0]["type"], "mobile");
    assert_eq!(found["estimate_s"]["least"], 0.2);
    assert_eq!(found["estimate_s"]["most"], 1.2);
}

#[test]
fn many_numbers_that_end_in_zeros_are_mentioned_before_and_after() {
    let mut text = String::from("phone\n");
    for number in 0..98 {
        text.push_str(&format!("+4474001234{number:02}\n"));
    }
    text.push_str("+447400100000\n+447400200000\n");
    let folder = Folder::with_leads(&text);
    let output = folder.leadload(&["check", "leads.csv"]).expect(0);
    for said in ["2 end in 00000", "2 of 100"] {
        output.shows(said);
    }
}

#[test]
fn of_very_many_columns_the_first_thousand_are_shown() {
    for (columns, left) in [
        (1000, ""),
        (1001, "and 1 more column\n"),
        (3000, "and 2,000 more columns\n"),
    ] {
        let names: String = (2..=columns).map(|column| format!(",c{column}")).collect();
        let folder = Folder::with_leads(&format!("phone{names}\n"));
        let text = folder.leadload(&["check", "leads.csv"]).expect(0).stdout;
        assert!(text.contains(left), "{text}");
        let shown = text.lines().filter(|line| line.starts_with('c')).count();
        // Under their heading, and without the phone number.
        assert_eq!(shown, 1000, "{columns}");
        assert_eq!(text.contains("more column"), !left.is_empty());
    }
}

#[test]
fn how_long_it_takes_is_one_figure_where_the_rate_is_known() {
    let folder = Folder::with_leads("phone\n+447400123456\n+447400123457\n");
    let output = folder
        .leadload(&["check", "leads.csv", "--rate", "1/min"])
        .expect(0);
    output.shows(" 2 min at 1/min");
}

/// A folder whose ledger knows one service, changed by this SQL.
fn folder_that_knows(service: &leadload::sandbox::Sandbox, sql: &str) -> Folder {
    let folder = Folder::with_leads(&contacts(1));
    folder.import_leads(service, &[]).expect(0);
    folder.write("leads.csv", contacts(601));
    let db = Connection::open(folder.ledger()).unwrap();
    db.execute_batch(sql).unwrap();
    folder
}

#[test]
fn the_time_is_estimated_by_the_last_rate_where_the_ledger_knows_one() {
    let service = service();
    let learned =
        "UPDATE services SET rate_requests = 300, rate_per_ms = 60000, rate_is_stated = 0";
    let folder = folder_that_knows(&service, learned);
    let check = |args: &[&str]| {
        let all = [&["check", "leads.csv", "--campaign", "101"], args].concat();
        folder.leadload(&all).at(&service).expect(0)
    };
    let said = " 2 min at about 5/s";
    let output = check(&[]);
    output.shows(said);
    let estimate = check(&["--format", "json"]).json()["estimate_s"].clone();
    assert_eq!(
        estimate,
        serde_json::json!({ "least": 120.0, "most": 120.0 })
    );
    // A flag comes before what the ledger knows.
    let given = check(&["--rate", "100/min"]);
    given.shows(" 6 min at 100/min");
}
