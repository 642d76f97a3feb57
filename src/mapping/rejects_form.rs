//! A rejects file that comes back mended.

use super::spec::snake;

/// The columns that a rejects file has behind those of the input, in order.
pub const ADDED_COLUMNS: [&str; 5] = [
    "leadload_row",
    "leadload_status",
    "leadload_error_code",
    "leadload_error",
    "leadload_run",
];

/// The column for cells that no header stands above; only where a row has such.
pub const SURPLUS_COLUMN: &str = "leadload_surplus";

/// Where `leadload`'s own columns stand in a file that is one of its rejects
/// files. They are never sent, and are replaced in the next rejects file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectsForm {
    /// How many columns the input had that the rejects are of.
    pub input_columns: usize,
    /// Where the error code stands: a `field_count` that is still there says
    /// that nobody has looked at the row, whose cells may have shifted.
    pub error_code: usize,
    /// Where surplus cells stand, if the file has that column.
    pub surplus: Option<usize>,
}

impl RejectsForm {
    /// Recognises a rejects file by its header.
    pub fn of(headers: &[String]) -> Option<RejectsForm> {
        let first = headers.iter().position(|h| snake(h) == ADDED_COLUMNS[0])?;
        let added = headers.get(first..first + ADDED_COLUMNS.len())?;
        let is_ours = added
            .iter()
            .zip(ADDED_COLUMNS)
            .all(|(h, ours)| snake(h) == ours);
        is_ours.then(|| RejectsForm {
            input_columns: first,
            error_code: first + 2,
            surplus: headers.iter().position(|h| snake(h) == SURPLUS_COLUMN),
        })
    }
}
