//! Why a workbook cannot be read.

use thiserror::Error;

use crate::text::{printable, shortened, without_numbers};

/// What is wrong, as text to follow the name of the workbook, and what to do next.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("{what}\n\nhint: {hint}")]
pub struct WorkbookError {
    what: String,
    hint: String,
}

impl WorkbookError {
    pub(super) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        WorkbookError {
            what: what.into(),
            hint: hint.into(),
        }
    }

    pub(super) fn password() -> Self {
        WorkbookError::new(
            "is protected by a password",
            "open it in the spreadsheet program, remove the password from a copy, and use the copy",
        )
    }

    /// For a workbook that would take more memory than a list of contacts can need.
    pub(super) fn too_large(limit: impl std::fmt::Display) -> Self {
        WorkbookError::new(
            format!("is too large to be read as a spreadsheet: {limit}"),
            "save the sheet as CSV, which can be of any size",
        )
    }

    pub(super) fn too_many_cells(limit: u64) -> Self {
        WorkbookError::too_large(format_args!("it has more than {limit} cells"))
    }

    /// For a damaged workbook. `error` may quote the file, so control
    /// characters and anything that may be a phone number are left out.
    pub(super) fn corrupt(error: impl std::fmt::Display) -> Self {
        const MAX_LEN: usize = 120;
        let text = without_numbers(&printable(&error.to_string()));
        WorkbookError::new(
            format!(
                "cannot be read as a spreadsheet: {}",
                shortened(&text, MAX_LEN)
            ),
            "open it in the spreadsheet program and save it again, or save the sheet as CSV",
        )
    }
}
