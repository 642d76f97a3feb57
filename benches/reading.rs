//! How fast rows are read and checked, for clean and for messy numbers, each beside
//! the `csv` crate reading the same file in the same run, since machines are noisy.
//!
//! `cargo bench --bench reading`

// A benchmark prints, and fails by panicking.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use leadload::intake::{InspectedInput, PlannedInput};
use leadload::lead::RowId;
use leadload::mapping::MappingSpec;
use leadload::source::{FormChoice, Input, Survey};

const ROWS: usize = 5_000_000;
const ROUNDS: usize = 3;
const BATCH_ROWS: usize = 2048;

/// Twice as many columns take twice as long.
const COLUMNS: [usize; 2] = [25_000, 50_000];

fn main() {
    let folder = tempfile::tempdir().unwrap();
    println!("{ROWS} rows, best of {ROUNDS} rounds each");
    for (kind, number) in [("clean", clean as fn(usize) -> String), ("messy", messy)] {
        let file = folder.path().join(format!("{kind}.csv"));
        fs::write(&file, contacts(number)).unwrap();
        println!("\n{kind} numbers:");
        let csv = best(|| csv_alone(&file));
        report("csv alone", csv, csv, &file);
        report("reading alone", best(|| read(&file)), csv, &file);
        report("surveying columns", best(|| survey(&file)), csv, &file);
        report("reading and mapping", best(|| map(&file)), csv, &file);
        report("the whole check", best(|| check(&file)), csv, &file);
    }
    println!();
    for columns in COLUMNS {
        let file = folder.path().join("columns.csv");
        fs::write(&file, with_columns(columns)).unwrap();
        let took = best(|| check(&file)).as_secs_f64();
        println!("a check of three rows with {columns} columns: {took:.2} s");
    }
}

/// Three rows with so many columns beside the phone number.
fn with_columns(columns: usize) -> String {
    let mut text = String::from("phone");
    (0..columns).for_each(|column| write!(text, ",c{column}").unwrap());
    for row in 0..3 {
        write!(text, "\n{}{}", clean(row), ",x".repeat(columns)).unwrap();
    }
    text
}

/// A number as a program writes it, each its own; not in order.
fn clean(row: usize) -> String {
    format!("+4474{:08}", shuffled(row))
}

/// Numbers as people write them, one way after the other.
fn messy(row: usize) -> String {
    let (a, b) = (shuffled(row) / 1_000_000, shuffled(row) % 1_000_000);
    match row % 6 {
        0 => format!("+4474{a:02}{b:06}"),
        1 => format!("074{a:02} {b:06}"),
        2 => format!("+44 (0)74{a:02} {b:06}"),
        3 => format!("004474{a:02}-{b:06}"),
        4 => format!("4474{a:02}{b:06}"),
        _ => format!("tel:+44 74{a:02} {b:06}"),
    }
}

/// Another number below a hundred million for each row, far from its neighbours'.
fn shuffled(row: usize) -> usize {
    row * 61_803_399 % 100_000_000
}

fn contacts(number: fn(usize) -> String) -> String {
    let mut text = String::from("phone,first_name,city\n");
    for row in 0..ROWS {
        writeln!(text, "{},Name {row},Leeds", number(row)).unwrap();
    }
    text
}

fn csv_alone(file: &Path) {
    let mut reader = csv::Reader::from_path(file).unwrap();
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).unwrap() {}
}

/// Finds the form out and splits every row.
fn read(file: &Path) {
    let input = Input::open(file).unwrap();
    let Survey::Text(form) = input.survey(&FormChoice::default()).unwrap() else {
        panic!("a list in text")
    };
    let mut reader = input.read(&form).unwrap();
    reader.read_header(&form).unwrap();
    while !reader
        .read_batch(0, RowId(1), BATCH_ROWS)
        .unwrap()
        .is_empty()
    {}
}

/// The same, and counts the filled cells and the values of every column.
fn survey(file: &Path) {
    let input = Input::open(file).unwrap();
    let surveyed = InspectedInput::new(input, &FormChoice::default()).unwrap();
    let found = surveyed.survey_columns(|_| true).unwrap().unwrap();
    assert_eq!(found.rows, ROWS as u64);
}

/// Finds the form out, and makes the variables of every row.
fn map(file: &Path) {
    let input = Input::open(file).unwrap();
    let surveyed = InspectedInput::new(input, &FormChoice::default()).unwrap();
    let planned = PlannedInput::new(surveyed, &MappingSpec::default()).unwrap();
    let mut reader = planned.input.read(&planned.form).unwrap();
    reader.read_header(&planned.form).unwrap();
    let mut sent = 0;
    loop {
        let rows = reader.read_batch(0, RowId(1), BATCH_ROWS).unwrap();
        if rows.is_empty() {
            break;
        }
        for row in rows.rows() {
            assert!(planned.mapping.shape.misshapen(row).is_none());
            sent += planned.mapping.variables(row).count();
        }
    }
    assert_eq!(sent, 2 * ROWS);
}

fn check(file: &Path) {
    let status = Command::new(env!("CARGO_BIN_EXE_leadload"))
        .args(["check", "--region", "GB"])
        .arg(file)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}

fn best(work: impl Fn()) -> Duration {
    (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            work();
            began.elapsed()
        })
        .min()
        .unwrap()
}

fn report(what: &str, took: Duration, csv: Duration, file: &Path) {
    let seconds = took.as_secs_f64();
    println!(
        "  {what:<20} {:>6.2} M rows/s {:>6.0} MB/s  {:.2} of csv alone",
        ROWS as f64 / seconds / 1e6,
        fs::metadata(file).unwrap().len() as f64 / seconds / 1e6,
        csv.as_secs_f64() / seconds
    );
}
