//! What the ledger costs a lead, and how that grows with what is in it.
//!
//! `cargo bench --bench ledger`

// A benchmark prints, and fails by panicking.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use leadload::lead::{CampaignId, Counts, RowId, RowOutcome, RunId, Status};
use leadload::ledger::{Claim, Group, Ledger, Recall, Scope, ServiceId, Settlement};
use leadload::phone::PhoneNumber;

const MILLION: u64 = 1_000_000;
const MOST: u64 = 11 * MILLION;
const GROUP: u64 = 200;
const CAMPAIGN: CampaignId = CampaignId(1234);
const RUN: RunId = RunId(1);
/// Rows that are looked up together, as they come from a file.
const BATCH: u64 = 2048;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let mut ledger = Ledger::open(&path).unwrap();
    let service = ledger.service("https://calls.example").unwrap();
    add_run(&path);
    println!("claims and settlements in groups of {GROUP}, random numbers, filed");
    let mut first = Duration::ZERO;
    for million in 0..MOST / MILLION {
        let (began, worked) = (Instant::now(), processor_time());
        send(&mut ledger, million * MILLION);
        let took = began.elapsed();
        if million == 0 {
            first = took;
        }
        report(&path, million, took, first, worked);
        if [1, 10].contains(&(million + 1)) {
            look_up(&path, service, (million + 1) * MILLION);
        }
    }
}

/// Claims a million rows and settles each in the group after.
fn send(ledger: &mut Ledger, from: u64) {
    let mut counts = Counts::default();
    let mut claimed = from..from;
    while claimed.start < from + MILLION {
        let next = claimed.end..(claimed.end + GROUP).min(from + MILLION);
        let settled = claimed.clone();
        settled.clone().for_each(|_| counts.add(Status::Created));
        let group = Group {
            claims: next.clone().map(claim).collect(),
            settlements: settled.map(settlement).collect(),
            counts,
            ..Group::default()
        };
        ledger.commit(RUN, &group).unwrap();
        ledger.file_some().unwrap();
        claimed = next;
    }
    ledger.file_all().unwrap();
}

fn look_up(path: &Path, service: ServiceId, leads: u64) {
    let mut recall = Recall::open(path).unwrap().unwrap();
    let scope = Scope::Campaign(CAMPAIGN);
    for round in ["cold", "warm"] {
        let began = Instant::now();
        for batch in 0..MILLION / BATCH {
            let look = recall.look().unwrap();
            for i in 0..BATCH {
                // All over the ledger, in the order of the file.
                let row = (batch * BATCH + i) * (leads / MILLION);
                let known = look.find(service, number(row), scope).unwrap();
                assert!(known.settled.is_some());
            }
        }
        let pace = MILLION as f64 / began.elapsed().as_secs_f64();
        println!("    {pace:.0} numbers looked up in a second, {round}");
    }
}

fn report(path: &Path, million: u64, took: Duration, first: Duration, worked: Option<Duration>) {
    let processor = processor_time()
        .zip(worked)
        .map(|(now, then)| format!("{:.2} µs of processor time a lead, ", micros(now - then)));
    println!(
        "  with {million:>2} million in it: {:.2} µs a lead, {}{:.2} of the first; {} MiB",
        micros(took),
        processor.unwrap_or_default(),
        took.as_secs_f64() / first.as_secs_f64(),
        fs::metadata(path).unwrap().len() >> 20,
    );
}

/// For each of a million.
fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6 / MILLION as f64
}

/// What this thread, the only one, has had of the processor, in user and system mode.
/// Only Linux tells.
fn processor_time() -> Option<Duration> {
    let text = fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanos = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

fn claim(row: u64) -> Claim {
    Claim {
        row: RowId(row + 1),
        file: 0,
        line: row + 2,
        number: number(row),
        campaign: CAMPAIGN,
    }
}

fn settlement(row: u64) -> Settlement {
    Settlement {
        claim: claim(row),
        outcome: RowOutcome {
            is_known_bad: false,
            status: Status::Created,
            lead_id: Some((48_211_000 + row).to_string()),
            http_status: Some(201),
            attempts: 1,
            error_code: None,
            error: None,
            settled_at: Timestamp::from_second(1_790_000_000 + row as i64 / 100).ok(),
        },
        cells: None,
    }
}

/// Another number for each row, far from its neighbours'.
fn number(row: u64) -> PhoneNumber {
    PhoneNumber::from_key(447_400_000_000 + row * 61_803_399 % 100_000_000).unwrap()
}

/// Makes the run that the rows are of, for the only service.
fn add_run(path: &Path) {
    let db = rusqlite::Connection::open(path).unwrap();
    let add = "INSERT INTO runs (service, identity, began_at)
        SELECT id, x'00', 0 FROM services";
    db.execute(add, []).unwrap();
}
