//! A workbook's bytes to the cells of one sheet.

use std::io::Cursor;

use calamine::{
    Cell, Data, DataRef, Ods, OdsError, Range, Reader, SheetType, SheetVisible, Xls, XlsError,
    Xlsb, XlsbError, Xlsx, XlsxError,
};

use super::archive::Archive;
use super::cell::{borrowed, push_text};
use super::error::WorkbookError;
use super::grid::{Grid, GridBuilder};
use super::guarded::{Parts, guarded};
use super::kind::{Kind, kind_of};
use super::{Sheet, biff, compound, opendocument};

/// Reads the sheet `wanted`, or the first.
pub(super) fn load(bytes: Vec<u8>, wanted: Option<&str>) -> Result<Sheet, WorkbookError> {
    match kind_of(&bytes)? {
        Kind::Xlsx => load_xlsx(&bytes, wanted),
        Kind::Xlsb => load_xlsb(&bytes, wanted),
        Kind::Xls => {
            let records = compound::workbook_stream(&bytes)?;
            drop(bytes);
            biff::check(&records)?;
            let file = compound::with_stream(&records).map_err(WorkbookError::corrupt)?;
            drop(records);
            load_range(Xls::new(file)?, wanted)
        }
        Kind::Ods => {
            opendocument::check(&mut Archive::open(&bytes)?)?;
            load_range(Ods::new(Cursor::new(bytes))?, wanted)
        }
    }
}

fn load_xlsx(bytes: &[u8], wanted: Option<&str>) -> Result<Sheet, WorkbookError> {
    let (file, guard) = guarded(bytes, Parts::Xml)?;
    let mut book = guard.judge(Xlsx::new(file))?;
    guard.start_reading();
    let (name, names) = choose(book.sheets_metadata(), wanted)?;
    let mut cells = guard.judge(book.worksheet_cells_reader(&name))?;
    let grid = guard.judge(collect(|| Ok(cells.next_cell()?)))?;
    Ok(Sheet { name, names, grid })
}

fn load_xlsb(bytes: &[u8], wanted: Option<&str>) -> Result<Sheet, WorkbookError> {
    let (file, guard) = guarded(bytes, Parts::Records)?;
    let mut book = guard.judge(Xlsb::new(file))?;
    guard.start_reading();
    let (name, names) = choose(book.sheets_metadata(), wanted)?;
    let mut cells = guard.judge(book.worksheet_cells_reader(&name))?;
    let grid = guard.judge(collect(|| Ok(cells.next_cell()?)))?;
    Ok(Sheet { name, names, grid })
}

/// The cells that `next` returns. They are taken one by one rather than as a
/// rectangle, which a stray cell in a far corner would make as large as the sheet.
fn collect<'a>(
    mut next: impl FnMut() -> Result<Option<Cell<DataRef<'a>>>, WorkbookError>,
) -> Result<Grid, WorkbookError> {
    let mut grid = GridBuilder::default();
    while let Some(cell) = next()? {
        let (row, column) = cell.get_position();
        grid.push(row, column, |out| push_text(out, cell.get_value()))?;
    }
    Ok(grid.finish())
}

/// The sheet of a workbook of which calamine has decoded all sheets already.
fn load_range<R: Reader<Cursor<Vec<u8>>>>(
    mut book: R,
    wanted: Option<&str>,
) -> Result<Sheet, WorkbookError>
where
    WorkbookError: From<R::Error>,
{
    let (name, names) = choose(book.sheets_metadata(), wanted)?;
    let range = book.worksheet_range(&name)?;
    drop(book);
    let grid = collect_range(&range)?;
    Ok(Sheet { name, names, grid })
}

fn collect_range(range: &Range<Data>) -> Result<Grid, WorkbookError> {
    let mut grid = GridBuilder::default();
    let (top, left) = range.start().unwrap_or_default();
    for (row, column, cell) in range.used_cells() {
        let (Ok(row), Ok(column)) = (u32::try_from(row), u32::try_from(column)) else {
            return Err(WorkbookError::corrupt("a cell lies outside the sheet"));
        };
        grid.push(
            top.saturating_add(row),
            left.saturating_add(column),
            |out| {
                push_text(out, &borrowed(cell));
            },
        )?;
    }
    Ok(grid.finish())
}

/// Which sheet to read, and the names of all that could be.
fn choose(
    sheets: &[calamine::Sheet],
    wanted: Option<&str>,
) -> Result<(String, Vec<String>), WorkbookError> {
    let sheets: Vec<_> = sheets
        .iter()
        .filter(|sheet| sheet.typ == SheetType::WorkSheet)
        .collect();
    let names: Vec<String> = sheets.iter().map(|sheet| sheet.name.clone()).collect();
    let chosen = match wanted {
        Some(wanted) => names
            .iter()
            .find(|name| *name == wanted)
            .or_else(|| names.iter().find(|name| is_same_name(name, wanted))),
        None => sheets
            .iter()
            .find(|sheet| sheet.visible == SheetVisible::Visible)
            .map(|sheet| &sheet.name)
            .or(names.first()),
    };
    match (chosen, wanted) {
        (Some(name), _) => Ok((name.clone(), names.clone())),
        (None, Some(wanted)) if !names.is_empty() => Err(WorkbookError::NoSuchSheet {
            wanted: wanted.to_owned(),
            names,
        }),
        (None, _) => Err(WorkbookError::NoSheet),
    }
}

fn is_same_name(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

macro_rules! from_errors_of_calamine {
    ($($error:ident),*) => {$(
        impl From<$error> for WorkbookError {
            fn from(error: $error) -> WorkbookError {
                match error {
                    $error::Password => WorkbookError::Password,
                    error => WorkbookError::corrupt(error),
                }
            }
        }
    )*};
}
from_errors_of_calamine!(XlsxError, XlsbError, XlsError, OdsError);

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(name: &str, typ: SheetType, visible: SheetVisible) -> calamine::Sheet {
        calamine::Sheet {
            name: name.into(),
            typ,
            visible,
        }
    }

    fn chosen(sheets: &[calamine::Sheet], wanted: Option<&str>) -> Result<String, WorkbookError> {
        choose(sheets, wanted).map(|(name, _)| name)
    }

    #[test]
    fn the_first_sheet_is_the_first_worksheet_that_is_shown() {
        let sheets = [
            sheet("Chart", SheetType::ChartSheet, SheetVisible::Visible),
            sheet("Codes", SheetType::WorkSheet, SheetVisible::Hidden),
            sheet("Leads", SheetType::WorkSheet, SheetVisible::Visible),
        ];
        assert_eq!(chosen(&sheets, None).unwrap(), "Leads");
        assert_eq!(chosen(&sheets[..2], None).unwrap(), "Codes");
        assert_eq!(chosen(&sheets, Some("codes")).unwrap(), "Codes");
        assert!(matches!(
            chosen(&sheets[..1], None),
            Err(WorkbookError::NoSheet)
        ));
        let Err(WorkbookError::NoSuchSheet { names, .. }) = chosen(&sheets, Some("Chart")) else {
            panic!("a chart is no worksheet");
        };
        assert_eq!(names, ["Codes", "Leads"]);
    }
}
