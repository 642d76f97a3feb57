//! The files that runs have written, recorded so that they are recognized later.

use std::path::PathBuf;

use super::coding::place;
use super::row::Row;
use super::store::{Failed, Sql};
use super::{Ledger, LedgerError, OutputKind, OutputRecord};
use crate::lead::RunId;

/// The columns of `outputs`, as [`read`] reads them.
pub(super) const COLUMNS: &str = "run, path, kind, sha256, rows";

/// Adds a file of a run. Of another run than the one at work ($7) it adds no path if that was pruned,
/// and nothing at all if it was forgotten.
const ADD: &str = "
INSERT INTO leadload.outputs (run, path, kind, sha256, rows, place)
SELECT id, CASE WHEN id = $7 OR pruned_at IS NULL THEN $2 END, $3, $4, $5, $6
FROM leadload.runs WHERE id = $1";

const CLEAR: &str = "DELETE FROM leadload.outputs WHERE run = $1 AND sha256 IS NULL";

impl Ledger {
    /// Records the content of files before they get their final names: then a file under its final name is
    /// known, whenever the run is killed. A file of another run gets another name: it is known under both.
    pub fn record_outputs(
        &mut self,
        run: RunId,
        outputs: &[OutputRecord],
    ) -> Result<(), LedgerError> {
        self.changing(|sql| {
            // Every file that this start began is either complete now or does not exist. Undoing the run
            // leaves what a killed start has begun.
            if outputs.iter().all(|output| output.kind != OutputKind::Undo) {
                sql.change(CLEAR, &[run.into()])?;
            }
            outputs.iter().try_for_each(|output| add(sql, output, run))
        })
    }

    /// The files that any run has written, or begun to write, at these paths.
    pub fn outputs_at(&self, paths: &[PathBuf]) -> Result<Vec<OutputRecord>, LedgerError> {
        let known = format!(
            "SELECT {COLUMNS} FROM leadload.outputs WHERE place = $1 ORDER BY run, outputs.id"
        );
        self.reading(|sql| {
            let mut found = Vec::new();
            for path in paths {
                let at = sql.rows(&known, &[(&place(path)).into()], read)?;
                // Set here since the stored path may have been pruned.
                found.extend(at.into_iter().map(|output| OutputRecord {
                    path: Some(path.clone()),
                    ..output
                }));
            }
            Ok(found)
        })
    }
}

/// Records the files that a start will write. Those that an earlier start has completed stay recorded:
/// they exist until this start has completed its own.
pub(super) fn begin(
    sql: &mut dyn Sql,
    run: RunId,
    outputs: &[(PathBuf, OutputKind)],
) -> Result<(), Failed> {
    sql.change(CLEAR, &[run.into()])?;
    outputs.iter().try_for_each(|(path, kind)| {
        let begun = OutputRecord {
            run,
            path: Some(path.clone()),
            kind: *kind,
            sha256: None,
            rows: None,
            state: None,
        };
        add(sql, &begun, run)
    })
}

fn add(sql: &mut dyn Sql, output: &OutputRecord, at_work: RunId) -> Result<(), Failed> {
    let Some(path) = output.path.as_deref() else {
        return Ok(());
    };
    let place = place(path);
    let values = [
        output.run.into(),
        path.into(),
        output.kind.as_str().into(),
        output.sha256.as_ref().into(),
        output.rows.into(),
        (&place).into(),
        at_work.into(),
    ];
    sql.change(ADD, &values).map(drop)
}

pub(super) fn read(row: &Row<'_>) -> Result<OutputRecord, Failed> {
    Ok(OutputRecord {
        run: row.get("run")?,
        path: row.get("path")?,
        kind: row.get("kind")?,
        sha256: row.get("sha256")?,
        rows: row.get("rows")?,
        state: None,
    })
}
