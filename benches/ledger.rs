//! What the ledger costs a lead, and how that grows with what is in it.
//!
//! `cargo bench --bench ledger`

// A benchmark prints, and fails by panicking.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use common::ledger::{CAMPAIGN, GROUP, NewLedger};
use leadload::ledger::{Recall, Scope, ServiceId};
use leadload::phone::PhoneNumber;

const MILLION: u64 = 1_000_000;
const MOST: u64 = 11 * MILLION;
/// Rows that are looked up together.
const BATCH: u64 = 32 * 1024;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let mut ledger = NewLedger::create(&path, "https://calls.example", number);
    println!("claims and settlements in groups of {GROUP}, random numbers, filed");
    let mut first = Duration::ZERO;
    for million in 0..MOST / MILLION {
        let (began, worked) = (Instant::now(), processor_time());
        ledger.send(million * MILLION..(million + 1) * MILLION);
        let took = began.elapsed();
        if million == 0 {
            first = took;
        }
        report(&path, million, took, first, worked);
        if [1, 10].contains(&(million + 1)) {
            look_up(&path, ledger.service, (million + 1) * MILLION);
        }
    }
}

fn look_up(path: &Path, service: ServiceId, leads: u64) {
    let mut recall = Recall::open(path).unwrap().unwrap();
    let scope = Scope::Campaign(CAMPAIGN);
    for (order, is_sorted) in [("of the file", false), ("of the numbers", true)] {
        let began = Instant::now();
        for batch in 0..MILLION / BATCH {
            // From all over the ledger.
            let rows = (batch * BATCH..(batch + 1) * BATCH).map(|row| row * (leads / MILLION));
            let mut numbers: Vec<PhoneNumber> = rows.map(number).collect();
            if is_sorted {
                numbers.sort_unstable();
            }
            let mut look = recall.look().unwrap();
            for number in numbers {
                let known = look.find(service, number, scope).unwrap();
                assert!(known.settled.is_some());
            }
        }
        let pace = (MILLION / BATCH * BATCH) as f64 / began.elapsed().as_secs_f64();
        println!(
            "    {pace:.0} numbers looked up in a second, {BATCH} at a time in the order {order}"
        );
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

/// Another number for each row, far from its neighbours'.
fn number(row: u64) -> PhoneNumber {
    PhoneNumber::from_key(447_400_000_000 + row * 61_803_399 % 100_000_000).unwrap()
}
