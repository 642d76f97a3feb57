//! Whether an OpenDocument sheet fits into memory.
//!
//! A cell or a row is written once with a number of repeats, so a few bytes can take all
//! memory; and calamine waits forever for the end of a table that is never closed. So the
//! content is read here first, only for its form and its size.

use std::io::Read;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::archive::{Archive, number_in};
use super::error::{MAX_WEIGHT, TooLarge, WorkbookError};
use super::weight::{Pieces, STRUCTURE_BYTES, Weight};

/// The most cells with all repeats, empty ones between filled ones too. Each takes
/// about a hundred bytes while calamine puts them in order.
const MAX_CELLS: u64 = 1 << 24;

/// The most bytes of a character that is written as a reference, such as `&#8364;`.
const LONGEST_CHARACTER: u64 = 4;

/// The attributes of a cell that are kept as text.
const TEXTS: [&str; 4] = [
    "office:string-value",
    "office:date-value",
    "office:time-value",
    "table:formula",
];

/// calamine returns a copy of the sheet that it keeps.
const COPIES: u64 = 2;

/// Makes sure that the document's parts are complete XML and its tables fit into memory.
pub(super) fn check(archive: &mut Archive<'_>) -> Result<(), WorkbookError> {
    let mut size = Size::default();
    for name in ["META-INF/manifest.xml", "content.xml"] {
        let part = archive
            .part(name)?
            .ok_or_else(|| WorkbookError::Corrupt(format!("its part {name} is missing")))?;
        check_part(part, &mut size)?;
    }
    Ok(())
}

fn check_part(part: impl Read, size: &mut Size) -> Result<(), WorkbookError> {
    let mut reader = Reader::from_reader(Pieces::new(part));
    // The default, and needed: an end without a beginning is an error.
    reader.config_mut().check_end_names = true;
    reader.config_mut().expand_empty_elements = true;
    let mut buffer = Vec::new();
    let mut depth = 0usize;
    loop {
        buffer.clear();
        reader.get_mut().begin();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(element)) => {
                depth += 1;
                size.open(&element)?;
            }
            Ok(Event::End(element)) => {
                depth = depth.saturating_sub(1);
                size.close(element.name().as_ref())?;
            }
            Ok(Event::Text(text)) => size.text(text.len() as u64)?,
            Ok(Event::GeneralRef(_)) => size.text(LONGEST_CHARACTER)?,
            Ok(Event::Eof) if depth == 0 => return Ok(()),
            Ok(Event::Eof) => return Err(WorkbookError::corrupt("it ends in the middle")),
            Ok(_) => {}
            Err(_) if reader.get_ref().is_exceeded => {
                return Err(WorkbookError::TooLarge(TooLarge::Piece));
            }
            Err(error) => return Err(WorkbookError::corrupt(error)),
        }
    }
}

/// How many cells the tables have, and what else takes memory.
#[derive(Debug, Default)]
struct Size {
    /// Texts with all their repeats, tables and styles.
    weight: Weight,
    /// Cells of all rows, each row once.
    written: u64,
    /// Cells of all closed tables, with repeats.
    repeated: u64,
    table: TableSize,
    row: RowSize,
}

#[derive(Debug, Default)]
struct TableSize {
    width: u64,
    rows: u64,
    empty_rows: u64,
}

#[derive(Debug, Default)]
struct RowSize {
    repeats: u64,
    cells: u64,
    filled: u64,
    /// The bytes of text in all its cells.
    text: u64,
    /// How often it has the current cell, if that is not empty.
    cell_repeats: u64,
}

impl Size {
    fn open(&mut self, element: &BytesStart<'_>) -> Result<(), WorkbookError> {
        match element.name().as_ref() {
            "table:table" => {
                self.table = TableSize::default();
                self.weight
                    .add(STRUCTURE_BYTES + 2 * element.len() as u64)?;
            }
            "style:table-properties" | "table:named-range" | "table:named-expression" => {
                self.weight.add(STRUCTURE_BYTES)?;
            }
            // Several spaces are written as their number.
            "text:s" => self.text(repeats(element, "text:c")?)?,
            "table:table-row" => {
                self.row = RowSize {
                    repeats: repeats(element, "table:number-rows-repeated")?,
                    ..RowSize::default()
                };
            }
            "table:table-cell" | "table:covered-table-cell" => self.cell(element)?,
            _ => {}
        }
        Ok(())
    }

    fn cell(&mut self, element: &BytesStart<'_>) -> Result<(), WorkbookError> {
        let repeats = repeats(element, "table:number-columns-repeated")?;
        self.row.cells = self.row.cells.saturating_add(repeats);
        let mut is_filled = false;
        let mut text = 0;
        for attribute in element.attributes().flatten() {
            let name = attribute.key.as_ref();
            // Every cell but an empty one has a value or a formula.
            is_filled |= name.starts_with("office:")
                || name.starts_with("calcext:")
                || name == "table:formula";
            if TEXTS.contains(&name) {
                text += attribute.value.len() as u64;
            }
        }
        self.row.cell_repeats = if is_filled { repeats } else { 0 };
        self.text(text)?;
        if is_filled {
            self.row.filled = self.row.cells;
        }
        Ok(())
    }

    /// Adds text of the current cell. A row is weighed when it is closed, or when its text
    /// is too much already.
    fn text(&mut self, bytes: u64) -> Result<(), WorkbookError> {
        let text = bytes.saturating_mul(self.row.cell_repeats);
        self.row.text = self.row.text.saturating_add(text);
        if self.row.text > MAX_WEIGHT {
            Err(WorkbookError::TooLarge(TooLarge::Memory))
        } else {
            Ok(())
        }
    }

    fn close(&mut self, name: &str) -> Result<(), WorkbookError> {
        match name {
            "table:table-cell" | "table:covered-table-cell" => self.row.cell_repeats = 0,
            "table:table-row" => self.close_row()?,
            "table:table" => {
                let table = std::mem::take(&mut self.table);
                let cells = table.rows.saturating_mul(table.width);
                self.repeated = self.repeated.saturating_add(cells);
            }
            _ => {}
        }
        match self.written.saturating_add(self.repeated) {
            cells if cells > MAX_CELLS => Err(WorkbookError::TooLarge(TooLarge::Cells(MAX_CELLS))),
            _ => Ok(()),
        }
    }

    fn close_row(&mut self) -> Result<(), WorkbookError> {
        let row = std::mem::take(&mut self.row);
        let table = &mut self.table;
        if row.filled > 0 {
            let text = row.text.saturating_mul(row.repeats).saturating_mul(COPIES);
            self.weight.add(text)?;
            self.written = self.written.saturating_add(row.filled);
            table.rows = table
                .rows
                .saturating_add(std::mem::take(&mut table.empty_rows))
                .saturating_add(row.repeats);
            table.width = table.width.max(row.filled);
        } else if table.rows > 0 {
            // Empty rows before the first filled one and after the last do not count.
            table.empty_rows = table.empty_rows.saturating_add(row.repeats);
        }
        Ok(())
    }
}

fn repeats(element: &BytesStart<'_>, name: &str) -> Result<u64, WorkbookError> {
    let value = element
        .try_get_attribute(name)
        .map_err(WorkbookError::corrupt)?;
    Ok(value.map_or(1, |value| number_in(&value.value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_table(rows: &str) -> Result<(), WorkbookError> {
        let xml = format!("<d><table:table>{rows}</table:table></d>");
        check_part(xml.as_bytes(), &mut Size::default())
    }

    #[test]
    fn empty_cells_to_the_end_of_the_sheet_weigh_nothing() {
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
        assert!(matches!(
            check_table(rows),
            Err(WorkbookError::TooLarge(TooLarge::Cells(_)))
        ));
        let rows = r#"<table:table-row><table:table-cell office:value="1"/></table:table-row>
            <table:table-row table:number-rows-repeated="99999999999999999999"/>
            <table:table-row><table:table-cell office:value="1"/></table:table-row>"#;
        assert!(matches!(
            check_table(rows),
            Err(WorkbookError::TooLarge(TooLarge::Cells(_)))
        ));
    }

    #[test]
    fn a_text_weighs_as_often_as_it_is_repeated() {
        let is_too_heavy = |cell: &str| {
            let rows = format!(
                "<table:table-row table:number-rows-repeated=\"1000\">{cell}</table:table-row>"
            );
            matches!(
                check_table(&rows),
                Err(WorkbookError::TooLarge(TooLarge::Memory))
            )
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
            assert!(matches!(result, Err(WorkbookError::Corrupt(_))), "{xml}");
        }
    }
}
