//! Reads the rows of an input in any form.

use std::iter;
use std::sync::Arc;

use super::batch::{BATCH_BYTES, SAMPLE_BYTES};
use super::{
    Content, CsvReader, FooterLine, Form, Header, Input, RowBatch, SheetReader, SourceError,
    decoded,
};
use crate::lead::RowId;

/// How many rows are read at a time where nobody waits for the first of them.
const BATCH_ROWS: usize = 2048;

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

    /// Reads the rows below `header`, which was read before.
    pub fn read_list(&self, form: &Form, header: &Header) -> Result<ListReader<'_>, SourceError> {
        let mut rows = self.read(form)?;
        if rows.read_header(form)? != *header {
            return Err(SourceError::changed(self.name()));
        }
        Ok(ListReader { input: self, rows })
    }
}

/// Reads the rows below a header that is known, and makes sure that nobody changes the input
/// meanwhile: rows of a changed file may be from another list, or cut off in the middle.
pub struct ListReader<'i> {
    input: &'i Input,
    rows: RowReader,
}

impl<'i> ListReader<'i> {
    /// See [`RowReader::read_batch`].
    pub fn read_batch(
        &mut self,
        file: usize,
        first: RowId,
        most: usize,
    ) -> Result<RowBatch, SourceError> {
        let rows = self.rows.read_batch(file, first, most)?;
        self.input.check_unchanged()?;
        Ok(rows)
    }

    /// All rows of a list that is read on its own, numbered from 1.
    pub fn batches(mut self) -> impl Iterator<Item = Result<RowBatch, SourceError>> + Send + 'i {
        let mut next = RowId(1);
        iter::from_fn(move || {
            let rows = self.read_batch(0, next, BATCH_ROWS);
            next.0 += rows.as_ref().map_or(0, |rows| rows.len() as u64);
            let is_over = rows.as_ref().is_ok_and(RowBatch::is_empty);
            (!is_over).then_some(rows)
        })
    }

    pub fn footer(&self) -> &[FooterLine] {
        self.rows.footer()
    }

    /// How many of the rows so far were blank: they are no data rows.
    pub fn blank_rows(&self) -> u64 {
        match &self.rows {
            RowReader::Csv(reader) => reader.blank_rows,
            RowReader::Sheet(reader) => reader.blank_rows(),
        }
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
