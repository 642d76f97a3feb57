//! What the ledger's files have to be before anything is sent: of one name each, and their owner's
//! alone.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use leadload::sandbox::Sandbox;

use crate::util::{Folder, Output, contacts, kill, scenario, service, wait_for_requests};

/// Every command that uses a ledger in its own way.
const COMMANDS: [&[&str]; 7] = [
    &["import", "leads.csv", "--campaign", "101"],
    &["check", "leads.csv", "--campaign", "101"],
    &["runs", "list"],
    &["runs", "export", "--results", "-"],
    &["runs", "copy", "--to", "copy.db"],
    &["suppress", "list"],
    &["suppress", "add", "--number", "+447911000001"],
];

/// An import that is running, with its ledger at `ledger.db`.
fn at_work(folder: &Folder) -> (Sandbox, Child) {
    folder.write("leads.csv", contacts(20));
    let service = scenario("latency_ms = 100");
    let slow = ["--concurrency", "1", "--ledger", "ledger.db"];
    let child = folder.import_leads(&service, &slow).start();
    wait_for_requests(&service, 2);
    (service, child)
}

/// A list that was sent with its ledger at `ledger.db`.
fn sent() -> (Folder, Sandbox) {
    let (folder, service) = (Folder::with_leads(&contacts(2)), service());
    let ledger = ["--ledger", "ledger.db"];
    folder.import_leads(&service, &ledger).expect(0);
    (folder, service)
}

/// The files of the ledger, its lock among them.
fn files(folder: &Folder) -> Vec<PathBuf> {
    let names = folder.names().into_iter();
    let of_ledger = names.filter(|name| name.starts_with("ledger.db"));
    of_ledger.map(|name| folder.path(&name)).collect()
}

fn set_mode(files: &[PathBuf], mode: u32) {
    for file in files {
        fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
    }
}

fn mode(file: &Path) -> u32 {
    file.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn a_ledger_with_a_hard_link_is_refused_by_either_name() {
    let (folder, service) = sent();
    fs::hard_link(folder.path("ledger.db"), folder.path("other.db")).unwrap();
    let before = folder.names();
    for name in ["ledger.db", "other.db"] {
        for command in COMMANDS {
            let refused = folder.leadload(command).at(&service);
            let refused = refused.env("LEADLOAD_LEDGER", name).expect(5);
            refused.tells("hard link");
        }
    }
    assert_eq!(folder.names(), before);
    assert_eq!(service.stats().lead_requests, 2);
    fs::remove_file(folder.path("other.db")).unwrap();
    let again = ["--ledger", "ledger.db"];
    folder.import_leads(&service, &again).expect(0);
}

fn make_pipe(place: &Path) {
    let made = Command::new("mkfifo").arg(place).status().unwrap();
    assert!(made.success());
}

/// Anybody who may write into the folder can put one there.
#[test]
fn a_pipe_or_a_link_in_place_of_the_ledger_or_beside_it_is_refused_and_nobody_waits_for_it() {
    let (folder, service) = sent();
    folder.write("precious", "mine");
    for ending in ["-wal", "-shm", "-journal", ".sender-1"] {
        let place = folder.path(&format!("ledger.db{ending}"));
        let make_pipe = || make_pipe(&place);
        let make_link = || symlink(folder.path("precious"), &place).unwrap();
        let make_hard_link = || fs::hard_link(folder.path("precious"), &place).unwrap();
        let made: [&dyn Fn(); 3] = [&make_pipe, &make_link, &make_hard_link];
        for (make, why) in made
            .into_iter()
            .zip(["regular file", "regular file", "hard link"])
        {
            let _ = fs::remove_file(&place);
            make();
            for command in COMMANDS {
                let refused = folder.leadload(command).at(&service);
                let refused = refused.env("LEADLOAD_LEDGER", "ledger.db").expect(5);
                refused.tells(why);
                refused.tells(&format!("ledger.db{ending}`"));
            }
        }
        fs::remove_file(&place).unwrap();
    }
    assert_eq!(folder.read("precious"), "mine");
    let makes: [fn(&Path); 2] = [make_pipe, |place| fs::create_dir(place).unwrap()];
    for make in makes {
        let _ = fs::remove_file(folder.path("ledger.db"));
        make(&folder.path("ledger.db"));
        for command in COMMANDS {
            let refused = folder.leadload(command).at(&service);
            let refused = refused.env("LEADLOAD_LEDGER", "ledger.db").expect(5);
            refused.tells("ledger.db`");
        }
    }
    assert_eq!(service.stats().lead_requests, 2);
}

#[test]
fn a_run_whose_lock_was_taken_away_sends_nothing_more() {
    for replaced in [false, true] {
        let folder = Folder::new();
        let (service, first) = at_work(&folder);
        let lock = folder.path("ledger.db.sender-1");
        fs::remove_file(&lock).unwrap();
        if replaced {
            fs::write(&lock, "").unwrap();
        }
        let ended = Output::of(first);
        assert_eq!(ended.code, 5, "{}", ended.stderr);
        ended.tells("ledger.db.sender-1`");
        assert!(service.stats().lead_requests < 20);
        let again = folder.import_leads(&service, &["--ledger", "ledger.db"]);
        again.expect(0);
        assert_eq!(service.leads().len(), 20);
    }
}

#[test]
fn a_ledger_that_others_can_write_to_is_read_with_a_warning() {
    let (folder, _service) = sent();
    for (mode, is_warned) in [(0o600, false), (0o644, false), (0o620, true), (0o602, true)] {
        set_mode(&[folder.path("ledger.db")], mode);
        let list = folder.leadload(&["runs", "list", "--ledger", "ledger.db"]);
        let stderr = list.expect(0).stderr;
        let warning = "`ledger.db`";
        assert_eq!(stderr.contains(warning), is_warned, "{mode:o}: {stderr}");
    }
}

#[test]
fn a_run_through_a_mount_of_the_ledgers_file_is_refused_while_another_is_sending() {
    let folder = Folder::new();
    let (service, first) = at_work(&folder);
    folder.write("mounted.db", "");
    let ledger = folder.path("ledger.db");
    let mounted = folder.path("mounted.db");
    let mount = format!(
        r#"mount --bind "{}" "{}""#,
        ledger.display(),
        mounted.display()
    );
    for command in COMMANDS {
        let refused = folder.with_mounts(&mount, command).at(&service);
        let refused = refused.env("LEADLOAD_LEDGER", "mounted.db").expect(5);
        refused.tells("mounted");
    }
    let first = Output::of(first);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert_eq!(service.stats().lead_requests, 20);
}

#[test]
fn a_ledger_in_a_folder_that_is_mounted_is_the_same_ledger() {
    let folder = Folder::new();
    let (service, first) = at_work(&folder);
    fs::create_dir(folder.path("mounted")).unwrap();
    let mount = format!(
        r#"mount --bind "{0}" "{0}/mounted""#,
        folder.path("").display()
    );
    folder.write("other.csv", "phone\n+447911900001\n");
    let command = ["import", "other.csv", "--campaign", "101"];
    let second = folder.with_mounts(&mount, &command).at(&service);
    let second = second.env("LEADLOAD_LEDGER", "mounted/ledger.db").expect(6);
    second.tells("run 1");
    kill(first);
}

/// SQLite keeps the log beside the file that a link leads to.
#[test]
fn a_link_to_a_ledger_of_which_only_the_log_is_left_makes_no_new_one() {
    let folder = Folder::new();
    let (service, first) = at_work(&folder);
    kill(first);
    let requests = service.stats().lead_requests;
    symlink("ledger.db", folder.path("link.db")).unwrap();
    fs::rename(folder.path("ledger.db"), folder.path("away")).unwrap();
    let link = ["--ledger", "link.db"];
    let refused = folder.import_leads(&service, &link).expect(5);
    refused.tells("damaged");
    assert_eq!(service.stats().lead_requests, requests);
    assert!(!folder.path("ledger.db").exists());
}

#[test]
fn a_ledger_that_others_could_use_is_made_private_with_all_files_beside_it() {
    let folder = Folder::new();
    let (service, first) = at_work(&folder);
    kill(first);
    let left = files(&folder);
    assert_eq!(left.len(), 4, "{left:?}");
    set_mode(&left, 0o666);
    let requests = service.stats().lead_requests;
    let slow = ["--concurrency", "1", "--ledger", "ledger.db"];
    let second = folder.import_leads(&service, &slow).start();
    wait_for_requests(&service, requests + 1);
    let modes: Vec<u32> = left.iter().map(|file| mode(file)).collect();
    assert_eq!(modes, [0o600; 4]);
    kill(second);
}

/// On media that refuse it; and as root without the right to change other people's files, which is how
/// a file of somebody else looks to any user.
#[test]
fn a_ledger_that_cannot_be_made_private_is_refused_before_anything_is_sent() {
    let folder = Folder::new();
    let (service, first) = at_work(&folder);
    kill(first);
    let requests = service.stats().lead_requests;
    let here = folder.path("");
    let read_only = format!(
        r#"mount --bind "{0}" "{0}"; mount -o remount,bind,ro "{0}"; cd "{0}""#,
        here.display()
    );
    let add = ["suppress", "add", "--number", "+447911000001"];
    let import = [
        "import",
        "leads.csv",
        "--campaign",
        "101",
        "--results",
        "none",
    ];
    for (file, mode) in files(&folder).iter().zip([0o604, 0o640, 0o620]) {
        set_mode(&files(&folder), 0o600);
        set_mode(std::slice::from_ref(file), mode);
        let refused = folder.with_mounts(&read_only, &add);
        let refused = refused.env("LEADLOAD_LEDGER", "ledger.db").expect(5);
        refused.tells("Read-only file system");
    }
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    if is_root {
        let own_by = |user, file: &Path| std::os::unix::fs::chown(file, user, user).unwrap();
        let left = files(&folder);
        for file in left
            .iter()
            .filter(|file| **file != folder.path("ledger.db"))
        {
            set_mode(&left, 0o600);
            own_by(Some(65_534), file);
            for command in COMMANDS {
                let refused = folder.leadload(command).at(&service);
                let refused = refused.env("LEADLOAD_LEDGER", "ledger.db").expect(5);
                refused.tells("another user");
            }
            own_by(Some(0), file);
        }
        set_mode(&left, 0o666);
        left.iter().for_each(|file| own_by(Some(65_534), file));
        let weaker = r#"exec setpriv --inh-caps=-fowner --bounding-set=-fowner "$0" "$@""#;
        for command in [&add[..], &import] {
            let refused = folder.through_shell(weaker, command).at(&service);
            let refused = refused.env("LEADLOAD_LEDGER", "ledger.db").expect(5);
            refused.tells("permission");
            refused.tells("`chmod 600`");
        }
    }
    assert_eq!(service.stats().lead_requests, requests);
}
