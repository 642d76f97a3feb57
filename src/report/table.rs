//! Tables for people: aligned columns without lines between them.

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Row, Table};

use super::width::USUAL_COLUMNS;

pub(super) fn table(header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(header);
    if table.width() == Some(0) {
        table.set_width(USUAL_COLUMNS);
    }
    table
}

/// The lines of a table, without the space at the left edge: every
/// cell has a space on each side, which is not needed there.
pub(super) fn lines(table: &Table) -> String {
    let lines = table.lines();
    lines
        .map(|line| {
            line.strip_prefix(' ')
                .unwrap_or(&line)
                .trim_end()
                .to_owned()
                + "\n"
        })
        .collect()
}
