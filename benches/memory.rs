//! How much memory a check and an import take, of 64 MiB and 16 bytes for each number, and
//! how fast they are: by the number of rows, and where much has to be kept. Of memory only
//! Linux tells.
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
const MAX_SENT: usize = 1_000_000;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    for rows in ROWS {
        by_number_of_rows(folder.path(), rows);
    }
    of_long_rows(folder.path());
    behind_a_row_in_backoff(folder.path());
    after_kills(folder.path());
}

fn by_number_of_rows(folder: &Path, rows: usize) {
    let leads = folder.join("leads.csv");
    write_contacts(&leads, rows);
    let mut check = leadload();
    check.arg("check").arg(&leads);
    measure(&format!("check of {rows} rows"), rows, &mut check);
    let service = Service::start();
    let path = folder.join(format!("{rows}.ledger"));
    let mut ledger = NewLedger::create(&path, &service.url, phone);
    ledger.send(0..rows as u64);
    let file = path.metadata().unwrap().len() >> 20;
    println!("  (a ledger of {rows} leads: {file} MiB)");
    let mut import = common::import(&service.url, &leads, &path);
    measure(&format!("import of {rows} settled rows"), rows, &mut import);
    if rows <= MAX_SENT {
        let new = folder.join(format!("{rows}.new"));
        let mut import = common::import(&service.url, &leads, &new);
        import.args(["--rate", "none"]);
        measure(&format!("import of {rows} rows, sent"), rows, &mut import);
    }
}

type Row = fn(usize) -> String;

/// Rows nearly as long as a row may be, with answers that take their time.
fn of_long_rows(folder: &Path) {
    const ROWS: usize = 200;
    const LONG: usize = 900_000;
    let service = Service::start_with(&["--latency", "200ms"]);
    let leads = folder.join("long.csv");
    let kinds: [(&str, Row); 5] = [
        ("cells of 900 KB", |i| {
            format!("{},{}", number(i), "a".repeat(LONG))
        }),
        ("90 cells of 10 KB", |i| {
            let cells = vec!["a".repeat(LONG / 90); 90];
            format!("{},{}", number(i), cells.join(","))
        }),
        ("cells of 900 KB of control characters", |i| {
            format!("{},{}", number(i), "\u{1}".repeat(LONG))
        }),
        ("16,384 cells, all but one empty", |i| {
            format!("{}{}", number(i), ",".repeat(16_383))
        }),
        ("phone cells of 900 KB", |_| {
            format!("{},x", "a".repeat(LONG))
        }),
    ];
    for (kind, row) in kinds {
        let mut file = BufWriter::new(File::create(&leads).unwrap());
        let columns = row(0).matches(',').count();
        let header: String = (1..=columns).map(|column| format!(",c{column}")).collect();
        writeln!(file, "phone{header}").unwrap();
        (0..ROWS).for_each(|i| writeln!(file, "{}", row(i)).unwrap());
        file.flush().unwrap();
        let mut check = leadload();
        check.arg("check").arg(&leads);
        measure(&format!("check of {kind}"), ROWS, &mut check);
        let mut import = common::import(&service.url, &leads, &folder.join(kind));
        import.args(["--rate", "none", "--concurrency", "64", "--keep", "2"]);
        measure(&format!("import of {kind}"), ROWS, &mut import);
    }
}

/// Wide rows wait to be written until one of them, which is never answered as it should be,
/// has had all its attempts.
fn behind_a_row_in_backoff(folder: &Path) {
    const ROWS: usize = 600_000;
    let leads = folder.join("wide.csv");
    write_wide_contacts(&leads, ROWS);
    let scenario = folder.join("scenario.toml");
    let failing = number(1000);
    let rule = format!("[[rule]]\nphone_number = '{failing}'\nreply = {{ status = 500 }}\n");
    fs::write(&scenario, rule).unwrap();
    let service = Service::start_with(&["--scenario", scenario.to_str().unwrap()]);
    let mut import = common::import(&service.url, &leads, &folder.join("wide.ledger"));
    import.args(["--rate", "none", "--max-attempts", "5"]);
    let what = format!("import of {ROWS} rows of 13 cells, one in backoff");
    measure(&what, ROWS, &mut import);
}

/// What is on file of half of the rows, with texts for many, comes back at once.
fn after_kills(folder: &Path) {
    const ROWS: usize = 262_000;
    let leads = folder.join("killed.csv");
    write_contacts(&leads, ROWS);
    let service = Service::start_with(&["--share-500", "5%", "--drop-after", "5%"]);
    let ledger = folder.join("killed.ledger");
    let import = || {
        let mut import = common::import(&service.url, &leads, &ledger);
        import.args(["--rate", "none", "--concurrency", "64"]);
        import
    };
    for _ in 0..2 {
        let mut child = import().stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_secs(3));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let what = format!("import of {ROWS} rows, after two kills, a tenth of the answers lost");
    measure(&what, ROWS, &mut import());
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

fn write_wide_contacts(path: &Path, rows: usize) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let header: String = (1..=12).map(|column| format!(",answer_{column}")).collect();
    writeln!(file, "phone{header}").unwrap();
    for i in 0..rows {
        let cells: String = (1..=12)
            .map(|column| format!(",answer {column} of row {i}"))
            .collect();
        writeln!(file, "{}{cells}", number(i)).unwrap();
    }
    file.flush().unwrap();
}

/// Each row has a number of its own.
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
    // Or some rows have failed.
    assert!(
        matches!(status.code(), Some(0 | 1)),
        "{command:?}: {status}"
    );
    let pace = rows as f64 / began.elapsed().as_secs_f64();
    match memory {
        Some(kib) => {
            let may_take = 64 + ((rows * 16) >> 20);
            println!(
                "  {what}: {} of {may_take} MiB, {pace:.0} rows/s",
                kib >> 10
            );
        }
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
