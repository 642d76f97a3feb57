//! The files that runs have written, recorded so that they are recognized later.

use std::path::PathBuf;

use rusqlite::{Row, params};

use super::coding::place;
use super::columns::{PathText, all, path};
use super::{LedgerError, OutputRecord, SqliteLedger};
use crate::lead::RunId;
use crate::ledger::OutputKind;

/// Adds a file of a run. Of another run than the one at work (?7) it adds no path if that was pruned,
/// and nothing at all if it was forgotten.
const ADD: &str = "
INSERT INTO outputs (run, path, kind, sha256, rows, place)
SELECT id, CASE WHEN id = ?7 OR pruned_at IS NULL THEN ?2 END, ?3, ?4, ?5, ?6
FROM runs WHERE id = ?1";

impl SqliteLedger {
    /// Records the content of files before they get their final names: then
    /// a file under its final name is known, whenever the run is killed. A file of
    /// another run gets another name: it is known under both.
    pub fn record_outputs(
        &mut self,
        run: RunId,
        outputs: &[OutputRecord],
    ) -> Result<(), LedgerError> {
        self.changing(|change| {
            // Every file that this start began is either complete now or does not exist. Undoing the run
            // leaves what a killed start has begun.
            if outputs.iter().all(|output| output.kind != OutputKind::Undo) {
                let begun = "DELETE FROM outputs WHERE run = ?1 AND sha256 IS NULL";
                change.execute(begun, [run.0])?;
            }
            for output in outputs {
                let Some(path) = &output.path else { continue };
                let (kind, place) = (output.kind.as_str(), place(path));
                let path = PathText(path);
                let (run, at_work) = (output.run.0, run.0);
                let values = params![run, path, kind, output.sha256, output.rows, place, at_work];
                change.execute(ADD, values)?;
            }
            Ok(())
        })
    }

    /// The files that any run has written, or begun to write, at these paths.
    pub fn outputs_at(&self, paths: &[PathBuf]) -> Result<Vec<OutputRecord>, LedgerError> {
        let known = "SELECT * FROM outputs WHERE place = ?1 ORDER BY run";
        self.reading(|db| {
            let mut found = Vec::new();
            for path in paths {
                let at: Vec<OutputRecord> = all(db, known, [place(path)], OutputRecord::read)?;
                // Set here since the stored path may have been pruned.
                let path = Some(path);
                found.extend(at.into_iter().map(|output| OutputRecord {
                    path: path.cloned(),
                    ..output
                }));
            }
            Ok(found)
        })
    }
}

impl OutputRecord {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<OutputRecord> {
        Ok(OutputRecord {
            run: RunId(row.get("run")?),
            path: path(row)?,
            kind: row.get("kind")?,
            sha256: row.get("sha256")?,
            rows: row.get("rows")?,
            state: None,
        })
    }
}
