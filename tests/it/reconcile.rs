//! `leadload runs reconcile`: uncertain rows are looked up at the service.

use std::collections::BTreeMap;
use std::time::Duration;

use leadload::sandbox::Sandbox;
use rusqlite::Connection;

#[cfg(unix)]
use crate::cluster::Cluster;
use crate::undo::undo;
use crate::util::{
    Folder, Run, contacts, kill, number, replaced, scenario, service, wait_for_requests,
};

fn reconcile(folder: &Folder, service: &Sandbox, more: &[&str]) -> Run {
    let args = [
        "runs",
        "reconcile",
        "last",
        "--rate",
        "none",
        "--format",
        "json",
    ];
    folder.leadload(&[&args, more].concat()).at(service)
}

fn counts(folder: &Folder, service: &Sandbox, code: i32) -> BTreeMap<String, u64> {
    let told = reconcile(folder, service, &[]).expect(code).json();
    let counts = told["counts"].as_object().unwrap().clone();
    counts
        .into_iter()
        .map(|(status, rows)| (status, rows.as_u64().unwrap()))
        .collect()
}

fn of(pairs: [(&str, u64); 4]) -> BTreeMap<String, u64> {
    pairs.map(|(status, rows)| (status.to_owned(), rows)).into()
}

/// Each row's status, by its number, as the ledger has it.
fn known(folder: &Folder) -> BTreeMap<String, (String, String)> {
    folder
        .leadload(&["runs", "export", "last", "--results", "known.csv"])
        .expect(0);
    let rows = folder.records("known.csv");
    drop(std::fs::remove_file(folder.path("known.csv")));
    rows.into_iter()
        .map(|row| {
            (
                row["phone_number"].clone(),
                (row["status"].clone(), row["lead_id"].clone()),
            )
        })
        .collect()
}

/// Lets this time pass for all attempts that are in doubt.
fn pass(folder: &Folder, minutes: i64) {
    let db = Connection::open(folder.ledger()).unwrap();
    let ms = minutes * 60_000;
    db.execute_batch(&format!(
        "UPDATE attempts SET first_ms = first_ms - {ms}, last_ms = last_ms - {ms}"
    ))
    .unwrap();
}

fn leads(service: &Sandbox) -> BTreeMap<String, String> {
    let leads = service.leads().into_iter();
    leads.map(|lead| (lead.phone_number, lead.id)).collect()
}

#[test]
fn what_the_list_does_not_show_long_afterwards_was_not_taken_and_is_sent_again() {
    let folder = Folder::with_leads(&contacts(20));
    let lost = |row: usize| {
        format!(
            "[[rule]]\nphone_number = '{}'\nattempts = [1]\nreply = {{ then = 'drop' }}\n",
            number(row)
        )
    };
    let service = scenario(&[lost(3), lost(7)].concat());
    folder
        .import_leads(&service, &["--on-uncertain", "hold"])
        .expect(1);
    let first = reconcile(&folder, &service, &[]).expect(1).json();
    assert_eq!(first["counts"]["uncertain"], 2);
    let again_at = first["again_at"].as_str().unwrap();
    let again_at: jiff::Timestamp = again_at.parse().unwrap();
    let in_minutes = jiff::Timestamp::now().duration_until(again_at).as_mins();
    assert!((8..=10).contains(&in_minutes), "{in_minutes}");
    pass(&folder, 11);
    let none = [
        ("created", 0),
        ("duplicate", 0),
        ("failed", 2),
        ("uncertain", 0),
    ];
    assert_eq!(counts(&folder, &service, 1), of(none));
    let runs = folder
        .leadload(&["runs", "show", "1", "--format", "json"])
        .expect(0)
        .json();
    assert_eq!(runs["counts"]["failed"], 2);
    assert_eq!(runs["counts"]["uncertain"], 0);
    let output = reconcile(&folder, &service, &[]).expect(0);
    assert_eq!(output.json()["rows"], 0);
    folder
        .import_leads(&service, &["--on-uncertain", "hold"])
        .expect(0);
    let statuses = folder.column("leads.results.csv", "status");
    assert_eq!((&*statuses[3], &*statuses[7]), ("created", "created"));
    assert_eq!(service.leads().len(), 20);
}

#[test]
fn a_row_counts_as_not_taken_only_if_the_list_shows_a_lead_of_the_run() {
    for (scenario_of, flags, changed, why) in [
        // The list shows nothing yet, or the service would take a second lead.
        (
            "list_delay_ms = 600000\n",
            &["--on-uncertain", "hold"][..],
            "",
            "neither",
        ),
        ("", &["--allow-duplicates"], "", "duplicates"),
        (
            "",
            &["--on-uncertain", "hold"],
            "UPDATE runs SET token = '-'",
            "several tokens",
        ),
    ] {
        let folder = Folder::with_leads(&contacts(5));
        let service = scenario(&format!(
            "{scenario_of}[[rule]]\nphone_number = '{}'\nreply = {{ then = 'drop' }}\n",
            number(2)
        ));
        folder.import_leads(&service, flags).expect(1);
        pass(&folder, 60);
        let ledger = Connection::open(folder.ledger()).unwrap();
        ledger.execute_batch(changed).unwrap();
        let counts = counts(&folder, &service, 1);
        assert_eq!((counts["failed"], counts["uncertain"]), (0, 1), "{flags:?}");
        let told = ["runs", "reconcile", "last", "--rate", "none"];
        let told = folder.leadload(&told).at(&service).expect(1);
        told.shows("\n  1 ");
        told.shows(why);
    }
}

#[test]
fn a_lead_that_is_listed_without_its_calling_code_may_be_the_rows_or_another_person_s() {
    let folder = Folder::with_leads(&contacts(5));
    let service = scenario(&format!(
        "national_numbers = 1\n[[rule]]\nphone_number = '{}'\nreply = {{ then = 'drop', store = true }}\n",
        number(0)
    ));
    let flags = ["--on-uncertain", "hold", "--concurrency", "1"];
    folder.import_leads(&service, &flags).expect(1);
    pass(&folder, 60);
    let counts = counts(&folder, &service, 1);
    assert_eq!((counts["failed"], counts["uncertain"]), (0, 1));
    let told = ["runs", "reconcile", "last", "--rate", "none"];
    let told = folder.leadload(&told).at(&service).expect(1);
    told.shows("calling codes");
    undo(&folder, &service, "1", &[]).expect(1);
    assert_eq!(service.leads().len(), 1);
}

#[test]
fn a_lead_whose_time_is_not_known_well_enough_is_a_duplicate() {
    for (times, status) in [
        ("microseconds", "created"),
        ("zoneless", "duplicate"),
        ("none", "duplicate"),
    ] {
        let folder = Folder::with_leads(&contacts(2));
        let service = scenario(&format!(
            "lead_times = '{times}'\n[[rule]]\nphone_number = '{}'\n\
             reply = {{ then = 'drop', store = true }}\n",
            number(0)
        ));
        folder
            .import_leads(&service, &["--on-uncertain", "hold"])
            .expect(1);
        assert_eq!(counts(&folder, &service, 0)[status], 1, "{times}");
        let found = (status.to_owned(), "1".to_owned());
        assert_eq!(known(&folder)[&number(0)], found, "{times}");
    }
}

#[test]
fn a_lead_that_is_older_than_the_run_is_a_duplicate_whatever_clock_the_service_has() {
    for clock in [
        "",
        "clock_ahead_s = 7200",
        "clock_ahead_s = -7200",
        // Only the lead of the other row shows it.
        "lead_times_ahead_s = 300",
        "lead_times_ahead_s = 3600",
    ] {
        let (before, folder) = (
            Folder::with_leads(&contacts(1)),
            Folder::with_leads(&contacts(2)),
        );
        let service = scenario(&format!(
            "{clock}\n[[rule]]\nphone_number = '{}'\nattempts = [2]\n\
             reply = {{ then = 'drop' }}\n",
            number(0)
        ));
        before.import_leads(&service, &[]).expect(0);
        folder
            .import_leads(&service, &["--on-uncertain", "hold"])
            .expect(1);
        // By a clock that is hours ahead, it seems to be younger than the run.
        assert_eq!(counts(&folder, &service, 0)["duplicate"], 1, "{clock}");
        let found = ("duplicate".to_owned(), "1".to_owned());
        assert_eq!(known(&folder)[&number(0)], found, "{clock}");
        let export = ["runs", "export", "last", "--results", "known.csv"];
        folder.leadload(&export).expect(0);
        let errors = folder.column("known.csv", "error");
        assert!(
            errors
                .iter()
                .any(|error| error.ends_with("the run") || error.ends_with("last attempt")),
            "{errors:?}"
        );
    }
}

#[test]
fn pages_are_followed_to_the_end_in_every_form() {
    for (form, ids) in [
        ("pages", "number"),
        ("meta", "text"),
        ("data", "number"),
        ("bare", "text"),
    ] {
        // The service compares a part of the number, so many others are listed before it.
        let text: String = (0..130)
            .map(|row| format!("+4479110001{row:03}\n"))
            .collect();
        let folder = Folder::with_leads(&format!("phone\n{text}+447911000\n"));
        let service = scenario(&format!(
            "lead_list = '{form}'\nlead_ids = '{ids}'\n[[rule]]\nphone_number = '+447911000'\n\
             reply = {{ then = 'drop', store = true }}\n"
        ));
        let flags = ["--phone-rule", "e164", "--on-uncertain", "hold"];
        folder.import_leads(&service, &flags).expect(1);
        let expected = [
            ("created", 1),
            ("duplicate", 0),
            ("failed", 0),
            ("uncertain", 0),
        ];
        assert_eq!(counts(&folder, &service, 0), of(expected), "{form}");
        // And one for a lead of the run, which shows that the times can be trusted.
        let pages = match form {
            "pages" | "meta" => 2 + 1,
            _ => 1 + 1,
        };
        assert_eq!(service.stats().list_requests, pages, "{form}");
    }
}

/// The first answer about these rows is lost, so the next one is that the campaign has them.
fn first_answer_lost(rows: std::ops::Range<usize>) -> String {
    let lost = |row| {
        format!(
            "[[rule]]\nphone_number = '{}'\nattempts = [1]\n\
             reply = {{ then = 'drop', store = true }}\n",
            number(row)
        )
    };
    rows.map(lost).collect()
}

#[test]
fn duplicates_whose_answer_was_lost_get_their_ids() {
    for (listing, status, code) in [
        ("", "created", 0),
        ("lead_times = 'none'", "duplicate", 0),
        ("list_delay_ms = 600000", "duplicate", 1),
    ] {
        let folder = Folder::with_leads(&contacts(8));
        let service = scenario(&format!("{listing}\n{}", first_answer_lost(2..5)));
        folder.import_leads(&service, &[]).expect(0);
        let told = reconcile(&folder, &service, &[]).expect(code).json();
        assert_eq!(
            (&told["rows"], &told["counts"][status]),
            (&3.into(), &3.into())
        );
        assert_eq!(
            told["without_id"],
            if code == 0 { 0 } else { 3 },
            "{listing}"
        );
        let (made, known) = (leads(&service), known(&folder));
        for number in (2..5).map(number) {
            let id = if code == 0 {
                made[&number].as_str()
            } else {
                ""
            };
            let (known, known_id) = &known[&number];
            assert_eq!(
                (known.as_str(), known_id.as_str()),
                (status, id),
                "{listing}"
            );
        }
        let run = ["runs", "show", "last", "--format", "json"];
        let counts = folder.leadload(&run).expect(0).json()["counts"].clone();
        let created = if status == "created" { 8 } else { 5 };
        assert_eq!(counts["created"], created, "{listing}");
        assert_eq!(counts["duplicate"], 8 - created, "{listing}");
        // What was found is not looked up once more.
        let again = reconcile(&folder, &service, &[]).expect(code).json();
        assert_eq!(again["rows"], if code == 0 { 0 } else { 3 }, "{listing}");
    }
}

#[test]
fn a_lead_that_came_after_the_time_out_of_the_run_is_not_its_own() {
    for (timeout, status) in [("60s", "created"), ("20s", "duplicate")] {
        let folder = Folder::with_leads(&contacts(4));
        let service = scenario(&first_answer_lost(0..1));
        folder
            .import_leads(&service, &["--timeout", timeout])
            .expect(0);
        let ledger = Connection::open(folder.ledger()).unwrap();
        let half_a_minute_earlier =
            "UPDATE attempts SET first_ms = first_ms - 30000, last_ms = last_ms - 30000";
        ledger.execute_batch(half_a_minute_earlier).unwrap();
        assert_eq!(counts(&folder, &service, 0)[status], 1, "{timeout}");
    }
}

/// A run is killed before the service has taken a person, whom a colleague adds when its request has long
/// timed out; the run is looked up later still. Undoing it leaves the colleague's lead.
fn a_colleague_adds_a_lead_after_a_kill(
    ledger: impl Fn(Run) -> Run,
    then: impl FnOnce(),
    goes_on: bool,
) {
    let folder = Folder::with_leads(&contacts(1));
    let service = scenario("[[rule]]\nattempts = [1]\nreply = { then = 'hang' }\n");
    let import = |uncertain| {
        let flags = ["--timeout", "1s", "--on-uncertain", uncertain];
        ledger(folder.import_leads(&service, &flags))
    };
    let process = import("hold").start();
    wait_for_requests(&service, 1);
    kill(process);
    then();
    std::thread::sleep(Duration::from_millis(1200));
    let colleague = Folder::with_leads(&contacts(1));
    colleague.import_leads(&service, &[]).expect(0);
    if goes_on {
        import("resend").expect(0);
    }
    let told = ledger(reconcile(&folder, &service, &[])).expect(0).json();
    assert_eq!(told["counts"]["duplicate"], 1, "{told}");
    let export = ["runs", "export", "last", "--results", "known.csv"];
    ledger(folder.leadload(&export)).expect(0);
    let why = folder.column("known.csv", "error").remove(0);
    assert!(why.ends_with("last attempt"), "{why}");
    ledger(undo(&folder, &service, "1", &[])).expect(1);
    assert_eq!(folder.column("leads.undo.csv", "status"), ["unknown"]);
    assert_eq!(service.leads().len(), 1);
}

#[test]
fn a_lead_that_somebody_adds_after_a_kill_is_not_the_runs() {
    for goes_on in [false, true] {
        a_colleague_adds_a_lead_after_a_kill(|run| run, || (), goes_on);
    }
}

#[cfg(unix)]
#[test]
fn a_lead_that_somebody_adds_after_a_kill_is_not_the_runs_in_a_shared_ledger_either() {
    for ended in [
        "UPDATE leadload.senders SET until = '-infinity'",
        // As after an hour, when another run begins.
        "DELETE FROM leadload.senders",
    ] {
        let Some(database) = Cluster::database() else {
            return;
        };
        let ledger = |run: Run| run.env("LEADLOAD_LEDGER", &database.url());
        let ends = || drop(database.sql(ended));
        a_colleague_adds_a_lead_after_a_kill(ledger, ends, false);
    }
}

#[test]
fn without_a_time_out_on_record_no_lead_is_surely_the_runs() {
    let folder = Folder::with_leads(&contacts(2));
    let service = scenario(&first_answer_lost(0..1));
    folder.import_leads(&service, &[]).expect(0);
    let ledger = Connection::open(folder.ledger()).unwrap();
    let forget = "UPDATE runs SET options = json_remove(options, '$.timeout')";
    ledger.execute_batch(forget).unwrap();
    assert_eq!(counts(&folder, &service, 0)["duplicate"], 1);
    undo(&folder, &service, "1", &[]).expect(1);
    let left = service.leads().into_iter().map(|lead| lead.phone_number);
    assert_eq!(left.collect::<Vec<String>>(), [number(0)]);
}

#[test]
fn the_lead_of_a_later_run_is_said_to_be_of_that_run() {
    let folder = Folder::with_leads(&contacts(2));
    let service = scenario(&format!(
        "[[rule]]\nphone_number = '{}'\nattempts = [1]\nreply = {{ then = 'drop' }}\n",
        number(0)
    ));
    folder
        .import_leads(&service, &["--on-uncertain", "hold"])
        .expect(1);
    folder.write("later.csv", format!("phone\n{}\n", number(0)));
    folder
        .import(&service, &["later.csv", "--campaign", "101"])
        .expect(0);
    let told = ["runs", "reconcile", "1", "--rate", "none"];
    let told = folder.leadload(&told).at(&service).expect(0);
    told.shows("duplicate");
    let export = ["runs", "export", "1", "--results", "known.csv"];
    folder.leadload(&export).expect(0);
    let why = folder.column("known.csv", "error").remove(0);
    assert!(why.ends_with("run 2"), "{why}");
}

#[test]
fn with_duplicates_allowed_each_row_gets_a_lead_of_its_own() {
    let list = format!(
        "phone,name\n{0},Ada\n{0},Ada again\n{0},once more\n",
        number(0)
    );
    let folder = Folder::with_leads(&list);
    let service = scenario(&format!(
        "[[rule]]\nphone_number = '{}'\nattempts = [2, 3]\nreply = {{ then = 'drop', store = true }}\n",
        number(0)
    ));
    folder
        .import_leads(&service, &["--allow-duplicates", "--concurrency", "1"])
        .expect(1);
    assert_eq!(counts(&folder, &service, 0)["created"], 2);
    let export = ["runs", "export", "last", "--results", "known.csv"];
    folder.leadload(&export).expect(0);
    assert_eq!(folder.column("known.csv", "lead_id"), ["1", "2", "3"]);
}

#[test]
fn where_the_service_has_no_list_that_is_said_and_nothing_changes() {
    for status in [404, 405] {
        let folder = Folder::with_leads(&contacts(3));
        let service = scenario(&format!(
            "lead_calls = 'none'\nnot_offered_status = {status}\n[[rule]]\nphone_number = '{}'\n\
             reply = {{ then = 'drop', store = true }}\n",
            number(1)
        ));
        folder
            .import_leads(&service, &["--on-uncertain", "hold"])
            .expect(1);
        pass(&folder, 60);
        let output = reconcile(&folder, &service, &[]).expect(3);
        output.tells("GET /api/user/leads");
        assert_eq!(output.json()["counts"]["uncertain"], 1);
        assert_eq!(known(&folder)[&number(1)].0, "uncertain");
    }
}

#[test]
fn a_lead_that_another_account_has_for_the_same_person_is_not_the_runs() {
    let service = scenario(&format!(
        "any_token = true\naccounts_by_token = true\n[[rule]]\nphone_number = '{}'\n\
         attempts = [1]\nreply = {{ then = 'drop' }}\n",
        number(0)
    ));
    let (ours, theirs) = (
        Folder::with_leads(&contacts(2)),
        Folder::with_leads(&contacts(1)),
    );
    ours.import_leads(&service, &["--on-uncertain", "hold"])
        .expect(1);
    let as_them = |run: Run| run.env("LEADLOAD_TOKEN", "theirs");
    as_them(theirs.import_leads(&service, &[])).expect(0);
    let told = as_them(reconcile(&ours, &service, &[])).expect(1).json();
    assert_eq!(told["counts"]["uncertain"], 1);
    assert_eq!(known(&ours)[&number(0)].0, "uncertain");
}

#[test]
fn another_service_and_another_account_are_refused() {
    let folder = Folder::with_leads(&contacts(3));
    let first =
        scenario("[[campaign]]\nid = 7\nname = 'Ours'\n[[rule]]\nreply = { then = 'drop' }");
    folder
        .import(
            &first,
            &["leads.csv", "--campaign", "7", "--on-uncertain", "hold"],
        )
        .output();
    let elsewhere = service();
    let output = reconcile(&folder, &elsewhere, &[]).expect(2);
    output.tells("run 1");
    let other = replaced(first, "[[campaign]]\nid = 8\nname = 'Theirs'");
    let output = reconcile(&folder, &other, &[]).expect(2);
    output.tells("campaign 7");
    assert_eq!(
        other.stats().list_requests + elsewhere.stats().connections,
        0
    );
}

#[test]
fn a_run_without_uncertain_rows_is_told_in_words() {
    let folder = Folder::with_leads(&contacts(3));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let args = ["runs", "reconcile", "1"];
    let output = folder.leadload(&args).at(&service).expect(0);
    assert!(output.stdout.starts_with("run 1 "), "{}", output.stdout);
}

#[cfg(unix)]
#[test]
fn rows_in_a_shared_ledger_are_looked_up_by_anybody_who_may() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let with_ledger = |run: Run| run.env("LEADLOAD_LEDGER", &database.url());
    let folder = Folder::with_leads(&contacts(4));
    let service = scenario(&format!(
        "[[rule]]\nphone_number = '{}'\nreply = {{ then = 'drop', store = true }}\n\
         [[rule]]\nphone_number = '{}'\nreply = {{ then = 'drop' }}\n",
        number(1),
        number(2)
    ));
    with_ledger(folder.import_leads(&service, &["--on-uncertain", "hold"])).expect(1);
    let told = with_ledger(reconcile(&folder, &service, &[]))
        .expect(1)
        .json();
    assert_eq!(told["counts"]["created"], 1);
    assert_eq!(told["counts"]["uncertain"], 1);
    database.sql(
        "UPDATE leadload.attempts SET last_ms = last_ms - 660000, first_ms = first_ms - 660000",
    );
    let told = with_ledger(reconcile(&folder, &service, &[]))
        .expect(1)
        .json();
    assert_eq!(told["counts"]["failed"], 1);
    let calm = replaced(service, "");
    with_ledger(folder.import_leads(&calm, &["--on-uncertain", "hold"])).expect(0);
    assert_eq!(
        folder.column("leads.results.csv", "status"),
        [
            "already_imported",
            "already_imported",
            "created",
            "already_imported"
        ]
    );
}
