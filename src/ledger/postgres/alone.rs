//! Work during which nothing is sent, and tables that are built again without what was removed.

use super::PostgresLedger;
use super::expire::expire_claims;
use super::sql::ServerSql;
use crate::lead::RunId;
use crate::ledger::store::Failed;
use crate::ledger::{LedgerError, ServiceId};

/// Keeps leases from being acquired and renewed until the transaction ends.
pub(in crate::ledger) const STOP_SENDERS: &str =
    "LOCK TABLE leadload.senders IN SHARE ROW EXCLUSIVE MODE";

/// Whether a run is being sent, or one that was killed may have a request on its way.
const IS_SENDING: &str = "
SELECT EXISTS (
    SELECT 1 FROM leadload.senders AS e WHERE until > clock_timestamp()
        OR until + timeout_ms * interval '1 ms' > clock_timestamp() AND EXISTS (
            SELECT 1 FROM leadload.sent AS s
            WHERE s.run = e.run AND s.sender = e.id AND s.is_open
        )
)";

/// Runs that may have open claims.
const OPEN: &str = "SELECT id FROM leadload.runs WHERE completed_at IS NULL";

/// The tables that hold what is removed.
pub(in crate::ledger) const REBUILD: [&str; 11] = [
    "sent",
    "attempts",
    "undo_rows",
    "invalid_rows",
    "known_bad",
    "inputs",
    "lists",
    "outputs",
    "senders",
    "starts",
    "runs",
];

impl PostgresLedger {
    /// A service that a run is being sent to; `None` if none is sent.
    pub fn busy_service(&self) -> Result<Option<ServiceId>, LedgerError> {
        let live = "SELECT service FROM leadload.senders WHERE until > clock_timestamp() LIMIT 1";
        self.session
            .read(|sql| sql.as_sql().row(live, &[], |row| row.get(0)))
    }

    /// Does the work in a transaction during which nothing is sent, so that all open claims have expired.
    pub(in crate::ledger) fn alone<T>(
        &self,
        work: impl Fn(&mut ServerSql<'_>) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        let done = self.session.write_once(|sql| {
            sql.batch(STOP_SENDERS)?;
            if sql.as_sql().value(IS_SENDING, &[])? {
                return Ok(None);
            }
            for run in sql.as_sql().rows(OPEN, &[], |row| row.get::<RunId>(0))? {
                expire_claims(sql, run)?;
            }
            work(sql).map(Some)
        })?;
        done.ok_or_else(|| {
            LedgerError(message!(
                "a run began to send while {place} was to be changed",
                "wait until it has ended, then {again}",
                place = self.place()
            ))
        })
    }

    /// Builds tables again without what was removed.
    pub(in crate::ledger) fn rebuild(&self, tables: &[&str]) -> Result<(), LedgerError> {
        tables
            .iter()
            .try_for_each(|table| self.session.rebuild(table))
    }
}
