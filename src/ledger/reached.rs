//! How far runs have come in their inputs.

use std::collections::BTreeMap;

use rusqlite::Transaction;

const REACH: &str = "UPDATE runs SET reached = max(reached, ?2) WHERE id = ?1";

/// The highest row of each run. It is written with the first of its rows that is placed
/// among `sent`: none there is ever beyond what is noted.
#[derive(Debug, Default)]
pub(super) struct Reached(BTreeMap<i64, i64>);

impl Reached {
    /// Takes a row of a run into account.
    pub(super) fn note(&mut self, run: i64, row: i64) {
        let highest = self.0.entry(run).or_default();
        *highest = row.max(*highest);
    }

    /// Writes it beside what is known of the runs.
    pub(super) fn write(&self, change: &Transaction<'_>) -> rusqlite::Result<()> {
        let mut reach = change.prepare_cached(REACH)?;
        for (run, row) in &self.0 {
            reach.execute([run, row])?;
        }
        Ok(())
    }
}
