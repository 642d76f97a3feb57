//! Workbooks (.xlsx, .xlsm, .xls, .ods) to rows of text.
//!
//! Rule: a workbook is recognized by its content, never by its name, and is read whole:
//! its rows are not in one piece of the file. Every cell becomes text here, in the same
//! way for all formats.
//!
//! `calamine` decodes the formats. It trusts the file, so what a file takes in memory is
//! checked first: [`archive`] for what it unpacks to, [`weight`] for .xlsx, [`compound`],
//! [`biff`] and [`shared_strings`] for .xls, [`opendocument`] for .ods. It runs where a panic ends nothing else ([`crate::contain`]).

mod archive;
mod biff;
mod cell;
mod compound;
mod error;
mod grid;
mod kind;
mod load;
mod opendocument;
mod reader;
mod shared_strings;
mod time;
mod weight;

pub(super) use archive::MAX_WORKBOOK_BYTES;
pub use grid::SheetRow;
pub use kind::is_workbook;
pub use reader::SheetReader;

use crate::contain;
use crate::message::Message;
use grid::Grid;

#[derive(Debug)]
pub struct Sheet {
    pub name: String,
    /// What all worksheets are called, hidden ones too, in the workbook's order.
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
        contain::run(|| load::load(bytes, wanted))
            .unwrap_or_else(|| Err(error::corrupt("it contradicts itself")))
    }

    /// The rows that hold anything, hidden and filtered ones too, in the sheet's
    /// order; the first is the header.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = SheetRow<'_>> {
        (0..self.grid.len()).map(|index| self.grid.row(index))
    }
}
