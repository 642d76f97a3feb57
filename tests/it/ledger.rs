//! The ledger as its users see it: runs that continue, runs that are
//! refused, and a machine that fails.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::Child;
use std::time::{Duration, Instant};

use leadload::ledger::this_user_here;
use leadload::sandbox::Sandbox;

use crate::transcript::without_tags;
use crate::util::{Folder, Output, contacts, kill, scenario, service, signal, wait_for_requests};

/// A slow service, and an import of a few rows that is running.
fn at_work(folder: &Folder, rows: usize, args: &[&str]) -> (Sandbox, Child) {
    folder.write("leads.csv", contacts(rows));
    let service = scenario("latency_ms = 300");
    let child = folder
        .import_leads(&service, &[&["--concurrency", "1"], args].concat())
        .start();
    wait_for_requests(&service, 2);
    (service, child)
}

#[test]
fn a_second_sender_says_who_is_at_it_and_one_that_waits_goes_on_afterwards() {
    let folder = Folder::new();
    let (service, child) = at_work(&folder, 6, &[]);
    folder.write("other.csv", "phone\n+447911900001\n");
    let other = ["other.csv", "--campaign", "101"];
    let refused = folder.import(&service, &other).expect(6);
    assert_eq!(refused.stdout, "");
    let (process, (host, user)) = (child.id(), this_user_here());
    for named in ["run 1", &process.to_string(), &user, &host] {
        refused.tells(named);
    }
    assert_eq!(
        service
            .leads()
            .iter()
            .filter(|l| l.phone_number == "+447911900001")
            .count(),
        0
    );
    // Commands that only read do not have to wait.
    folder.leadload(&["runs"]).expect(0);
    folder.leadload(&["runs", "show"]).expect(0);
    folder
        .leadload(&["check", "other.csv"])
        .at(&service)
        .expect(0);

    folder
        .import(&service, &[&other[..], &["--wait"]].concat())
        .expect(0);
    let first = Output::of(child);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert_eq!(service.leads().len(), 7);
}

#[test]
fn the_time_in_which_another_run_is_sent_is_not_counted() {
    let folder = Folder::new();
    let (service, mut first) = at_work(&folder, 6, &[]);
    folder.write("other.csv", "phone\n+447911900001\n");
    let other = "other.csv --campaign 101 --wait --format json --log-format json";
    let other: Vec<&str> = other.split(' ').collect();
    let began = Instant::now();
    let mut second = folder.import(&service, &other).start();
    let mut stderr = BufReader::new(second.stderr.take().unwrap()).lines();
    assert!(stderr.any(|line| line.unwrap().contains(r#""event":"waiting""#)));
    let waiting = Instant::now();
    first.wait().unwrap();
    let waited = waiting.elapsed().as_secs_f64();
    let second = Output::of(second);
    let all = began.elapsed().as_secs_f64();
    let elapsed = second.json()["elapsed_s"].as_f64().unwrap();
    // The first run may have ended a little before its process did.
    assert!(
        elapsed + waited / 2.0 <= all,
        "{elapsed} s of {all} s, {waited} s of them waiting"
    );
}

#[test]
fn a_check_after_a_crash_knows_what_was_sent() {
    let folder = Folder::with_leads(&contacts(400));
    let service = scenario("latency_ms = 2");
    let child = folder
        .import_leads(&service, &["--concurrency", "2"])
        .start();
    wait_for_requests(&service, 100);
    kill(child);
    let output = folder
        .leadload(&[
            "check",
            "leads.csv",
            "--campaign",
            "101",
            "--format",
            "json",
        ])
        .at(&service)
        .expect(0);
    let counts = &output.json()["counts"];
    let known = counts["already_imported"].as_u64().unwrap();
    assert!((50..=400).contains(&known), "{counts}");
    assert_eq!(known + counts["ready"].as_u64().unwrap(), 400);
}

#[cfg(unix)]
#[test]
fn a_stopped_run_says_how_to_go_on_and_the_same_command_does() {
    let folder = Folder::new();
    let (service, child) = at_work(&folder, 6, &[]);
    signal(&child, "-TERM");
    let stopped = Output::of(child);
    assert_eq!(stopped.code, 4, "{}", stopped.stderr);
    let command = format!(
        "  {} import --rate none leads.csv --campaign 101 --concurrency 1\n",
        env!("CARGO_BIN_EXE_leadload")
    );
    assert!(stopped.stdout.ends_with(&command), "{}", stopped.stdout);
    let before = service.stats().lead_requests;
    assert_eq!(folder.records("leads.results.csv").len() as u64, before);

    folder
        .import_leads(&service, &["--concurrency", "1"])
        .expect(0);
    assert_eq!(folder.column("leads.results.csv", "status"), ["created"; 6]);
    assert_eq!(service.stats().lead_requests, 6, "nothing was sent twice");
    assert_eq!(folder.names(), ["leads.csv", "leads.results.csv"]);
}

#[test]
fn a_run_goes_on_however_fast_and_for_however_long_it_may_be_sent_now() {
    let folder = Folder::new();
    let (service, child) = at_work(&folder, 6, &[]);
    kill(child);
    let output = folder
        .leadload(&["import", "leads.csv", "--campaign", "101"])
        .args("--rate auto --concurrency auto --max-duration 2d --max-outage 90m --stop-after 3")
        .args("--format json")
        .at(&service)
        .expect(0);
    assert_eq!(output.json()["run"], 1);
    assert_eq!(service.leads().len(), 6);
}

#[test]
fn a_run_with_a_corrected_mapping_is_another_run_and_says_what_differs() {
    let folder = Folder::new();
    let (service, child) = at_work(&folder, 5, &["--set", "source=fare"]);
    kill(child);
    let output = folder
        .import_leads(&service, &["--set", "source=fair", "--format", "json"])
        .expect(0);
    assert_eq!(output.json()["run"], 2);
    output.tells("run 1");
    output.tells("--set");
}

#[test]
fn with_duplicates_allowed_a_list_is_not_sent_again_unless_that_is_said() {
    let folder = Folder::with_leads("phone\n+447911000001\n+447911000001\n");
    let service = service();
    let again = ["--allow-duplicates"];
    folder.import_leads(&service, &again).expect(0);
    assert_eq!(service.leads().len(), 2);
    // The list is recognized by its path, and by its content.
    fs::copy(folder.path("leads.csv"), folder.path("copy.csv")).unwrap();
    for file in ["leads.csv", "copy.csv"] {
        let refused = folder
            .import(&service, &[file, "--campaign", "101", "--allow-duplicates"])
            .expect(2);
        refused.tells("run 1 ");
    }
    folder.write("leads.csv", "phone\n+447911000002\n");
    folder.import_leads(&service, &again).expect(2);
    folder
        .import_leads(&service, &["--allow-duplicates", "--again"])
        .expect(0);
    assert_eq!(service.leads().len(), 3);
    // Without duplicates its leads count as made.
    folder.import_leads(&service, &[]).expect(0);
    assert_eq!(
        folder.column("leads.results.csv", "status"),
        ["already_imported"]
    );
}

#[test]
fn forgotten_people_count_as_new() {
    let folder = Folder::with_leads(&contacts(3));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let requests = || service.stats().lead_requests;
    folder
        .leadload(&["runs", "forget", "--number", "+447911000001", "--yes"])
        .expect(0);
    folder.import_leads(&service, &[]).expect(0);
    assert_eq!(requests(), 4);
    folder.leadload(&["runs", "forget", "1"]).expect(2);
    folder.leadload(&["runs", "forget", "1", "--yes"]).expect(0);
    folder.import_leads(&service, &[]).expect(0);
    // The lead that run 2 has sent is still known.
    assert_eq!(requests(), 6);
}

#[test]
fn rejects_need_no_flags_when_they_are_given_back() {
    let folder = Folder::with_leads("Handy;Name;Notiz\n0171 3920001;Ada;x\n0171-x;Bob;y\n");
    let service = service();
    let flags = [
        "--region",
        "DE",
        "--var",
        "who=Name",
        "--set",
        "source=fair",
    ];
    folder.import_leads(&service, &flags).expect(1);
    let rejects = folder.read("leads.rejects.csv");
    assert!(
        without_tags(&rejects).contains(";1-TAG\n"),
        "the run: {rejects}"
    );
    folder.write(
        "leads.rejects.csv",
        rejects.replace("0171-x;", "0171 3920002;"),
    );
    folder.import(&service, &["leads.rejects.csv"]).expect(0);
    let leads = service.leads();
    assert_eq!(leads.len(), 2);
    for (lead, name) in leads.iter().zip(["Ada", "Bob"]) {
        assert_eq!(lead.campaign_id, 101);
        assert_eq!(lead.variables["who"], name);
        assert_eq!(lead.variables["source"], "fair");
        assert_eq!(lead.variables.len(), 2);
    }
}

#[test]
fn rejects_of_an_unknown_run_are_recognized_and_need_all_their_flags() {
    let folder = Folder::new();
    let header =
        "phone,leadload_row,leadload_status,leadload_error_code,leadload_error,leadload_run";
    folder.write("r.csv", format!("{header}\n+447911000001,1,invalid,,,7\n"));
    let service = service();
    let refused = folder.import(&service, &["r.csv"]).expect(2);
    for named in [
        "run 7",
        "`--campaign`",
        "`--region`",
        "`--suppress`",
        "`--var`",
    ] {
        refused.tells(named);
    }
    assert_eq!(refused.stdout, "");
    let some = ["r.csv", "--campaign", "101", "--suppress", "none"];
    let refused = folder.import(&service, &some).expect(2);
    refused.tells("`--region`");
    refused.tells("`--var`");
    assert!(!refused.stderr.contains("`--campaign`"));
    assert_eq!(service.stats().lead_requests, 0);
    let all = [&some[..], &["--region", "none", "--var", "phone"]].concat();
    let sent = folder.import(&service, &all).expect(0);
    sent.tells("`r.csv`");
    assert_eq!(service.leads().len(), 1);
}

#[test]
fn rejects_of_a_run_that_was_pruned_or_forgotten_need_their_flags_and_say_why() {
    let folder = Folder::with_leads("phone\nx\n");
    let service = service();
    folder.import_leads(&service, &[]).expect(1);
    let run = folder.run_named_in("leads.rejects.csv");
    for (removal, why) in [
        (&["runs", "prune", "--older-than", "0s"][..], "pruned"),
        (&["runs", "forget", "1", "--yes"], &run),
    ] {
        folder.leadload(removal).expect(0);
        let refused = folder.import(&service, &["leads.rejects.csv"]).expect(2);
        refused.tells("`leads.rejects.csv`");
        refused.tells(why);
    }
}

#[test]
fn without_a_ledger_stderr_says_what_that_means() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    let output = folder
        .import_leads(&service, &["--ledger", "none"])
        .expect(0);
    output.tells(" WARN ");
    assert!(!folder.ledger().exists());
}

#[test]
fn outputs_that_the_user_changed_are_kept_and_others_are_replaced() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    folder.import_leads(&service, &[]).expect(0);
    assert_eq!(folder.names(), ["leads.csv", "leads.results.csv"]);
    let noted = folder.read("leads.results.csv") + "my note\n";
    folder.write("leads.results.csv", &noted);
    folder.import_leads(&service, &[]).expect(0);
    let names = folder.names();
    assert_eq!(names.len(), 3, "{names:?}");
    assert_eq!(folder.read(&names[1]), noted);
}

#[test]
fn a_file_that_is_no_ledger_is_left_alone() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    folder.write(
        "notes.txt",
        "not a database, and longer than a header of one: ".repeat(9),
    );
    let before = folder.read("notes.txt");
    let permissions = || {
        fs::metadata(folder.path("notes.txt"))
            .unwrap()
            .permissions()
    };
    let permissions_before = permissions();
    let output = folder
        .import_leads(&service, &["--ledger", "notes.txt"])
        .expect(5);
    assert_eq!(permissions(), permissions_before);
    output.tells("`notes.txt`");
    assert_eq!(folder.read("notes.txt"), before);
    assert_eq!(service.stats().lead_requests, 0);
}

#[test]
fn a_ledger_of_another_version_is_left_alone() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    for version in [1000, 3] {
        let db = rusqlite::Connection::open(folder.ledger()).unwrap();
        db.pragma_update(None, "user_version", version).unwrap();
        drop(db);
        let output = folder.import_leads(&service, &[]).expect(5);
        output.tells(&format!("format {version}"));
    }
    assert_eq!(service.stats().lead_requests, 2);
}

#[test]
fn a_damaged_ledger_stops_before_anything_is_sent() {
    let folder = Folder::with_leads(&contacts(500));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    let mut bytes = fs::read(folder.ledger()).unwrap();
    let middle = bytes.len() / 8;
    bytes[middle..].fill(0xa5);
    fs::write(folder.ledger(), bytes).unwrap();
    let before = service.stats().lead_requests;
    let output = folder.import_leads(&service, &[]).output();
    assert_eq!(output.code, 5, "{}", output.stderr);
    output.tells("damaged");
    assert_eq!(service.stats().lead_requests, before);
}

#[test]
fn a_ledger_that_another_program_has_locked_stops_before_anything_is_sent() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    folder.write("more.csv", contacts(3));
    let db = rusqlite::Connection::open(folder.ledger()).unwrap();
    db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let output = folder
        .import(&service, &["more.csv", "--campaign", "101"])
        .expect(5);
    output.tells("locked");
    assert_eq!(service.stats().lead_requests, 2);
}

/// Root can write there anyway.
#[cfg(unix)]
#[test]
fn a_ledger_in_a_read_only_folder_is_reported_before_anything_is_sent() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    let place = folder.path("closed");
    fs::create_dir(&place).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o500)).unwrap();
    let may_write = fs::write(place.join("probe"), "").is_ok();
    let run = folder.import_leads(&service, &["--ledger", "closed/ledger"]);
    if may_write {
        run.expect(0);
    } else {
        let refused = run.expect(5);
        refused.tells("`closed/ledger`");
        assert_eq!(service.stats().lead_requests, 0);
    }
    fs::set_permissions(&place, fs::Permissions::from_mode(0o700)).unwrap();
    // A path whose parent is a file is an error for every user.
    let refused = folder
        .import_leads(&service, &["--ledger", "leads.csv/ledger"])
        .expect(5);
    refused.tells("`leads.csv/ledger`");
}

#[cfg(unix)]
#[test]
fn the_ledger_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_leads(&contacts(2));
    folder.import_leads(&service(), &[]).expect(0);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.ledger()), 0o600);
    assert_eq!(mode(folder.ledger().parent().unwrap()), 0o700);
}

/// Files that grow beyond this many bytes cannot be written, as on a full disk.
#[cfg(unix)]
fn with_full_disk(folder: &Folder, service: &Sandbox, bytes: u64, args: &[&str]) -> Output {
    let script = format!(
        "trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"",
        bytes / 512
    );
    folder
        .through_shell(
            &script,
            &[
                &["import", "--rate", "none", "leads.csv", "--campaign", "101"],
                args,
            ]
            .concat(),
        )
        .at(service)
        .output()
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_for_the_results_stops_the_run_and_loses_nothing() {
    let count = 4000;
    let folder = Folder::new();
    // The lines are much longer than what the ledger stores about them.
    let note = "n".repeat(3000);
    let mut list = contacts(count);
    list = list.replacen("phone,name", "phone,name,note", 1);
    list = list.replace("\n+", &format!(",{note}\n+"));
    list = list.replacen(&format!("note,{note}\n"), "note\n", 1);
    let list = format!("{},{note}\n", list.trim_end());
    folder.write("leads.csv", list);
    let service = scenario("[[rule]]\nreply = { status = 422, body = '{\"message\":\"no\"}' }");
    let patient = ["--stop-after", "10000"];
    let full = with_full_disk(&folder, &service, 6_000_000, &patient);
    assert_eq!(full.code, 5, "{}\n{}", full.stdout, full.stderr);
    full.tells("leads.rejects.csv");
    let sent = service.stats().lead_requests;
    let output = folder
        .import_leads(&service, &["--format", "json", patient[0], patient[1]])
        .expect(1);
    assert_eq!(output.json()["counts"]["rejected"], count);
    assert_eq!(folder.records("leads.rejects.csv").len(), count);
    assert_eq!(
        service.stats().lead_requests,
        count as u64,
        "{sent} of them before"
    );
}

#[test]
fn a_ledger_that_fails_midway_leaves_the_last_results_alone() {
    let folder = Folder::new();
    let (service, child) = at_work(&folder, 6, &[]);
    kill(child);
    // A clean stop leaves results behind.
    let stopped = folder
        .import_leads(&service, &["--concurrency", "1", "--limit", "2"])
        .expect(0);
    stopped.shows("already_imported");
    let before = folder.read("leads.results.csv");
    let child = folder
        .import_leads(&service, &["--concurrency", "1", "--format", "json"])
        .start();
    let requests = service.stats().lead_requests;
    wait_for_requests(&service, requests + 1);
    let db = rusqlite::Connection::open(folder.ledger()).unwrap();
    db.busy_timeout(Duration::from_secs(5)).unwrap();
    db.execute_batch("DROP TABLE journal").unwrap();
    let failed = Output::of(child);
    assert_eq!(failed.code, 5, "{}", failed.stderr);
    let summary = failed.json();
    assert_eq!(summary["stopped_by"], "ledger");
    assert!(summary["results"].is_null());
    assert_eq!(folder.read("leads.results.csv"), before);
}

/// The unfinished results may be the only record of these leads.
#[track_caller]
fn assert_unfinished_results_list_all_leads(folder: &Folder, service: &Sandbox) {
    let names = folder.names();
    let is_aside = |name: &&String| name.starts_with("leads.results.csv.2");
    let aside: Vec<&String> = names.iter().filter(is_aside).collect();
    assert_eq!(aside.len(), 1, "{names:?}");
    let statuses = folder.column(aside[0], "status");
    let requests = service.stats().lead_requests as usize;
    assert_eq!(statuses, vec!["created"; requests]);
}

/// As when a backup is restored, or a program synchronizes two folders:
/// everything that is written to the old, replaced file is lost.
#[cfg(unix)]
#[test]
fn a_ledger_that_is_replaced_while_it_is_in_use_stops_the_run() {
    for beside in ["", "-wal"] {
        let folder = Folder::new();
        let (service, child) = at_work(&folder, 500, &[]);
        let mut place = folder.ledger().into_os_string();
        place.push(beside);
        let place = std::path::PathBuf::from(place);
        fs::copy(&place, folder.path("copy")).unwrap();
        fs::rename(folder.path("copy"), &place).unwrap();
        let requests = service.stats().lead_requests;
        let stopped = Output::of(child);
        assert_eq!(stopped.code, 5, "{}", stopped.stderr);
        stopped.tells("replaced");
        assert!(service.stats().lead_requests <= requests + 3, "{beside}");
        assert!(!stopped.stdout.contains("Results:"), "{}", stopped.stdout);
        assert_unfinished_results_list_all_leads(&folder, &service);
    }
}

/// Such as a database browser or a backup. When it closes the ledger it must not take itself for
/// the last one, which would delete the write-ahead log of the run.
#[test]
fn another_program_that_reads_the_ledger_does_not_disturb_a_run() {
    let folder = Folder::new();
    let (service, child) = at_work(&folder, 6, &[]);
    let db = rusqlite::Connection::open(folder.ledger()).unwrap();
    let runs = db.query_row("SELECT count(*) FROM runs", [], |row| row.get(0));
    assert_eq!(runs, Ok(1));
    db.close().unwrap();
    let ended = Output::of(child);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(service.stats().created, 6);
}

/// The write-ahead log that the run has written belongs to another file.
#[cfg(unix)]
#[test]
fn a_backup_that_is_restored_during_a_run_stays_as_it_is() {
    for is_copied in [true, false] {
        let folder = Folder::with_leads(&contacts(20));
        folder.import_leads(&service(), &[]).expect(0);
        let backup = ["runs", "copy", "--to", "backup"];
        folder.leadload(&backup).expect(0);
        let (service, child) = at_work(&folder, 500, &[]);
        if is_copied {
            fs::copy(folder.path("backup"), folder.ledger()).unwrap();
        } else {
            fs::copy(folder.path("backup"), folder.path("new")).unwrap();
            fs::rename(folder.path("new"), folder.ledger()).unwrap();
        }
        let stopped = Output::of(child);
        assert_eq!(stopped.code, 5, "{}", stopped.stderr);
        stopped.tells("replaced");
        stopped.tells("ledger.sqlite3-wal.2");
        assert!(service.stats().lead_requests < 20);
        let backup = fs::read(folder.path("backup")).unwrap();
        assert!(fs::read(folder.ledger()).unwrap() == backup, "{is_copied}");
        let runs = folder.leadload(&["runs", "--format", "json"]).expect(0);
        assert_eq!(runs.json()["runs"].as_array().unwrap().len(), 1);
        folder.import_leads(&self::service(), &[]).expect(0);
    }
}

/// The other ledger is at least as large, and is copied into the open file: for the file system
/// it is still the same file.
#[cfg(unix)]
#[test]
fn another_ledger_that_is_copied_over_the_open_one_stays_as_it_is() {
    let folder = Folder::with_leads(&contacts(800));
    let elsewhere = ["--ledger", "elsewhere"];
    folder.import_leads(&service(), &elsewhere).expect(0);
    let (service, child) = at_work(&folder, 500, &["--new-ledger"]);
    fs::copy(folder.path("elsewhere"), folder.ledger()).unwrap();
    let stopped = Output::of(child);
    assert_eq!(stopped.code, 5, "{}", stopped.stderr);
    stopped.tells("replaced");
    stopped.shows("the same command");
    assert!(service.stats().lead_requests < 20);
    assert_unfinished_results_list_all_leads(&folder, &service);
    let other = fs::read(folder.path("elsewhere")).unwrap();
    assert!(fs::read(folder.ledger()).unwrap() == other);
}

#[test]
fn runs_for_two_services_write_one_ledger_at_once() {
    let folder = Folder::with_leads(&contacts(12_000));
    let services = [service(), service()];
    let children = services.each_ref().map(|service| {
        let nothing = ["--results", "none", "--rejects", "none"];
        folder.import_leads(service, &nothing).start()
    });
    for child in children {
        let ended = Output::of(child);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
    for service in services {
        assert_eq!(service.leads().len(), 12_000);
    }
}

#[test]
fn a_ledger_of_which_only_the_log_is_left_is_not_replaced_by_a_new_one() {
    let folder = Folder::new();
    let (service, child) = at_work(&folder, 500, &[]);
    kill(child);
    fs::rename(folder.ledger(), folder.path("elsewhere")).unwrap();
    let requests = service.stats().lead_requests;
    let refused = folder.import_leads(&service, &[]).expect(5);
    refused.tells("damaged");
    folder.leadload(&["runs"]).expect(5);
    assert_eq!(service.stats().lead_requests, requests);
    fs::rename(folder.path("elsewhere"), folder.ledger()).unwrap();
    folder.leadload(&["runs"]).expect(0);
}

/// With duplicates allowed the service refuses none of the leads.
#[cfg(unix)]
#[test]
fn a_list_whose_run_the_ledger_has_lost_is_not_called_twice_without_a_word() {
    let folder = Folder::new();
    let duplicates = ["--allow-duplicates"];
    let (service, child) = at_work(&folder, 500, &duplicates);
    for file in ["ledger.sqlite3", "ledger.sqlite3-wal", "ledger.sqlite3-shm"] {
        fs::remove_file(folder.ledger().with_file_name(file)).unwrap();
    }
    assert_eq!(Output::of(child).code, 5);
    let requests = service.stats().lead_requests;
    let refused = folder.import_leads(&service, &duplicates).expect(2);
    refused.tells("`--again`");
    assert_eq!(service.stats().lead_requests, requests);
    let again = ["--allow-duplicates", "--again", "--limit", "1"];
    folder.import_leads(&service, &again).expect(0);
    assert_eq!(service.stats().lead_requests, requests + 1);
}

/// The first lines of the results are written once many rows are settled,
/// so a run that is killed early leaves only the header.
#[test]
fn a_list_that_a_killed_run_of_another_ledger_was_sending_is_not_called_twice_without_a_word() {
    for outputs in [&[][..], &["--results", "none"]] {
        let folder = Folder::with_leads(&contacts(50));
        let service = scenario("latency_ms = 200");
        let args = |ledger| {
            let args = [
                "--allow-duplicates",
                "--concurrency",
                "1",
                "--ledger",
                ledger,
            ];
            [&args[..], outputs].concat()
        };
        let child = folder.import_leads(&service, &args("a.db")).start();
        wait_for_requests(&service, 2);
        kill(child);
        let requests = service.stats().lead_requests;
        let refused = folder.import_leads(&service, &args("b.db")).expect(2);
        refused.tells("`--again`");
        assert_eq!(service.stats().lead_requests, requests);
    }
}

#[test]
fn a_ledger_that_is_cut_while_it_is_in_use_stops_the_run() {
    let folder = Folder::new();
    let (service, child) = at_work(&folder, 500, &[]);
    let ledger = File::options().write(true).open(folder.ledger()).unwrap();
    ledger.set_len(0).unwrap();
    let requests = service.stats().lead_requests;
    let stopped = Output::of(child);
    assert_eq!(stopped.code, 5, "{}", stopped.stderr);
    stopped.tells("replaced");
    assert!(service.stats().lead_requests <= requests + 3);
    assert_unfinished_results_list_all_leads(&folder, &service);
}

#[test]
fn an_empty_file_that_was_a_ledger_is_not_taken_for_a_new_one() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    folder.import_leads(&service, &[]).expect(0);
    File::create(folder.ledger()).unwrap();
    for command in ["import", "check"] {
        let line = [command, "leads.csv", "--campaign", "101"];
        let refused = folder.leadload(&line).at(&service).expect(5);
        refused.tells("damaged");
    }
    assert_eq!(service.stats().lead_requests, 2);
    // An empty file that was created beforehand counts as a new ledger.
    File::create(folder.path("new.db")).unwrap();
    let again = ["--new-ledger", "--ledger", "new.db"];
    folder.import_leads(&service, &again).expect(0);
}

#[test]
fn outputs_are_never_the_ledgers_files() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    folder
        .import_leads(&service, &["--ledger", "x.db"])
        .expect(0);
    for file in [
        "x.db",
        "x.db-wal",
        "x.db-journal",
        "x.db.sender-1",
        "./x.db",
    ] {
        for flag in ["--results", "--rejects"] {
            let refused = folder
                .import_leads(&service, &["--ledger", "x.db", flag, file])
                .expect(2);
            refused.tells(&format!("`{file}`"));
        }
        folder
            .leadload(&["runs", "export", "--ledger", "x.db", "--results", file])
            .expect(2);
    }
    // A name that only begins like the ledger's is not a file of the ledger.
    let results = [
        "--new-ledger",
        "--ledger",
        "leads",
        "--results",
        "leads-2026.csv",
    ];
    folder.import_leads(&service, &results[..3]).expect(0);
    folder.import_leads(&service, &results).expect(0);
}

#[test]
fn what_is_held_with_duplicates_allowed_is_sent_when_that_is_said() {
    let folder = Folder::with_leads(&contacts(6));
    let service = scenario("seed = 3\n[faults]\ndrop_after = 0.5");
    folder
        .import_leads(&service, &["--allow-duplicates"])
        .expect(1);
    let statuses = || folder.column("leads.results.csv", "status");
    let held = statuses()
        .iter()
        .filter(|status| *status == "uncertain")
        .count();
    assert!(held > 0);
    let before = service.stats().lead_requests;
    folder
        .import_leads(&service, &["--allow-duplicates"])
        .expect(2);
    folder
        .import_leads(
            &service,
            &[
                "--allow-duplicates",
                "--on-uncertain",
                "resend",
                "--format",
                "json",
            ],
        )
        .expect(0);
    assert_eq!(statuses(), ["created"; 6]);
    let again = service.stats().lead_requests - before;
    assert!(again >= held as u64, "{again} requests for {held} rows");
    let lost = folder.column("leads.results.csv", "error_code");
    assert_eq!(
        lost.iter().filter(|code| *code == "answer_lost").count(),
        held
    );
}

#[test]
fn rejects_go_to_no_other_service_by_themselves() {
    let folder = Folder::with_leads("phone\n+447911000001\nx\n");
    folder.import_leads(&service(), &[]).expect(1);
    let rejects = folder
        .read("leads.rejects.csv")
        .replace("x,", "+447911000002,");
    folder.write("leads.rejects.csv", rejects);
    let other = service();
    let refused = folder.import(&other, &["leads.rejects.csv"]).expect(2);
    refused.tells("run 1 ");
    assert_eq!(other.stats().lead_requests, 0);
}

#[test]
fn a_check_knows_the_campaign_by_the_name_that_was_imported() {
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    folder
        .import(&service, &["leads.csv", "--campaign", "Spring promo"])
        .expect(0);
    let output = folder
        .leadload(&[
            "check",
            "leads.csv",
            "--campaign",
            "Spring promo",
            "--format",
            "json",
        ])
        .at(&service)
        .expect(0);
    assert_eq!(output.json()["counts"]["already_imported"], 2);
}

// On other systems an open file cannot be deleted.
#[cfg(unix)]
#[test]
fn results_that_are_deleted_during_the_run_are_made_again() {
    let folder = Folder::new();
    let (service, child) = at_work(&folder, 6, &[]);
    fs::remove_file(folder.path("leads.results.csv.part")).unwrap();
    let output = Output::of(child);
    assert_eq!(output.code, 5, "{}", output.stderr);
    folder.import_leads(&service, &[]).expect(0);
    assert_eq!(folder.column("leads.results.csv", "status").len(), 6);
    assert_eq!(service.stats().lead_requests, 6);
}

#[test]
fn a_single_row_that_is_not_sent_is_reported_in_the_singular() {
    let (folder, service) = (Folder::with_leads("phone\n12\n"), service());
    folder.import_leads(&service, &[]).expect(1);
    let output = folder
        .import_leads(&service, &["--known-bad", "skip"])
        .expect(0);
    output.shows("1 row ");
}

#[test]
fn a_lead_that_a_run_has_made_stays_created_if_numbers_count_once_for_all_campaigns_now() {
    let mut list = "phone,campaign\n+447400123456,101\n+447400123456,102\n".to_owned();
    for at in 10..40 {
        list += &format!("+4474001235{at},101\n");
    }
    let folder = Folder::with_leads(&list);
    let service = scenario("latency_ms = 100");
    let import = |more: &[&str]| {
        let args = ["leads.csv", "--campaign-column", "campaign"];
        folder.import(&service, &[&args[..], more].concat())
    };
    import(&["--concurrency", "1", "--max-duration", "1s"]).expect(4);
    let lead_id = folder.column("leads.results.csv", "lead_id")[1].clone();
    assert_ne!(lead_id, "");
    import(&["--once", "service"]).expect(0);
    assert_eq!(folder.column("leads.results.csv", "status")[1], "created");
    assert_eq!(folder.column("leads.results.csv", "lead_id")[1], lead_id);
}

#[test]
fn a_results_file_is_refused_without_a_header_too() {
    let folder = Folder::with_leads("c-1,Ada,+447400123456\n");
    let service = service();
    folder.import_leads(&service, &["--no-header"]).expect(0);
    let own = [
        "leads.results.csv",
        "--no-header",
        "--phone-column",
        "3",
        "--campaign",
        "102",
    ];
    let refused = folder.import(&service, &own).expect(2);
    refused.tells("`*.csv`");
    assert_eq!(service.stats().lead_requests, 1);
}
