//! The list's own cells in a file about its rows.

use std::borrow::Cow;

use crate::intake::PlannedInput;
use crate::source::Row;

/// Which cells of a row are the list's own: not those in the columns that an earlier
/// rejects file added.
#[derive(Debug, Clone)]
pub(super) struct OwnCells {
    columns: Vec<usize>,
    /// How many columns the input has, including those that a rejects file added.
    input_columns: usize,
    /// The surplus column of an earlier rejects file.
    carried: Option<usize>,
}

impl OwnCells {
    pub(super) fn of(input: &PlannedInput) -> OwnCells {
        let input_columns = input.header.names.len();
        let form = input.mapping.rejects_form.as_ref();
        OwnCells {
            columns: form.map_or_else(
                || (0..input_columns).collect(),
                |form| form.input_columns.clone(),
            ),
            input_columns,
            carried: form.and_then(|form| form.surplus),
        }
    }

    /// The cells below the names of the input's own columns. Missing ones are empty; a byte
    /// that could not be decoded is `\u{FFFD}`.
    pub(super) fn of_row<'r>(&self, row: Row<'r>) -> impl Iterator<Item = Cow<'r, str>> {
        self.columns.iter().map(move |column| row.lossy(*column))
    }

    /// The cells of the row beyond the header, as CSV, after those from the
    /// surplus column of an earlier rejects file.
    pub(super) fn surplus(&self, row: Row<'_>) -> Option<String> {
        let carried = self.carried.map(|column| row.lossy(column));
        let carried = carried.filter(|cell| !cell.is_empty());
        let beyond = (self.input_columns..row.len()).map(|column| row.lossy(column));
        let cells: Vec<Cow<'_, str>> = beyond.collect();
        if cells.iter().all(|cell| cell.is_empty()) {
            return carried.map(Cow::into_owned);
        }
        let mut csv = csv::Writer::from_writer(Vec::new());
        // Writing text to memory does not fail, and what comes out is text.
        let record = carried.iter().chain(&cells);
        let _ = csv.write_record(record.map(|cell| cell.as_bytes()));
        let bytes = csv.into_inner().unwrap_or_default();
        let line = String::from_utf8(bytes).unwrap_or_default();
        line.strip_suffix('\n').map(str::to_owned)
    }
}
