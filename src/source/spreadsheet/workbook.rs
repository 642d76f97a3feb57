//! A workbook, of which one sheet after the other can be decoded.

use std::collections::HashMap;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use calamine::{Ods, OdsError, Reader, SheetType, SheetVisible, Sheets, Xls, Xlsx};

use super::archive::{Archive, MAX_WORKBOOK_BYTES};
use super::cell::push_text;
use super::error;
use super::grid::Grid;
use super::hidden_rows::HiddenRows;
use super::kind::{OLE_MAGIC, is_opendocument};
use super::weight::Part;
use super::{Sheet, biff, compound, opendocument, weight};
use crate::contain;
use crate::message::Message;
use crate::source::CHOOSE_SHEET;
use crate::text::{nearest, shown_name};

pub struct Workbook {
    /// `None` after a panic, or once the last sheet has been decoded.
    book: Option<Sheets<Traced>>,
    hidden: HashMap<String, HiddenRows>,
    /// The worksheets in their order.
    sheets: Vec<calamine::Sheet>,
}

impl Workbook {
    pub fn open(bytes: Vec<u8>) -> Result<Workbook, Message> {
        let opened = contain::run(|| open(bytes));
        let (book, hidden) = opened.unwrap_or_else(|| Err(contradiction()))?;
        let names = book.sheets_metadata().iter();
        let names = names.map(|sheet| sheet.name.clone());
        Ok(Workbook {
            // Of two sheets with one name, calamine reads the last one.
            hidden: names.zip(hidden).collect(),
            sheets: worksheets(book.sheets_metadata())?,
            book: Some(book),
        })
    }

    /// The names of all worksheets in their order.
    pub fn sheets(&self) -> Vec<String> {
        self.sheets.iter().map(|sheet| sheet.name.clone()).collect()
    }

    /// The names of those that are not hidden.
    pub fn visible_sheets(&self) -> Vec<String> {
        let visible = self.sheets.iter().filter(|sheet| is_visible(sheet));
        visible.map(|sheet| sheet.name.clone()).collect()
    }

    /// Whether it has a sheet of this name: see [`Sheet::open`].
    pub fn has_sheet(&self, wanted: &str) -> bool {
        find(&self.sheets, wanted).is_some()
    }

    /// Decodes a sheet; `wanted` as in [`Sheet::open`]. Where no other sheet is needed later
    /// (`is_last`), this takes less memory.
    pub fn sheet(&mut self, wanted: Option<&str>, is_last: bool) -> Result<Sheet, Message> {
        let name = choose(&self.sheets, wanted)?.to_owned();
        let decoded = contain::run(|| decode(&mut self.book, &name, is_last));
        let grid = decoded.unwrap_or_else(|| {
            self.book = None;
            Err(contradiction())
        })?;
        let none = HiddenRows::default();
        Ok(Sheet {
            grid: grid.finish(self.hidden.get(&name).unwrap_or(&none)),
            names: self.sheets(),
            name,
        })
    }
}

fn contradiction() -> Message {
    error::corrupt("it contradicts itself")
}

/// Opens a workbook. Also returns the hidden rows of its sheets, in their order.
fn open(bytes: Vec<u8>) -> Result<(Sheets<Traced>, Vec<HiddenRows>), Message> {
    if bytes.len() as u64 > MAX_WORKBOOK_BYTES {
        return Err(error::too_many_bytes("it has", MAX_WORKBOOK_BYTES, ""));
    }
    if bytes.starts_with(OLE_MAGIC) {
        let records = compound::workbook_stream(&bytes)?;
        drop(bytes);
        let hidden = biff::check(&records)?;
        let file = compound::with_stream(&records).map_err(error::corrupt)?;
        drop(records);
        let book = Xls::new(Traced::new(file)).map_err(error::corrupt)?;
        return Ok((Sheets::Xls(book), hidden));
    }
    let mut archive = Archive::open(&bytes)?;
    if is_opendocument(&mut archive)? {
        let hidden = opendocument::check(&mut archive)?;
        let book = Ods::new(Traced::new(Cursor::new(bytes))).map_err(|error| match error {
            OdsError::Password => error::password(),
            error => error::corrupt(error),
        });
        return Ok((Sheets::Ods(book?), hidden));
    }
    let parts = weight::check(&mut archive)?;
    let bytes = Traced::new(Cursor::new(bytes));
    let last_read = Arc::clone(&bytes.last_read);
    let mut book = Xlsx::new(bytes).map_err(error::corrupt)?;
    let hidden = hidden_in(&mut book, &last_read, &parts);
    Ok((Sheets::Xlsx(book), hidden))
}

/// The hidden rows of each sheet of an .xlsx. Which part is which sheet is known by where calamine
/// reads when it begins with the sheet: the parts may have any names.
fn hidden_in(book: &mut Xlsx<Traced>, last_read: &AtomicU64, parts: &[Part]) -> Vec<HiddenRows> {
    let names = book.sheet_names().into_iter();
    let of_sheets = names.map(|name| {
        // A sheet that cannot be read is reported if it is chosen.
        book.worksheet_cells_reader(&name).ok()?;
        let at = last_read.load(Ordering::Relaxed);
        let mut parts = parts.iter();
        let part = parts.find(|part| part.place.start < at && at <= part.place.end)?;
        Some(part.hidden.clone())
    });
    of_sheets.map(Option::unwrap_or_default).collect()
}

/// The bytes of a workbook, which note where they were last read.
struct Traced {
    bytes: Cursor<Vec<u8>>,
    last_read: Arc<AtomicU64>,
}

impl Traced {
    fn new(bytes: Cursor<Vec<u8>>) -> Traced {
        let last_read = Arc::default();
        Traced { bytes, last_read }
    }
}

impl Read for Traced {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.bytes.read(buffer)?;
        let position = self.bytes.position();
        self.last_read.store(position, Ordering::Relaxed);
        Ok(len)
    }
}

impl Seek for Traced {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

/// The cells of a sheet. calamine has decoded all sheets of some formats already; where this one is
/// the last, the others are freed first.
fn decode(book: &mut Option<Sheets<Traced>>, name: &str, is_last: bool) -> Result<Grid, Message> {
    let sheets = book.as_mut().ok_or_else(contradiction)?;
    let mut grid = Grid::default();
    // Taken one by one rather than as a rectangle, which a stray cell in a far corner would make
    // as large as the sheet.
    if let Sheets::Xlsx(sheets) = sheets {
        let cells = sheets.worksheet_cells_reader(name);
        let mut cells = cells.map_err(error::corrupt)?;
        while let Some(cell) = cells.next_cell().map_err(error::corrupt)? {
            let (row, column) = cell.get_position();
            grid.push(row, column, |out| push_text(out, cell.get_value()))?;
        }
        return Ok(grid);
    }
    let range = sheets.worksheet_range(name).map_err(error::corrupt)?;
    if is_last {
        *book = None;
    }
    let (top, left) = range.start().unwrap_or_default();
    // A position that does not fit the number is outside the sheet.
    let place = |start: u32, at: usize| start.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
    for (row, column, cell) in range.used_cells() {
        let (row, column) = (place(top, row), place(left, column));
        grid.push(row, column, |out| push_text(out, cell))?;
    }
    Ok(grid)
}

fn is_visible(sheet: &calamine::Sheet) -> bool {
    sheet.visible == SheetVisible::Visible
}

fn worksheets(sheets: &[calamine::Sheet]) -> Result<Vec<calamine::Sheet>, Message> {
    let mut sheets = sheets.to_vec();
    sheets.retain(|sheet| sheet.typ == SheetType::WorkSheet);
    if sheets.is_empty() {
        return Err(message!(
            "has no worksheet",
            "charts and macros are not read; put the contacts on a worksheet{|, and choose the file again}"
        ));
    }
    Ok(sheets)
}

fn choose<'s>(sheets: &'s [calamine::Sheet], wanted: Option<&str>) -> Result<&'s str, Message> {
    let chosen = match wanted {
        Some(wanted) => find(sheets, wanted).ok_or_else(|| no_such_sheet(wanted, sheets))?,
        None => {
            let visible = sheets.iter().find(|sheet| is_visible(sheet));
            visible.unwrap_or(&sheets[0])
        }
    };
    Ok(&chosen.name)
}

fn find<'s>(sheets: &'s [calamine::Sheet], wanted: &str) -> Option<&'s calamine::Sheet> {
    let is_similar = |name: &str| name.to_lowercase() == wanted.to_lowercase();
    let same = sheets.iter().find(|sheet| sheet.name == wanted);
    same.or_else(|| sheets.iter().find(|sheet| is_similar(&sheet.name)))
}

fn no_such_sheet(wanted: &str, sheets: &[calamine::Sheet]) -> Message {
    let names: Vec<String> = sheets.iter().map(|sheet| sheet.name.clone()).collect();
    let hint = match nearest(wanted, &names) {
        Some(nearest) => text!(
            "{did you mean `{nearest}`?|{on_page}}",
            nearest = shown_name(nearest),
            on_page = CHOOSE_SHEET
        ),
        None => text!(
            "{name one of these, or leave `--sheet` out for the one with phone numbers|{on_page}}",
            on_page = CHOOSE_SHEET
        ),
    };
    let what = text!(
        "has no sheet `{wanted}`; it has {names}",
        wanted = shown_name(wanted),
        names
    );
    Message::new(what, hint)
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
        let sheets = worksheets(sheets)?;
        choose(&sheets, wanted).map(str::to_owned)
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
