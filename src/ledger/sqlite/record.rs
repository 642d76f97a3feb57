//! Stores rows that were sent.

use rusqlite::Transaction;

use super::coding::line_offset;
use super::{ServiceId, Settlement};
use crate::lead::RunId;
use crate::ledger::record::{OUTCOME, each_of};
use crate::ledger::store::Value;

/// The columns of `sent` before those of the outcome, in the order of [`key`].
const KEY: &str = "number, service, campaign, run, row, file, line_offset";

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
    let outcome = each_of(&OUTCOME, |(column, _)| column.name.to_owned());
    let places = vec!["?"; KEY.split(',').count() + OUTCOME.len()].join(",");
    let places = format!("({places})");
    for rows in rows.chunks(AT_ONCE) {
        let all_places = vec![&*places; rows.len()].join(",");
        let sql = format!("INSERT OR REPLACE INTO {table} ({KEY}, {outcome}) VALUES {all_places}");
        let mut insert = change.prepare_cached(&sql)?;
        let mut place = 0;
        // One by one: a list of values is a tenth of the work.
        let mut bind = |value: &Value<'_>| {
            place += 1;
            insert.raw_bind_parameter(place, value)
        };
        for (run, settled) in rows {
            key(service, *run, settled).iter().try_for_each(&mut bind)?;
            for (_, stored) in &OUTCOME {
                bind(&stored(&settled.outcome))?;
            }
        }
        insert.raw_execute()?;
    }
    Ok(())
}

fn key(service: ServiceId, run: RunId, settled: &Settlement) -> [Value<'_>; 7] {
    let claim = &settled.claim;
    [
        claim.number.into(),
        service.into(),
        claim.campaign.into(),
        run.into(),
        claim.row.into(),
        claim.file.into(),
        line_offset(claim.row, claim.line).into(),
    ]
}
