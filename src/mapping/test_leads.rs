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

/// What stands there for none.
const NO: [&str; 5] = ["false", "no", "0", "n", ""];

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
    let is_none = |cell: &String| NO.contains(&&*cell.to_lowercase());
    let mut others: Vec<String> = cells().filter(|cell| !is_test(cell)).collect();
    others.sort_unstable();
    others.dedup();
    // What says something else is no mark, and is shown to nobody.
    if others.is_empty() || !others.iter().all(is_none) {
        return None;
    }
    let flags = others.iter().map(|other| {
        let flag = format!("{}={other}", columns.flag_text(column));
        format!("{ONLY} {}", quoted(&flag))
    });
    let flags: Vec<String> = flags.collect();
    cells().any(|cell| is_test(&cell)).then(|| Note {
        text: format!(
            "some rows are marked as test leads by {}: `{}` leaves them out",
            columns.label(column),
            flags.join(" ")
        ),
        flag: ONLY,
    })
}
