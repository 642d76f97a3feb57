//! `leadload runs copy`: backups of a ledger in use, and how far they can be used.

use std::collections::HashSet;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Child;

use leadload::sandbox::Sandbox;

#[cfg(unix)]
use crate::util::number;
use crate::util::{Folder, Output, contacts, scenario, service, wait_until};

/// The files that SQLite keeps next to a ledger that is in use.
fn beside(ledger: &Path) -> [PathBuf; 2] {
    ["-wal", "-shm"].map(|ending| {
        let mut name = ledger.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    })
}

/// Starts an import, and returns when it has made this many leads.
fn under_way(folder: &Folder, service: &Sandbox, leads: usize) -> Child {
    let one_by_one = ["--concurrency", "1"];
    let child = folder.import_leads(service, &one_by_one).start();
    wait_until("made", || service.leads().len() >= leads);
    child
}

#[test]
fn after_a_kill_the_import_goes_on_from_a_copy_and_nothing_is_lost_or_sent_twice() {
    const COUNT: usize = 400;
    let folder = Folder::with_leads(&contacts(COUNT));
    let service = scenario("latency_ms = 3");
    let mut import = under_way(&folder, &service, 100);
    import.kill().unwrap();
    import.wait().unwrap();
    let ledger = folder.ledger();
    let [log, index] = beside(&ledger);
    assert!(log.metadata().unwrap().len() > 0, "the log was left behind");

    let said = folder
        .leadload(&["runs", "copy", "--to", "copy.sqlite3"])
        .expect(0);
    assert!(said.stdout.starts_with("Copied 1 run ("), "{}", said.stdout);
    let of_copy = |name: &&String| name.starts_with("copy");
    assert_eq!(folder.names().iter().filter(of_copy).count(), 1);
    for file in [&ledger, &log, &index] {
        fs::remove_file(file).unwrap();
    }
    fs::rename(folder.path("copy.sqlite3"), &ledger).unwrap();

    folder.import_leads(&service, &[]).expect(0);
    let leads = service.leads();
    let numbers: HashSet<&String> = leads.iter().map(|lead| &lead.phone_number).collect();
    assert_eq!((leads.len(), numbers.len()), (COUNT, COUNT));
    // Rows that an earlier start had claimed are sent once more, and no other rows are.
    let requests = service.stats().lead_requests as usize;
    assert!(requests < COUNT + 100, "{requests}");
    let results = folder.records("leads.results.csv");
    assert_eq!(results.len(), COUNT);
    for row in results {
        let is_settled = matches!(row["status"].as_str(), "created" | "duplicate");
        assert!(is_settled, "{row:?}");
    }
    let runs = folder.leadload(&["runs", "--format", "json"]).expect(0);
    assert_eq!(runs.json()["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_copy_is_made_while_a_run_sends_and_is_a_ledger_like_any_other() {
    let folder = Folder::with_leads(&contacts(300));
    let service = scenario("latency_ms = 10");
    let import = under_way(&folder, &service, 50);
    let said = folder
        .leadload(&["runs", "copy", "--to", "copy", "--format", "json"])
        .expect(0)
        .json();
    assert!(service.leads().len() < 300, "the run is on its way");
    let bytes = folder.path("copy").metadata().unwrap().len();
    assert_eq!(
        said,
        serde_json::json!({ "copy": "copy", "runs": 1, "bytes": bytes })
    );
    let ended = Output::of(import);
    assert_eq!(ended.code, 0, "{}", ended.stderr);

    let of_copy = |args: &[&str]| {
        let run = folder.leadload(&[&["runs"], args].concat());
        run.env("LEADLOAD_LEDGER", "copy").expect(0)
    };
    of_copy(&["export", "--results", "copied.csv"]);
    let created = |name: &str| {
        let status = folder.column(name, "status");
        status.iter().filter(|s| *s == "created").count()
    };
    let copied = created("copied.csv");
    assert!((1..300).contains(&copied), "{copied}");
    // An import with the copy knows the copied rows, and asks the service about the others.
    folder
        .import_leads(&service, &[])
        .env("LEADLOAD_LEDGER", "copy")
        .expect(0);
    assert_eq!(created("leads.results.csv"), copied);
    assert_eq!(service.leads().len(), 300);
}

#[cfg(unix)]
#[test]
fn a_copy_is_its_owners_alone() {
    let folder = Folder::with_leads(&contacts(2));
    folder.import_leads(&service(), &[]).expect(0);
    folder.leadload(&["runs", "copy", "--to", "copy"]).expect(0);
    let mode = folder.path("copy").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_copy_replaces_nothing() {
    let folder = Folder::with_leads(&contacts(2));
    let ledger = "ledger.sqlite3";
    folder
        .import_leads(&service(), &["--ledger", ledger])
        .expect(0);
    let before = fs::read(folder.path(ledger)).unwrap();
    let ends = |code, to: &str| {
        let args = ["runs", "copy", "--ledger", ledger, "--to", to];
        folder.leadload(&args).expect(code).tells(to);
    };
    let refuse = |to: &str| ends(2, to);
    refuse(ledger);
    for ending in ["-wal", "-shm", "-journal", ".sender-9"] {
        refuse(&format!("{ledger}{ending}"));
    }
    refuse("leads.csv");
    refuse(".");
    ends(5, "nowhere/copy");
    folder
        .leadload(&["runs", "copy", "--ledger", ledger, "--to", "copy"])
        .expect(0);
    refuse("copy");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", folder.path("link")).unwrap();
        refuse("link");
        std::os::unix::fs::symlink(ledger, folder.path("ledger-link")).unwrap();
        refuse("ledger-link");
        fs::remove_file(folder.path("link")).unwrap();
        fs::remove_file(folder.path("ledger-link")).unwrap();
    }
    assert_eq!(fs::read(folder.path(ledger)).unwrap(), before);
    let names = folder.names();
    let left: Vec<&String> = names
        .iter()
        .filter(|name| name.ends_with(".part"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A limit on the size of files acts like a full disk and needs no special rights.
#[cfg(unix)]
#[test]
fn a_copy_that_the_disk_has_no_room_for_is_no_copy() {
    let folder = Folder::with_leads(&contacts(4000));
    folder.import_leads(&service(), &[]).expect(0);
    let before = folder.names();
    let script = "trap '' XFSZ; ulimit -f 128; exec \"$0\" \"$@\"";
    let output = folder
        .through_shell(script, &["runs", "copy", "--to", "copy"])
        .expect(5);
    output.tells("`copy`");
    assert_eq!(folder.names(), before);
}

/// What lies beside the place of a copy until it is complete.
const HALF: &str = "copy.leadload-copy";

/// A limit on the size of files kills it midway, where it has the numbers already.
#[cfg(unix)]
#[test]
fn what_a_killed_copy_leaves_goes_with_the_next_copy_prune_or_forget() {
    let folder = Folder::with_leads(&contacts(4000));
    folder.import_leads(&service(), &[]).expect(0);
    let before = folder.names();
    let script = "ulimit -c 0; ulimit -f 128; exec \"$0\" \"$@\"";
    let number = number(3999);
    for next in [
        &["copy", "--to", "copy"][..],
        &["copy", "--to", "other"],
        &["prune", "--older-than", "1d"],
        &["forget", "--number", &number, "--yes"],
    ] {
        let copy = ["runs", "copy", "--to", "copy"];
        let killed = folder.through_shell(script, &copy).output();
        assert_eq!((killed.code, killed.stderr.as_str()), (-1, ""), "{next:?}");
        let left = fs::read_dir(folder.path(HALF)).unwrap();
        let bytes = left.map(|file| file.unwrap().metadata().unwrap().len());
        assert!(bytes.sum::<u64>() > 0, "{next:?}");
        let of_others = fs::metadata(folder.path(HALF)).unwrap().permissions();
        assert_eq!(PermissionsExt::mode(&of_others) & 0o077, 0);
        folder.leadload(&[&["runs"], next].concat()).expect(0);
        for copy in ["copy", "other"] {
            let _ = fs::remove_file(folder.path(copy));
        }
        assert_eq!(folder.names(), before, "{next:?}");
    }
}

#[test]
fn a_copy_that_is_being_made_and_a_folder_of_somebody_else_are_left_alone() {
    let folder = Folder::with_leads(&contacts(1));
    folder.import_leads(&service(), &[]).expect(0);
    let copy = ["runs", "copy", "--to", "copy"];
    fs::create_dir(folder.path(HALF)).unwrap();
    let place = folder.path(HALF).join("leadload.lock");
    let lock = fs::File::create(&place).unwrap();
    lock.lock().unwrap();
    folder.leadload(&copy).expect(6);
    lock.unlock().unwrap();
    fs::rename(&place, folder.path(HALF).join("notes")).unwrap();
    folder.leadload(&copy).expect(5).tells("`copy`");
    assert!(folder.path(HALF).join("notes").exists());
    assert!(!folder.path("copy").exists());
}
