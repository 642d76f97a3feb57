//! A rejects file: the rows of one input that the user may fix and send again.
//!
//! It is UTF-8 with a byte order mark, so that spreadsheets recognize the encoding,
//! and has the delimiter of the input. A byte of the input that cannot be decoded
//! is `\u{FFFD}` here. The rows are first written as CSV, which can be read however
//! the run ends. A workbook is made from the CSV once it has all rows.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::csv_output::{CsvForm, CsvOutput, cause_of};
use super::formula::harmless;
use super::output_file::OutputFile;
use super::own_cells::OwnCells;
use super::paths::is_called;
use super::sealed::SealedFile;
use super::workbook::{SheetLayout, WorkbookError, write_workbook};
use super::{KnownOutputs, OutputError};
use crate::intake::PlannedInput;
use crate::lead::RowOutcome;
use crate::ledger::OutputKind;
use crate::mapping::{ADDED_COLUMNS, SURPLUS_COLUMN};
use crate::message::{Text, Voice};
use crate::source::Row;

const SHEET_NAME: &str = "rejects";

#[derive(Debug)]
pub(super) struct RejectsFile {
    pub(super) csv: CsvOutput,
    becomes_workbook: bool,
    own: OwnCells,
    /// Whether some row had more cells than the header.
    has_surplus: bool,
    rows: u64,
}

impl RejectsFile {
    pub(super) fn create(
        path: &Path,
        input: &PlannedInput,
        known: &KnownOutputs,
    ) -> Result<Self, OutputError> {
        let becomes_workbook = is_workbook(path, input);
        let delimiter = match input.form.text() {
            Some(form) if !becomes_workbook => form.delimiter,
            _ => CsvForm::default().delimiter,
        };
        let csv_form = CsvForm {
            has_bom: true,
            delimiter,
        };
        Ok(RejectsFile {
            csv: CsvOutput::create(path, csv_form, known)?,
            becomes_workbook,
            own: OwnCells::of(input),
            has_surplus: false,
            rows: 0,
        })
    }

    pub(super) fn begin(&mut self, input: &PlannedInput) -> Result<(), OutputError> {
        let own = input.own_columns().into_iter();
        self.csv.record(own.chain(ADDED_COLUMNS))?;
        self.csv.flush()
    }

    /// Writes one row with its outcome. `source` is the run, or what stands in its place.
    pub(super) fn write(
        &mut self,
        row: Row<'_>,
        outcome: &RowOutcome,
        voice: Voice,
        source: &str,
    ) -> Result<(), OutputError> {
        let surplus = self.own.surplus(row);
        self.has_surplus |= surplus.is_some();
        let own = self.own.of_row(row);
        let mut record: Vec<Vec<u8>> = own.map(|cell| cell.into_owned().into_bytes()).collect();
        let code = outcome.error_code.map(|code| code.to_string());
        let error = outcome.error.as_ref().map(|error| error.words(voice));
        let added = [
            row.id().to_string(),
            outcome.status.to_string(),
            code.unwrap_or_default(),
            error.unwrap_or_default(),
            source.to_owned(),
        ];
        let ours = added.into_iter().chain(surplus);
        let delimiter = self.csv.form.delimiter;
        record.extend(ours.map(|cell| harmless(cell.as_bytes(), delimiter).into_owned()));
        self.rows += 1;
        self.csv.record(record)
    }

    /// Completes the file, and gives it the form in which it will be found.
    pub(super) fn seal(self) -> Result<SealedFile, OutputError> {
        let form = self.csv.form;
        let mut file = self.csv.into_file()?;
        if self.has_surplus {
            let with_column = with_surplus_column(file.copy()?, form);
            file.replace(with_column.map_err(|error| file.error(cause_of(error)))?)?;
        }
        let note = if self.becomes_workbook && self.rows > 0 {
            make_workbook(&mut file)?
        } else {
            None
        };
        SealedFile::new(file, OutputKind::Rejects, self.rows, note)
    }
}

/// Copies the rows that were written, and adds the surplus column to every row that does not
/// have it. Only rows with surplus cells have it so far: it is not known in advance whether
/// there will be any. The copy is a separate file, so nothing is lost if the disk is full.
fn with_surplus_column(written: File, form: CsvForm) -> csv::Result<File> {
    let mut content = tempfile::tempfile()?;
    content.write_all(form.prefix())?;
    let mut content = form.writer(content);
    let mut columns = 0;
    for record in form.reader(written).records() {
        let mut record = record?;
        if columns == 0 {
            record.push_field(SURPLUS_COLUMN);
            columns = record.len();
        } else if record.len() < columns {
            record.push_field("");
        }
        content.write_record(&record)?;
    }
    let content = content.into_inner();
    content.map_err(|failed| io::Error::other(failed.to_string()).into())
}

/// A file that is opened in a spreadsheet program is a workbook: CSV would
/// lose the `+` of phone numbers.
fn is_workbook(path: &Path, input: &PlannedInput) -> bool {
    let is_spreadsheet = input.form.text().is_none();
    is_called(path, &["xlsx"]) || is_spreadsheet && !is_called(path, &["csv", "tsv", "txt"])
}

/// Makes a workbook from the rows that were written as CSV. The CSV stays
/// until the workbook is complete. Rows that do not fit into a workbook
/// stay CSV, under another name; then the reason is returned.
fn make_workbook(file: &mut OutputFile) -> Result<Option<Text>, OutputError> {
    let workbook = tempfile::tempfile().map_err(|error| file.error(error))?;
    let mut rows = CsvForm::default().reader(file.copy()?);
    let rows = rows.records().map(|row| {
        let row = row.map_err(cause_of).map_err(WorkbookError::Io)?;
        Ok(row.iter().map(str::to_owned).collect())
    });
    let layout = SheetLayout {
        name: SHEET_NAME,
        has_header: true,
    };
    match write_workbook(&layout, rows, &workbook) {
        Ok(()) => file.replace(workbook).map(|()| None),
        Err(WorkbookError::Io(error)) => Err(file.error(error)),
        Err(WorkbookError::DoesNotFit(why)) => {
            file.rename_to_csv()?;
            Ok(Some(text!(
                "the {rejects|rows to fix} are a CSV file, not a workbook: {why}",
                why
            )))
        }
    }
}
