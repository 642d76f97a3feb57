//! Rows that are marked as tests by the program that wrote the list: forms in advertisements are
//! tried out before anyone sees them.

use super::columns::Columns;
use super::header_words::words;
use super::mark::yes_or_no;
use super::only::OnlyRule;
use super::plan::Note;
use super::spec::ONLY;
use crate::shell::quoted;
use crate::source::RowBatch;

const HEADERS: [&str; 5] = ["is_test", "test", "test_lead", "is_test_lead", "testlead"];

/// Says that some of the first rows are marked as tests, and what leaves them out; `None` if
/// `--only` already uses the column.
pub(super) fn found(columns: &Columns<'_>, only: &[OnlyRule], sample: &RowBatch) -> Option<Note> {
    let marked = columns.that(|header| HEADERS.contains(&&*words(header)));
    let column = *marked.first()?;
    if only.iter().any(|rule| rule.column == column) {
        return None;
    }
    let rows = sample.rows();
    let cells = rows.map(|row| row.text(column).unwrap_or_default().trim().to_owned());
    let is_test =
        |cell: &String| cell.eq_ignore_ascii_case("test") || yes_or_no(cell) == Some(true);
    let (tests, mut others): (Vec<String>, Vec<String>) = cells.partition(is_test);
    others.sort_unstable();
    others.dedup();
    // A column with other values is not such a mark, and its cells are not shown.
    let is_mark = !others.is_empty() && others.iter().all(|cell| yes_or_no(cell) == Some(false));
    if tests.is_empty() || !is_mark {
        return None;
    }
    let flags = others.iter().map(|other| {
        let flag = format!("{}={other}", columns.flag_text(column));
        format!("{ONLY} {}", quoted(&flag))
    });
    let hint = text!(
        "{`{flags}` leaves them out|you can leave them out in “Columns”, under {--only}}",
        flags = flags.collect::<Vec<String>>().join(" ")
    );
    let marks = columns.label(column);
    let what = text!("some rows are marked as test leads by {marks}", marks);
    Some(Note {
        hint: Some(hint),
        ..Note::new(ONLY, what)
    })
}
