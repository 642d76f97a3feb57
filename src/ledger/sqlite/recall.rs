//! Looks up what the ledger knows about a number, while another thread writes.
//!
//! A [`SqliteRecall`] has its own, read-only connection: it never waits for the writer,
//! nor the writer for it. It sees filed rows; after [`SqliteLedger::recover`] that is
//! everything about the service except what the current run has sent since.
//!
//! A query needs a snapshot of the ledger, and taking one costs as much as the query. So a [`SqliteLook`]
//! takes one snapshot for many queries, which it prepares once. While a snapshot is held, SQLite
//! cannot reuse the log and the log grows: hold a `Look` for some thousand rows, not longer.

use rusqlite::{CachedStatement, OptionalExtension, Params, Transaction, params};

use super::unfiled;
use super::{CellsDigest, Known, LedgerError, Scope, SentRow, ServiceId, SqliteLedger};
use crate::lead::{CampaignId, RowId, RunId};
use crate::ledger::record::columns;
use crate::ledger::row::Row;
use crate::ledger::store::Failed;
use crate::phone::PhoneNumber;

const OF_SERVICE: &str = "WHERE service = ?1 AND number = ?2";
const OF_CAMPAIGN: &str = "WHERE service = ?1 AND number = ?2 AND campaign = ?3";
const OF_ROW: &str =
    "WHERE service = ?1 AND number = ?2 AND campaign = ?3 AND run = ?4 AND row = ?5";
const IS_BAD: &str = "
SELECT 1 FROM known_bad WHERE service = ?1 AND digest = ?2 AND run <> ?3 AND in_rejects";

#[derive(Debug)]
pub struct SqliteRecall {
    pub(super) ledger: SqliteLedger,
    /// Where rows are looked up.
    sent: &'static str,
}

/// The ledger as it was at the first query; for some thousand rows.
pub struct SqliteLook<'a> {
    of_service: CachedStatement<'a>,
    of_campaign: CachedStatement<'a>,
    of_row: CachedStatement<'a>,
    is_bad: CachedStatement<'a>,
    ledger: &'a SqliteLedger,
    // Dropped last: the queries run within it.
    _snapshot: Transaction<'a>,
}

impl SqliteLedger {
    /// Opens a connection for looking numbers up while this one writes.
    pub fn recall(&self) -> Result<SqliteRecall, LedgerError> {
        let gone = || LedgerError::gone(&self.place);
        let ledger = self.again()?.ok_or_else(gone)?;
        Ok(SqliteRecall {
            ledger,
            sent: "sent",
        })
    }

    /// The same, including the service's rows that are not filed yet, as they are now.
    pub fn recall_all(&self, service: ServiceId) -> Result<SqliteRecall, LedgerError> {
        let recall = self.recall()?;
        let show = || -> Result<(), Failed> {
            let change = recall.ledger.db.unchecked_transaction()?;
            unfiled::show(&change, [service])?;
            Ok(change.commit()?)
        };
        recall.ledger.succeeded(show())?;
        Ok(SqliteRecall {
            sent: "sent_seen",
            ..recall
        })
    }
}

impl SqliteRecall {
    /// Begins a series of lookups: some thousand rows, within tenths of a second.
    pub fn look(&mut self) -> Result<SqliteLook<'_>, LedgerError> {
        self.ledger.checked(look(&self.ledger, self.sent))
    }
}

/// The first query takes the snapshot. The connection has no
/// other transaction, since a look borrows it exclusively.
fn look<'a>(ledger: &'a SqliteLedger, sent: &str) -> rusqlite::Result<SqliteLook<'a>> {
    let (db, columns) = (&ledger.db, columns(""));
    let select = |rows| db.prepare_cached(&format!("SELECT {columns} FROM {sent} {rows}"));
    Ok(SqliteLook {
        _snapshot: db.unchecked_transaction()?,
        of_service: select(OF_SERVICE)?,
        of_campaign: select(OF_CAMPAIGN)?,
        of_row: select(OF_ROW)?,
        is_bad: db.prepare_cached(IS_BAD)?,
        ledger,
    })
}

impl SqliteLook<'_> {
    /// What is known about the number. Reads every record that the number has in this
    /// scope. There are few unless duplicates were allowed: then use [`row`](Self::row).
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
        self.ledger.succeeded(known)
    }

    /// The record of one row of one run; costs the same however many records the number has.
    pub fn row(
        &mut self,
        service: ServiceId,
        number: PhoneNumber,
        campaign: CampaignId,
        run: RunId,
        row: RowId,
    ) -> Result<Option<SentRow>, LedgerError> {
        let key = params![
            service.0,
            number.key().cast_signed(),
            campaign.0,
            run.0.cast_signed(),
            row.0.cast_signed(),
        ];
        let mut found = Ok(None);
        let read = self.of_row.query_row(key, |row| {
            found = SentRow::read(&Row::File(row)).map(Some);
            Ok(())
        });
        let found = read.optional().map_err(Failed::from).and(found);
        self.ledger.succeeded(found)
    }

    /// Whether a run other than `run` found these cells invalid, or had them
    /// rejected by the service, and ended with a rejects file that holds them.
    pub fn is_known_bad(
        &mut self,
        service: ServiceId,
        digest: CellsDigest,
        run: RunId,
    ) -> Result<bool, LedgerError> {
        let key = params![service.0, digest.0, run.0.cast_signed()];
        let is_bad = self.is_bad.exists(key);
        self.ledger.checked(is_bad)
    }
}

fn know(query: &mut CachedStatement<'_>, key: impl Params) -> Result<Known, Failed> {
    let mut rows = query.query(key)?;
    let mut known = Known::default();
    while let Some(row) = rows.next()? {
        known.add(SentRow::read(&Row::File(row))?);
    }
    Ok(known)
}
