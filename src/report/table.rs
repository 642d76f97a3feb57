//! Tables: for people with aligned columns without lines between them, and as CSV.

use std::borrow::Cow;

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Row, Table};

use crate::results::harmless;

/// A table that is no wider than this, if there is a limit.
pub(super) fn plain_table(width: Option<usize>) -> Table {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = width {
        table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    }
    table
}

/// A table whose cells are in one line each, however wide it gets.
pub(super) fn unbroken(header: impl Into<Row>) -> Table {
    let mut table = plain_table(None);
    table.set_header(header);
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

/// CSV that no spreadsheet takes for formulas.
pub(super) fn csv_text<'a, const N: usize>(
    header: [&str; N],
    rows: impl Iterator<Item = [Cow<'a, str>; N]>,
) -> csv::Result<String> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(header)?;
    for row in rows {
        csv.write_record(row.each_ref().map(|cell| harmless(cell.as_bytes(), b',')))?;
    }
    // Flushing cannot fail: this writes to memory.
    let bytes = csv.into_inner().unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
