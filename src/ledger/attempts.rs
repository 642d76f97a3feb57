//! When rows that may have been taken were sent.

use std::collections::BTreeMap;

use super::store::{Failed, Sql, Value};
use super::{Attempted, Settlement};
use crate::lead::{RowId, RunId};

/// What each start has sent stays apart.
pub(super) const RECORD: &str = "
INSERT INTO leadload.attempts AS a (run, row, first_ms, last_ms, ended_ms) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (run, row, first_ms) DO UPDATE SET
    last_ms = CASE WHEN excluded.last_ms > a.last_ms THEN excluded.last_ms ELSE a.last_ms END,
    ended_ms = CASE WHEN a.ended_ms IS NULL OR excluded.ended_ms > a.ended_ms
        THEN excluded.ended_ms ELSE a.ended_ms END";

const OF_RUN: &str = "
SELECT row, first_ms, last_ms, ended_ms FROM leadload.attempts_seen AS a WHERE run = $1
ORDER BY row, first_ms";

/// The values of [`RECORD`] for a row that may be looked up, by the start that has settled it.
pub(super) fn values(run: RunId, settled: &Settlement) -> Option<Vec<Value<'static>>> {
    let Attempted { first, last, ended } = settled.attempts_to_keep()?;
    let [first, last] = [first, last].map(|time| time.as_millisecond().into());
    let ended = ended.map(|time| time.as_millisecond());
    Some(vec![
        run.into(),
        settled.claim.row.into(),
        first,
        last,
        ended.into(),
    ])
}

/// When each start has sent the rows of a run, as far as that is on record.
pub(super) fn of_run(
    sql: &mut dyn Sql,
    run: RunId,
) -> Result<BTreeMap<RowId, Vec<Attempted>>, Failed> {
    let mut times: BTreeMap<RowId, Vec<Attempted>> = BTreeMap::new();
    sql.each(OF_RUN, &[run.into()], &mut |row| {
        let (first, last) = (row.get("first_ms")?, row.get("last_ms")?);
        let attempted = Attempted::of_millis(first, last, row.get("ended_ms")?);
        times.entry(row.get("row")?).or_default().extend(attempted);
        Ok(true)
    })?;
    Ok(times)
}
