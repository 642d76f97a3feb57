//! When rows that may have been taken were sent.

use jiff::Timestamp;
use rusqlite::{Transaction, params};

use super::{Attempted, Settlement};
use crate::lead::RunId;

/// Records in `table` when a row that may be looked up was sent, by the start that has settled it. What
/// each start has sent stays apart.
pub(super) fn record(
    change: &Transaction<'_>,
    table: &str,
    run: RunId,
    settled: &Settlement,
) -> rusqlite::Result<()> {
    let Some(Attempted { first, last, ended }) = settled.attempts_to_keep() else {
        return Ok(());
    };
    let row = settled.claim.row.0;
    let ended = ended.map(millis);
    let values = params![run.0, row, millis(first), millis(last), ended];
    let record = format!(
        "INSERT INTO {table} (run, row, first_ms, last_ms, ended_ms) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT DO UPDATE SET last_ms = max(last_ms, excluded.last_ms),
            ended_ms = coalesce(max(ended_ms, excluded.ended_ms), ended_ms, excluded.ended_ms)"
    );
    change.prepare_cached(&record)?.execute(values)?;
    Ok(())
}

fn millis(time: Timestamp) -> i64 {
    time.as_millisecond()
}
