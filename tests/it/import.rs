//! The main job: rows in, leads out, and every row has an outcome.

use serde_json::json;

use crate::transcript::without_tags;
use crate::util::{Folder, contacts, sample_data, scenario, service};

/// The text with every time replaced. Checks the form of each time.
fn without_times(text: &str) -> String {
    let is_time = |cell: &str| {
        cell.len() == "2026-11-21T03:10:22Z".len()
            && cell.starts_with("20")
            && cell.ends_with('Z')
            && cell.as_bytes()[10] == b'T'
    };
    let cells = |line: &str| {
        let cells = line
            .split(',')
            .map(|cell| if is_time(cell) { "TIME" } else { cell });
        cells.collect::<Vec<&str>>().join(",") + "\n"
    };
    text.lines().map(cells).collect()
}

#[test]
fn every_row_has_one_line_in_input_order_whatever_became_of_it() {
    let folder = Folder::with_leads(
        "name,phone\n\
         Ada,+447911000001\n\
         \n\
         Bob,07911 000002\n\
         Cy,+447911000001\n\
         \"Di\nD\",+447911000003\n\
         Ed,\n\
         Flo,+447911000004,x\n\
         Gus,+447911000005\n",
    );
    let service = scenario(
        r#"[[rule]]
        phone_number = "+447911000003"
        reply = { status = 422, body = '{"message":"The phone number is invalid.","errors":{"phone_number":["The phone number is invalid."]}}' }
        [[rule]]
        phone_number = "+447911000005"
        reply = { status = 409, body = '{"error":"Lead already exists"}' }"#,
    );
    let output = folder.import_leads(&service, &[]).expect(1);
    let stdout = output
        .stdout
        .replace(env!("CARGO_BIN_EXE_leadload"), "leadload");
    let (_time, summary) = stdout.split_once('\n').unwrap();
    let results = without_times(&folder.read("leads.results.csv"));
    let rejects = without_tags(&folder.read("leads.rejects.csv"));
    let rejects = rejects.trim_start_matches('\u{feff}');
    let shown = [summary, &results, rejects].join("\n");
    insta::assert_snapshot!("import_of_every_kind_of_row", shown);
}

#[test]
fn the_json_summary_has_every_name_and_adds_up() {
    let folder = Folder::with_leads("phone,name\n+447911000001,Ada\nx,Bob\n+447911000001,Ada\n");
    let service = service();
    let output = folder
        .import_leads(&service, &["--format", "json"])
        .expect(1);
    let mut summary = output.json();
    assert!(summary["elapsed_s"].take().is_f64());
    let counts = |created: u64, repeated: u64, invalid: u64| {
        json!({
            "created": created, "duplicate": 0, "repeated": repeated, "already_imported": 0,
            "excluded": 0,
            "suppressed": 0, "invalid": invalid, "rejected": 0, "failed": 0, "uncertain": 0, "ready": 0
        })
    };
    assert_eq!(
        summary,
        json!({
            "run": 1, "complete": true, "exit_code": 1, "stopped_by": null,
            "rows": 3, "rows_total": 3, "counts": counts(1, 1, 1), "stopped_at": [], "known_bad": 0,
            "mapping": {
                "phone": "phone", "variables": ["name"], "new_variables": [],
                "missing_variables": []
            },
            "footer_rows": 0, "blank_rows": 0,
            "countries": {
                "region": null, "region_from": null, "region_columns": [], "completed": [],
                "doubtful": 0
            },
            "by_campaign": { "101": counts(1, 1, 1) }, "requests": 1, "elapsed_s": null,
            "results": "leads.results.csv", "rejects": "leads.rejects.csv", "error": null
        })
    );
}

#[test]
fn the_sample_data_goes_in_with_the_readmes_first_command() {
    let folder = Folder::new();
    std::fs::copy(sample_data("contacts.csv"), folder.path("contacts.csv")).unwrap();
    let output = folder
        .leadload(&[
            "import",
            "contacts.csv",
            "--sandbox",
            "--campaign",
            "Spring promo",
        ])
        .expect(1);
    output.shows("sandbox");
    insta::assert_snapshot!("import_of_the_sample", output.stderr);
    assert_eq!(
        folder.names(),
        [
            "contacts.csv",
            "contacts.sandbox.rejects.csv",
            "contacts.sandbox.results.csv"
        ]
    );
    let rows = csv::Reader::from_path(folder.path("contacts.csv"))
        .unwrap()
        .into_records()
        .count();
    assert_eq!(folder.records("contacts.sandbox.results.csv").len(), rows);
}

#[test]
fn a_trial_says_that_nothing_left_this_computer_in_json_form_too() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    let output = folder
        .leadload(&[
            "import",
            "leads.csv",
            "--sandbox",
            "--campaign",
            "101",
            "--format",
            "json",
        ])
        .expect(0);
    assert_eq!(output.json()["counts"]["created"], 1);
    assert!(output.stderr.contains("sandbox"));
}

#[test]
fn a_campaign_can_be_named_and_each_row_can_have_its_own() {
    let folder = Folder::with_leads(
        "phone,list\n\
         +447911000001,Welcome call\n\
         +447911000002,102\n\
         +447911000003,\n\
         +447911000001,103\n\
         +447911000001,102\n",
    );
    let service = service();
    folder
        .import(
            &service,
            &[
                "leads.csv",
                "--campaign",
                "Spring promo",
                "--campaign-column",
                "list",
            ],
        )
        .expect(0);
    assert_eq!(
        folder.column("leads.results.csv", "campaign_id"),
        ["103", "102", "101", "103", "102"]
    );
    assert_eq!(
        folder.column("leads.results.csv", "status"),
        ["created", "created", "created", "repeated", "created"]
    );
}

#[test]
fn the_list_of_campaigns_is_asked_for_only_where_a_name_is_given() {
    let folder = Folder::with_leads("phone,list\n+447911000001,102\n");
    let service = service();
    folder
        .import_leads(&service, &["--campaign-column", "list"])
        .expect(0);
    assert_eq!(service.stats().campaign_requests, 0);
}

#[test]
fn rows_without_a_usable_campaign_are_invalid() {
    let folder = Folder::with_leads(
        "phone,list\n+447911000001,\n+447911000002,99999999999999999999\n+447911000003,101\n",
    );
    let service = service();
    folder
        .import(&service, &["leads.csv", "--campaign-column", "list"])
        .expect(1);
    assert_eq!(
        folder.column("leads.results.csv", "error_code"),
        ["campaign_invalid", "campaign_invalid", ""]
    );
}

#[test]
fn several_files_are_one_import_with_a_column_that_names_the_file() {
    let folder = Folder::new();
    folder.write("a.csv", "phone,name\n+447911000001,Ada\nx,Bob\n");
    folder.write(
        "b.csv",
        "city;x,mobile\nLeeds,+447911000001\nYork,+447911000002\nBath,y\n",
    );
    let service = service();
    let output = folder
        .import(
            &service,
            &["a.csv", "b.csv", "--campaign", "101", "--format", "json"],
        )
        .expect(1);
    let lines: Vec<String> = folder
        .records("a.results.csv")
        .iter()
        .map(|r| format!("{} {} {} {}", r["file"], r["row"], r["line"], r["status"]))
        .collect();
    assert_eq!(
        lines,
        [
            "a.csv 1 2 created",
            "a.csv 2 3 invalid",
            "b.csv 3 2 repeated",
            "b.csv 4 3 created",
            "b.csv 5 4 invalid"
        ]
    );
    assert!(folder.read("a.results.csv").starts_with("file,row,"));
    assert_eq!(folder.column("a.rejects.csv", "name"), ["Bob"]);
    assert_eq!(folder.column("b.rejects.csv", "city;x"), ["Bath"]);
    assert_eq!(
        output.json()["rejects"],
        json!(["a.rejects.csv", "b.rejects.csv"])
    );
}

#[test]
fn standard_input_is_an_input_like_any_other() {
    let folder = Folder::new();
    let service = service();
    folder
        .import(
            &service,
            &["-", "--campaign", "101", "--campaign-column", "2"],
        )
        .stdin(b"phone,c\n+447911000001,Welcome call\nx,\n")
        .expect(1);
    assert_eq!(folder.names(), ["leads.rejects.csv", "leads.results.csv"]);
    assert_eq!(
        folder.column("leads.results.csv", "campaign_id"),
        ["103", "101"]
    );
}

#[test]
fn the_first_phone_column_with_a_usable_number_wins() {
    let folder = Folder::with_leads(
        "mobile,landline,name\n+447911000001,+441130000001,Ada\nnone,+441130000002,Bob\n,,Cy\nx,,Di\n",
    );
    let service = service();
    folder
        .import_leads(
            &service,
            &["--phone-column", "mobile", "--phone-column", "2"],
        )
        .expect(1);
    assert_eq!(
        folder.column("leads.results.csv", "phone_number"),
        ["+447911000001", "+441130000002", "", "x"]
    );
    assert_eq!(
        folder.column("leads.results.csv", "error_code"),
        ["", "", "phone_missing", "phone_not_e164"]
    );
}

#[test]
fn only_the_first_rows_are_read_where_a_limit_is_given() {
    let folder = Folder::with_leads(&contacts(3000));
    let service = service();
    let output = folder
        .import_leads(&service, &["--limit", "1500", "--format", "json"])
        .expect(0);
    assert_eq!(output.json()["rows"], 1500);
    assert_eq!(service.stats().created, 1500);
}

#[test]
fn a_dry_run_sends_nothing_needs_no_token_and_writes_only_what_is_asked_for() {
    let folder = Folder::with_leads("phone,list\n+447911000001,Spring\nx,\n+447911000001,Spring\n");
    let output = folder
        .leadload(&[
            "import",
            "leads.csv",
            "--dry-run",
            "--campaign-column",
            "list",
            "--format",
            "json",
        ])
        .expect(1);
    let summary = output.json();
    assert_eq!(summary["counts"]["ready"], 1);
    assert_eq!(summary["counts"]["repeated"], 1);
    assert_eq!(summary["requests"], 0);
    assert_eq!(folder.names(), ["leads.csv"]);
    folder
        .leadload(&["import", "leads.csv", "--dry-run", "--results", "out.csv"])
        .expect(1);
    assert_eq!(folder.names(), ["leads.csv", "out.csv"]);
    assert_eq!(
        folder.column("out.csv", "status"),
        ["ready", "invalid", "repeated"]
    );
    // Without --campaign there is no campaign, and rows are checked all the same.
    assert_eq!(folder.column("out.csv", "campaign_id"), ["", "", ""]);
}

#[test]
fn allowed_duplicates_are_all_sent_but_never_two_of_a_number_at_once() {
    let repeated = "phone\n".to_owned() + &"+447911000001\n".repeat(20) + "+447911000002\n";
    let folder = Folder::with_leads(&repeated);
    let service = scenario("latency_ms = 20");
    folder
        .import_leads(&service, &["--allow-duplicates", "--concurrency", "8"])
        .expect(0);
    let stats = service.stats();
    assert_eq!(stats.created, 21);
    assert_eq!(stats.peak_in_flight, 2);
    assert_eq!(service.leads().len(), 21);
}

#[test]
fn no_more_than_the_allowed_number_are_in_flight_and_one_until_the_first_answer() {
    let folder = Folder::with_leads(&contacts(60));
    let service = scenario("latency_ms = 30");
    folder
        .import_leads(&service, &["--concurrency", "7"])
        .expect(0);
    let stats = service.stats();
    assert_eq!(stats.peak_in_flight, 7);
    // The second request starts only after the first has been answered.
    assert!(stats.arrivals_us[1] - stats.arrivals_us[0] >= 30_000);
}

#[test]
fn a_file_with_a_header_and_no_rows_is_complete_with_a_warning() {
    let folder = Folder::with_leads("phone,name\n");
    let service = service();
    let output = folder.import_leads(&service, &[]).expect(0);
    output.tells("no rows");
    assert_eq!(folder.names(), ["leads.csv", "leads.results.csv"]);
}

#[test]
fn undecodable_bytes_make_an_invalid_row_that_is_never_sent() {
    let folder = Folder::new();
    folder.write(
        "leads.csv",
        b"phone,name\n+447911000001,J\xFCrgen\n+447911000002,\xC3\x85sa \xC3\x96st\n",
    );
    let service = service();
    folder.import_leads(&service, &[]).expect(1);
    assert_eq!(
        folder.column("leads.results.csv", "error_code"),
        ["encoding", ""]
    );
    assert_eq!(service.stats().created, 1);
    let rejects = folder.read("leads.rejects.csv");
    assert!(rejects.contains("+447911000001,J\u{FFFD}rgen,1,invalid,encoding,"));
    // It is still rejected as long as nothing is corrected.
    folder.import(&service, &["leads.rejects.csv"]).expect(1);
    assert_eq!(service.stats().created, 1);
    folder.write("leads.rejects.csv", rejects.replace('\u{FFFD}', "ü"));
    folder.import(&service, &["leads.rejects.csv"]).expect(0);
    assert_eq!(service.stats().created, 2);
}

#[test]
fn a_service_that_marks_a_lead_as_blacklisted_is_quoted() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    let service = scenario(
        r#"[[rule]]
        reply = { status = 200, body = '{"data":{"id":7,"status":"blacklisted"}}', store = true }"#,
    );
    folder.import_leads(&service, &[]).expect(0);
    let row = &folder.records("leads.results.csv")[0];
    assert_eq!(
        (row["status"].as_str(), row["lead_id"].as_str()),
        ("created", "7")
    );
    assert!(row["error"].contains("blacklisted"), "{row:?}");
}
