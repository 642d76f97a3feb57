//! Rows that the program a list comes from has marked as tests: forms for advertisements are
//! tried out before they are shown to anybody.

use super::columns::Columns;
use super::only::{ONLY, OnlyRule};
use super::plan::Note;
use super::spec::words;
use crate::shell::quoted;
use crate::source::RowBatch;

/// Headers of columns that say of each row whether it is a test.
const HEADERS: [&str; 5] = ["is_test", "test", "test_lead", "is_test_lead", "testlead"];

/// What stands there for a test.
const YES: [&str; 5] = ["true", "yes", "1", "y", "test"];

/// That some of the first rows are marked as tests, and what leaves them out; nothing where
/// the column is looked at already.
pub(super) fn note(columns: &Columns<'_>, only: &[OnlyRule], sample: &RowBatch) -> Option<Note> {
    let marked = columns.that(|header| HEADERS.contains(&&*words(header)));
    let column = *marked.first()?;
    if only.iter().any(|rule| rule.column == column) {
        return None;
    }
    let cells = || {
        let rows = sample.rows();
        rows.map(|row| row.text(column).unwrap_or_default().trim().to_owned())
    };
    let is_test = |cell: &String| YES.contains(&&*cell.to_lowercase());
    let tests = cells().filter(is_test).count();
    let other = cells().find(|cell| !is_test(cell))?;
    let flag = format!("{}={other}", columns.flag_text(column));
    (tests > 0).then(|| Note {
        text: format!(
            "some rows are marked as test leads by {}: `{ONLY} {}` leaves them out",
            columns.label(column),
            quoted(&flag)
        ),
        flag: ONLY,
    })
}
