//! One round of filing, slice by slice.
//!
//! A round *gathers* what there is to file, packed in memory; it *places* the rows in `sent`, in
//! the order of their numbers; and when all of them are there it *clears* them from the journal,
//! line by line from the oldest, after it has written the open claims again behind them. What a
//! slice writes is one transaction. Whenever the process ends, a row is in the journal, in
//! `sent`, or in both with the same outcome, and a round that begins again overwrites it with
//! itself.

use std::collections::BTreeMap;

use rusqlite::{Connection, TransactionBehavior, params};

use super::journal::{self, Replay, follow};
use super::packed::PackedOutcomes;
use super::{Group, ServiceId, record};
use crate::lead::RunId;

const CLEAR: &str = "
DELETE FROM journal
WHERE seq > ?2 AND seq <= ?3 AND run IN (SELECT id FROM runs WHERE service = ?1)";

/// A line of the journal has many rows.
const ROWS_OF_LINE: usize = 64;

#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Fewer settled rows than these are not worth filing.
    pub(super) least: u64,
    /// With this many they are filed in any case: each of them takes 50 to 80 bytes of memory
    /// meanwhile, and about 2 microseconds when a killed run is recovered.
    pub(super) most: usize,
    /// About how much memory they may take, of the 64 MiB that a run may use beside its
    /// numbers: a service may refuse many, with a sentence for each. The others are left to
    /// another round.
    pub(super) most_bytes: usize,
    /// Rows that are gathered or placed at a time, in some tens of milliseconds.
    pub(super) slice: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            least: 200_000,
            most: 350_000,
            most_bytes: 20 * 1024 * 1024,
            slice: 16_384,
        }
    }
}

/// A round that is under way. What comes meanwhile belongs to the next one.
#[derive(Debug)]
pub(super) struct Round {
    service: ServiceId,
    /// The first line of the journal that it has, and the last.
    first: i64,
    last: i64,
    outcomes: PackedOutcomes,
    replay: Replay,
    /// Whether there was more than fits one round.
    is_full: bool,
    step: Step,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Gather,
    /// That many rows have been placed.
    Place(usize),
    /// The lines up to this have been cleared.
    Clear(i64),
}

impl Round {
    pub(super) fn new(service: ServiceId) -> Round {
        Round {
            service,
            first: i64::MAX,
            last: 0,
            outcomes: PackedOutcomes::new(),
            replay: Replay::default(),
            is_full: false,
            step: Step::Gather,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.outcomes.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Does a slice; returns whether the round is over.
    pub(super) fn advance(
        &mut self,
        db: &mut Connection,
        limits: Limits,
    ) -> rusqlite::Result<bool> {
        self.step = match self.step {
            Step::Gather => self.gather(db, limits)?,
            Step::Place(done) if done < self.len() => self.place(db, done, limits.slice)?,
            // Nothing to be filed, and nothing to be cleared away.
            Step::Place(_) if !self.replay.has_ended => return Ok(true),
            Step::Place(_) => self.claim_again(db)?,
            Step::Clear(done) if done < self.last => self.clear(db, done, limits.slice)?,
            Step::Clear(_) => return Ok(true),
        };
        Ok(false)
    }

    fn gather(&mut self, db: &Connection, limits: Limits) -> rusqlite::Result<Step> {
        let slice_end = self.len() + limits.slice;
        let mut has_all = true;
        follow(db, Some(self.service), self.last, |seq, run, entries| {
            has_all = self.len() < slice_end && !self.has_enough(limits);
            if has_all {
                for outcome in self.replay.take(run, entries) {
                    self.outcomes.push(run, &outcome)?;
                }
                self.first = self.first.min(seq);
                self.last = seq;
            }
            Ok(has_all)
        })?;
        self.is_full = !has_all && self.has_enough(limits);
        if has_all || self.is_full {
            self.outcomes.sort();
            return Ok(Step::Place(0));
        }
        Ok(Step::Gather)
    }

    fn has_enough(&self, limits: Limits) -> bool {
        self.len() >= limits.most || self.outcomes.size() >= limits.most_bytes
    }

    fn place(&self, db: &mut Connection, done: usize, slice: usize) -> rusqlite::Result<Step> {
        let end = self.len().min(done + slice);
        let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let slice = self.outcomes.unpack(done..end)?;
        record::store(&change, "sent", self.service, &slice)?;
        change.commit()?;
        Ok(Step::Place(end))
    }

    /// Writes the claims that are open at the end of the journal.
    fn claim_again(&self, db: &mut Connection) -> rusqlite::Result<Step> {
        let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut open = self.replay.open.clone();
        // What has ended since.
        follow(&change, Some(self.service), self.last, |_, run, entries| {
            for row in journal::ended(&entries) {
                open.remove(&(run, row));
            }
            Ok(true)
        })?;
        let mut by_run: BTreeMap<RunId, Group> = BTreeMap::new();
        for ((run, _), claim) in open {
            by_run.entry(run).or_default().claims.push(claim);
        }
        for (run, claims) in by_run {
            journal::append(&change, run, &claims)?;
        }
        change.commit()?;
        Ok(Step::Clear(self.first - 1))
    }

    fn clear(&self, db: &Connection, done: i64, slice: usize) -> rusqlite::Result<Step> {
        let lines = (slice / ROWS_OF_LINE).max(1);
        let end = self.last.min(done + lines as i64);
        let mut clear = db.prepare_cached(CLEAR)?;
        clear.execute(params![self.service.0, done, end])?;
        Ok(Step::Clear(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::samples::{RUN, Sample, rejected, settlements};

    #[test]
    fn a_round_takes_no_more_memory_than_it_may() {
        let mut sample = Sample::new();
        for row in 1..=100 {
            sample.commit(RUN, settlements([row], &rejected()));
        }
        let most_bytes = 1000;
        let limits = Limits {
            most_bytes,
            ..Limits::default()
        };
        let mut round = Round::new(sample.service);
        while !round.advance(&mut sample.ledger.db, limits).unwrap() {}
        assert!(round.is_full());
        // One more than fits, since that shows that it is full.
        let size = round.outcomes.size();
        let of_one = size / round.len();
        assert!((most_bytes..=most_bytes + 2 * of_one).contains(&size));
        let filed = sample.number("SELECT count(*) FROM sent");
        assert_eq!(filed, round.len() as i64);
        // All the others are still there to be filed.
        sample.ledger.filing.limits = limits;
        sample.ledger.file_service(sample.service).unwrap();
        assert_eq!(sample.number("SELECT count(*) FROM sent"), 100);
        assert_eq!(sample.number("SELECT count(*) FROM journal"), 0);
    }
}
