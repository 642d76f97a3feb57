//! The results file and the rejects files.
//!
//! Rule: the only writer of output files. Rows come in input order and are
//! written as they come. Under their names outputs appear only when they are
//! complete: until then they are written beside, as `NAME.part`, then synced
//! and renamed. A file that stood there before is kept under another name.
//! What they hold is about people: they are readable by their owner only.

mod csv_output;
mod error;
mod formula;
mod output_file;
mod paths;
mod records;
mod rejects_file;
mod results_file;
mod workbook;

pub use error::OutputError;
pub use paths::{OutputChoice, OutputPaths};
pub use results_file::has_results_header;
pub use workbook::{WorkbookError, write_workbook};

use std::path::PathBuf;

use crate::intake::{Batch, PlannedInput};
use crate::lead::{RowOutcome, Status};
use rejects_file::RejectsFile;
use results_file::ResultsFile;

/// Writes what became of each row.
#[derive(Debug)]
pub struct Writer {
    results: Option<ResultsFile>,
    /// One for each input.
    rejects: Vec<Option<RejectsFile>>,
    rejects_uncertain: bool,
}

/// The files that were left behind.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Written {
    /// The results file.
    pub results: Option<PathBuf>,
    /// The rejects files that have rows.
    pub rejects: Vec<PathBuf>,
    /// Files that stood there before, as they are called now.
    pub kept: Vec<PathBuf>,
    /// What is to be said about the files beside where they are.
    pub notes: Vec<String>,
}

impl Writer {
    /// Creates the files beside their final places, so that whatever keeps them
    /// from being written is found out before anything is sent. Rows that are
    /// `uncertain` are rejects only where they may be sent again.
    pub fn create(
        paths: &OutputPaths,
        inputs: &[PlannedInput],
        rejects_uncertain: bool,
    ) -> Result<Writer, OutputError> {
        let results = paths
            .results
            .as_deref()
            .map(|path| ResultsFile::create(path, inputs))
            .transpose()?;
        let rejects = paths
            .rejects
            .iter()
            .zip(inputs)
            .map(|(path, input)| {
                let create = |path| RejectsFile::create(path, input);
                path.as_deref().map(create).transpose()
            })
            .collect::<Result<_, _>>()?;
        Ok(Writer {
            results,
            rejects,
            rejects_uncertain,
        })
    }

    /// Leaves the unfinished files where they are, should they never be finished:
    /// once leads are made, they hold what is known nowhere else.
    pub fn leave(&self) {
        if let Some(results) = &self.results {
            results.leave();
        }
        for rejects in self.rejects.iter().flatten() {
            rejects.leave();
        }
    }

    /// Writes the rows of a batch that have an outcome, and lets no buffer keep
    /// them: a run may take hours, and be killed.
    pub fn write(&mut self, batch: &Batch) -> Result<(), OutputError> {
        for (row, prepared) in batch.rows.rows().zip(&batch.prepared) {
            let Some(outcome) = &prepared.outcome else {
                continue;
            };
            if let Some(results) = &mut self.results {
                results.write(row, prepared, outcome)?;
            }
            if self.is_rejected(outcome)
                && let Some(Some(rejects)) = self.rejects.get_mut(row.file())
            {
                rejects.write(row, outcome)?;
            }
        }
        if let Some(results) = &mut self.results {
            results.flush()?;
        }
        for rejects in self.rejects.iter_mut().flatten() {
            rejects.flush()?;
        }
        Ok(())
    }

    /// Puts the files in their places. What cannot be is left beside.
    pub fn finish(self) -> Result<Written, OutputError> {
        self.leave();
        let mut written = Written::default();
        if let Some(results) = self.results {
            let (path, kept) = results.finish()?;
            written.results = Some(path);
            written.kept.extend(kept);
        }
        for rejects in self.rejects.into_iter().flatten() {
            let finished = rejects.finish()?;
            written.rejects.extend(finished.path);
            written.kept.extend(finished.kept);
            written.notes.extend(finished.note);
        }
        Ok(written)
    }

    fn is_rejected(&self, outcome: &RowOutcome) -> bool {
        match outcome.status {
            Status::Invalid | Status::Rejected | Status::Failed => true,
            Status::Uncertain => self.rejects_uncertain,
            _ => false,
        }
    }
}
