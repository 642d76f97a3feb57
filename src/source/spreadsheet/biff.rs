//! Whether the sheets of an .xls (MS-XLS) have the size that the format allows.
//!
//! calamine makes room for every cell between the outermost ones and for as many
//! as a sheet announces. One wrong bit in a cell's column can ask for more memory
//! than there is, which would end the process at once. So the records are walked
//! here first, as calamine will walk them.

use super::error::{Refusal, TooLarge};
use super::ole::{Compound, u16_at, u32_at};

/// The columns of a sheet (MS-XLS 2.5.53). Rows need no check: their numbers have
/// sixteen bits, as many as the format has rows.
const COLUMNS: u32 = 256;
const ROWS: u32 = 65_536;

/// The most cells in all sheets together, empty ones between others too: 1 GiB, and
/// twice that while one of them is handed over. Two full sheets.
const MAX_CELLS: u64 = 1 << 25;

/// The kinds of record that matter here (MS-XLS 2.3).
mod kind {
    pub(super) const EOF: u16 = 0x000A;
    pub(super) const FILE_PASS: u16 = 0x002F;
    pub(super) const BOUND_SHEET: u16 = 0x0085;
    pub(super) const MUL_RK: u16 = 0x00BD;
    pub(super) const DIMENSIONS: u16 = 0x0200;
    pub(super) const BOF: u16 = 0x0809;
    /// Formula, RString, LabelSst, Number, Label, BoolErr and Rk: one cell each.
    pub(super) const CELLS: [u16; 7] = [0x0006, 0x00D6, 0x00FD, 0x0203, 0x0204, 0x0205, 0x027E];
}

/// Makes sure that no sheet of the workbook asks for more memory than a sheet can need.
pub(super) fn check(bytes: &[u8]) -> Result<(), Refusal> {
    let file = Compound::open(bytes)?;
    let stream = match file.stream("Workbook")? {
        Some(stream) => stream,
        None => file.stream("Book")?.unwrap_or_default(),
    };
    let mut cells = 0u64;
    for sheet in sheet_positions(&stream)? {
        let records = stream.get(sheet..).ok_or_else(damaged)?;
        cells = cells.saturating_add(sheet_cells(records)?);
        if cells > MAX_CELLS {
            return Err(Refusal::TooLarge(TooLarge::Cells(MAX_CELLS)));
        }
    }
    Ok(())
}

/// Where in the stream each sheet begins, unless a password keeps them.
fn sheet_positions(stream: &[u8]) -> Result<Vec<usize>, Refusal> {
    let mut positions = Vec::new();
    for record in Records(stream) {
        match record {
            (kind::EOF, _) => break,
            // Of its kinds calamine does not notice the oldest, and would read what
            // is scrambled as it stands.
            (kind::FILE_PASS, _) => return Err(Refusal::Password),
            (kind::BOUND_SHEET, data) => positions.push(u32_at(data, 0)? as usize),
            _ => {}
        }
    }
    Ok(positions)
}

/// How many cells lie between a sheet's outermost ones.
fn sheet_cells(records: &[u8]) -> Result<u64, Refusal> {
    let mut extent = Extent::default();
    // A chart in the sheet has a beginning and an end of its own, and no cells.
    let mut depth = 0usize;
    for record in Records(records) {
        match record {
            (kind::BOF, _) => depth += 1,
            (kind::EOF, _) if depth <= 1 => break,
            (kind::EOF, _) => depth -= 1,
            _ if depth > 1 => {}
            (kind::DIMENSIONS, data) => check_dimensions(data)?,
            (kind::MUL_RK, data) => {
                extent.include(data)?;
                // The row, and then the column and the number of each cell.
                let more = (data.len() / 6).saturating_sub(1) as u32;
                extent.include_column(u32::from(u16_at(data, 2)?) + more)?;
            }
            (typ, data) if kind::CELLS.contains(&typ) => extent.include(data)?,
            _ => {}
        }
    }
    Ok(extent.cells())
}

/// Makes sure that a sheet announces no more rows than there can be. Columns are
/// left alone: there are too few bits for too many.
fn check_dimensions(data: &[u8]) -> Result<(), Refusal> {
    // Of the record's two forms the older has ten bytes.
    let (first, end) = match data.len() {
        10 => (u32::from(u16_at(data, 0)?), u32::from(u16_at(data, 2)?)),
        14 | 16 => (u32_at(data, 0)?, u32_at(data, 4)?),
        // calamine refuses any other.
        _ => return Ok(()),
    };
    match end == 0 || (first <= end && end <= ROWS) {
        true => Ok(()),
        false => Err(damaged()),
    }
}

/// The rectangle of a sheet's cells.
#[derive(Debug, Default)]
struct Extent {
    rows: Option<(u16, u16)>,
    columns: Option<(u32, u32)>,
}

impl Extent {
    /// Takes the cell whose row and column the record begins with.
    fn include(&mut self, data: &[u8]) -> Result<(), Refusal> {
        let row = u16_at(data, 0)?;
        let (first, last) = self.rows.unwrap_or((row, row));
        self.rows = Some((first.min(row), last.max(row)));
        self.include_column(u16_at(data, 2)?.into())
    }

    fn include_column(&mut self, column: u32) -> Result<(), Refusal> {
        if column >= COLUMNS {
            return Err(damaged());
        }
        let (first, last) = self.columns.unwrap_or((column, column));
        self.columns = Some((first.min(column), last.max(column)));
        Ok(())
    }

    fn cells(&self) -> u64 {
        let (Some(rows), Some(columns)) = (self.rows, self.columns) else {
            return 0;
        };
        (u64::from(rows.1 - rows.0) + 1) * (u64::from(columns.1 - columns.0) + 1)
    }
}

/// The records of a stream: their kind and their data. It ends where the bytes do
/// not make a record any more, which is where calamine gives up.
struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let kind = u16_at(self.0, 0).ok()?;
        let end = 4 + usize::from(u16_at(self.0, 2).ok()?);
        let data = self.0.get(4..end)?;
        self.0 = &self.0[end..];
        Some((kind, data))
    }
}

fn damaged() -> Refusal {
    Refusal::corrupt("a sheet in it contradicts itself")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u16, data: &[u8]) -> Vec<u8> {
        let len = u16::try_from(data.len()).unwrap();
        [&kind.to_le_bytes()[..], &len.to_le_bytes(), data].concat()
    }

    fn cell(row: u16, column: u16) -> Vec<u8> {
        record(0x0203, &[row.to_le_bytes(), column.to_le_bytes()].concat())
    }

    #[test]
    fn a_sheet_has_the_cells_between_its_outermost_ones() {
        let stream = [
            record(kind::BOF, b""),
            cell(1, 2),
            cell(3, 5),
            record(kind::EOF, b""),
        ];
        assert_eq!(sheet_cells(&stream.concat()).unwrap(), 12);
        assert_eq!(sheet_cells(b"").unwrap(), 0);
    }

    #[test]
    fn what_a_chart_in_the_sheet_says_is_none_of_the_sheets_cells() {
        let (begin, end) = (record(kind::BOF, b""), record(kind::EOF, b""));
        let stream = [&begin[..], &begin, &cell(9, 900), &end, &cell(0, 0), &end].concat();
        assert_eq!(sheet_cells(&stream).unwrap(), 1);
    }

    #[test]
    fn a_column_or_a_row_that_no_sheet_has_is_damage() {
        assert!(sheet_cells(&cell(0, 256)).is_err());
        let mut dimensions = vec![0; 14];
        dimensions[7] = 1;
        assert!(sheet_cells(&record(kind::DIMENSIONS, &dimensions)).is_err());
        assert!(sheet_cells(&record(kind::DIMENSIONS, &[0; 14])).is_ok());
    }
}
