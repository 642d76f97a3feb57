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
mod budget;
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
mod zipped;

pub use batch::{Flaw, Row, RowBatch};
pub use budget::RowBudget;
pub use compression::{Compression, decompressed};
pub use dialect::DELIMITERS;
pub use encoding::{Certainty, Encoding, decoded, detect_encoding, encoding_named};
pub use fingerprint::Fingerprint;
pub use footer::FooterLine;
pub use form::{Content, Form, FormChoice, Survey, TextForm, WorkbookForms};
pub use header::Header;
pub use input::Input;
pub use reader::CsvReader;
pub use row_reader::{ListReader, RowReader};
pub use spreadsheet::{Sheet, SheetReader, SheetRow, Workbook, is_workbook};

use std::io::ErrorKind;

use crate::exit::{Failure, StoppedBy};
use crate::message::Message;
use crate::paths;

/// What ends the reading of an input.
#[derive(Debug)]
pub struct SourceError {
    pub message: Message,
    /// The user need not change anything where it is this machine that failed.
    pub stopped_by: StoppedBy,
    /// Whether there is nothing in it, not even a header.
    pub is_empty: bool,
}

impl SourceError {
    fn new(stopped_by: StoppedBy, message: Message) -> SourceError {
        SourceError {
            message,
            stopped_by,
            is_empty: false,
        }
    }

    /// The user has to change something.
    fn unusable(message: Message) -> SourceError {
        SourceError::new(StoppedBy::Usage, message)
    }

    fn empty(name: &str) -> SourceError {
        let hint = "the first line must be a header, such as `phone_number,name`";
        let message = Message::new(format!("`{name}` is empty"), hint);
        SourceError {
            is_empty: true,
            ..SourceError::unusable(message.hint_on_page(NEEDS_HEADER))
        }
    }

    /// The file cannot be opened or read; `line` is the one that was being read, where reading
    /// had begun.
    fn unreadable(name: &str, line: Option<u64>, error: &std::io::Error) -> SourceError {
        let line = line.map(|line| format!(" (after line {line})"));
        let (reason, line) = (reason(error), line.unwrap_or_default());
        let what = format!("cannot read `{name}`: {reason}{line}");
        let on_page = format!("`{name}` can't be read: {reason}{line}");
        let by = match is_disk_full(error) {
            true => StoppedBy::Disk,
            false => StoppedBy::Usage,
        };
        let (hint, hint_on_page) = hints(error);
        SourceError::new(by, Message::new(what, hint).on_page(on_page, hint_on_page))
    }

    fn no_spool(error: &std::io::Error) -> SourceError {
        let folder = std::env::temp_dir();
        let error = paths::reason(&folder.join("leads"), error);
        let folder = folder.display();
        let message = Message::new(
            format!(
                "standard input cannot be stored in `{folder}`, the folder for temporary files: {error}"
            ),
            format!(
                "make sure that it is there, has free space and can be written to, or name another folder in {FOLDER_VARIABLE}"
            ),
        );
        SourceError::new(StoppedBy::Disk, message)
    }

    pub fn changed(name: &str) -> SourceError {
        let what = format!("`{name}` was changed while leadload was reading it");
        let hint = "close it in the program that changes it, then run the same command again";
        let on_page = "Close it in the program that changes it and try again, or choose it again as a new list.";
        SourceError::new(
            StoppedBy::Input,
            Message::new(what, hint).hint_on_page(on_page),
        )
    }

    /// Reading ended for an unknown reason: a bug of this program.
    pub fn broke_off() -> SourceError {
        let what = "reading the input ended unexpectedly";
        let hint = "run the same command again, and report this if it recurs";
        let on_page = "Try again. If it happens again, start leadload again.";
        SourceError::new(
            StoppedBy::Input,
            Message::new(what, hint).hint_on_page(on_page),
        )
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Failure {
        Failure::new(error.stopped_by, error.message)
    }
}

fn is_disk_full(error: &std::io::Error) -> bool {
    use ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), FileTooLarge | QuotaExceeded | StorageFull)
}

/// What a list needs, for the page.
const NEEDS_HEADER: &str = "The first row must have the names of the columns, such as Phone and Name, with a contact in each row below.";

const FOLDER_VARIABLE: &str = if cfg!(windows) { "TEMP" } else { "TMPDIR" };

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        // The messages of gzip and zstd for this differ.
        ErrorKind::UnexpectedEof => "its end is missing".to_owned(),
        _ => error.to_string(),
    }
}

/// What to do about it, and what to do on the page.
fn hints(error: &std::io::Error) -> (String, &'static str) {
    use ErrorKind::{InvalidData, InvalidInput, NotFound, Other, UnexpectedEof};
    const CHECK: &str =
        "check that you have permission to read the file, then run the same command again";
    let (hint, on_page) = match error.kind() {
        // Standard input is copied to a temporary file before it is read.
        _ if is_disk_full(error) => {
            let hint = format!(
                "free space in the folder for temporary files, or name another with {FOLDER_VARIABLE}"
            );
            let on_page = "This computer's disk is full. Free some space and try again.";
            return (hint, on_page);
        }
        // The zstd error for a file that was packed with `--long` or `--ultra`.
        Other if error.to_string().contains("too much memory") => (
            "unpack it first, or pack it again without `--long` and `--ultra`",
            "Unpack it, and choose the file that is inside.",
        ),
        InvalidData | InvalidInput | UnexpectedEof | Other => (
            "the file seems damaged or cut off: export or download it again",
            "The file seems damaged or cut off. Export or download it again, and choose it again.",
        ),
        NotFound => (CHECK, "It is not at its place any more. Choose it again."),
        _ => (
            CHECK,
            "Check that you may open this file, and choose it again.",
        ),
    };
    (hint.to_owned(), on_page)
}
