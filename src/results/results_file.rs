//! The results file: one line for each row.

use std::path::{Path, PathBuf};

use super::OutputError;
use super::csv_output::{CsvForm, CsvOutput};
use super::formula::harmless;
use crate::intake::{PlannedInput, PreparedRow};
use crate::lead::RowOutcome;
use crate::source::Row;

/// The columns; with several inputs [`FILE_COLUMN`] stands before them.
const COLUMNS: [&str; 11] = [
    "row",
    "line",
    "phone_number",
    "campaign_id",
    "status",
    "lead_id",
    "http_status",
    "attempts",
    "error_code",
    "error",
    "settled_at",
];

const FILE_COLUMN: &str = "file";

/// Whether a file with this header is a results file, which must not be taken
/// for a list of contacts.
pub fn has_results_header(headers: &[String]) -> bool {
    // As a spreadsheet may have saved it: columns added, spaces around the names.
    let names: Vec<String> = headers
        .iter()
        .map(|header| header.trim().to_lowercase())
        .collect();
    let names = match names.as_slice() {
        [first, rest @ ..] if first == FILE_COLUMN => rest,
        all => all,
    };
    names.len() >= COLUMNS.len() && names.iter().zip(COLUMNS).all(|(name, ours)| name == ours)
}

/// What has to be known of an input to write its rows' lines.
#[derive(Debug)]
struct InputNames {
    name: String,
    phone_column: usize,
}

/// UTF-8 with the delimiter of the first input, and with a byte order mark where any
/// input has one.
fn form(inputs: &[PlannedInput]) -> CsvForm {
    let mut texts = inputs.iter().map(|planned| planned.form.text());
    let delimiter = match inputs.first().and_then(|planned| planned.form.text()) {
        Some(first) => CsvForm::from(first).delimiter,
        None => CsvForm::default().delimiter,
    };
    let bom = texts.find_map(|text| text?.bom);
    CsvForm {
        bom,
        delimiter,
        ..CsvForm::default()
    }
    .in_utf_8()
}

/// The results file.
#[derive(Debug)]
pub(super) struct ResultsFile {
    csv: CsvOutput,
    inputs: Vec<InputNames>,
}

impl ResultsFile {
    /// Creates the file with its header.
    pub(super) fn create(path: &Path, inputs: &[PlannedInput]) -> Result<Self, OutputError> {
        let mut results = ResultsFile {
            csv: CsvOutput::create(path, form(inputs))?,
            inputs: inputs
                .iter()
                .map(|planned| InputNames {
                    name: planned.input.name().to_owned(),
                    phone_column: planned.mapping.phone_columns.first().copied().unwrap_or(0),
                })
                .collect(),
        };
        let header = results.has_file_column().then_some(FILE_COLUMN);
        results.record(header.into_iter().chain(COLUMNS))?;
        // Now, so that a full disk is found out.
        results.flush()?;
        Ok(results)
    }

    /// Writes the line of one row.
    pub(super) fn write(
        &mut self,
        row: Row<'_>,
        prepared: &PreparedRow,
        outcome: &RowOutcome,
    ) -> Result<(), OutputError> {
        let input = &self.inputs[row.file()];
        let phone = match prepared.phone {
            Some(number) => number.to_string(),
            None => row.lossy(input.phone_column).into_owned(),
        };
        let text = |value: Option<String>| value.unwrap_or_default();
        let cells = [
            row.id().to_string(),
            row.line().to_string(),
            phone,
            text(prepared.campaign.map(|id| id.to_string())),
            outcome.status.to_string(),
            text(outcome.lead_id.clone()),
            text(outcome.http_status.map(|status| status.to_string())),
            outcome.attempts.to_string(),
            text(outcome.error_code.map(|code| code.to_string())),
            text(outcome.error.clone()),
            text(
                outcome
                    .settled_at
                    .map(|at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
            ),
        ];
        let file = self.has_file_column().then(|| input.name.clone());
        self.record(file.iter().chain(&cells).map(String::as_str))
    }

    /// See [`CsvOutput::flush`].
    pub(super) fn flush(&mut self) -> Result<(), OutputError> {
        self.csv.flush()
    }

    /// See [`super::Writer::leave`].
    pub(super) fn leave(&self) {
        self.csv.leave();
    }

    /// Puts the file in its place; returns that, and how a file is called now that
    /// stood there before.
    pub(super) fn finish(self) -> Result<(PathBuf, Option<PathBuf>), OutputError> {
        self.csv.into_file()?.finish()
    }

    fn has_file_column(&self) -> bool {
        self.inputs.len() > 1
    }

    fn record<'c>(&mut self, cells: impl Iterator<Item = &'c str>) -> Result<(), OutputError> {
        let safe = cells.map(harmless);
        self.csv.record(safe.map(|cell| cell.into_owned()))
    }
}
