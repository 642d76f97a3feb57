//! What checking and sending have in common: the inputs, opened and planned.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use anyhow::anyhow;
use tracing::warn;

use super::rejects::Ancestors;
use super::service;
use crate::cli::{Format, ImportArgs, Progress};
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::intake::{Intake, PlannedInput, SurveyedInput};
use crate::phone::PhoneReader;
use crate::report::{Ended, RowTotal, Tally};
use crate::results::{OutputError, OutputPaths};
use crate::screen::SuppressionLists;
use crate::settings::{Environment, LedgerChoice, ReadingSettings, Service, form_choice};
use crate::source::{Fingerprint, Input, SourceError};

/// Opens all files and finds out in what form each is, on a thread of its own: standard
/// input may be long in coming, a file may be long, and somebody may want to stop.
/// Rejects among them bring flags of their own, which come back with the others.
pub(super) async fn survey(
    args: &ImportArgs,
    environment: &Environment,
    ledger: &LedgerChoice,
) -> Result<(ImportArgs, Vec<SurveyedInput>), Failure> {
    let to = Service::name(&args.connection, environment).or_stopped(StoppedBy::Usage)?;
    let (args, ledger) = (args.clone(), ledger.clone());
    service::on_a_thread(move || {
        let ancestors = Ancestors::of(&ledger, to);
        let surveyed = survey_each(&args, &ancestors)?;
        let args = ancestors.fill_in(&args, &surveyed)?;
        Ok((args, surveyed))
    })
    .await
    .unwrap_or_else(broke_off)
}

fn survey_each(args: &ImportArgs, ancestors: &Ancestors) -> Result<Vec<SurveyedInput>, Failure> {
    let form = form_choice(&args.reading);
    let encoding_of = |run| ancestors.encoding_of(run);
    open_each(&args.inputs)?
        .into_iter()
        .map(|input| SurveyedInput::new(input, &form, &encoding_of))
        .collect::<Result<_, _>>()
        .or_stopped(StoppedBy::Usage)
}

/// Fits the flags to the inputs and reads the do-not-call lists.
pub(super) async fn plan(
    settings: &ReadingSettings,
    surveyed: Vec<SurveyedInput>,
) -> Result<Intake, Failure> {
    let settings = settings.clone();
    service::on_a_thread(move || plan_each(&settings, surveyed))
        .await
        .unwrap_or_else(broke_off)
}

fn plan_each(settings: &ReadingSettings, surveyed: Vec<SurveyedInput>) -> Result<Intake, Failure> {
    let planned: Vec<PlannedInput> = surveyed
        .into_iter()
        .map(|input| PlannedInput::new(input, &settings.mapping))
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
        once: settings.once,
    })
}

/// What the inputs hold.
pub(super) async fn fingerprints(intake: &Intake) -> Result<Vec<Fingerprint>, Failure> {
    let inputs = Arc::clone(&intake.inputs);
    service::on_a_thread(move || {
        let inputs = inputs.iter().map(|planned| planned.input.fingerprint());
        inputs
            .collect::<Result<_, _>>()
            .or_stopped(StoppedBy::Usage)
    })
    .await
    .unwrap_or_else(broke_off)
}

/// Where the inputs are, as absolute paths; nowhere for standard input.
pub(super) fn places(intake: &Intake) -> impl Iterator<Item = Option<PathBuf>> {
    let inputs = intake.inputs.iter();
    inputs.map(|planned| {
        planned
            .input
            .path()
            .and_then(|path| path.canonicalize().ok())
    })
}

fn broke_off<T>() -> Result<T, Failure> {
    Err(SourceError::BrokeOff).or_stopped(StoppedBy::Usage)
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
    ledger: &LedgerChoice,
) -> Result<OutputPaths, Failure> {
    let paths = OutputPaths::plan(
        &intake.inputs,
        intake.suppression.inputs(),
        &settings.results,
        &settings.rejects,
        settings.sandbox,
    )
    .map_err(OutputError::before_sending)?;
    if let Some(ledger) = ledger.path() {
        let refused = paths.refuse_ledger(ledger);
        refused.map_err(OutputError::before_sending)?;
    }
    Ok(paths)
}

/// Whether a bar is drawn.
pub(super) fn shows_bar(progress: Progress, quiet: bool) -> bool {
    match progress {
        Progress::Never => false,
        Progress::Auto => !quiet && std::io::stderr().is_terminal(),
        Progress::Always => true,
    }
}

/// Counts the rows beside the work.
pub(super) fn count_rows(intake: &Intake, total: &RowTotal) {
    let (intake, total) = (intake.clone(), total.clone());
    thread::spawn(move || {
        // What is wrong with the input is told by those who send it.
        if let Ok(rows) = intake.count_rows() {
            total.set(rows);
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
