//! The journal, gone through from its beginning: which rows have their outcome, and which
//! are claimed and have none.
//!
//! What comes later counts: a claim is open until the row's outcome or release. One that is
//! written again (see [`super::round`]) is the same claim.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::ServiceId;
use super::entries::{StoredClaim, StoredEntries, StoredOutcome};

/// What follows a line of the journal, of one service or (NULL) of all.
const AFTER: &str = "
SELECT seq, run, entries FROM journal
WHERE seq > ?2 AND (?1 IS NULL OR run IN (SELECT id FROM runs WHERE service = ?1))
ORDER BY seq";

/// A row: run and number.
pub(super) type Key = (i64, i64);

/// What the journal says, as far as it has been gone through.
#[derive(Debug, Default)]
pub(super) struct Replay {
    /// Claims without an outcome.
    pub(super) open: BTreeMap<Key, StoredClaim>,
    /// Some claim is not open any more.
    pub(super) has_ended: bool,
}

impl Replay {
    /// Goes on by a line. What has an outcome is told of, in the order in which it was
    /// settled.
    pub(super) fn take(&mut self, run: i64, entries: StoredEntries) -> Vec<StoredOutcome> {
        let claims = entries.claims.iter();
        self.open
            .extend(claims.map(|claim| ((run, claim.row), *claim)));
        for row in entries.ended() {
            self.open.remove(&(run, row));
            self.has_ended = true;
        }
        entries.outcomes
    }
}

/// Goes through what follows a line of the journal (`seq`), of one service or of all, for as
/// long as `take` wants more: it gets the line's number, run and entries.
pub(super) fn follow(
    db: &Connection,
    service: Option<ServiceId>,
    line: i64,
    mut take: impl FnMut(i64, i64, StoredEntries) -> rusqlite::Result<bool>,
) -> rusqlite::Result<()> {
    let mut query = db.prepare_cached(AFTER)?;
    let mut rows = query.query(params![service.map(|service| service.0), line])?;
    while let Some(row) = rows.next()? {
        if !take(row.get(0)?, row.get(1)?, row.get(2)?)? {
            break;
        }
    }
    Ok(())
}
