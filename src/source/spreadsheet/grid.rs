//! The cells of a sheet in memory: one buffer of text, and the position of each cell in it.

use super::error::{self, ensure};
use super::hidden_rows::HiddenRows;
use crate::message::Message;

/// The last row and column of an Excel sheet, from 0. A cell beyond them means a damaged file.
const LAST_ROW: u32 = 1_048_575;
const LAST_COLUMN: u32 = 16_383;

/// The most cells with content: a full sheet of 64 columns, which takes 1 GiB.
const MAX_CELLS: usize = 1 << 26;

/// The most bytes of text in all cells together. Any number of cells may
/// share the same text, so the size of the file does not bound it.
const MAX_TEXT_BYTES: usize = 1 << 30;

#[derive(Debug, Default)]
pub(super) struct Grid {
    text: String,
    cells: Vec<Cell>,
    /// Where each row begins in `cells`, then where the last row ends.
    /// Empty until all cells are added.
    row_starts: Vec<usize>,
    /// One for each row.
    is_hidden: Vec<bool>,
    /// The rows (from 0) that had nothing but white space in their cells. They are taken out.
    pub(super) blank_rows: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    row: u32,
    column: u32,
    start: u32,
    len: u32,
}

impl Cell {
    fn text(self, text: &str) -> &str {
        &text[self.start as usize..][..self.len as usize]
    }
}

impl Grid {
    /// Adds the cell in `row` and `column` (both from 0). Its text is what
    /// `write` appends to the buffer. A cell without text is left out.
    pub(super) fn push(
        &mut self,
        row: u32,
        column: u32,
        write: impl FnOnce(&mut String),
    ) -> Result<(), Message> {
        let start = self.text.len();
        write(&mut self.text);
        let len = self.text.len() - start;
        if len == 0 {
            return Ok(());
        }
        let is_inside = row <= LAST_ROW && column <= LAST_COLUMN;
        ensure(is_inside, || {
            error::corrupt("a cell lies outside the sheet")
        })?;
        let has_space = self.cells.len() < MAX_CELLS;
        ensure(has_space, || error::too_many_cells(MAX_CELLS as u64))?;
        ensure(self.text.len() <= MAX_TEXT_BYTES, || {
            error::too_many_bytes("its cells hold", MAX_TEXT_BYTES as u64, " of text")
        })?;
        // That many bytes can be counted in 32 bits.
        let (start, len) = (start as u32, len as u32);
        self.cells.push(Cell {
            row,
            column,
            start,
            len,
        });
        Ok(())
    }

    /// Finishes the sheet. A program may have written the cells in any order, and a cell
    /// twice: then the last one counts, which is the one that spreadsheet programs show.
    pub(super) fn finish(mut self, hidden: &HiddenRows) -> Grid {
        let cells = &mut self.cells;
        let place = |cell: &Cell| (cell.row, cell.column);
        // Reversed, because the first of two in the same place is kept.
        cells.reverse();
        cells.sort_by_key(place);
        cells.dedup_by_key(|cell| place(cell));
        let is_blank = |cell: &Cell| cell.text(&self.text).trim().is_empty();
        let rows = cells.chunk_by(|a, b| a.row == b.row);
        let blank = rows.filter(|row| row.iter().all(is_blank));
        self.blank_rows = blank.map(|row| row[0].row).collect();
        cells.retain(|cell| self.blank_rows.binary_search(&cell.row).is_err());
        self.row_starts = (0..cells.len())
            .filter(|&at| at == 0 || cells[at - 1].row != cells[at].row)
            .collect();
        let starts = &self.row_starts;
        let index_of = |row: u32| starts.partition_point(|&at| cells[at].row < row);
        self.is_hidden = vec![hidden.by_default; starts.len()];
        for rows in &hidden.others {
            let rows = index_of(rows.start)..index_of(rows.end);
            self.is_hidden[rows].fill(!hidden.by_default);
        }
        self.row_starts.push(cells.len());
        self
    }

    pub(super) fn len(&self) -> usize {
        self.row_starts.len().saturating_sub(1)
    }

    pub(super) fn row(&self, index: usize) -> SheetRow<'_> {
        SheetRow {
            grid: self,
            cells: &self.cells[self.row_starts[index]..self.row_starts[index + 1]],
            is_hidden: self.is_hidden[index],
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct SheetRow<'a> {
    grid: &'a Grid,
    /// Never empty: a row without a cell is not kept.
    cells: &'a [Cell],
    /// Whether a filter, a person or a collapsed group has hidden it.
    pub(in crate::source) is_hidden: bool,
}

impl<'a> SheetRow<'a> {
    /// The number of the row as the spreadsheet shows it, from 1.
    pub fn number(&self) -> u64 {
        self.cells.first().map_or(0, |cell| u64::from(cell.row) + 1)
    }

    fn filled(&self) -> usize {
        self.cells.last().map_or(0, |cell| cell.column as usize + 1)
    }

    /// The cells as text, from column A to the last with content, at least
    /// `fewest`. Empty cells are empty text.
    pub fn cells(&self, fewest: usize) -> impl Iterator<Item = &'a str> {
        let row = *self;
        let mut rest = row.cells.iter().peekable();
        (0..row.filled().max(fewest)).map(move |place| {
            rest.next_if(|cell| cell.column as usize == place)
                .map_or("", |cell| cell.text(&row.grid.text))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rows = Vec<(u64, Vec<String>)>;

    fn rows(cells: &[(u32, u32, &str)]) -> Rows {
        let mut builder = Grid::default();
        for (row, column, text) in cells {
            builder
                .push(*row, *column, |out| out.push_str(text))
                .unwrap();
        }
        let grid = builder.finish(&HiddenRows::default());
        (0..grid.len())
            .map(|index| grid.row(index))
            .map(|row| {
                let cells = row.cells(grid.row(0).filled());
                (row.number(), cells.map(str::to_owned).collect())
            })
            .collect()
    }

    fn row(number: u64, cells: &[&str]) -> (u64, Vec<String>) {
        (number, cells.iter().map(|&c| c.to_owned()).collect())
    }

    #[test]
    fn rows_are_as_wide_as_the_header_or_as_what_they_hold() {
        assert_eq!(
            rows(&[
                (0, 0, "a"),
                (0, 2, "c"),
                (1, 1, "x"),
                (3, 0, "y"),
                (3, 4, "z")
            ]),
            [
                row(1, &["a", "", "c"]),
                row(2, &["", "x", ""]),
                row(4, &["y", "", "", "", "z"])
            ]
        );
    }

    #[test]
    fn a_table_in_the_middle_keeps_its_row_and_column_numbers() {
        assert_eq!(
            rows(&[(4, 2, "a"), (4, 3, "b"), (5, 1, "x"), (9, 3, "")]),
            [row(5, &["", "", "a", "b"]), row(6, &["", "x", "", ""])]
        );
        assert_eq!(rows(&[]), Rows::new());
    }

    #[test]
    fn a_row_of_white_space_is_taken_out_and_remembered() {
        let mut grid = Grid::default();
        for (row, column, text) in [
            (0, 0, "a"),
            (1, 0, " "),
            (1, 3, "\u{a0}\t"),
            (2, 1, "x"),
            (2, 0, " "),
        ] {
            grid.push(row, column, |out| out.push_str(text)).unwrap();
        }
        let grid = grid.finish(&HiddenRows::default());
        assert_eq!(grid.blank_rows, [1]);
        let numbers: Vec<u64> = (0..grid.len()).map(|at| grid.row(at).number()).collect();
        assert_eq!(numbers, [1, 3]);
    }

    #[test]
    fn cells_are_ordered_as_in_the_sheet_and_the_last_of_two_wins() {
        assert_eq!(
            rows(&[(1, 0, "x"), (0, 1, "b"), (0, 0, "old"), (0, 0, "new")]),
            [row(1, &["new", "b"]), row(2, &["x", ""])]
        );
    }

    proptest::proptest! {
        #[test]
        fn a_row_is_hidden_if_the_sheet_says_so(
            by_default: bool,
            said in proptest::collection::vec((0..20u32, 0..4u32, proptest::bool::ANY), 0..12),
            filled in proptest::collection::btree_set(0..24u32, 0..24),
        ) {
            let mut hidden = HiddenRows { by_default, others: Vec::new() };
            let mut plain = [by_default; 24];
            for (first, count, is_hidden) in said {
                // Of two that contradict each other, the one that is not as by default counts.
                hidden.add_rows(first..first + count, is_hidden);
                if is_hidden != by_default {
                    plain[first as usize..(first + count) as usize].fill(is_hidden);
                }
            }
            let mut grid = Grid::default();
            for row in &filled {
                grid.push(*row, 0, |out| out.push('x')).unwrap();
            }
            let grid = grid.finish(&hidden);
            for (index, row) in (0..).zip(filled) {
                proptest::prop_assert_eq!(grid.row(index).is_hidden, plain[row as usize]);
            }
        }
    }

    #[test]
    fn a_cell_outside_any_sheet_is_a_sign_of_damage() {
        let mut builder = Grid::default();
        let outside = builder.push(LAST_ROW + 1, 0, |out| out.push('x'));
        assert!(outside.is_err());
    }
}
