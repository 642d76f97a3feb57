//! A rejects file: the rows of one input that the user may fix and send again.
//!
//! It is UTF-8 with a byte order mark, so that spreadsheets recognize the encoding,
//! and has the delimiter of the input. A byte of the input that cannot be decoded
//! is `\u{FFFD}` here. The rows are first written as CSV, which can be read however
//! the run ends. A workbook is made from the CSV once it has all rows.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use super::csv_output::{CsvForm, CsvOutput, cause_of};
use super::formula::harmless;
use super::output_file::OutputFile;
use super::paths::is_called;
use super::sealed::SealedFile;
use super::workbook::{WorkbookError, write_workbook};
use super::{KnownOutputs, OutputError};
use crate::intake::PlannedInput;
use crate::lead::{RowOutcome, RunId};
use crate::ledger::OutputKind;
use crate::mapping::{ADDED_COLUMNS, RejectsForm, SURPLUS_COLUMN};
use crate::source::Row;

#[derive(Debug)]
pub(super) struct RejectsFile {
    pub(super) csv: CsvOutput,
    becomes_workbook: bool,
    /// The input's own columns (from 0), without the columns that an earlier rejects file added.
    own_columns: Vec<usize>,
    /// How many columns the input has, including those that a rejects file added.
    input_columns: usize,
    /// Set if the input is itself a rejects file.
    form: Option<RejectsForm>,
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
        let form = input.mapping.rejects_form.clone();
        let input_columns = input.header.names.len();
        let own_columns = match &form {
            Some(form) => form.input_columns.clone(),
            None => (0..input_columns).collect(),
        };
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
            own_columns,
            input_columns,
            form,
            has_surplus: false,
            rows: 0,
        })
    }

    pub(super) fn begin(&mut self, input: &PlannedInput) -> Result<(), OutputError> {
        let own = self.own_columns.iter();
        let own = own.map(|column| input.header.names[*column].as_str());
        self.csv.record(own.chain(ADDED_COLUMNS))?;
        self.csv.flush()
    }

    /// Writes one row with its outcome and the run.
    pub(super) fn write(
        &mut self,
        row: Row<'_>,
        outcome: &RowOutcome,
        run: Option<RunId>,
    ) -> Result<(), OutputError> {
        let surplus = self.surplus(row);
        self.has_surplus |= surplus.is_some();
        let own = self.own_columns.iter();
        let mut record: Vec<Vec<u8>> = own
            .map(|column| row.lossy(*column).into_owned().into_bytes())
            .collect();
        let code = outcome.error_code.map(|code| code.to_string());
        let added = [
            row.id().to_string(),
            outcome.status.to_string(),
            code.unwrap_or_default(),
            outcome.error.clone().unwrap_or_default(),
            run.map(|run| run.to_string()).unwrap_or_default(),
        ];
        let ours = added.into_iter().map(String::into_bytes).chain(surplus);
        let delimiter = self.csv.form.delimiter;
        record.extend(ours.map(|cell| harmless(&cell, delimiter).into_owned()));
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

    /// The cells of the row beyond the header, as CSV, after those from the
    /// surplus column of an earlier rejects file.
    fn surplus(&self, row: Row<'_>) -> Option<Vec<u8>> {
        let carried = self.form.as_ref().and_then(|form| form.surplus);
        let carried = carried.map(|column| row.lossy(column));
        let carried = carried.filter(|cell| !cell.is_empty());
        let beyond = (self.input_columns..row.len()).map(|column| row.lossy(column));
        let cells: Vec<Cow<'_, str>> = beyond.collect();
        if cells.iter().all(|cell| cell.is_empty()) {
            return carried.map(|cell| cell.into_owned().into_bytes());
        }
        let mut csv = csv::Writer::from_writer(Vec::new());
        // Writing to memory does not fail.
        let record = carried.iter().chain(&cells);
        let _ = csv.write_record(record.map(|cell| cell.as_bytes()));
        let mut bytes = csv.into_inner().unwrap_or_default();
        // Removes the line end.
        bytes.pop();
        Some(bytes)
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
    for record in reader_of(written, form).records() {
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
fn make_workbook(file: &mut OutputFile) -> Result<Option<String>, OutputError> {
    let workbook = tempfile::tempfile().map_err(|error| file.error(error))?;
    let mut rows = reader_of(file.copy()?, CsvForm::default());
    let rows = rows.records().map(|row| {
        let row = row.map_err(cause_of)?;
        Ok(row.iter().map(str::to_owned).collect())
    });
    match write_workbook(rows, &workbook) {
        Ok(()) => file.replace(workbook).map(|()| None),
        Err(WorkbookError::Io(error)) => Err(file.error(error)),
        Err(does_not_fit) => {
            file.rename_to_csv()?;
            Ok(Some(format!(
                "the rejects are a CSV file, not a workbook: {does_not_fit}"
            )))
        }
    }
}

/// Reads what was written. The csv crate skips the byte order mark.
fn reader_of(file: File, form: CsvForm) -> csv::Reader<File> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(form.delimiter)
        .from_reader(file)
}
