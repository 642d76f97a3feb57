//! A row that was sent, as it is stored and read back.

use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Row, Transaction, params_from_iter};

use super::coding::{line, line_offset, status_code};
use super::columns::{Seconds, position};
use super::lead_id::{self, StoredLeadId};
use super::{Record, ServiceId, Settlement};
use crate::lead::{CampaignId, RowId, RowOutcome, RunId};
use crate::ledger::record::as_it_counts;

/// The columns of `sent`, in the order of [`values`] and of [`Record::read`].
pub(super) const COLUMNS: &str = "number, service, campaign, run, row, file, line_offset, status,
    http_status, attempts, lead_id, settled_at, error_code, error";

/// How many rows one statement inserts: to start and finish a
/// statement costs SQLite as much as to insert a row or two.
const AT_ONCE: usize = 16;

/// Inserts rows into `table`, each with its run. A row
/// replaces its earlier record, so its last outcome stays.
pub(super) fn store(
    change: &Transaction<'_>,
    table: &str,
    service: ServiceId,
    rows: &[(RunId, Settlement)],
) -> rusqlite::Result<()> {
    for rows in rows.chunks(AT_ONCE) {
        let all_values = vec!["(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"; rows.len()].join(",");
        let sql = format!("INSERT OR REPLACE INTO {table} ({COLUMNS}) VALUES {all_values}");
        let all = rows
            .iter()
            .flat_map(|(run, row)| values(service, *run, row));
        change
            .prepare_cached(&sql)?
            .execute(params_from_iter(all))?;
    }
    Ok(())
}

fn values(service: ServiceId, run: RunId, settled: &Settlement) -> [Value; 14] {
    let Settlement { claim, outcome, .. } = settled;
    [
        claim.number.key().cast_signed().into(),
        service.0.into(),
        claim.campaign.0.into(),
        run.0.cast_signed().into(),
        claim.row.0.cast_signed().into(),
        position(claim.file).into(),
        line_offset(claim.row, claim.line).into(),
        status_code(outcome.status).into(),
        outcome.http_status.into(),
        outcome.attempts.into(),
        outcome.lead_id.as_deref().map(lead_id::stored).into(),
        outcome.settled_at.map(Timestamp::as_second).into(),
        outcome.error_code.map(|code| code.to_string()).into(),
        outcome.error.clone().into(),
    ]
}

impl Record {
    /// Reads a result row of a query that begins with [`COLUMNS`].
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Record> {
        let at: i64 = row.get(4)?;
        Ok(Record {
            number: row.get(0)?,
            campaign: CampaignId(row.get(2)?),
            run: RunId(row.get(3)?),
            row: RowId(at.cast_unsigned()),
            file: row.get(5)?,
            line: line(at, row.get(6)?),
            outcome: outcome(row)?,
        })
    }
}

/// Reads the outcome from a result row of a query that begins with [`COLUMNS`].
pub(super) fn outcome(row: &Row<'_>) -> rusqlite::Result<RowOutcome> {
    let lead_id: Option<StoredLeadId> = row.get(10)?;
    let settled_at: Option<Seconds> = row.get(11)?;
    let outcome = RowOutcome {
        status: row.get(7)?,
        lead_id: lead_id.map(|StoredLeadId(text)| text),
        http_status: row.get(8)?,
        attempts: row.get(9)?,
        error_code: row.get(12)?,
        error: row.get(13)?,
        settled_at: settled_at.map(|Seconds(time)| time),
        quotes_cells: false,
        is_suppressed: false,
        is_known_bad: false,
    };
    Ok(as_it_counts(row.get(7)?, outcome))
}
