//! Writes the results file, the rejects files and the report page, and two files that are made
//! from a whole list: its results beside it, and a copy of it with corrected cells.
//!
//! Rule: the only writer of files about rows. Rows come in input order and are
//! written as they come. An output gets its name only when it is complete.
//! Until then it is written next to its final path, as `NAME.part`. It is then
//! sealed (everything is on disk, and its digest is known) and renamed.
//!
//! A file that already exists at an output's path is replaced only if nothing is lost
//! (`ours` has the rules). A killed run may leave a `.part` file. If the ledger has
//! recorded a run with this output, it also has everything in that file. Otherwise
//! it may be the only record of the leads that the run made, and is kept.
//!
//! The files hold data about people, so only their owner can read them. Every
//! failure is an [`OutputError`]; what was written so far stays in the `.part` file.

mod corrected_copy;
mod csv_output;
mod error;
mod formula;
mod list_error;
mod located;
mod ours;
mod output_file;
mod own_cells;
mod paths;
mod rejects_file;
mod report_file;
mod results_file;
mod results_workbook;
mod sealed;
mod undo_file;
mod workbook;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use corrected_copy::{Corrections, write_corrected_copy};
pub use error::{OutputError, what_to_fix, what_to_fix_with_folders};
pub use formula::harmless;
pub use list_error::ListError;
pub use located::{PrunedFiles, locate_outputs};
pub use ours::{Completion, KnownOutputs};
pub use paths::{OutputChoice, OutputChoices, OutputPaths, is_usual_place};
pub use report_file::ReportFile;
pub use results_file::{
    MoreColumns, ResultsFile, ResultsLine, ResultsText, has_results_header, is_results_column,
};
pub use results_workbook::write_results_workbook;
pub use workbook::{SheetLayout, WorkbookError, write_workbook};

use std::path::PathBuf;
use std::sync::Arc;

use crate::intake::{Batch, PlannedInput};
use crate::lead::{ListLabel, RowOutcome, Status};
use crate::ledger::{Begun, OutputRecord};
use crate::message::Voice;
use rejects_file::RejectsFile;
use sealed::SealedFile;
pub use sealed::{Written, WrittenRejects};
pub use undo_file::UndoFile;

#[derive(Debug)]
pub struct Writer {
    results: Option<ResultsFile>,
    /// One for each input.
    rejects: Vec<Option<RejectsFile>>,
    /// Whether every input has a rejects file.
    has_rejects: bool,
    rejects_uncertain: bool,
    inputs: Arc<[PlannedInput]>,
    known: KnownOutputs,
    /// What the rejects name: the run or, without one, the list.
    source: String,
    /// In which the results and the rejects say why a row was not sent.
    voice: Voice,
    /// The complete files, moved here from the fields above.
    sealed: Vec<SealedFile>,
}

impl Writer {
    /// Creates the `.part` files, so that a problem with them is detected before
    /// anything is sent. `uncertain` rows are rejects only with `rejects_uncertain`:
    /// if they may be sent again. `known` is what the ledger has recorded about the
    /// [places](OutputPaths::places); it is empty without a ledger.
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
            source: String::new(),
            voice: Voice::Terminal,
            sealed: Vec::new(),
        })
    }

    /// Makes the rejects of a check name their list.
    #[must_use]
    pub fn labelled(self, label: &ListLabel) -> Writer {
        Writer {
            source: label.to_string(),
            ..self
        }
    }

    /// Makes the results and the rejects say in this voice why a row was not sent.
    #[must_use]
    pub fn speaking(self, voice: Voice) -> Writer {
        Writer { voice, ..self }
    }

    /// Writes the headers, before anything is sent. Until then the files of a
    /// killed run are empty, and the next run simply removes them. The rejects will
    /// name the run, so a later run knows it when it gets the rejects as its input.
    pub fn begin(&mut self, run: Option<&Begun>) -> Result<(), OutputError> {
        if let Some(run) = run {
            self.known.begin(run);
            self.source = run.name().to_string();
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

    /// Keeps the `.part` files even if they are never finished: once leads
    /// are made, these files may be the only record of them.
    pub fn leave(&self) {
        if let Some(results) = &self.results {
            results.csv.leave();
        }
        for rejects in self.rejects.iter().flatten() {
            rejects.csv.leave();
        }
    }

    /// Writes the rows of a batch that have an outcome, and flushes all buffers: a
    /// run may take hours, and be killed. Call it only before the files are sealed.
    pub fn write(&mut self, batch: &Batch) -> Result<(), OutputError> {
        debug_assert!(self.sealed.is_empty(), "nothing is written after sealing");
        for (row, prepared) in batch.rows.rows().zip(&batch.prepared) {
            let Some(outcome) = &prepared.outcome else {
                continue;
            };
            if let Some(results) = &mut self.results {
                let input = &self.inputs[row.file()];
                results.write_row(row, prepared, outcome, input, self.voice)?;
            }
            if self.is_rejected(outcome)
                && let Some(Some(rejects)) = self.rejects.get_mut(row.file())
            {
                rejects.write(row, outcome, self.voice, &self.source)?;
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

    /// Completes the files without renaming them. Returns which files will be
    /// where when they are [finished](Self::finish) with the same `end`, those of earlier
    /// runs that get another name too. If
    /// these are recorded before the files are finished, the next run knows
    /// them, whenever this run is killed. Nothing may be written after this.
    pub fn seal(&mut self, end: Completion) -> Result<Vec<OutputRecord>, OutputError> {
        self.complete()?;
        let mut outputs = Vec::new();
        for sealed in &mut self.sealed {
            outputs.extend(sealed.outputs(&self.known, end));
            sealed.clear_if_unused(&self.known, end)?;
        }
        Ok(outputs)
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

    /// Moves the files to their final paths. Seals them first if they are not yet sealed.
    pub fn finish(mut self, end: Completion) -> Result<Written, OutputError> {
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

    /// Keeps the unfinished files under new names, for a run whose last rows are not in
    /// the ledger. The next start makes its own files again from what is in the ledger.
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
