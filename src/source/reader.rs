//! CSV text to rows.
//!
//! `csv-core` splits the bytes into cells; the buffers around it are ours, so
//! that a row's size is bounded, its cells land in the batch without a copy in
//! between, and its line is the one it really begins on: blank lines are
//! stepped over here, where they can be counted.
//!
//! A quote that is never closed would swallow the rows below it. It is known by
//! what it leads to ([`quotes::is_torn`]); the row is then taken to end with its
//! line, and reading goes on with the next one. Likewise for a line that is longer than
//! any contact.

use std::io::{ErrorKind, Read};

use csv_core::ReadRecordResult;

use super::dialect::{self, LONGEST_SEP_LINE};
use super::lines::LineCounter;
use super::quotes;
use super::{Flaw, FooterLine, Header, RowBatch, SourceError, footer};
use crate::lead::RowId;

/// The longest row that is taken for one, in bytes, with eight for each cell. A thousand
/// variables of a thousand characters fit; a quote that is never closed is found before
/// it has filled the memory.
pub(super) const MAX_ROW_BYTES: usize = 1 << 20;

/// How much is kept of a row that is longer, in bytes.
const KEPT_BYTES: usize = 4096;

/// How much is read from the file at a time, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// A batch is handed on when its cells have this many bytes, however few rows they are.
pub(super) const BATCH_BYTES: usize = 128 * 1024;

/// The most that is looked at in advance, in bytes.
pub(super) const SAMPLE_BYTES: usize = 512 * 1024;

/// What programs for DOS wrote behind the last line.
const DOS_END: u8 = 0x1A;

/// The least room for bytes and for cells that csv-core is given.
const SPARE_BYTES: usize = 256;
const SPARE_CELLS: usize = 16;

/// How much of a batch's buffers is filled.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    bytes: usize,
    cells: usize,
}

/// How the splitting of a row ended.
#[derive(Debug, Clone, Copy)]
enum RowEnd {
    /// At a line end, or at the end of the input.
    Whole(Place),
    /// Longer than a row may be.
    TooLong,
    /// There was no row any more.
    NoRow,
}

/// Reads the rows of one text input from top to bottom.
pub struct CsvReader {
    name: String,
    /// UTF-8, but for bytes that could not be decoded.
    input: Box<dyn Read + Send>,
    delimiter: u8,
    splitter: csv_core::Reader,
    /// What has been read and is still needed: the current row and what follows.
    window: Vec<u8>,
    /// Where in the window the current row begins.
    row_start: usize,
    /// Where in the window splitting goes on.
    start: usize,
    /// How much of the window is filled.
    end: usize,
    lines: LineCounter,
    /// How many cells the header has.
    columns: usize,
    /// The longest row that is taken for one; see [`MAX_ROW_BYTES`].
    most_bytes: usize,
    is_at_end: bool,
    /// What stands below the list, once its end has been reached.
    footer: Vec<FooterLine>,
}

impl CsvReader {
    /// Starts at the top of `input`, which is called `name` in messages. A first line
    /// that only names the delimiter (`sep=;`, for Excel) is stepped over.
    pub fn new(
        name: &str,
        input: Box<dyn Read + Send>,
        delimiter: u8,
    ) -> Result<Self, SourceError> {
        let mut reader = CsvReader {
            name: name.to_owned(),
            input,
            delimiter,
            splitter: csv_core::ReaderBuilder::new().delimiter(delimiter).build(),
            window: vec![0; CHUNK_BYTES],
            row_start: 0,
            start: 0,
            end: 0,
            lines: LineCounter::default(),
            columns: 0,
            most_bytes: MAX_ROW_BYTES,
            is_at_end: false,
            footer: Vec::new(),
        };
        while reader.end < LONGEST_SEP_LINE && reader.fill()? {}
        if let Some((_, len)) = dialect::sep_line(&reader.window[..reader.end]) {
            reader.step(len);
        }
        Ok(reader)
    }

    /// Reads the header, which must come before any row, and steps over so many rows above
    /// it. Where the input has none, its columns are called `1`, `2`, …, as many as the first
    /// row has cells, and that row is still to come.
    pub fn read_header(&mut self, has_header: bool, above: usize) -> Result<Header, SourceError> {
        for _ in 0..above {
            let mut title = RowBatch::new(0, RowId(0));
            self.read_row(&mut title, Place::default())?;
        }
        let mut batch = RowBatch::new(0, RowId(0));
        if self.read_row(&mut batch, Place::default())?.is_none() {
            return Err(SourceError::Empty {
                name: self.name.clone(),
            });
        }
        let row = batch.row(0);
        self.columns = row.len();
        if has_header {
            return Header::of(row, &self.name);
        }
        self.start = self.row_start;
        self.lines = LineCounter::at(row.line());
        Ok(Header::numbered(row.len()))
    }

    /// Whether the end of the input has been seen.
    pub fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// What stands below the list, once its end has been reached.
    pub fn footer(&self) -> &[FooterLine] {
        &self.footer
    }

    /// The next rows, at most so many, the first of them numbered `first`; an empty
    /// batch at the end of the input.
    pub fn read_batch(
        &mut self,
        file: usize,
        first: RowId,
        most: usize,
    ) -> Result<RowBatch, SourceError> {
        self.read_rows(RowBatch::new(file, first), most, BATCH_BYTES)
    }

    /// So many of the next rows, to be looked at.
    pub fn read_sample(&mut self, rows: usize) -> Result<RowBatch, SourceError> {
        self.read_rows(RowBatch::new(0, RowId(1)), rows, SAMPLE_BYTES)
    }

    fn read_rows(
        &mut self,
        mut batch: RowBatch,
        most_rows: usize,
        most_bytes: usize,
    ) -> Result<RowBatch, SourceError> {
        let mut end = Place::default();
        while batch.len() < most_rows && end.bytes < most_bytes {
            match self.read_row(&mut batch, end)? {
                Some(row_end) => end = row_end,
                None => break,
            }
        }
        batch.bytes.truncate(end.bytes);
        batch.cell_ends.truncate(end.cells);
        Ok(batch.without_room())
    }

    /// Adds one row behind `begin` and returns where it ends; nothing at the end of
    /// the input. The batch keeps the spare room that csv-core may fill: whoever
    /// ends the batch cuts it off.
    fn read_row(
        &mut self,
        batch: &mut RowBatch,
        begin: Place,
    ) -> Result<Option<Place>, SourceError> {
        let behind = self.lines.current();
        if !self.step_over_blank_lines()? {
            return Ok(None);
        }
        let line = self.lines.current();
        // Above and in the header there is no end of the list.
        if line > behind && self.columns > 0 && self.is_in_footer()? {
            return Ok(None);
        }
        let end = match self.split_row(batch, begin)? {
            RowEnd::NoRow => return Ok(None),
            RowEnd::Whole(end) if !self.is_torn(end.cells - begin.cells) => {
                self.lines.advance(&self.window[self.row_start..self.start]);
                batch.end_row(line, end.cells, None);
                end
            }
            // One line alone that is too long: there is no telling what it is.
            RowEnd::TooLong if self.is_one_line() => {
                let end = self.split_beginning(batch, begin, KEPT_BYTES);
                self.step_over_line()?;
                batch.end_row(line, end.cells, Some(Flaw::TooLong));
                end
            }
            RowEnd::Whole(_) | RowEnd::TooLong => {
                let row = self.row();
                let len = line_end(row).unwrap_or(row.len());
                // With the end of its line, so that no empty line seems to follow.
                let whole = line_end(row).map_or(row.len(), |end| end + 1);
                let end = self.split_beginning(batch, begin, len);
                self.step(whole);
                batch.end_row(line, end.cells, Some(Flaw::UnclosedQuote));
                end
            }
        };
        // csv-core counts a row's cell ends from the row's beginning.
        for cell_end in &mut batch.cell_ends[begin.cells..end.cells] {
            *cell_end += begin.bytes;
        }
        Ok(Some(end))
    }

    /// Splits the row that begins at `start`, reading more as needed.
    fn split_row(&mut self, batch: &mut RowBatch, begin: Place) -> Result<RowEnd, SourceError> {
        self.row_start = self.start;
        let mut end = begin;
        loop {
            make_room(batch, end);
            let (result, read, wrote, ended) = self.splitter.read_record(
                &self.window[self.start..self.end],
                &mut batch.bytes[end.bytes..],
                &mut batch.cell_ends[end.cells..],
            );
            self.start += read;
            end.bytes += wrote;
            end.cells += ended;
            // A row of nothing but commas takes memory too.
            let cells = size_of::<usize>() * (end.cells - begin.cells);
            if self.start - self.row_start + cells > self.most_bytes {
                return Ok(RowEnd::TooLong);
            }
            match result {
                // At the end of the file csv-core is told so by an empty slice,
                // which is what is left in the window then.
                ReadRecordResult::InputEmpty => {
                    self.fill()?;
                }
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {}
                ReadRecordResult::Record => return Ok(RowEnd::Whole(end)),
                ReadRecordResult::End if end.cells > begin.cells => return Ok(RowEnd::Whole(end)),
                ReadRecordResult::End => return Ok(RowEnd::NoRow),
            }
        }
    }

    /// What has been split for the current row.
    fn row(&self) -> &[u8] {
        &self.window[self.row_start..self.start]
    }

    /// Whether the row that has just been split is not one, but the beginning of a
    /// row whose quote is never closed, and what that has swallowed. Only a row of
    /// several lines can be, or the last one.
    fn is_torn(&self, cells: usize) -> bool {
        let row = self.row();
        match self.is_one_line() {
            // Whatever follows it is another row.
            true if self.start < self.end || !self.is_at_end => false,
            true => !quotes::are_closed(row, self.delimiter),
            false => quotes::is_torn(row, self.delimiter, cells, self.columns),
        }
    }

    /// Whether what has been split for the current row is one line, with or without its
    /// end.
    fn is_one_line(&self) -> bool {
        line_end(self.row()).is_none_or(|end| end + 1 == self.row().len())
    }

    /// Splits the first bytes of the current row anew, its quotes taken for text, and
    /// goes back to the row's beginning.
    fn split_beginning(&mut self, batch: &mut RowBatch, begin: Place, len: usize) -> Place {
        let mut end = begin;
        let mut splitter = csv_core::ReaderBuilder::new()
            .delimiter(self.delimiter)
            .quoting(false)
            .build();
        let row = &self.window[self.row_start..self.start];
        let mut left = &row[..len.min(row.len())];
        loop {
            make_room(batch, end);
            let (result, read, wrote, ended) = splitter.read_record(
                left,
                &mut batch.bytes[end.bytes..],
                &mut batch.cell_ends[end.cells..],
            );
            left = &left[read..];
            end.bytes += wrote;
            end.cells += ended;
            if matches!(result, ReadRecordResult::Record | ReadRecordResult::End) {
                break;
            }
        }
        self.start = self.row_start;
        self.splitter.reset();
        end
    }

    /// Steps over the rest of a line, however long it is.
    fn step_over_line(&mut self) -> Result<(), SourceError> {
        loop {
            let rest = &self.window[self.start..self.end];
            match line_end(rest) {
                Some(end) => {
                    self.step(end + 1);
                    return Ok(());
                }
                None => {
                    self.step(rest.len());
                    self.row_start = self.start;
                    if !self.fill()? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Steps over line ends before a row, and over lines of nothing but spaces and tabs;
    /// false at the end of the input.
    fn step_over_blank_lines(&mut self) -> Result<bool, SourceError> {
        let mut blank = 0;
        loop {
            let rest = &self.window[self.start..self.end];
            match rest.get(blank) {
                Some(b'\n' | b'\r') => {
                    self.step(blank + 1);
                    blank = 0;
                }
                Some(&(b' ' | b'\t' | DOS_END)) if rest[blank] != self.delimiter => {
                    blank += 1;
                    if blank > self.most_bytes {
                        return Ok(true);
                    }
                }
                Some(_) => return Ok(true),
                None => {
                    // Of what is kept, nothing before this is needed any more.
                    self.row_start = self.start;
                    if !self.fill()? {
                        self.step(blank);
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Whether all that is left, after an empty line, stands below the list. Then the reading
    /// is at its end.
    fn is_in_footer(&mut self) -> Result<bool, SourceError> {
        self.row_start = self.start;
        while self.end - self.start <= footer::MAX_BYTES && self.fill()? {}
        if self.end - self.start > footer::MAX_BYTES {
            return Ok(false);
        }
        let rest = &self.window[self.start..self.end];
        let Some(footer) = footer::footer(rest, self.delimiter, self.lines.current()) else {
            return Ok(false);
        };
        self.footer = footer;
        self.step(self.end - self.start);
        Ok(true)
    }

    /// Steps over bytes of the window, counting their lines.
    fn step(&mut self, len: usize) {
        self.lines
            .advance(&self.window[self.start..self.start + len]);
        self.start += len;
    }

    /// Reads more behind what the window holds, of which everything before the current
    /// row may go; false at the end of the file.
    fn fill(&mut self) -> Result<bool, SourceError> {
        if self.row_start > 0 {
            self.window.copy_within(self.row_start..self.end, 0);
            self.start -= self.row_start;
            self.end -= self.row_start;
            self.row_start = 0;
        }
        if self.end == self.window.len() {
            self.window.resize(2 * self.end, 0);
        }
        loop {
            match self.input.read(&mut self.window[self.end..]) {
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

/// Where the first line of `text` ends, if it does.
fn line_end(text: &[u8]) -> Option<usize> {
    memchr::memchr2(b'\n', b'\r', text)
}

/// Sees to it that csv-core has room to write to.
fn make_room(batch: &mut RowBatch, end: Place) {
    if batch.bytes.len() < end.bytes + SPARE_BYTES {
        batch.bytes.resize(2 * end.bytes + 16 * SPARE_BYTES, 0);
    }
    if batch.cell_ends.len() < end.cells + SPARE_CELLS {
        batch.cell_ends.resize(2 * end.cells + 16 * SPARE_CELLS, 0);
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

    fn read_all(bytes: &[u8], piece: usize) -> Result<Vec<ReadRow>, SourceError> {
        let input = Piecemeal {
            bytes: bytes.to_vec(),
            at: 0,
            piece,
        };
        let mut reader = CsvReader::new("test.csv", Box::new(input), b',')?;
        let mut rows = Vec::new();
        loop {
            let batch = reader.read_batch(0, RowId(1), 256)?;
            if batch.is_empty() {
                return Ok(rows);
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
        let text = b"a,b\r\n\r\n\n\"x\ny\",1\rlast,2";
        for piece in [1, 2, 3, 1000] {
            let rows = read_all(text, piece).unwrap();
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
    fn a_quote_that_is_never_closed_costs_its_own_row_and_no_other() {
        let closings = [
            // Nothing closes it before the end, the quote of a later row does, or the
            // closing quote of a later row that looks like one.
            ("", 3),
            ("5,\"6\"\n", 3),
            ("5,6\"\n", 3),
        ];
        for (last, line) in closings {
            let mut text = b"a,b,c\n1,2,x\n3,\"4,y\n".to_vec();
            text.extend(std::iter::repeat_n(b"5,6,z\n", 400_000).flatten());
            text.extend(last.as_bytes());
            let rows = read_flawed(&text, 1 << 16);
            let torn: Vec<_> = rows.iter().filter(|(_, _, flaw)| flaw.is_some()).collect();
            assert_eq!(torn.len(), 1, "{last:?}");
            assert_eq!(
                (torn[0].0, torn[0].1.as_str()),
                (line, "3|\"4|y"),
                "{last:?}"
            );
            let lines: Vec<u64> = rows.iter().map(|(line, _, _)| *line).collect();
            assert!(
                lines.iter().copied().eq(2..2 + lines.len() as u64),
                "{last:?}"
            );
            assert!(lines.len() >= 400_002, "{last:?}");
        }
    }

    #[test]
    fn the_last_row_may_be_torn_too() {
        let rows = read_flawed(b"a,b\n1,\"2", 3);
        assert_eq!(rows, [(2, "1|\"2".to_owned(), Some(Flaw::UnclosedQuote))]);
        let rows = read_flawed(b"a,b\n1,\"a \"b\" c\"", 3);
        assert_eq!(rows, [(2, "1|a b\" c\"".to_owned(), None)]);
        let rows = read_flawed(b"a,b\n1,\"2\"", 3);
        assert_eq!(rows, [(2, "1|2".to_owned(), None)]);
    }

    #[test]
    fn lines_of_nothing_but_spaces_are_blank() {
        let rows = read_all(b"a,b\n  \t \n1,2\n   ", 2).unwrap();
        assert_eq!(rows, [row(1, &["a", "b"]), row(3, &["1", "2"])]);
    }

    #[test]
    fn a_line_that_names_the_delimiter_is_stepped_over() {
        for piece in [1, 100] {
            let rows = read_all(b"sep=,\r\na,b\n1,2", piece).unwrap();
            assert_eq!(rows, [row(2, &["a", "b"]), row(3, &["1", "2"])]);
        }
    }

    #[test]
    fn without_a_header_the_first_row_is_read_twice() {
        let input = Box::new(&b"\n1,2\n3,4\n"[..]);
        let mut reader = CsvReader::new("test.csv", input, b',').unwrap();
        let header = reader.read_header(false, 0).unwrap();
        assert_eq!(
            (header.names, header.line),
            (vec!["1".into(), "2".into()], None)
        );
        let rows = reader.read_batch(0, RowId(1), 256).unwrap();
        let lines: Vec<u64> = rows.rows().map(|row| row.line()).collect();
        assert_eq!(lines, [2, 3]);
    }

    /// The rows behind the header: line, cells, flaw.
    fn read_flawed(text: &[u8], piece: usize) -> Vec<(u64, String, Option<Flaw>)> {
        let input = Piecemeal {
            bytes: text.to_vec(),
            at: 0,
            piece,
        };
        let mut reader = CsvReader::new("test.csv", Box::new(input), b',').unwrap();
        reader.read_header(true, 0).unwrap();
        let mut rows = Vec::new();
        loop {
            let batch = reader.read_batch(0, RowId(1), 256).unwrap();
            if batch.is_empty() {
                return rows;
            }
            rows.extend(batch.rows().map(|row| {
                let cells: Vec<_> = row.cells().map(String::from_utf8_lossy).collect();
                (row.line(), cells.join("|"), row.flaw())
            }));
        }
    }

    #[test]
    fn a_line_without_end_costs_its_own_row_and_little_memory() {
        for filler in [",", "x", "\"\"", "é"] {
            let mut text = b"a,b\n1,2\n3,".to_vec();
            text.extend(filler.repeat(10 << 20).as_bytes());
            text.extend(b"\n4,5\n");
            let rows = read_flawed(&text, 1 << 16);
            let kinds: Vec<_> = rows.iter().map(|(line, _, flaw)| (*line, *flaw)).collect();
            assert_eq!(
                kinds,
                [(2, None), (3, Some(Flaw::TooLong)), (4, None)],
                "{filler}"
            );
            assert!(rows[1].1.starts_with("3|") && rows[1].1.len() <= KEPT_BYTES);
        }
        assert!(matches!(
            read_all(&b",".repeat(2 << 20), 1 << 16),
            Ok(rows) if rows.len() == 1
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
            let rows = read_all(&writer.into_inner().unwrap(), piece).unwrap();
            let expected: Vec<Vec<Vec<u8>>> = table
                .iter()
                .map(|cells| cells.iter().map(|c| c.as_bytes().to_vec()).collect())
                .collect();
            prop_assert_eq!(rows.into_iter().map(|(_, cells)| cells).collect::<Vec<_>>(), expected);
        }
    }
}
