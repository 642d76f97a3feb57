//! What the ledger knows of a number, looked up while another thread writes.
//!
//! A connection of its own that only reads: it never waits for the writer, nor the writer for it.
//! It sees what has been filed; after [`Ledger::recover`] that is everything of the service but
//! what the current run has sent since.
//!
//! A query needs a snapshot of the ledger, and taking one costs as much as the query. So there is
//! a [`Look`] for many queries, prepared once. While one is held, the log beside the ledger
//! cannot start again from its beginning and grows: it is for some thousand rows, not to be kept.

use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Transaction, params};

use super::record::{COLUMNS, Record};
use super::unfiled;
use super::{CellsDigest, Ledger, LedgerError, LedgerPlace, ServiceId};
use crate::lead::{CampaignId, RowId, RunId, Status};
use crate::phone::PhoneNumber;

const OF_SERVICE: &str = "WHERE service = ?1 AND number = ?2";
const OF_CAMPAIGN: &str = "WHERE service = ?1 AND number = ?2 AND campaign = ?3";
const OF_ROW: &str =
    "WHERE service = ?1 AND number = ?2 AND campaign = ?3 AND run = ?4 AND row = ?5";
const IS_BAD: &str = "
SELECT 1 FROM known_bad WHERE service = ?1 AND digest = ?2 AND run <> ?3 AND in_rejects";

#[derive(Debug)]
pub struct Recall {
    pub(super) ledger: Ledger,
}

/// The ledger as it was at the first query; one for some thousand rows.
pub struct Look<'a> {
    of_service: CachedStatement<'a>,
    of_campaign: CachedStatement<'a>,
    of_row: CachedStatement<'a>,
    is_bad: CachedStatement<'a>,
    place: &'a LedgerPlace,
    // Dropped last: the queries run within it.
    _snapshot: Transaction<'a>,
}

/// Where a number may be sent only once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// In each campaign; this one is looked up.
    Campaign(CampaignId),
    Service,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// The earliest lead that the service has made, else the earliest that it says it
    /// already has.
    pub settled: Option<Record>,
    /// The latest that may have been taken.
    pub uncertain: Option<Record>,
    /// The latest that was refused.
    pub rejected: Option<Record>,
}

impl Ledger {
    /// What it knows of numbers, read through a connection of its own while this one writes.
    pub fn recall(&self) -> Result<Recall, LedgerError> {
        let gone = || LedgerError::gone(&self.place);
        let ledger = Ledger::read(&self.place)?.ok_or_else(gone)?;
        Ok(Recall { ledger })
    }

    /// The same, with rows of the service that are not filed yet as they are at this instant.
    pub fn recall_all(&self, service: ServiceId) -> Result<Recall, LedgerError> {
        let recall = self.recall()?;
        recall.ledger.reading(|db| {
            let change = db.unchecked_transaction()?;
            unfiled::show(&change, [service])?;
            change.commit()
        })?;
        Ok(recall)
    }
}

impl Recall {
    /// Begins to look rows up: some thousand, in tenths of a second.
    pub fn look(&mut self) -> Result<Look<'_>, LedgerError> {
        let Ledger { db, place, .. } = &self.ledger;
        look(db, place).map_err(|error| LedgerError::of(place, error))
    }
}

/// The snapshot is taken with the first query. There is no other of the connection: a look
/// borrows it exclusively.
fn look<'a>(db: &'a Connection, place: &'a LedgerPlace) -> rusqlite::Result<Look<'a>> {
    let select = |rows| db.prepare_cached(&format!("SELECT {COLUMNS} FROM sent {rows}"));
    Ok(Look {
        _snapshot: db.unchecked_transaction()?,
        of_service: select(OF_SERVICE)?,
        of_campaign: select(OF_CAMPAIGN)?,
        of_row: select(OF_ROW)?,
        is_bad: db.prepare_cached(IS_BAD)?,
        place,
    })
}

impl Look<'_> {
    /// What is known of the number. Reads every record of it in that scope, of which
    /// there are few unless duplicates were allowed: then use [`row`](Self::row).
    pub fn find(
        &mut self,
        service: ServiceId,
        number: PhoneNumber,
        scope: Scope,
    ) -> Result<Known, LedgerError> {
        let number = number.key().cast_signed();
        let known = match scope {
            Scope::Campaign(campaign) => {
                let key = params![service.0, number, campaign.0];
                know(&mut self.of_campaign, key)
            }
            Scope::Service => know(&mut self.of_service, params![service.0, number]),
        };
        self.checked(known)
    }

    /// The record of one row of one run; costs the same however many its number has.
    pub fn row(
        &mut self,
        service: ServiceId,
        number: PhoneNumber,
        campaign: CampaignId,
        run: RunId,
        row: RowId,
    ) -> Result<Option<Record>, LedgerError> {
        let key = params![
            service.0,
            number.key().cast_signed(),
            campaign.0,
            run.0.cast_signed(),
            row.0.cast_signed(),
        ];
        let found = self.of_row.query_row(key, Record::read).optional();
        self.checked(found)
    }

    /// Whether another run than `run` has found that these cells cannot be sent, or that the
    /// service refuses them, and has ended with a rejects file that has them.
    pub fn is_known_bad(
        &mut self,
        service: ServiceId,
        digest: CellsDigest,
        run: RunId,
    ) -> Result<bool, LedgerError> {
        let key = params![service.0, digest.0, run.0.cast_signed()];
        let is_bad = self.is_bad.exists(key);
        self.checked(is_bad)
    }

    fn checked<T>(&self, result: rusqlite::Result<T>) -> Result<T, LedgerError> {
        result.map_err(|error| LedgerError::of(self.place, error))
    }
}

impl Known {
    fn add(&mut self, record: Record) {
        let is_later = |a: &Record, b: &Record| (a.run, a.row) > (b.run, b.row);
        let is_earlier = |a: &Record, b: &Record| earliness(a) < earliness(b);
        match record.outcome.status {
            Status::Created | Status::Duplicate => keep(&mut self.settled, record, is_earlier),
            Status::Uncertain => keep(&mut self.uncertain, record, is_later),
            Status::Rejected => keep(&mut self.rejected, record, is_later),
            // Nothing was taken of the others: as if they had never been sent.
            _ => {}
        }
    }
}

fn keep(kept: &mut Option<Record>, new: Record, is_better: impl Fn(&Record, &Record) -> bool) {
    if kept.as_ref().is_none_or(|kept| is_better(&new, kept)) {
        *kept = Some(new);
    }
}

/// Created before duplicate, then by time.
fn earliness(record: &Record) -> impl Ord + use<> {
    let is_duplicate = record.outcome.status == Status::Duplicate;
    (
        is_duplicate,
        record.outcome.settled_at,
        record.run,
        record.row,
    )
}

fn know(query: &mut CachedStatement<'_>, key: impl Params) -> rusqlite::Result<Known> {
    let mut rows = query.query(key)?;
    let mut known = Known::default();
    while let Some(row) = rows.next()? {
        known.add(Record::read(row)?);
    }
    Ok(known)
}
