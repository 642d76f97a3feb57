//! Reads the rows of an input in any form.

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
    /// Reads the input from the top. Several readers can read the same input at once.
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
    /// Reads the header of an input in this form. Call it before any row is read.
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

    /// Reads at most `most` rows and numbers them from `first`. Returns an
    /// empty batch at the end of the input.
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
        // Many batches wait for their answers, so they must have no spare
        // capacity. Shrinking a batch in place would leave gaps in memory
        // that are too small for the next one; a copy has none.
        Ok(batch.clone())
    }
}
