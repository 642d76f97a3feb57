//! Whole runs, simulated: one seed decides a list, options, a service and what goes wrong, and every
//! promise is held against what came of it.
//!
//! `cargo test --test sim` tries two hundred seeds, `LEADLOAD_SEEDS=N` so many, from `LEADLOAD_FIRST=N`
//! on. `LEADLOAD_SEED=N` tells the history of one (with `-- --nocapture`), and where a promise is broken
//! a smaller plan that breaks it too.
//!
//! | part | what it is |
//! |-|-|
//! | `plan` | what a seed decides, as data |
//! | `history` | carries a plan out: starts of the program, and what happens between them |
//! | `start` | one start: the steps of an import, of undo and reconcile, until they end or are killed |
//! | `service` | the service, which knows the truth |
//! | `disk` | the disk below SQLite, which loses what was not synced when the power is cut |
//! | `world` | time, files, and what has been seen |
//! | `promises` | what has to hold of all that |
//!
//! The program runs as it is, its ledger, pipeline and results included, on a clock that stands still
//! while it works and moves to whatever it waits for. The HTTP client alone is left out: an answer is a
//! head and a body, or none. `leadload::simulation` is where the program asks for all this.

// Packages have nothing of it, and the disk is that of Unix.
#![cfg(all(unix, debug_assertions))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod disk;
mod history;
mod plan;
mod promises;
mod service;
mod start;
mod world;

use std::env;
use std::panic::catch_unwind;
use std::time::Instant;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use history::{Outcome, carry_out};
use leadload::simulation::Fault;
use plan::any_plan;

/// How many seeds are tried by default.
const SEEDS: u64 = 200;

fn number_in(variable: &str) -> Option<u64> {
    env::var(variable)
        .ok()
        .map(|text| text.parse().expect("a number"))
}

/// The plan of a seed, which can be made smaller.
fn plan_of(seed: u64) -> impl ValueTree<Value = plan::Plan> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    any_plan().new_tree(&mut runner).unwrap()
}

fn tell(outcome: &Outcome) -> String {
    outcome.story.join("\n")
}

/// A smaller plan that fails too, with its history.
fn smallest(seed: u64) -> String {
    let mut tree = plan_of(seed);
    let mut plan = tree.current();
    for _ in 0..300 {
        let fails = !carry_out(&tree.current(), None).violations.is_empty();
        if fails {
            plan = tree.current();
        }
        let goes_on = if fails {
            tree.simplify()
        } else {
            tree.complicate()
        };
        if !goes_on {
            break;
        }
    }
    let outcome = carry_out(&plan, None);
    format!("{plan:?}\n{}\n{:#?}", tell(&outcome), outcome.violations)
}

/// Each planted fault with a seed whose history shows it: the first one, unless plans have changed
/// since. `LEADLOAD_FAULTS=1` looks for the first ones.
const FAULTS: [(Fault, u64); 21] = [
    (Fault::SendBeforeClaim, 405),
    (Fault::ForgetClaim, 12),
    (Fault::KeepClaim, 76),
    (Fault::ForgetOpenClaims, 5),
    (Fault::SettleBeforeAnswer, 0),
    (Fault::RefusalAsCreated, 8),
    (Fault::DuplicateAsRefused, 0),
    (Fault::PastThePace, 298),
    (Fault::ForgetWait, 634),
    (Fault::ResultsBeforeLedger, 13),
    (Fault::NoSync, 7),
    (Fault::RenameBeforeSync, 80),
    (Fault::RenameBeforeRecord, 388),
    (Fault::SameNumberAtOnce, 54),
    (Fault::ResendWhatIsHeld, 7),
    (Fault::OldSuppression, 310),
    (Fault::SendAfterSignal, 7),
    (Fault::SendRepeated, 0),
    (Fault::ForgetRemoval, 34),
    (Fault::KeepDuplicates, 297),
    (Fault::FreeLate, 504),
];

/// How many seeds may pass before a fault is found.
const MOST: u64 = 1000;

/// What the history of a seed shows with this fault, if it shows something.
fn shows(fault: Fault, seed: u64) -> Option<String> {
    let plan = plan_of(seed).current();
    match catch_unwind(|| carry_out(&plan, Some(fault))) {
        Ok(outcome) => outcome.violations.into_iter().next(),
        Err(_) => Some("a panic".to_owned()),
    }
}

#[test]
fn faults_that_are_planted_are_found() {
    let looks = number_in("LEADLOAD_FAULTS").is_some();
    let mut missed = Vec::new();
    for (fault, seed) in FAULTS {
        let mut seeds = if looks { 0..MOST } else { seed..seed + 1 };
        match seeds.find_map(|seed| Some((seed, shows(fault, seed)?))) {
            Some((seed, what)) => println!("{fault:?}: seed {seed}: {what}"),
            None => missed.push(fault),
        }
    }
    assert_eq!(
        missed,
        [],
        "`LEADLOAD_FAULTS=1` looks for other seeds that show them"
    );
}

#[test]
fn a_seed_tells_the_same_history_again() {
    for seed in 0..4 {
        let plan = plan_of(seed).current();
        let [first, second] = [(); 2].map(|()| carry_out(&plan, None).story);
        assert_eq!(first, second, "seed {seed}");
    }
}

#[test]
fn every_promise_holds_in_every_history() {
    if let Some(seed) = number_in("LEADLOAD_SEED") {
        let plan = plan_of(seed).current();
        println!("{plan:?}");
        let outcome = carry_out(&plan, None);
        println!("{}", tell(&outcome));
        if !outcome.violations.is_empty() {
            panic!("seed {seed}, made smaller:\n{}", smallest(seed));
        }
        return;
    }
    let (first, seeds) = (
        number_in("LEADLOAD_FIRST").unwrap_or(0),
        number_in("LEADLOAD_SEEDS").unwrap_or(SEEDS),
    );
    let began = Instant::now();
    let (mut simulated, mut starts, mut requests) = (0.0, 0, 0);
    let (mut kills, mut power_cuts) = (0, 0);
    let mut failing = Vec::new();
    for seed in first..first + seeds {
        let plan = plan_of(seed).current();
        let Ok(outcome) = catch_unwind(|| carry_out(&plan, None)) else {
            println!("seed {seed}: a panic");
            failing.push(seed);
            continue;
        };
        simulated += outcome.simulated.as_secs_f64();
        starts += outcome.starts;
        requests += outcome.requests;
        kills += outcome.kills;
        power_cuts += outcome.power_cuts;
        if let Some(what) = outcome.violations.first() {
            println!("seed {seed}: {what}");
            failing.push(seed);
        }
    }
    let took = began.elapsed().as_secs_f64();
    println!(
        "{seeds} seeds in {took:.1} s, {:.1} a second, {:.0} times real time: \
        {starts} starts, {kills} kills, {power_cuts} power cuts, {requests} requests",
        seeds as f64 / took,
        simulated / took
    );
    assert!(
        failing.is_empty(),
        "{} of {seeds} seeds fail: {failing:?}",
        failing.len()
    );
}
