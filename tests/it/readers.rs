//! Reading commands change nothing: no byte, no time, no permission and no name beside the ledger. They
//! read ledgers of all kept formats, and work on read-only media.

use std::fs;
use std::path::PathBuf;

use crate::cluster::Cluster;
use crate::kept_ledgers::{copied, versions};
use crate::shared_ledger::{import, with_ledger};
use crate::util::{
    Folder, Output, Run, contacts, kill, scenario, service, state_of, wait_for_requests,
};

/// The reading commands, in a folder with these leads.
fn reading(list: &str) -> Vec<Vec<&str>> {
    let check = ["check", list, "--campaign", "101", "--format", "json"];
    let dry_run = ["import", list, "--campaign", "101", "--dry-run"];
    vec![
        check.to_vec(),
        dry_run.to_vec(),
        vec!["runs"],
        vec!["runs", "list", "--format", "json"],
        vec!["runs", "show", "last", "--format", "json"],
        vec!["runs", "export", "--results", "-"],
        vec!["suppress", "list"],
    ]
}

fn ledgers_folder(folder: &Folder) -> PathBuf {
    folder.ledger().parent().unwrap().to_owned()
}

/// Runs a command as it is, and where the ledger is read-only. Returns its exit code and what it says of
/// the ledger, which are the same.
#[track_caller]
fn twice(folder: &Folder, args: &[&str], prepared: impl Fn(Run) -> Run) -> (i32, String) {
    let place = ledgers_folder(folder);
    let before = state_of(&place);
    let here = prepared(folder.leadload(args)).output();
    let read_only = prepared(folder.with_read_only_ledger(args)).output();
    assert!(state_of(&place) == before, "{args:?} changed something");
    let says = |output: Output| match args[0] {
        "check" => (output.code, output.json()["counts"].to_string()),
        // Its estimate depends on the time of day.
        "import" => (output.code, String::new()),
        _ => (output.code, output.stdout),
    };
    let stderr = read_only.stderr.clone();
    let [here, read_only] = [here, read_only].map(says);
    assert_eq!(here, read_only, "{args:?}: {stderr}");
    here
}

#[test]
fn a_ledger_of_every_released_version_is_read_and_stays_as_it_is() {
    for version in versions() {
        let folder = copied(&version);
        let at = |run: Run| run.env("LEADLOAD_BASE_URL", "http://127.0.0.1:18089");
        let rows = folder.read("export.csv").lines().count();
        for command in reading("complete.csv") {
            let (code, printed) = twice(&folder, &command, at);
            let expected = i32::from(command.contains(&"complete.csv"));
            assert_eq!(code, expected, "{command:?}: {printed}");
            match command[..] {
                ["check", ..] => assert!(printed.contains(r#""already_imported":9"#), "{printed}"),
                ["runs", "export", ..] => assert_eq!(printed.lines().count(), rows, "{printed}"),
                ["runs", "show", ..] => assert!(printed.contains("killed.csv"), "{printed}"),
                _ => {}
            }
        }
        let names = fs::read_dir(ledgers_folder(&folder)).unwrap().count();
        assert_eq!(names, 1, "only the ledger is there");
    }
}

#[test]
fn a_dry_run_of_undo_leaves_a_ledger_of_every_released_version_as_it_is() {
    let service = scenario("");
    for version in versions() {
        let folder = copied(&version);
        let before = state_of(&ledgers_folder(&folder));
        let dry_run = folder.leadload(&["runs", "undo", "1", "--dry-run"]);
        dry_run.at(&service).expect(2).tells("run 1 ");
        assert!(state_of(&ledgers_folder(&folder)) == before, "{version:?}");
    }
}

/// The log has what the file does not. A copy may have been made without the log's index.
#[test]
fn what_a_killed_run_has_left_is_read_and_stays_as_it_is() {
    let folder = Folder::with_leads(&contacts(40));
    let service = scenario("latency_ms = 100");
    let slow = ["--concurrency", "1"];
    let child = folder.import_leads(&service, &slow).start();
    wait_for_requests(&service, 3);
    kill(child);
    let export = ["runs", "export", "--results", "-"];
    let (_, exported) = twice(&folder, &export, |run| run);
    assert!(exported.contains(",created,"), "{exported}");
    assert!(exported.contains(",uncertain,"), "{exported}");
    for is_without_index in [false, true] {
        if is_without_index {
            let index = folder.ledger().with_file_name("ledger.sqlite3-shm");
            fs::remove_file(index).unwrap();
        }
        for command in reading("leads.csv") {
            let (code, printed) = twice(&folder, &command, |run| run.at(&service));
            assert_eq!(code, 0, "{command:?}: {printed}");
            if command == export {
                assert_eq!(printed, exported);
            }
        }
    }
}

#[test]
fn a_run_that_is_sending_is_read_also_where_nothing_can_be_written_and_is_not_disturbed() {
    let folder = Folder::with_leads(&contacts(30));
    let service = scenario("latency_ms = 100");
    let slow = ["--concurrency", "1"];
    let child = folder.import_leads(&service, &slow).start();
    wait_for_requests(&service, 2);
    for command in reading("leads.csv") {
        for run in [
            folder.leadload(&command),
            folder.with_read_only_ledger(&command),
        ] {
            run.at(&service).expect(0);
        }
    }
    let ended = Output::of(child);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(service.stats().created, 30);
    assert_eq!(service.stats().lead_requests, 30);
}

/// To read the tables as they would be, runs would have to be stopped meanwhile.
#[test]
fn a_shared_ledger_of_an_older_version_stays_as_it_is_and_its_readers_say_what_to_do() {
    let Some(database) = Cluster::database() else {
        return;
    };
    let folder = Folder::with_leads(&contacts(2));
    let service = service();
    import(&folder, &service, &database, &[]).expect(0);
    let version = "SELECT version FROM leadload.about";
    let current = database.sql(version);
    database.sql("UPDATE leadload.about SET version = version - 1");
    let older = database.sql(version);
    for command in reading("leads.csv") {
        let run = with_ledger(folder.leadload(&command).at(&service), &database);
        if command.contains(&"leads.csv") {
            let checked = run.expect(0);
            checked.tells("older version");
        } else {
            let refused = run.expect(5);
            refused.tells("older version");
        }
        assert_eq!(database.sql(version), older);
    }
    database.sql("UPDATE leadload.about SET version = version + 1");
    assert_eq!(database.sql(version), current);
    for command in reading("leads.csv") {
        with_ledger(folder.leadload(&command).at(&service), &database).expect(0);
    }
}
