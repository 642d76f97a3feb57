//! The files that runs have written, so that they are known again.

use std::path::PathBuf;

use rusqlite::{Connection, TransactionBehavior, params};

use super::columns::{PathText, place};
use super::run::{OutputAt, OutputRecord};
use super::{Ledger, LedgerError};
use crate::lead::RunId;

impl Ledger {
    /// Records what files hold, before they get their names: a file under its name is known
    /// then, whenever the run is killed.
    ///
    /// # Errors
    ///
    /// Where the ledger cannot be written; then nothing is recorded.
    pub fn record_outputs(
        &mut self,
        run: RunId,
        outputs: &[OutputRecord],
    ) -> Result<(), LedgerError> {
        let recorded = record(&mut self.db, run, outputs);
        self.checked(recorded)
    }

    /// What is known of these places, by any run.
    pub fn outputs_at(&self, paths: &[PathBuf]) -> Result<Vec<OutputAt>, LedgerError> {
        let found = at(&self.db, paths);
        self.checked(found)
    }
}

fn record(db: &mut Connection, run: RunId, outputs: &[OutputRecord]) -> rusqlite::Result<()> {
    let step = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // All that was begun is complete, or not there.
    step.execute(
        "DELETE FROM outputs WHERE run = ?1 AND sha256 IS NULL",
        [run.0],
    )?;
    for output in outputs {
        step.execute(
            "INSERT INTO outputs (run, path, kind, sha256, rows, place)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                run.0,
                PathText(&output.path),
                output.kind.as_str(),
                output.sha256,
                output.rows,
                place(&output.path),
            ],
        )?;
    }
    step.commit()
}

fn at(db: &Connection, paths: &[PathBuf]) -> rusqlite::Result<Vec<OutputAt>> {
    let mut known =
        db.prepare("SELECT run, sha256, rows FROM outputs WHERE place = ?1 ORDER BY run")?;
    let mut found = Vec::new();
    for path in paths {
        let mut rows = known.query([place(path)])?;
        while let Some(row) = rows.next()? {
            found.push(OutputAt {
                path: path.clone(),
                run: RunId(row.get(0)?),
                sha256: row.get(1)?,
                rows: row.get(2)?,
            });
        }
    }
    Ok(found)
}
