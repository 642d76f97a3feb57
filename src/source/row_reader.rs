//! The rows of an input, whatever its form.

use std::sync::Arc;

use super::batch::{BATCH_BYTES, SAMPLE_BYTES};
use super::{
    Content, CsvReader, FooterLine, Form, Header, Input, RowBatch, SheetReader, SourceError,
    decoded,
};
use crate::lead::RowId;

pub enum RowReader {
    Csv(Box<CsvReader>),
    Sheet(SheetReader),
}

impl Input {
    /// Reads the input from the top; several readings at once do not disturb each other.
    pub fn read(&self, form: &Form) -> Result<RowReader, SourceError> {
        Ok(match &form.content {
            Content::Text(text) => {
                let unpacked = self.unpacked().map(|(_, unpacked)| unpacked);
                let input = unpacked.and_then(|unpacked| decoded(unpacked, text.encoding));
                let input = input.map_err(|error| self.unreadable(error))?;
                let reader = CsvReader::new(self.name(), input, text.delimiter)?;
                RowReader::Csv(Box::new(reader))
            }
            Content::Sheet(sheet) => {
                RowReader::Sheet(SheetReader::new(self.name(), Arc::clone(sheet)))
            }
        })
    }
}

impl RowReader {
    /// Reads the header of an input in this form, which must come before any row.
    pub fn read_header(&mut self, form: &Form) -> Result<Header, SourceError> {
        match self {
            RowReader::Csv(reader) => reader.read_header(form.has_header, form.above),
            RowReader::Sheet(reader) => reader.read_header(form.has_header, form.above),
        }
    }

    pub fn footer(&self) -> &[FooterLine] {
        match self {
            RowReader::Csv(reader) => &reader.footer,
            RowReader::Sheet(reader) => &reader.footer,
        }
    }

    /// At most `most` of the next rows, the first of them numbered `first`; an empty
    /// batch at the end of the input.
    pub fn read_batch(
        &mut self,
        file: usize,
        first: RowId,
        most: usize,
    ) -> Result<RowBatch, SourceError> {
        self.read_rows(RowBatch::new(file, first), most, BATCH_BYTES)
    }

    pub fn read_sample(&mut self, rows: usize) -> Result<RowBatch, SourceError> {
        self.read_rows(RowBatch::new(0, RowId(1)), rows, SAMPLE_BYTES)
    }

    fn read_rows(
        &mut self,
        batch: RowBatch,
        most_rows: usize,
        most_bytes: usize,
    ) -> Result<RowBatch, SourceError> {
        let batch = match self {
            RowReader::Csv(reader) => reader.read_rows(batch, most_rows, most_bytes)?,
            RowReader::Sheet(reader) => reader.read_rows(batch, most_rows, most_bytes),
        };
        // Many batches wait for their answers. Shrinking in place would leave holes that are
        // too small for the next one; the copy has no spare capacity.
        Ok(batch.clone())
    }
}
