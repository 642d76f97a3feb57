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

use std::io::{self, ErrorKind};

use thiserror::Error;

use crate::exit::{Failure, StoppedBy};
use crate::message::{Message, Template, Text};
use crate::paths;

/// What ends the reading of an input.
#[derive(Debug)]
pub struct SourceError {
    pub message: Message,
    /// The user need not change anything where it is this machine that failed.
    pub stopped_by: StoppedBy,
    /// Whether there is nothing in it, not even a header.
    pub is_empty: bool,
    /// The sheets of which one is to be chosen; empty if that does not help.
    pub sheets: Vec<String>,
}

/// The workbook has other sheets, one of which may be the one that is meant.
#[derive(Debug, Error)]
#[error("another sheet may be the one that is meant")]
pub struct ChooseSheet(pub Vec<String>);

impl SourceError {
    fn new(stopped_by: StoppedBy, message: Message) -> SourceError {
        SourceError {
            message,
            stopped_by,
            is_empty: false,
            sheets: Vec::new(),
        }
    }

    /// The user has to change something.
    fn unusable(message: Message) -> SourceError {
        SourceError::new(StoppedBy::Usage, message)
    }

    fn empty(name: &str) -> SourceError {
        let hint = text!(
            "{the first line must be a header, such as `phone_number,name`|{on_page}}",
            on_page = NEEDS_HEADER
        );
        SourceError {
            is_empty: true,
            ..SourceError::unusable(Message::new(text!("`{name}` is empty", name), hint))
        }
    }

    /// The file cannot be opened or read; `line` is the one that was being read, where reading
    /// had begun.
    fn unreadable(name: &str, line: Option<u64>, error: &io::Error) -> SourceError {
        let why = reason(error);
        let why = match line.map(|line| line.to_string()) {
            Some(line) => text!("{why} (after line {line})", why, line),
            None => why,
        };
        let what = text!(
            "{cannot read `{name}`|`{name}` can't be read}: {why}",
            name,
            why
        );
        let by = match is_disk_full(error) {
            true => StoppedBy::Disk,
            false => StoppedBy::Usage,
        };
        SourceError::new(by, Message::new(what, hint(error)))
    }

    fn no_spool(error: &io::Error) -> SourceError {
        let folder = std::env::temp_dir();
        let why = paths::reason(&folder.join("leads"), error);
        let message = terminal_message!(
            "standard input cannot be stored in `{folder}`, the folder for temporary files: {why}",
            "make sure that it is there, has free space and can be written to, or name another folder in {variable}",
            folder = folder.display().to_string(),
            why,
            variable = FOLDER_VARIABLE
        );
        SourceError::new(StoppedBy::Disk, message)
    }

    pub fn changed(name: &str) -> SourceError {
        let message = message!(
            "`{name}` was changed while leadload was reading it",
            "close it in the program that changes it, then {again}{|, or choose it again as a new list}",
            name
        );
        SourceError::new(StoppedBy::Input, message)
    }

    /// Reading ended for an unknown reason: a bug of this program.
    pub fn broke_off() -> SourceError {
        let message = message!(
            "reading the input ended unexpectedly",
            "{again}{, and report this if it recurs|; if it happens again, start leadload again}"
        );
        SourceError::new(StoppedBy::Input, message)
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Failure {
        match error.sheets.is_empty() {
            true => Failure::new(error.stopped_by, error.message),
            false => {
                let choose = anyhow::Error::new(ChooseSheet(error.sheets));
                Failure::new(error.stopped_by, choose.context(error.message))
            }
        }
    }
}

fn is_disk_full(error: &io::Error) -> bool {
    use ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), FileTooLarge | QuotaExceeded | StorageFull)
}

/// What a list needs, for the page.
const NEEDS_HEADER: Template = template!(
    "the first row must have the names of the columns, such as Phone and Name, with a contact in each row below"
);

/// What to do on the page where another sheet may be the one that is meant.
const CHOOSE_SHEET: Template = template!("choose the sheet with the contacts");

const FOLDER_VARIABLE: &str = if cfg!(windows) { "TEMP" } else { "TMPDIR" };

fn reason(error: &io::Error) -> Text {
    match error.kind() {
        // The messages of gzip and zstd for this differ.
        ErrorKind::UnexpectedEof => text!("its end is missing"),
        _ => text!("{error}", error),
    }
}

/// What to do about it.
fn hint(error: &io::Error) -> Text {
    use ErrorKind::{InvalidData, InvalidInput, NotFound, Other, UnexpectedEof};
    match error.kind() {
        // Standard input is copied to a temporary file before it is read.
        _ if is_disk_full(error) => text!(
            "{free space in the folder for temporary files, or name another with {variable}|this computer's disk is full; free some space, then {again}}",
            variable = FOLDER_VARIABLE
        ),
        // The zstd error for a file that was packed with `--long` or `--ultra`.
        Other if error.to_string().contains("too much memory") => text!(
            "unpack it{ first, or pack it again without `--long` and `--ultra`|, and choose the file that is inside}"
        ),
        InvalidData | InvalidInput | UnexpectedEof | Other => text!(
            "the file seems damaged or cut off: export or download it again{|, and choose it again}"
        ),
        NotFound => text!(
            "{check that you have permission to read the file, then {again}|it is not at its place any more; choose it again}"
        ),
        _ => text!(
            "check that you {have permission to read the file, then {again}|may open this file, and choose it again}"
        ),
    }
}
