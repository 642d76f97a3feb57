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

/// Where `leadload`'s own columns stand in a file that is one of its rejects files,
/// wherever a spreadsheet may have moved them. They are never sent, and are replaced
/// in the next rejects file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectsForm {
    /// The columns (from 0) of the input that the rejects are of.
    pub input_columns: Vec<usize>,
    /// Where the error code stands: a `field_count` that is still there says
    /// that nobody has looked at the row, whose cells may have shifted.
    pub error_code: usize,
    /// Where the run stands that wrote the file.
    pub run: usize,
    /// Where surplus cells stand, if the file has that column.
    pub surplus: Option<usize>,
}

impl RejectsForm {
    /// Recognises a rejects file by its header.
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
            error_code: position(ADDED_COLUMNS[2])?,
            run: position(ADDED_COLUMNS[4])?,
            surplus: position(SURPLUS_COLUMN),
        })
    }
}
