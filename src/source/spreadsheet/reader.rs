//! Reads the rows of a sheet in batches, as [`CsvReader`](crate::source::CsvReader) does for CSV.

use std::sync::Arc;

use super::{Sheet, SheetRow};
use crate::source::batch::MAX_ROW_BYTES;
use crate::source::footer::only_words;
use crate::source::{CHOOSE_SHEET, Flaw, FooterLine, Header, NEEDS_HEADER, RowBatch, SourceError};
use crate::text::shown_name;

/// Returns the rows of one sheet from top to bottom. The sheet is in memory
/// only once, however many readers it has.
#[derive(Debug)]
pub struct SheetReader {
    workbook: String,
    sheet: Arc<Sheet>,
    next: usize,
    /// The row of the header, from 1; 0 without a header.
    header_line: u64,
    width: usize,
    end: usize,
    pub(in crate::source) footer: Vec<FooterLine>,
}

impl SheetReader {
    pub fn new(workbook: &str, sheet: Arc<Sheet>) -> Self {
        let (end, footer) = end_of_list(&sheet);
        SheetReader {
            workbook: workbook.to_owned(),
            sheet,
            next: 0,
            header_line: 0,
            width: 0,
            end,
            footer,
        }
    }

    /// Reads the header; call it before any row is read. See
    /// [`CsvReader::read_header`](crate::source::CsvReader::read_header).
    pub fn read_header(&mut self, has_header: bool, above: usize) -> Result<Header, SourceError> {
        self.next += above;
        let Some(row) = self.next_row() else {
            return Err(self.empty());
        };
        let names: Vec<String> = row.cells(0).map(str::to_owned).collect();
        let line = row.number();
        self.width = names.len();
        if !has_header {
            return Ok(Header::numbered(names.len()));
        }
        self.next += 1;
        self.header_line = line;
        Ok(Header {
            names,
            line: Some(line),
        })
    }

    fn empty(&self) -> SourceError {
        let mut sheets = self.sheet.names.clone();
        sheets.retain(|name| *name != self.sheet.name);
        let on_page = match sheets.is_empty() {
            true => NEEDS_HEADER,
            false => CHOOSE_SHEET,
        };
        let message = message!(
            "the sheet `{sheet}` of `{workbook}` is empty",
            "{the first row must be a header, such as `phone_number` and `name`; another sheet may be the one you mean|{on_page}}",
            sheet = shown_name(&self.sheet.name),
            workbook = &self.workbook,
            on_page
        );
        SourceError {
            sheets,
            ..SourceError::unusable(message)
        }
    }

    /// Adds at most `most_rows` of the next rows; none at the end of the
    /// sheet. The line of a row is its number in the spreadsheet.
    pub(in crate::source) fn read_rows(
        &mut self,
        mut batch: RowBatch,
        most_rows: usize,
        most_bytes: usize,
    ) -> RowBatch {
        while batch.has_room(most_rows, most_bytes) {
            let Some(row) = self.next_row() else { break };
            let (bytes, cells) = (batch.bytes.len(), batch.cell_ends.len());
            for cell in row.cells(self.width) {
                batch.push_cell(cell.as_bytes());
            }
            let cells = batch.cell_ends.len() - cells;
            let size = batch.bytes.len() - bytes + size_of::<usize>() * cells;
            let flaw = (size > MAX_ROW_BYTES).then_some(Flaw::TooLong);
            batch.end_row(row.number(), batch.cell_ends.len(), flaw);
            batch.hide_last(row.is_hidden);
            self.next += 1;
        }
        batch
    }

    /// How many blank rows there are between the header and the last row that was read.
    pub(in crate::source) fn blank_rows(&self) -> u64 {
        let end = self.next_row().map(|row| row.number());
        let rows = self.sheet.grid.blank_rows.iter();
        let rows = rows
            .map(|row| u64::from(*row) + 1)
            .filter(|row| *row > self.header_line && end.is_none_or(|end| *row < end));
        rows.count() as u64
    }

    fn next_row(&self) -> Option<SheetRow<'_>> {
        (self.next < self.end).then(|| self.sheet.grid.row(self.next))
    }
}

/// Where the rows of a sheet end, and the footer lines that follow them after an empty row.
fn end_of_list(sheet: &Sheet) -> (usize, Vec<FooterLine>) {
    let grid = &sheet.grid;
    let words = |at: usize| only_words(grid.row(at).cells(0));
    let mut first = grid.len();
    while first > 1 && words(first - 1).is_some() {
        first -= 1;
    }
    // The lines above the empty row may look like a footer too, so the empty row is searched for.
    let follows_gap = |at: &usize| grid.row(*at).number() > grid.row(at - 1).number() + 1;
    let end = (first.max(1)..grid.len()).find(follows_gap);
    let end = end.unwrap_or(grid.len());
    let footer = (end..grid.len()).map(|at| FooterLine {
        line: grid.row(at).number(),
        text: words(at).unwrap_or_default(),
    });
    (end, footer.collect())
}
