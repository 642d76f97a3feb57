//! The lines of a results file, whoever writes it.

use std::path::Path;

use super::csv_output::{CsvForm, CsvOutput};
use super::formula::harmless;
use super::output_file::OutputFile;
use super::{KnownOutputs, OutputError};
use crate::lead::{CampaignId, RowId, RowOutcome, RunId};

/// The columns; with several inputs [`FILE_COLUMN`] stands before them, with several
/// runs [`RUN_COLUMN`] after them.
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

const RUN_COLUMN: &str = "run";

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

/// What became of one row.
#[derive(Debug, Clone, Copy)]
pub struct ResultsLine<'a> {
    /// The name of its input.
    pub file: &'a str,
    /// The row.
    pub row: RowId,
    /// Its line in its input, from 1.
    pub line: u64,
    /// The number that it was sent with, or the cell as it was read.
    pub phone: &'a str,
    /// Its campaign, where the id is known.
    pub campaign: Option<CampaignId>,
    /// What became of it.
    pub outcome: &'a RowOutcome,
    /// The run that it is of; none where only one is told of.
    pub run: Option<RunId>,
}

impl ResultsLine<'_> {
    /// The cells of [`COLUMNS`].
    fn cells(&self) -> [String; COLUMNS.len()] {
        let text = |value: Option<String>| value.unwrap_or_default();
        let outcome = self.outcome;
        let settled_at = outcome.settled_at;
        [
            self.row.to_string(),
            self.line.to_string(),
            self.phone.to_owned(),
            text(self.campaign.map(|id| id.to_string())),
            outcome.status.to_string(),
            text(outcome.lead_id.clone()),
            text(outcome.http_status.map(|status| status.to_string())),
            outcome.attempts.to_string(),
            text(outcome.error_code.map(|code| code.to_string())),
            text(outcome.error.clone()),
            text(settled_at.map(|at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())),
        ]
    }
}

/// The columns that not every results file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ExtraColumns {
    /// There are several inputs.
    pub(super) file: bool,
    /// There are several runs.
    pub(super) run: bool,
}

/// A results file on its way to its place.
#[derive(Debug)]
pub(super) struct ResultsCsv {
    csv: CsvOutput,
    extra: ExtraColumns,
}

impl ResultsCsv {
    /// Creates the file with its header.
    pub(super) fn create(
        path: &Path,
        form: CsvForm,
        extra: ExtraColumns,
        known: &KnownOutputs,
    ) -> Result<ResultsCsv, OutputError> {
        let mut results = ResultsCsv {
            csv: CsvOutput::create(path, form, known)?,
            extra,
        };
        results.record(FILE_COLUMN, COLUMNS, RUN_COLUMN)?;
        // Now, so that a full disk is found out.
        results.flush()?;
        Ok(results)
    }

    /// Writes the line of one row.
    pub(super) fn write(&mut self, line: &ResultsLine<'_>) -> Result<(), OutputError> {
        let run = line.run.map(|run| run.to_string()).unwrap_or_default();
        self.record(line.file, line.cells(), &run)
    }

    /// See [`CsvOutput::flush`].
    pub(super) fn flush(&mut self) -> Result<(), OutputError> {
        self.csv.flush()
    }

    /// See [`super::Writer::leave`].
    pub(super) fn leave(&self) {
        self.csv.leave();
    }

    /// The file, with everything handed over to it.
    pub(super) fn into_file(self) -> Result<OutputFile, OutputError> {
        self.csv.into_file()
    }

    fn record<C: AsRef<str>>(
        &mut self,
        file: &str,
        cells: [C; COLUMNS.len()],
        run: &str,
    ) -> Result<(), OutputError> {
        let file = self.extra.file.then_some(file);
        let run = self.extra.run.then_some(run);
        let cells = cells.iter().map(AsRef::as_ref);
        let all = file.into_iter().chain(cells).chain(run);
        self.csv.record(all.map(|cell| harmless(cell).into_owned()))
    }
}
