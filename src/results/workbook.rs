//! Writes rows as a workbook of text.
//!
//! A spreadsheet program that opens a CSV file takes `+447911123456` for a number and
//! `=1+1` for a formula. In a workbook every cell has a type, and here every cell is text.

use std::io::{self, Write};

use rust_xlsxwriter::utility::check_sheet_name;
use rust_xlsxwriter::{Format, Workbook, Worksheet, XlsxError};
use thiserror::Error;

use crate::contain;
use crate::message::Text;

/// The rows of a sheet, including the header (ECMA-376 with the limits of Excel).
pub const MAX_ROWS: u32 = 1_048_576;

pub const MAX_COLUMNS: u16 = 16_384;

/// The length of the text of a cell, in UTF-16 units.
pub const MAX_CELL_UNITS: usize = 32_767;

/// The length of the name of a sheet, in UTF-16 units.
const MAX_NAME_UNITS: usize = 31;

/// The limits of the width of a column, in digits of the default font.
const NARROWEST: u16 = 8;
const WIDEST: u16 = 40;

/// Why there is no workbook.
#[derive(Debug, Error)]
pub enum WorkbookError {
    /// A CSV file can hold the rows.
    #[error("{0}")]
    DoesNotFit(Text),
    /// The rows cannot be read or the workbook cannot be written. Or the temporary
    /// folder, where the rows wait until all are there, cannot be written to.
    #[error(transparent)]
    Io(#[from] io::Error),
}

#[derive(Debug, Clone, Copy)]
pub struct SheetLayout<'a> {
    pub name: &'a str,
    /// Whether the first row is bold and stays in view.
    pub has_header: bool,
}

/// A row of a sheet.
pub(super) struct SheetRow {
    pub(super) cells: Vec<String>,
    pub(super) is_hidden: bool,
}

/// Writes rows as a workbook (.xlsx) with one sheet. Every cell is text (also `007`, `=1+1`, `1e5`), never a
/// formula, a number, a link or a date. It stays text when it is edited.
///
/// The rows are kept in an unnamed temporary file, so any number of them takes
/// little memory. Nothing is written to `out` before the last row has been
/// added. Empty text leaves its cell empty, and reads back as empty text.
pub fn write_workbook<E: From<WorkbookError>>(
    layout: &SheetLayout<'_>,
    rows: impl Iterator<Item = Result<Vec<String>, E>>,
    out: impl Write + Send,
) -> Result<(), E> {
    let is_hidden = false;
    let rows = rows.map(|cells| {
        Ok(SheetRow {
            cells: cells?,
            is_hidden,
        })
    });
    write_sheet(layout, rows, out)
}

/// Writes rows as [`write_workbook`] does; some may be hidden.
pub(super) fn write_sheet<E: From<WorkbookError>>(
    layout: &SheetLayout<'_>,
    rows: impl Iterator<Item = Result<SheetRow, E>>,
    out: impl Write + Send,
) -> Result<(), E> {
    let header_rows = u32::from(layout.has_header);
    let mut workbook = Workbook::new();
    let sheet = contained(|| {
        let sheet = workbook.add_worksheet_with_constant_memory()?;
        sheet
            .set_name(layout.name)?
            .set_freeze_panes(header_rows, 0)
    })?;
    let mut columns = Columns::default();
    for (index, row) in rows.enumerate() {
        let SheetRow {
            cells: row,
            is_hidden,
        } = row?;
        let index = u32::try_from(index).unwrap_or(MAX_ROWS);
        check_row(index, &row)?;
        columns.take(index, &row);
        let is_header = index < header_rows;
        contained(|| write_row(sheet, index, &row, is_header))?;
        if is_hidden {
            contained(|| sheet.set_row_hidden(index).map(drop))?;
        }
    }
    contained(|| columns.lay_out(sheet))?;
    Ok(contained(|| workbook.save_to_writer(out))?)
}

/// The nearest name that a sheet can have. Other programs than Excel allow more names.
pub(super) fn sheet_name(name: &str) -> String {
    if check_sheet_name(name).is_ok() {
        return name.to_owned();
    }
    let plain = name.replace(['*', '?', ':', '[', ']', '\\', '/', '\''], "_");
    let mut short = String::new();
    for c in plain.chars() {
        if short.encode_utf16().count() + c.len_utf16() > MAX_NAME_UNITS {
            break;
        }
        short.push(c);
    }
    short
}

/// Makes sure that the row fits a sheet unchanged.
fn check_row(index: u32, row: &[String]) -> Result<(), WorkbookError> {
    // A text never has more UTF-16 units than bytes, so most texts need no counting.
    let is_too_long =
        |text: &String| text.len() > MAX_CELL_UNITS && text.encode_utf16().count() > MAX_CELL_UNITS;
    let why = if index >= MAX_ROWS {
        text!(
            "there are more than {most} rows",
            most = MAX_ROWS.to_string()
        )
    } else if row.len() > usize::from(MAX_COLUMNS) {
        text!(
            "row {number} has more than {most} cells",
            number = (index + 1).to_string(),
            most = MAX_COLUMNS.to_string()
        )
    } else if let Some(column) = row.iter().position(is_too_long) {
        text!(
            "the cell in row {number}, column {column} is longer than {most} characters",
            number = (index + 1).to_string(),
            column = (column + 1).to_string(),
            most = MAX_CELL_UNITS.to_string()
        )
    } else {
        return Ok(());
    };
    let what = text!("{why}, which is all that a workbook can hold", why);
    Err(WorkbookError::DoesNotFit(what))
}

fn write_row(
    sheet: &mut Worksheet,
    index: u32,
    row: &[String],
    is_header: bool,
) -> Result<(), XlsxError> {
    let format = match is_header {
        true => text_format().set_bold(),
        false => text_format(),
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
    /// The column widths are chosen from this many rows: looking at a million would take too long.
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

    /// Sets the column widths. Makes empty cells text too, in case they are filled in later.
    fn lay_out(&self, sheet: &mut Worksheet) -> Result<(), XlsxError> {
        let format = text_format();
        for (column, width) in (0..).zip(&self.widths) {
            sheet.set_column_width(column, f64::from(*width) + 1.0)?;
            sheet.set_column_format(column, &format)?;
        }
        Ok(())
    }
}

/// Runs `work`. rust_xlsxwriter panics if the temporary file cannot be
/// written; that becomes an error.
fn contained<T>(work: impl FnOnce() -> Result<T, XlsxError>) -> Result<T, WorkbookError> {
    let error = match contain::run(work) {
        Some(Ok(value)) => return Ok(value),
        Some(Err(XlsxError::IoError(error))) => error,
        Some(Err(error)) => io::Error::other(error.to_string()),
        None => io::Error::other("the temporary folder cannot be written; its disk may be full"),
    };
    Err(error.into())
}
