//! `leadload suppress`: the do-not-call list that stays.

use std::path::PathBuf;

use leadload::sandbox::Sandbox;

#[cfg(unix)]
use crate::cluster::Cluster;
use crate::corpus::gzip;
use crate::page_runs::Page;
use crate::sheets::xlsx;
use crate::util::{
    Folder, Output, Run, contacts, number, scenario, seen, service, wait_for_requests,
};

/// The person who asked not to be called, …
const STOP: &str = "+447911000666";
/// … as a list of people in one country may write it.
const STOP_NATIONAL: &str = "07911 000666";

const LIST: &str = "phone,name\n+447911000001,Ada\n+447911000666,Bob\n+447911000002,Cy\n";

const KEEPS_BODIES: &str = "keep_bodies = true";

fn suppress(folder: &Folder, args: &[&str]) -> Output {
    folder.leadload(&[&["suppress"], args].concat()).expect(0)
}

fn stop(folder: &Folder) {
    suppress(folder, &["add", "--number", STOP]);
}

fn numbers(service: &Sandbox) -> Vec<String> {
    seen(service).into_iter().map(|seen| seen.phone).collect()
}

/// The status of Bob's row.
fn status(folder: &Folder) -> String {
    let rows = folder.records("leads.results.csv").into_iter();
    let bob = rows.into_iter().find(|row| row["row"] == "2").unwrap();
    bob["status"].clone()
}

/// The import sends to somebody, but not to the one who is on the list.
#[track_caller]
fn is_not_called(service: &Sandbox, before: usize) {
    let since = numbers(service).split_off(before);
    assert!(!since.contains(&STOP.to_owned()), "{since:?}");
    assert!(!since.is_empty());
}

/// A way to start an import of `leads.csv` after the number is on the list.
fn starts(list: &str, flags: &[&str], status_of_row: &str) {
    let folder = Folder::with_leads(list);
    let service = scenario(KEEPS_BODIES);
    stop(&folder);
    folder.import_leads(&service, flags).expect(0);
    is_not_called(&service, 0);
    assert_eq!(status(&folder), status_of_row, "{flags:?}");
}

#[test]
fn no_flag_of_an_import_sends_it() {
    for flags in [
        &[][..],
        &["--allow-duplicates"],
        &["--allow-duplicates", "--again"],
        &["--allow-duplicates", "--on-uncertain", "resend"],
        &["--once", "service"],
        &["--known-bad", "skip"],
        &["--on-uncertain", "hold"],
        &["--phone-rule", "e164"],
        &["--phone-rule", "valid", "--countries", "GB"],
        &["--region", "DE"],
        &["--concurrency", "64"],
        &["--limit", "3"],
        &["--var", "name", "--set", "a=b", "--keep", "name"],
        &["--only", "name=Ada", "--only", "name=Bob"],
        &["--yes", "--max-new", "100"],
        &["--again"],
    ] {
        starts(LIST, flags, "suppressed");
    }
}

#[test]
fn it_is_not_sent_however_its_row_is_written() {
    let national = LIST.replace(STOP, STOP_NATIONAL);
    starts(&national, &["--region", "GB"], "suppressed");
    let by_row = "phone,name,country\n+447911000001,Ada,\n07911 000666,Bob,GB\n+447911000002,Cy,\n";
    starts(by_row, &[], "suppressed");
    let without_plus = LIST.replace('+', "");
    starts(&without_plus, &["--assume-plus"], "suppressed");
    let in_second =
        "phone,mobile,name\n+447911000001,,Ada\n,+447911000666,Bob\n+447911000002,,Cy\n";
    let columns = ["--phone-column", "phone", "--phone-column", "mobile"];
    starts(in_second, &columns, "suppressed");
}

#[test]
fn it_is_not_sent_from_any_kind_of_input() {
    let folder = Folder::with_leads(LIST);
    let service = scenario(KEEPS_BODIES);
    stop(&folder);
    folder.write("packed.csv.gz", gzip(LIST.as_bytes()));
    let book = xlsx(|book| {
        let sheet = book.add_worksheet();
        for (row, line) in (0..).zip(LIST.lines()) {
            sheet.write_row(row, 0, line.split(','))?;
        }
        Ok(())
    });
    folder.write("book.xlsx", book);
    folder.write("more.csv", "phone,name\n+447911000003,Dee\n");
    folder.write(
        "by-row.csv",
        "phone,campaign\n+447911000004,102\n+447911000666,102\n+447911000666,103\n",
    );
    let to_101 = ["--campaign", "101", "--allow-duplicates", "--again"];
    for files in [
        &["packed.csv.gz"][..],
        &["book.xlsx"],
        &["leads.csv", "more.csv"],
    ] {
        folder
            .import(&service, &[files, &to_101].concat())
            .expect(0);
    }
    let by_row = ["by-row.csv", "--campaign-column", "campaign"];
    folder.import(&service, &by_row).expect(0);
    let piped = folder.import(&service, &[&["-"][..], &to_101].concat());
    piped.stdin(LIST.as_bytes()).expect(0);
    is_not_called(&service, 0);
    assert_eq!(numbers(&service).len(), 2 + 2 + 3 + 1 + 2);
}

#[test]
fn rejects_that_are_given_back_leave_it_out() {
    let folder = Folder::with_leads(LIST);
    let service = scenario(&format!(
        "{KEEPS_BODIES}\n[[rule]]\nattempts = [1]\nreply = {{ status = 422, body = '{{\"message\":\"no\"}}' }}"
    ));
    folder.import_leads(&service, &[]).expect(1);
    let before = numbers(&service).len();
    assert!(numbers(&service).contains(&STOP.to_owned()));
    stop(&folder);
    folder.import(&service, &["leads.rejects.csv"]).expect(0);
    is_not_called(&service, before);
}

#[test]
fn an_import_under_way_leaves_out_rows_that_it_has_already_claimed() {
    let folder = Folder::with_leads(&contacts(60));
    // While the service takes its time over one row, the list grows.
    let service = scenario(&format!(
        "{KEEPS_BODIES}\n[[rule]]\nphone_number = '{}'\nreply = {{ delay_ms = 4000, then = 'usual' }}",
        number(20)
    ));
    let process = folder
        .import_leads(&service, &["--concurrency", "1"])
        .start();
    wait_for_requests(&service, 21);
    // Of these some were claimed before.
    let last: Vec<String> = (21..60).map(number).collect();
    let mut list = "phone\n".to_owned();
    list.extend(last.iter().map(|number| format!("{number}\n")));
    folder.write("stop.csv", list);
    let added = suppress(&folder, &["add", "stop.csv", "--format", "json"]).json();
    assert_eq!(added["added"], 39);
    let claimed = added["leads"].as_array().unwrap().len();
    assert!(claimed > 0, "no row was claimed ahead");
    assert_eq!(
        numbers(&service).len(),
        21,
        "the machine is too slow for this test"
    );
    let output = Output::of(process);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let numbers = numbers(&service);
    assert_eq!(numbers.len(), 21);
    assert!(last.iter().all(|number| !numbers.contains(number)));
    let statuses = folder.column("leads.results.csv", "status");
    assert_eq!(statuses[..21], vec!["created"; 21]);
    assert_eq!(statuses[21..], vec!["suppressed"; 39]);
    let rows = folder.records("leads.results.csv");
    assert!(rows[59]["error"].contains("since 20"), "{:?}", rows[59]);
}

#[test]
fn a_test_call_to_a_number_on_the_list_is_refused() {
    let folder = Folder::with_leads(LIST);
    let service = scenario(KEEPS_BODIES);
    stop(&folder);
    let output = folder
        .import_leads(&service, &["--test-to", STOP])
        .expect(2);
    output.tells("`--test-to`");
    assert_eq!(service.stats().lead_requests, 0);
}

#[test]
fn the_page_leaves_it_out_too() {
    let folder = Folder::with_leads(LIST);
    let service = scenario(KEEPS_BODIES);
    stop(&folder);
    let page = Page::start(&folder, &service);
    let list = page.prepare(&folder);
    page.send(&list, &[]);
    page.end(&list);
    is_not_called(&service, 0);
    assert_eq!(numbers(&service).len(), 2);
}

#[cfg(unix)]
#[test]
fn every_machine_that_shares_the_ledger_leaves_it_out() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let with_ledger = |run: Run| run.env("LEADLOAD_LEDGER", &database.url());
    let service = scenario(&format!("{KEEPS_BODIES}\ntakes_duplicates = true"));
    let folder = Folder::with_leads(&contacts(60));
    let import = folder
        .leadload(&["import", "leads.csv", "--campaign", "101"])
        .args("--rate 20/s --concurrency 1")
        .at(&service);
    let process = with_ledger(import).start();
    wait_for_requests(&service, 5);
    let other = Folder::with_leads(LIST);
    let add = ["suppress", "add", "--number", &number(59), "--number", STOP];
    with_ledger(other.leadload(&add)).expect(0);
    with_ledger(other.import_leads(&service, &["--allow-duplicates"])).expect(0);
    assert_eq!(status(&other), "suppressed");
    let output = Output::of(process);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let numbers = numbers(&service);
    assert_eq!(numbers.len(), 59 + 2);
    assert!(!numbers.contains(&number(59)) && !numbers.contains(&STOP.to_owned()));
}

#[test]
fn what_is_taken_off_is_sent_again() {
    let folder = Folder::with_leads(LIST);
    let service = scenario(KEEPS_BODIES);
    stop(&folder);
    folder.import_leads(&service, &[]).expect(0);
    let removed = suppress(
        &folder,
        &["remove", "--number", STOP, "--number", "+447911000001"],
    );
    removed.shows("1 number ");
    removed.shows(" 1 was ");
    folder.import_leads(&service, &[]).expect(0);
    assert_eq!(status(&folder), "created");
    assert_eq!(numbers(&service).len(), 3);
}

#[test]
fn who_is_a_lead_already_is_said_with_campaign_and_lead() {
    let folder = Folder::with_leads(LIST);
    let service = service();
    folder
        .import(&service, &["leads.csv", "--campaign", "Spring promo"])
        .expect(0);
    folder
        .import(&service, &["leads.csv", "--campaign", "102"])
        .expect(0);
    folder.write("stop.csv", "phone\n+447911000666\n+447911000009\n");
    let args = ["add", "stop.csv", "--reason", "asked us to stop"];
    let output = suppress(&folder, &args);
    let address = service.base_url();
    for named in [
        "2 numbers".to_owned(),
        format!("+447911000666  101 Spring promo  2     1    {address}\n"),
        format!("+447911000666  102               5     2    {address}\n"),
    ] {
        output.shows(&named);
    }
    let again = suppress(&folder, &["add", "stop.csv", "--format", "json"]).json();
    assert_eq!(again["added"], 0);
    assert_eq!(again["already_on_it"], 2);
    let lead = serde_json::json!({
        "phone_number": STOP,
        "service": address,
        "campaign_id": 101,
        "campaign": "Spring promo",
        "status": "created",
        "lead_id": "2",
        "run": 1,
    });
    assert_eq!(again["leads"][0], lead);
}

#[test]
fn the_list_is_printed_as_text_json_and_csv_that_is_a_list_again() {
    let folder = Folder::new();
    suppress(&folder, &["list"]).shows("`leadload suppress add`");
    let args = ["add", "--number", STOP_NATIONAL, "--region", "GB"];
    suppress(&folder, &[&args[..], &["--reason", "=1+1"]].concat());
    suppress(&folder, &["add", "--number", "+447911000001"]);
    let list = suppress(&folder, &["list"]).stdout;
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1].starts_with(&format!("{STOP}  20")), "{list}");
    assert!(lines[1].ends_with("  =1+1"), "{list}");
    let json = suppress(&folder, &["list", "--format", "json"]).json();
    assert_eq!(json["numbers"][0]["phone_number"], STOP);
    assert_eq!(json["numbers"][0]["reason"], "=1+1");
    assert!(
        json["numbers"][0]["added_at"]
            .as_str()
            .unwrap()
            .ends_with('Z')
    );
    let csv = suppress(&folder, &["list", "--format", "csv"]).stdout;
    assert!(
        csv.starts_with("phone_number,added_at,reason\n+447911000666,20"),
        "{csv}"
    );
    assert!(csv.contains(",'=1+1\n"), "{csv}");
    folder.write("copy.csv", csv);
    let other = Folder::new();
    other.write("copy.csv", folder.read("copy.csv"));
    let added = suppress(&other, &["add", "copy.csv", "--format", "json"]).json();
    assert_eq!(added["added"], 2);
}

#[test]
fn a_list_that_cannot_be_read_completely_changes_nothing() {
    let folder = Folder::new();
    for (list, named) in [
        ("phone\n+447911000001\nunknown 12\n", "line 3"),
        ("name\nAda\n", "`stop.csv`"),
        ("phone\n07911 000666\n", "line 2"),
    ] {
        folder.write("stop.csv", list);
        let output = folder.leadload(&["suppress", "add", "stop.csv"]).expect(2);
        output.tells(named);
        assert!(!output.stderr.contains("was sent"), "{}", output.stderr);
        assert!(!output.stderr.contains("--suppress"), "{}", output.stderr);
    }
    let output = folder.leadload(&["suppress", "add", "gone.csv"]).expect(2);
    output.tells("`gone.csv`");
    for args in [&["suppress", "add"][..], &["suppress", "remove"]] {
        folder.leadload(args).expect(2);
    }
    let output = folder
        .leadload(&["suppress", "add", "--number", "07911 000666"])
        .expect(2);
    output.tells("--region");
    assert!(!output.stderr.contains("000666"), "{}", output.stderr);
    assert!(!folder.ledger().exists());
}

#[test]
fn numbers_come_from_a_pipe_and_from_a_country_column() {
    let folder = Folder::new();
    let add = folder.leadload(&["suppress", "add", "-", "--format", "json"]);
    let piped = "phone,country\n07911 000666,GB\n0171 2345678,DE\n";
    let added = add.stdin(piped.as_bytes()).expect(0).json();
    assert_eq!(added["added"], 2);
    let list = suppress(&folder, &["list", "--format", "json"]).json();
    assert_eq!(list["numbers"][0]["phone_number"], STOP);
    assert_eq!(list["numbers"][1]["phone_number"], "+491712345678");
}

#[test]
fn without_a_ledger_there_is_no_list() {
    let folder = Folder::new();
    let output = folder
        .leadload(&["suppress", "list", "--ledger", "none"])
        .expect(2);
    output.tells("`none`");
    let missing = ["suppress", "list", "--ledger", "gone.sqlite3"];
    folder.leadload(&missing).expect(2).tells("`gone.sqlite3`");
    let removing = [
        "suppress",
        "remove",
        "--number",
        STOP,
        "--ledger",
        "gone.sqlite3",
    ];
    folder.leadload(&removing).expect(2);
    assert!(!PathBuf::from("gone.sqlite3").exists());
}

#[test]
fn check_says_who_is_left_out_and_how_long_the_list_is() {
    let folder = Folder::with_leads(LIST);
    stop(&folder);
    let check = folder.leadload(&["check", "leads.csv"]).expect(0);
    check.shows("leadload keeps, 1 number");
    let check = folder
        .leadload(&["check", "leads.csv", "--format", "json"])
        .expect(0);
    assert_eq!(check.json()["counts"]["suppressed"], 1);
    assert_eq!(check.json()["kept_do_not_call"], 1);
}

#[test]
fn forgetting_a_number_leaves_it_on_the_list() {
    let folder = Folder::with_leads(LIST);
    let service = scenario(KEEPS_BODIES);
    folder.import_leads(&service, &[]).expect(0);
    stop(&folder);
    let before = numbers(&service).len();
    folder
        .leadload(&["runs", "forget", "--number", STOP, "--yes"])
        .expect(0);
    folder
        .leadload(&["runs", "forget", "last", "--yes"])
        .expect(0);
    let calm = crate::util::replaced(service, KEEPS_BODIES);
    folder.import_leads(&calm, &[]).expect(0);
    is_not_called(&calm, 0);
    assert_eq!(before, 3);
}

#[test]
fn under_quiet_nothing_is_said_of_a_change_and_the_list_is_printed() {
    let folder = Folder::new();
    for command in ["add", "remove"] {
        let changed = suppress(&folder, &[command, "--number", STOP, "-q"]);
        assert_eq!((&*changed.stdout, &*changed.stderr), ("", ""), "{command}");
    }
    stop(&folder);
    suppress(&folder, &["list", "-q"]).shows(STOP);
}
