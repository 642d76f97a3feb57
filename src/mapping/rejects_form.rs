//! A rejects file that was fixed and is imported again.

use super::header_words::snake;

/// The columns that a rejects file has after those of the input, in order.
pub const ADDED_COLUMNS: [&str; 5] = [ROW, STATUS, ERROR_CODE, ERROR, RUN];

const ROW: &str = "leadload_row";
const STATUS: &str = "leadload_status";
const ERROR_CODE: &str = "leadload_error_code";
const ERROR: &str = "leadload_error";
const RUN: &str = "leadload_run";

/// The column for cells beyond the last header; only if a row has such cells.
pub const SURPLUS_COLUMN: &str = "leadload_surplus";

/// Where `leadload`'s own columns are in a rejects file; a spreadsheet program may have moved them.
/// They are never sent, and the next rejects file has new ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectsForm {
    /// The columns (from 0) of the input that the rejects come from, in their order.
    pub input_columns: Vec<usize>,
    pub row: usize,
    pub status: usize,
    /// The column of error codes. If it still says `field_count`, the row, whose cells may have
    /// shifted, was not fixed.
    pub error_code: usize,
    pub error: usize,
    pub run: usize,
    pub surplus: Option<usize>,
}

impl RejectsForm {
    /// Whether the column (from 0) is one of the input that the rejects come from.
    pub fn has(&self, column: usize) -> bool {
        self.input_columns.binary_search(&column).is_ok()
    }

    /// The first of the added columns that was deleted from a rejects file; without all of them the
    /// file is no longer known as one.
    pub(super) fn lost_column(headers: &[String]) -> Option<&'static str> {
        let names: Vec<String> = headers.iter().map(|header| snake(header)).collect();
        let is_there = |ours: &&str| names.iter().any(|name| name == ours);
        let is_one = ADDED_COLUMNS.iter().filter(|ours| is_there(ours)).count() > 1;
        let mut lost = ADDED_COLUMNS.into_iter().filter(|ours| !is_there(ours));
        lost.next().filter(|_| is_one)
    }

    pub fn of(headers: &[String]) -> Option<RejectsForm> {
        let names: Vec<String> = headers.iter().map(|header| snake(header)).collect();
        let position = |ours: &str| names.iter().position(|name| name == ours);
        if !ADDED_COLUMNS.iter().all(|ours| position(ours).is_some()) {
            return None;
        }
        let is_ours = |name: &str| ADDED_COLUMNS.contains(&name) || name == SURPLUS_COLUMN;
        Some(RejectsForm {
            input_columns: (0..names.len())
                .filter(|column| !is_ours(&names[*column]))
                .collect(),
            row: position(ROW)?,
            status: position(STATUS)?,
            error_code: position(ERROR_CODE)?,
            error: position(ERROR)?,
            run: position(RUN)?,
            surplus: position(SURPLUS_COLUMN),
        })
    }
}
