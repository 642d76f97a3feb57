//! The results file of an import or an export: one line for each row.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use super::csv_output::{CsvForm, CsvOutput, cause_of};
use super::formula::harmless;
use super::ours::Existing;
use super::sealed::SealedFile;
use super::{KnownOutputs, OutputError, Written, undo_file};
use crate::intake::{PlannedInput, PreparedRow};
use crate::lead::{CampaignId, RowId, RowOutcome, RunId};
use crate::ledger::OutputKind;
use crate::message::Voice;
use crate::phone::{NumberKind, PhoneNumber};
use crate::source::Row;
use crate::text::printable;

/// The columns of every results file. With several inputs [`FILE_COLUMN`]
/// comes before them, with several runs [`RUN_COLUMN`] after them.
const COLUMNS: [&str; 13] = [
    ROW_COLUMN,
    LINE_COLUMN,
    "phone_number",
    "campaign_id",
    "status",
    "lead_id",
    "http_status",
    "attempts",
    "error_code",
    "error",
    "settled_at",
    "phone_country",
    "phone_kind",
];

/// How many of them show that a file is a results file: earlier versions wrote no others.
const KNOWN_BY: usize = 11;

pub(super) const ROW_COLUMN: &str = "row";
pub(super) const LINE_COLUMN: &str = "line";

const FILE_COLUMN: &str = "file";

const RUN_COLUMN: &str = "run";

/// Whether a file with this header is a results file, or says what was undone, which must not be used as a list of contacts.
pub fn has_results_header(headers: &[String]) -> bool {
    // Also true after a spreadsheet has saved the file with columns added
    // or moved, or spaces around the names.
    let names: Vec<String> = headers
        .iter()
        .map(|header| header.trim().to_lowercase())
        .collect();
    let has_all = |columns: &[&str]| {
        let mut columns = columns.iter();
        columns.all(|ours| names.iter().any(|name| name == ours))
    };
    has_all(&COLUMNS[..KNOWN_BY]) || has_all(&undo_file::COLUMNS)
}

/// Whether `name` is the name of a column that results files have.
pub fn is_results_column(name: &str) -> bool {
    let name = name.trim();
    let ours = COLUMNS.iter().chain([&FILE_COLUMN, &RUN_COLUMN]);
    ours.into_iter().any(|ours| name.eq_ignore_ascii_case(ours))
}

/// The form of the results of an import. The delimiter is that of the first input;
/// there is a byte order mark if any input has one.
pub(super) fn csv_form(inputs: &[PlannedInput]) -> CsvForm {
    let mut texts = inputs.iter().map(|planned| planned.form.text());
    let first = inputs.first().and_then(|planned| planned.form.text());
    CsvForm {
        has_bom: texts.any(|text| text.is_some_and(|text| text.has_bom)),
        delimiter: first.map_or(CsvForm::default().delimiter, |first| first.delimiter),
    }
}

/// One line of the results: a row and its outcome.
#[derive(Debug, Clone, Copy)]
pub struct ResultsLine<'a> {
    pub file: &'a str,
    pub row: RowId,
    /// The line of the row in its input, from 1.
    pub line: u64,
    /// The number that was sent, or the cell as it was read.
    pub phone: &'a str,
    /// The campaign of the row, if its id is known.
    pub campaign: Option<CampaignId>,
    pub outcome: &'a RowOutcome,
    /// The run of the row; `None` if there is only one run.
    pub run: Option<RunId>,
    /// The cells that are copied from the input.
    pub kept: &'a [Cow<'a, str>],
}

impl<'a> ResultsLine<'a> {
    /// The cells of [`COLUMNS`].
    fn cells(&self, voice: Voice) -> [Cow<'a, str>; COLUMNS.len()] {
        fn shown<'a>(value: Option<impl ToString>) -> Cow<'a, str> {
            value.map_or(Cow::Borrowed(""), |value| value.to_string().into())
        }
        let outcome = self.outcome;
        let kind = PhoneNumber::from_e164(self.phone).map(NumberKind::of);
        // Where the country is not known, neither is the kind.
        let country = kind.ok().and_then(|kind| Some((kind.country?, kind.line)));
        [
            self.row.to_string().into(),
            self.line.to_string().into(),
            self.phone.into(),
            shown(self.campaign),
            outcome.status.as_str().into(),
            outcome.lead_id.as_deref().unwrap_or_default().into(),
            shown(outcome.http_status),
            outcome.attempts.to_string().into(),
            shown(outcome.error_code),
            shown(outcome.error.as_ref().map(|error| error.words(voice))),
            // To the second.
            outcome
                .settled_at
                .map_or(Cow::Borrowed(""), |time| format!("{time:.0}").into()),
            shown(country.map(|(country, _)| country)),
            country.map_or("", |(_, line)| line.as_str()).into(),
        ]
    }
}

/// The columns that results have besides those that all have.
#[derive(Debug, Clone, Copy)]
pub struct MoreColumns {
    /// There are several inputs.
    pub file: bool,
    /// There are several runs.
    pub run: bool,
}

impl MoreColumns {
    fn write_header<'n>(
        self,
        kept: impl Iterator<Item = &'n str>,
        delimiter: u8,
        to: &mut csv::Writer<impl Write>,
    ) -> csv::Result<()> {
        let file = self.file.then_some(FILE_COLUMN);
        let names = all_cells(file, COLUMNS, self.run.then_some(RUN_COLUMN)).chain(kept);
        to.write_record(names.map(|name| harmless(name.as_bytes(), delimiter)))
    }

    fn write_line(
        self,
        line: &ResultsLine<'_>,
        voice: Voice,
        delimiter: u8,
        shown: fn(&str) -> Cow<'_, str>,
        to: &mut csv::Writer<impl Write>,
    ) -> csv::Result<()> {
        let file = self.file.then_some(line.file);
        let run = line.run.filter(|_| self.run);
        let run = run.map(|run| run.to_string());
        let cells = line.cells(voice);
        let cells = cells.each_ref().map(AsRef::as_ref);
        let kept = line.kept.iter().map(AsRef::as_ref);
        let all = all_cells(file, cells, run.as_deref()).chain(kept);
        to.write_record(all.map(|cell| match shown(cell) {
            Cow::Borrowed(cell) => harmless(cell.as_bytes(), delimiter),
            Cow::Owned(cell) => harmless(cell.as_bytes(), delimiter).into_owned().into(),
        }))
    }
}

/// An export that becomes no file: rows of earlier runs, in UTF-8 with commas. It goes to standard
/// output, often a terminal, and CSV has no escapes: what would steer that is replaced. A file has
/// every cell as it is.
#[derive(Debug)]
pub struct ResultsText<W: Write> {
    to: csv::Writer<W>,
    more: MoreColumns,
}

impl<W: Write> ResultsText<W> {
    pub fn begin(to: W, more: MoreColumns) -> io::Result<ResultsText<W>> {
        let form = CsvForm::default();
        let mut to = form.writer(to);
        let header = more.write_header(std::iter::empty(), form.delimiter, &mut to);
        header.map_err(cause_of)?;
        Ok(ResultsText { to, more })
    }

    pub fn write(&mut self, line: &ResultsLine<'_>) -> io::Result<()> {
        let (voice, delimiter) = (Voice::Terminal, CsvForm::default().delimiter);
        let written = self
            .more
            .write_line(line, voice, delimiter, printable, &mut self.to);
        written.map_err(cause_of)
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// A results file on its way to its place.
#[derive(Debug)]
pub struct ResultsFile {
    pub(super) csv: CsvOutput,
    more: MoreColumns,
    rows: u64,
}

impl ResultsFile {
    pub(super) fn of_import(
        path: &Path,
        inputs: &[PlannedInput],
        known: &KnownOutputs,
    ) -> Result<ResultsFile, OutputError> {
        let more = MoreColumns {
            file: inputs.len() > 1,
            run: false,
        };
        ResultsFile::create(path, csv_form(inputs), more, known)
    }

    /// The results of an export, as [`ResultsText`] has them.
    pub fn of_export(path: &Path, more: MoreColumns) -> Result<ResultsFile, OutputError> {
        let (form, known) = (CsvForm::default(), KnownOutputs::default());
        let mut results = ResultsFile::create(path, form, more, &known)?;
        results.begin(&[])?;
        Ok(results)
    }

    fn create(
        path: &Path,
        form: CsvForm,
        more: MoreColumns,
        known: &KnownOutputs,
    ) -> Result<ResultsFile, OutputError> {
        Ok(ResultsFile {
            csv: CsvOutput::create(path, form, known)?,
            more,
            rows: 0,
        })
    }

    /// Writes the header. After the columns of every results file come those that are copied
    /// from the inputs. If the inputs differ, the names of the first input count.
    pub(super) fn begin(&mut self, inputs: &[PlannedInput]) -> Result<(), OutputError> {
        let kept = inputs.first().map(|planned| &planned.mapping.kept);
        let kept = kept.into_iter().flatten().map(|(name, _)| name.as_str());
        let CsvOutput { writer, form } = &mut self.csv;
        let written = self.more.write_header(kept, form.delimiter, writer);
        written.map_err(|error| self.csv.error(cause_of(error)))?;
        self.csv.flush()
    }

    pub(super) fn write_row(
        &mut self,
        row: Row<'_>,
        prepared: &PreparedRow,
        outcome: &RowOutcome,
        input: &PlannedInput,
        voice: Voice,
    ) -> Result<(), OutputError> {
        let phone = match prepared.phone {
            Some(number) => number.to_string(),
            None => input.mapping.phone_cell(row).into_owned(),
        };
        let kept = input.mapping.kept.iter();
        let kept: Vec<_> = kept.map(|(_, column)| row.lossy(*column)).collect();
        let line = ResultsLine {
            file: input.input.name(),
            row: row.id(),
            line: row.line(),
            phone: &phone,
            campaign: prepared.campaign,
            outcome,
            run: None,
            kept: &kept,
        };
        self.write_line(&line, voice)
    }

    pub fn write(&mut self, line: &ResultsLine<'_>) -> Result<(), OutputError> {
        self.write_line(line, Voice::Terminal)
    }

    fn write_line(&mut self, line: &ResultsLine<'_>, voice: Voice) -> Result<(), OutputError> {
        let CsvOutput { writer, form } = &mut self.csv;
        self.rows += 1;
        let written = self
            .more
            .write_line(line, voice, form.delimiter, |cell| cell.into(), writer);
        written.map_err(|error| self.csv.error(cause_of(error)))
    }

    pub(super) fn seal(self) -> Result<SealedFile, OutputError> {
        SealedFile::new(self.csv.into_file()?, OutputKind::Results, self.rows, None)
    }

    /// Moves an export to its final path. An existing file there is renamed:
    /// exports are not recorded, so it may be any file of the user.
    pub fn finish(self) -> Result<Written, OutputError> {
        let mut written = Written::default();
        self.seal()?.finish(Existing::IsRenamed, &mut written)?;
        Ok(written)
    }
}

/// The cells of a line, including those of the extra columns.
fn all_cells<'c>(
    file: Option<&'c str>,
    cells: [&'c str; COLUMNS.len()],
    run: Option<&'c str>,
) -> impl Iterator<Item = &'c str> {
    file.into_iter().chain(cells).chain(run)
}
