//! Tables for people: aligned columns without lines between them.

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Row, Table};
use console::Term;

use super::width::size_of;

/// A table for standard output.
pub(super) fn table(header: impl Into<Row>) -> Table {
    table_on(&Term::stdout(), header)
}

/// A table that is no wider than this terminal, if it is one.
pub(super) fn table_on(terminal: &Term, header: impl Into<Row>) -> Table {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(header);
    if terminal.is_term() {
        table.set_width(size_of(terminal).1);
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
