//! A rejects file: the rows of one input that somebody may mend and send again.

use std::path::{Path, PathBuf};

use super::OutputError;
use super::csv_output::CsvOutput;
use super::spreadsheet::harmless;
use crate::intake::PlannedInput;
use crate::lead::RowOutcome;
use crate::mapping::{ADDED_COLUMNS, RejectsForm, SURPLUS_COLUMN};
use crate::source::Row;

/// A rejects file.
#[derive(Debug)]
pub(super) struct RejectsFile {
    path: PathBuf,
    /// None only while the file changes its form.
    csv: Option<CsvOutput>,
    /// The input's own columns (from 0), without those of an earlier rejects file.
    own_columns: Vec<usize>,
    /// Their headers.
    headers: Vec<String>,
    /// How many columns the input has, `leadload`'s own in a rejects file included.
    input_columns: usize,
    /// Set where the input is itself a rejects file.
    form: Option<RejectsForm>,
    /// Whether some row had more cells than the header.
    has_surplus: bool,
    has_rows: bool,
}

impl RejectsFile {
    /// Creates the file with its header.
    pub(super) fn create(path: &Path, input: &PlannedInput) -> Result<Self, OutputError> {
        let form = input.mapping.rejects_form.clone();
        let names = &input.header.names;
        let own_columns = match &form {
            Some(form) => form.input_columns.clone(),
            None => (0..names.len()).collect(),
        };
        let mut rejects = RejectsFile {
            path: path.to_owned(),
            csv: Some(CsvOutput::create(path, input.header.has_bom)?),
            headers: own_columns.iter().map(|c| names[*c].clone()).collect(),
            own_columns,
            input_columns: names.len(),
            form,
            has_surplus: false,
            has_rows: false,
        };
        rejects.write_header()?;
        // Now, so that a full disk is found out.
        rejects.flush()?;
        Ok(rejects)
    }

    /// Writes one row with what became of it.
    pub(super) fn write(&mut self, row: Row<'_>, outcome: &RowOutcome) -> Result<(), OutputError> {
        let surplus = self.surplus(row);
        if surplus.is_some() && !self.has_surplus {
            self.add_surplus_column()?;
        }
        let own = self.own_columns.iter();
        let mut record: Vec<Vec<u8>> = own
            .map(|column| row.cell(*column).unwrap_or_default().to_vec())
            .collect();
        let code = outcome.error_code.map(|code| code.to_string());
        let added = [
            row.id().to_string(),
            outcome.status.to_string(),
            code.unwrap_or_default(),
            outcome.error.clone().unwrap_or_default(),
            // The run's number, once runs are recorded.
            String::new(),
        ];
        let surplus = self.has_surplus.then(|| surplus.unwrap_or_default());
        let ours = added.iter().chain(&surplus);
        record.extend(ours.map(|cell| harmless(cell).as_bytes().to_vec()));
        self.has_rows = true;
        self.record(record)
    }

    /// See [`CsvOutput::flush`].
    pub(super) fn flush(&mut self) -> Result<(), OutputError> {
        self.csv.as_mut().map_or(Ok(()), CsvOutput::flush)
    }

    /// See [`super::Writer::leave`].
    pub(super) fn leave(&self) {
        if let Some(csv) = &self.csv {
            csv.leave();
        }
    }

    /// Puts the file in its place if it has rows; returns that, and how a file is
    /// called now that stood there before.
    pub(super) fn finish(self) -> Result<(Option<PathBuf>, Option<PathBuf>), OutputError> {
        let Some(csv) = self.csv else {
            return Ok((None, None));
        };
        let file = csv.into_file()?;
        if !self.has_rows {
            return Ok((None, file.discard()?));
        }
        let (path, kept) = file.finish()?;
        Ok((Some(path), kept))
    }

    /// The cells of the row that no header stands above, as CSV, with those that a
    /// rejects file has carried along.
    fn surplus(&self, row: Row<'_>) -> Option<String> {
        let carried = self
            .form
            .as_ref()
            .and_then(|form| row.cell(form.surplus?))
            .filter(|cell| !cell.is_empty());
        let beyond = (self.input_columns..row.len()).filter_map(|column| row.cell(column));
        let cells: Vec<&[u8]> = beyond.collect();
        if cells.is_empty() {
            return carried.map(|cell| String::from_utf8_lossy(cell).into_owned());
        }
        let mut csv = csv::Writer::from_writer(Vec::new());
        // Writing to memory does not fail.
        let _ = csv.write_record(carried.into_iter().chain(cells));
        let bytes = csv.into_inner().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        Some(text.trim_end_matches('\n').to_owned())
    }

    /// Begins anew with one column more: that there is a row with surplus cells is
    /// known only when it comes, and all rows must have the same columns.
    fn add_surplus_column(&mut self) -> Result<(), OutputError> {
        let Some(csv) = self.csv.take() else {
            return Ok(());
        };
        let mut file = csv.into_file()?;
        let copy = file.restart()?;
        self.csv = Some(CsvOutput::over(file));
        self.has_surplus = true;
        self.write_header()?;
        for record in csv::Reader::from_reader(copy).byte_records() {
            let mut record = record.map_err(|error| OutputError::Unwritable {
                path: self.path.clone(),
                error: error.into(),
            })?;
            record.push_field(b"");
            self.record(record.iter())?;
        }
        Ok(())
    }

    fn write_header(&mut self) -> Result<(), OutputError> {
        let surplus = self.has_surplus.then_some(SURPLUS_COLUMN);
        let names: Vec<String> = self
            .headers
            .iter()
            .map(String::as_str)
            .chain(ADDED_COLUMNS)
            .chain(surplus)
            .map(str::to_owned)
            .collect();
        self.record(names)
    }

    fn record<C: AsRef<[u8]>>(
        &mut self,
        cells: impl IntoIterator<Item = C>,
    ) -> Result<(), OutputError> {
        match &mut self.csv {
            Some(csv) => csv.record(cells),
            None => Ok(()),
        }
    }
}
