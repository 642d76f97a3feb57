//! Rows to a workbook of text.
//!
//! A spreadsheet program that opens a CSV file takes `+447911123456` for a number
//! and `=1+1` for a formula. In a workbook every cell says what it is, and here
//! it says text.

use std::io::{self, Write};

use rust_xlsxwriter::{Format, Workbook, Worksheet, XlsxError};
use thiserror::Error;

use crate::contain;

/// The rows of a sheet, the header's included (ECMA-376 as Excel limits it).
pub const MAX_ROWS: u32 = 1_048_576;

/// The columns of a sheet.
pub const MAX_COLUMNS: u16 = 16_384;

/// The length of a cell's text, in units of UTF-16.
pub const MAX_CELL_UNITS: usize = 32_767;

const SHEET_NAME: &str = "rejects";

/// How wide a column is made, in digits of the default font.
const NARROWEST: u16 = 8;
const WIDEST: u16 = 40;

/// Why there is no workbook.
#[derive(Debug, Error)]
pub enum WorkbookError<E> {
    /// There are more rows than a sheet can hold: a CSV file can.
    #[error("there are more than {MAX_ROWS} rows, which is all that a sheet can hold")]
    TooManyRows,
    /// A row has more cells than a sheet has columns.
    #[error("row {row} has more than {MAX_COLUMNS} cells, which is all that a sheet can hold")]
    TooManyColumns {
        /// The row, from 1, which is the header.
        row: u32,
    },
    /// A cell's text is longer than a cell can be. It would have to be cut.
    #[error(
        "the cell in row {row}, column {column} is longer than {MAX_CELL_UNITS} characters, which is all that a cell can hold"
    )]
    CellTooLong {
        /// The row, from 1, which is the header.
        row: u32,
        /// The column, from 1.
        column: u16,
    },
    /// The rows cannot be had.
    #[error(transparent)]
    Rows(E),
    /// The workbook cannot be written, or not to the temporary folder, where its
    /// rows wait until they are all there.
    #[error("{0}")]
    Write(io::Error),
}

/// Writes rows, of which the first is the header, as a workbook (.xlsx) with one
/// sheet named `rejects`. Every cell is text (also `007`, `=1+1`, `1e5`): never a
/// formula, a number, a link or a date. It stays text when it is edited.
///
/// The rows are kept in a temporary file without a name, so that any number of
/// them takes little memory. Nothing is written to `out` before the last row has
/// been taken. Empty text leaves its cell empty, which reads back as the same.
pub fn write_workbook<E>(
    rows: impl Iterator<Item = Result<Vec<String>, E>>,
    out: impl Write + Send,
) -> Result<(), WorkbookError<E>> {
    let mut workbook = Workbook::new();
    let sheet = contained(|| {
        let sheet = workbook.add_worksheet_with_constant_memory()?;
        sheet.set_name(SHEET_NAME)?.set_freeze_panes(1, 0)
    })?;
    let mut columns = Columns::default();
    for (index, row) in rows.enumerate() {
        let row = row.map_err(WorkbookError::Rows)?;
        let index = u32::try_from(index)
            .ok()
            .filter(|index| *index < MAX_ROWS)
            .ok_or(WorkbookError::TooManyRows)?;
        check_row(index, &row)?;
        columns.take(index, &row);
        contained(|| write_row(sheet, index, &row))?;
    }
    contained(|| columns.lay_out(sheet))?;
    contained(|| workbook.save_to_writer(out))
}

/// Makes sure that the row fits a sheet as it is.
fn check_row<E>(index: u32, row: &[String]) -> Result<(), WorkbookError<E>> {
    let number = index + 1;
    if row.len() > usize::from(MAX_COLUMNS) {
        return Err(WorkbookError::TooManyColumns { row: number });
    }
    for (column, text) in (1..).zip(row) {
        // No text has more units than bytes, so most need no counting.
        if text.len() > MAX_CELL_UNITS && text.encode_utf16().count() > MAX_CELL_UNITS {
            return Err(WorkbookError::CellTooLong {
                row: number,
                column,
            });
        }
    }
    Ok(())
}

fn write_row(sheet: &mut Worksheet, index: u32, row: &[String]) -> Result<(), XlsxError> {
    let format = match index {
        0 => text_format().set_bold(),
        _ => text_format(),
    };
    for (column, text) in (0..).zip(row) {
        if !text.is_empty() {
            sheet.write_string_with_format(index, column, text, &format)?;
        }
    }
    Ok(())
}

/// The number format that makes a cell text, whatever is typed into it.
fn text_format() -> Format {
    Format::new().set_num_format("@")
}

#[derive(Debug, Default)]
struct Columns {
    widths: Vec<u16>,
}

impl Columns {
    /// The rows by which the widths are chosen: a look at a million would take
    /// longer than it is worth.
    const ROWS: u32 = 1000;

    fn take(&mut self, index: u32, row: &[String]) {
        if index >= Self::ROWS {
            return;
        }
        if self.widths.len() < row.len() {
            self.widths.resize(row.len(), NARROWEST);
        }
        for (width, text) in self.widths.iter_mut().zip(row) {
            let chars = text.chars().take(WIDEST.into()).count();
            *width = u16::try_from(chars).unwrap_or(WIDEST).max(*width);
        }
    }

    /// Sets widths, and makes empty cells text too, for when they are filled in.
    fn lay_out(&self, sheet: &mut Worksheet) -> Result<(), XlsxError> {
        let format = text_format();
        for (column, width) in (0..).zip(&self.widths) {
            sheet.set_column_width(column, f64::from(*width) + 1.0)?;
            sheet.set_column_format(column, &format)?;
        }
        Ok(())
    }
}

/// What `work` returns. It panics when the temporary file cannot be written.
fn contained<T, E>(work: impl FnOnce() -> Result<T, XlsxError>) -> Result<T, WorkbookError<E>> {
    match contain::run(work) {
        Some(Ok(value)) => Ok(value),
        Some(Err(XlsxError::IoError(error))) => Err(WorkbookError::Write(error)),
        Some(Err(error)) => Err(WorkbookError::Write(io::Error::other(error.to_string()))),
        None => Err(WorkbookError::Write(io::Error::other(
            "the temporary folder cannot be written; its disk may be full",
        ))),
    }
}
