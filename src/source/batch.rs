//! Many rows in one batch: one allocation for a thousand rows, not several for each row.

use std::borrow::Cow;
use std::sync::Arc;

use super::budget::{RowBudget, RowShare};
use crate::lead::RowId;

/// The most bytes of a row, with eight more counted for each cell. A thousand variables of a
/// thousand characters fit. A quote that is never closed is detected before it fills the memory.
pub(super) const MAX_ROW_BYTES: usize = 1 << 20;

/// A batch ends once its cells have this many bytes, even if it has only a few rows.
pub(super) const BATCH_BYTES: usize = 128 * 1024;

pub(super) const SAMPLE_BYTES: usize = 512 * 1024;

/// Consecutive rows of one input. All their cells are in one buffer, one after the other.
#[derive(Debug, Clone, Default)]
pub struct RowBatch {
    file: usize,
    first: u64,
    pub(super) bytes: Vec<u8>,
    /// Where each cell ends in `bytes`.
    pub(super) cell_ends: Vec<usize>,
    rows: Vec<Span>,
    /// Whether the input ends in the last cell of the last row, without a line end.
    pub(super) ends_open: bool,
    /// Given back when the rows are dropped.
    _share: Option<Arc<RowShare>>,
}

/// How far the buffers of a batch are filled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filled {
    pub(super) bytes: usize,
    pub(super) cells: usize,
}

/// The position of one row: its line in the file, and where its cells end in `cell_ends`.
#[derive(Debug, Clone, Copy)]
struct Span {
    line: u64,
    cells_end: usize,
    flaw: Option<Flaw>,
    is_hidden: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// A quote in the row is never closed. The row ends with its first line, and is split as
    /// if quotes were text.
    UnclosedQuote,
    /// The row is longer than any contact. Only its beginning is kept.
    TooLong,
}

impl RowBatch {
    pub fn new(file: usize, first: RowId) -> Self {
        RowBatch {
            file,
            first: first.0,
            ..RowBatch::default()
        }
    }

    /// One row with these cells, which may be others than those in the file.
    pub fn of_cells(file: usize, id: RowId, cells: impl IntoIterator<Item: AsRef<[u8]>>) -> Self {
        let mut batch = RowBatch::new(file, id);
        for cell in cells {
            batch.push_cell(cell.as_ref());
        }
        batch.end_row(0, batch.cell_ends.len(), None);
        batch
    }

    pub fn file(&self) -> usize {
        self.file
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn size(&self) -> usize {
        self.bytes.capacity()
            + size_of::<usize>() * self.cell_ends.capacity()
            + size_of::<Span>() * self.rows.capacity()
    }

    /// The rows, once the budget has room for them and so many bytes more for each.
    #[must_use]
    pub fn within(self, budget: &Arc<RowBudget>, bytes_each: usize) -> RowBatch {
        let bytes = self.size() + bytes_each * self.len();
        let _share = Some(Arc::new(budget.take(bytes)));
        RowBatch { _share, ..self }
    }

    pub fn row(&self, index: usize) -> Row<'_> {
        let before = index.checked_sub(1);
        Row {
            batch: self,
            index,
            first_cell: before.map_or(0, |before| self.rows[before].cells_end),
        }
    }

    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.len()).map(|index| self.row(index))
    }

    /// Where the last row ends. The buffers may be longer: csv-core writes into spare space.
    pub(super) fn filled(&self) -> Filled {
        let cells = self.rows.last().map_or(0, |span| span.cells_end);
        let last = cells.checked_sub(1);
        let bytes = last.map_or(0, |last| self.cell_ends[last]);
        Filled { bytes, cells }
    }

    /// Whether another row may be added. Empty cells have no bytes and take memory nevertheless: each cell
    /// counts as four at least.
    pub(super) fn has_room(&self, most_rows: usize, most_bytes: usize) -> bool {
        let filled = self.filled();
        self.len() < most_rows && filled.bytes.max(4 * filled.cells) < most_bytes
    }

    pub(super) fn cut_spare_space(&mut self) {
        let filled = self.filled();
        self.bytes.truncate(filled.bytes);
        self.cell_ends.truncate(filled.cells);
    }

    /// Makes one row of all cells from the end of the last row up to `cells_end`.
    pub(super) fn end_row(&mut self, line: u64, cells_end: usize, flaw: Option<Flaw>) {
        self.rows.push(Span {
            line,
            cells_end,
            flaw,
            is_hidden: false,
        });
    }

    /// Notes whether the last row is hidden in its sheet.
    pub(super) fn hide_last(&mut self, is_hidden: bool) {
        if let Some(last) = self.rows.last_mut() {
            last.is_hidden = is_hidden;
        }
    }

    #[cfg(test)]
    pub(crate) fn of_text(rows: &[&[&str]]) -> RowBatch {
        let mut batch = RowBatch::new(0, RowId(1));
        for (line, cells) in (2..).zip(rows) {
            for cell in *cells {
                batch.push_cell(cell.as_bytes());
            }
            batch.end_row(line, batch.cell_ends.len(), None);
        }
        batch
    }

    pub(super) fn push_cell(&mut self, cell: &[u8]) {
        self.bytes.extend_from_slice(cell);
        self.cell_ends.push(self.bytes.len());
    }

    pub fn truncate(&mut self, len: usize) {
        if len < self.rows.len() {
            self.rows.truncate(len);
            self.ends_open = false;
            self.cut_spare_space();
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    batch: &'a RowBatch,
    index: usize,
    first_cell: usize,
}

impl<'a> Row<'a> {
    /// The number of the row among all data rows of the command.
    pub fn id(&self) -> RowId {
        RowId(self.batch.first + self.index as u64)
    }

    pub fn file(&self) -> usize {
        self.batch.file
    }

    /// The physical line on which the row begins, from 1.
    pub fn line(&self) -> u64 {
        self.batch.rows[self.index].line
    }

    /// Whether the input ends in the last cell of this row, without a line end and without a quote
    /// that closes the cell: it may have been cut off there.
    pub fn ends_open(&self) -> bool {
        self.batch.ends_open && self.index + 1 == self.batch.len()
    }

    pub fn flaw(&self) -> Option<Flaw> {
        self.batch.rows[self.index].flaw
    }

    /// Whether a filter, a person or a collapsed group has hidden the row in its sheet.
    pub fn is_hidden(&self) -> bool {
        self.batch.rows[self.index].is_hidden
    }

    pub fn len(&self) -> usize {
        self.batch.rows[self.index].cells_end - self.first_cell
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cell in the column `column` (from 0); `None` if the row has fewer cells.
    pub fn cell(&self, column: usize) -> Option<&'a [u8]> {
        if column >= self.len() {
            return None;
        }
        let cell = self.first_cell + column;
        let ends = &self.batch.cell_ends;
        let start = cell.checked_sub(1).map_or(0, |before| ends[before]);
        Some(&self.batch.bytes[start..ends[cell]])
    }

    pub fn cells(&self) -> impl Iterator<Item = &'a [u8]> {
        let row = *self;
        (0..row.len()).filter_map(move |column| row.cell(column))
    }

    pub fn text(&self, column: usize) -> Option<&'a str> {
        std::str::from_utf8(self.cell(column)?).ok()
    }

    /// The cell as text for display, with `\u{FFFD}` for each byte that could not be read.
    pub fn lossy(&self, column: usize) -> Cow<'a, str> {
        String::from_utf8_lossy(self.cell(column).unwrap_or_default())
    }

    /// The first column (from 0) whose bytes are not UTF-8.
    pub fn undecodable_column(&self) -> Option<usize> {
        self.cells()
            .position(|cell| !cell.is_ascii() && std::str::from_utf8(cell).is_err())
    }
}
