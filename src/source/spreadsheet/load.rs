//! Reads the cells of one sheet from the bytes of a workbook.

use std::fmt::Display;
use std::io::Cursor;

use calamine::{Ods, OdsError, Reader, SheetType, SheetVisible, Xls, Xlsx};

use super::archive::{Archive, MAX_WORKBOOK_BYTES};
use super::cell::push_text;
use super::error;
use super::grid::Grid;
use super::kind::{OLE_MAGIC, is_opendocument};
use super::{Sheet, biff, compound, opendocument, weight};
use crate::message::Message;
use crate::text::{listed, nearest, shown_name};

pub(super) fn load(bytes: Vec<u8>, wanted: Option<&str>) -> Result<Sheet, Message> {
    if bytes.len() as u64 > MAX_WORKBOOK_BYTES {
        let limit = MAX_WORKBOOK_BYTES >> 20;
        return Err(error::too_large(format_args!(
            "it has more than {limit} MiB"
        )));
    }
    if bytes.starts_with(OLE_MAGIC) {
        let records = compound::workbook_stream(&bytes)?;
        drop(bytes);
        biff::check(&records)?;
        let file = compound::with_stream(&records).map_err(error::corrupt)?;
        drop(records);
        return load_range(Xls::new(file).map_err(error::corrupt)?, wanted);
    }
    let mut archive = Archive::open(&bytes)?;
    if is_opendocument(&mut archive)? {
        opendocument::check(&mut archive)?;
        let book = Ods::new(Cursor::new(bytes)).map_err(|error| match error {
            OdsError::Password => error::password(),
            error => error::corrupt(error),
        });
        return load_range(book?, wanted);
    }
    weight::check(&mut archive)?;
    load_xlsx(&bytes, wanted)
}

/// The cells are taken one by one rather than as a rectangle, which a stray cell in a far
/// corner would make as large as the sheet.
fn load_xlsx(bytes: &[u8], wanted: Option<&str>) -> Result<Sheet, Message> {
    let mut book = Xlsx::new(Cursor::new(bytes)).map_err(error::corrupt)?;
    let (name, names) = choose(book.sheets_metadata(), wanted)?;
    let cells = book.worksheet_cells_reader(&name);
    let mut cells = cells.map_err(error::corrupt)?;
    let mut grid = Grid::default();
    while let Some(cell) = cells.next_cell().map_err(error::corrupt)? {
        let (row, column) = cell.get_position();
        grid.push(row, column, |out| push_text(out, cell.get_value()))?;
    }
    let grid = grid.finish();
    Ok(Sheet { name, names, grid })
}

/// Reads one sheet of a workbook whose sheets calamine has decoded already.
fn load_range<R: Reader<Cursor<Vec<u8>>>>(
    mut book: R,
    wanted: Option<&str>,
) -> Result<Sheet, Message>
where
    R::Error: Display,
{
    let (name, names) = choose(book.sheets_metadata(), wanted)?;
    let range = book.worksheet_range(&name);
    let range = range.map_err(error::corrupt)?;
    drop(book);
    let mut grid = Grid::default();
    let (top, left) = range.start().unwrap_or_default();
    // A position that does not fit the number is outside the sheet.
    let place = |start: u32, at: usize| start.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
    for (row, column, cell) in range.used_cells() {
        let (row, column) = (place(top, row), place(left, column));
        grid.push(row, column, |out| push_text(out, cell))?;
    }
    let grid = grid.finish();
    Ok(Sheet { name, names, grid })
}

fn choose(
    sheets: &[calamine::Sheet],
    wanted: Option<&str>,
) -> Result<(String, Vec<String>), Message> {
    let sheets = sheets.iter();
    let sheets: Vec<_> = sheets
        .filter(|sheet| sheet.typ == SheetType::WorkSheet)
        .collect();
    let names: Vec<String> = sheets.iter().map(|sheet| sheet.name.clone()).collect();
    let Some(first) = names.first() else {
        return Err(Message::new(
            "has no worksheet",
            "charts and macros are not read; put the contacts on a worksheet",
        )
        .hint_on_page("Charts and macros are not read. Put the contacts on a worksheet, and choose the file again."));
    };
    let is_same = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
    let chosen = match wanted {
        Some(wanted) => names
            .iter()
            .find(|name| *name == wanted)
            .or_else(|| names.iter().find(|name| is_same(name, wanted)))
            .ok_or_else(|| no_such_sheet(wanted, &names))?,
        None => sheets
            .iter()
            .find(|sheet| sheet.visible == SheetVisible::Visible)
            .map_or(first, |sheet| &sheet.name),
    };
    Ok((chosen.clone(), names))
}

fn no_such_sheet(wanted: &str, names: &[String]) -> Message {
    let (wanted_name, listed) = (shown_name(wanted), listed(names));
    let message = Message::new(
        format!("has no sheet `{wanted_name}`; it has {listed}"),
        match nearest(wanted, names) {
            Some(nearest) => format!("did you mean `{}`?", shown_name(nearest)),
            None => "name one of these, or leave `--sheet` out for the first".to_owned(),
        },
    );
    message.asks_for_sheet(names)
}

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

    fn chosen(sheets: &[calamine::Sheet], wanted: Option<&str>) -> Result<String, Message> {
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
        let error = |wanted, sheets| chosen(sheets, wanted).unwrap_err().to_string();
        assert!(error(None, &sheets[..1]).starts_with("has no worksheet"));
        let error = error(Some("Chart"), &sheets);
        assert!(error.starts_with("has no sheet `Chart`; it has `Codes`, `Leads`\n"));
    }
}
