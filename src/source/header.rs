//! The header of an input: the names of its columns.

use super::{Flaw, Row, SourceError};
use crate::message::Message;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The names of the columns as they are; the numbers of the columns if there is no header row.
    pub names: Vec<String>,
    pub line: Option<u64>,
}

impl Header {
    /// Takes the cells of a row as names. `name` is the name of the input in messages.
    pub(super) fn of(row: Row<'_>, name: &str) -> Result<Header, SourceError> {
        let line = row.line();
        let names = (0..row.len()).map(|column| row.text(column).map(str::to_owned));
        let (what, hint) = match (row.flaw(), names.collect()) {
            (None, Some(names)) => {
                let line = Some(line);
                return Ok(Header { names, line });
            }
            (None, None) => (
                template!("has bytes that are not text in the file's encoding"),
                template!(
                    "{name the encoding with `--encoding`, or save the file as \"CSV UTF-8\"|save it again as “CSV UTF-8” where it comes from, and choose it again}"
                ),
            ),
            (Some(Flaw::UnclosedQuote), _) => (
                template!("has a quote (\") that is never closed"),
                template!(
                    "close it or take it out{| in the file; or save the list again as CSV from the spreadsheet, and choose it again}"
                ),
            ),
            (Some(Flaw::TooLong), _) => (
                template!("is longer than 1024 KiB"),
                template!(
                    "look into the file: a list of contacts has {one contact on each line|the names of the columns in its first row, and a contact in each row below}"
                ),
            ),
        };
        let what = text!(
            "the header of `{name}` (line {line}) {what}",
            name,
            line = line.to_string(),
            what
        );
        Err(SourceError::unusable(Message::new(what, hint)))
    }

    pub(super) fn numbered(columns: usize) -> Header {
        Header {
            names: (1..=columns).map(|number| number.to_string()).collect(),
            line: None,
        }
    }
}
