//! An output file that takes records.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::output_file::OutputFile;
use super::{KnownOutputs, OutputError};
use crate::source::{Bom, Encoding, EncodingWriter, TextForm};

/// How much is written at a time.
const BUFFER_BYTES: usize = 64 * 1024;

/// The form of a CSV output: that of its input, so that whoever could open the one
/// can open the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CsvForm {
    pub(super) encoding: Encoding,
    pub(super) bom: Option<Bom>,
    pub(super) delimiter: u8,
}

impl Default for CsvForm {
    fn default() -> Self {
        CsvForm {
            encoding: Encoding::UTF_8,
            bom: None,
            delimiter: b',',
        }
    }
}

impl From<&TextForm> for CsvForm {
    fn from(form: &TextForm) -> Self {
        CsvForm {
            encoding: form.encoding,
            bom: form.bom,
            delimiter: form.delimiter,
        }
    }
}

impl CsvForm {
    /// A writer of this form, behind the byte order mark.
    pub(super) fn writer<W: Write>(self, to: W) -> csv::Writer<EncodingWriter<W>> {
        csv::WriterBuilder::new()
            .buffer_capacity(BUFFER_BYTES)
            .delimiter(self.delimiter)
            .from_writer(EncodingWriter::new(to, self.encoding))
    }

    /// The same in UTF-8.
    pub(super) fn in_utf_8(self) -> CsvForm {
        CsvForm {
            encoding: Encoding::UTF_8,
            bom: self.bom.map(|_| Bom::Utf8),
            delimiter: self.delimiter,
        }
    }
}

/// A CSV file on its way to its place.
#[derive(Debug)]
pub(super) struct CsvOutput {
    path: PathBuf,
    csv: csv::Writer<EncodingWriter<OutputFile>>,
}

impl CsvOutput {
    /// Creates the file; see [`OutputFile::create`].
    pub(super) fn create(
        path: &Path,
        form: CsvForm,
        known: &KnownOutputs,
    ) -> Result<CsvOutput, OutputError> {
        let prefix = form.bom.map_or(&b""[..], Bom::bytes);
        let file = OutputFile::create(path, prefix, known)?;
        Ok(CsvOutput::over(file, form))
    }

    /// Goes on in a file that exists.
    pub(super) fn over(file: OutputFile, form: CsvForm) -> CsvOutput {
        CsvOutput {
            path: file.path().to_owned(),
            csv: form.writer(file),
        }
    }

    /// Writes one record.
    pub(super) fn record<C: AsRef<[u8]>>(
        &mut self,
        cells: impl IntoIterator<Item = C>,
    ) -> Result<(), OutputError> {
        self.csv
            .write_record(cells)
            .map_err(|error| self.error(cause_of(error)))
    }

    /// Hands what has been written to the operating system.
    pub(super) fn flush(&mut self) -> Result<(), OutputError> {
        self.csv.flush().map_err(|error| self.error(error))
    }

    /// See [`OutputFile::leave`].
    pub(super) fn leave(&self) {
        self.csv.get_ref().get_ref().leave();
    }

    /// The file, with everything handed over to it.
    pub(super) fn into_file(mut self) -> Result<OutputFile, OutputError> {
        self.flush()?;
        let CsvOutput { path, csv } = self;
        let unwritable = |error| OutputError::Unwritable { path, error };
        // Nothing is left in the buffer, so that nothing can fail in between.
        match csv.into_inner() {
            Ok(encoder) => encoder.into_inner().map_err(unwritable),
            Err(failed) => {
                let error = failed.error();
                Err(unwritable(io::Error::new(error.kind(), error.to_string())))
            }
        }
    }

    fn error(&self, error: impl Into<io::Error>) -> OutputError {
        OutputError::Unwritable {
            path: self.path.clone(),
            error: error.into(),
        }
    }
}

/// What went wrong below the CSV, by whose kind it is known what to mend. Nothing else can
/// go wrong: all records of a file are of one length.
pub(super) fn cause_of(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
