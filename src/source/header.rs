//! The first row of an input: the names of its columns.

use super::batch::MAX_ROW_BYTES;
use super::{Flaw, Row, SourceError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The columns' names as they are, or their numbers where there is no header row.
    pub names: Vec<String>,
    /// Its line; none where there is no header row.
    pub line: Option<u64>,
}

impl Header {
    /// The cells of a row as names. `name` is the input's name in messages.
    pub(super) fn of(row: Row<'_>, name: &str) -> Result<Header, SourceError> {
        let line = row.line();
        let error = |what: String, hint: &str| {
            let what = format!("the header of `{name}` (line {line}) {what}");
            Err(SourceError::unusable(what, hint))
        };
        match row.flaw() {
            Some(Flaw::UnclosedQuote) => {
                let what = "has a quote (\") that is never closed".to_owned();
                return error(what, "close it or take it out");
            }
            Some(Flaw::TooLong) => {
                return error(
                    format!("is longer than {} KiB", MAX_ROW_BYTES / 1024),
                    "look into the file: a list of contacts has one contact on each line",
                );
            }
            None => {}
        }
        let names = (0..row.len()).map(|column| row.text(column).map(str::to_owned));
        match names.collect() {
            Some(names) => Ok(Header {
                names,
                line: Some(line),
            }),
            None => error(
                "has bytes that are not text in the file's encoding".to_owned(),
                "name the encoding with `--encoding`, or save the file as \"CSV UTF-8\"",
            ),
        }
    }

    /// Numbers as names, from 1.
    pub(super) fn numbered(columns: usize) -> Header {
        Header {
            names: (1..=columns).map(|number| number.to_string()).collect(),
            line: None,
        }
    }
}
