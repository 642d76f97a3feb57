//! How long the rows of a list are, and whether the cells of one stand under their headers.
//!
//! Rule: a row that may have shifted is believed in no cell, since its phone cell may be
//! somebody else's.

use memchr::memmem::find;

use super::Mapping;
use crate::lead::{ErrorCode, RowOutcome};
use crate::source::{Flaw, Header, Row, RowBatch};

/// What to do with a row whose cells may have shifted, in its rejects file.
const MENDING: &str = "put each cell under its header, then clear the cell leadload_error_code";

/// What is said of a row that may be no contact.
pub const LIKE_FOOTER: &str = "only its first cell is filled, like a line that a program adds below a list: if it is such a line, take it out";

/// What stands in a workbook for bytes that are no text.
const SUBSTITUTE: &[u8] = "\u{FFFD}".as_bytes();

/// The lengths of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowShape {
    /// How many cells the header has.
    cells: usize,
    /// How many of them there are up to the last one that has a name or is used.
    named_cells: usize,
    /// From which cell on (from 0) there must be nothing: those beyond the header, and
    /// those below its nameless end where most rows have nothing there.
    pub(super) empty_from: usize,
    /// Other numbers of cells that rows may have, because most of the first rows have
    /// them: delimiters at the end of rows, or of the header, that nothing follows.
    other_lengths: Vec<usize>,
    /// The column (from 0) of error codes, where the input is a rejects file that comes back.
    error_code: Option<usize>,
}

impl RowShape {
    /// Of the rows below `header`, the first of which are in `sample`, and of which `mapping`
    /// reads some columns.
    pub(super) fn of(header: &Header, sample: &RowBatch, mapping: &Mapping) -> RowShape {
        let mut names = header.names.iter();
        let named = names.rposition(|name| !name.trim().is_empty());
        let last = mapping.last_used().max(named);
        let mut shape = RowShape {
            cells: header.names.len(),
            named_cells: last.map_or(0, |column| column + 1),
            empty_from: 0,
            other_lengths: Vec::new(),
            error_code: mapping.rejects_form.as_ref().map(|form| form.error_code),
        };
        shape.empty_from = shape.empty_from(sample);
        shape.other_lengths = shape.other_lengths(sample);
        shape
    }

    /// See [`RowShape::empty_from`].
    fn empty_from(&self, sample: &RowBatch) -> usize {
        let is_filled = |row: &Row<'_>| !row.cells().skip(self.named_cells).all(is_blank);
        let filled = sample.rows().filter(is_filled).count();
        if 2 * filled <= sample.len() {
            self.named_cells
        } else {
            self.cells
        }
    }

    /// The numbers of cells, other than the header's, that at least half of the first
    /// rows have. Of a single row among others such a length says that its cells have
    /// shifted; of most, that the program writes delimiters that mean nothing. Then no
    /// row without them ends in an empty cell. Of rejects nothing is believed.
    fn other_lengths(&self, sample: &RowBatch) -> Vec<usize> {
        if self.error_code.is_some() {
            return Vec::new();
        }
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

    /// Whether a row has words in its first cell and nothing in the others.
    pub fn is_like_footer(&self, row: Row<'_>) -> bool {
        let has_letters = row.lossy(0).contains(char::is_alphabetic);
        has_letters && row.cells().skip(1).all(is_blank)
    }

    /// Why the row cannot be read at all, if so.
    pub fn misshapen(&self, row: Row<'_>) -> Option<RowOutcome> {
        if let Some(flaw) = row.flaw() {
            return Some(match flaw {
                Flaw::UnclosedQuote => RowOutcome::invalid(
                    ErrorCode::UnclosedQuote,
                    format!(
                        "a quote (\") in this line is never closed, so the row is taken to end with the line; {MENDING}"
                    ),
                ),
                Flaw::TooLong => RowOutcome::invalid(
                    ErrorCode::RowTooLong,
                    format!(
                        "longer than any contact can be, and perhaps cut short here: look at it in the list itself; {MENDING}"
                    ),
                ),
            });
        }
        if !self.has_right_length(row) {
            return Some(RowOutcome::invalid(
                ErrorCode::FieldCount,
                if self.is_like_footer(row) {
                    format!("{LIKE_FOOTER}; if it is a contact, {MENDING}")
                } else {
                    format!(
                        "{} cells where the header has {}; {MENDING}",
                        row.len(),
                        self.cells
                    )
                },
            ));
        }
        if let Some(code) = self.unmended(row) {
            return Some(RowOutcome::invalid(
                code,
                match code {
                    ErrorCode::Encoding => {
                        "not mended yet; a \u{FFFD} stands where bytes could not be read: write what belongs there".to_owned()
                    }
                    _ => format!("not mended yet; {MENDING}"),
                },
            ));
        }
        row.undecodable_column().map(|column| {
            RowOutcome::invalid(
                ErrorCode::Encoding,
                format!(
                    "the cell in column {} has bytes that are no text in the file's encoding",
                    column + 1
                ),
            )
        })
    }

    /// Whether every cell stands under its header, and nothing where none has a name. A
    /// comma in an address shifts cells to the right, and leaves a space before them.
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

    /// The error code of a row of a rejects file that nobody has mended, where that can
    /// be told by the code alone: whether cells stand under the right headers, only a
    /// person can say; and `\u{FFFD}` stands for bytes that a workbook could not hold.
    fn unmended(&self, row: Row<'_>) -> Option<ErrorCode> {
        let cell = row.text(self.error_code?)?.trim();
        let has_substitute = || row.cells().any(|cell| find(cell, SUBSTITUTE).is_some());
        let code = [
            ErrorCode::FieldCount,
            ErrorCode::UnclosedQuote,
            ErrorCode::RowTooLong,
            ErrorCode::Encoding,
        ]
        .into_iter()
        .find(|code| cell == code.to_string())?;
        (code != ErrorCode::Encoding || has_substitute()).then_some(code)
    }
}

fn is_blank(cell: &[u8]) -> bool {
    cell.trim_ascii().is_empty()
}
