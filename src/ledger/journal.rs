//! The journal: rows before their first request leaves, and what became of them.
//!
//! It is only appended to, one line of JSON for each group: a statement for each lead would
//! cost several times what the lead itself does, and rows kept by number from the start would
//! dirty a page of a large table twice. Outcomes wait here until many can be filed at once
//! (see [`super::filing`]).
//!
//! What comes later counts: a claim is open until the row's outcome or release. One that is
//! written again (see [`super::round`]) is the same claim.

use std::collections::BTreeMap;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, Transaction, params};
use serde::{Deserialize, Serialize, Serializer};

use super::columns::{json, line_offset, position, status_code};
use super::{Claim, Group, ServiceId, Settlement};
use crate::lead::{ErrorCode, Status};

const APPEND: &str = "INSERT INTO journal (run, entries) VALUES (?1, ?2)";

/// What follows a line of the journal, of one service or (NULL) of all.
const AFTER: &str = "
SELECT seq, run, entries FROM journal
WHERE seq > ?2 AND (?1 IS NULL OR run IN (SELECT id FROM runs WHERE service = ?1))
ORDER BY seq";

/// The entries of a group. A claim or an outcome is an array, its items in the order of the
/// fields here.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Entries {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) claims: Vec<StoredClaim>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) outcomes: Vec<Outcome>,
    /// Rows whose claims are taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) releases: Vec<i64>,
}

/// Where a row of a run is in its input, and what is sent of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct StoredClaim {
    pub(super) row: i64,
    pub(super) file: i64,
    pub(super) line_offset: i64,
    pub(super) number: i64,
    pub(super) campaign: i64,
}

/// A row that has its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Outcome {
    pub(super) claim: StoredClaim,
    pub(super) status: i64,
    pub(super) http_status: Option<u16>,
    pub(super) attempts: u32,
    pub(super) lead_id: Option<Box<str>>,
    pub(super) settled_at: Option<i64>,
    pub(super) error_code: Option<Box<str>>,
    pub(super) error: Option<Box<str>>,
}

impl Entries {
    pub(super) fn of(group: &Group) -> Entries {
        let releases = group.releases.iter();
        Entries {
            claims: group.claims.iter().map(StoredClaim::of).collect(),
            outcomes: group.settlements.iter().map(Outcome::of).collect(),
            releases: releases.map(|row| row.0.cast_signed()).collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.claims.is_empty() && self.outcomes.is_empty() && self.releases.is_empty()
    }

    /// Writes them at the end of the journal; nothing where there are none.
    pub(super) fn append(&self, change: &Transaction<'_>, run: i64) -> rusqlite::Result<()> {
        if !self.is_empty() {
            let mut append = change.prepare_cached(APPEND)?;
            append.execute(params![run, json(self)?])?;
        }
        Ok(())
    }

    /// Rows whose claims are not open any more.
    pub(super) fn ended(&self) -> impl Iterator<Item = i64> {
        let settled = self.outcomes.iter().map(|outcome| outcome.claim.row);
        settled.chain(self.releases.iter().copied())
    }
}

impl FromSql for Entries {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map_err(FromSqlError::other)
    }
}

impl StoredClaim {
    fn of(claim: &Claim) -> StoredClaim {
        StoredClaim {
            row: claim.row.0.cast_signed(),
            file: position(claim.file),
            line_offset: line_offset(claim.row, claim.line),
            number: claim.number.key().cast_signed(),
            campaign: claim.campaign.0,
        }
    }
}

impl Serialize for StoredClaim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (
            self.row,
            self.file,
            self.line_offset,
            self.number,
            self.campaign,
        )
            .serialize(serializer)
    }
}

impl Outcome {
    fn of(Settlement { claim, outcome, .. }: &Settlement) -> Outcome {
        Outcome {
            claim: StoredClaim::of(claim),
            status: status_code(outcome.status),
            http_status: outcome.http_status,
            attempts: outcome.attempts,
            lead_id: outcome.lead_id.as_deref().map(Box::from),
            settled_at: outcome.settled_at.map(|time| time.as_second()),
            error_code: outcome.error_code.map(|code| code.to_string().into()),
            error: outcome.error.as_deref().map(Box::from),
        }
    }

    /// That of a claimed row whose answer never came: one attempt at least may have left.
    pub(super) fn without_answer(claim: StoredClaim, why: &str) -> Outcome {
        Outcome {
            claim,
            status: status_code(Status::Uncertain),
            http_status: None,
            attempts: 1,
            lead_id: None,
            settled_at: None,
            error_code: Some(ErrorCode::AnswerLost.to_string().into()),
            error: Some(why.into()),
        }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (
            &self.claim,
            self.status,
            self.http_status,
            self.attempts,
            &self.lead_id,
            self.settled_at,
            &self.error_code,
            &self.error,
        )
            .serialize(serializer)
    }
}

/// What the journal says, as far as it has been read.
#[derive(Debug, Default)]
pub(super) struct Replay {
    /// Claims without an outcome, by run and row.
    pub(super) open: BTreeMap<(i64, i64), StoredClaim>,
    /// Whether some claim is not open any more.
    pub(super) has_ended: bool,
}

impl Replay {
    /// Reads another line. Returns the rows that have their outcome, in the order in which
    /// they were settled.
    pub(super) fn take(&mut self, run: i64, entries: Entries) -> Vec<Outcome> {
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

/// Reads what follows a line of the journal (`seq`), of one service or of all, for as long as
/// `take` wants more: it gets the line's number, run and entries.
pub(super) fn follow(
    db: &Connection,
    service: Option<ServiceId>,
    line: i64,
    mut take: impl FnMut(i64, i64, Entries) -> rusqlite::Result<bool>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::samples::{claims, created, rejected, releases, settlements, uncertain};

    #[test]
    fn entries_are_read_as_they_were_written() {
        let mut group = claims([1, 2]);
        for (row, outcome) in [(3, created()), (4, rejected()), (5, uncertain())] {
            group.append(settlements([row], &outcome));
        }
        group.append(releases([6]));
        let written = json(&Entries::of(&group)).unwrap();
        let read: Entries = serde_json::from_str(&written).unwrap();
        assert_eq!(read.claims, Entries::of(&group).claims);
        assert_eq!(read.releases, [6]);
        assert_eq!(json(&read).unwrap(), written);
    }

    #[test]
    fn what_is_not_there_takes_no_room() {
        assert_eq!(json(&Entries::default()).unwrap(), "{}");
    }

    #[test]
    fn the_form_of_entries_is_part_of_the_schema() {
        let claim = json(&Entries::of(&claims([1]))).unwrap();
        assert_eq!(claim, r#"{"claims":[[1,0,1,447911061803,17]]}"#);
        for (outcome, written) in [
            (created(), r#"0,201,1,"4711",1700000005,null,null"#),
            (
                rejected(),
                r#"2,422,2,null,null,"http_422","no such person: Ada Lovelace""#,
            ),
        ] {
            let stored = json(&Entries::of(&settlements([1], &outcome))).unwrap();
            let claim = "[1,0,1,447911061803,17]";
            assert_eq!(stored, format!(r#"{{"outcomes":[[{claim},{written}]]}}"#));
        }
        let release = json(&Entries::of(&releases([1]))).unwrap();
        assert_eq!(release, r#"{"releases":[1]}"#);
    }
}
