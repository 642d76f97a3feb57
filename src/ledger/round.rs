//! One round of filing, slice by slice.
//!
//! A round has three steps: it *gathers* what there is to file, in memory, some 150 bytes
//! for each row; it *places* the rows among `sent`, in the order of their numbers; and when
//! all of them are there it *clears* them from the journal, line by line from the oldest,
//! after it has written the claims that are open once more behind them. What a slice writes
//! is one transaction. Whenever the process ends, a row is in the journal, among `sent`, or
//! in both with the same outcome, and a round that begins again overwrites it with itself.

use std::collections::BTreeMap;
use std::iter;

use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::ServiceId;
use super::entries::{Entries, StoredClaim};
use super::filing::Limits;
use super::insert::Insert;
use super::journal::append;
use super::replay::{Key, Replay, follow};

/// The last outcome of a row is the one that stays.
const PLACE: Insert<14> = Insert(
    "INSERT OR REPLACE INTO sent
    (service, number, campaign, run, row, file, line_offset,
     status, http_status, attempts, lead_id, settled_at, error_code, error)",
);

const CLEAR: &str = "
DELETE FROM journal
WHERE seq > ?2 AND seq <= ?3 AND run IN (SELECT id FROM runs WHERE service = ?1)";

/// A line of the journal is of many rows.
const ROWS_OF_LINE: usize = 64;

/// A round that is under way. What comes while it is belongs to the next.
#[derive(Debug)]
pub(super) struct Round {
    service: ServiceId,
    /// The first line of the journal that it has, and the last.
    first: i64,
    last: i64,
    replay: Replay,
    /// There was more than a round can be of.
    is_full: bool,
    step: Step,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Gather,
    /// So many rows have been placed.
    Place(usize),
    /// The lines up to this have been cleared.
    Clear(i64),
}

impl Round {
    /// A round for what the journal has of a service.
    pub(super) fn new(service: ServiceId) -> Round {
        Round {
            service,
            first: i64::MAX,
            last: 0,
            replay: Replay::default(),
            is_full: false,
            step: Step::Gather,
        }
    }

    /// How many rows have been gathered.
    pub(super) fn len(&self) -> usize {
        self.replay.outcomes.len()
    }

    /// Whether there was more than a round can be of.
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
        let enough = limits.most.min(self.len() + limits.slice);
        let mut has_all = true;
        follow(db, Some(self.service), self.last, |seq, run, entries| {
            has_all = self.replay.outcomes.len() < enough;
            if has_all {
                self.replay.take(run, entries);
                self.first = self.first.min(seq);
                self.last = seq;
            }
            Ok(has_all)
        })?;
        self.is_full = !has_all && self.len() >= limits.most;
        if has_all || self.is_full {
            // In place. Of one row the order stays: the last of them is placed last.
            let outcomes = &mut self.replay.outcomes;
            outcomes.sort_unstable_by_key(|(run, outcome)| {
                (outcome.place_in_sent(*run), outcome.order)
            });
            return Ok(Step::Place(0));
        }
        Ok(Step::Gather)
    }

    fn place(&self, db: &mut Connection, done: usize, slice: usize) -> rusqlite::Result<Step> {
        let end = self.len().min(done + slice);
        let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let slice = &self.replay.outcomes[done..end];
        PLACE.all(&change, slice, |(run, outcome)| {
            iter::once(Value::Integer(self.service.0)).chain(outcome.columns(*run))
        })?;
        if done == 0 {
            let rows = self.replay.outcomes.iter();
            reach(
                &change,
                rows.map(|(run, outcome)| (*run, outcome.claim.row)),
            )?;
        }
        change.commit()?;
        Ok(Step::Place(end))
    }

    /// Writes the claims that are open at the end of the journal.
    fn claim_again(&self, db: &mut Connection) -> rusqlite::Result<Step> {
        let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut open = self.replay.open.clone();
        // What has ended since.
        follow(&change, Some(self.service), self.last, |_, run, entries| {
            for row in entries.ended() {
                open.remove(&(run, row));
            }
            Ok(true)
        })?;
        append_claims(&change, &open)?;
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

const REACH: &str = "UPDATE runs SET reached = max(reached, ?2) WHERE id = ?1";

/// Notes the highest of these rows for each run, with the first of them that is placed among
/// `sent`: none there is ever beyond what is noted.
pub(super) fn reach(
    change: &Transaction<'_>,
    rows: impl Iterator<Item = Key>,
) -> rusqlite::Result<()> {
    let mut reached: BTreeMap<i64, i64> = BTreeMap::new();
    for (run, row) in rows {
        let highest = reached.entry(run).or_default();
        *highest = row.max(*highest);
    }
    let mut note = change.prepare_cached(REACH)?;
    for (run, row) in reached {
        note.execute([run, row])?;
    }
    Ok(())
}

/// Writes open claims at the end of the journal.
fn append_claims(
    change: &Transaction<'_>,
    open: &BTreeMap<Key, StoredClaim>,
) -> rusqlite::Result<()> {
    let mut by_run: BTreeMap<i64, Vec<StoredClaim>> = BTreeMap::new();
    for ((run, _), claim) in open {
        by_run.entry(*run).or_default().push(*claim);
    }
    for (run, claims) in by_run {
        let entries: Entries<&str> = Entries {
            claims,
            outcomes: Vec::new(),
            releases: Vec::new(),
        };
        append(change, run, &entries)?;
    }
    Ok(())
}
