//! The results file, the rejects files and the page for people.
//!
//! Rule: the only writer of files about rows. Rows come in input order and are written as they
//! come. Outputs appear under their names only when they are complete: until then they are
//! written beside, as `NAME.part`, then sealed (all of them is on disk, and their digests are
//! known) and renamed.
//!
//! A file that is in such a place before is replaced only where nothing is lost by it (`ours`
//! has the rules). A `.part` that a killed run has left where the ledger knows of a run holds
//! nothing that the ledger does not; without that it may be all that is known of the leads it
//! made, and is kept too.
//!
//! What they hold is about people: they are readable by their owner only. Whatever fails is an
//! [`OutputError`], and what was written before stays beside.

mod csv_output;
mod error;
mod formula;
mod ours;
mod output_file;
mod paths;
mod rejects_file;
mod report_file;
mod results_file;
mod sealed;
mod workbook;

#[cfg(test)]
mod tests;

pub use error::{OutputError, what_to_fix, what_to_fix_with_folders};
pub use formula::harmless;
pub use ours::{KnownOutputs, RunEnd};
pub use paths::{OutputChoice, OutputChoices, OutputPaths};
pub use report_file::ReportFile;
pub use results_file::{ResultsFile, ResultsLine, has_results_header, is_results_column};
pub use workbook::{WorkbookError, write_workbook};

use std::path::PathBuf;
use std::sync::Arc;

use crate::intake::{Batch, PlannedInput};
use crate::lead::{RowOutcome, Status};
use crate::ledger::{Begun, OutputRecord};
use rejects_file::RejectsFile;
use sealed::SealedFile;
pub use sealed::{Written, WrittenRejects};

#[derive(Debug)]
pub struct Writer {
    results: Option<ResultsFile>,
    /// One for each input.
    rejects: Vec<Option<RejectsFile>>,
    /// Whether there is one for each.
    has_rejects: bool,
    rejects_uncertain: bool,
    inputs: Arc<[PlannedInput]>,
    known: KnownOutputs,
    /// Those of the above that are complete, once they are.
    sealed: Vec<SealedFile>,
}

impl Writer {
    /// Creates the files beside their final places, so that whatever prevents them is found out
    /// before anything is sent. Rows that are `uncertain` are rejects only where they may be
    /// sent again. `known` is what the ledger has recorded of the
    /// [places](OutputPaths::places), nothing without one.
    pub fn create(
        paths: &OutputPaths,
        inputs: &Arc<[PlannedInput]>,
        rejects_uncertain: bool,
        known: KnownOutputs,
    ) -> Result<Writer, OutputError> {
        let results = paths
            .results
            .as_deref()
            .map(|path| ResultsFile::of_import(path, inputs, &known))
            .transpose()?;
        let rejects = paths
            .rejects
            .iter()
            .zip(&**inputs)
            .map(|(place, input)| {
                let create = |path: &PathBuf| RejectsFile::create(path, input, &known);
                place.as_ref().map(create).transpose()
            })
            .collect::<Result<_, _>>()?;
        Ok(Writer {
            has_rejects: paths.rejects.iter().all(Option::is_some),
            results,
            rejects,
            rejects_uncertain,
            inputs: inputs.clone(),
            known,
            sealed: Vec::new(),
        })
    }

    /// Begins the files, before anything is sent: what a killed run leaves is empty until then,
    /// and is in nobody's way. The rejects name the run, so that it is known when they are given
    /// back.
    pub fn begin(&mut self, run: Option<&Begun>) -> Result<(), OutputError> {
        if let Some(run) = run {
            self.known.begin(run);
        }
        if let Some(results) = &mut self.results {
            results.begin(&self.inputs)?;
        }
        for (rejects, input) in self.rejects.iter_mut().zip(&*self.inputs) {
            if let Some(rejects) = rejects {
                rejects.begin(input)?;
            }
        }
        Ok(())
    }

    /// Leaves the files where they are should they never be finished: once leads are made, they
    /// hold what is known nowhere else.
    pub fn leave(&self) {
        if let Some(results) = &self.results {
            results.csv.leave();
        }
        for rejects in self.rejects.iter().flatten() {
            rejects.csv.leave();
        }
    }

    /// Writes the rows of a batch that have an outcome, and lets no buffer keep
    /// them: a run may take hours, and be killed. Not for files that are sealed.
    pub fn write(&mut self, batch: &Batch) -> Result<(), OutputError> {
        debug_assert!(self.sealed.is_empty(), "nothing is written after sealing");
        for (row, prepared) in batch.rows.rows().zip(&batch.prepared) {
            let Some(outcome) = &prepared.outcome else {
                continue;
            };
            if let Some(results) = &mut self.results {
                results.write_row(row, prepared, outcome, &self.inputs[row.file()])?;
            }
            if self.is_rejected(outcome)
                && let Some(Some(rejects)) = self.rejects.get_mut(row.file())
            {
                rejects.write(row, outcome, self.known.run)?;
            }
        }
        if let Some(results) = &mut self.results {
            results.csv.flush()?;
        }
        for rejects in self.rejects.iter_mut().flatten() {
            rejects.csv.flush()?;
        }
        Ok(())
    }

    /// Completes the files where they are, and returns which of them will be where when they are
    /// [finished](Self::finish) after such an end: recorded before that, they are known to the
    /// next run whenever this one is killed. Nothing may be written after it.
    pub fn seal(&mut self, end: RunEnd) -> Result<Vec<OutputRecord>, OutputError> {
        self.complete()?;
        let outputs = self.sealed.iter();
        let outputs = outputs.filter_map(|sealed| sealed.output(&self.known, end));
        Ok(outputs.collect())
    }

    fn complete(&mut self) -> Result<(), OutputError> {
        self.leave();
        if let Some(results) = self.results.take() {
            self.sealed.push(results.seal()?);
        }
        for rejects in self.rejects.drain(..).flatten() {
            self.sealed.push(rejects.seal()?);
        }
        Ok(())
    }

    /// Puts the files in their places, sealed before or now.
    pub fn finish(mut self, end: RunEnd) -> Result<Written, OutputError> {
        self.complete()?;
        let mut written = Written {
            has_all_rejects: self.has_rejects && !end.is_shorter,
            ..Written::default()
        };
        for sealed in self.sealed {
            let existing = sealed.existing(&self.known, end);
            sealed.finish(existing, &mut written)?;
        }
        Ok(written)
    }

    /// Puts the unfinished files aside under names of their own, for a run whose last rows are
    /// not in the ledger: the next start makes its files again from what is.
    pub fn set_aside(mut self) -> Result<Written, OutputError> {
        self.complete()?;
        let mut written = Written::default();
        for sealed in self.sealed {
            sealed.set_aside(&mut written)?;
        }
        Ok(written)
    }

    fn is_rejected(&self, outcome: &RowOutcome) -> bool {
        match outcome.status {
            _ if outcome.is_known_bad => false,
            Status::Invalid | Status::Rejected | Status::Failed => true,
            Status::Uncertain => self.rejects_uncertain,
            _ => false,
        }
    }
}
