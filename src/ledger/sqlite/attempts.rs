//! When rows that may have been taken were sent.

use jiff::Timestamp;

use super::{Attempted, Settlement};
use crate::lead::RunId;
use crate::ledger::store::{Failed, Sql};

/// Records in `table` when a row that may be looked up was sent, by the start that has settled it. What
/// each start has sent stays apart.
pub(super) fn record(
    sql: &mut dyn Sql,
    table: &str,
    run: RunId,
    settled: &Settlement,
) -> Result<(), Failed> {
    let Some(Attempted { first, last, ended }) = settled.attempts_to_keep() else {
        return Ok(());
    };
    let row = settled.claim.row.into();
    let (first, last) = (millis(first).into(), millis(last).into());
    let values = [run.into(), row, first, last, ended.map(millis).into()];
    let record = format!(
        "INSERT INTO {table} (run, row, first_ms, last_ms, ended_ms) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT DO UPDATE SET last_ms = max(last_ms, excluded.last_ms),
            ended_ms = coalesce(max(ended_ms, excluded.ended_ms), ended_ms, excluded.ended_ms)"
    );
    sql.change(&record, &values).map(drop)
}

fn millis(time: Timestamp) -> i64 {
    time.as_millisecond()
}
