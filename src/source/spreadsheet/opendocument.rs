//! Whether an OpenDocument sheet can be unfolded.
//!
//! A cell or a row may be given once and be repeated any number of times, so a
//! few bytes can stand for all the memory there is; and calamine waits for ever
//! for the end of a table that is never closed. So the content is read twice:
//! here for its form and its size alone.

use std::io::{BufReader, Read};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::archive::{Archive, number_in};
use super::error::{Refusal, TooLarge};

/// The most cells after unfolding, empty ones between filled ones too. Each takes
/// about a hundred bytes while calamine puts them in order.
const MAX_CELLS: u64 = 1 << 24;

/// Makes sure that the document's parts are closed XML and its tables of a size
/// that can be held.
pub(super) fn check(archive: &mut Archive<'_>) -> Result<(), Refusal> {
    let mut size = Size::default();
    for name in ["META-INF/manifest.xml", "content.xml"] {
        let part = archive
            .part(name)?
            .ok_or_else(|| Refusal::Corrupt(format!("its part {name} is missing")))?;
        check_part(part, &mut size)?;
    }
    Ok(())
}

fn check_part(part: impl Read, size: &mut Size) -> Result<(), Refusal> {
    let mut reader = Reader::from_reader(BufReader::new(part));
    // The default, and what all of this is for: an end that has no beginning is an error.
    reader.config_mut().check_end_names = true;
    reader.config_mut().expand_empty_elements = true;
    let mut buffer = Vec::new();
    let mut depth = 0usize;
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(element)) => {
                depth += 1;
                size.open(&element)?;
            }
            Ok(Event::End(element)) => {
                depth = depth.saturating_sub(1);
                size.close(element.name().as_ref())?;
            }
            Ok(Event::Eof) if depth == 0 => return Ok(()),
            Ok(Event::Eof) => return Err(Refusal::corrupt("it ends in the middle")),
            Ok(_) => {}
            Err(error) => return Err(Refusal::corrupt(error)),
        }
    }
}

/// How many cells the tables unfold to.
#[derive(Debug, Default)]
struct Size {
    /// Cells of all rows that are given, each row once.
    given: u64,
    /// Cells of all tables that are closed.
    unfolded: u64,
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
}

impl Size {
    fn open(&mut self, element: &BytesStart<'_>) -> Result<(), Refusal> {
        match element.name().as_ref() {
            "table:table" => self.table = TableSize::default(),
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

    fn cell(&mut self, element: &BytesStart<'_>) -> Result<(), Refusal> {
        let repeats = repeats(element, "table:number-columns-repeated")?;
        self.row.cells = self.row.cells.saturating_add(repeats);
        // Only an empty cell has neither a value nor a formula.
        let is_filled = element.attributes().flatten().any(|attribute| {
            let name = attribute.key.as_ref();
            name.starts_with("office:") || name.starts_with("calcext:") || name == "table:formula"
        });
        if is_filled {
            self.row.filled = self.row.cells;
        }
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<(), Refusal> {
        match name {
            "table:table-row" => self.close_row(),
            "table:table" => {
                let table = std::mem::take(&mut self.table);
                let cells = table.rows.saturating_mul(table.width);
                self.unfolded = self.unfolded.saturating_add(cells);
            }
            _ => {}
        }
        match self.given.saturating_add(self.unfolded) {
            cells if cells > MAX_CELLS => Err(Refusal::TooLarge(TooLarge::Cells(MAX_CELLS))),
            _ => Ok(()),
        }
    }

    fn close_row(&mut self) {
        let row = std::mem::take(&mut self.row);
        let table = &mut self.table;
        if row.filled > 0 {
            self.given = self.given.saturating_add(row.filled);
            table.rows = table
                .rows
                .saturating_add(std::mem::take(&mut table.empty_rows))
                .saturating_add(row.repeats);
            table.width = table.width.max(row.filled);
        } else if table.rows > 0 {
            // Empty rows before the first and after the last filled one are left out.
            table.empty_rows = table.empty_rows.saturating_add(row.repeats);
        }
    }
}

fn repeats(element: &BytesStart<'_>, name: &str) -> Result<u64, Refusal> {
    let value = element.try_get_attribute(name).map_err(Refusal::corrupt)?;
    Ok(value.map_or(1, |value| number_in(&value.value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_table(rows: &str) -> Result<(), Refusal> {
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
            Err(Refusal::TooLarge(TooLarge::Cells(_)))
        ));
        let rows = r#"<table:table-row><table:table-cell office:value="1"/></table:table-row>
            <table:table-row table:number-rows-repeated="99999999999999999999"/>
            <table:table-row><table:table-cell office:value="1"/></table:table-row>"#;
        assert!(matches!(
            check_table(rows),
            Err(Refusal::TooLarge(TooLarge::Cells(_)))
        ));
    }

    #[test]
    fn a_table_that_is_never_closed_is_damage() {
        for xml in ["<d><table:table>", "<d></e>", "<d><office:annotation>"] {
            let result = check_part(xml.as_bytes(), &mut Size::default());
            assert!(matches!(result, Err(Refusal::Corrupt(_))), "{xml}");
        }
    }
}
