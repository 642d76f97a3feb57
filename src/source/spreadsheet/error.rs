//! What ends the reading of a workbook.

use thiserror::Error;

use super::archive::MAX_UNPACKED_BYTES;
use super::weight::{MAX_PIECE_BYTES, MAX_WEIGHT};
use crate::text::{listed, nearest, printable, shortened, shown_name, without_numbers};

/// What ends the reading of a workbook. The text says what, where and what next.
#[derive(Debug, Error)]
pub enum SheetError {
    /// It begins as workbooks do and is something else.
    #[error("`{name}` is {what}, not a spreadsheet\n\nhint: {hint}")]
    NotAWorkbook {
        /// The input as it was named on the command line.
        name: String,
        /// What it is instead.
        what: &'static str,
        /// What to do instead.
        hint: &'static str,
    },
    /// It cannot be read without a password.
    #[error(
        "`{name}` is protected by a password\n\nhint: open it in the spreadsheet program, remove the password from a copy, and name the copy"
    )]
    Password {
        /// The input as it was named on the command line.
        name: String,
    },
    /// No worksheet is called as was asked for.
    #[error("`{name}` has no sheet `{}`; it has {}\n\nhint: {}", shown_name(wanted), listed(names), match nearest(wanted, names) {
        Some(nearest) => format!("did you mean `{}`?", shown_name(nearest)),
        None => "name one of these, or leave `--sheet` out for the first".to_owned(),
    })]
    NoSuchSheet {
        /// The input as it was named on the command line.
        name: String,
        /// The name that was asked for.
        wanted: String,
        /// The worksheets that there are.
        names: Vec<String>,
    },
    /// There is no worksheet at all.
    #[error(
        "`{name}` holds no worksheet\n\nhint: charts and macros are not read; put the contacts on a worksheet"
    )]
    NoSheet {
        /// The input as it was named on the command line.
        name: String,
    },
    /// The sheet has no header, because no cell holds anything.
    #[error(
        "the sheet `{}` of `{name}` is empty\n\nhint: the first row must be a header, such as `phone_number` and `name`; another sheet may be the one you mean",
        shown_name(sheet)
    )]
    Empty {
        /// The input as it was named on the command line.
        name: String,
        /// The sheet that was read.
        sheet: String,
    },
    /// It would take more memory than a list of contacts can need.
    #[error(
        "`{name}` is too large to be read as a spreadsheet: {what}\n\nhint: save the sheet as CSV, which can be of any size"
    )]
    TooLarge {
        /// The input as it was named on the command line.
        name: String,
        /// Which limit it exceeds.
        what: TooLarge,
    },
    /// It is a workbook, but damaged or unlike any that is known.
    #[error(
        "`{name}` cannot be read as a spreadsheet: {detail}\n\nhint: open it in the spreadsheet program and save it again, or save the sheet as CSV"
    )]
    Corrupt {
        /// The input as it was named on the command line.
        name: String,
        /// What is wrong, as far as it is known; free of control characters and of
        /// anything that could be a phone number.
        detail: String,
    },
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

/// A [`SheetError`] before it is known what the workbook is called.
#[derive(Debug)]
pub(super) enum Refusal {
    NotAWorkbook {
        what: &'static str,
        hint: &'static str,
    },
    Password,
    NoSuchSheet(Vec<String>),
    NoSheet,
    TooLarge(TooLarge),
    Corrupt(String),
}

impl Refusal {
    /// A workbook that is damaged in the way that `error` tells.
    pub(super) fn corrupt(error: impl std::fmt::Display) -> Self {
        Refusal::Corrupt(error.to_string())
    }

    /// The error for the workbook `name`, of which the sheet `wanted` was asked for.
    pub(super) fn into_error(self, name: &str, wanted: Option<&str>) -> SheetError {
        /// More of a decoder's complaint is of no use, and it may quote the file.
        const MAX_OF_DETAIL: usize = 120;
        let name = name.to_owned();
        match self {
            Refusal::NotAWorkbook { what, hint } => SheetError::NotAWorkbook { name, what, hint },
            Refusal::Password => SheetError::Password { name },
            Refusal::NoSuchSheet(names) => SheetError::NoSuchSheet {
                name,
                wanted: wanted.unwrap_or_default().to_owned(),
                names,
            },
            Refusal::NoSheet => SheetError::NoSheet { name },
            Refusal::TooLarge(what) => SheetError::TooLarge { name, what },
            Refusal::Corrupt(detail) => SheetError::Corrupt {
                name,
                detail: shortened(&without_numbers(&printable(&detail)), MAX_OF_DETAIL),
            },
        }
    }
}
