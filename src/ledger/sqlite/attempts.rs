//! When rows that may have been taken were sent.

use jiff::Timestamp;
use rusqlite::{Transaction, params};

use super::{Attempted, Settlement};
use crate::lead::RunId;

/// A claim without an answer does not show that there was another attempt. Of a row that is created now, what
/// earlier starts have sent stays apart from what this one has.
const RECORD: &str = "
INSERT INTO attempts (run, row, first_ms, last_ms, ended_ms) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET first_ms = min(first_ms, excluded.first_ms),
    last_ms = iif(excluded.ended_ms IS NULL, max(last_ms, excluded.last_ms), last_ms),
    ended_ms = coalesce(max(ended_ms, excluded.ended_ms), ended_ms, excluded.ended_ms)
WHERE NOT ?6";

/// Records when a row that may be looked up was sent, by this start and by earlier ones.
pub(super) fn record(
    change: &Transaction<'_>,
    run: RunId,
    settled: &Settlement,
) -> rusqlite::Result<()> {
    let Some(Attempted { first, last, ended }) = settled.attempts_to_keep() else {
        return Ok(());
    };
    let row = settled.claim.row.0;
    let is_created = settled.outcome.is_created_after_loss();
    let ended = ended.map(millis);
    let values = params![run.0, row, millis(first), millis(last), ended, is_created];
    change.prepare_cached(RECORD)?.execute(values)?;
    Ok(())
}

fn millis(time: Timestamp) -> i64 {
    time.as_millisecond()
}
