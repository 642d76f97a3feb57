//! The journal: rows before their first request leaves, and their outcomes.
//!
//! It is only appended to, one line for each group: a statement for each lead would cost several
//! times as much as the lead itself, and rows stored by number from the start would dirty a page of
//! a large table twice. Outcomes wait here until many can be filed at once (see [`super::filing`]).
//!
//! Later entries count: a claim is open until the row's outcome or release.
//! A claim that is written again (see [`super::round`]) is the same claim.

use std::collections::BTreeMap;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, Error, Transaction, params};

use super::{Claim, Group, ServiceId, Settlement};
use crate::lead::{RowId, RunId};

const APPEND: &str = "INSERT INTO journal (run, entries) VALUES (?1, ?2)";

/// The lines after a line of the journal, for one service or (NULL) for all.
const AFTER: &str = "
SELECT seq, run, entries FROM journal
WHERE seq > ?2 AND (?1 IS NULL OR run IN (SELECT id FROM runs WHERE service = ?1))
ORDER BY seq";

/// Appends a group's claims, settlements and releases to the journal, if it has any.
pub(super) fn append(change: &Transaction<'_>, run: RunId, group: &Group) -> rusqlite::Result<()> {
    if has_claimed_rows(group) {
        let mut append = change.prepare_cached(APPEND)?;
        append.execute(params![run.0, line(group)?])?;
    }
    Ok(())
}

pub(super) fn has_claimed_rows(group: &Group) -> bool {
    !(group.claims.is_empty() && group.settlements.is_empty() && group.releases.is_empty())
}

pub(in crate::ledger) fn line(group: &Group) -> rusqlite::Result<Vec<u8>> {
    let line = postcard::to_stdvec(&(group, group.claimed_at_ms));
    line.map_err(|error| Error::ToSqlConversionFailure(error.into()))
}

impl FromSql for Group {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Group> {
        let read = postcard::take_from_bytes(value.as_blob()?);
        let (mut group, time): (Group, _) = read.map_err(FromSqlError::other)?;
        // The first release did not write it.
        if !time.is_empty() {
            group.claimed_at_ms = postcard::from_bytes(time).map_err(FromSqlError::other)?;
        }
        Ok(group)
    }
}

/// Rows whose claims are no longer open.
pub(super) fn ended(group: &Group) -> impl Iterator<Item = RowId> {
    let settled = group.settlements.iter();
    let settled = settled.map(|settlement| settlement.claim.row);
    settled.chain(group.releases.iter().copied())
}

/// A claim without an outcome.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pub(super) claim: Claim,
    /// As in [`Group::claimed_at_ms`].
    pub(super) since_ms: i64,
}

/// The state that the journal gives, up to the last line that was read.
#[derive(Debug, Default)]
pub(super) struct Replay {
    /// Claims without an outcome.
    pub(super) open: BTreeMap<(RunId, RowId), Open>,
    /// Whether any claim has been settled or released.
    pub(super) has_ended: bool,
}

impl Replay {
    /// Takes the next line. Returns the rows that have their
    /// outcome, in the order in which they were settled.
    pub(super) fn take(&mut self, run: RunId, group: Group) -> Vec<Settlement> {
        let since_ms = group.claimed_at_ms;
        let open = |claim: &Claim| {
            let claim = *claim;
            ((run, claim.row), Open { claim, since_ms })
        };
        self.open.extend(group.claims.iter().map(open));
        for row in ended(&group) {
            self.open.remove(&(run, row));
            self.has_ended = true;
        }
        group.settlements
    }
}

/// Reads the lines of the journal after number `line`, of one service or of all,
/// until `take` returns `false`. `take` gets each line's number, run and entries.
pub(super) fn follow(
    db: &Connection,
    service: Option<ServiceId>,
    line: i64,
    mut take: impl FnMut(i64, RunId, Group) -> rusqlite::Result<bool>,
) -> rusqlite::Result<()> {
    let mut query = db.prepare_cached(AFTER)?;
    let mut rows = query.query(params![service.map(|service| service.0), line])?;
    while let Some(row) = rows.next()? {
        if !take(row.get(0)?, RunId(row.get(1)?), row.get(2)?)? {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::sqlite::samples::{
        claims, created, rejected, releases, settlements, uncertain,
    };

    #[test]
    fn a_group_is_read_as_it_was_written() {
        let mut group = claims([1, 2]);
        for (row, outcome) in [(3, created()), (4, rejected()), (5, uncertain())] {
            group.append(settlements([row], &outcome));
        }
        group.append(releases([6]));
        let written = line(&group).unwrap();
        let read = Group::column_result(ValueRef::Blob(&written)).unwrap();
        assert_eq!(read.claims, group.claims);
        assert_eq!(read.releases, group.releases);
        let outcomes = |group: Group| -> Vec<_> {
            let settlements = group.settlements.into_iter();
            settlements
                .map(|settled| (settled.claim, settled.outcome))
                .collect()
        };
        assert_eq!(outcomes(read), outcomes(group));
    }
}
