//! An output file that takes records.

use std::io;
use std::path::Path;

use super::OutputError;
use super::output_file::OutputFile;

/// How much is written at a time.
const BUFFER_BYTES: usize = 64 * 1024;

/// A CSV file on its way to its place.
#[derive(Debug)]
pub(super) struct CsvOutput {
    csv: csv::Writer<OutputFile>,
}

impl CsvOutput {
    /// Creates the file, with a byte order mark if its input has one.
    pub(super) fn create(path: &Path, has_bom: bool) -> Result<CsvOutput, OutputError> {
        Ok(CsvOutput::over(OutputFile::create(path, has_bom)?))
    }

    /// Goes on in a file that exists.
    pub(super) fn over(file: OutputFile) -> CsvOutput {
        CsvOutput {
            csv: csv::WriterBuilder::new()
                .buffer_capacity(BUFFER_BYTES)
                .from_writer(file),
        }
    }

    /// Writes one record.
    pub(super) fn record<C: AsRef<[u8]>>(
        &mut self,
        cells: impl IntoIterator<Item = C>,
    ) -> Result<(), OutputError> {
        self.csv
            .write_record(cells)
            .map_err(|error| self.csv.get_ref().error(error))
    }

    /// Hands what has been written to the operating system.
    pub(super) fn flush(&mut self) -> Result<(), OutputError> {
        self.csv
            .flush()
            .map_err(|error| self.csv.get_ref().error(error))
    }

    /// See [`OutputFile::leave`].
    pub(super) fn leave(&self) {
        self.csv.get_ref().leave();
    }

    /// The file, with everything handed over to it.
    pub(super) fn into_file(self) -> Result<OutputFile, OutputError> {
        self.csv.into_inner().map_err(|failed| {
            let error = io::Error::new(failed.error().kind(), failed.error().to_string());
            failed.into_inner().get_ref().error(error)
        })
    }
}
