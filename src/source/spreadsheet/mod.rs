//! Reads workbooks (.xlsx, .xlsm, .xls, .ods) as rows of text.
//!
//! Rule: a workbook is recognized by its content, never by its name, and is read whole, because its
//! rows are spread over the file. Every cell becomes text here, in the same way for all formats.
//!
//! `calamine` decodes the formats. It trusts the file, so the memory that a file would take
//! is checked first: [`archive`] checks the size when unpacked, [`weight`] checks .xlsx,
//! [`compound`], [`biff`] and [`shared_strings`] check .xls, [`opendocument`] checks .ods.
//! A panic of `calamine` is caught and ends nothing else ([`crate::contain`]).

mod archive;
mod biff;
mod cell;
mod compound;
mod error;
mod grid;
mod hidden_rows;
mod kind;
mod opendocument;
mod reader;
mod shared_strings;
mod time;
mod weight;
mod workbook;

pub(super) use archive::MAX_WORKBOOK_BYTES;
pub use grid::SheetRow;
pub use kind::is_workbook;
pub use reader::SheetReader;
pub use workbook::Workbook;

use crate::message::Message;
use grid::Grid;

#[derive(Debug)]
pub struct Sheet {
    pub name: String,
    /// The names of all worksheets, including hidden ones, in the order of the workbook.
    pub names: Vec<String>,
    grid: Grid,
}

impl Sheet {
    /// Reads one sheet of the workbook `bytes`.
    ///
    /// `wanted` is the sheet's name as it is, or else one that differs in letter
    /// case only, of which Excel allows no two. Without it the sheet is
    /// the first one that the user sees on opening the file: the first worksheet
    /// that is not hidden, or the first of all if every one is. Charts, macros and
    /// dialogs are no worksheets.
    pub fn open(bytes: Vec<u8>, wanted: Option<&str>) -> Result<Sheet, Message> {
        Workbook::open(bytes)?.sheet(wanted, true)
    }

    /// The rows that have any content, including hidden and filtered ones,
    /// in the order of the sheet. The first is the header.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = SheetRow<'_>> {
        (0..self.grid.len()).map(|index| self.grid.row(index))
    }
}
