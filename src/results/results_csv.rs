//! The lines of a results file, of an import or an export.

use std::borrow::Cow;
use std::path::Path;

use jiff::Timestamp;

use super::csv_output::{CsvForm, CsvOutput};
use super::formula::harmless;
use super::{KnownOutputs, OutputError};
use crate::lead::{CampaignId, RowId, RowOutcome, RunId};

/// The columns; with several inputs [`FILE_COLUMN`] comes before them, with several
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
    // As a spreadsheet may have saved it: columns added or moved, spaces around the names.
    let names: Vec<String> = headers
        .iter()
        .map(|header| header.trim().to_lowercase())
        .collect();
    COLUMNS
        .iter()
        .all(|ours| names.iter().any(|name| name == ours))
}

/// Whether all results have a column of this name.
pub fn is_results_column(name: &str) -> bool {
    let name = name.trim();
    let ours = COLUMNS.iter().chain([&FILE_COLUMN, &RUN_COLUMN]);
    ours.into_iter().any(|ours| name.eq_ignore_ascii_case(ours))
}

/// What became of one row.
#[derive(Debug, Clone, Copy)]
pub struct ResultsLine<'a> {
    pub file: &'a str,
    pub row: RowId,
    /// Its line in its input, from 1.
    pub line: u64,
    /// The number that it was sent with, or the cell as it was read.
    pub phone: &'a str,
    /// Its campaign, where the id is known.
    pub campaign: Option<CampaignId>,
    pub outcome: &'a RowOutcome,
    /// Its run; none where there is only one.
    pub run: Option<RunId>,
    /// The cells that are copied from its input.
    pub kept: &'a [Cow<'a, str>],
}

impl<'a> ResultsLine<'a> {
    /// The cells of [`COLUMNS`].
    fn cells(&self, settled_at: &'a str) -> [Cow<'a, str>; COLUMNS.len()] {
        fn shown<'a>(value: Option<impl ToString>) -> Cow<'a, str> {
            value.map_or(Cow::Borrowed(""), |value| value.to_string().into())
        }
        fn text(value: Option<&String>) -> Cow<'_, str> {
            value.map_or(Cow::Borrowed(""), Cow::from)
        }
        let outcome = self.outcome;
        [
            self.row.to_string().into(),
            self.line.to_string().into(),
            self.phone.into(),
            shown(self.campaign),
            outcome.status.as_str().into(),
            text(outcome.lead_id.as_ref()),
            shown(outcome.http_status),
            outcome.attempts.to_string().into(),
            shown(outcome.error_code),
            text(outcome.error.as_ref()),
            settled_at.into(),
        ]
    }
}

/// A time as it is written, to the second, kept for the rows of the same second: a fast
/// service settles thousands of them.
#[derive(Debug, Default)]
struct ShownTime {
    second: Option<i64>,
    text: String,
}

impl ShownTime {
    fn of(&mut self, time: Option<Timestamp>) -> &str {
        let second = time.map(Timestamp::as_second);
        if second != self.second {
            self.second = second;
            let shown = time.map(|time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
            self.text = shown.unwrap_or_default();
        }
        &self.text
    }
}

/// A results file on its way to its place, with its header and the lines so far.
#[derive(Debug)]
pub(super) struct ResultsCsv {
    pub(super) csv: CsvOutput,
    delimiter: u8,
    /// There are several inputs.
    with_file: bool,
    /// There are several runs.
    with_run: bool,
    /// When the row that came last was settled.
    settled_at: ShownTime,
}

impl ResultsCsv {
    /// Behind the columns of all results stand those in `kept`.
    pub(super) fn create(
        path: &Path,
        form: CsvForm,
        (with_file, with_run): (bool, bool),
        kept: &[&str],
        known: &KnownOutputs,
    ) -> Result<ResultsCsv, OutputError> {
        let mut csv = CsvOutput::create(path, form, known)?;
        let file = with_file.then_some(FILE_COLUMN);
        let header = all_cells(file, COLUMNS, with_run.then_some(RUN_COLUMN));
        let names = header.chain(kept.iter().copied());
        csv.record(names.map(|name| harmless(name.as_bytes(), form.delimiter)))?;
        // Now, so that a full disk is found out.
        csv.flush()?;
        Ok(ResultsCsv {
            csv,
            delimiter: form.delimiter,
            with_file,
            with_run,
            settled_at: ShownTime::default(),
        })
    }

    pub(super) fn write(&mut self, line: &ResultsLine<'_>) -> Result<(), OutputError> {
        let file = self.with_file.then_some(line.file);
        let run = line.run.filter(|_| self.with_run);
        let run = run.map(|run| run.to_string());
        let cells = line.cells(self.settled_at.of(line.outcome.settled_at));
        let cells = cells.each_ref().map(AsRef::as_ref);
        let kept = line.kept.iter().map(AsRef::as_ref);
        let all = all_cells(file, cells, run.as_deref()).chain(kept);
        let delimiter = self.delimiter;
        self.csv
            .record(all.map(|cell| harmless(cell.as_bytes(), delimiter)))
    }
}

/// A line's cells, with those of the extra columns that there are.
fn all_cells<'c>(
    file: Option<&'c str>,
    cells: [&'c str; COLUMNS.len()],
    run: Option<&'c str>,
) -> impl Iterator<Item = &'c str> {
    file.into_iter().chain(cells).chain(run)
}
