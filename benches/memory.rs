//! How much memory a check and an import take, and how fast they are, by the
//! number of rows. Of memory only Linux tells.
//!
//! `cargo bench --bench memory`

// A benchmark prints, and fails by panicking.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

mod common;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::ledger::NewLedger;
use common::service::Service;
use common::{leadload, number, phone};

const ROWS: [usize; 3] = [10_000, 1_000_000, 10_000_000];

/// More are not sent: it would take minutes.
const MOST_SENT: usize = 1_000_000;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let leads = folder.path().join("leads.csv");
    for rows in ROWS {
        write_contacts(&leads, rows);
        let mut check = leadload();
        check.arg("check").arg(&leads);
        measure(&format!("check of {rows} rows"), rows, &mut check);
        let service = Service::start();
        let path = folder.path().join(format!("{rows}.ledger"));
        let mut ledger = NewLedger::create(&path, &service.url, phone);
        ledger.send(0..rows as u64);
        let file = path.metadata().unwrap().len() >> 20;
        println!("  (a ledger of {rows} leads: {file} MiB)");
        let mut import = common::import(&service.url, &leads, &path);
        measure(&format!("import of {rows} settled rows"), rows, &mut import);
        if rows <= MOST_SENT {
            let new = folder.path().join(format!("{rows}.new"));
            let mut import = common::import(&service.url, &leads, &new);
            import.args(["--rate", "none"]);
            measure(&format!("import of {rows} rows, sent"), rows, &mut import);
        }
    }
}

/// As [`common::contacts`], which would hold all in memory, and this process with it.
fn write_contacts(path: &Path, rows: usize) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    writeln!(file, "phone,first_name,city").unwrap();
    for i in 0..rows {
        writeln!(file, "{},Name {i},Leeds", number(i)).unwrap();
    }
    file.flush().unwrap();
}

fn measure(what: &str, rows: usize, command: &mut Command) {
    let began = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The highest so far, read until it is over.
    let mut memory = None;
    let status = loop {
        memory = most_memory(&child).or(memory);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        sleep(Duration::from_millis(1));
    };
    assert!(status.success(), "{command:?}: {status}");
    let pace = rows as f64 / began.elapsed().as_secs_f64();
    match memory {
        Some(kib) => println!("  {what}: {} MiB, {pace:.0} rows/s", kib >> 10),
        None => println!("  {what}: {pace:.0} rows/s"),
    }
}

/// The most resident memory that a process has had, in KiB.
fn most_memory(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
