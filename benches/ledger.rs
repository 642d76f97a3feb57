//! What the ledger costs a lead, and how that grows with what is in it.
//!
//! `cargo bench --bench ledger`

// A benchmark prints, and fails by panicking.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod common;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use common::cost::{Cost, by_this_process};
use common::ledger::{CAMPAIGN, GROUP, NewLedger};
use leadload::ledger::{Ledger, LedgerPlace, Scope, ServiceId};
use leadload::phone::PhoneNumber;

const MILLION: u64 = 1_000_000;
const MOST: u64 = 11 * MILLION;
/// Rows that are looked up together.
const BATCH: u64 = 16 * 1024;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let mut ledger = NewLedger::create(&path, "https://calls.example", number);
    println!("claims and settlements in groups of {GROUP}, random numbers, filed");
    let mut first = None;
    for million in 0..MOST / MILLION {
        let rows = million * MILLION..(million + 1) * MILLION;
        let cost = Cost::of(by_this_process, || ledger.send(rows));
        report(&path, million, cost, *first.get_or_insert(cost));
        if [1, 10].contains(&(million + 1)) {
            look_up(&path, ledger.service, (million + 1) * MILLION);
        }
    }
}

fn look_up(path: &Path, service: ServiceId, leads: u64) {
    let ledger = Ledger::read(&LedgerPlace::file(path)).unwrap().unwrap();
    let recall = ledger.recall().unwrap();
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
            let look = recall.look(service, None, numbers.clone()).unwrap();
            for number in numbers {
                let known = look.find(number, scope);
                assert!(known.settled.is_some());
            }
        }
        let pace = (MILLION / BATCH * BATCH) as f64 / began.elapsed().as_secs_f64();
        println!(
            "    {pace:.0} numbers looked up in a second, {BATCH} at a time in the order {order}"
        );
    }
}

fn report(path: &Path, million: u64, cost: Cost, first: Cost) {
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / MILLION as f64;
    let worked = cost.micros(MILLION as usize);
    let worked = worked.map(|worked| format!("{worked:.2} µs of processor time a lead, "));
    println!(
        "  with {million:>2} million in it: {:.2} µs a lead, {}{:.2} of the first; {} MiB",
        micros(cost.took),
        worked.unwrap_or_default(),
        cost.took.as_secs_f64() / first.took.as_secs_f64(),
        fs::metadata(path).unwrap().len() >> 20,
    );
}

/// Another number for each row, far from its neighbours'.
fn number(row: u64) -> PhoneNumber {
    PhoneNumber::from_key(447_400_000_000 + row * 61_803_399 % 100_000_000).unwrap()
}
