//! Files to rows.
//!
//! Rule: knows nothing of leads. It opens inputs, detects their [`Form`] and returns rows
//! in [`RowBatch`]es, each row with its number and its physical line. Cells are UTF-8
//! whatever the form, except for bytes that could not be decoded: those never become text.
//!
//! ```text
//! file → compression → encoding → dialect → rows
//!                    ↘ spreadsheet ────────↗
//! ```
//!
//! An input is never modified, and is read several times (to detect its form, to find
//! the campaign names in it, to send), so standard input is first read to its end
//! into a private file without a name.

mod batch;
mod compression;
mod dialect;
mod encoding;
mod fingerprint;
mod footer;
mod form;
mod header;
mod input;
mod kind;
mod lines;
mod quotes;
mod reader;
mod row_reader;
mod spreadsheet;

pub use batch::{Flaw, Row, RowBatch};
pub use compression::{Compression, decompressed};
pub use dialect::DELIMITERS;
pub use encoding::{Certainty, Encoding, EncodingError, decoded, detect_encoding};
pub use fingerprint::Fingerprint;
pub use footer::FooterLine;
pub use form::{Content, Form, FormChoice, TextForm};
pub use header::Header;
pub use input::{Input, file_identity, folder_of};
pub use reader::CsvReader;
pub use row_reader::RowReader;
pub use spreadsheet::{Sheet, SheetReader, SheetRow, TooLarge, WorkbookError, is_workbook};

use std::path::PathBuf;

use thiserror::Error;

use crate::exit::{Failure, StoppedBy};
use crate::text::{printable, shown_name};

/// What ends the reading of an input. The text says what, where and what next.
#[derive(Debug, Error)]
pub enum SourceError {
    /// There is no such file.
    #[error("cannot read `{name}`: there is no such file\n\nhint: {}", match nearest {
        Some(nearest) => format!("did you mean `{}`?", printable(nearest)),
        None => "check the name and the folder".to_owned(),
    })]
    Missing {
        /// The input as it was named on the command line.
        name: String,
        /// The file in the same folder whose name is most like it, if any is.
        nearest: Option<String>,
    },
    /// The file cannot be opened or read.
    #[error("cannot read `{name}`: {error}{}\n\nhint: {}", line.map(|l| format!(" (after line {l})")).unwrap_or_default(), unreadable_hint(error))]
    Unreadable {
        /// The input as it was named on the command line.
        name: String,
        /// The line that was being read, where reading had begun.
        line: Option<u64>,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// Standard input is read into a file, which cannot be made.
    #[error("standard input cannot be stored in `{}`, the folder for temporary files: {error}\n\nhint: {}, or name another folder in {}", folder.display(), what_keeps_files_out(error), FOLDER_VARIABLE)]
    NoSpool {
        /// The folder.
        folder: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// No header, because there is no text at all.
    #[error(
        "`{name}` is empty\n\nhint: the first line must be a header, such as `phone_number,name`"
    )]
    Empty {
        /// The input as it was named on the command line.
        name: String,
    },
    /// A header that cannot be read.
    #[error("the header of `{name}` (line {line}) {what}\n\nhint: {hint}")]
    Header {
        /// The input as it was named on the command line.
        name: String,
        /// The line of the header.
        line: u64,
        /// What is wrong with it.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// Not a list: a folder, a device, or a file of another kind.
    #[error("`{name}` is {what}\n\nhint: {hint}")]
    NotAList {
        /// The input as it was named on the command line.
        name: String,
        /// What it is instead.
        what: String,
        /// What to do instead.
        hint: &'static str,
    },
    /// `--sheet` for a file that is not a workbook.
    #[error(
        "`{name}` is not a spreadsheet, so it has no sheet to choose\n\nhint: leave `--sheet` out"
    )]
    NoSheets {
        /// The input as it was named on the command line.
        name: String,
    },
    /// A workbook that cannot be read.
    #[error("`{name}` {error}")]
    Workbook {
        /// The input as it was named on the command line.
        name: String,
        /// Why.
        error: WorkbookError,
    },
    /// The sheet has no header, because no cell holds anything.
    #[error(
        "the sheet `{}` of `{name}` is empty\n\nhint: the first row must be a header, such as `phone_number` and `name`; another sheet may be the one you mean",
        shown_name(sheet)
    )]
    EmptySheet {
        /// The input as it was named on the command line.
        name: String,
        /// The sheet that was read.
        sheet: String,
    },
    /// The file was modified or replaced.
    #[error(
        "`{name}` changed while it was being read\n\nhint: run the same command again when no program writes to it"
    )]
    Changed {
        /// The input as it was named on the command line.
        name: String,
    },
    /// Reading ended for an unknown reason: a bug of this program.
    #[error(
        "reading the input ended unexpectedly\n\nhint: run the same command again, and report this if it recurs"
    )]
    BrokeOff,
}

impl SourceError {
    /// What stopped the run: the user need not change anything where this machine failed.
    pub fn stopped_by(&self) -> StoppedBy {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match self {
            SourceError::Changed { .. } | SourceError::BrokeOff => StoppedBy::Input,
            SourceError::NoSpool { .. } => StoppedBy::Disk,
            SourceError::Unreadable { error, .. } => match error.kind() {
                FileTooLarge | QuotaExceeded | StorageFull => StoppedBy::Disk,
                _ => StoppedBy::Usage,
            },
            _ => StoppedBy::Usage,
        }
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Failure {
        Failure::new(error.stopped_by(), error)
    }
}

/// What to do where no file can be made in a folder.
fn what_keeps_files_out(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::NotFound => "make that folder",
        std::io::ErrorKind::StorageFull => "free space on that disk",
        _ => "get permission to write there",
    }
}

/// The variable that names the folder for temporary files.
const FOLDER_VARIABLE: &str = if cfg!(windows) { "TEMP" } else { "TMPDIR" };

/// What to do about a file that cannot be read.
fn unreadable_hint(error: &std::io::Error) -> String {
    use std::io::ErrorKind::{
        FileTooLarge, InvalidData, InvalidInput, QuotaExceeded, StorageFull, UnexpectedEof,
    };
    match error.kind() {
        // For standard input, which is stored in a file until it is read.
        FileTooLarge | QuotaExceeded | StorageFull => {
            format!(
                "free space in the folder for temporary files, or name another with {FOLDER_VARIABLE}"
            )
        }
        InvalidData | InvalidInput | UnexpectedEof | std::io::ErrorKind::Other => {
            "the file seems damaged or cut off: export or download it again".to_owned()
        }
        _ => "check that you have permission to read the file, then run the same command again"
            .to_owned(),
    }
}
