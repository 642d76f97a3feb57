//! The first row of an input: the names of its columns.

use super::{Flaw, Row, SourceError};

/// An input's header.
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
        let (name, line) = (name.to_owned(), row.line());
        match row.flaw() {
            Some(Flaw::UnclosedQuote) => return Err(SourceError::TornHeader { name, line }),
            Some(Flaw::TooLong) => return Err(SourceError::HeaderTooLong { name, line }),
            None => {}
        }
        let names: Option<Vec<String>> = (0..row.len())
            .map(|column| row.text(column).map(str::to_owned))
            .collect();
        match names {
            Some(names) => Ok(Header {
                names,
                line: Some(row.line()),
            }),
            None => Err(SourceError::HeaderEncoding { name, line }),
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
