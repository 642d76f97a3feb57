//! Splits CSV text into rows.
//!
//! `csv-core` splits the bytes into cells. The buffers around it are our own, for three reasons:
//! the size of a row is bounded, cells are written straight into the batch, and the line of a row
//! is the one on which it begins. Blank lines and blank rows are skipped here, because here they
//! can be counted.
//!
//! A quote that is never closed would swallow the rows below it. [`quotes::is_torn`]
//! recognizes such a row by its content. The row then ends with its first line, and reading
//! continues on the next line. A line that is longer than any contact is treated the same way.

use std::io::{ErrorKind, Read};

use csv_core::ReadRecordResult;

use super::batch::{Filled, MAX_ROW_BYTES};
use super::lines::LineCounter;
use super::quotes;
use super::{Flaw, FooterLine, Header, RowBatch, SourceError, footer};

const KEPT_BYTES: usize = 4096;

const CHUNK_BYTES: usize = 64 * 1024;

/// DOS programs write this byte after the last line.
const DOS_END: u8 = 0x1A;

const LONGEST_SEP_LINE: usize = 16;

const SPARE_BYTES: usize = 256;
const SPARE_CELLS: usize = 16;

pub struct CsvReader {
    name: String,
    /// UTF-8, except for bytes that could not be decoded.
    input: Box<dyn Read + Send>,
    delimiter: u8,
    splitter: csv_core::Reader,
    /// The current row and the bytes after it that were already read.
    window: Vec<u8>,
    /// Where the current row begins in `window`.
    row_start: usize,
    start: usize,
    end: usize,
    lines: LineCounter,
    columns: usize,
    pub(super) is_at_end: bool,
    pub(super) footer: Vec<FooterLine>,
    /// How many rows below the header had nothing but white space in their cells.
    pub(super) blank_rows: u64,
}

impl CsvReader {
    /// Starts at the top of `input`. `name` is its name in messages. Skips
    /// a first line that only names the delimiter (`sep=;`, for Excel).
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
            is_at_end: false,
            footer: Vec::new(),
            blank_rows: 0,
        };
        while reader.end < LONGEST_SEP_LINE && reader.fill()? {}
        if let Some((_, len)) = sep_line(&reader.window[..reader.end]) {
            reader.step(len);
        }
        Ok(reader)
    }

    /// Reads the header after skipping the `above` rows before it; call it before
    /// any row is read. Without a header the columns are named `1`, `2`, … after
    /// the cells of the first row, and the next row that is read is that first row.
    pub fn read_header(&mut self, has_header: bool, above: usize) -> Result<Header, SourceError> {
        for _ in 0..above {
            self.read_row(&mut RowBatch::default())?;
        }
        let mut batch = RowBatch::default();
        if !self.read_row(&mut batch)? {
            return Err(SourceError::empty(&self.name));
        }
        let row = batch.row(0);
        self.columns = row.len();
        if has_header {
            self.blank_rows = 0;
            return Header::of(row, &self.name);
        }
        self.start = self.row_start;
        self.lines = LineCounter::at(row.line());
        Ok(Header::numbered(row.len()))
    }

    /// Adds at most `most_rows` of the next rows to the batch. Adds none at the end of the input.
    pub(super) fn read_rows(
        &mut self,
        mut batch: RowBatch,
        most_rows: usize,
        most_bytes: usize,
    ) -> Result<RowBatch, SourceError> {
        while batch.has_room(most_rows, most_bytes) && self.read_row(&mut batch)? {}
        batch.cut_spare_space();
        Ok(batch)
    }

    /// Adds one row; returns false at the end of the input. The spare space
    /// that csv-core may fill stays in the batch: the caller cuts it off at
    /// the end of the batch.
    fn read_row(&mut self, batch: &mut RowBatch) -> Result<bool, SourceError> {
        let begin = batch.filled();
        let before = self.lines.current();
        // `columns` is 0 until the header is read: a footer can only come after the header.
        let mut may_be_footer = self.columns > 0;
        loop {
            if !self.skip_line_ends()? {
                return Ok(false);
            }
            let line = self.lines.current();
            if line > before && may_be_footer {
                if self.is_in_footer()? {
                    return Ok(false);
                }
                // What has rows in it has them behind the next blank row too.
                may_be_footer = self.end - self.start > footer::MAX_BYTES;
            }
            let end = self.split_row(batch, begin)?;
            match end {
                Some(end) if !self.is_torn(end.cells - begin.cells) => {
                    self.lines.advance(&self.window[self.row_start..self.start]);
                    if is_blank(batch, begin, end) {
                        // The end of a file of DOS is no row.
                        let is_end = |byte: &u8| matches!(*byte, DOS_END | b'\n' | b'\r');
                        self.blank_rows += u64::from(!self.row().iter().all(is_end));
                        continue;
                    }
                    // csv-core counts the cell ends of a row from the beginning of the row.
                    for cell_end in &mut batch.cell_ends[begin.cells..end.cells] {
                        *cell_end += begin.bytes;
                    }
                    batch.end_row(line, end.cells, None);
                    if self.is_at_end && self.start == self.end {
                        let last = self.row().last();
                        batch.ends_open = !matches!(last, Some(b'"' | b'\n' | b'\r'));
                    }
                }
                _ => self.end_flawed_row(batch, begin, end.is_none())?,
            }
            return Ok(true);
        }
    }

    /// Ends a row with a flaw: one that is too long, or has a quote that is never closed.
    /// Splits its first line again, with quotes as text, and goes on after that line.
    fn end_flawed_row(
        &mut self,
        batch: &mut RowBatch,
        begin: Filled,
        is_too_long: bool,
    ) -> Result<(), SourceError> {
        // In a single line no unclosed quote has joined several rows.
        let (flaw, most) = match is_too_long && self.is_one_line() {
            true => (Flaw::TooLong, KEPT_BYTES),
            false => (Flaw::UnclosedQuote, usize::MAX),
        };
        batch.bytes.truncate(begin.bytes);
        batch.cell_ends.truncate(begin.cells);
        let row = self.row();
        let len = line_end(row).unwrap_or(row.len());
        for cell in row[..len.min(most)].split(|byte| *byte == self.delimiter) {
            batch.push_cell(cell);
        }
        batch.end_row(self.lines.current(), batch.cell_ends.len(), Some(flaw));
        self.start = self.row_start;
        self.splitter.reset();
        self.skip_line()
    }

    /// Splits the row that begins at `start` and returns where its cells end; `None` if it is too
    /// long. Reads more input as needed.
    fn split_row(
        &mut self,
        batch: &mut RowBatch,
        begin: Filled,
    ) -> Result<Option<Filled>, SourceError> {
        self.row_start = self.start;
        let mut end = begin;
        loop {
            reserve(batch, end);
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
            if self.start - self.row_start + cells > MAX_ROW_BYTES {
                return Ok(None);
            }
            match result {
                // At the end of the file the window is empty; that is how
                // csv-core recognizes the end.
                ReadRecordResult::InputEmpty => {
                    self.fill()?;
                }
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {}
                // Without cells if the input ends with a byte order mark, which csv-core skips.
                ReadRecordResult::Record | ReadRecordResult::End => return Ok(Some(end)),
            }
        }
    }

    fn row(&self) -> &[u8] {
        &self.window[self.row_start..self.start]
    }

    /// Whether the row that was just split has a quote that is never closed, and so contains
    /// the rows below it. Only a row of several lines can be such a row, or the last row.
    fn is_torn(&self, cells: usize) -> bool {
        let row = self.row();
        if !self.is_one_line() {
            return quotes::is_torn(row, self.delimiter, cells, self.columns);
        }
        let is_last = self.start == self.end && self.is_at_end;
        is_last && !quotes::are_closed(row, self.delimiter)
    }

    /// Whether the part of the current row that is split so far is one
    /// line, with or without its line end.
    fn is_one_line(&self) -> bool {
        line_end(self.row()).is_none_or(|end| end + 1 == self.row().len())
    }

    fn skip_line(&mut self) -> Result<(), SourceError> {
        loop {
            let rest = &self.window[self.start..self.end];
            let end = line_end(rest);
            self.step(end.map_or(rest.len(), |end| end + 1));
            self.row_start = self.start;
            if end.is_some() || !self.fill()? {
                return Ok(());
            }
        }
    }

    /// Skips line ends before a row. Returns false at the end of the input.
    fn skip_line_ends(&mut self) -> Result<bool, SourceError> {
        loop {
            match self.window[self.start..self.end].first() {
                Some(b'\n' | b'\r') => self.step(1),
                Some(_) => return Ok(true),
                None => {
                    self.row_start = self.start;
                    if !self.fill()? {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Whether the rest of the input, after an empty line or a blank row, is a footer. If so,
    /// reading ends.
    fn is_in_footer(&mut self) -> Result<bool, SourceError> {
        self.row_start = self.start;
        while self.end - self.start <= footer::MAX_BYTES && self.fill()? {}
        if self.end - self.start > footer::MAX_BYTES {
            return Ok(false);
        }
        let rest = &self.window[self.start..self.end];
        let footer = footer::footer(rest, self.delimiter, self.lines.current());
        let Some((footer, blank_rows)) = footer else {
            return Ok(false);
        };
        self.footer = footer;
        self.blank_rows += blank_rows;
        self.step(self.end - self.start);
        Ok(true)
    }

    fn step(&mut self, len: usize) {
        self.lines
            .advance(&self.window[self.start..self.start + len]);
        self.start += len;
    }

    /// Reads more bytes into the window, and drops the bytes before the
    /// current row. Returns false at the end of the file.
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
                    let line = Some(self.lines.current());
                    return Err(SourceError::unreadable(&self.name, line, &error));
                }
            }
        }
    }
}

/// The delimiter that the first line names for Excel (`sep=;`), and the
/// length of that line with its line end.
pub(super) fn sep_line(text: &[u8]) -> Option<(u8, usize)> {
    let len = memchr::memchr2(b'\n', b'\r', text)?;
    let line = text[..len].trim_ascii();
    let line = line
        .strip_prefix(b"\"")
        .and_then(|line| line.strip_suffix(b"\""))
        .unwrap_or(line);
    let is_sep = line.len() == 5 && line[..4].eq_ignore_ascii_case(b"sep=");
    // A tab is white space, so it was trimmed away above.
    let is_tab = text[..len].eq_ignore_ascii_case(b"sep=\t");
    let delimiter = match (is_tab, is_sep) {
        (true, _) => b'\t',
        (_, true) => line[4],
        _ => return None,
    };
    // The line feed of a CR LF is skipped later, as a blank line.
    Some((delimiter, len + 1))
}

/// Whether all cells of the row that was just split are empty or white space,
/// or the row is the end of a file of DOS.
fn is_blank(batch: &RowBatch, begin: Filled, end: Filled) -> bool {
    let bytes = &batch.bytes[begin.bytes..end.bytes];
    // Nearly every row begins with a letter or a digit.
    if bytes.first().is_some_and(u8::is_ascii_graphic) {
        return false;
    }
    let mut start = 0;
    batch.cell_ends[begin.cells..end.cells].iter().all(|&end| {
        let cell = std::str::from_utf8(&bytes[start..end]);
        start = end;
        let is_space = |c: char| c.is_whitespace() || c == char::from(DOS_END);
        cell.is_ok_and(|cell| cell.trim_matches(is_space).is_empty())
    })
}

fn line_end(text: &[u8]) -> Option<usize> {
    memchr::memchr2(b'\n', b'\r', text)
}

fn reserve(batch: &mut RowBatch, end: Filled) {
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
    use crate::lead::RowId;
    use crate::source::batch::BATCH_BYTES;
    use proptest::prelude::*;

    /// Returns its bytes in pieces of the given size, as a pipe may.
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
            let batch = reader.read_rows(RowBatch::new(0, RowId(1)), 256, BATCH_BYTES)?;
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
    fn an_unclosed_quote_spoils_only_its_own_row() {
        let closings = [
            // What closes the quote: nothing before the end; the opening quote of a later
            // row; a quote at the end of a later row, which looks like a closing quote.
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
    fn the_last_row_may_have_an_unclosed_quote_too() {
        let rows = read_flawed(b"a,b\n1,\"2", 3);
        assert_eq!(rows, [(2, "1|\"2".to_owned(), Some(Flaw::UnclosedQuote))]);
        let rows = read_flawed(b"a,b\n1,\"a \"b\" c\"", 3);
        assert_eq!(rows, [(2, "1|a b\" c\"".to_owned(), None)]);
        let rows = read_flawed(b"a,b\n1,\"2\"", 3);
        assert_eq!(rows, [(2, "1|2".to_owned(), None)]);
    }

    #[test]
    fn lines_of_spaces_are_blank() {
        let rows = read_all(b"a,b\n  \t \n1,2\n   ", 2).unwrap();
        assert_eq!(rows, [row(1, &["a", "b"]), row(3, &["1", "2"])]);
    }

    /// The lines of the rows below the header, and how many rows are blank.
    fn lines_and_blanks(text: &[u8], delimiter: u8, piece: usize) -> (Vec<u64>, u64) {
        let input = Piecemeal {
            bytes: text.to_vec(),
            at: 0,
            piece,
        };
        let mut reader = CsvReader::new("test.csv", Box::new(input), delimiter).unwrap();
        reader.read_header(true, 0).unwrap();
        let rows = RowBatch::new(0, RowId(1));
        let rows = reader.read_rows(rows, usize::MAX, usize::MAX).unwrap();
        (
            rows.rows().map(|row| row.line()).collect(),
            reader.blank_rows,
        )
    }

    #[test]
    fn a_row_of_white_space_is_no_data_row_in_any_form() {
        let blanks = [
            ";;",
            " ; ;\t",
            ";",
            "   ",
            "\u{a0};;",
            "\"  \";\"\";",
            "\"\n \";;",
            ";;;;;;",
            "\u{3000}; \u{2003};",
            "\"\"",
        ];
        for blank in blanks {
            for (end, piece) in [("\n", 1), ("\r\n", 3), ("\r", 1000)] {
                let text = format!(
                    ";;{end}a;b;c{end}{blank}{end}1;2;3{end}{blank}{end}{end}{blank}{end};;4{end}{blank}"
                );
                let (lines, rows) = lines_and_blanks(text.as_bytes(), b';', piece);
                let more = u64::from(blank.contains('\n'));
                assert_eq!(lines, [4 + more, 8 + 3 * more], "{text:?}");
                assert_eq!(rows, 4, "{text:?}");
            }
        }
    }

    #[test]
    fn bytes_that_are_not_text_and_quotes_that_are_not_closed_are_not_blank() {
        for row in [
            &b"\xFF;;"[..],
            b"\xC2;\xA0;",
            b"\";;",
            b";;.",
            b"\xEF\xBB\xBF;;",
        ] {
            let text = [b"a;b;c\n1;2;3\n", row].concat();
            assert_eq!(lines_and_blanks(&text, b';', 7), (vec![2, 3], 0), "{row:?}");
        }
    }

    #[test]
    fn a_footer_may_follow_a_blank_row() {
        let text = b"a;b;c\n1;2;3\n;;\nTotal: 1;;\n;;\nMade by Ada;;\n ; ;\n";
        assert_eq!(lines_and_blanks(text, b';', 5), (vec![2], 3));
    }

    #[test]
    fn without_a_header_blank_rows_above_the_first_row_are_counted_once() {
        let input = Box::new(&b";;\n\n;;\n1;2;3\n;;\n"[..]);
        let mut reader = CsvReader::new("test.csv", input, b';').unwrap();
        reader.read_header(false, 0).unwrap();
        let rows = RowBatch::new(0, RowId(1));
        let rows = reader.read_rows(rows, 256, BATCH_BYTES).unwrap();
        assert_eq!(
            (rows.len(), rows.row(0).line(), reader.blank_rows),
            (1, 4, 3)
        );
    }

    #[test]
    fn empty_cells_count_in_a_batch_too() {
        const CELLS: usize = 20_000;
        let row = format!("1{}\n", ",".repeat(CELLS - 1));
        for header in ["a,b\n", &row] {
            let text = format!("{header}{}", row.repeat(20));
            let input = Box::new(std::io::Cursor::new(text.into_bytes()));
            let mut reader = CsvReader::new("test.csv", input, b',').unwrap();
            reader.read_header(true, 0).unwrap();
            let rows = reader.read_rows(RowBatch::default(), 256, BATCH_BYTES);
            assert_eq!(rows.unwrap().len(), BATCH_BYTES.div_ceil(4 * CELLS));
        }
    }

    #[test]
    fn only_a_last_row_without_a_line_end_ends_open() {
        for (text, is_open) in [
            ("a,b\n1,2", true),
            ("a,b\n1,2\n", false),
            ("a,b\n1,2\r", false),
            ("a,b\n1,2\r\n\n", false),
            ("a,b\n1,\"2\"", false),
            ("a,b\n1,\"2", false),
        ] {
            for piece in [1, 100] {
                let input = Piecemeal {
                    bytes: text.as_bytes().to_vec(),
                    at: 0,
                    piece,
                };
                let mut reader = CsvReader::new("test.csv", Box::new(input), b',').unwrap();
                reader.read_header(true, 0).unwrap();
                let rows = RowBatch::new(0, RowId(1));
                let rows = reader.read_rows(rows, 256, BATCH_BYTES).unwrap();
                assert_eq!(rows.row(0).ends_open(), is_open, "{text:?}");
            }
        }
    }

    #[test]
    fn a_line_that_names_the_delimiter_is_skipped() {
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
        let rows = reader
            .read_rows(RowBatch::new(0, RowId(1)), 256, BATCH_BYTES)
            .unwrap();
        let lines: Vec<u64> = rows.rows().map(|row| row.line()).collect();
        assert_eq!(lines, [2, 3]);
    }

    /// The rows after the header: line, cells, flaw.
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
            let batch = reader
                .read_rows(RowBatch::new(0, RowId(1)), 256, BATCH_BYTES)
                .unwrap();
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
    fn an_endless_line_spoils_only_its_own_row_and_takes_little_memory() {
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
            let is_blank = |cells: &Vec<String>| cells.iter().all(|cell| cell.trim().is_empty());
            let expected: Vec<Vec<Vec<u8>>> = table
                .iter()
                .filter(|cells| !is_blank(cells))
                .map(|cells| cells.iter().map(|c| c.as_bytes().to_vec()).collect())
                .collect();
            prop_assert_eq!(rows.into_iter().map(|(_, cells)| cells).collect::<Vec<_>>(), expected);
        }
    }
}
