//! The ledger of every released version opens in this one, and its runs go on. The files are in
//! `tests/data/ledgers`, a folder for each version and for a format from before the first release
//! that is taken over too; `packaging/keep-ledger` made them, with a service at the port that is
//! used here: a run belongs to an address.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::util::{Folder, scenario_at};

pub fn versions() -> Vec<PathBuf> {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/ledgers");
    let versions = fs::read_dir(kept).unwrap();
    versions.map(|version| version.unwrap().path()).collect()
}

/// A folder with a copy of what is kept of a version.
pub fn copied(version: &Path) -> Folder {
    let folder = Folder::new();
    for name in ["complete.csv", "killed.csv", "export.csv"] {
        folder.write(name, fs::read(version.join(name)).unwrap());
    }
    let ledger = folder.ledger();
    fs::create_dir_all(ledger.parent().unwrap()).unwrap();
    fs::copy(version.join("ledger.sqlite3"), ledger).unwrap();
    folder
}

/// The ids of leads by number.
fn leads(folder: &Folder, results: &str) -> BTreeMap<String, String> {
    let records = folder.records(results).into_iter();
    let made = records.filter(|record| !record["lead_id"].is_empty());
    made.map(|record| (record["phone_number"].clone(), record["lead_id"].clone()))
        .collect()
}

#[test]
fn there_is_a_ledger_of_this_version() {
    let this = std::ffi::OsStr::new(env!("CARGO_PKG_VERSION"));
    assert!(versions().iter().any(|kept| kept.file_name() == Some(this)));
}

#[test]
fn a_ledger_of_every_released_version_says_what_it_said_then() {
    for version in versions() {
        let folder = copied(&version);
        let export = ["runs", "export", "--results", "now.csv"];
        folder.leadload(&export).expect(0);
        let then = folder.read("export.csv");
        // Columns that came later are left out.
        for column in then.lines().next().unwrap().split(',') {
            let [now, then] = ["now.csv", "export.csv"].map(|file| folder.column(file, column));
            assert_eq!(now, then, "{} {column}", version.display());
        }
    }
}

#[test]
fn runs_of_every_released_version_go_on_and_send_nothing_twice() {
    for version in versions() {
        let folder = copied(&version);
        let before = leads(&folder, "export.csv");
        let service = scenario_at("127.0.0.1:18089".parse().unwrap(), "");
        let import = |list| folder.import(&service, &[list, "--campaign", "101"]);

        let complete = import("complete.csv").expect(1);
        let statuses = folder.column("complete.results.csv", "status");
        let mut expected = ["already_imported"; 9].to_vec();
        expected.extend(["repeated", "invalid"]);
        assert_eq!(statuses, expected, "{}", complete.stderr);
        assert_eq!(service.stats().lead_requests, 0);

        import("killed.csv").expect(0);
        let statuses = folder.column("killed.results.csv", "status");
        assert_eq!(statuses, ["created"; 300]);
        let mut after = leads(&folder, "complete.results.csv");
        after.extend(leads(&folder, "killed.results.csv"));
        for (number, id) in &before {
            assert_eq!(after[number], *id, "{number}");
        }
        let sent_again = 309 - before.len() as u64;
        assert_eq!(service.stats().lead_requests, sent_again);
    }
}
