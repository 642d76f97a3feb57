//! One round of filing, slice by slice.
//!
//! A round has three steps: it *gathers* what there is to file, in memory, 8 bytes for
//! each row; it *places* the rows among `sent`, in the order of their numbers; and when
//! all of them are there it *clears* them from the journal. Every slice is one
//! transaction. Whenever the process ends, a row is in the journal, among `sent`, or in
//! both with the same outcome, and a round that begins again overwrites it with itself.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::ServiceId;
use super::filing::Limits;

/// How far apart the first and the last outcome of a round can be: what fits into a
/// [`Key`] beside the number.
const SPAN: i64 = 1 << Key::PLACE_BITS;

const FIRST: &str = "
SELECT seq FROM outcomes WHERE run IN (SELECT id FROM runs WHERE service = ?1)
ORDER BY seq LIMIT 1";

/// One of this service's own: it is there until the round is over, and as long as it is,
/// no outcome that comes later is given a number (`seq`) of the round.
const LAST: &str = "
SELECT seq FROM outcomes WHERE run IN (SELECT id FROM runs WHERE service = ?1)
ORDER BY seq DESC LIMIT 1";

const GATHER: &str = "
SELECT seq, run, row, number FROM outcomes
WHERE seq > ?2 AND seq <= ?3 AND run IN (SELECT id FROM runs WHERE service = ?1)
ORDER BY seq LIMIT ?4";

/// Rows are read in the order of the journal, each page of it once, and written in the
/// order of `sent`. The last outcome of a row is the one that stays. The order of the
/// tables is given (`CROSS JOIN`), lest SQLite takes another.
const PLACE: &str = "
INSERT OR REPLACE INTO sent
    (service, number, campaign, run, row, file, line_offset,
     status, http_status, attempts, lead_id, settled_at, error_code, error)
SELECT ?1, number, campaign, run, row, file, line_offset,
     status, http_status, attempts, lead_id, settled_at, error_code, error
FROM json_each(?2) picked CROSS JOIN outcomes ON seq = picked.value
ORDER BY number, campaign, run, row, seq";

const REACH: &str = "UPDATE runs SET reached = max(reached, ?2) WHERE id = ?1";

const CLEAR: &str = "
DELETE FROM outcomes
WHERE seq > ?2 AND seq <= ?3 AND run IN (SELECT id FROM runs WHERE service = ?1)";

/// A round that is under way. Outcomes that come while it is belong to the next.
#[derive(Debug)]
pub(super) struct Round {
    service: ServiceId,
    /// The first outcome (`seq`) of the round.
    first: i64,
    /// The last.
    last: i64,
    /// The last that has been gathered.
    gathered: i64,
    keys: Vec<Key>,
    /// The highest row of each run.
    reached: BTreeMap<i64, i64>,
    step: Step,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Gather,
    /// So many keys have been placed.
    Place(usize),
    /// The outcomes up to this have been cleared.
    Clear(i64),
}

/// Where an outcome stands and roughly which number it is of: the number without its
/// lowest bits, which only order neighbours, then the distance from the first outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u64);

impl Key {
    const PLACE_BITS: u32 = 20;
    /// A number of 15 digits has 50 bits.
    const DROPPED_BITS: u32 = 50 + Key::PLACE_BITS - u64::BITS;

    fn new(number: i64, place: i64) -> Key {
        let number = number.cast_unsigned() >> Key::DROPPED_BITS;
        Key(number << Key::PLACE_BITS | place.cast_unsigned())
    }

    fn place(self) -> i64 {
        (self.0 & (SPAN.cast_unsigned() - 1)).cast_signed()
    }
}

impl Round {
    /// A round for what there is to file; none if there is nothing.
    pub(super) fn begin(db: &Connection, service: ServiceId) -> rusqlite::Result<Option<Round>> {
        let seq = |sql| db.query_row(sql, [service.0], |row| row.get::<_, i64>(0));
        let Some(first) = seq(FIRST).optional()? else {
            return Ok(None);
        };
        let last = seq(LAST)?;
        Ok(Some(Round {
            service,
            first,
            last: last.min(first + SPAN - 1),
            gathered: first - 1,
            keys: Vec::new(),
            reached: BTreeMap::new(),
            step: Step::Gather,
        }))
    }

    /// How many rows have been gathered.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
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
            Step::Place(_) => Step::Clear(self.first - 1),
            Step::Clear(done) if done < self.last => self.clear(db, done, limits.slice)?,
            Step::Clear(_) => return Ok(true),
        };
        Ok(false)
    }

    fn gather(&mut self, db: &Connection, limits: Limits) -> rusqlite::Result<Step> {
        let wanted = limits.slice.min(limits.most - self.len());
        let mut query = db.prepare_cached(GATHER)?;
        let range = params![self.service.0, self.gathered, self.last, wanted as i64];
        let mut rows = query.query(range)?;
        let before = self.len();
        while let Some(row) = rows.next()? {
            self.gathered = row.get(0)?;
            let reached = self.reached.entry(row.get(1)?).or_default();
            *reached = row.get::<_, i64>(2)?.max(*reached);
            let key = Key::new(row.get(3)?, self.gathered - self.first);
            self.keys.push(key);
        }
        if self.len() == limits.most {
            self.last = self.gathered;
        } else if self.len() - before == wanted {
            return Ok(Step::Gather);
        }
        self.keys.sort_unstable();
        Ok(Step::Place(0))
    }

    fn place(&self, db: &mut Connection, done: usize, slice: usize) -> rusqlite::Result<Step> {
        let end = self.len().min(done + slice);
        let picked = self.picked(done, end);
        let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut place = change.prepare_cached(PLACE)?;
        place.execute(params![self.service.0, picked])?;
        drop(place);
        if done == 0 {
            self.reach(&change)?;
        }
        change.commit()?;
        Ok(Step::Place(end))
    }

    /// The outcomes of these keys as a JSON array, in the order of the journal.
    fn picked(&self, from: usize, to: usize) -> String {
        let keys = self.keys[from..to].iter();
        let mut picked: Vec<i64> = keys.map(|key| self.first + key.place()).collect();
        picked.sort_unstable();
        let picked: Vec<String> = picked.iter().map(i64::to_string).collect();
        format!("[{}]", picked.join(","))
    }

    /// With the first row that is placed, so that none is ever beyond what is noted.
    fn reach(&self, change: &Transaction<'_>) -> rusqlite::Result<()> {
        let mut note = change.prepare_cached(REACH)?;
        for (run, row) in &self.reached {
            note.execute([run, row])?;
        }
        Ok(())
    }

    fn clear(&self, db: &mut Connection, done: i64, slice: usize) -> rusqlite::Result<Step> {
        let end = self.last.min(done + slice as i64);
        let range = params![self.service.0, done, end];
        db.prepare_cached(CLEAR)?.execute(range)?;
        Ok(Step::Clear(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_numbers_and_tell_their_place() {
        let (low, high) = (
            Key::new(1_000_000, 7),
            Key::new(999_999_999_999_999, SPAN - 1),
        );
        assert!(low < high);
        assert_eq!((low.place(), high.place()), (7, SPAN - 1));
    }

    #[test]
    fn outcomes_of_one_number_keep_their_order() {
        assert!(Key::new(447_911_123_456, 1) < Key::new(447_911_123_456, 2));
    }
}
