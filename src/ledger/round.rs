//! One round of filing, slice by slice.
//!
//! A round *gathers* what there is to file, packed in memory; it *places* the rows in `sent`, in
//! the order of their numbers, a slice in each transaction; and when all of them are there it
//! *clears* them from the journal, and writes the claims that are open again behind them.
//! Whenever the process ends, a row is in the journal, in `sent`, or in both with the same
//! outcome, and a round that begins again overwrites it with itself.

use std::collections::BTreeMap;

use rusqlite::{Connection, TransactionBehavior, params};

use super::journal::{self, Replay, follow};
use super::packed::PackedOutcomes;
use super::{Group, ServiceId, record};
use crate::lead::RunId;

const CLEAR: &str = "
DELETE FROM journal WHERE seq <= ?2 AND run IN (SELECT id FROM runs WHERE service = ?1)";

#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Settled rows are filed when there are so many: each of them takes 50 to 80 bytes of memory
    /// meanwhile, and about 2 microseconds when a killed run is recovered.
    pub(super) most: usize,
    /// About how much memory they may take, of the 64 MiB that a run may use beside its
    /// numbers: a service may refuse many, with a sentence for each. The others are left to
    /// another round.
    pub(super) most_bytes: usize,
    /// Rows that are placed at a time, in some tens of milliseconds.
    pub(super) slice: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
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
    /// The last line of the journal that it has.
    last: i64,
    outcomes: PackedOutcomes,
    replay: Replay,
    /// Whether there was more than fits one round.
    is_full: bool,
    /// How many rows have been placed.
    placed: usize,
}

impl Round {
    /// Gathers what there is to file.
    pub(super) fn gather(
        db: &Connection,
        service: ServiceId,
        limits: Limits,
    ) -> rusqlite::Result<Round> {
        let mut round = Round {
            service,
            last: 0,
            outcomes: PackedOutcomes::new(),
            replay: Replay::default(),
            is_full: false,
            placed: 0,
        };
        follow(db, Some(service), 0, |seq, run, entries| {
            let (rows, bytes) = (round.outcomes.len(), round.outcomes.size());
            round.is_full = rows >= limits.most || bytes >= limits.most_bytes;
            if !round.is_full {
                for outcome in round.replay.take(run, entries) {
                    round.outcomes.push(run, &outcome)?;
                }
                round.last = seq;
            }
            Ok(!round.is_full)
        })?;
        round.outcomes.sort();
        Ok(round)
    }

    pub(super) fn len(&self) -> usize {
        self.outcomes.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Places a slice, or clears what has been placed; returns whether the round is over.
    pub(super) fn advance(
        &mut self,
        db: &mut Connection,
        limits: Limits,
    ) -> rusqlite::Result<bool> {
        if self.placed == self.len() {
            // Where no claim has ended there is nothing to be cleared away.
            if self.replay.has_ended {
                self.clear(db)?;
            }
            return Ok(true);
        }
        let end = self.len().min(self.placed + limits.slice);
        let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let slice = self.outcomes.unpack(self.placed..end)?;
        record::store(&change, "sent", self.service, &slice)?;
        change.commit()?;
        self.placed = end;
        Ok(false)
    }

    fn clear(&self, db: &mut Connection) -> rusqlite::Result<()> {
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
        let mut clear = change.prepare_cached(CLEAR)?;
        clear.execute(params![self.service.0, self.last])?;
        drop(clear);
        change.commit()
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
        let mut round = Round::gather(&sample.ledger.db, sample.service, limits).unwrap();
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
