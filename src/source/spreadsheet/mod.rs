//! Workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods) to rows of text.
//!
//! Rule: a workbook is known by its content, never by its name, and is read
//! whole: its rows are not in one piece of the file. What the service is sent is
//! text, so every cell becomes text here, in one way for all formats.
//!
//! `calamine` decodes the formats. It trusts what a file says of itself, so what a
//! file would take in memory is checked before it sees it ([`archive`], [`guarded`],
//! [`biff`], [`opendocument`]), and it runs where a panic in it ends nothing else
//! ([`crate::contain`]).

mod archive;
mod biff;
mod cell;
mod error;
mod grid;
mod guarded;
mod kind;
mod load;
mod ole;
mod opendocument;
mod reader;
mod shared_strings;
mod time;
mod weight;

pub use error::{SheetError, TooLarge};
pub use grid::SheetRow;
pub use kind::is_workbook;
pub use reader::SheetReader;

use crate::contain;
use error::Refusal;
use grid::Grid;

/// The rows of one sheet of a workbook, every cell as text.
#[derive(Debug)]
pub struct Sheet {
    /// What the workbook is called in messages.
    source: String,
    name: String,
    names: Vec<String>,
    grid: Grid,
}

impl Sheet {
    /// Reads one sheet of the workbook `bytes`, which is called `source` in messages.
    ///
    /// `wanted` is the sheet's name as it stands, or else one that differs in letter
    /// case only, of which Excel allows no two. Without it the sheet is
    /// the first one that a person sees on opening the file: the first worksheet
    /// that is not hidden, or the first of all if every one is. Charts, macros and
    /// dialogs are no worksheets.
    pub fn open(source: &str, bytes: Vec<u8>, wanted: Option<&str>) -> Result<Sheet, SheetError> {
        let loaded = contain::run(|| load::load(bytes, wanted))
            .unwrap_or_else(|| Err(Refusal::corrupt("it contradicts itself")))
            .map_err(|refusal| refusal.into_error(source, wanted))?;
        Ok(Sheet {
            source: source.to_owned(),
            name: loaded.name,
            names: loaded.names,
            grid: loaded.grid,
        })
    }

    /// What the sheet is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What all worksheets are called, hidden ones too, in the workbook's order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The rows that hold anything, hidden and filtered ones too, in the sheet's
    /// order; the first is the header.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = SheetRow<'_>> {
        (0..self.grid.len()).map(|index| self.grid.row(index))
    }
}
