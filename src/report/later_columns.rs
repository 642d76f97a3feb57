//! Rows whose number is not from their first phone column: how many, why, and which.

use serde_json::{Value, json};

use crate::message::Text;
use crate::screen::LaterColumns;
use crate::text::grouped;

/// The rows in a sentence; `None` if there are none. `first` are the first of those whose first phone
/// cell cannot be used.
fn later_columns(later: &LaterColumns, what: &str, first: Vec<u64>) -> Option<Text> {
    let (empty, unusable) = (later.empty, later.unusable);
    let more = if unusable > first.len() as u64 {
        ", …"
    } else {
        ""
    };
    let first: Vec<String> = first.into_iter().map(grouped).collect();
    let first = format!("{what} {}{more}", first.join(", "));
    let why = match (empty, unusable) {
        (0, 0) => return None,
        (_, 0) => text!("because the first is empty"),
        (0, _) => text!("because the first cannot be used ({first})", first),
        _ => text!(
            "{empty:} because the first is empty, {unusable:} because it cannot be used ({first})",
            empty,
            unusable,
            first
        ),
    };
    let rows = empty + unusable;
    Some(text!(
        "{rows:row} {rows?takes its number:take their number} from a later phone column, {why}",
        rows,
        why
    ))
}

/// How many rows take their number from a later column, and the numbers of the first rows.
pub(super) fn by_row(later: &LaterColumns) -> Option<Text> {
    let first = later.first_unusable.iter().map(|(row, _)| row.0);
    later_columns(later, "row", first.collect())
}

/// How many rows take their number from a later column, and the first lines of a single list.
pub fn by_line(later: &LaterColumns) -> Option<Text> {
    let first = later.first_unusable.iter().map(|(_, line)| *line);
    later_columns(later, "line", first.collect())
}

pub(super) fn later_columns_json(later: &LaterColumns) -> Value {
    let first = later.first_unusable.iter();
    let first = first.map(|(row, line)| json!({ "row": row, "line": line }));
    json!({
        "empty": later.empty,
        "unusable": later.unusable,
        "first_unusable": first.collect::<Vec<Value>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lead::RowId;

    #[test]
    fn rows_of_a_later_column_are_counted_by_the_reason_and_the_unusable_ones_are_named() {
        let mut later = LaterColumns::default();
        assert_eq!(by_row(&later), None);
        later.record_unusable(RowId(3), 4);
        assert_eq!(
            by_row(&later).unwrap().to_string(),
            "1 row takes its number from a later phone column, because the first cannot be used (row 3)"
        );
        later.empty = 1_200;
        (4..20).for_each(|row| later.record_unusable(RowId(row), row + 1));
        assert_eq!(
            by_line(&later).unwrap().to_string(),
            "1,217 rows take their number from a later phone column, 1,200 because the first is empty, 17 because it cannot be used (line 4, 5, 6, 7, 8, …)"
        );
    }
}
