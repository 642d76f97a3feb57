//! `leadload runs undo`: the leads of a run are removed from the service again, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use leadload::sandbox::Sandbox;
use rusqlite::Connection;

#[cfg(unix)]
use crate::cluster::Cluster;
use crate::relay::{Instead, changing, refusing};
#[cfg(unix)]
use crate::terminal::Terminal;
use crate::util::{
    Folder, Output, Run, contacts, kill, number, replaced, scenario, service, signal,
    wait_for_requests, wait_until,
};

pub fn undo(folder: &Folder, service: &Sandbox, run: &str, more: &[&str]) -> Run {
    let args = ["runs", "undo", run, "--yes", "--rate", "none"];
    folder.leadload(&[&args, more].concat()).at(service)
}

fn json(output: &Output) -> serde_json::Value {
    output.json()
}

/// The ids of the leads that the service has.
fn ids(service: &Sandbox) -> BTreeSet<String> {
    service.leads().into_iter().map(|lead| lead.id).collect()
}

/// The ids in the undo file, by status.
fn file(folder: &Folder, name: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut by_status: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in folder.records(name) {
        let of_status = by_status.entry(row["status"].clone()).or_default();
        of_status.insert(row["lead_id"].clone());
    }
    by_status
}

fn statuses(folder: &Folder) -> Vec<String> {
    folder.column("leads.undo.csv", "status")
}

/// Runs SQL in the ledger that no part of the program would run.
fn sql(folder: &Folder, sql: &str) {
    let db = Connection::open(folder.ledger()).unwrap();
    db.execute_batch(sql).unwrap();
}

/// The service was asked to delete nothing, and the list can still be sent as before.
#[track_caller]
fn nothing_is_removed(folder: &Folder, service: &Sandbox, leads: usize) {
    assert_eq!(service.stats().deleted, 0);
    assert_eq!(service.leads().len(), leads);
    assert!(!folder.names().contains(&"leads.undo.csv".to_owned()));
    let run = folder.leadload(&["runs", "show", "1", "--format", "json"]);
    assert_eq!(json(&run.expect(0))["undo"], serde_json::Value::Null);
}

#[test]
fn the_leads_of_a_run_are_removed_and_no_others() {
    let folder = Folder::with_leads(&contacts(20));
    folder.write("others.csv", "phone\n+447922000001\n+447922000002\n");
    let service = service();
    folder
        .import(&service, &["others.csv", "--campaign", "101"])
        .expect(0);
    folder.import_leads(&service, &[]).expect(0);
    folder
        .import(&service, &["others.csv", "--campaign", "102"])
        .expect(0);
    let output = undo(&folder, &service, "2", &[]).expect(0);
    output.shows_words("undone 20 ");
    output.shows("leads.undo.csv");
    let left: Vec<String> = service
        .leads()
        .into_iter()
        .map(|lead| lead.phone_number)
        .collect();
    let others = ["+447922000001", "+447922000002"];
    assert_eq!(left, [others, others].concat());
    let rows = folder.records("leads.undo.csv");
    assert_eq!(rows.len(), 20);
    assert_eq!(
        folder.read("leads.undo.csv").lines().next().unwrap(),
        "row,phone_number,campaign_id,lead_id,status,http_status,error,settled_at"
    );
    let first = &rows[0];
    assert_eq!(first["row"], "1");
    assert_eq!(first["phone_number"], number(0));
    assert_eq!(first["campaign_id"], "101");
    assert_eq!(first["lead_id"], "3");
    assert_eq!(
        (&*first["status"], &*first["http_status"]),
        ("undone", "200")
    );
    assert_eq!(first["error"], "");
    assert!(first["settled_at"].ends_with('Z'));
}

#[test]
fn what_was_undone_is_told_to_programs() {
    let folder = Folder::with_leads(&contacts(3));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let plan = undo(
        &folder,
        &service,
        "last",
        &["--dry-run", "--format", "json"],
    );
    let plan = json(&plan.expect(0));
    assert_eq!(
        (&plan["leads"], &plan["dry_run"]),
        (&3.into(), &true.into())
    );
    assert_eq!(plan["campaigns"][0]["campaign"], "Spring promo");
    nothing_is_removed(&folder, &service, 3);
    let text = undo(&folder, &service, "last", &["--dry-run"]).expect(0);
    text.shows("3 leads");
    text.shows("101 (Spring promo)");
    let before = service.stats();
    let undone = json(&undo(&folder, &service, "last", &["--format", "json"]).expect(0));
    let stats = service.stats();
    let listed = stats.list_requests - before.list_requests;
    assert_eq!(undone["requests"], stats.delete_requests + listed);
    assert_eq!(undone["run"], 1);
    assert_eq!(undone["complete"], true);
    assert_eq!(
        (&undone["exit_code"], &undone["stopped_by"]),
        (&0.into(), &serde_json::Value::Null)
    );
    let counts = serde_json::json!({ "undone": 3, "gone": 0, "kept": 0, "unknown": 0, "left": 0 });
    assert_eq!(undone["counts"], counts);
    assert_eq!(undone["file"], "leads.undo.csv");
    let shown = json(
        &folder
            .leadload(&["runs", "show", "last", "--format", "json"])
            .expect(0),
    );
    assert_eq!(shown["undo"]["counts"], counts);
    assert_eq!(shown["counts"]["created"], 3);
    let runs = folder.leadload(&["runs"]).expect(0).stdout;
    assert!(runs.contains("undone"), "{runs}");
    let export = ["runs", "export", "1", "--results", "export.csv"];
    folder.leadload(&export).expect(0);
    assert_eq!(folder.column("export.csv", "status"), ["created"; 3]);
    assert_eq!(folder.column("export.csv", "error_code"), ["undone"; 3]);
}

#[test]
fn without_a_terminal_it_needs_a_yes() {
    let folder = Folder::with_leads(&contacts(3));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let run = folder.leadload(&["runs", "undo", "1"]).at(&service);
    run.expect(2).tells("`--yes`");
    nothing_is_removed(&folder, &service, 3);
}

#[test]
fn another_service_is_refused_before_it_is_asked_anything() {
    let folder = Folder::with_leads(&contacts(3));
    let (service, other) = (scenario(""), scenario(""));
    folder.import_leads(&service, &[]).expect(0);
    // It has leads with the same ids.
    let elsewhere = Folder::with_leads(&contacts(3));
    elsewhere.import_leads(&other, &[]).expect(0);
    let before = other.stats();
    let output = undo(&folder, &other, "1", &[]).expect(2);
    output.tells(&service.base_url());
    let after = other.stats();
    assert_eq!(after.connections, before.connections);
    assert_eq!(other.leads().len(), 3);
    nothing_is_removed(&folder, &service, 3);
}

#[test]
fn an_account_without_the_campaign_is_refused() {
    let folder = Folder::with_leads(&contacts(3));
    let first = scenario("[[campaign]]\nid = 7\nname = 'Ours'");
    folder
        .import(&first, &["leads.csv", "--campaign", "7"])
        .expect(0);
    let other = replaced(first, "[[campaign]]\nid = 8\nname = 'Theirs'");
    let output = undo(&folder, &other, "1", &[]).expect(2);
    output.tells("campaign 7");
    let stats = other.stats();
    assert_eq!((stats.delete_requests, stats.list_requests), (0, 0));
    nothing_is_removed(&folder, &other, 0);
}

#[test]
fn another_account_with_the_same_campaigns_and_the_same_small_ids_is_refused() {
    for (form, ids) in [
        ("pages", "text"),
        ("bare", "number"),
        ("data", "text"),
        ("meta", "number"),
    ] {
        let service = scenario(&format!(
            "any_token = true\naccounts_by_token = true\nlead_list = '{form}'\nlead_ids = '{ids}'"
        ));
        let (ours, theirs) = (Folder::with_leads(&contacts(5)), Folder::new());
        theirs.write(
            "leads.csv",
            "phone\n+447922000001\n+447922000002\n+447922000003\n",
        );
        ours.import_leads(&service, &[]).expect(0);
        let as_them = |run: Run| run.env("LEADLOAD_TOKEN", "theirs");
        as_them(theirs.import_leads(&service, &[])).expect(0);
        let output = as_them(undo(&ours, &service, "1", &[])).expect(2);
        output.tells("other numbers");
        assert_eq!(service.stats().delete_requests, 0);
        nothing_is_removed(&ours, &service, 8);
        undo(&ours, &service, "1", &[]).expect(0);
        assert_eq!(service.leads().len(), 3);
    }
}

#[test]
fn leads_of_another_account_on_later_pages_and_in_other_campaigns_are_safe() {
    for (form, campaign) in [("pages", "101"), ("meta", "101"), ("pages", "102")] {
        let service = scenario(&format!(
            "any_token = true\naccounts_by_token = true\nlead_list = '{form}'"
        ));
        let (ours, theirs) = (Folder::with_leads(&contacts(250)), Folder::new());
        ours.import_leads(&service, &[]).expect(0);
        ours.write("wrong.csv", "phone\n+447911777001\n+447911777002\n");
        ours.import(&service, &["wrong.csv", "--campaign", "101"])
            .expect(0);
        let list: String = (1000..1260)
            .map(|row| format!("{}\n", number(row)))
            .collect();
        theirs.write("leads.csv", format!("phone\n{list}"));
        let as_them = |run: Run| run.env("LEADLOAD_TOKEN", "theirs");
        // There the ids of our run are on the third page, or in a campaign that it does not have.
        as_them(theirs.import(&service, &["leads.csv", "--campaign", campaign])).expect(0);
        let output = as_them(undo(&ours, &service, "2", &[])).expect(2);
        output.tells("run 2");
        assert_eq!(service.stats().delete_requests, 0);
        undo(&ours, &service, "2", &[]).expect(0);
        assert_eq!(service.leads().len(), 510);
    }
}

#[test]
fn leads_that_were_all_removed_by_hand_are_gone() {
    let folder = Folder::with_leads(&contacts(3));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let by_hand: usize = (1..=3).map(|id| delete_by_hand(&service, id)).sum();
    assert_eq!(by_hand, 3);
    undo(&folder, &service, "1", &[]).expect(0);
    assert_eq!(statuses(&folder), ["gone"; 3]);
}

#[test]
fn an_account_that_lists_none_of_the_leads_is_refused_unless_it_has_the_runs_token() {
    // The list is late, so it shows nobody's leads.
    let service = scenario("any_token = true\naccounts_by_token = true\nlist_delay_ms = 600000");
    let (ours, theirs) = (Folder::with_leads(&contacts(3)), Folder::new());
    ours.import_leads(&service, &[]).expect(0);
    let as_them = |run: Run| run.env("LEADLOAD_TOKEN", "theirs");
    let refused = as_them(undo(&ours, &service, "1", &[])).expect(2);
    refused.tells("run 1");
    theirs.write(
        "leads.csv",
        "phone\n+447922000001\n+447922000002\n+447922000003\n",
    );
    as_them(theirs.import_leads(&service, &[])).expect(0);
    as_them(undo(&ours, &service, "1", &[])).expect(2);
    nothing_is_removed(&ours, &service, 6);
    undo(&ours, &service, "1", &[]).expect(0);
    assert_eq!(statuses(&ours), ["undone"; 3]);
    assert_eq!(service.leads().len(), 3);
}

#[test]
fn another_account_that_got_the_same_list_at_another_time_is_refused() {
    let service = scenario("any_token = true\naccounts_by_token = true");
    let (ours, theirs) = (
        Folder::with_leads(&contacts(3)),
        Folder::with_leads(&contacts(3)),
    );
    ours.import_leads(&service, &[]).expect(0);
    sql(
        &ours,
        "UPDATE sent SET settled_at = settled_at - 3600; UPDATE runs SET began_at = began_at - 3600",
    );
    let as_them = |run: Run| run.env("LEADLOAD_TOKEN", "theirs");
    as_them(theirs.import_leads(&service, &[])).expect(0);
    // Ids and numbers are the same.
    as_them(undo(&ours, &service, "1", &[])).expect(2);
    nothing_is_removed(&ours, &service, 6);
    undo(&ours, &service, "1", &[]).expect(0);
}

#[test]
fn a_new_token_of_the_account_removes_what_is_listed_as_the_runs() {
    let service = scenario("any_token = true");
    let folder = Folder::with_leads(&contacts(5));
    folder.import_leads(&service, &[]).expect(0);
    sql(
        &folder,
        &format!(
            "UPDATE runs SET began_at = began_at - 3600;
            UPDATE sent SET settled_at = settled_at - 3600 WHERE number = {}",
            number(3).trim_start_matches('+')
        ),
    );
    let renewed = |run: Run| run.env("LEADLOAD_TOKEN", "renewed");
    renewed(undo(&folder, &service, "1", &[])).expect(1);
    let by_status = file(&folder, "leads.undo.csv");
    assert_eq!(by_status["undone"].len(), 4);
    // Nobody says of a lead that it is gone without having asked for it.
    assert_eq!(by_status["unknown"], ids(&service));
    undo(&folder, &service, "1", &[]).expect(0);
    assert_eq!(statuses(&folder), ["undone"; 5]);
}

#[test]
fn the_last_run_is_never_that_of_a_colleague() {
    let folder = Folder::with_leads(&contacts(3));
    folder.write("more.csv", "phone\n+447922000001\n");
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    folder
        .import(&service, &["more.csv", "--campaign", "101"])
        .expect(0);
    for theirs in [
        "started_by = 'grace'",
        "host = 'another'",
        "started_by = NULL",
    ] {
        sql(
            &folder,
            &format!("UPDATE starts SET {theirs} WHERE run = 2"),
        );
        let plan = undo(
            &folder,
            &service,
            "last",
            &["--dry-run", "--format", "json"],
        );
        assert_eq!(json(&plan.expect(0))["run"], 1, "{theirs}");
    }
    sql(
        &folder,
        "UPDATE starts SET started_by = 'grace', host = 'lab'",
    );
    let output = undo(&folder, &service, "last", &[]).expect(2);
    for named in ["run 2", "grace", "lab"] {
        output.tells(named);
    }
    nothing_is_removed(&folder, &service, 4);
    undo(&folder, &service, "2", &[]).expect(0);
    assert_eq!(service.leads().len(), 3);
}

#[test]
fn the_last_run_of_a_user_is_the_one_that_was_started_last_whatever_the_clock_said() {
    let folder = Folder::with_leads(&contacts(3));
    folder.write("more.csv", "phone\n+447922000001\n");
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    sql(
        &folder,
        "UPDATE starts SET began_at = began_at + 31536000, ended_at = ended_at + 31536000",
    );
    folder
        .import(&service, &["more.csv", "--campaign", "101"])
        .expect(0);
    let plan = undo(
        &folder,
        &service,
        "last",
        &["--dry-run", "--format", "json"],
    );
    assert_eq!(json(&plan.expect(0))["run"], 2);
}

#[cfg(unix)]
#[test]
fn the_question_says_who_has_started_the_run_and_where() {
    let folder = Folder::with_leads(&contacts(3));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    sql(
        &folder,
        "UPDATE starts SET started_by = 'grace', host = 'lab'",
    );
    let ask = folder.leadload(&["runs", "undo", "1", "--rate", "none"]);
    let mut terminal = Terminal::start(ask.at(&service), 200, 24);
    terminal.wait_for("grace on lab");
    terminal.answer("[y/N]", "n\r");
    assert_eq!(terminal.end().0, 2);
    nothing_is_removed(&folder, &service, 3);
}

#[test]
fn where_the_service_has_no_such_call_that_is_said_and_nothing_else_happens() {
    for (calls, status) in [("none", 404), ("none", 405), ("list", 404), ("list", 405)] {
        let folder = Folder::with_leads(&contacts(30));
        let service = scenario(&format!(
            "lead_calls = '{calls}'\nnot_offered_status = {status}"
        ));
        folder.import_leads(&service, &[]).expect(0);
        let output = undo(&folder, &service, "1", &[]).expect(3);
        assert_eq!(output.stdout, "");
        assert!(service.stats().delete_requests <= 3, "{calls} {status}");
        nothing_is_removed(&folder, &service, 30);
        let told = undo(&folder, &service, "1", &["--format", "json"]).expect(3);
        assert_eq!(json(&told)["stopped_by"], "unreadable");
        // The run is as it was: its command only finds that all is sent.
        folder.import_leads(&service, &[]).expect(0);
        assert_eq!(
            folder.column("leads.results.csv", "status"),
            ["already_imported"; 30]
        );
    }
}

#[test]
fn a_lead_that_is_not_there_any_more_is_gone_and_one_in_a_call_is_kept() {
    let folder = Folder::with_leads(&contacts(40));
    let service = scenario("in_call = 0.3");
    folder
        .import_leads(&service, &["--concurrency", "1"])
        .expect(0);
    // Somebody has removed some of them by hand.
    let by_hand =
        delete_by_hand(&service, 1) + delete_by_hand(&service, 2) + delete_by_hand(&service, 3);
    undo(&folder, &service, "1", &[]).expect(1);
    let by_status = file(&folder, "leads.undo.csv");
    let kept = &by_status["kept"];
    assert_eq!(*kept, ids(&service));
    assert!((3..25).contains(&kept.len()), "{}", kept.len());
    assert_eq!(by_status["gone"].len(), by_hand);
    assert_eq!(by_status["undone"].len(), 40 - by_hand - kept.len());
    let why = folder
        .records("leads.undo.csv")
        .into_iter()
        .find(|row| row["status"] == "kept");
    let why = why.unwrap();
    assert_eq!(why["http_status"], "409");
    assert!(why["error"].starts_with("HTTP 409: "), "{why:?}");
    // The calls are over: the same command removes the rest, and replaces its own file.
    sql(&folder, "UPDATE services SET pause_until_ms = NULL");
    let again = undo(&folder, &service, "1", &[]).expect(1);
    assert!(again.stdout.contains("kept"), "{}", again.stdout);
    let names = folder.names();
    assert_eq!(names, ["leads.csv", "leads.results.csv", "leads.undo.csv"]);
}

/// Deletes a lead as somebody else does; how many that were.
fn delete_by_hand(service: &Sandbox, id: u64) -> usize {
    use std::io::{Read, Write};
    let mut tcp = std::net::TcpStream::connect(service.addr()).unwrap();
    let token = service.token();
    write!(
        tcp,
        "DELETE /api/user/leads/{id} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
         Authorization: Bearer {token}\r\nAccept: application/json\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    tcp.read_to_string(&mut answer).unwrap();
    usize::from(answer.starts_with("HTTP/1.1 200"))
}

#[test]
fn rows_of_which_it_is_not_known_whose_lead_there_is_are_left_alone() {
    let folder = Folder::with_leads(&contacts(6));
    // The first answer about some rows is lost: the lead is made, or not.
    let lost = |row: usize, store: bool, attempts: &str| {
        format!(
            "[[rule]]\nphone_number = '{}'\nattempts = {attempts}\n\
             reply = {{ then = 'drop', store = {store} }}\n",
            number(row)
        )
    };
    let rules = [
        lost(1, true, "[1]"),
        lost(2, false, "[1]"),
        lost(3, true, "[1,2,3,4,5,6,7,8,9]"),
    ];
    let service = scenario(&format!("lead_times = 'none'\n{}", rules.concat()));
    folder
        .import_leads(&service, &["--max-attempts", "2"])
        .expect(1);
    let statuses_sent = folder.column("leads.results.csv", "status");
    assert_eq!(
        statuses_sent,
        [
            "created",
            "duplicate",
            "created",
            "uncertain",
            "created",
            "created"
        ]
    );
    let output = undo(&folder, &service, "1", &[]).expect(1);
    output.shows_words("unknown 2 ");
    output.shows("\n  2 ");
    assert_eq!(
        statuses(&folder),
        ["undone", "unknown", "undone", "unknown", "undone", "undone"]
    );
    let left: Vec<String> = service
        .leads()
        .into_iter()
        .map(|lead| lead.phone_number)
        .collect();
    assert_eq!(left, [number(1), number(3)]);
}

/// A run of a list beside which the file of an undo cannot be.
pub fn sent_from_elsewhere(service: &Sandbox) -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("lists/leads.undo.csv")).unwrap();
    folder.write("lists/leads.csv", contacts(2));
    let args = ["lists/leads.csv", "--campaign", "101"];
    folder.import(service, &args).expect(0);
    folder
}

#[test]
fn leads_are_removed_though_nothing_can_be_written_beside_the_list() {
    let service = service();
    let folder = sent_from_elsewhere(&service);
    let undone = undo(&folder, &service, "1", &[]).expect(0);
    undone.shows("File: leads.undo.csv\n");
    assert_eq!(folder.column("leads.undo.csv", "status"), ["undone"; 2]);
    assert_eq!(service.leads().len(), 0);
}

#[test]
fn where_the_list_is_not_any_more_nothing_is_written_either() {
    let service = service();
    let folder = Folder::new();
    std::fs::create_dir(folder.path("lists")).unwrap();
    folder.write("lists/leads.csv", contacts(2));
    let args = ["lists/leads.csv", "--campaign", "101"];
    folder.import(&service, &args).expect(0);
    std::fs::remove_file(folder.path("lists/leads.csv")).unwrap();
    let undone = undo(&folder, &service, "1", &[]).expect(0);
    undone.shows("File: leads.undo.csv\n");
    assert!(!folder.path("lists/leads.undo.csv").exists());
}

#[test]
fn the_command_of_an_undone_run_sends_nothing_until_that_is_wanted() {
    let folder = Folder::with_leads(&contacts(5));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    undo(&folder, &service, "1", &[]).expect(0);
    let before = service.stats().lead_requests;
    let output = folder.import_leads(&service, &[]).expect(2);
    output.tells("run 1 ");
    assert_eq!(output.stdout, "");
    assert_eq!(service.stats().lead_requests, before);
    // In other lists these people count as new.
    folder.write("more.csv", format!("phone,name\n{},Name 0\n", number(0)));
    folder
        .import(&service, &["more.csv", "--campaign", "101"])
        .expect(0);
    assert_eq!(folder.column("more.results.csv", "status"), ["created"]);
    folder.import_leads(&service, &["--again"]).expect(0);
    let statuses = folder.column("leads.results.csv", "status");
    assert_eq!(statuses[0], "already_imported");
    assert_eq!(statuses[1..], vec!["created"; 4]);
    assert_eq!(service.leads().len(), 5);
    // Now it is an ordinary list once more.
    folder.import_leads(&service, &[]).expect(0);
}

#[test]
fn a_run_whose_rows_are_all_uncertain_is_looked_up_before_its_leads_are_removed() {
    for (calls, store, code) in [("both", true, 0), ("both", false, 1), ("none", true, 3)] {
        let folder = Folder::with_leads(&contacts(2));
        let service = scenario(&format!(
            "lead_calls = '{calls}'\n[[rule]]\nreply = {{ then = 'drop', store = {store} }}"
        ));
        folder
            .import_leads(&service, &["--on-uncertain", "hold"])
            .expect(1);
        let output = undo(&folder, &service, "1", &[]).expect(code);
        let run = folder.leadload(&["runs", "show", "1", "--format", "json"]);
        let is_undone = !json(&run.expect(0))["undo"].is_null();
        assert_eq!(is_undone, code == 0);
        match code {
            0 => assert_eq!(statuses(&folder), ["undone"; 2]),
            1 => {
                output.shows("2 uncertain");
                assert_eq!(statuses(&folder), ["unknown"; 2]);
            }
            _ => assert_eq!(service.stats().list_requests, 1),
        }
        assert_eq!(service.leads().is_empty(), code < 3);
    }
}

/// The service takes all of 15 people, and does not answer about five of them.
pub fn holding_answers() -> String {
    let held = |row| {
        format!(
            "[[rule]]\nphone_number = '{}'\nreply = {{ then = 'hang', store = true }}\n",
            number(row)
        )
    };
    (10..15).map(held).collect()
}

/// Everything that the ledger in the file holds.
#[cfg(unix)]
fn content(folder: &Folder) -> String {
    let db = Connection::open(folder.ledger()).unwrap();
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name";
    let mut tables = db.prepare(tables).unwrap();
    let tables = tables.query_map([], |row| row.get(0)).unwrap();
    let mut content = String::new();
    for table in tables {
        let table: String = table.unwrap();
        let mut select = db.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = select.column_count();
        let mut rows = select.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let cells = (0..columns).map(|at| format!("{:?}", row.get_ref(at).unwrap()));
            content += &format!("{table}: {}\n", cells.collect::<Vec<_>>().join(" "));
        }
    }
    content
}

/// After a kill, what the service has of a run is exactly what the undo file calls unknown.
#[cfg(unix)]
fn a_killed_run_is_undone(times: &str, ledger: Option<&crate::cluster::Database>) {
    let with_ledger = |run: Run| match ledger {
        Some(database) => run.env("LEADLOAD_LEDGER", &database.url()),
        None => run,
    };
    let folder = Folder::with_leads(&contacts(15));
    let service = scenario(&format!("lead_times = '{times}'\n{}", holding_answers()));
    let process = with_ledger(folder.import_leads(&service, &["--concurrency", "8"])).start();
    wait_until("all are taken", || service.leads().len() == 15);
    kill(process);
    if let Some(database) = ledger {
        database.sql("UPDATE leadload.senders SET until = '-infinity'");
    }
    let files = folder.names();
    let before = ledger.is_none().then(|| content(&folder));
    let dry_run = ["--dry-run", "--format", "json"];
    let plan = json(&with_ledger(undo(&folder, &service, "last", &dry_run)).expect(0));
    assert_eq!(ledger.is_none().then(|| content(&folder)), before);
    assert_eq!(folder.names(), files);
    assert_eq!(service.leads().len(), 15);
    let code = i32::from(plan["counts"]["unknown"] != 0);
    let undone = undo(&folder, &service, "last", &["--format", "json"]);
    let undone = json(&with_ledger(undone).expect(code));
    assert_eq!(undone["counts"]["undone"], plan["leads"]);
    assert_eq!(undone["counts"]["unknown"], plan["counts"]["unknown"]);
    if times == "microseconds" {
        assert_eq!(plan["leads"], 15);
    }
    let rows = folder.records("leads.undo.csv").into_iter();
    let unknown: BTreeSet<String> = rows
        .filter(|row| row["status"] == "unknown")
        .map(|row| row["phone_number"].clone())
        .collect();
    let leads = service.leads().into_iter();
    let left: BTreeSet<String> = leads.map(|lead| lead.phone_number).collect();
    assert_eq!(left, unknown, "{times}");
    let run = folder.leadload(&["runs", "show", "last", "--format", "json"]);
    let counts = json(&with_ledger(run).expect(0))["counts"].clone();
    let counted: u64 = counts
        .as_object()
        .unwrap()
        .values()
        .filter_map(serde_json::Value::as_u64)
        .sum();
    assert_eq!(counted, 15, "{counts}");
}

#[cfg(unix)]
#[test]
fn after_a_kill_the_leads_are_removed_that_the_service_holds_and_a_dry_run_changes_nothing() {
    for times in ["microseconds", "none"] {
        a_killed_run_is_undone(times, None);
    }
}

#[cfg(unix)]
#[test]
fn after_a_kill_the_same_is_undone_with_a_shared_ledger() {
    if let Some(database) = Cluster::database() {
        a_killed_run_is_undone("microseconds", Some(&database));
    }
}

#[test]
fn a_lead_that_is_listed_as_older_than_the_run_is_kept_whatever_clock_the_service_has() {
    for (clock, is_kept) in [
        ("lead_times_ahead_s = -120", true),
        ("lead_times_ahead_s = -120\nhides_numbers = true", true),
        ("lead_times_ahead_s = -120\nlead_times = 'zoneless'", false),
        // Older than the run wherever the service may be.
        ("lead_times_ahead_s = -43400\nlead_times = 'zoneless'", true),
        ("clock_ahead_s = -7200", false),
        ("lead_times_ahead_s = -30", false),
    ] {
        // More than the list has on a page.
        let folder = Folder::with_leads(&contacts(120));
        let service = scenario(clock);
        folder.import_leads(&service, &[]).expect(0);
        let plan = undo(&folder, &service, "1", &["--dry-run", "--format", "json"]);
        let plan = json(&plan.expect(0));
        let undone = undo(&folder, &service, "1", &["--format", "json"]);
        let undone = json(&undone.expect(i32::from(is_kept)));
        let status = if is_kept { "kept" } else { "undone" };
        assert_eq!(undone["counts"][status], 120, "{clock}");
        assert_eq!(plan["leads"], if is_kept { 0 } else { 120 }, "{clock}");
        assert_eq!(service.leads().is_empty(), !is_kept, "{clock}");
    }
}

/// A campaign has 230 leads for a month. A run of two people is answered with the lead that the campaign
/// has of the first one, whose place in the list is beyond what is read at first; its own is there too.
/// `lost` answers about the first one are lost before.
fn told_of_an_old_lead(lost: usize) -> (Folder, Sandbox) {
    answered_about_an_old_lead(
        lost,
        "{ body = '{\"message\":\"ok\",\"data\":{\"id\":\"221\"}}' }",
    )
}

/// The same with another answer.
fn answered_about_an_old_lead(lost: usize, answer: &str) -> (Folder, Sandbox) {
    let last = 2 + lost;
    let losses: String = (2..last)
        .map(|nth| rule(nth, "{ then = 'hang' }"))
        .collect();
    let service = scenario(&format!("old_leads = 230\n{losses}{}", rule(last, answer)));
    let before = Folder::with_leads(&contacts(230));
    before
        .import_leads(&service, &["--concurrency", "1"])
        .expect(0);
    let list = format!("phone\n{}\n{}\n", number(220), number(1000));
    (Folder::with_leads(&list), service)
}

fn rule(attempt: usize, reply: &str) -> String {
    let of = number(220);
    format!("[[rule]]\nphone_number = '{of}'\nattempts = [{attempt}]\nreply = {reply}\n")
}

/// `lost` answers are lost before the service names the old lead; `pass` lets 60 days pass since the run
/// began, as if it had stopped before its first row and gone on now.
fn an_old_lead_stays(lost: usize, with_ledger: impl Fn(Run) -> Run, pass: impl FnOnce(&Folder)) {
    let (folder, service) = told_of_an_old_lead(lost);
    let import = folder.import_leads(&service, &["--concurrency", "1", "--timeout", "1s"]);
    with_ledger(import).expect(0);
    pass(&folder);
    assert_eq!(folder.column("leads.results.csv", "status"), ["created"; 2]);
    assert_eq!(
        folder.column("leads.results.csv", "lead_id"),
        ["221", "231"]
    );
    let plan = undo(&folder, &service, "1", &["--dry-run", "--format", "json"]);
    let plan = json(&with_ledger(plan).expect(0));
    assert_eq!(
        (&plan["leads"], &plan["counts"]["kept"]),
        (&1.into(), &1.into())
    );
    let plan = with_ledger(undo(&folder, &service, "1", &["--dry-run"])).expect(0);
    plan.shows("1 lead ");
    plan.shows("1 row: kept");
    with_ledger(undo(&folder, &service, "1", &[])).expect(1);
    assert_eq!(statuses(&folder), ["kept", "undone"]);
    let why = folder.column("leads.undo.csv", "error").remove(0);
    assert!(why.contains("older"), "{why}");
    assert_eq!(service.leads().len(), 230);
    assert_eq!(service.stats().delete_requests, 1);
}

const BEGAN_EARLIER: &str = "UPDATE runs SET began_at = began_at - 60 * 86400";

#[test]
fn a_lead_that_the_service_had_before_the_run_is_counted_as_kept_and_stays() {
    an_old_lead_stays(0, |run| run, |_| ());
    an_old_lead_stays(1, |run| run, |_| ());
}

#[test]
fn a_lead_that_came_after_the_run_began_but_before_it_was_asked_for_stays_too() {
    for lost in [0, 1] {
        an_old_lead_stays(lost, |run| run, |folder| sql(folder, BEGAN_EARLIER));
    }
}

/// The clock of the computer was so many days slow when the list was sent. An older version did not record
/// how far the service's was ahead of it.
fn clock_was_slow(days: i64, is_recorded: bool) -> String {
    let seconds = days * 86_400;
    let ahead = if is_recorded { "ahead_s" } else { "NULL" };
    format!(
        "UPDATE runs SET began_at = began_at - {seconds}, ahead_s = {ahead} + {seconds};
        UPDATE sent SET settled_at = settled_at - {seconds};
        UPDATE attempts SET first_ms = first_ms - {seconds} * 1000, last_ms = last_ms - {seconds} * 1000"
    )
}

#[test]
fn a_lead_that_the_service_had_before_the_run_stays_though_the_clock_was_wrong_then() {
    for (days, is_recorded) in [(60, true), (60, false), (-60, true)] {
        for lost in [0, 1] {
            let wrong = clock_was_slow(days, is_recorded);
            an_old_lead_stays(lost, |run| run, |folder| sql(folder, &wrong));
        }
    }
}

#[test]
fn a_lead_that_the_service_had_before_the_run_stays_though_the_clock_was_set_right_meanwhile() {
    let (folder, service) = told_of_an_old_lead(0);
    let numbers = [220, 1000, 1001].map(number);
    folder.write("leads.csv", format!("phone\n{}\n", numbers.join("\n")));
    folder
        .import_leads(&service, &["--concurrency", "1"])
        .expect(0);
    sql(
        &folder,
        "UPDATE runs SET began_at = began_at - 60 * 86400, ahead_s = ahead_s + 60 * 86400;
        UPDATE sent SET settled_at = settled_at - 60 * 86400 WHERE row < 3",
    );
    undo(&folder, &service, "1", &[]).expect(1);
    assert_eq!(statuses(&folder), ["kept", "undone", "undone"]);
    assert_eq!(service.leads().len(), 230);
}

#[cfg(unix)]
#[test]
fn a_lead_that_the_service_had_before_it_was_asked_for_stays_with_a_shared_ledger_too() {
    for (lost, began_earlier) in [(0, false), (0, true), (1, true)] {
        let Some(database) = Cluster::database() else {
            return;
        };
        let earlier = "UPDATE leadload.runs SET began_at = began_at - interval '60 days'";
        let pass = |_: &Folder| {
            if began_earlier {
                database.sql(earlier);
            }
        };
        let ledger = |run: Run| run.env("LEADLOAD_LEDGER", &database.url());
        an_old_lead_stays(lost, ledger, pass);
    }
}

/// The run began 60 days ago and was killed; the ledger says that a request for the person was sent 45 days
/// ago and got no answer. A colleague added the person 30 days ago. The run goes on, and is answered so.
fn a_lead_between_two_starts_stays(
    (answer, end, undone): (&str, i32, &str),
    with_ledger: impl Fn(Run) -> Run,
    pass: impl FnOnce(&Folder),
) {
    let (folder, service) = answered_about_an_old_lead(1, answer);
    let import = || {
        let flags = [
            "--concurrency",
            "1",
            "--timeout",
            "1s",
            "--max-attempts",
            "1",
        ];
        with_ledger(folder.import_leads(&service, &flags))
    };
    let process = import().start();
    wait_for_requests(&service, 231);
    kill(process);
    import().expect(end);
    pass(&folder);
    with_ledger(undo(&folder, &service, "1", &[])).expect(1);
    assert_eq!(statuses(&folder), [undone, "undone"]);
    assert_eq!(service.leads().len(), 230);
}

/// What the second start is told, how it ends, and what undo says.
const ANSWERS: [(&str, i32, &str); 4] = [
    (
        "{ body = '{\"message\":\"ok\",\"data\":{\"id\":\"221\"}}' }",
        0,
        "kept",
    ),
    ("{ status = 500 }", 1, "unknown"),
    (
        "{ status = 409, body = '{\"error\":\"Lead already exists\"}' }",
        0,
        "unknown",
    ),
    ("{ then = 'hang' }", 1, "unknown"),
];

#[test]
fn a_lead_that_came_between_two_starts_after_the_first_ones_request_timed_out_stays() {
    for answer in ANSWERS {
        a_lead_between_two_starts_stays(
            answer,
            |run| run,
            |folder| {
                sql(folder, BEGAN_EARLIER);
                sql(folder, KILLED_EARLIER);
            },
        );
    }
}

const KILLED_EARLIER: &str = "UPDATE attempts SET first_ms = first_ms - 45 * 86400000,
    last_ms = last_ms - 45 * 86400000, ended_ms = ended_ms - 45 * 86400000 WHERE ended_ms IS NOT NULL";

#[cfg(unix)]
#[test]
fn a_lead_that_came_between_two_starts_stays_with_a_shared_ledger_too() {
    for answer in ANSWERS {
        let Some(database) = Cluster::database() else {
            return;
        };
        let ledger = |run: Run| run.env("LEADLOAD_LEDGER", &database.url());
        let pass = |_: &Folder| {
            let began = "UPDATE leadload.runs SET began_at = began_at - interval '60 days'";
            database.sql(began);
            let killed = KILLED_EARLIER.replace("86400000", "86400000::bigint");
            database.sql(&killed.replace("attempts", "leadload.attempts"));
        };
        a_lead_between_two_starts_stays(answer, ledger, pass);
    }
}

/// Older versions have not recorded when.
#[test]
fn a_lead_of_a_row_whose_answer_was_lost_is_the_runs_if_it_is_not_known_when_that_was_sent() {
    let (folder, service) = told_of_an_old_lead(1);
    let import = folder.import_leads(&service, &["--concurrency", "1", "--timeout", "1s"]);
    import.expect(0);
    sql(&folder, BEGAN_EARLIER);
    sql(&folder, "DELETE FROM attempts");
    undo(&folder, &service, "1", &[]).expect(0);
    assert_eq!(statuses(&folder), ["undone", "undone"]);
}

#[test]
fn that_it_is_not_known_whether_leads_are_older_is_said_before_and_afterwards() {
    for (times, lines) in [
        ("lead_times = 'none'", 1),
        ("lead_times = 'zoneless'", 1),
        ("", 0),
    ] {
        let folder = Folder::with_leads(&contacts(3));
        let service = scenario(times);
        folder.import_leads(&service, &[]).expect(0);
        let why = "3 leads may";
        for more in [&["--dry-run"][..], &[]] {
            let told = undo(&folder, &service, "1", more).expect(0).stdout;
            assert_eq!(told.matches(why).count(), lines, "{told}");
        }
    }
}

#[cfg(unix)]
#[test]
fn the_question_says_how_many_leads_stay_since_they_are_older() {
    let (folder, service) = told_of_an_old_lead(0);
    folder
        .import_leads(&service, &["--concurrency", "1"])
        .expect(0);
    let ask = folder.leadload(&["runs", "undo", "1", "--rate", "none"]);
    let mut terminal = Terminal::start(ask.at(&service), 300, 24);
    terminal.wait_for("1 lead stays");
    terminal.answer("[y/N]", "n\r");
    assert_eq!(terminal.end().0, 2);
    nothing_is_removed(&folder, &service, 231);
}

#[test]
fn a_lead_that_cannot_be_looked_up_before_is_not_removed() {
    let (folder, service) = told_of_an_old_lead(0);
    let look_up = "GET /api/user/leads?campaign_id=101&phone_number=";
    let address = refusing(&service, look_up, 422);
    let at = |run: Run| run.env("LEADLOAD_BASE_URL", &address);
    at(folder.import_leads(&service, &["--concurrency", "1"])).expect(0);
    at(undo(&folder, &service, "1", &[])).expect(1);
    assert_eq!(statuses(&folder), ["unknown"; 2]);
    assert_eq!(service.stats().delete_requests, 0);
    assert_eq!(service.leads().len(), 231);
}

#[test]
fn a_run_without_leads_that_would_go_on_is_closed_after_a_question() {
    let folder = Folder::with_leads(&contacts(3));
    let service = scenario("[[rule]]\nreply = { status = 401 }");
    folder.import_leads(&service, &[]).expect(3);
    let plan = undo(&folder, &service, "1", &["--dry-run"]).expect(0);
    plan.shows("close");
    let asks = folder.leadload(&["runs", "undo", "1"]).at(&service);
    asks.expect(2).tells("`--yes`");
    undo(&folder, &service, "1", &[]).expect(0);
    folder.import_leads(&service, &[]).expect(2);
}

#[test]
fn programs_get_the_keys_of_this_command_also_if_it_is_refused() {
    let folder = Folder::with_leads(&contacts(4));
    let service = scenario("in_call = 1.0");
    folder.import_leads(&service, &[]).expect(0);
    undo(&folder, &service, "1", &[]).expect(1);
    let broken = replaced(service, "lead_calls = 'none'");
    let failed = json(&undo(&folder, &broken, "1", &["--format", "json"]).expect(3));
    assert_eq!(
        (&failed["run"], &failed["complete"], &failed["stopped_by"]),
        (&1.into(), &false.into(), &"unreadable".into())
    );
    let counts = serde_json::json!({ "undone": 0, "gone": 0, "kept": 4, "unknown": 0, "left": 0 });
    assert_eq!(
        (&failed["counts"], &failed["exit_code"]),
        (&counts, &3.into())
    );
    let unknown = json(&undo(&folder, &broken, "9", &["--format", "json"]).expect(2));
    assert_eq!(
        (&unknown["run"], &unknown["stopped_by"]),
        (&serde_json::Value::Null, &"usage".into())
    );
}

#[test]
fn the_results_of_the_import_are_never_replaced() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let results = folder.read("leads.results.csv");
    undo(&folder, &service, "1", &["--results", "leads.results.csv"]).expect(0);
    let is_kept = |name: &String| name.contains("leads.results") && folder.read(name) == results;
    assert!(folder.names().iter().any(is_kept), "{:?}", folder.names());
    assert_eq!(folder.column("leads.results.csv", "status"), ["undone"; 2]);
}

#[test]
fn an_unfinished_run_is_closed_by_it() {
    let folder = Folder::with_leads(&contacts(50));
    let service = scenario("latency_ms = 20");
    let process = folder
        .import_leads(&service, &["--concurrency", "1"])
        .start();
    wait_for_requests(&service, 10);
    kill(process);
    undo(&folder, &service, "last", &[]).output();
    let by_status = file(&folder, "leads.undo.csv");
    assert!(by_status["undone"].len() >= 6);
    folder.import_leads(&service, &[]).expect(2).tells("undone");
    folder.import_leads(&service, &["--again"]).expect(0);
    let rows = folder.records("leads.results.csv");
    assert_eq!(rows.len(), 50);
    let made = service.leads().len();
    assert_eq!(made, 50);
}

#[cfg(unix)]
#[test]
fn a_run_that_is_being_sent_is_not_undone() {
    let folder = Folder::with_leads(&contacts(200));
    let service = scenario("latency_ms = 20");
    let process = folder
        .import_leads(&service, &["--concurrency", "1"])
        .start();
    wait_for_requests(&service, 3);
    let output = undo(&folder, &service, "last", &[]).expect(6);
    output.tells("run 1");
    assert_eq!(service.stats().delete_requests, 0);
    signal(&process, "-TERM");
    assert_eq!(Output::of(process).code, 4);
    undo(&folder, &service, "last", &[]).expect(0);
    assert!(service.leads().is_empty());
}

#[cfg(unix)]
#[test]
fn a_signal_stops_it_and_the_same_command_goes_on() {
    let folder = Folder::with_leads(&contacts(100));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let process = folder
        .leadload(&[
            "runs", "undo", "1", "--yes", "--rate", "50/s", "--format", "json",
        ])
        .at(&service)
        .start();
    wait_until("removing", || service.stats().deleted >= 5);
    signal(&process, "-TERM");
    let output = Output::of(process);
    assert_eq!(output.code, 4, "{}", output.stderr);
    let told = json(&output);
    assert_eq!(
        (&told["stopped_by"], &told["complete"]),
        (&"signal".into(), &false.into())
    );
    let left = told["counts"]["left"].as_u64().unwrap();
    assert_eq!(left, service.leads().len() as u64);
    assert_eq!(told["counts"]["undone"].as_u64().unwrap(), 100 - left);
    let by_status = file(&folder, "leads.undo.csv");
    assert_eq!(by_status["undone"].len() as u64, 100 - left);
    undo(&folder, &service, "1", &[]).expect(0);
    assert!(service.leads().is_empty());
    assert_eq!(statuses(&folder), ["undone"; 100]);
}

#[test]
fn its_requests_keep_the_limit_together_with_those_of_the_import() {
    let folder = Folder::with_leads(&contacts(15));
    let service = service();
    folder.import_leads(&service, &["--rate", "20/s"]).output();
    let import = [
        "import",
        "leads.csv",
        "--campaign",
        "101",
        "--rate",
        "20/s",
        "--again",
    ];
    drop(folder.leadload(&import).at(&service).output());
    let args = ["runs", "undo", "1", "--yes", "--rate", "20/s"];
    folder.leadload(&args).at(&service).expect(0);
    assert!(service.stats().max_in_window(Duration::from_secs(1)) <= 40);
    let deletes = service.stats().arrivals_us.len() - 15;
    let all = service.stats().arrivals_us;
    let of_undo = &all[15..];
    let span = of_undo[of_undo.len() - 1] - of_undo[0];
    assert!(span >= 50_000 * (deletes as u64 - 2), "{span}");
}

#[test]
fn a_refused_token_stops_it_and_removes_nothing() {
    let folder = Folder::with_leads(&contacts(20));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let run = undo(&folder, &service, "1", &[]).env("LEADLOAD_TOKEN", "wrong");
    run.expect(3);
    nothing_is_removed(&folder, &service, 20);
}

#[test]
fn its_file_is_no_list_and_one_that_was_edited_is_kept() {
    let folder = Folder::with_leads(&contacts(3));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    folder.write("leads.undo.csv", "my own notes\n");
    undo(&folder, &service, "1", &[]).expect(0);
    assert_eq!(folder.names().len(), 4, "{:?}", folder.names());
    let before = service.stats().lead_requests;
    let send = ["leads.undo.csv", "--campaign", "101"];
    folder.import(&service, &send).expect(2).tells("`*.csv`");
    assert_eq!(service.stats().lead_requests, before);
    let other = undo(&folder, &service, "1", &["--results", "elsewhere.csv"]);
    other.expect(0);
    assert_eq!(folder.records("elsewhere.csv").len(), 3);
    let into_input = undo(&folder, &service, "1", &["--results", "leads.csv"]);
    into_input.expect(2).tells("leads.csv");
    assert!(folder.read("leads.csv").starts_with("phone,name"));
}

#[test]
fn an_id_that_would_name_the_list_itself_is_never_sent() {
    let folder = Folder::with_leads(&contacts(2));
    let service = scenario(&format!(
        "[[rule]]\nphone_number = '{}'\nreply = {{ body = '{{\"data\":{{\"id\":\"..\"}}}}', store = true }}",
        number(0)
    ));
    folder.import_leads(&service, &[]).expect(0);
    undo(&folder, &service, "1", &[]).expect(1);
    assert_eq!(statuses(&folder), ["kept", "undone"]);
    assert_eq!(service.stats().delete_requests, 1);
}

#[test]
fn a_run_without_leads_has_nothing_to_remove() {
    let folder = Folder::with_leads("phone\nn/a\n");
    let service = service();
    folder.import_leads(&service, &[]).expect(1);
    let output = undo(&folder, &service, "1", &[]).expect(0);
    output.shows("run 1 ");
    // Nor is it undone: its command still knows what became of its rows.
    folder.import_leads(&service, &[]).expect(1);
    let unknown = undo(&folder, &service, "7", &[]).expect(2);
    unknown.tells("run 7");
}

#[cfg(unix)]
#[test]
fn a_shared_ledger_undoes_one_run_while_another_machine_sends_another() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let with_ledger = |run: Run| run.env("LEADLOAD_LEDGER", &database.url());
    let service = scenario("latency_ms = 30");
    let (ours, theirs) = (Folder::with_leads(&contacts(30)), Folder::new());
    with_ledger(ours.import_leads(&service, &[])).expect(0);
    let list: String = (100..400).map(|row| format!("{}\n", number(row))).collect();
    theirs.write("leads.csv", format!("phone\n{list}"));
    let process = with_ledger(theirs.import_leads(&service, &["--concurrency", "2"])).start();
    wait_for_requests(&service, 40);
    with_ledger(undo(&ours, &service, "1", &[])).expect(0);
    let busy = with_ledger(undo(&ours, &service, "2", &[])).expect(6);
    busy.tells("run 2");
    let output = Output::of(process);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let left: BTreeSet<String> = service
        .leads()
        .into_iter()
        .map(|lead| lead.phone_number)
        .collect();
    assert_eq!(left, (100..400).map(number).collect());
    with_ledger(ours.import_leads(&service, &[]))
        .expect(2)
        .tells("undone");
    with_ledger(ours.import_leads(&service, &["--again"])).expect(0);
    assert_eq!(service.leads().len(), 330);
}

#[test]
fn a_list_that_was_undone_is_not_sent_by_a_job_that_has_run_once_more_before_that() {
    let folder = Folder::with_leads(&contacts(3));
    let service = scenario("");
    folder.import_leads(&service, &[]).expect(0);
    folder.import_leads(&service, &[]).expect(0);
    undo(&folder, &service, "1", &[]).expect(0);
    folder.import_leads(&service, &[]).expect(2);
    assert!(service.leads().is_empty());
    folder.import_leads(&service, &["--again"]).expect(0);
    // That was said, and holds for the nights that follow.
    folder.import_leads(&service, &[]).expect(0);
    assert_eq!(service.leads().len(), 3);
}

#[test]
fn a_lead_that_is_refused_first_keeps_no_other_from_being_removed() {
    for status in [403, 404, 405] {
        let folder = Folder::with_leads(&contacts(4));
        let service = scenario("");
        let address = refusing(&service, "DELETE /api/user/leads/1 ", status);
        let at = |run: Run| run.env("LEADLOAD_BASE_URL", &address);
        at(folder.import_leads(&service, &["--concurrency", "1"])).expect(0);
        let args = ["runs", "undo", "1", "--yes", "--rate", "none"];
        let undone = at(folder.leadload(&args).at(&service)).expect(1);
        undone.shows_words("undone 3");
        let by_status = file(&folder, "leads.undo.csv");
        assert_eq!(by_status["kept"].len(), 1, "{status}");
        assert_eq!(service.leads().len(), 1, "{status}");
    }
}

/// The first list got no answer, the second was told of a duplicate: that is the lead that is removed.
#[test]
fn a_duplicate_of_a_lead_that_was_removed_keeps_nobody_from_being_sent() {
    let folder = Folder::with_leads(&contacts(2));
    folder.write("other.csv", contacts(1));
    let lost = format!(
        "[[rule]]
        phone_number = '{}'
        attempts = [1]
        reply = {{ status = 200, body = '{{}}', store = true, then = 'drop' }}",
        number(0)
    );
    let service = scenario(&lost);
    folder
        .import_leads(&service, &["--on-uncertain", "hold"])
        .expect(1);
    let other = ["import", "other.csv", "--campaign", "101"];
    folder.leadload(&other).at(&service).expect(0);
    assert_eq!(folder.column("other.results.csv", "status"), ["duplicate"]);
    undo(&folder, &service, "1", &[]).expect(0);
    assert!(service.leads().is_empty());
    folder.leadload(&other).at(&service).expect(0);
    assert_eq!(folder.column("other.results.csv", "status"), ["created"]);
    folder.import_leads(&service, &["--again"]).expect(0);
    assert_eq!(service.leads().len(), 2);
}

#[test]
fn a_removal_that_is_refused_after_its_answer_was_lost_is_looked_up() {
    use Instead::{AskForLater, Lose, LoseTheAnswer, Refuse};
    for (first, status, is_killed, found, code) in [
        (LoseTheAnswer, 403, false, "gone", 0),
        (LoseTheAnswer, 405, true, "unknown", 1),
        (LoseTheAnswer, 410, true, "gone", 0),
        (AskForLater(504), 422, false, "gone", 0),
        // It may be on its way to the service.
        (Lose, 409, false, "unknown", 1),
    ] {
        let folder = Folder::with_leads(&contacts(2));
        let service = scenario("");
        let steps: &[Instead] = &[first, Refuse(status)];
        let address = changing(&service, &[("DELETE /api/user/leads/1 ", steps)]);
        let at = |run: Run| run.env("LEADLOAD_BASE_URL", &address);
        at(folder.import_leads(&service, &["--concurrency", "1"])).expect(0);
        let undo = || at(undo(&folder, &service, "1", &[]));
        if is_killed {
            let process = undo().start();
            wait_until("removed", || service.stats().deleted >= 1);
            kill(process);
        }
        undo().expect(code);
        assert_eq!(statuses(&folder), [found, "undone"], "{status}");
        at(folder.import_leads(&service, &["--again"])).expect(0);
        assert_eq!(service.leads().len(), 2, "{status}");
    }
}

/// A service may give the id of a lead that was removed to a later one. Whose removal was asked for may be
/// gone then, and is sent again on demand; whose was not is there, under whatever id.
#[test]
fn a_lead_of_somebody_else_that_has_the_id_now_stays_and_says_nothing_of_the_first() {
    for (was_asked, status) in [(true, "unknown"), (false, "kept")] {
        let folder = Folder::with_leads(&contacts(2));
        let service = scenario("");
        let lost: &[Instead] = &[Instead::LoseTheAnswer];
        let address = changing(&service, &[("DELETE /api/user/leads/1 ", lost)]);
        let at = |run: Run| run.env("LEADLOAD_BASE_URL", &address);
        at(folder.import_leads(&service, &["--concurrency", "1"])).expect(0);
        if was_asked {
            let process = at(undo(&folder, &service, "1", &[])).start();
            wait_until("removed", || service.stats().deleted >= 1);
            kill(process);
        }
        folder.write("other.csv", format!("phone\n{}\n", number(7)));
        let other = ["import", "other.csv", "--campaign", "101"];
        at(folder.leadload(&other).at(&service)).expect(0);
        sql(
            &folder,
            "UPDATE sent SET lead_id = 3 WHERE run = 1 AND row = 1",
        );
        sql(&folder, "UPDATE undo_rows SET lead_id = 3 WHERE row = 1");
        at(undo(&folder, &service, "1", &[])).expect(1);
        assert_eq!(statuses(&folder), [status, "undone"]);
        at(folder.import_leads(&service, &["--again"])).expect(0);
        let people: BTreeSet<String> = service
            .leads()
            .into_iter()
            .map(|l| l.phone_number)
            .collect();
        assert_eq!(people, [0, 1, 7].map(number).into(), "{status}");
        assert_eq!(service.leads().len(), 3, "{status}");
    }
}

/// Such a lead may be gone, so the undo that has asked for its removal stays.
#[test]
fn a_refused_token_takes_no_undo_back_whose_answer_was_lost() {
    for first in [Instead::LoseTheAnswer, Instead::AskForLater(504)] {
        let folder = Folder::with_leads(&contacts(2));
        let service = scenario("");
        let steps: &[Instead] = &[first, Instead::Refuse(401)];
        let address = changing(&service, &[("DELETE ", steps)]);
        let at = |run: Run| run.env("LEADLOAD_BASE_URL", &address);
        at(folder.import_leads(&service, &["--concurrency", "1"])).expect(0);
        at(undo(&folder, &service, "1", &[])).expect(3);
        at(folder.import_leads(&service, &[]))
            .expect(2)
            .tells("undone");
        at(folder.import_leads(&service, &["--again"])).expect(0);
        assert_eq!(service.leads().len(), 2);
    }
}

/// As it refuses leads that are in a call.
#[test]
fn refusals_of_single_leads_do_not_show_that_the_service_removes_none() {
    let folder = Folder::with_leads(&contacts(4));
    let service = scenario("");
    let of = |lead, status| (lead, [Instead::Refuse(status)]);
    let refused = [
        of("DELETE /api/user/leads/1 ", 409),
        of("DELETE /api/user/leads/2 ", 409),
        of("DELETE /api/user/leads/3 ", 403),
    ];
    let script: Vec<(&str, &[Instead])> = refused
        .iter()
        .map(|(of, steps)| (*of, &steps[..]))
        .collect();
    let address = changing(&service, &script);
    let at = |run: Run| run.env("LEADLOAD_BASE_URL", &address);
    at(folder.import_leads(&service, &["--concurrency", "1"])).expect(0);
    at(undo(&folder, &service, "1", &[])).expect(1);
    assert_eq!(statuses(&folder), ["kept", "kept", "kept", "undone"]);
    // A clear answer leaves no doubt, so it is as if nobody had asked.
    at(undo(&folder, &service, "1", &[])).expect(1);
    assert_eq!(statuses(&folder), ["kept", "kept", "kept", "undone"]);
}
