//! The same list every night, with a few more people.

use std::collections::HashMap;

use crate::util::{Folder, contacts, number, service};

/// The result of tonight's import: exit code, requests, and rows by status.
fn tonight(folder: &Folder, service: &leadload::sandbox::Sandbox, args: &[&str]) -> Night {
    let output = folder
        .import_leads(service, &[&["--format", "json"], args].concat())
        .output();
    let summary = output.json();
    let rows = |status: &str| summary["counts"][status].as_u64().unwrap();
    Night {
        code: output.code,
        requests: summary["requests"].as_u64().unwrap(),
        created: rows("created"),
        already_imported: rows("already_imported"),
        problems: rows("invalid") + rows("rejected") + rows("failed") + rows("uncertain"),
        known_bad: summary["known_bad"].as_u64().unwrap(),
    }
}

#[derive(Debug)]
struct Night {
    code: i32,
    requests: u64,
    created: u64,
    already_imported: u64,
    problems: u64,
    known_bad: u64,
}

impl Night {
    #[track_caller]
    fn is(&self, code: i32, requests: u64, created: u64, already_imported: u64) {
        assert_eq!(
            (
                self.code,
                self.requests,
                self.created,
                self.already_imported
            ),
            (code, requests, created, already_imported),
            "{self:?}"
        );
    }
}

#[test]
fn who_was_imported_before_comes_back_with_id_and_time() {
    let folder = Folder::with_leads(&contacts(3));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let first = folder.records("leads.results.csv");
    // Another file, the same people.
    folder.write("more.csv", contacts(4));
    folder
        .import(&service, &["more.csv", "--campaign", "101"])
        .expect(0);
    let second = folder.records("more.results.csv");
    for (first, second) in first.iter().zip(&second) {
        assert_eq!(second["status"], "already_imported");
        assert_eq!(second["lead_id"], first["lead_id"]);
        assert_eq!(second["settled_at"], first["settled_at"]);
        assert_eq!(
            (second["attempts"].as_str(), second["http_status"].as_str()),
            ("0", "")
        );
    }
    assert_eq!(second[3]["status"], "created");
}

#[test]
fn however_the_ledger_is_asked_each_row_has_its_own_answer_and_its_place() {
    const KNOWN: usize = 2_000;
    let numbers = |count: usize, step: usize| {
        let in_no_order = (0..count).map(move |i| number(i * step % count));
        in_no_order.collect::<Vec<String>>()
    };
    let folder = Folder::new();
    let service = service();
    folder.write(
        "leads.csv",
        format!("phone\n{}\n", numbers(KNOWN, 7).join("\n")),
    );
    folder.import_leads(&service, &[]).expect(0);
    let ids: HashMap<String, String> = folder
        .records("leads.results.csv")
        .into_iter()
        .map(|row| (row["phone_number"].clone(), row["lead_id"].clone()))
        .collect();
    // In another order, with new numbers and one cell that is not a number.
    let mut listed = numbers(KNOWN + 100, 11);
    listed.insert(1_000, "none".into());
    folder.write("more.csv", format!("phone\n{}\n", listed.join("\n")));
    let args = ["more.csv", "--campaign", "101"];
    folder.import(&service, &args).expect(1);
    let results = folder.records("more.results.csv");
    assert_eq!(results.len(), listed.len());
    for (row, listed) in results.iter().zip(listed) {
        assert_eq!(row["phone_number"], listed);
        let status = match ids.get(&listed) {
            Some(id) => {
                assert_eq!(&row["lead_id"], id);
                "already_imported"
            }
            None if listed == "none" => "invalid",
            None => "created",
        };
        assert_eq!(row["status"], status, "{row:?}");
    }
}

#[test]
fn bad_rows_are_tried_again_each_night_or_left_alone() {
    let folder = Folder::new();
    let service = crate::util::scenario(
        "[[rule]]\nphone_number = '+447911000002'\nreply = { status = 422, body = '{\"message\":\"no\"}' }",
    );
    folder.write("leads.csv", "phone\n+447911000001\nx\n+447911000002\n");
    let first = tonight(&folder, &service, &["--known-bad", "skip"]);
    first.is(1, 2, 1, 0);
    assert_eq!((first.problems, first.known_bad), (2, 0));
    let again = tonight(&folder, &service, &[]);
    again.is(1, 1, 0, 1);
    assert_eq!((again.problems, again.known_bad), (2, 0));
    assert_eq!(folder.records("leads.rejects.csv").len(), 2);

    let skipped = tonight(&folder, &service, &["--known-bad", "skip"]);
    skipped.is(0, 0, 0, 1);
    assert_eq!((skipped.problems, skipped.known_bad), (2, 2));
    // These rows are only in the rejects of the earlier night.
    assert_eq!(folder.records("leads.rejects.csv").len(), 2);
    // A row with other cells is another row.
    folder.write("leads.csv", "phone\n+447911000001\ny\n+447911000002\n");
    let changed = tonight(&folder, &service, &["--known-bad", "skip"]);
    changed.is(1, 0, 0, 1);
    assert_eq!((changed.problems, changed.known_bad), (2, 1));
}

#[test]
fn a_number_goes_to_each_campaign_once_or_to_one_campaign_alone() {
    let folder = Folder::with_leads("phone\n+447911000001\n");
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let other = |args: &[&str]| {
        folder
            .import(
                &service,
                &[&["leads.csv", "--campaign", "102"], args].concat(),
            )
            .expect(0);
        folder.column("leads.results.csv", "status")
    };
    let lead_id = || folder.column("leads.results.csv", "lead_id");
    let first = lead_id();
    assert_eq!(other(&["--once", "service"]), ["already_imported"]);
    assert_eq!(lead_id(), first);
    assert_eq!(other(&[]), ["created"]);
    // With a lead in both campaigns, the row reports the lead of its own campaign.
    let second = lead_id();
    assert_ne!(second, first);
    assert_eq!(other(&["--once", "service"]), ["already_imported"]);
    assert_eq!(lead_id(), second);
    folder.write(
        "both.csv",
        "phone,list\n+447911000009,101\n+447911000009,102\n",
    );
    folder
        .import(
            &service,
            &["both.csv", "--campaign-column", "list", "--once", "service"],
        )
        .expect(0);
    assert_eq!(
        folder.column("both.results.csv", "status"),
        ["created", "repeated"]
    );
}

#[test]
fn who_is_not_to_be_called_any_more_is_left_out_with_the_id_of_the_lead_there_is() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let made = folder.column("leads.results.csv", "lead_id");
    folder.write("dnc.txt", "+447911000001\n+447911000009\n");
    folder.write("leads.csv", contacts(3));
    folder
        .import_leads(&service, &["--suppress", "dnc.txt"])
        .expect(0);
    let statuses = folder.column("leads.results.csv", "status");
    assert_eq!(statuses, ["already_imported", "suppressed", "created"]);
    assert_eq!(folder.column("leads.results.csv", "lead_id")[..2], made);
}
