//! A results file that is made from the ledger.

use std::path::Path;

use super::csv_output::CsvForm;
use super::ours::Existing;
use super::results_csv::{ResultsCsv, ResultsLine};
use super::{KnownOutputs, OutputError, Written};

/// A results file of rows that earlier runs have sent: the same columns in UTF-8, with commas.
/// Dropped unfinished, it is removed: the ledger has all that it holds.
#[derive(Debug)]
pub struct ExportFile(ResultsCsv);

impl ExportFile {
    /// Creates the file beside its place, with its header. The column `file` is there where
    /// runs had several inputs, the column `run` where there are several runs.
    pub fn create(path: &Path, with_file: bool, with_run: bool) -> Result<Self, OutputError> {
        let extra = (with_file, with_run);
        let known = KnownOutputs::default();
        ResultsCsv::create(path, CsvForm::default(), extra, &[], &known).map(ExportFile)
    }

    pub fn write(&mut self, line: &ResultsLine<'_>) -> Result<(), OutputError> {
        self.0.write(line)
    }

    /// Puts the file in its place. One that is there is kept under another name: exports are
    /// not recorded, so it may be anyone's.
    pub fn finish(self) -> Result<Written, OutputError> {
        let mut file = self.0.csv.into_file()?;
        file.seal()?;
        let (path, kept) = file.finish(|_| Existing::IsRenamed)?;
        Ok(Written {
            results: Some(path),
            kept,
            ..Written::default()
        })
    }
}
