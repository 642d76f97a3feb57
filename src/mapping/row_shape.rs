//! How many cells the rows of a list have, and whether the cells of a row are under their headers.
//!
//! Rule: in a row that may have shifted, no cell is believed: its phone cell may
//! be another person's.

use memchr::memmem::find;

use super::rejects_form::RejectsForm;
use crate::lead::{ErrorCode, RowOutcome};
use crate::message::{Template, Text};
use crate::source::{Flaw, Header, Row, RowBatch};

const HOW_TO_FIX: Template = template!(
    "fix {the row|it} in {rejects}, then empty its cell in the column {leadload_error_code|`leadload_error_code`}"
);

pub const LIKE_FOOTER: Template = template!(
    "only its first cell is filled, like a line that a program adds below a list: if it is such a line, take it out"
);

/// What a workbook has in place of bytes that are not text.
const SUBSTITUTE: &[u8] = "\u{FFFD}".as_bytes();

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowShape {
    cells: usize,
    /// The number of cells up to the last one that has a header or is used.
    named_cells: usize,
    /// The first cell (from 0) of those that must be empty: the cells beyond the header. If at
    /// least half of the first rows leave the cells at the header's nameless end empty, these too.
    pub(super) empty_from: usize,
    /// Other numbers of cells that rows may have, because at least half of the
    /// first rows have them: a program writes delimiters at the end of rows, or
    /// of the header, with nothing behind them.
    other_lengths: Vec<usize>,
    /// The column (from 0) of error codes, if the input is a rejects file.
    error_code: Option<usize>,
}

impl RowShape {
    /// The shape of the rows below `header`, the first of which are in `sample`. `last_used` is the
    /// last column (from 0) that is read.
    pub(super) fn of(
        header: &Header,
        sample: &RowBatch,
        last_used: Option<usize>,
        rejects_form: Option<&RejectsForm>,
    ) -> RowShape {
        let mut names = header.names.iter();
        let named = names.rposition(|name| !name.trim().is_empty());
        let mut shape = RowShape {
            cells: header.names.len(),
            named_cells: last_used.max(named).map_or(0, |column| column + 1),
            empty_from: 0,
            other_lengths: Vec::new(),
            error_code: rejects_form.map(|form| form.error_code),
        };
        let is_filled = |row: &Row<'_>| !row.cells().skip(shape.named_cells).all(is_blank);
        let filled = sample.rows().filter(is_filled).count();
        shape.empty_from = if 2 * filled <= sample.len() {
            shape.named_cells
        } else {
            shape.cells
        };
        if rejects_form.is_none() {
            shape.other_lengths = shape.other_lengths(sample);
        }
        shape
    }

    /// The numbers of cells, other than the header's, that at least half of the first rows have. In
    /// a single row, such a length means that its cells have shifted. In most rows, it means that
    /// the program writes meaningless delimiters. But then no row without them ends in an empty
    /// cell: if one does, no longer rows are allowed.
    fn other_lengths(&self, sample: &RowBatch) -> Vec<usize> {
        let ends_empty =
            |row: Row<'_>| row.len() == self.cells && row.cells().last().is_some_and(is_blank);
        let has_empty_ends = self.named_cells == self.cells && sample.rows().any(ends_empty);
        let mut lengths: Vec<usize> = sample.rows().map(|row| row.len()).collect();
        lengths.sort_unstable();
        lengths
            .chunk_by(|a, b| a == b)
            .filter(|rows| 2 * rows.len() >= lengths.len())
            .map(|rows| rows[0])
            .filter(|length| *length >= self.named_cells && *length != self.cells)
            .filter(|length| *length < self.cells || !has_empty_ends)
            .collect()
    }

    pub fn is_like_footer(&self, row: Row<'_>) -> bool {
        let has_letters = row.lossy(0).contains(char::is_alphabetic);
        has_letters && row.cells().skip(1).all(is_blank)
    }

    fn wrong_length(&self, row: Row<'_>) -> Text {
        let how = HOW_TO_FIX;
        if self.is_like_footer(row) {
            let like_footer = LIKE_FOOTER;
            text!("{like_footer}; if it is a contact, {how}", like_footer, how)
        } else if row.len() == self.cells {
            text!(
                "the row has a cell in a column without a header; {how}",
                how
            )
        } else {
            text!(
                "the row has {cells:cell}, the header has {header}; {how}",
                cells = row.len(),
                header = self.cells.to_string(),
                how
            )
        }
    }

    pub fn misshapen(&self, row: Row<'_>) -> Option<RowOutcome> {
        let (code, text) = match row.flaw() {
            Some(Flaw::UnclosedQuote) => (
                ErrorCode::UnclosedQuote,
                text!(
                    "a quote (\") in this line is never closed, so the row is taken to end with the line; {how}",
                    how = HOW_TO_FIX
                ),
            ),
            Some(Flaw::TooLong) => (
                ErrorCode::RowTooLong,
                text!(
                    "longer than any contact can be, and perhaps cut short here: look at it in the list itself; {how}",
                    how = HOW_TO_FIX
                ),
            ),
            None if !self.has_right_length(row) => (ErrorCode::FieldCount, self.wrong_length(row)),
            None => match (self.unfixed(row), row.undecodable_column()) {
                (Some(ErrorCode::Encoding), _) => (
                    ErrorCode::Encoding,
                    text!(
                        "not fixed yet; a \u{FFFD} is where bytes could not be read: write the right text"
                    ),
                ),
                (Some(code), _) => (
                    code,
                    text!(
                        "if the cells are right now, empty its cell in the column {leadload_error_code|`leadload_error_code`}"
                    ),
                ),
                (None, Some(column)) => (
                    ErrorCode::Encoding,
                    text!(
                        "the cell in column {column} has bytes that are not text in the file's encoding",
                        column = (column + 1).to_string()
                    ),
                ),
                (None, None) => return None,
            },
        };
        Some(RowOutcome::invalid(code, text))
    }

    /// Whether each cell is under its header, and the cells without one are empty. An unquoted
    /// comma in an address shifts cells to the right and leaves a space before the text.
    fn has_right_length(&self, row: Row<'_>) -> bool {
        if row.len() == self.cells && self.empty_from == self.cells {
            return true;
        }
        let is_known = row.len() == self.cells || self.other_lengths.contains(&row.len());
        let has_shifted = row.len() > self.cells
            && row
                .cells()
                .skip(1)
                .any(|cell| cell.starts_with(b" ") && !is_blank(cell));
        is_known && !has_shifted && row.cells().skip(self.empty_from).all(is_blank)
    }

    /// The error code of a row of a rejects file that was not fixed, if the code alone shows that.
    /// Only a person can say whether cells are under the right headers. And `\u{FFFD}` stands for
    /// bytes that a workbook could not hold.
    fn unfixed(&self, row: Row<'_>) -> Option<ErrorCode> {
        let code = row.text(self.error_code?)?.trim().parse().ok()?;
        let is_unfixed = match code {
            ErrorCode::FieldCount | ErrorCode::UnclosedQuote | ErrorCode::RowTooLong => true,
            ErrorCode::Encoding => row.cells().any(|cell| find(cell, SUBSTITUTE).is_some()),
            _ => false,
        };
        is_unfixed.then_some(code)
    }
}

fn is_blank(cell: &[u8]) -> bool {
    cell.trim_ascii().is_empty()
}
