//! What checking and sending have in common: the inputs, opened and planned.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use anyhow::anyhow;
use tracing::warn;

use super::service;
use crate::cli::{Format, Progress};
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::intake::{Intake, PlannedInput};
use crate::phone::PhoneReader;
use crate::report::{Bar, Ended, Tally};
use crate::results::{OutputError, OutputPaths};
use crate::screen::SuppressionLists;
use crate::settings::ReadingSettings;
use crate::source::{Input, SourceError};

/// Opens all files and finds out how each is to be read, on a thread of its own:
/// standard input may be long in coming, a file may be long, and somebody may want
/// to stop.
pub(super) async fn plan(settings: &ReadingSettings) -> Result<Intake, Failure> {
    let settings = settings.clone();
    service::on_a_thread(move || plan_each(&settings))
        .await
        .unwrap_or_else(|| Err(SourceError::BrokeOff).or_stopped(StoppedBy::Usage))
}

fn plan_each(settings: &ReadingSettings) -> Result<Intake, Failure> {
    let inputs = open_each(&settings.inputs)?;
    let planned: Vec<PlannedInput> = inputs
        .into_iter()
        .map(|input| PlannedInput::new(input, &settings.form, &settings.mapping))
        .collect::<Result<_, _>>()
        .or_stopped(StoppedBy::Usage)?;
    let phones = PhoneReader::new(settings.phones.clone());
    let suppression = SuppressionLists::read(&settings.suppress, &phones, settings.region)
        .or_stopped(StoppedBy::Usage)?;
    Ok(Intake {
        inputs: planned.into(),
        limit: settings.limit,
        phones,
        region: settings.region,
        suppression: Arc::new(suppression),
        allow_duplicates: settings.allow_duplicates,
    })
}

fn open_each(paths: &[PathBuf]) -> Result<Vec<Input>, Failure> {
    let mut inputs: Vec<Input> = Vec::with_capacity(paths.len());
    for path in paths {
        let input = Input::open(path).or_stopped(StoppedBy::Usage)?;
        if inputs.iter().any(|other| other.is_same(&input)) {
            let error = anyhow!(
                "`{}` is given twice\n\nhint: name each input once",
                input.name()
            );
            return Err(Failure::new(StoppedBy::Usage, error));
        }
        inputs.push(input);
    }
    Ok(inputs)
}

/// Where the outputs go.
pub(super) fn output_paths(
    settings: &ReadingSettings,
    intake: &Intake,
) -> Result<OutputPaths, Failure> {
    OutputPaths::plan(
        &intake.inputs,
        intake.suppression.inputs(),
        &settings.results,
        &settings.rejects,
        settings.sandbox,
    )
    .map_err(OutputError::before_sending)
}

/// Whether a bar is drawn.
pub(super) fn shows_bar(progress: Progress, quiet: bool) -> bool {
    match progress {
        Progress::Never => false,
        Progress::Auto => !quiet && std::io::stderr().is_terminal(),
        Progress::Always => true,
    }
}

/// Counts the rows for a bar that is seen, beside the work.
pub(super) fn count_rows(intake: &Intake, bar: &Bar) {
    if !bar.is_shown() {
        return;
    }
    let (intake, bar) = (intake.clone(), bar.clone());
    thread::spawn(move || {
        // What is wrong with the input is told by those who send it.
        if let Ok(rows) = intake.count_rows() {
            bar.set_total(rows);
        }
    });
}

/// A list without rows may be an export that went wrong.
pub(super) fn warn_of_nothing(tally: &Tally) {
    if tally.counts.total() == 0 {
        warn!("there are no rows to import");
    }
}

/// What is to be said of the files: in text form the summary says it.
pub(super) fn warn_of_files(ended: &Ended<'_>, format: Format) {
    if format == Format::Json {
        for note in &ended.written.notes {
            warn!("{note}");
        }
    }
}
