//! When rows that may have been taken were sent.

use jiff::Timestamp;
use rusqlite::{Transaction, params};

use super::{Attempted, Settlement};
use crate::lead::RunId;

const RECORD: &str = "
INSERT INTO attempts (run, row, first_ms, last_ms) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT DO UPDATE SET first_ms = min(first_ms, excluded.first_ms),
    last_ms = max(last_ms, excluded.last_ms)";

/// Records when a row that may be looked up was sent, by this start and by earlier ones.
pub(super) fn record(
    change: &Transaction<'_>,
    run: RunId,
    settled: &Settlement,
) -> rusqlite::Result<()> {
    let Some(Attempted { first, last }) = settled.attempts_to_keep() else {
        return Ok(());
    };
    let row = settled.claim.row.0;
    let values = params![run.0, row, millis(first), millis(last)];
    change.prepare_cached(RECORD)?.execute(values)?;
    Ok(())
}

fn millis(time: Timestamp) -> i64 {
    time.as_millisecond()
}
