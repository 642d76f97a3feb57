//! Looks up what the ledger knows about numbers, many in one round trip.
//!
//! The server looks each number up in an index. `OFFSET 0` keeps it from turning the subquery into
//! a join, for which it might read the whole table.

use std::collections::{HashMap, HashSet};

use tokio_postgres::types::Type;

use super::PostgresLedger;
use super::columns::{IS_EXPIRED, SENDER};
use super::statements::column;
use crate::lead::{CampaignId, RowId, RunId};
use crate::ledger::record::{NO_ANSWER, columns, without_answer};
use crate::ledger::row::Row;
use crate::ledger::store::{Failed, Sql, Value};
use crate::ledger::{CellsDigest, Known, LedgerError, Scope, SentRow, ServiceId, Wanted};
use crate::phone::PhoneNumber;

const BAD: &str = "
SELECT wanted.digest, bad.run FROM unnest($2::bytea[]) AS wanted (digest), LATERAL (
    SELECT run FROM leadload.known_bad
    WHERE service = $1 AND digest = wanted.digest AND in_rejects OFFSET 0
) AS bad";

/// A connection for looking numbers up, while another one writes.
#[derive(Debug)]
pub struct PostgresRecall {
    ledger: PostgresLedger,
    /// Whether rows that are being sent count as uncertain; otherwise
    /// they are unknown until they are settled, or cannot be any more.
    shows_open: bool,
}

/// What was known of some numbers.
#[derive(Debug, Default)]
pub struct PostgresLook {
    records: HashMap<PhoneNumber, Vec<SentRow>>,
    /// Digests of bad cells, with the runs whose rejects hold them.
    bad: HashMap<[u8; 16], HashSet<RunId>>,
}

impl PostgresLedger {
    /// Opens a connection for looking numbers up while this one writes.
    pub fn recall(&self) -> PostgresRecall {
        self.recalling(false)
    }

    /// The same, with rows that are being sent.
    pub fn recall_all(&self) -> PostgresRecall {
        self.recalling(true)
    }

    fn recalling(&self, shows_open: bool) -> PostgresRecall {
        PostgresRecall {
            ledger: PostgresLedger::on(self.session.another()),
            shows_open,
        }
    }
}

impl PostgresRecall {
    /// Looks up everything about these numbers and cells.
    pub fn look(&mut self, wanted: &Wanted) -> Result<PostgresLook, LedgerError> {
        let mut look = PostgresLook::default();
        if !wanted.numbers.is_empty() {
            look.records = self.records(wanted)?;
        }
        if !wanted.digests.is_empty() {
            look.bad = self.bad(wanted)?;
        }
        Ok(look)
    }

    fn records(&self, wanted: &Wanted) -> Result<HashMap<PhoneNumber, Vec<SentRow>>, LedgerError> {
        let mut numbers = wanted.numbers.clone();
        numbers.sort_unstable();
        numbers.dedup();
        let find = format!(
            "SELECT {}, s.is_open, {IS_EXPIRED} AS is_expired
            FROM unnest($2::bigint[]) AS wanted (number), LATERAL (
                SELECT * FROM leadload.sent
                WHERE sent.number = wanted.number AND service = $1 OFFSET 0
            ) AS s {SENDER}",
            columns("s.")
        );
        let values = [wanted.service.into(), column(Type::INT8_ARRAY, &numbers)];
        self.ledger.session.read(|sql| {
            let mut found: HashMap<PhoneNumber, Vec<SentRow>> = HashMap::new();
            sql.each(&find, &values, &mut |row| {
                if let Some(record) = self.known(row, wanted.run)? {
                    found.entry(record.number).or_default().push(record);
                }
                Ok(true)
            })?;
            Ok(found)
        })
    }

    /// Reads a row, unless nothing is known of it yet.
    fn known(&self, row: &Row<'_>, run: Option<RunId>) -> Result<Option<SentRow>, Failed> {
        let (is_open, is_expired): (bool, bool) = (row.get("is_open")?, row.get("is_expired")?);
        let mut record = SentRow::read(row)?;
        if is_open {
            let is_shown = is_expired || self.shows_open || run == Some(record.run);
            if !is_shown {
                return Ok(None);
            }
            record.outcome = without_answer(record.outcome.attempts, NO_ANSWER);
        }
        Ok(Some(record))
    }

    fn bad(&self, wanted: &Wanted) -> Result<HashMap<[u8; 16], HashSet<RunId>>, LedgerError> {
        let digests = wanted.digests.iter().map(|digest| (&digest.0).into());
        let digests = Value::List(Type::BYTEA_ARRAY, digests.collect());
        let values = [wanted.service.into(), digests];
        self.ledger.session.read(|sql| {
            let mut bad: HashMap<[u8; 16], HashSet<RunId>> = HashMap::new();
            sql.each(BAD, &values, &mut |row| {
                bad.entry(row.get(0)?).or_default().insert(row.get(1)?);
                Ok(true)
            })?;
            Ok(bad)
        })
    }
}

impl PostgresLook {
    /// What is known about the number.
    pub fn find(&self, _: ServiceId, number: PhoneNumber, scope: Scope) -> Known {
        let mut known = Known::default();
        let is_meant = |record: &&SentRow| match scope {
            Scope::Campaign(campaign) => record.campaign == campaign,
            Scope::Service => true,
        };
        let records = self.records.get(&number).into_iter().flatten();
        records
            .filter(is_meant)
            .for_each(|record| known.add(record.clone()));
        known
    }

    /// The record of one row of one run.
    pub fn row(
        &self,
        number: PhoneNumber,
        campaign: CampaignId,
        run: RunId,
        row: RowId,
    ) -> Option<SentRow> {
        let mut records = self.records.get(&number)?.iter();
        let is_meant =
            |record: &&SentRow| (record.campaign, record.run, record.row) == (campaign, run, row);
        records.find(is_meant).cloned()
    }

    /// Whether a run other than `run` found these cells bad, and its rejects hold them.
    pub fn is_known_bad(&self, digest: CellsDigest, run: RunId) -> bool {
        let by = self.bad.get(&digest.0);
        by.is_some_and(|runs| runs.iter().any(|by| *by != run))
    }
}
