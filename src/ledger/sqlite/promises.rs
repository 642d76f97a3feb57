//! Tests for each promise in the documentation of `ledger`.

use jiff::Timestamp;

use super::journal::{Replay, follow};
use super::samples::{
    BEGAN_AT, RUN, Sample, claim, claims, created, invalid_row, number, rejected, run_of,
    settlements,
};
use super::{CellsDigest, Group, Scope, Settlement};
use crate::lead::{Counts, RunId, Status};
use crate::ledger::{Ledger, LedgerPlace, Pruned};

/// Counts the open claims, the outcomes in the journal, and the filed rows.
fn places(sample: &Sample) -> (usize, usize, i64) {
    let (mut replay, mut outcomes) = (Replay::default(), 0);
    let read = follow(&sample.ledger.file().db, None, 0, |_, run, entries| {
        outcomes += replay.take(run, entries).len();
        Ok(true)
    });
    read.unwrap();
    let filed = sample.number("SELECT count(*) FROM sent");
    (replay.open.len(), outcomes, filed)
}

#[test]
fn a_group_that_fails_leaves_nothing_and_can_be_committed_again() {
    let mut sample = Sample::new();
    let mut group = claims([1, 2]);
    // No table takes an invalid row without a reason.
    group.invalid = vec![invalid_row(3, "x")];
    group.invalid[0].outcome.error_code = None;
    assert!(sample.ledger.commit(RUN, &group).is_err());
    assert_eq!(places(&sample), (0, 0, 0));
    assert_eq!(sample.number("SELECT reached FROM runs"), 0);
    group.invalid.clear();
    sample.commit(RUN, group);
    assert_eq!(places(&sample), (2, 0, 0));
}

#[test]
fn nothing_is_committed_for_a_missing_run() {
    let mut sample = Sample::new();
    let error = sample.ledger.commit(RunId(9), &claims([1])).unwrap_err().0;
    assert!(error.to_string().contains("cannot be used"), "{error}");
    assert_eq!(places(&sample), (0, 0, 0));
}

#[test]
fn filing_again_after_an_error_loses_nothing() {
    let mut sample = Sample::new();
    sample.file_in_small_slices();
    sample.commit(RUN, claims(1..=6));
    sample.commit(RUN, settlements(1..=6, &created()));
    assert!(sample.ledger.file_some().unwrap());
    let refuse = "CREATE TRIGGER full BEFORE INSERT ON sent
        BEGIN SELECT raise(ABORT, 'full'); END";
    sample.ledger.file().db.execute_batch(refuse).unwrap();
    while let Ok(more) = sample.ledger.file_some() {
        assert!(more);
    }
    sample
        .ledger
        .file()
        .db
        .execute_batch("DROP TRIGGER full")
        .unwrap();
    sample.ledger.file_all().unwrap();
    assert_eq!(places(&sample), (0, 0, 6));
}

#[test]
fn each_files_the_rows_of_its_own_service_only() {
    let mut sample = Sample::new();
    let other = sample.ledger.service("https://other.example").unwrap();
    let other_run = run_of(&sample.ledger.file().db, other);
    for row in 1..=4 {
        for run in [RUN, other_run] {
            sample.commit(run, claims([row]));
            sample.commit(run, settlements([row], &created()));
        }
    }
    sample.commit(other_run, claims([5]));
    assert_eq!(sample.recover(), 0);
    assert_eq!(places(&sample), (1, 4, 4));
    assert_eq!(sample.row(other_run, 1), None);
    sample.service = other;
    assert_eq!(sample.recover(), 1);
    assert_eq!(places(&sample), (0, 0, 9));
    assert_eq!(sample.row(other_run, 1).unwrap().outcome, created());
}

#[test]
fn an_outcome_that_comes_while_filing_is_not_cleared_with_those_before_it() {
    let mut sample = Sample::new();
    sample.file_in_small_slices();
    sample.commit(RUN, claims(1..=7));
    sample.commit(RUN, settlements(1..=6, &created()));
    let place = LedgerPlace::File(sample.ledger.file().place().clone());
    let mut other = Ledger::open(&place).unwrap();
    let service = other.service("https://other.example").unwrap();
    let other_run = run_of(&other.file().db, service);
    other.commit(other_run, &claims([1])).unwrap();
    other
        .commit(other_run, &settlements([1], &created()))
        .unwrap();
    // The round is gathered, and two slices of three are placed.
    (0..3).for_each(|_| assert!(sample.ledger.file_some().unwrap()));
    // The other process's line was the journal's last; its number is used again.
    other.file_all().unwrap();
    sample.commit(RUN, settlements([7], &created()));
    while sample.ledger.file_some().unwrap() {}
    assert_eq!(sample.recover(), 0);
    assert_eq!(sample.status(7), Some(Status::Created));
}

#[test]
fn the_highest_row_that_was_claimed_is_known() {
    let mut sample = Sample::new();
    for (row, highest) in [(3, 3), (11, 11), (9, 11)] {
        sample.commit(RUN, claims([row]));
        sample.commit(RUN, settlements([row], &created()));
        assert_eq!(sample.number("SELECT reached FROM runs"), highest);
    }
}

#[test]
fn a_run_that_counts_from_the_beginning_again_does_not_lose_its_counts() {
    let mut sample = Sample::new();
    let group = |rows: usize| {
        let mut counts = Counts::default();
        (0..rows).for_each(|_| counts.add(Status::Created));
        Group {
            counts,
            ..Group::default()
        }
    };
    let created = "SELECT counts ->> 'created' FROM runs";
    for (counted, known) in [(3, 3), (1, 3), (2, 3), (4, 4)] {
        sample.commit(RUN, group(counted));
        assert_eq!(sample.number(created), known);
    }
}

#[test]
fn cells_that_were_bad_are_known_to_later_runs_by_their_digest() {
    let mut sample = Sample::new();
    let later = sample.run();
    let (invalid, rejected_cells) = (invalid_row(1, "x").cells, CellsDigest([9; 16]));
    let mut group = claims([2, 3]);
    group.invalid = vec![invalid_row(1, "x")];
    for (row, outcome) in [(2, rejected()), (3, created())] {
        group.settlements.push(Settlement {
            claim: claim(row),
            outcome,
            cells: Some(CellsDigest([row as u8 + 7; 16])),
            attempted: None,
        });
    }
    // A killed run has left no rejects file, so its bad rows were not reported.
    let killed = sample.run();
    sample.commit(killed, group.clone());
    sample.commit(RUN, group.clone());
    for digest in [invalid, rejected_cells] {
        assert!([killed, RUN, later].map(|run| sample.is_known_bad(digest, run)) == [false; 3]);
    }
    sample.record_rejects(RUN);
    sample.commit(later, group);
    for digest in [invalid, rejected_cells] {
        assert!(!sample.is_known_bad(digest, RUN));
        assert!(sample.is_known_bad(digest, later));
    }
    assert!(!sample.is_known_bad(CellsDigest([10; 16]), later));
}

/// A ledger whose run has an invalid row, a rejected row, an unfiled one and an open claim.
fn with_texts() -> Sample {
    let mut sample = Sample::new();
    sample.commit(RUN, claims([1, 2]));
    sample.commit(RUN, settlements([1], &rejected()));
    sample.ledger.file_all().unwrap();
    let group = Group {
        invalid: vec![invalid_row(3, "call Grace Hopper first")],
        ..settlements([2], &rejected())
    };
    sample.commit(RUN, group);
    sample.commit(RUN, claims([4]));
    for text in ["Ada Lovelace", "Grace Hopper", "the options"] {
        assert!(sample.holds(text), "{text}");
    }
    sample
}

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

#[test]
fn pruned_texts_are_nowhere_in_the_files_and_numbers_stay() {
    let mut sample = with_texts();
    assert_eq!(sample.ledger.prune(time(BEGAN_AT - 1)).unwrap().runs, 0);
    assert!(sample.holds("Ada Lovelace"));
    let pruned = sample.ledger.prune(time(BEGAN_AT)).unwrap();
    // The text of the claim, which has become uncertain, is one of them.
    assert_eq!(pruned, Pruned { runs: 1, rows: 4 });
    for text in ["Ada Lovelace", "Grace Hopper", "the options"] {
        assert!(!sample.holds(text), "{text}");
    }
    assert_eq!(sample.ledger.prune(time(BEGAN_AT + 1)).unwrap().runs, 0);
    assert_eq!(sample.recover(), 0);
    assert_eq!(sample.status(1), Some(Status::Rejected));
    assert_eq!(sample.status(2), Some(Status::Rejected));
    assert_eq!(sample.status(4), Some(Status::Uncertain));
    sample.record_rejects(RUN);
    assert!(sample.is_known_bad(CellsDigest([3; 16]), RunId(2)));
}

#[test]
fn a_run_is_as_old_as_its_last_end() {
    let mut sample = with_texts();
    let start = |start: i64, ended_at: Option<i64>| {
        let add = "INSERT INTO starts (run, start, began_at, ended_at, process, host, version)
            VALUES (1, ?1, ?2, ?3, 1, 'h', '1')";
        let began_at = BEGAN_AT + start * 100;
        let values = (start, began_at, ended_at);
        sample.ledger.file().db.execute(add, values).unwrap();
    };
    start(1, Some(BEGAN_AT + 150));
    start(2, None);
    assert_eq!(sample.ledger.prune(time(BEGAN_AT + 199)).unwrap().runs, 0);
    assert_eq!(sample.ledger.prune(time(BEGAN_AT + 200)).unwrap().runs, 1);
}

#[test]
fn a_forgotten_run_is_nowhere_in_the_files() {
    let mut sample = with_texts();
    let kept = sample.run();
    sample.commit(kept, claims([1]));
    sample.commit(kept, settlements([1], &created()));
    assert_eq!(sample.ledger.forget_run(RUN).unwrap(), 0);
    for text in ["Ada Lovelace", "Grace Hopper"] {
        assert!(!sample.holds(text), "{text}");
    }
    assert_eq!(sample.number("SELECT group_concat(id) = '2' FROM runs"), 1);
    assert_eq!(sample.recover(), 0);
    assert_eq!(places(&sample), (0, 0, 1));
    assert!(!sample.is_known_bad(CellsDigest([3; 16]), kept));
    assert_eq!(sample.run(), RunId(3));
}

#[test]
fn what_was_removed_is_not_said_to_be_gone_while_a_reader_holds_the_log() {
    let mut sample = with_texts();
    sample
        .ledger
        .file()
        .db
        .busy_timeout(std::time::Duration::ZERO)
        .unwrap();
    let mut recall = sample.recall();
    let mut look = recall.look().unwrap();
    look.find(sample.service, number(1), Scope::Service)
        .unwrap();
    let error = sample.ledger.prune(time(BEGAN_AT + 1)).unwrap_err().0;
    assert!(error.to_string().contains("not yet overwritten"), "{error}");
    drop(look);
    assert_eq!(sample.ledger.prune(time(BEGAN_AT + 1)).unwrap().runs, 1);
    assert!(!sample.holds("Ada Lovelace"));
}

#[test]
fn a_value_that_no_version_writes_is_damage() {
    let mut sample = Sample::new();
    sample.commit(RUN, claims([1]));
    sample.commit(RUN, settlements([1], &created()));
    sample.recover();
    let damage = "UPDATE sent SET status = 99";
    sample.ledger.file().db.execute_batch(damage).unwrap();
    let mut recall = sample.recall();
    let mut look = recall.look().unwrap();
    let error = look
        .find(sample.service, number(1), Scope::Service)
        .unwrap_err()
        .0;
    assert!(error.to_string().contains("is damaged"), "{error}");
    let damage = "INSERT INTO journal (run, entries) VALUES (1, x'05')";
    sample.ledger.file().db.execute_batch(damage).unwrap();
    let error = sample.ledger.recover(sample.service).unwrap_err().0;
    assert!(error.to_string().contains("is damaged"), "{error}");
}
