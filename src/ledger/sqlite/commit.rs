//! Writes groups of claims and outcomes, each group completely or not at all.

use super::sql::FileSql;
use super::{Group, LedgerError, Reply, ServiceId, SqliteLedger, journal, pace};
use crate::lead::RunId;
use crate::ledger::store::{Failed, Sql, Value};
use crate::ledger::{group, suppressed};

/// A run that continues counts from zero again; the higher
/// counts of earlier starts stay until it has passed them.
const RECORD_PROGRESS: &str = "
UPDATE runs SET reached = max(reached, $2),
    counts = CASE
        WHEN $3 >= (SELECT coalesce(sum(value), 0) FROM json_each(runs.counts)) THEN $4 ELSE counts
    END
WHERE id = $1
RETURNING service";

impl SqliteLedger {
    /// Writes the group. Its claims come before its settlements, so a row may be claimed
    /// and settled in one group. When this returns, the whole group is on disk; after an
    /// error nothing of it is in the ledger, and the same group can be committed again.
    pub fn commit(&mut self, run: RunId, group: &Group) -> Result<Reply, LedgerError> {
        self.refuse_replaced()?;
        let (service, suppressed) = self.write_sql(|sql| {
            let service = write(sql, run, group)?;
            let known = group.suppressed_to;
            let new = known.map(|known| suppressed::after(sql, known));
            Ok((service, new.transpose()?))
        })?;
        self.filing.count(service, group.settlements.len());
        Ok(Reply {
            suppressed,
            ..Reply::default()
        })
    }
}

fn write(sql: &mut FileSql<'_>, run: RunId, group: &Group) -> Result<ServiceId, Failed> {
    // This comes first since it fails if there is no such run.
    let service = record_progress(sql, run, group)?;
    journal::append(sql.db, run, group)?;
    for (change, values) in group::changes(service, run, group) {
        sql.change(&change, &values)?;
    }
    pace::record(sql, service, group)?;
    Ok(service)
}

fn record_progress(sql: &mut dyn Sql, run: RunId, group: &Group) -> Result<ServiceId, Failed> {
    let claimed = group.claims.iter().map(|claim| claim.row.0);
    let values = [
        run.into(),
        claimed.max().unwrap_or_default().into(),
        group.counts.total().into(),
        Value::json(&group.counts),
    ];
    let service = sql.row(RECORD_PROGRESS, &values, |row| row.get(0))?;
    service.ok_or_else(|| Failed::File(rusqlite::Error::QueryReturnedNoRows))
}
