//! A row that was sent, as it is stored.

use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Transaction, params_from_iter};

use super::coding::{line_offset, status_code};
use super::lead_id;
use super::{ServiceId, Settlement};
use crate::lead::RunId;

/// The columns of `sent`, in the order of [`values`].
const COLUMNS: &str = "number, service, campaign, run, row, file, line_offset, status,
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
        (claim.file as u64).cast_signed().into(),
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
