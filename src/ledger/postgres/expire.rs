//! Open claims of a run that no request can be on its way for any more.

use super::PostgresLedger;
use super::claims::{IS_EXPIRED, SENDER, expire};
use super::sql::ServerSql;
use crate::lead::{RunId, Status};
use crate::ledger::store::Failed;
use crate::ledger::{LedgerError, counts};

impl PostgresLedger {
    /// The run's open claims whose requests cannot be on their way any more become uncertain, and are
    /// counted so. Returns how many others there are.
    pub fn expire_claims(&mut self, run: RunId) -> Result<u64, LedgerError> {
        self.session.write_once(|sql| expire_claims(sql, run))
    }
}

pub(super) fn expire_claims(sql: &mut ServerSql<'_>, run: RunId) -> Result<u64, Failed> {
    let sql = sql.as_sql();
    let of_run = [run.into()];
    let mut counts = counts::to_change(sql, run)?;
    // A row that was sent before is counted, and so is one that a later start has read.
    let uncounted = format!(
        "SELECT count(*) FROM leadload.sent AS s {SENDER}
        WHERE s.run = $1 AND s.status IS NULL AND {IS_EXPIRED}
            AND s.row > (SELECT read_to FROM leadload.runs WHERE id = $1)"
    );
    let uncounted: u64 = sql.value(&uncounted, &of_run)?;
    let expire = expire(&format!(
        "FROM leadload.sent AS open {} WHERE s.run = $1 AND s.is_open
            AND open.run = s.run AND open.row = s.row AND {}",
        SENDER.replace("s.", "open."),
        IS_EXPIRED.replace("s.", "open."),
    ));
    sql.change(&expire, &of_run)?;
    (0..uncounted).for_each(|_| counts.add(Status::Uncertain));
    counts::write(sql, run, &counts)?;
    let left = "SELECT count(*) FROM leadload.sent WHERE run = $1 AND is_open";
    sql.value(left, &of_run)
}
