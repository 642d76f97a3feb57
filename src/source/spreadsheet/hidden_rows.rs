//! Which rows of a sheet are hidden: by a filter, by hand or in a collapsed group. calamine does
//! not tell, so this is read where the sheets are weighed before calamine decodes them.

use std::ops::Range;

#[derive(Debug, Clone, Default)]
pub(super) struct HiddenRows {
    /// Whether the rows are hidden of which the sheet says nothing.
    pub(super) by_default: bool,
    /// The rows (from 0) that are not as by default.
    pub(super) others: Vec<Range<u32>>,
}

impl HiddenRows {
    pub(super) fn add_rows(&mut self, rows: Range<u32>, is_hidden: bool) {
        match self.others.last_mut() {
            _ if is_hidden == self.by_default || rows.is_empty() => {}
            Some(last) if last.end == rows.start => last.end = rows.end,
            _ => self.others.push(rows),
        }
    }
}
