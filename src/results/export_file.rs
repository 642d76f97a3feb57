//! A results file that is made from the ledger.

use std::io::{self, Write};
use std::path::Path;

use super::csv_output::{CsvForm, cause_of};
use super::existing::Existing;
use super::results_csv::{ExtraColumns, Lines, ResultsCsv, ResultsLine};
use super::{KnownOutputs, OutputError, Written};

/// A results file of rows that earlier runs have sent: the same columns in UTF-8, with
/// commas. Dropped unfinished, it is removed: the ledger has all that it holds.
#[derive(Debug)]
pub struct ExportFile(ResultsCsv);

impl ExportFile {
    /// Creates the file beside its place, with its header. The column `file` is there
    /// where runs had several inputs, the column `run` where there are several runs.
    ///
    /// # Errors
    ///
    /// Where the file cannot be made, or another command writes it.
    pub fn create(path: &Path, with_file: bool, with_run: bool) -> Result<Self, OutputError> {
        let extra = ExtraColumns {
            file: with_file,
            run: with_run,
        };
        let nothing = KnownOutputs::default();
        ResultsCsv::create(path, CsvForm::default(), extra, &[], &nothing).map(ExportFile)
    }

    /// Writes the line of one row.
    ///
    /// # Errors
    ///
    /// Where the disk is full, and the like.
    pub fn write(&mut self, line: &ResultsLine<'_>) -> Result<(), OutputError> {
        self.0.write(line)
    }

    /// Puts the file in its place. One that stands there is kept under another name.
    ///
    /// # Errors
    ///
    /// Where that cannot be; then nothing is changed.
    pub fn finish(self) -> Result<Written, OutputError> {
        let mut file = self.0.into_file()?;
        file.seal()?;
        // No record is kept of exports: one that stands there may be anybody's.
        let (path, kept) = file.finish(|_| Existing::IsRenamed)?;
        Ok(Written {
            results: Some(path),
            kept,
            ..Written::default()
        })
    }
}

/// The same on its way to whoever reads along, such as standard output.
pub struct ExportStream<W: Write> {
    csv: csv::Writer<W>,
    lines: Lines,
}

impl<W: Write> ExportStream<W> {
    /// Writes the header; see [`ExportFile::create`].
    ///
    /// # Errors
    ///
    /// Where it cannot be written.
    pub fn begin(to: W, with_file: bool, with_run: bool) -> io::Result<Self> {
        let extra = ExtraColumns {
            file: with_file,
            run: with_run,
        };
        let form = CsvForm::default();
        let lines = Lines::new(extra, form.delimiter);
        let mut csv = form.writer(to);
        csv.write_record(lines.header()).map_err(cause_of)?;
        Ok(ExportStream { csv, lines })
    }

    /// Writes the line of one row.
    ///
    /// # Errors
    ///
    /// Where it cannot be written.
    pub fn write(&mut self, line: &ResultsLine<'_>) -> io::Result<()> {
        self.lines.write(line, &mut self.csv)
    }

    /// Hands over what has not been handed over yet.
    ///
    /// # Errors
    ///
    /// Where it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.csv.flush()
    }
}
