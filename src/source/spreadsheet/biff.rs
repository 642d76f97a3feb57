//! Checks that the sheets of an .xls (MS-XLS) have a size that the format allows, and finds their
//! hidden rows.
//!
//! calamine reserves memory for every cell between the outermost ones, and for as many
//! cells as a sheet announces. It also copies a shared text into each cell. One wrong bit
//! in the column of a cell can ask for more memory than there is, which ends the process
//! at once. So the records are first read here, in the same way as calamine reads them.

use super::compound::{u16_at, u32_at};
use super::error::{self, ensure};
use super::hidden_rows::HiddenRows;
use super::shared_strings::{CHARACTER_BYTES, SharedStrings};
use super::weight::{COPIES, Weight};
use crate::message::Message;

/// The columns of a sheet (MS-XLS 2.5.53). Row numbers need no check: they
/// have sixteen bits, and the format has as many rows.
const COLUMNS: u32 = 256;
const ROWS: u32 = 65_536;

/// The most cells in all sheets together, including empty ones between others: two
/// full sheets. They take 1 GiB, and up to twice that while a sheet is copied.
const MAX_CELLS: u64 = 1 << 25;

/// The kinds of record that matter here (MS-XLS 2.3).
mod kind {
    pub(super) const EOF: u16 = 0x000A;
    pub(super) const FILE_PASS: u16 = 0x002F;
    pub(super) const BOUND_SHEET: u16 = 0x0085;
    pub(super) const MUL_RK: u16 = 0x00BD;
    pub(super) const CONTINUE: u16 = 0x003C;
    pub(super) const SHARED_STRINGS: u16 = 0x00FC;
    pub(super) const LABEL_SST: u16 = 0x00FD;
    /// The result of a formula, if it is text.
    pub(super) const STRING: u16 = 0x0207;
    pub(super) const DIMENSIONS: u16 = 0x0200;
    pub(super) const ROW: u16 = 0x0208;
    pub(super) const DEFAULT_ROW_HEIGHT: u16 = 0x0225;
    pub(super) const BOF: u16 = 0x0809;
    /// Formula, RString, LabelSst, Number, Label, BoolErr and Rk: one cell each.
    pub(super) const CELLS: [u16; 7] = [0x0006, 0x00D6, 0x00FD, 0x0203, 0x0204, 0x0205, 0x027E];
}

/// Up to this many bytes of records are always read, whatever the size of the workbook.
const HARMLESS_BYTES: usize = 16 << 20;

/// Makes sure that no sheet of the workbook asks for more memory than a sheet can need. Returns the
/// hidden rows of each.
pub(super) fn check(stream: &[u8]) -> Result<Vec<HiddenRows>, Message> {
    // Where in the stream each sheet begins.
    let mut sheets: Vec<usize> = Vec::new();
    let mut strings: Vec<&[u8]> = Vec::new();
    let mut last = 0;
    for (typ, data) in Records(stream) {
        match typ {
            kind::EOF => break,
            // calamine misses its oldest kind, and would read scrambled cells.
            kind::FILE_PASS => return Err(error::password()),
            kind::BOUND_SHEET => sheets.push(u32_at(data, 0)? as usize),
            kind::SHARED_STRINGS => strings = vec![data],
            kind::CONTINUE if last == kind::SHARED_STRINGS => {
                strings.push(data);
                continue;
            }
            _ => {}
        }
        last = typ;
    }
    let strings = SharedStrings::read(&strings).ok_or_else(damaged)?;
    let mut size = Size::default();
    let mut hidden = Vec::new();
    for sheet in sheets {
        let records = stream.get(sheet..).ok_or_else(damaged)?;
        hidden.push(size.add_sheet(records, &strings)?);
        // If sheets overlap, the same bytes are read once for each sheet.
        ensure(size.bytes <= HARMLESS_BYTES.max(2 * stream.len()), damaged)?;
    }
    Ok(hidden)
}

#[derive(Debug, Default)]
struct Size {
    cells: u64,
    weight: Weight,
    bytes: usize,
}

impl Size {
    fn add_sheet(&mut self, sheet: &[u8], strings: &SharedStrings) -> Result<HiddenRows, Message> {
        let mut hidden = HiddenRows::default();
        // Up to the last cell.
        let (mut rows, mut columns) = (0, 0);
        let mut include = |(row, column): (u64, u64)| {
            (rows, columns) = (rows.max(row + 1), columns.max(column + 1));
        };
        // A chart in the sheet has its own BOF and EOF, and no cells.
        let mut depth = 0usize;
        let mut records = Records(sheet);
        for record in records.by_ref() {
            match record {
                (kind::BOF, _) => depth += 1,
                (kind::EOF, _) if depth <= 1 => break,
                (kind::EOF, _) => depth -= 1,
                _ if depth > 1 => {}
                (kind::DIMENSIONS, data) => check_dimensions(data)?,
                // The bit fDyZero (2.4.87, 2.4.221): hidden, whatever the reason.
                (kind::DEFAULT_ROW_HEIGHT, [flags, ..]) => hidden.by_default = flags & 0x02 != 0,
                (kind::ROW, data) => {
                    let (row, flags) = (u32::from(u16_at(data, 0)?), u16_at(data, 12)?);
                    hidden.add_rows(row..row + 1, flags & 0x20 != 0);
                }
                // The data is the row, the first column, and six bytes for each cell.
                (kind::MUL_RK, data) => {
                    include(place(data, (data.len() / 6).saturating_sub(1) as u32)?);
                }
                (kind::STRING, data) => self.weight.add(COPIES * text_in(data))?,
                (typ, data) if kind::CELLS.contains(&typ) => {
                    include(place(data, 0)?);
                    let text = match (typ, u32_at(data, 6)) {
                        (kind::LABEL_SST, Ok(index)) => strings.len(index),
                        _ => text_in(data),
                    };
                    self.weight.add(COPIES * text)?;
                }
                _ => {}
            }
        }
        self.bytes += sheet.len() - records.0.len();
        self.cells = self.cells.saturating_add(rows * columns);
        ensure(self.cells <= MAX_CELLS, || error::too_many_cells(MAX_CELLS))?;
        Ok(hidden)
    }
}

/// The most bytes of UTF-8 that the text of a record can become.
fn text_in(data: &[u8]) -> u64 {
    CHARACTER_BYTES * data.len() as u64
}

/// Makes sure that a sheet announces no more rows and columns than there can be. An
/// impossible first column does not matter: calamine takes 0 for it.
fn check_dimensions(data: &[u8]) -> Result<(), Message> {
    let short = |at| u16_at(data, at).map(u32::from);
    // Of the record's two forms the older has ten bytes.
    let (first, end, end_column) = match data.len() {
        10 => (short(0)?, short(2)?, short(6)?),
        14 | 16 => (u32_at(data, 0)?, u32_at(data, 4)?, short(10)?),
        // calamine rejects any other length.
        _ => return Ok(()),
    };
    let is_possible = first <= end && end <= ROWS && end_column <= COLUMNS;
    ensure(end == 0 || is_possible, damaged)
}

/// The row and the last column (both from 0) of the cells of a record, which begins with the
/// row and the first column.
fn place(record: &[u8], more_cells: u32) -> Result<(u64, u64), Message> {
    let last = u32::from(u16_at(record, 2)?) + more_cells;
    ensure(last < COLUMNS, damaged)?;
    Ok((u64::from(u16_at(record, 0)?), u64::from(last)))
}

/// The records of a stream: their kind and their data. Ends at the first
/// bytes that are not a record; calamine gives up at the same place.
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

fn damaged() -> Message {
    error::corrupt("a sheet in it contradicts itself")
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

    fn cells(records: &[u8]) -> Result<u64, Message> {
        let mut size = Size::default();
        size.add_sheet(records, &SharedStrings::default())?;
        Ok(size.cells)
    }

    #[test]
    fn a_sheet_has_the_cells_up_to_its_last_row_and_column() {
        let stream = [
            record(kind::BOF, b""),
            cell(1, 2),
            cell(3, 5),
            record(kind::EOF, b""),
        ];
        assert_eq!(cells(&stream.concat()).unwrap(), 24);
        assert_eq!(cells(b"").unwrap(), 0);
    }

    #[test]
    fn the_text_of_a_chart_is_not_read_as_cells() {
        let (begin, end) = (record(kind::BOF, b""), record(kind::EOF, b""));
        let stream = [&begin[..], &begin, &cell(9, 900), &end, &cell(0, 0), &end].concat();
        assert_eq!(cells(&stream).unwrap(), 1);
    }

    #[test]
    fn a_column_or_a_row_that_no_sheet_has_is_damage() {
        assert!(cells(&cell(0, 256)).is_err());
        let mut dimensions = vec![0; 14];
        dimensions[7] = 1;
        assert!(cells(&record(kind::DIMENSIONS, &dimensions)).is_err());
        assert!(cells(&record(kind::DIMENSIONS, &[0; 14])).is_ok());
        let mut dimensions = [0; 14];
        dimensions[4] = 1;
        dimensions[11] = 2;
        assert!(cells(&record(kind::DIMENSIONS, &dimensions)).is_err());
    }

    #[test]
    fn a_shared_text_is_counted_once_for_each_cell_that_uses_it() {
        let text = [&[0; 8][..], b"\xFF\xFF\0", &[b'a'; 65_535]].concat();
        let strings = SharedStrings::read(&[&text]).unwrap();
        let label = record(kind::LABEL_SST, &[0; 10]);
        let weigh = |count| Size::default().add_sheet(&label.repeat(count), &strings);
        assert!(weigh(2_500).is_ok());
        assert!(weigh(3_000).is_err());
    }
}
