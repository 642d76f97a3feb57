//! Lists that are modified while they are sent.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use leadload::sandbox::Sandbox;

use crate::util::{Folder, Output, contacts, number, scenario, service_with, wait_for_requests};

/// More rows than are read ahead. Their lines have the same length in every list.
const ROWS: usize = 60_000;

/// Overwrites the list as an export program does: the same file with the
/// same length, but with other people.
fn overwrite(path: &Path) {
    let text = fs::read_to_string(path).unwrap().replace("+4479", "+4474");
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// The same, and makes the file look as old as before.
#[cfg(unix)]
fn overwrite_secretly(path: &Path) {
    let before = fs::metadata(path).unwrap().modified().unwrap();
    overwrite(path);
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.set_modified(before).unwrap();
}

fn append(path: &Path) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(b"+447400000001,New\n").unwrap();
}

fn replace(path: &Path) {
    let other = path.with_extension("new");
    fs::write(
        &other,
        fs::read_to_string(path).unwrap().replace("+4479", "+4474"),
    )
    .unwrap();
    fs::rename(other, path).unwrap();
}

/// The result of an import whose list is changed after some rows have been sent.
fn changed(folder: &Folder, service: &Sandbox, change: fn(&Path), flags: &[&str]) -> Output {
    let flags = [&["--concurrency", "1", "--format", "json"], flags].concat();
    let child = folder.import_leads(service, &flags).start();
    wait_for_requests(service, 5);
    change(&folder.path("leads.csv"));
    let sent = service.stats().lead_requests;
    let output = Output::of(child);
    assert_eq!(output.code, 5, "{}", output.stderr);
    assert_eq!(output.json()["stopped_by"], "input");
    output.tells("`leads.csv`");
    let after = service.stats().lead_requests - sent;
    // One was in flight, and one was released while the file was being written.
    assert!(after <= 2, "{after} rows were sent after the change");
    let others = service
        .leads()
        .iter()
        .filter(|lead| lead.phone_number.starts_with("+4474"))
        .count();
    assert_eq!(others, 0, "people of another list");
    output
}

#[test]
fn no_row_is_sent_of_a_list_that_is_overwritten_appended_to_or_replaced_meanwhile() {
    for change in [overwrite, append, replace] {
        let folder = Folder::with_leads(&contacts(ROWS));
        let service = scenario("latency_ms = 20");
        let output = changed(&folder, &service, change, &[]);
        assert_eq!(output.json()["complete"], false);
    }
}

/// Windows has no time of a change that every program can read and none can set back.
#[cfg(unix)]
#[test]
fn nor_of_a_list_that_is_overwritten_with_as_many_bytes_and_then_has_its_old_time() {
    for (rows, flags) in [(ROWS, &[][..]), (100, &[]), (100, &["--ledger", "none"])] {
        let folder = Folder::with_leads(&contacts(rows));
        let service = scenario("latency_ms = 20");
        changed(&folder, &service, overwrite_secretly, flags);
    }
}

#[test]
fn a_list_that_only_looks_changed_is_sent_to_its_end() {
    let touch = |path: &Path| {
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.set_modified(std::time::SystemTime::now()).unwrap();
    };
    let link = |path: &Path| fs::hard_link(path, path.with_extension("backup")).unwrap();
    let copy = |path: &Path| {
        let other = path.with_extension("new");
        fs::copy(path, &other).unwrap();
        fs::rename(other, path).unwrap();
    };
    let looks: [fn(&Path); 3] = [touch, link, copy];
    for ledger in [&[][..], &["--ledger", "none"]] {
        let folder = Folder::with_leads(&contacts(60));
        let service = scenario("latency_ms = 10");
        let flags = [&["--concurrency", "1"], ledger].concat();
        let child = folder.import_leads(&service, &flags).start();
        for (requests, change) in (5..).step_by(15).zip(looks) {
            wait_for_requests(&service, requests);
            change(&folder.path("leads.csv"));
        }
        let output = Output::of(child);
        assert_eq!(output.code, 0, "{}", output.stderr);
        assert_eq!(service.leads().len(), 60);
    }
}

#[test]
fn rows_that_were_read_before_the_list_was_changed_are_not_sent_either() {
    for flags in [&[][..], &["--limit", "50"]] {
        let folder = Folder::with_leads(&contacts(100));
        let service = scenario("latency_ms = 20");
        changed(&folder, &service, overwrite, flags);
    }
}

#[test]
fn a_list_that_is_as_it_was_goes_on_with_the_same_command() {
    let list = contacts(300);
    let folder = Folder::with_leads(&list);
    let service = scenario("latency_ms = 5");
    changed(&folder, &service, overwrite, &[]);
    folder.write("leads.csv", &list);
    let output = folder
        .import_leads(&service, &["--concurrency", "1"])
        .expect(0);
    output.tells("run 1 continues");
    let leads = service.leads();
    assert_eq!(leads.len(), 300);
    assert!(leads.iter().any(|lead| lead.phone_number == number(299)));
    assert_eq!(service.stats().lead_requests, 300);
}

#[test]
fn without_a_ledger_too() {
    let folder = Folder::with_leads(&contacts(ROWS));
    let service = service_with(toml_edit::de::from_str("latency_ms = 20").unwrap());
    changed(&folder, &service, overwrite, &["--ledger", "none"]);
}
