//! Stores rows that were sent.

use rusqlite::Transaction;

use super::coding::line_offset;
use super::{ServiceId, Settlement};
use crate::lead::RunId;
use crate::ledger::record::{OUTCOME, each_of};

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
        // One by one, since to build a list of all values costs a tenth of what filing takes.
        for (run, settled) in rows {
            for number in key(service, *run, settled) {
                place += 1;
                insert.raw_bind_parameter(place, number)?;
            }
            for (_, stored) in &OUTCOME {
                place += 1;
                insert.raw_bind_parameter(place, stored(&settled.outcome))?;
            }
        }
        insert.raw_execute()?;
    }
    Ok(())
}

fn key(service: ServiceId, run: RunId, settled: &Settlement) -> [i64; 7] {
    let claim = &settled.claim;
    [
        claim.number.key().cast_signed(),
        service.0,
        claim.campaign.0,
        run.0.cast_signed(),
        claim.row.0.cast_signed(),
        claim.file as i64,
        line_offset(claim.row, claim.line),
    ]
}
