//! The lines of a results file, of an import or an export.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use jiff::Timestamp;

use super::csv_output::{CsvForm, CsvOutput, cause_of};
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

/// The lines of a results file, wherever they go.
#[derive(Debug)]
pub(super) struct Lines {
    /// There are several inputs.
    with_file: bool,
    /// There are several runs.
    with_run: bool,
    delimiter: u8,
    /// When the row that came last was settled.
    settled_at: ShownTime,
}

impl Lines {
    pub(super) fn new(with_file: bool, with_run: bool, delimiter: u8) -> Lines {
        Lines {
            with_file,
            with_run,
            delimiter,
            settled_at: ShownTime::default(),
        }
    }

    /// Creates a file with its header, behind which the columns in `kept` stand.
    pub(super) fn begin_file(
        &self,
        path: &Path,
        form: CsvForm,
        kept: &[&str],
        known: &KnownOutputs,
    ) -> Result<CsvOutput, OutputError> {
        let mut csv = CsvOutput::create(path, form, known)?;
        let header: Vec<&str> = self.header().collect();
        let names = header.iter().chain(kept);
        csv.record(names.map(|name| harmless(name.as_bytes(), form.delimiter)))?;
        // Now, so that a full disk is found out.
        csv.flush()?;
        Ok(csv)
    }

    pub(super) fn write_to_file(
        &mut self,
        line: &ResultsLine<'_>,
        csv: &mut CsvOutput,
    ) -> Result<(), OutputError> {
        let written = self.write(line, csv.writer());
        written.map_err(|error| csv.error(error))
    }

    pub(super) fn header(&self) -> impl Iterator<Item = &'static str> {
        let file = self.with_file.then_some(FILE_COLUMN);
        all_cells(file, COLUMNS, self.with_run.then_some(RUN_COLUMN))
    }

    pub(super) fn write<W: Write>(
        &mut self,
        line: &ResultsLine<'_>,
        to: &mut csv::Writer<W>,
    ) -> io::Result<()> {
        let run = line.run.map(|run| run.to_string()).unwrap_or_default();
        let (with_file, with_run) = (self.with_file, self.with_run);
        let cells = line.cells(self.settled_at.of(line.outcome.settled_at));
        let cells = cells.each_ref().map(AsRef::as_ref);
        let kept = line.kept.iter().map(AsRef::as_ref);
        let all = all_cells(
            with_file.then_some(line.file),
            cells,
            with_run.then_some(&run),
        )
        .chain(kept);
        let delimiter = self.delimiter;
        let all = all.map(|cell| harmless(cell.as_bytes(), delimiter));
        to.write_record(all).map_err(cause_of)
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
