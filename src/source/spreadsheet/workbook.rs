//! A workbook, of which one sheet after the other can be decoded.

use std::collections::HashMap;
use std::fmt::Display;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use calamine::{Data, Ods, OdsError, Range, Reader, SheetType, SheetVisible, Xls, Xlsx};

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
use crate::text::{listed, nearest, shown_name};

pub struct Workbook {
    /// `None` after a panic.
    book: Option<Book>,
    /// The hidden rows of each sheet; those of an .xlsx are known by its parts.
    hidden: HashMap<String, HiddenRows>,
    sheets: Vec<SheetName>,
}

/// The name of a worksheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetName {
    pub name: String,
    pub is_visible: bool,
}

impl Workbook {
    pub fn open(bytes: Vec<u8>) -> Result<Workbook, Message> {
        let opened = contain::run(|| Book::open(bytes));
        let (book, hidden) = opened.unwrap_or_else(|| Err(contradiction()))?;
        let sheets = book.metadata();
        let names = sheets.iter().map(|sheet| sheet.name.clone());
        Ok(Workbook {
            // Of two sheets with one name, calamine reads the last one.
            hidden: names.zip(hidden).collect(),
            sheets: worksheets(sheets)?,
            book: Some(book),
        })
    }

    /// The worksheets in their order.
    pub fn sheets(&self) -> &[SheetName] {
        &self.sheets
    }

    /// Decodes a sheet; `wanted` as in [`Sheet::open`]. Where no other sheet is needed later
    /// (`is_last`), this takes less memory.
    pub fn sheet(&mut self, wanted: Option<&str>, is_last: bool) -> Result<Sheet, Message> {
        let name = choose(&self.sheets, wanted)?.to_owned();
        let mut book = self.book.take().ok_or_else(contradiction)?;
        let decoded = contain::run(|| (book.cells(&name), book));
        let (cells, book) = decoded.ok_or_else(contradiction)?;
        self.book = (!is_last).then_some(book);
        let hidden = self.hidden.get(&name);
        let grid = contain::run(|| cells.and_then(|cells| cells.into_grid(hidden)));
        Ok(Sheet {
            name,
            names: names(&self.sheets),
            grid: grid.unwrap_or_else(|| Err(contradiction()))?,
        })
    }
}

fn contradiction() -> Message {
    error::corrupt("it contradicts itself")
}

enum Book {
    Xlsx(Box<Xlsx<Traced>>, Arc<AtomicU64>, Vec<Part>),
    Xls(Xls<Cursor<Vec<u8>>>),
    Ods(Ods<Cursor<Vec<u8>>>),
}

impl Book {
    fn open(bytes: Vec<u8>) -> Result<(Book, Vec<HiddenRows>), Message> {
        if bytes.len() as u64 > MAX_WORKBOOK_BYTES {
            let limit = MAX_WORKBOOK_BYTES >> 20;
            return Err(error::too_large(format_args!(
                "it has more than {limit} MiB"
            )));
        }
        if bytes.starts_with(OLE_MAGIC) {
            let records = compound::workbook_stream(&bytes)?;
            drop(bytes);
            let hidden = biff::check(&records)?;
            let file = compound::with_stream(&records).map_err(error::corrupt)?;
            drop(records);
            return Ok((Book::Xls(Xls::new(file).map_err(error::corrupt)?), hidden));
        }
        let mut archive = Archive::open(&bytes)?;
        if is_opendocument(&mut archive)? {
            let hidden = opendocument::check(&mut archive)?;
            let book = Ods::new(Cursor::new(bytes)).map_err(|error| match error {
                OdsError::Password => error::password(),
                error => error::corrupt(error),
            });
            return Ok((Book::Ods(book?), hidden));
        }
        let parts = weight::check(&mut archive)?;
        let (bytes, last) = (Cursor::new(bytes), Arc::new(AtomicU64::new(0)));
        let read = Arc::clone(&last);
        let book = Xlsx::new(Traced { bytes, read }).map_err(error::corrupt)?;
        Ok((Book::Xlsx(Box::new(book), last, parts), Vec::new()))
    }

    fn metadata(&self) -> &[calamine::Sheet] {
        match self {
            Book::Xlsx(book, ..) => book.sheets_metadata(),
            Book::Xls(book) => book.sheets_metadata(),
            Book::Ods(book) => book.sheets_metadata(),
        }
    }

    fn cells(&mut self, name: &str) -> Result<Cells, Message> {
        match self {
            Book::Xlsx(book, read, parts) => xlsx_grid(book, read, parts, name).map(Cells::Grid),
            Book::Xls(book) => range(book, name).map(Cells::Range),
            Book::Ods(book) => range(book, name).map(Cells::Range),
        }
    }
}

/// The bytes of an archive. Notes where it was last read: that tells which part calamine reads.
struct Traced {
    bytes: Cursor<Vec<u8>>,
    read: Arc<AtomicU64>,
}

impl Read for Traced {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.bytes.read(buffer)?;
        self.read.store(self.bytes.position(), Ordering::Relaxed);
        Ok(len)
    }
}

impl Seek for Traced {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

/// What calamine returns of a sheet.
enum Cells {
    Grid(Grid),
    Range(Range<Data>),
}

impl Cells {
    fn into_grid(self, hidden: Option<&HiddenRows>) -> Result<Grid, Message> {
        let range = match self {
            Cells::Grid(grid) => return Ok(grid),
            Cells::Range(range) => range,
        };
        let mut grid = Grid::default();
        let (top, left) = range.start().unwrap_or_default();
        // A position that does not fit the number is outside the sheet.
        let place =
            |start: u32, at: usize| start.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
        for (row, column, cell) in range.used_cells() {
            let (row, column) = (place(top, row), place(left, column));
            grid.push(row, column, |out| push_text(out, cell))?;
        }
        Ok(grid.finish(hidden.unwrap_or(&HiddenRows::default())))
    }
}

/// The cells are taken one by one rather than as a rectangle, which a stray cell in a far
/// corner would make as large as the sheet.
fn xlsx_grid(
    book: &mut Xlsx<Traced>,
    read: &AtomicU64,
    parts: &[Part],
    name: &str,
) -> Result<Grid, Message> {
    let cells = book.worksheet_cells_reader(name);
    let mut cells = cells.map_err(error::corrupt)?;
    let at = read.load(Ordering::Relaxed);
    let mut parts = parts.iter();
    let part = parts.find(|part| part.place.start < at && at <= part.place.end);
    let hidden = &part.ok_or_else(contradiction)?.hidden;
    let mut grid = Grid::default();
    while let Some(cell) = cells.next_cell().map_err(error::corrupt)? {
        let (row, column) = cell.get_position();
        grid.push(row, column, |out| push_text(out, cell.get_value()))?;
    }
    Ok(grid.finish(hidden))
}

fn range<R: Reader<Cursor<Vec<u8>>>>(book: &mut R, name: &str) -> Result<Range<Data>, Message>
where
    R::Error: Display,
{
    book.worksheet_range(name).map_err(error::corrupt)
}

fn worksheets(sheets: &[calamine::Sheet]) -> Result<Vec<SheetName>, Message> {
    let sheets = sheets.iter();
    let sheets = sheets.filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let names: Vec<SheetName> = sheets
        .map(|sheet| SheetName {
            name: sheet.name.clone(),
            is_visible: sheet.visible == SheetVisible::Visible,
        })
        .collect();
    if names.is_empty() {
        return Err(Message::new(
            "has no worksheet",
            "charts and macros are not read; put the contacts on a worksheet",
        )
        .hint_on_page("Charts and macros are not read. Put the contacts on a worksheet, and choose the file again."));
    }
    Ok(names)
}

fn names(sheets: &[SheetName]) -> Vec<String> {
    sheets.iter().map(|sheet| sheet.name.clone()).collect()
}

fn choose<'s>(sheets: &'s [SheetName], wanted: Option<&str>) -> Result<&'s str, Message> {
    let is_same = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
    let find = |fits: &dyn Fn(&SheetName) -> bool| sheets.iter().find(|sheet| fits(sheet));
    let chosen = match wanted {
        Some(wanted) => find(&|sheet| sheet.name == wanted)
            .or_else(|| find(&|sheet| is_same(&sheet.name, wanted)))
            .ok_or_else(|| no_such_sheet(wanted, &names(sheets)))?,
        None => find(&|sheet| sheet.is_visible).unwrap_or(&sheets[0]),
    };
    Ok(&chosen.name)
}

fn no_such_sheet(wanted: &str, names: &[String]) -> Message {
    let (wanted_name, listed) = (shown_name(wanted), listed(names));
    let message = Message::new(
        format!("has no sheet `{wanted_name}`; it has {listed}"),
        match nearest(wanted, names) {
            Some(nearest) => format!("did you mean `{}`?", shown_name(nearest)),
            None => "name one of these, or leave `--sheet` out for the one with phone numbers"
                .to_owned(),
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
