//! The rows of an input, whatever its form.

use super::{CsvReader, Header, RowBatch, SheetReader, SourceError};
use crate::lead::RowId;

/// Reads the rows of one input from top to bottom.
pub enum RowReader {
    /// Those of a text.
    Csv(Box<CsvReader>),
    /// Those of a spreadsheet.
    Sheet(SheetReader),
}

impl RowReader {
    /// Reads the header, which must come before any row.
    pub fn read_header(&mut self, has_header: bool) -> Result<Header, SourceError> {
        match self {
            RowReader::Csv(reader) => reader.read_header(has_header),
            RowReader::Sheet(reader) => Ok(reader.read_header(has_header)?),
        }
    }

    /// The next rows, at most so many, the first of them numbered `first`; an empty
    /// batch at the end of the input.
    pub fn read_batch(
        &mut self,
        file: usize,
        first: RowId,
        most: usize,
    ) -> Result<RowBatch, SourceError> {
        match self {
            RowReader::Csv(reader) => reader.read_batch(file, first, most),
            RowReader::Sheet(reader) => Ok(reader.read_batch(file, first, most)),
        }
    }

    /// So many of the next rows, to be looked at.
    pub fn read_sample(&mut self, rows: usize) -> Result<RowBatch, SourceError> {
        match self {
            RowReader::Csv(reader) => reader.read_sample(rows),
            RowReader::Sheet(reader) => Ok(reader.read_sample(rows)),
        }
    }
}
