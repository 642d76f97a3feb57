//! CSV bytes to rows.
//!
//! `csv-core` splits the bytes into cells; the buffers around it are ours, so
//! that a row's size is bounded, its cells land in the batch without a copy in
//! between, and its line is the one it really begins on: blank lines are
//! stepped over here, where they can be counted.

use std::io::{ErrorKind, Read};

use csv_core::ReadRecordResult;

use super::lines::LineCounter;
use super::{Header, RowBatch, SourceError};
use crate::lead::RowId;

/// The longest row that is taken for one, in bytes, with eight for each cell. A thousand variables of a
/// thousand characters fit; a quote that is never closed is found before it has
/// filled the memory.
pub(super) const MAX_ROW_BYTES: usize = 1 << 20;

/// How much is read from the file at a time, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// A batch is handed on when it holds this many rows …
const BATCH_ROWS: usize = 256;

/// … or cells of this many bytes.
const BATCH_BYTES: usize = 128 * 1024;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The least room for bytes and for cells that csv-core is given.
const SPARE_BYTES: usize = 256;
const SPARE_CELLS: usize = 16;

/// How much of a batch's buffers is filled.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    bytes: usize,
    cells: usize,
}

/// Reads the rows of one input from top to bottom.
pub struct CsvReader {
    name: String,
    input: Box<dyn Read + Send>,
    core: csv_core::Reader,
    chunk: Box<[u8]>,
    start: usize,
    end: usize,
    lines: LineCounter,
    has_bom: bool,
    is_at_end: bool,
}

impl CsvReader {
    /// Starts at the top of `input`, which is called `name` in messages.
    pub fn new(name: &str, input: Box<dyn Read + Send>) -> Result<Self, SourceError> {
        let mut reader = CsvReader {
            name: name.to_owned(),
            input,
            core: csv_core::Reader::new(),
            chunk: vec![0; CHUNK_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            lines: LineCounter::default(),
            has_bom: false,
            is_at_end: false,
        };
        reader.step_over_bom()?;
        Ok(reader)
    }

    /// Reads the header, which must come before any row.
    pub fn read_header(&mut self) -> Result<Header, SourceError> {
        let mut batch = RowBatch::new(0, RowId(0));
        if self.read_row(&mut batch, Place::default())?.is_none() {
            return Err(SourceError::Empty {
                name: self.name.clone(),
            });
        }
        let row = batch.row(0);
        let names: Option<Vec<String>> = (0..row.len())
            .map(|column| row.text(column).map(str::to_owned))
            .collect();
        match names {
            Some(names) => Ok(Header {
                names,
                has_bom: self.has_bom,
            }),
            None => Err(SourceError::HeaderEncoding {
                name: self.name.clone(),
                line: row.line(),
            }),
        }
    }

    /// Whether the end of the input has been seen.
    pub fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// The next rows, the first of them numbered `first`; an empty batch at the
    /// end of the input.
    pub fn read_batch(&mut self, file: usize, first: RowId) -> Result<RowBatch, SourceError> {
        let mut batch = RowBatch::new(file, first);
        let mut end = Place::default();
        while batch.len() < BATCH_ROWS && end.bytes < BATCH_BYTES {
            match self.read_row(&mut batch, end)? {
                Some(row_end) => end = row_end,
                None => break,
            }
        }
        batch.bytes.truncate(end.bytes);
        batch.cell_ends.truncate(end.cells);
        Ok(batch)
    }

    /// Adds one row behind `begin` and returns where it ends; nothing at the end of
    /// the input. The batch keeps the spare room that csv-core may fill: whoever
    /// ends the batch cuts it off.
    fn read_row(
        &mut self,
        batch: &mut RowBatch,
        begin: Place,
    ) -> Result<Option<Place>, SourceError> {
        if !self.step_over_line_ends()? {
            return Ok(None);
        }
        let line = self.lines.current();
        let mut end = begin;
        loop {
            if batch.bytes.len() < end.bytes + SPARE_BYTES {
                batch.bytes.resize(2 * end.bytes + 16 * SPARE_BYTES, 0);
            }
            if batch.cell_ends.len() < end.cells + SPARE_CELLS {
                batch.cell_ends.resize(2 * end.cells + 16 * SPARE_CELLS, 0);
            }
            let (result, read, wrote, ended) = self.core.read_record(
                &self.chunk[self.start..self.end],
                &mut batch.bytes[end.bytes..],
                &mut batch.cell_ends[end.cells..],
            );
            self.lines
                .advance(&self.chunk[self.start..self.start + read]);
            self.start += read;
            end.bytes += wrote;
            end.cells += ended;
            // A row of nothing but commas takes memory too.
            let size = (end.bytes - begin.bytes) + size_of::<usize>() * (end.cells - begin.cells);
            if size > MAX_ROW_BYTES {
                return Err(SourceError::RowTooLong {
                    name: self.name.clone(),
                    line,
                });
            }
            match result {
                // At the end of the file csv-core is told so by an empty slice,
                // which is what is left in the chunk then.
                ReadRecordResult::InputEmpty => {
                    self.fill()?;
                }
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {}
                ReadRecordResult::Record => break,
                ReadRecordResult::End if end.cells > begin.cells => break,
                ReadRecordResult::End => return Ok(None),
            }
        }
        // csv-core counts a row's cell ends from the row's beginning.
        for cell_end in &mut batch.cell_ends[begin.cells..end.cells] {
            *cell_end += begin.bytes;
        }
        batch.end_row(line, end.cells);
        Ok(Some(end))
    }

    /// Steps over line ends before a row, so blank lines too; false at the end
    /// of the input.
    fn step_over_line_ends(&mut self) -> Result<bool, SourceError> {
        loop {
            if self.start == self.end && !self.fill()? {
                return Ok(false);
            }
            let rest = &self.chunk[self.start..self.end];
            let blank = rest
                .iter()
                .take_while(|byte| matches!(byte, b'\n' | b'\r'))
                .count();
            self.lines.advance(&rest[..blank]);
            self.start += blank;
            if self.start < self.end {
                return Ok(true);
            }
        }
    }

    fn step_over_bom(&mut self) -> Result<(), SourceError> {
        while self.end < BOM.len() && self.fill_more()? {}
        self.has_bom = self.chunk[..self.end].starts_with(BOM);
        if self.has_bom {
            self.start = BOM.len();
        }
        Ok(())
    }

    /// Replaces the chunk, which has been used up; false at the end of the file.
    fn fill(&mut self) -> Result<bool, SourceError> {
        self.start = 0;
        self.end = 0;
        self.fill_more()
    }

    /// Reads more behind what the chunk holds; false at the end of the file.
    fn fill_more(&mut self) -> Result<bool, SourceError> {
        loop {
            match self.input.read(&mut self.chunk[self.end..]) {
                Ok(read) => {
                    self.end += read;
                    self.is_at_end = read == 0;
                    return Ok(read > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(SourceError::Unreadable {
                        name: self.name.clone(),
                        line: Some(self.lines.current()),
                        error,
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives its bytes in pieces of the given size, as a pipe might.
    struct Piecemeal {
        bytes: Vec<u8>,
        at: usize,
        piece: usize,
    }

    impl Read for Piecemeal {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let len = self.piece.min(buffer.len()).min(self.bytes.len() - self.at);
            buffer[..len].copy_from_slice(&self.bytes[self.at..self.at + len]);
            self.at += len;
            Ok(len)
        }
    }

    type ReadRow = (u64, Vec<Vec<u8>>);

    fn read_all(bytes: &[u8], piece: usize) -> Result<(bool, Vec<ReadRow>), SourceError> {
        let input = Piecemeal {
            bytes: bytes.to_vec(),
            at: 0,
            piece,
        };
        let mut reader = CsvReader::new("test.csv", Box::new(input))?;
        let mut rows = Vec::new();
        loop {
            let batch = reader.read_batch(0, RowId(1))?;
            if batch.is_empty() {
                return Ok((reader.has_bom, rows));
            }
            rows.extend(
                batch
                    .rows()
                    .map(|row| (row.line(), row.cells().map(<[u8]>::to_vec).collect())),
            );
        }
    }

    fn row(line: u64, cells: &[&str]) -> ReadRow {
        (line, cells.iter().map(|c| c.as_bytes().to_vec()).collect())
    }

    #[test]
    fn lines_are_physical_also_after_blank_lines_and_quoted_newlines() {
        let text = b"\xEF\xBB\xBFa,b\r\n\r\n\n\"x\ny\",1\rlast,2";
        for piece in [1, 2, 3, 1000] {
            let (has_bom, rows) = read_all(text, piece).unwrap();
            assert!(has_bom);
            assert_eq!(
                rows,
                [
                    row(1, &["a", "b"]),
                    row(4, &["x\ny", "1"]),
                    row(6, &["last", "2"])
                ],
                "in pieces of {piece}"
            );
        }
    }

    #[test]
    fn a_quote_that_is_never_closed_is_found_with_its_line() {
        let mut text = b"a,b\n1,2\n3,\"4\n".to_vec();
        text.extend(std::iter::repeat_n(b"5,6\n", 500_000).flatten());
        let error = read_all(&text, 1 << 16).unwrap_err();
        assert!(
            matches!(error, SourceError::RowTooLong { line: 3, .. }),
            "{error}"
        );
    }

    #[test]
    fn a_row_of_commas_without_end_is_bounded_too() {
        let text = b",".repeat(1 << 20);
        assert!(matches!(
            read_all(&text, 1 << 16),
            Err(SourceError::RowTooLong { line: 1, .. })
        ));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), piece in 1usize..9) {
            let _ = read_all(&bytes, piece);
        }

        #[test]
        fn any_table_reads_back_as_it_was_written(
            table in prop::collection::vec(prop::collection::vec("[a-z\",\r\n é]{0,8}", 2..4), 1..30),
            piece in 1usize..50,
        ) {
            let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
            for cells in &table {
                writer.write_record(cells).unwrap();
            }
            let (_, rows) = read_all(&writer.into_inner().unwrap(), piece).unwrap();
            let expected: Vec<Vec<Vec<u8>>> = table
                .iter()
                .map(|cells| cells.iter().map(|c| c.as_bytes().to_vec()).collect())
                .collect();
            prop_assert_eq!(rows.into_iter().map(|(_, cells)| cells).collect::<Vec<_>>(), expected);
        }
    }
}
