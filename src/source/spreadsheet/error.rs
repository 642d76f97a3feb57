//! What ends the reading of a workbook.

use thiserror::Error;

use crate::text::{listed, nearest, printable, shortened, shown_name, without_numbers};

/// The most bytes that the parts of a workbook may unpack to. The `zip` crate
/// unpacks no more of a part than the archive declares, so the declared sizes count.
pub(super) const MAX_UNPACKED_BYTES: u64 = 1 << 30;

/// The most memory that decoded parts may take. A million rows of twenty different
/// texts each stay below it.
pub(super) const MAX_WEIGHT: u64 = 2 << 30;

/// The most bytes of one cell, and of one tag. Excel's cells hold 32,767 characters.
pub(super) const MAX_PIECE_BYTES: usize = 16 << 20;

/// What ends the reading of a workbook, to be shown behind its name. The text says what,
/// where and what next.
#[derive(Debug, Error)]
pub enum WorkbookError {
    /// It begins as workbooks do and is something else.
    #[error("is {what}, not a spreadsheet\n\nhint: {hint}")]
    NotAWorkbook {
        /// What it is instead.
        what: &'static str,
        /// What to do instead.
        hint: &'static str,
    },
    /// It cannot be read without a password.
    #[error(
        "is protected by a password\n\nhint: open it in the spreadsheet program, remove the password from a copy, and use the copy"
    )]
    Password,
    /// No worksheet has the name that was asked for.
    #[error("has no sheet `{}`; it has {}\n\nhint: {}", shown_name(wanted), listed(names), match nearest(wanted, names) {
        Some(nearest) => format!("did you mean `{}`?", shown_name(nearest)),
        None => "name one of these, or leave `--sheet` out for the first".to_owned(),
    })]
    NoSuchSheet {
        /// The name that was asked for.
        wanted: String,
        /// The worksheets that there are.
        names: Vec<String>,
    },
    /// There is no worksheet at all.
    #[error(
        "has no worksheet\n\nhint: charts and macros are not read; put the contacts on a worksheet"
    )]
    NoSheet,
    /// It would take more memory than a list of contacts can need.
    #[error(
        "is too large to be read as a spreadsheet: {0}\n\nhint: save the sheet as CSV, which can be of any size"
    )]
    TooLarge(TooLarge),
    /// It is a workbook, but damaged or unlike any that is known. What is wrong is free of
    /// control characters and of anything that could be a phone number.
    #[error(
        "cannot be read as a spreadsheet: {0}\n\nhint: open it in the spreadsheet program and save it again, or save the sheet as CSV"
    )]
    Corrupt(String),
}

impl WorkbookError {
    /// For a workbook that is damaged as `error` says, which may quote the file.
    pub(super) fn corrupt(error: impl std::fmt::Display) -> Self {
        /// More of a decoder's complaint is of no use.
        const MAX_LEN: usize = 120;
        let text = without_numbers(&printable(&error.to_string()));
        WorkbookError::Corrupt(shortened(&text, MAX_LEN))
    }
}

/// The limit that a workbook exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TooLarge {
    /// Its parts, unpacked.
    #[error("it unpacks to more than {} MiB", MAX_UNPACKED_BYTES >> 20)]
    Unpacked,
    /// What its parts become in memory.
    #[error("it would take more than {} MiB of memory", MAX_WEIGHT >> 20)]
    Memory,
    /// One cell, or one tag.
    #[error("a single cell of it holds more than {} MiB", MAX_PIECE_BYTES >> 20)]
    Piece,
    /// The cells' number.
    #[error("it has more than {0} cells")]
    Cells(u64),
    /// The cells' text.
    #[error("its cells hold more than {0} MiB of text")]
    Text(u64),
}
