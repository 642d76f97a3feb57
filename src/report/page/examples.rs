//! The first few rows of each kind that made no lead, with what stands in them.

use std::collections::BTreeMap;

use crate::lead::{ErrorCode, RowOutcome, Status};
use crate::mapping::Mapping;
use crate::source::Row;
use crate::text::{one_line, shortened};

/// How many are kept of each kind.
const MOST: usize = 5;

/// How much is kept of a cell, and of what is wrong with a row, in characters.
const LONGEST_CELL: usize = 60;
const LONGEST_ERROR: usize = 400;

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Example {
    /// Its input, counted from 0.
    pub(super) file: usize,
    /// Its line there, from 1.
    pub(super) line: u64,
    /// Its phone cell as it was read.
    pub(super) cell: String,
    /// What is said of it.
    pub(super) error: Option<String>,
}

/// Examples by status and error code.
#[derive(Debug, Default)]
pub(super) struct Examples(BTreeMap<(Status, Option<ErrorCode>), Vec<Example>>);

impl Examples {
    /// Takes a row.
    pub(super) fn note(&mut self, mapping: &Mapping, row: Row<'_>, outcome: &RowOutcome) {
        if matches!(outcome.status, Status::Created | Status::Ready) || outcome.is_known_bad {
            return;
        }
        let key = (outcome.status, outcome.error_code);
        let examples = self.0.entry(key).or_default();
        // Rows come as they are answered; the first are those that stand first.
        let place = (row.file(), row.line());
        let at = examples.partition_point(|other| (other.file, other.line) < place);
        if at < MOST {
            examples.truncate(MOST - 1);
            examples.insert(
                at,
                Example {
                    file: row.file(),
                    line: row.line(),
                    cell: shortened(&one_line(&mapping.phone_cell(row)), LONGEST_CELL),
                    error: outcome
                        .error
                        .as_deref()
                        .map(|error| shortened(&one_line(error), LONGEST_ERROR)),
                },
            );
        }
    }

    /// Those that ended so.
    pub(super) fn of(&self, status: Status, code: Option<ErrorCode>) -> &[Example] {
        self.0.get(&(status, code)).map_or(&[], Vec::as_slice)
    }
}
