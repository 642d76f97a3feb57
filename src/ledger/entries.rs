//! What a group leaves in the journal: claims, outcomes and releases, as JSON.
//!
//! They are one row of SQLite for hundreds of leads: a statement for each would cost
//! several times what the lead itself does. A record is an array, its items in the order of
//! the fields here.

use std::borrow::Cow;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, Value, ValueRef};
use serde::{Deserialize, Serialize, Serializer};

use super::columns::json;
use super::lead_id::ShortLeadId;
use super::record::{line_offset, position, status_code};
use super::{Claim, Group, Settlement};

/// The entries of a group. `T` is text: borrowed where it is written or unpacked, owned
/// where it was read.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entries<T> {
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub(super) claims: Vec<StoredClaim>,
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub(super) outcomes: Vec<Outcome<T>>,
    /// Rows whose claims are taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) releases: Vec<i64>,
}

/// Where a row of a run stands, and what is sent of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct StoredClaim {
    pub(super) row: i64,
    pub(super) file: i64,
    pub(super) line_offset: i64,
    pub(super) number: i64,
    pub(super) campaign: i64,
}

/// A row that has its outcome. `L` is its lead id.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Outcome<T, L = T> {
    pub(super) claim: StoredClaim,
    status: i64,
    http_status: Option<u16>,
    attempts: u32,
    lead_id: Option<L>,
    settled_at: Option<i64>,
    /// A code and a sentence. Few have any, so that they do not take the room.
    why: Option<Box<(Option<T>, Option<T>)>>,
}

/// What was read.
pub(super) type StoredEntries = Entries<Box<str>>;
pub(super) type StoredOutcome = Outcome<Box<str>>;

/// As it is packed and filed, where it takes the least room.
pub(super) type ShortOutcome<'a> = Outcome<&'a str, ShortLeadId<&'a str>>;

impl<'a> Entries<Cow<'a, str>> {
    pub(super) fn of(group: &'a Group) -> Self {
        Entries {
            claims: group.claims.iter().map(StoredClaim::of).collect(),
            outcomes: group.settlements.iter().map(Outcome::of).collect(),
            releases: group
                .releases
                .iter()
                .map(|row| row.0.cast_signed())
                .collect(),
        }
    }
}

impl<T> Entries<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.claims.is_empty() && self.outcomes.is_empty() && self.releases.is_empty()
    }
}

impl<T: Serialize> Entries<T> {
    /// As they stand in the journal.
    pub(super) fn json(&self) -> rusqlite::Result<String> {
        json(self)
    }
}

impl FromSql for StoredEntries {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map_err(FromSqlError::other)
    }
}

impl StoredClaim {
    pub(super) fn of(claim: &Claim) -> StoredClaim {
        StoredClaim {
            row: claim.row.0.cast_signed(),
            file: position(claim.file),
            line_offset: line_offset(claim.row, claim.line),
            number: claim.number.key().cast_signed(),
            campaign: claim.campaign.0,
        }
    }

    /// Number, campaign, run, row, file and the line's offset, as they stand in `sent`.
    pub(super) fn columns(&self, run: i64) -> [Value; 6] {
        [
            self.number,
            self.campaign,
            run,
            self.row,
            self.file,
            self.line_offset,
        ]
        .map(Value::Integer)
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

impl<'a> Outcome<Cow<'a, str>> {
    fn of(Settlement { claim, outcome, .. }: &'a Settlement) -> Self {
        let code = outcome.error_code.map(|code| Cow::Owned(code.to_string()));
        let error = outcome.error.as_deref().map(Cow::Borrowed);
        let has_why = code.is_some() || error.is_some();
        Outcome {
            claim: StoredClaim::of(claim),
            status: status_code(outcome.status),
            http_status: outcome.http_status,
            attempts: outcome.attempts,
            lead_id: outcome.lead_id.as_deref().map(Cow::Borrowed),
            settled_at: outcome.settled_at.map(|time| time.as_second()),
            why: has_why.then(|| Box::new((code, error))),
        }
    }
}

impl<T: Serialize, L: Serialize> Serialize for Outcome<T, L> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (
            &self.claim,
            self.status,
            self.http_status,
            self.attempts,
            &self.lead_id,
            self.settled_at,
            &self.why,
        )
            .serialize(serializer)
    }
}

impl StoredEntries {
    /// Rows whose claims are not open any more.
    pub(super) fn ended(&self) -> impl Iterator<Item = i64> {
        let settled = self.outcomes.iter().map(|outcome| outcome.claim.row);
        settled.chain(self.releases.iter().copied())
    }
}

impl StoredOutcome {
    /// The same in the form that is packed and filed.
    pub(super) fn shortened(&self) -> ShortOutcome<'_> {
        let why = self.why.as_deref();
        Outcome {
            claim: self.claim,
            status: self.status,
            http_status: self.http_status,
            attempts: self.attempts,
            lead_id: self.lead_id.as_deref().map(ShortLeadId::of),
            settled_at: self.settled_at,
            why: why.map(|(code, error)| Box::new((code.as_deref(), error.as_deref()))),
        }
    }
}

impl ShortOutcome<'_> {
    /// Those of the claim, then status, HTTP status, attempts, lead id, time, code and
    /// sentence, as they stand in `sent`.
    pub(super) fn columns(&self, run: i64) -> [Value; 13] {
        let [number, campaign, run, row, file, line_offset] = self.claim.columns(run);
        let (code, error) = self.why.as_deref().copied().unwrap_or_default();
        [
            number,
            campaign,
            run,
            row,
            file,
            line_offset,
            self.status.into(),
            self.http_status.into(),
            self.attempts.into(),
            self.lead_id.map(Value::from).into(),
            self.settled_at.into(),
            code.map(str::to_owned).into(),
            error.map(str::to_owned).into(),
        ]
    }
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
        let written = Entries::of(&group).json().unwrap();
        let read: StoredEntries = serde_json::from_str(&written).unwrap();
        assert_eq!(read.claims, Entries::of(&group).claims);
        assert_eq!(read.releases, [6]);
        assert_eq!(read.json().unwrap(), written);
    }

    #[test]
    fn what_is_not_there_takes_no_room() {
        assert_eq!(Entries::of(&Group::default()).json().unwrap(), "{}");
    }

    #[test]
    fn entries_of_today_are_read_for_ever() {
        let claim = Entries::of(&claims([1])).json().unwrap();
        assert_eq!(claim, r#"{"claims":[[1,0,1,447911061803,17]]}"#);
        for (outcome, written) in [
            (created(), r#"0,201,1,"4711",1700000005,null"#),
            (
                rejected(),
                r#"2,422,2,null,null,["http_422","no such person: Ada Lovelace"]"#,
            ),
        ] {
            let stored = Entries::of(&settlements([1], &outcome)).json().unwrap();
            let claim = "[1,0,1,447911061803,17]";
            assert_eq!(stored, format!(r#"{{"outcomes":[[{claim},{written}]]}}"#));
        }
        let release = Entries::of(&releases([1])).json().unwrap();
        assert_eq!(release, r#"{"releases":[1]}"#);
    }
}
