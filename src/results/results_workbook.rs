//! The results beside the list itself, as a workbook for people.
//!
//! The results file names rows by their numbers. Somebody who works with the list wants to see
//! what became of each person: here every row of the list has its own cells, then those of the
//! results. A run that stopped early has no results for its last rows; these are empty.

use std::fs::File;
use std::io::Write;
use std::iter;
use std::path::Path;
use std::slice;

use csv::{StringRecord, StringRecordsIntoIter};

use super::csv_output::cause_of;
use super::list_error::ListError;
use super::own_cells::OwnCells;
use super::results_file::{LINE_COLUMN, ROW_COLUMN, csv_form, has_results_header};
use super::workbook::{SheetLayout, write_workbook};
use crate::intake::PlannedInput;
use crate::mapping::SURPLUS_COLUMN;
use crate::source::{Row, SourceError};

const SHEET_NAME: &str = "results";

/// Writes a workbook of text cells: each row of the list with its own cells, those of the file
/// `results` that leadload wrote for this list alone, and any cells beyond the header.
///
/// # Errors
///
/// Nothing is written to `out` if the list cannot be read, has more than a sheet can hold, or is
/// not the list of the results.
pub fn write_results_workbook(
    list: &PlannedInput,
    results: &Path,
    out: impl Write + Send,
) -> Result<(), ListError> {
    let own = OwnCells::of(list);
    let results = Results::open(list, results)?;
    let has_surplus = has_surplus(list, &own)?;
    let names = list.own_columns().into_iter().chain(&results.header);
    let names = names.chain(has_surplus.then_some(SURPLUS_COLUMN));
    let header: Vec<String> = names.map(str::to_owned).collect();
    let layout = SheetLayout {
        name: SHEET_NAME,
        has_header: true,
    };
    let rows = Rows {
        own,
        results,
        has_surplus,
    };
    let rows = iter::once(Ok(header)).chain(rows.beside(list)?);
    write_workbook(&layout, rows, out)
}

/// Whether a row has cells beyond the header. Only then is there a column for them, and its name
/// is needed before the first row.
fn has_surplus(list: &PlannedInput, own: &OwnCells) -> Result<bool, SourceError> {
    for batch in list.read()?.batches() {
        if batch?.rows().any(|row| own.surplus(row).is_some()) {
            return Ok(true);
        }
    }
    Ok(false)
}

struct Rows {
    own: OwnCells,
    results: Results,
    has_surplus: bool,
}

impl Rows {
    /// The rows of the workbook below its header, in the order of the list.
    fn beside(
        mut self,
        list: &PlannedInput,
    ) -> Result<impl Iterator<Item = Result<Vec<String>, ListError>>, ListError> {
        let mut batches = list.read()?.batches();
        let mut ready = Vec::new().into_iter();
        Ok(iter::from_fn(move || {
            loop {
                if let Some(row) = ready.next() {
                    return Some(row);
                }
                match batches.next() {
                    Some(Ok(batch)) => {
                        let rows = batch.rows().map(|row| self.row(row));
                        ready = rows.collect::<Vec<_>>().into_iter();
                    }
                    Some(Err(error)) => return Some(Err(error.into())),
                    None => return self.results.end().err().map(Err),
                }
            }
        }))
    }

    fn row(&mut self, row: Row<'_>) -> Result<Vec<String>, ListError> {
        let found = self.results.of_row(row)?;
        let own = self.own.of_row(row).map(|cell| cell.into_owned());
        let mut cells: Vec<String> = own.collect();
        let found = found.iter().flatten().map(str::to_owned);
        cells.extend(
            found
                .chain(iter::repeat(String::new()))
                .take(self.results.header.len()),
        );
        if self.has_surplus {
            cells.extend(self.own.surplus(row));
        }
        Ok(cells)
    }
}

/// The lines of a results file, which come in the order of the list.
struct Results {
    lines: StringRecordsIntoIter<File>,
    header: StringRecord,
    /// The columns (from 0) of the number of a row and of its line in the list.
    row: usize,
    line: usize,
    /// The next line, with the number of its row.
    next: Option<(u64, StringRecord)>,
}

impl Results {
    fn open(list: &PlannedInput, path: &Path) -> Result<Results, ListError> {
        let form = csv_form(slice::from_ref(list));
        let mut lines = form.reader(File::open(path)?).into_records();
        let header = lines.next().transpose().map_err(cause_of)?;
        let header = header.unwrap_or_default();
        let names: Vec<String> = header.iter().map(str::to_owned).collect();
        let place = |column| names.iter().position(|name| name == column);
        let (true, Some(row), Some(line)) = (
            has_results_header(&names),
            place(ROW_COLUMN),
            place(LINE_COLUMN),
        ) else {
            return Err(ListError::OtherList(text!(
                "the file of results has another header than results have"
            )));
        };
        let mut results = Results {
            lines,
            header,
            row,
            line,
            next: None,
        };
        results.advance()?;
        Ok(results)
    }

    fn advance(&mut self) -> Result<(), ListError> {
        let line = self.lines.next().transpose().map_err(cause_of)?;
        let Some(line) = line else {
            self.next = None;
            return Ok(());
        };
        let number = line.get(self.row).and_then(|cell| cell.parse().ok());
        let number = number.ok_or_else(|| {
            ListError::OtherList(text!("a line of the results has no row number"))
        })?;
        self.next = Some((number, line));
        Ok(())
    }

    /// The line of a row; `None` if there is none. Call it for each row in turn.
    fn of_row(&mut self, row: Row<'_>) -> Result<Option<StringRecord>, ListError> {
        let (number, place) = (row.id().0, row.line());
        match self.next.take_if(|(next, _)| *next <= number) {
            None => Ok(None),
            Some((found, line))
                if found == number && line.get(self.line) == Some(&*place.to_string()) =>
            {
                self.advance()?;
                Ok(Some(line))
            }
            Some((found, _)) => Err(other_list(found)),
        }
    }

    /// Makes sure that there are no results of further rows.
    fn end(&mut self) -> Result<(), ListError> {
        match self.next.take() {
            None => Ok(()),
            Some((found, _)) => Err(other_list(found)),
        }
    }
}

fn other_list(row: u64) -> ListError {
    ListError::OtherList(text!(
        "the results are of another list, or of another version of it: their row {row} is not in its place here",
        row = row.to_string()
    ))
}

#[cfg(test)]
#[path = "results_workbook_tests.rs"]
mod tests;
