//! A CSV output file.

use std::io::{self, Read, Write};
use std::path::Path;

use csv::QuoteStyle;

use super::output_file::OutputFile;
use super::{KnownOutputs, OutputError};

const BUFFER_BYTES: usize = 64 * 1024;

/// The format of a CSV output. Its encoding is always UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CsvForm {
    pub(super) has_bom: bool,
    pub(super) delimiter: u8,
}

impl Default for CsvForm {
    fn default() -> Self {
        CsvForm {
            has_bom: false,
            delimiter: b',',
        }
    }
}

impl CsvForm {
    /// The bytes before the first record: the byte order mark, if there is one.
    pub(super) fn prefix(self) -> &'static [u8] {
        if self.has_bom { "\u{FEFF}" } else { "" }.as_bytes()
    }

    /// A writer of records. It does not write the prefix.
    pub(super) fn writer<W: Write>(self, to: W) -> csv::Writer<W> {
        self.writer_with(QuoteStyle::Necessary, to)
    }

    pub(super) fn writer_with<W: Write>(self, quotes: QuoteStyle, to: W) -> csv::Writer<W> {
        csv::WriterBuilder::new()
            .buffer_capacity(BUFFER_BYTES)
            .delimiter(self.delimiter)
            .quote_style(quotes)
            .flexible(true)
            .from_writer(to)
    }

    /// Writes the last row, without a line end and without quotes that are not needed.
    pub(super) fn write_open_row<C: AsRef<[u8]>>(
        self,
        cells: impl IntoIterator<Item = C>,
        mut to: impl Write,
    ) -> io::Result<()> {
        let mut row = self.writer(Vec::new());
        row.write_record(cells).map_err(cause_of)?;
        let row = row.into_inner().map_err(csv::IntoInnerError::into_error)?;
        to.write_all(row.strip_suffix(b"\n").unwrap_or(&row))
    }

    /// A reader of what was written. The csv crate skips the byte order mark.
    pub(super) fn reader<R: Read>(self, from: R) -> csv::Reader<R> {
        csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(self.delimiter)
            .from_reader(from)
    }
}

#[derive(Debug)]
pub(super) struct CsvOutput {
    pub(super) writer: csv::Writer<OutputFile>,
    pub(super) form: CsvForm,
}

impl CsvOutput {
    pub(super) fn create(
        path: &Path,
        form: CsvForm,
        known: &KnownOutputs,
    ) -> Result<CsvOutput, OutputError> {
        let file = OutputFile::create(path, form.prefix(), |place, part| {
            known.has_part(place, part)
        })?;
        let writer = form.writer(file);
        Ok(CsvOutput { writer, form })
    }

    pub(super) fn record<C: AsRef<[u8]>>(
        &mut self,
        cells: impl IntoIterator<Item = C>,
    ) -> Result<(), OutputError> {
        let written = self.writer.write_record(cells);
        written.map_err(|error| self.error(cause_of(error)))
    }

    pub(super) fn flush(&mut self) -> Result<(), OutputError> {
        self.writer.flush().map_err(|error| self.error(error))
    }

    pub(super) fn leave(&self) {
        self.writer.get_ref().leave();
    }

    /// The file, after everything is written to it.
    pub(super) fn into_file(mut self) -> Result<OutputFile, OutputError> {
        self.flush()?;
        // The buffer was just flushed, so this cannot fail.
        self.writer.into_inner().map_err(|failed| {
            let error = io::Error::new(failed.error().kind(), failed.error().to_string());
            failed.into_inner().get_ref().error(error)
        })
    }

    pub(super) fn error(&self, error: io::Error) -> OutputError {
        self.writer.get_ref().error(error)
    }
}

/// The I/O error below the CSV writer; its kind shows what to fix. There is no other error.
pub(super) fn cause_of(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
