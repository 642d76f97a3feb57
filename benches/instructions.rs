//! How many instructions the hot paths take, beside what they took when that was recorded:
//! what a change costs, on a machine that is never quiet.
//!
//! `cargo bench --bench instructions`, and with `-- --record` to take what is found for the
//! new measure. Needs valgrind, whose callgrind counts.
//!
//! Each path is gone through so and so many times and twice as many times, in processes of
//! their own: the difference is without what starting takes.

// A benchmark prints, and fails by panicking.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::SystemTime;

use common::ledger::NewLedger;
use common::{contacts, phone};
use leadload::api::Head;
use leadload::api::verdict::{Verdict, judge};
use leadload::api::wire::LeadForm;
use leadload::intake::{InspectedInput, PlannedInput};
use leadload::lead::{CampaignId, RowId};
use leadload::mapping::MappingSpec;
use leadload::phone::{PhoneNumber, PhoneRules};
use leadload::source::{FormChoice, Input, RowBatch};
use reqwest::header::HeaderMap;

/// Goes through a path so many times, with a list that has as many rows or more.
type Walk = fn(usize, &Path);

const PATHS: [(&str, Walk); 6] = [
    ("reading a row", read),
    ("a phone number in E.164", read_phone),
    ("mapping a row and writing its body", map),
    ("the verdict on a lead that was made", judge_created),
    ("the verdict on a row that is refused", judge_rejected),
    ("claiming, settling and filing a lead", settle),
];

/// As many times as it takes to be exact, and not much longer.
const TIMES: usize = 20_000;

/// What more or fewer may be for the compiler, the C library and the processor's kind.
const TOLERANCE: f64 = 0.05;

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.toml");

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [path, times, list] = arguments.as_slice()
        && let Some((_, walk)) = PATHS.iter().find(|(name, _)| name == path)
    {
        walk(times.parse().unwrap(), list.as_ref());
        return ExitCode::SUCCESS;
    }
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("leads.csv");
    fs::write(&list, contacts(2 * TIMES)).unwrap();
    let counts = PATHS.map(|(name, _)| (name, count(name, &list)));
    if arguments.iter().any(|argument| argument == "--record") {
        record(&counts);
        return ExitCode::SUCCESS;
    }
    compare(&counts)
}

/// Instructions for going through the path once.
fn count(path: &str, list: &Path) -> u64 {
    let once = instructions(path, TIMES, list);
    let twice = instructions(path, 2 * TIMES, list);
    (twice - once) / TIMES as u64
}

fn instructions(path: &str, times: usize, list: &Path) -> u64 {
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args([path, &times.to_string()])
        .arg(list);
    let Ok(output) = valgrind.output() else {
        panic!("it is valgrind that counts: install it");
    };
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{path}: {told}");
    let counted = told
        .lines()
        .find_map(|line| line.split_once("Collected : "));
    counted.unwrap().1.trim().parse().unwrap()
}

fn record(counts: &[(&str, u64)]) {
    let mut text = String::from("# Instructions; see instructions.rs.\n");
    for (name, count) in counts {
        println!("  {name}: {count}");
        text.push_str(&format!("\"{name}\" = {count}\n"));
    }
    fs::write(RECORDED, text).unwrap();
}

fn compare(counts: &[(&str, u64)]) -> ExitCode {
    let recorded = fs::read_to_string(RECORDED).unwrap();
    let recorded: BTreeMap<String, u64> = toml_edit::de::from_str(&recorded).unwrap();
    let mut code = ExitCode::SUCCESS;
    for (name, count) in counts {
        let before = recorded[*name];
        let ratio = *count as f64 / before as f64;
        let verdict = if ratio > 1.0 + TOLERANCE {
            code = ExitCode::FAILURE;
            "MORE than recorded"
        } else if ratio < 1.0 - TOLERANCE {
            "fewer than recorded: record that, so that it stays so"
        } else {
            "as recorded"
        };
        println!("  {name}: {count} instructions, {ratio:.3} of {before}: {verdict}");
    }
    code
}

/// Gives the rows of the list batch by batch, until there were so many.
fn each_batch(rows: usize, list: &Path, mut take: impl FnMut(&PlannedInput, &RowBatch)) {
    let planned = planned(list);
    let mut reader = planned.input.read(&planned.form).unwrap();
    reader.read_header(&planned.form).unwrap();
    let mut left = rows;
    while left > 0 {
        let batch = reader.read_batch(0, RowId(1), left.min(2000)).unwrap();
        take(&planned, &batch);
        left -= batch.len();
    }
}

fn planned(file: &Path) -> PlannedInput {
    let input = Input::open(file).unwrap();
    let surveyed = InspectedInput::new(input, &FormChoice::default()).unwrap();
    PlannedInput::new(surveyed, &MappingSpec::default()).unwrap()
}

fn read(rows: usize, list: &Path) {
    each_batch(rows, list, |_, batch| {
        black_box(batch);
    });
}

fn read_phone(times: usize, _: &Path) {
    let reader = PhoneRules::default();
    for i in 0..times {
        let cell = ["+447911123456", "+12125550123", "+4915112345678"][i % 3];
        black_box(reader.read(black_box(cell), None)).unwrap();
    }
}

/// With the reading, of which the first path tells.
fn map(rows: usize, list: &Path) {
    let phone = PhoneNumber::from_e164("+447911123456").unwrap();
    let form = LeadForm::default();
    each_batch(rows, list, |planned, batch| {
        for row in batch.rows() {
            let variables = planned.mapping.variables(row);
            black_box(form.body(phone, CampaignId(101), variables));
        }
    });
}

fn judge_created(times: usize, _: &Path) {
    let body = br#"{"success":true,"message":"Lead created","data":{"id":48211001,"campaign_id":101,"phone_number":"+447911123456","variables":[{"first_name":"Ada","city":"Leeds"}],"status":"created"}}"#;
    judge_often(times, 201, body);
}

fn judge_rejected(times: usize, _: &Path) {
    let body = br#"{"message":"The phone number format is invalid.","errors":{"phone_number":["The phone number format is invalid."]}}"#;
    judge_often(times, 422, body);
}

fn judge_often(times: usize, status: u16, body: &[u8]) {
    for _ in 0..times {
        let head = Head::read(status, &HeaderMap::new(), SystemTime::UNIX_EPOCH);
        let verdict = judge(&head, black_box(body));
        let verdict: Verdict = verdict.presentable(str::to_owned);
        black_box(verdict);
    }
}

fn settle(leads: usize, _: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    let mut ledger = NewLedger::create(&path, "https://calls.example", phone);
    ledger.send(0..leads as u64);
}
