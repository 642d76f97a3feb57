//! The results file: one line for each row.

use std::path::Path;

use super::csv_output::CsvForm;
use super::results_csv::{ResultsCsv, ResultsLine};
use super::sealed::SealedFile;
use super::{KnownOutputs, OutputError};
use crate::intake::{PlannedInput, PreparedRow};
use crate::lead::RowOutcome;
use crate::ledger::OutputKind;
use crate::source::Row;

/// What has to be known of an input to write its rows' lines.
#[derive(Debug)]
struct InputNames {
    name: String,
    phone_column: usize,
    /// The columns that are copied into the results.
    kept: Vec<usize>,
}

/// UTF-8 with the delimiter of the first input, and with a byte order mark where any
/// input has one.
fn form(inputs: &[PlannedInput]) -> CsvForm {
    let mut texts = inputs.iter().map(|planned| planned.form.text());
    let first = inputs.first().and_then(|planned| planned.form.text());
    CsvForm {
        has_bom: texts.any(|text| text.is_some_and(|text| text.has_bom)),
        delimiter: first.map_or(CsvForm::default().delimiter, |first| first.delimiter),
    }
}

/// What the copied columns are called: as in the first input, where they differ.
fn kept_names(inputs: &[PlannedInput]) -> Vec<&str> {
    let kept = inputs.first().map(|planned| &planned.mapping.kept);
    let names = kept.into_iter().flatten();
    names.map(|(name, _)| name.as_str()).collect()
}

#[derive(Debug)]
pub(super) struct ResultsFile {
    lines: ResultsCsv,
    inputs: Vec<InputNames>,
    rows: u64,
}

impl ResultsFile {
    pub(super) fn create(
        path: &Path,
        inputs: &[PlannedInput],
        known: &KnownOutputs,
    ) -> Result<Self, OutputError> {
        let extra = (inputs.len() > 1, false);
        Ok(ResultsFile {
            lines: ResultsCsv::create(path, form(inputs), extra, &kept_names(inputs), known)?,
            inputs: inputs
                .iter()
                .map(|planned| InputNames {
                    name: planned.input.name().to_owned(),
                    phone_column: planned.mapping.first_phone_column(),
                    kept: planned
                        .mapping
                        .kept
                        .iter()
                        .map(|(_, column)| *column)
                        .collect(),
                })
                .collect(),
            rows: 0,
        })
    }

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
        self.rows += 1;
        let kept: Vec<_> = input.kept.iter().map(|of| row.lossy(*of)).collect();
        let line = ResultsLine {
            file: &input.name,
            row: row.id(),
            line: row.line(),
            phone: &phone,
            campaign: prepared.campaign,
            outcome,
            run: None,
            kept: &kept,
        };
        self.lines.write(&line)
    }

    pub(super) fn flush(&mut self) -> Result<(), OutputError> {
        self.lines.csv.flush()
    }

    pub(super) fn leave(&self) {
        self.lines.csv.leave();
    }

    pub(super) fn seal(self) -> Result<SealedFile, OutputError> {
        SealedFile::new(
            self.lines.csv.into_file()?,
            OutputKind::Results,
            self.rows,
            None,
        )
    }
}
