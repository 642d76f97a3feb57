//! One round of filing, slice by slice.
//!
//! A round *gathers* what there is to file, packed in memory. It *places* the rows in `sent`
//! in the order of their numbers, one slice in each transaction. When all rows are placed,
//! it *clears* them from the journal, and appends the claims that are still open to the
//! journal again. Whenever the process ends, a row is in the journal, in `sent`, or in both
//! with the same outcome; a round that starts again overwrites the record with an equal one.

use std::collections::BTreeMap;

use rusqlite::{Connection, TransactionBehavior, params};

use super::journal::{self, Open, Replay, follow};
use super::packed::PackedOutcomes;
use super::{Group, ServiceId, record};
use crate::lead::RunId;

const CLEAR: &str = "
DELETE FROM journal WHERE seq <= ?2 AND run IN (SELECT id FROM runs WHERE service = ?1)";

#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// How many settled rows start a round. Each of them takes 50 to 80 bytes of
    /// memory meanwhile, and about 2 microseconds when a killed run is recovered.
    pub(super) most: usize,
    /// About how much memory they may take, of the 64 MiB that a run may
    /// use apart from its numbers: a service may refuse many rows, with
    /// a sentence for each. Further rows are left to another round.
    pub(super) most_bytes: usize,
    /// How many rows are placed in one transaction, which takes some tens of milliseconds.
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

/// A round that is under way. Entries that come meanwhile belong to the next round.
#[derive(Debug)]
pub(super) struct Round {
    service: ServiceId,
    /// The number of the last journal line in this round.
    last: i64,
    outcomes: PackedOutcomes,
    replay: Replay,
    /// Whether there was more than fits in one round.
    is_full: bool,
    /// How many rows have been placed.
    placed: usize,
}

impl Round {
    /// Reads the entries that are to be filed.
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

    /// Places a slice, or clears the placed rows from
    /// the journal. Returns whether the round is over.
    pub(super) fn advance(
        &mut self,
        db: &mut Connection,
        limits: Limits,
    ) -> rusqlite::Result<bool> {
        if self.placed == self.len() {
            // If no claim was settled or released, there is nothing to clear.
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
        // Claims that were settled or released meanwhile are no longer open.
        follow(&change, Some(self.service), self.last, |_, run, entries| {
            for row in journal::ended(&entries) {
                open.remove(&(run, row));
            }
            Ok(true)
        })?;
        let mut kept: BTreeMap<(RunId, i64), Group> = BTreeMap::new();
        for ((run, _), Open { claim, since_ms }) in open {
            let of_time = kept.entry((run, since_ms)).or_default();
            of_time.claimed_at_ms = since_ms;
            of_time.claims.push(claim);
        }
        for ((run, _), claims) in kept {
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
    use crate::ledger::sqlite::samples::{RUN, Sample, rejected, settlements};

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
        let mut round = Round::gather(&sample.ledger.file().db, sample.service, limits).unwrap();
        while !round
            .advance(&mut sample.ledger.file_mut().db, limits)
            .unwrap()
        {}
        assert!(round.is_full());
        // One row more than fits: only that row shows that the round is full.
        let size = round.outcomes.size();
        let of_one = size / round.len();
        assert!((most_bytes..=most_bytes + 2 * of_one).contains(&size));
        let filed = sample.number("SELECT count(*) FROM sent");
        assert_eq!(filed, round.len() as i64);
        // All other rows are still there to be filed.
        sample.ledger.file_mut().filing.limits = limits;
        sample
            .ledger
            .file_mut()
            .file_service(sample.service)
            .unwrap();
        assert_eq!(sample.number("SELECT count(*) FROM sent"), 100);
        assert_eq!(sample.number("SELECT count(*) FROM journal"), 0);
    }
}
