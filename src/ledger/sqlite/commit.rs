//! Writes groups of claims and outcomes, each group completely or not at all.

use super::sql::FileSql;
use super::{CellsDigest, Group, LedgerError, Reply, ServiceId, Settlement, SqliteLedger};
use super::{attempts, journal, pace};
use crate::lead::{RowId, RunId, Status};
use crate::ledger::earlier::NOTE_TOKEN;
use crate::ledger::store::{Failed, Sql, Value};
use crate::ledger::{TokenUsed, suppressed};

/// A run that continues counts from zero again; the higher
/// counts of earlier starts stay until it has passed them.
const RECORD_PROGRESS: &str = "
UPDATE runs SET reached = max(reached, $2),
    counts = CASE
        WHEN $3 >= (SELECT coalesce(sum(value), 0) FROM json_each(runs.counts)) THEN $4 ELSE counts
    END
WHERE id = $1
RETURNING service";

const ADD_INVALID: &str = "
INSERT OR REPLACE INTO invalid_rows (run, row, file, line, campaign, cell, error_code, error)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

/// Cells that are not worth sending again unchanged. They count only when a rejects file of the run
/// holds them: see `ending`.
const ADD_BAD: &str = "
INSERT INTO known_bad (service, digest, run, row) VALUES ($1, $2, $3, $4)
ON CONFLICT DO UPDATE SET row = excluded.row WHERE NOT in_rejects AND row > excluded.row";

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
    for settled in &group.settlements {
        attempts::record(sql, "attempts", run, settled)?;
    }
    for row in &group.invalid {
        let code = row.outcome.error_code.map(|code| code.to_string());
        let values = [
            run.into(),
            row.row.into(),
            row.file.into(),
            row.line.into(),
            row.campaign.into(),
            (&row.cell).into(),
            code.as_deref().into(),
            row.outcome.error.as_deref().into(),
        ];
        sql.change(ADD_INVALID, &values)?;
    }
    let rejected = group.settlements.iter().filter_map(rejected_cells);
    let invalid = group.invalid.iter().map(|row| (row.row, row.cells));
    for (row, CellsDigest(digest)) in rejected.chain(invalid) {
        let values = [service.into(), (&digest).into(), run.into(), row.into()];
        sql.change(ADD_BAD, &values)?;
    }
    for TokenUsed { token, ahead_s } in &group.tokens {
        let values = [run.into(), (&**token).into(), (*ahead_s).into()];
        sql.change(NOTE_TOKEN, &values)?;
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

fn rejected_cells(settlement: &Settlement) -> Option<(RowId, CellsDigest)> {
    let is_rejected = settlement.outcome.status == Status::Rejected;
    let cells = settlement.cells.filter(|_| is_rejected)?;
    Some((settlement.claim.row, cells))
}
