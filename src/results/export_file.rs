//! A results file that is made from the ledger.

use std::path::Path;

use super::csv_output::{CsvForm, CsvOutput};
use super::ours::Existing;
use super::results_csv::{Lines, ResultsLine};
use super::{KnownOutputs, OutputError, Written};

/// A results file of rows that earlier runs have sent: the same columns in UTF-8, with commas.
/// Dropped unfinished, it is removed: the ledger has all that it holds.
#[derive(Debug)]
pub struct ExportFile {
    csv: CsvOutput,
    lines: Lines,
}

impl ExportFile {
    /// Creates the file beside its place, with its header. The column `file` is there where
    /// runs had several inputs, the column `run` where there are several runs.
    pub fn create(path: &Path, with_file: bool, with_run: bool) -> Result<Self, OutputError> {
        let form = CsvForm::default();
        let lines = Lines::new(with_file, with_run, form.delimiter);
        let csv = lines.begin_file(path, form, &[], &KnownOutputs::default())?;
        Ok(ExportFile { csv, lines })
    }

    pub fn write(&mut self, line: &ResultsLine<'_>) -> Result<(), OutputError> {
        self.lines.write_to_file(line, &mut self.csv)
    }

    /// Puts the file in its place. One that is there is kept under another name: exports are
    /// not recorded, so it may be anyone's.
    pub fn finish(self) -> Result<Written, OutputError> {
        let mut file = self.csv.into_file()?;
        file.seal()?;
        let (path, kept) = file.finish(|_| Existing::IsRenamed)?;
        Ok(Written {
            results: Some(path),
            kept,
            ..Written::default()
        })
    }
}
