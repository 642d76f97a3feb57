//! Checks that an OpenDocument sheet fits into memory, and finds its hidden rows.
//!
//! A cell or a row is written once with a number of repeats, so a few bytes can take
//! all memory. Also, calamine waits forever for the end of a table that is never
//! closed. So the content is first read here, only to check its form and its size.

use std::io::Read;

use quick_xml::events::{BytesStart, Event};

use super::archive::Archive;
use super::error::{self, ensure};
use super::hidden_rows::HiddenRows;
use super::weight::{
    COPIES, MAX_WEIGHT, STRUCTURE_BYTES, Weight, number_in, text_in, too_heavy, walk,
};
use crate::message::Message;

/// The most cells with all repeats, including empty ones between filled
/// ones. Each takes about a hundred bytes while calamine sorts them.
const MAX_CELLS: u64 = 1 << 24;

/// The most UTF-8 bytes of a character that is written as a reference, such as `&#8364;`.
const LONGEST_CHARACTER: u64 = 4;

const TEXTS: [&str; 4] = [
    "office:string-value",
    "office:date-value",
    "office:time-value",
    "table:formula",
];

/// calamine stops counting rows there.
const MAX_ROWS: u32 = 1_048_576;

/// Makes sure that the document's parts are complete XML and its tables fit into memory. Returns
/// the hidden rows of each table.
pub(super) fn check(archive: &mut Archive<'_>) -> Result<Vec<HiddenRows>, Message> {
    let mut size = Size::default();
    for name in ["META-INF/manifest.xml", "content.xml"] {
        let part = archive
            .part(name)?
            .ok_or_else(|| error::corrupt(format_args!("its part {name} is missing")))?;
        check_part(part, &mut size)?;
    }
    Ok(size.hidden)
}

fn check_part(part: impl Read, size: &mut Size) -> Result<(), Message> {
    walk(part, true, |event| match event {
        Event::Start(element) => size.open(element),
        Event::End(element) => size.close(element.name().as_ref()),
        Event::Text(text) => size.text(text.len() as u64),
        Event::GeneralRef(_) => size.text(LONGEST_CHARACTER),
        _ => Ok(()),
    })
}

#[derive(Debug, Default)]
struct Size {
    /// Texts with all their repeats, tables and styles.
    weight: Weight,
    /// Cells of all tables before the current one, with repeats.
    cells: u64,
    /// The size of the current table: its width, its rows up to the last
    /// one with content, and the empty rows after that.
    width: u64,
    rows: u64,
    empty_rows: u64,
    row: RowSize,
    /// Of each table with a name.
    hidden: Vec<HiddenRows>,
    /// The first row after the rows of the current table that were read.
    next_row: u32,
    /// Whether each group of rows that is open is collapsed.
    groups: Vec<bool>,
}

#[derive(Debug, Default)]
struct RowSize {
    repeats: u64,
    is_hidden: bool,
    cells: u64,
    filled: u64,
    text: u64,
    /// How often the row has the current cell; 0 if the cell is empty.
    cell_repeats: u64,
}

impl Size {
    fn open(&mut self, element: &BytesStart<'_>) -> Result<(), Message> {
        match element.name().as_ref() {
            "table:table" => {
                // calamine reads no rows of a table without a name.
                self.next_row = MAX_ROWS;
                if text_in(element, "table:name")?.is_some() {
                    self.next_row = 0;
                    self.hidden.push(HiddenRows::default());
                }
                self.weight.add(STRUCTURE_BYTES + 2 * element.len() as u64)
            }
            "table:table-row-group" => {
                let display = text_in(element, "table:display")?;
                self.groups.push(display.as_deref() == Some("false"));
                Ok(())
            }
            "style:table-properties" | "table:named-range" | "table:named-expression" => {
                self.weight.add(STRUCTURE_BYTES)
            }
            // Several spaces in a row are written as their number.
            "text:s" => self.text(number_in(element, "text:c", 1)?),
            "table:table-row" => {
                // `collapse` is a row that a person has hidden, `filter` one that a filter has.
                let visibility = text_in(element, "table:visibility")?;
                let is_visible = visibility.is_none_or(|visibility| visibility == "visible");
                self.row = RowSize {
                    repeats: number_in(element, "table:number-rows-repeated", 1)?,
                    is_hidden: !is_visible || self.groups.contains(&true),
                    ..RowSize::default()
                };
                Ok(())
            }
            "table:table-cell" | "table:covered-table-cell" => self.cell(element),
            _ => Ok(()),
        }
    }

    fn cell(&mut self, element: &BytesStart<'_>) -> Result<(), Message> {
        let repeats = number_in(element, "table:number-columns-repeated", 1)?;
        self.row.cells = self.row.cells.saturating_add(repeats);
        let mut is_filled = false;
        let mut text = 0;
        for attribute in element.attributes().flatten() {
            let name = attribute.key.as_ref();
            // Every cell that is not empty has a value or a formula.
            is_filled |= name.starts_with("office:")
                || name.starts_with("calcext:")
                || name == "table:formula";
            if TEXTS.contains(&name) {
                text += attribute.value.len() as u64;
            }
        }
        self.row.cell_repeats = if is_filled { repeats } else { 0 };
        if is_filled {
            self.row.filled = self.row.cells;
        }
        self.text(text)
    }

    /// Adds text of the current cell. A row is weighed when it is closed, or when its text
    /// is too much already.
    fn text(&mut self, bytes: u64) -> Result<(), Message> {
        let text = bytes.saturating_mul(self.row.cell_repeats);
        self.row.text = self.row.text.saturating_add(text);
        ensure(self.row.text <= MAX_WEIGHT, too_heavy)
    }

    fn close(&mut self, name: &str) -> Result<(), Message> {
        match name {
            "table:table-cell" | "table:covered-table-cell" => self.row.cell_repeats = 0,
            "table:table-row" => return self.close_row(),
            "table:table-row-group" => drop(self.groups.pop()),
            "table:table" => {
                self.cells = self.with_table();
                (self.width, self.rows, self.empty_rows) = (0, 0, 0);
            }
            _ => {}
        }
        Ok(())
    }

    fn close_row(&mut self) -> Result<(), Message> {
        let row = std::mem::take(&mut self.row);
        let repeats = u32::try_from(row.repeats).unwrap_or(MAX_ROWS);
        let end = self.next_row.saturating_add(repeats).min(MAX_ROWS);
        if let Some(hidden) = self.hidden.last_mut() {
            hidden.add_rows(self.next_row..end, row.is_hidden);
        }
        self.next_row = end;
        // calamine reads the cells of a row even if its number of repeats is 0.
        let repeats = row.repeats.max(1);
        if row.filled > 0 {
            let text = row.text.saturating_mul(repeats).saturating_mul(COPIES);
            self.weight.add(text)?;
            let empty_rows = std::mem::take(&mut self.empty_rows);
            self.rows = self.rows.saturating_add(empty_rows.saturating_add(repeats));
            self.width = self.width.max(row.filled);
        } else if self.rows > 0 {
            // Empty rows before the first filled one and after the last do not count.
            self.empty_rows = self.empty_rows.saturating_add(repeats);
        }
        let cells = self.with_table();
        ensure(cells <= MAX_CELLS, || error::too_many_cells(MAX_CELLS))
    }

    fn with_table(&self) -> u64 {
        self.cells
            .saturating_add(self.rows.saturating_mul(self.width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_table(rows: &str) -> Result<(), Message> {
        let xml = format!("<d><table:table>{rows}</table:table></d>");
        check_part(xml.as_bytes(), &mut Size::default())
    }

    #[test]
    fn empty_cells_to_the_end_of_the_sheet_take_no_memory() {
        let rows = r#"<table:table-row><table:table-cell office:value-type="string"/>
            <table:table-cell table:number-columns-repeated="16383"/></table:table-row>
            <table:table-row table:number-rows-repeated="1048575">
            <table:table-cell table:number-columns-repeated="16384"/></table:table-row>"#;
        assert!(check_table(rows).is_ok());
    }

    #[test]
    fn a_cell_repeated_beyond_all_memory_is_refused() {
        let rows = r#"<table:table-row table:number-rows-repeated="1048576">
            <table:table-cell office:value="1" table:number-columns-repeated="16384"/></table:table-row>"#;
        assert_eq!(check_table(rows), Err(error::too_many_cells(MAX_CELLS)));
        let rows = r#"<table:table-row><table:table-cell office:value="1"/></table:table-row>
            <table:table-row table:number-rows-repeated="99999999999999999999"/>
            <table:table-row><table:table-cell office:value="1"/></table:table-row>"#;
        assert_eq!(check_table(rows), Err(error::too_many_cells(MAX_CELLS)));
    }

    #[test]
    fn a_repeated_text_is_counted_each_time() {
        let is_too_heavy = |cell: &str| {
            let rows = format!(
                "<table:table-row table:number-rows-repeated=\"1000\">{cell}</table:table-row>"
            );
            check_table(&rows) == Err(too_heavy())
        };
        let cell = |repeats: u32, text: &str| {
            format!(
                "<table:table-cell office:value-type=\"string\" table:number-columns-repeated=\"{repeats}\"><text:p>{text}</text:p></table:table-cell>"
            )
        };
        let long = "a".repeat(10_000);
        assert!(!is_too_heavy(&cell(100, &long)));
        assert!(is_too_heavy(&cell(1000, &long)));
        assert!(is_too_heavy(&cell(1000, "<text:s text:c=\"10000\"/>")));
        let date = format!(
            "<table:table-cell office:date-value=\"{long}\" table:number-columns-repeated=\"1000\"/>"
        );
        assert!(is_too_heavy(&date));
        // The text of an empty cell is not read.
        let empty = cell(1000, &long).replace("office:value-type=\"string\"", "");
        assert!(!is_too_heavy(&empty));
    }

    #[test]
    fn a_table_that_is_never_closed_is_damage() {
        for xml in ["<d><table:table>", "<d></e>", "<d><office:annotation>"] {
            let result = check_part(xml.as_bytes(), &mut Size::default());
            assert!(result.is_err(), "{xml}");
        }
    }
}
