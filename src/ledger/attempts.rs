//! When rows that may have been taken were sent.

use std::collections::BTreeMap;

use super::Attempted;
use super::store::{Failed, Sql};
use crate::lead::{RowId, RunId};

const OF_RUN: &str = "
SELECT row, first_ms, last_ms, ended_ms FROM leadload.attempts_seen AS a WHERE run = $1
ORDER BY row, first_ms";

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
