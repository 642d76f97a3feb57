//! The rows of a CSV file as the texts that a workbook takes.

use crate::lead::RowId;
use crate::source::{CsvReader, RowBatch, SourceError};

/// All rows of a file, the header first.
pub(super) struct Records {
    reader: CsvReader,
    batch: RowBatch,
    next: usize,
    has_failed: bool,
}

impl Records {
    pub(super) fn new(reader: CsvReader) -> Records {
        Records {
            reader,
            batch: RowBatch::new(0, RowId(1)),
            next: 0,
            has_failed: false,
        }
    }
}

impl Iterator for Records {
    type Item = Result<Vec<String>, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        if self.next == self.batch.len() {
            match self.reader.read_batch(0, RowId(1), 256) {
                Ok(batch) => self.batch = batch,
                Err(error) => {
                    self.has_failed = true;
                    return Some(Err(error));
                }
            }
            self.next = 0;
            if self.batch.is_empty() {
                return None;
            }
        }
        let row = self.batch.row(self.next);
        self.next += 1;
        let text = |cell| String::from_utf8_lossy(cell).into_owned();
        Some(Ok(row.cells().map(text).collect()))
    }
}
