//! A copy of a list in which some cells are corrected.
//!
//! Input is never modified, so corrections make a copy, which is then the input of a run. All
//! else reads back as it was: the header, every cell, and how many cells a row has, since a row
//! whose cells may have shifted must still be known as one. Rows that are hidden in a sheet stay
//! hidden. A list in text becomes CSV in UTF-8 with a byte order mark, a spreadsheet a workbook of
//! text cells, whatever the path is called: only text can say how many cells a row has. Lines
//! above the header and the footer are left out, and so are rows of a sheet that have no cells.
//!
//! The copy appears at its path only when it is complete and on disk.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::iter;
use std::path::Path;

use csv::QuoteStyle;

use super::csv_output::{CsvForm, cause_of};
use super::list_error::ListError;
use super::workbook::{SheetLayout, SheetRow, sheet_name, write_sheet};
use crate::intake::PlannedInput;
use crate::lead::RowId;
use crate::private_file;
use crate::source::{Content, Flaw, Row};

/// The right text of cells, by row and column (from 0).
pub type Corrections = BTreeMap<(RowId, usize), String>;

/// Writes a copy of the list to `path`, where it replaces any file.
///
/// The copy is read with the delimiter of the list, without a header if the list has none, and
/// without a choice of sheet: it has only one, which in rare cases has another name.
pub fn write_corrected_copy(
    list: &PlannedInput,
    corrections: &Corrections,
    path: &Path,
) -> Result<(), ListError> {
    let columns = list.header.names.len();
    if let Some((row, _)) = corrections.keys().find(|(_, column)| *column >= columns) {
        return Err(not_in_list(*row));
    }
    let copy = CorrectedCopy {
        corrections,
        columns,
        has_header: list.form.has_header,
        last: RowId(0),
    };
    private_file::replace_with(path, |file| match &list.form.content {
        Content::Text(text) => {
            let form = CsvForm {
                has_bom: true,
                delimiter: text.delimiter,
            };
            copy.write_csv(list, form, file)
        }
        Content::Sheet(sheet) => copy.write_sheet(list, &sheet.name, file),
    })
}

struct CorrectedCopy<'c> {
    corrections: &'c Corrections,
    /// How many columns the header has.
    columns: usize,
    has_header: bool,
    /// The last row that was copied.
    last: RowId,
}

impl CorrectedCopy<'_> {
    fn write_csv(
        mut self,
        list: &PlannedInput,
        form: CsvForm,
        file: &mut File,
    ) -> Result<(), ListError> {
        file.write_all(form.prefix())?;
        // Without quotes a row of one empty cell would be a blank line, which is no row.
        let mut csv = form.writer_with(QuoteStyle::Always, &mut *file);
        if self.has_header {
            csv.write_record(&list.header.names).map_err(cause_of)?;
        }
        for batch in list.read()?.batches() {
            for row in batch?.rows() {
                let mut cells = self.corrected(row);
                if are_blank(&cells) {
                    continue;
                }
                // Where the list may be cut off, so may the copy.
                if row.ends_open() && matches!(cells.last(), Some(Cow::Borrowed(_))) {
                    csv.flush()?;
                    drop(csv);
                    form.write_open_row(cells, file)?;
                    return self.end();
                }
                self.mark(&mut cells, row.flaw());
                csv.write_record(cells).map_err(cause_of)?;
            }
        }
        csv.flush()?;
        self.end()
    }

    fn write_sheet(
        mut self,
        list: &PlannedInput,
        name: &str,
        file: &mut File,
    ) -> Result<(), ListError> {
        let layout = SheetLayout {
            name: &sheet_name(name),
            has_header: self.has_header,
        };
        let header = self.has_header.then(|| {
            let (cells, is_hidden) = (list.header.names.clone(), false);
            Ok(SheetRow { cells, is_hidden })
        });
        let mut batches = list.read()?.batches();
        let mut ready = Vec::new().into_iter();
        let rows = iter::from_fn(|| {
            loop {
                if let Some(row) = ready.next() {
                    return Some(Ok(row));
                }
                match batches.next() {
                    Some(Ok(batch)) => {
                        let rows = batch.rows().map(|row| SheetRow {
                            cells: self.sheet_row(row),
                            is_hidden: row.is_hidden(),
                        });
                        let rows = rows.filter(|row| !are_blank(&row.cells));
                        ready = rows.collect::<Vec<_>>().into_iter();
                    }
                    Some(Err(error)) => return Some(Err(error.into())),
                    None => return self.end().err().map(Err),
                }
            }
        });
        write_sheet(&layout, header.into_iter().chain(rows), file)
    }

    /// The cells of a row with its corrections.
    fn corrected<'r>(&mut self, row: Row<'r>) -> Vec<Cow<'r, [u8]>> {
        self.last = row.id();
        let mut cells: Vec<Cow<'r, [u8]>> = row.cells().map(Cow::Borrowed).collect();
        let of_row = (row.id(), 0)..=(row.id(), usize::MAX);
        for ((_, column), text) in self.corrections.range(of_row) {
            if *column >= cells.len() {
                cells.resize(self.columns, Cow::Borrowed(b""));
            }
            cells[*column] = Cow::Owned(text.clone().into_bytes());
        }
        cells
    }

    /// A row of a sheet. A sheet has no empty cells: the first row of a list without a header would
    /// have lost its empty last column. A space keeps it.
    fn sheet_row(&mut self, row: Row<'_>) -> Vec<String> {
        let cells = self.corrected(row);
        let text = |cell: &Cow<'_, [u8]>| String::from_utf8_lossy(cell).into_owned();
        let mut cells: Vec<String> = cells.iter().map(text).collect();
        let is_first = row.id() == RowId(1) && !self.has_header;
        let last = cells.last_mut().filter(|cell| is_first && cell.is_empty());
        if let Some(last) = last {
            last.push(' ');
        }
        cells
    }

    /// Adds a cell to a row that could not be split into its cells. Written anew it would look
    /// like any other row; with text beyond the header it stays invalid.
    fn mark(&self, cells: &mut Vec<Cow<'_, [u8]>>, flaw: Option<Flaw>) {
        let text = match flaw {
            None => return,
            Some(Flaw::UnclosedQuote) => "(a quote in this line was never closed)",
            Some(Flaw::TooLong) => "(this line was too long and is cut here)",
        };
        cells.resize(cells.len().max(self.columns), Cow::Borrowed(b""));
        cells.push(Cow::Borrowed(text.as_bytes()));
    }

    /// Makes sure that every corrected row was there.
    fn end(&self) -> Result<(), ListError> {
        match self.corrections.last_key_value() {
            Some(((row, _), _)) if *row > self.last => Err(not_in_list(*row)),
            _ => Ok(()),
        }
    }
}

/// Whether a row has nothing in it any more. It is left out: a blank row is none, and would make a
/// footer of a short one below it. DOS ends files with 1A.
fn are_blank(cells: &[impl AsRef<[u8]>]) -> bool {
    let is_blank = |c: char| c.is_whitespace() || c == '\u{1A}';
    let mut cells = cells.iter();
    cells.all(|cell| String::from_utf8_lossy(cell.as_ref()).chars().all(is_blank))
}

fn not_in_list(row: RowId) -> ListError {
    ListError::OtherList(text!(
        "the corrections are of another list: the cell of row {row} is not in this one",
        row = row.to_string()
    ))
}

#[cfg(test)]
#[path = "corrected_copy_tests.rs"]
mod tests;
