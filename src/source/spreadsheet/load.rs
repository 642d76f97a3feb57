//! A workbook's bytes to the cells of one sheet.

use std::fmt::Display;
use std::io::Cursor;

use calamine::{
    Cell, Data, DataRef, Ods, OdsError, Range, Reader, Sheet, SheetType, SheetVisible, Xls,
    XlsError, Xlsb, XlsbError, Xlsx, XlsxError,
};

use super::archive::Archive;
use super::cell::{borrowed, push_text};
use super::error::Refusal;
use super::grid::{Grid, GridBuilder};
use super::guarded::{Parts, guarded};
use super::kind::{Kind, kind_of};
use super::{biff, opendocument};

/// One sheet, and what the others are called.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) name: String,
    pub(super) names: Vec<String>,
    pub(super) grid: Grid,
}

/// Reads the sheet `wanted`, or the first.
pub(super) fn load(bytes: Vec<u8>, wanted: Option<&str>) -> Result<Loaded, Refusal> {
    match kind_of(&bytes)? {
        Kind::Xlsx => load_xlsx(&bytes, wanted),
        Kind::Xlsb => load_xlsb(&bytes, wanted),
        Kind::Xls => {
            biff::check(&bytes)?;
            let book = Xls::new(Cursor::new(bytes)).map_err(xls_refusal)?;
            load_range(book, wanted, xls_refusal)
        }
        Kind::Ods => {
            opendocument::check(&mut Archive::open(&bytes)?)?;
            let book = Ods::new(Cursor::new(bytes)).map_err(ods_refusal)?;
            load_range(book, wanted, ods_refusal)
        }
    }
}

fn load_xlsx(bytes: &[u8], wanted: Option<&str>) -> Result<Loaded, Refusal> {
    let (file, guard) = guarded(bytes, Parts::Xml)?;
    let mut book = guard.judge(Xlsx::new(file).map_err(xlsx_refusal))?;
    guard.start_reading();
    let (name, names) = choose(book.sheets_metadata(), wanted)?;
    let cells = book.worksheet_cells_reader(&name).map_err(xlsx_refusal);
    let mut cells = guard.judge(cells)?;
    let grid = guard.judge(collect(|| cells.next_cell().map_err(xlsx_refusal)))?;
    Ok(Loaded { name, names, grid })
}

fn load_xlsb(bytes: &[u8], wanted: Option<&str>) -> Result<Loaded, Refusal> {
    let (file, guard) = guarded(bytes, Parts::Records)?;
    let mut book = guard.judge(Xlsb::new(file).map_err(xlsb_refusal))?;
    guard.start_reading();
    let (name, names) = choose(book.sheets_metadata(), wanted)?;
    let cells = book.worksheet_cells_reader(&name).map_err(xlsb_refusal);
    let mut cells = guard.judge(cells)?;
    let grid = guard.judge(collect(|| cells.next_cell().map_err(xlsb_refusal)))?;
    Ok(Loaded { name, names, grid })
}

/// The cells that `next` gives. They are taken one by one rather than as a
/// rectangle: a stray cell in a far corner would make that one of all the memory.
fn collect<'a>(
    mut next: impl FnMut() -> Result<Option<Cell<DataRef<'a>>>, Refusal>,
) -> Result<Grid, Refusal> {
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
    refusal: impl Fn(R::Error) -> Refusal,
) -> Result<Loaded, Refusal> {
    let (name, names) = choose(book.sheets_metadata(), wanted)?;
    let range = book.worksheet_range(&name).map_err(refusal)?;
    drop(book);
    let grid = collect_range(&range)?;
    Ok(Loaded { name, names, grid })
}

fn collect_range(range: &Range<Data>) -> Result<Grid, Refusal> {
    let mut grid = GridBuilder::default();
    let (top, left) = range.start().unwrap_or_default();
    for (row, column, cell) in range.used_cells() {
        let (Ok(row), Ok(column)) = (u32::try_from(row), u32::try_from(column)) else {
            return Err(Refusal::corrupt("a cell lies outside the sheet"));
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
fn choose(sheets: &[Sheet], wanted: Option<&str>) -> Result<(String, Vec<String>), Refusal> {
    let sheets: Vec<&Sheet> = sheets
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
    match chosen {
        Some(name) => Ok((name.clone(), names.clone())),
        None if names.is_empty() => Err(Refusal::NoSheet),
        None => Err(Refusal::NoSuchSheet(names)),
    }
}

fn is_same_name(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

fn xlsx_refusal(error: XlsxError) -> Refusal {
    refusal(matches!(error, XlsxError::Password), error)
}

fn xlsb_refusal(error: XlsbError) -> Refusal {
    refusal(matches!(error, XlsbError::Password), error)
}

fn xls_refusal(error: XlsError) -> Refusal {
    refusal(matches!(error, XlsError::Password), error)
}

fn ods_refusal(error: OdsError) -> Refusal {
    refusal(matches!(error, OdsError::Password), error)
}

fn refusal(is_password: bool, error: impl Display) -> Refusal {
    if is_password {
        Refusal::Password
    } else {
        Refusal::corrupt(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(name: &str, typ: SheetType, visible: SheetVisible) -> Sheet {
        Sheet {
            name: name.into(),
            typ,
            visible,
        }
    }

    fn chosen(sheets: &[Sheet], wanted: Option<&str>) -> Result<String, Refusal> {
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
        assert!(matches!(chosen(&sheets[..1], None), Err(Refusal::NoSheet)));
        let Err(Refusal::NoSuchSheet(names)) = chosen(&sheets, Some("Chart")) else {
            panic!("a chart is no worksheet");
        };
        assert_eq!(names, ["Codes", "Leads"]);
    }
}
