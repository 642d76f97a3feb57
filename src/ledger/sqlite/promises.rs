//! What a file alone promises: filing, and that removed data is nowhere in its files.

use jiff::Timestamp;

use super::journal::{Replay, follow};
use super::samples::{
    BEGAN_AT, RUN, Sample, claims, created, invalid_row, number, rejected, run_of, settlements,
};
use super::testing::TestLedger;
use super::{Group, SqliteLedger};
use crate::lead::{RunId, Status};
use crate::ledger::{CellsDigest, Ledger, LedgerPlace, Pruned};

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
    let reader = SqliteLedger::read(sample.ledger.file().place())
        .unwrap()
        .unwrap();
    let held = reader.db.unchecked_transaction().unwrap();
    held.query_row("SELECT count(*) FROM sent", [], |_| Ok(()))
        .unwrap();
    let error = sample.ledger.prune(time(BEGAN_AT + 1)).unwrap_err().0;
    assert!(error.to_string().contains("not yet overwritten"), "{error}");
    drop(held);
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
    let recall = sample.ledger.recall().unwrap();
    let looked = recall.look(sample.service, None, vec![number(1)]);
    let error = looked.unwrap_err().0;
    assert!(error.to_string().contains("is damaged"), "{error}");
    let damage = "INSERT INTO journal (run, entries) VALUES (1, x'05')";
    sample.ledger.file().db.execute_batch(damage).unwrap();
    let error = sample.ledger.recover(sample.service).unwrap_err().0;
    assert!(error.to_string().contains("is damaged"), "{error}");
}

#[test]
fn a_run_that_is_forgotten_in_part_does_not_continue_and_the_same_command_finishes() {
    let mut test = TestLedger::new();
    let run = test.run_of(1);
    test.begin(&run, time(1));
    let db = &test.ledger.file().db;
    db.busy_timeout(std::time::Duration::ZERO).unwrap();
    let reader = Ledger::read(&test.place()).unwrap().unwrap();
    let db = &reader.file().db;
    let held = db.unchecked_transaction().unwrap();
    held.query_row("SELECT count(*) FROM runs", [], |_| Ok(()))
        .unwrap();
    let error = test.ledger.forget_run(RUN).unwrap_err().0;
    assert!(error.to_string().contains("not yet overwritten"), "{error}");
    drop(held);
    assert_eq!(
        test.ledger.predecessors(&run).unwrap().latest.going_on,
        None
    );
    test.ledger.forget_run(RUN).unwrap();
    assert_eq!(test.ledger.runs().unwrap(), []);
}
