//! Rows whose number is not from their first phone column: how many, why, and which.

use serde_json::{Value, json};

use crate::screen::LaterColumns;
use crate::text::{counted, grouped};

/// The rows in a sentence; `None` if there are none. `rows` are the numbers of the first of those
/// whose first phone cell cannot be used.
fn later_columns(
    later: &LaterColumns,
    what: &str,
    rows: impl Iterator<Item = u64>,
) -> Option<String> {
    let all = later.empty + later.unusable;
    let rows: Vec<String> = rows.map(grouped).collect();
    let more = if later.unusable > rows.len() as u64 {
        ", …"
    } else {
        ""
    };
    let why = match (later.empty, later.unusable) {
        (0, 0) => return None,
        (_, 0) => "because the first is empty".to_owned(),
        (0, _) => format!(
            "because the first cannot be used ({what} {}{more})",
            rows.join(", ")
        ),
        (empty, unusable) => format!(
            "{} because the first is empty, {} because it cannot be used ({what} {}{more})",
            grouped(empty),
            grouped(unusable),
            rows.join(", ")
        ),
    };
    let all = match all {
        1 => "1 row takes its number".to_owned(),
        _ => format!("{} take their number", counted(all, "row")),
    };
    Some(format!("{all} from a later phone column, {why}"))
}

/// The same with row numbers.
pub(super) fn by_row(later: &LaterColumns) -> Option<String> {
    later_columns(
        later,
        "row",
        later.first_unusable.iter().map(|(row, _)| row.0),
    )
}

/// The same with lines, for a single list.
pub fn by_line(later: &LaterColumns) -> Option<String> {
    later_columns(
        later,
        "line",
        later.first_unusable.iter().map(|(_, line)| *line),
    )
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
            by_row(&later).unwrap(),
            "1 row takes its number from a later phone column, because the first cannot be used (row 3)"
        );
        later.empty = 1_200;
        (4..20).for_each(|row| later.record_unusable(RowId(row), row + 1));
        assert_eq!(
            by_line(&later).unwrap(),
            "1,217 rows take their number from a later phone column, 1,200 because the first is empty, 17 because it cannot be used (line 4, 5, 6, 7, 8, …)"
        );
    }
}
