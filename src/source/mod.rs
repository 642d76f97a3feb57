//! Reads the rows of input files.
//!
//! Rule: knows nothing about leads. It opens inputs, detects their [`Form`] and returns
//! rows in [`RowBatch`]es. Each row has its number and its physical line. Cells are UTF-8
//! in every form, except for bytes that could not be decoded: those never become text.
//!
//! ```text
//! file → compression → encoding → dialect → rows
//!                    ↘ spreadsheet ────────↗
//! ```
//!
//! An input is never modified. It is read several times (to detect its form, to find its campaign
//! names, to send). For this reason standard input is first copied to an unnamed private file.

mod batch;
mod compression;
mod dialect;
mod encoding;
mod fingerprint;
mod footer;
mod form;
mod header;
mod input;
mod lines;
mod quotes;
mod reader;
mod row_reader;
mod spreadsheet;

pub use batch::{Flaw, Row, RowBatch};
pub use compression::{Compression, decompressed};
pub use dialect::DELIMITERS;
pub use encoding::{Certainty, Encoding, decoded, detect_encoding, encoding_named};
pub use fingerprint::Fingerprint;
pub use footer::FooterLine;
pub use form::{Content, Form, FormChoice, TextForm};
pub use header::Header;
pub use input::{Input, file_identity, folder_of};
pub use reader::CsvReader;
pub use row_reader::RowReader;
pub use spreadsheet::{Sheet, SheetReader, SheetRow, WorkbookError, is_workbook};

use std::io::ErrorKind;

use thiserror::Error;

use crate::exit::{Failure, StoppedBy};

/// Why an input cannot be read. The text says what is wrong, where, and what to do next.
#[derive(Debug, Error)]
pub enum SourceError {
    #[error("{what}\n\nhint: {hint}")]
    Unusable { what: String, hint: String },
    #[error(
        "`{name}` is empty\n\nhint: the first line must be a header, such as `phone_number,name`"
    )]
    Empty { name: String },
    /// The file cannot be opened or read. `line` is the line that was being
    /// read; `None` if reading had not begun.
    #[error("cannot read `{name}`: {}{}\n\nhint: {}", reason(error), line.map(|l| format!(" (after line {l})")).unwrap_or_default(), unreadable_hint(error))]
    Unreadable {
        name: String,
        line: Option<u64>,
        error: std::io::Error,
    },
    #[error("standard input cannot be stored in `{}`, the folder for temporary files: {error}\n\nhint: make sure that it is there, has free space and can be written to, or name another folder in {FOLDER_VARIABLE}", std::env::temp_dir().display())]
    NoSpool { error: std::io::Error },
    #[error("`{name}` {error}")]
    Workbook { name: String, error: WorkbookError },
    #[error(
        "`{name}` changed while it was being read\n\nhint: run the same command again when no program writes to it"
    )]
    Changed { name: String },
    /// Reading ended for an unknown reason, which is a bug of this program.
    #[error(
        "reading the input ended unexpectedly\n\nhint: run the same command again, and report this if it recurs"
    )]
    BrokeOff,
}

impl SourceError {
    fn unusable(what: String, hint: impl Into<String>) -> SourceError {
        let hint = hint.into();
        SourceError::Unusable { what, hint }
    }

    /// What stopped the run. It is `Usage` only if the user must change something.
    pub fn stopped_by(&self) -> StoppedBy {
        match self {
            SourceError::Changed { .. } | SourceError::BrokeOff => StoppedBy::Input,
            SourceError::NoSpool { .. } => StoppedBy::Disk,
            SourceError::Unreadable { error, .. } if is_disk_full(error) => StoppedBy::Disk,
            _ => StoppedBy::Usage,
        }
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Failure {
        Failure::new(error.stopped_by(), error)
    }
}

fn is_disk_full(error: &std::io::Error) -> bool {
    use ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), FileTooLarge | QuotaExceeded | StorageFull)
}

const FOLDER_VARIABLE: &str = if cfg!(windows) { "TEMP" } else { "TMPDIR" };

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        // The messages of gzip and zstd for this differ.
        ErrorKind::UnexpectedEof => "its end is missing".to_owned(),
        _ => error.to_string(),
    }
}

fn unreadable_hint(error: &std::io::Error) -> String {
    use ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    match error.kind() {
        // Standard input is copied to a temporary file before it is read.
        _ if is_disk_full(error) => format!(
            "free space in the folder for temporary files, or name another with {FOLDER_VARIABLE}"
        ),
        // The zstd error for a file that was packed with `--long` or `--ultra`.
        Other if error.to_string().contains("too much memory") => {
            "unpack it first, or pack it again without `--long` and `--ultra`".to_owned()
        }
        InvalidData | InvalidInput | UnexpectedEof | Other => {
            "the file seems damaged or cut off: export or download it again".to_owned()
        }
        _ => "check that you have permission to read the file, then run the same command again"
            .to_owned(),
    }
}
