//! `leadload import`: contacts in, leads out, and every row accounted for.

mod confirmation;
mod ending;
mod identity;
mod prepared;
mod record;
mod sending;
mod test_lead;

use std::path::PathBuf;

use super::ask::{self, Terminal};
use super::inputs::Request;
use super::{check, inputs, questions, service};
use crate::cli::Command;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::options::Options;
use crate::report::{Log, Metrics, job_labels};
use crate::results::OutputChoice;
use crate::settings::{Layers, Service};
use prepared::{Import, Prepared};
use record::Record;
use sending::send;
use test_lead::TestLead;

pub fn run(request: Request, log: &Log) -> Result<ExitCode, Failure> {
    if request.layers.typed().delivery.dry_run == Some(true) {
        return check::run(request, log);
    }
    service::block_on(async {
        let metrics = metrics(&request.files, &request.layers)?;
        let ended = import(request, Terminal::open()?, log, metrics.clone()).await;
        if let Err(failure) = &ended {
            metrics.fail(failure);
        }
        ended
    })
}

/// The metrics of the import. A test lead is no run, and has none.
fn metrics(files: &[PathBuf], layers: &Layers) -> Result<Metrics, Failure> {
    let given = layers.given();
    let file = given.output.metrics_file.as_deref().map(PathBuf::as_path);
    let file = file.filter(|_| given.delivery.test_to.is_none());
    let profile = layers.profile.as_ref();
    let profile = profile.and_then(|profile| profile.name.as_deref());
    // One that is named but does not exist may be what is wrong.
    let profile = profile.or(given.place.profile.as_deref().map(String::as_str));
    Metrics::new(file, job_labels(profile, files))
}

/// Writes the metrics of an import whose settings are wrong.
pub fn record_refusal(command: &Command, layers: &Layers, failure: &Failure) {
    let is_dry_run = layers.typed().delivery.dry_run == Some(true);
    if let Command::Import(args) = command
        && !is_dry_run
        // An error here would hide the one to report.
        && let Ok(metrics) = metrics(&args.inputs, layers)
    {
        metrics.fail(failure);
    }
}

async fn import(
    mut request: Request,
    mut terminal: Terminal,
    log: &Log,
    metrics: Metrics,
) -> Result<ExitCode, Failure> {
    let options = request.layers.options();
    refuse_save_mapping(&options)?;
    let service = Service::new(&request.layers).or_stopped(StoppedBy::Usage)?;
    let max_duration = options.delivery.max_duration.as_deref();
    // A time that no clock can show never comes.
    let deadline = max_duration.and_then(|max| terminal.watch.began.checked_add(*max));
    terminal.interrupts.set_deadline(deadline.map(Into::into));
    let surveying = inputs::survey(&mut request);
    let surveyed = terminal.or_interrupted(surveying).await?;
    let unnamed = OutputChoice::BesideInput;
    let mut settings = request.settings(&unnamed)?;
    // The sandbox calls no one.
    let is_watched = ask::can_ask(options.log.format()) && !settings.reading.outputs.sandbox;
    let delivery = &options.delivery;
    let may_pick = is_watched && delivery.yes != Some(true) && delivery.test_to.is_none();
    if !settings.has_campaign() && !may_pick {
        return Err(questions::no_campaign());
    }
    if let Some(number) = &delivery.test_to {
        let test = TestLead::new(number, settings)?;
        return test.send(&service, surveyed, terminal).await;
    }
    // Before the do-not-call lists are read: opening it may take a long wait.
    let record = Record::open(&settings, &mut terminal).await?;
    let planning = questions::plan(
        &mut request,
        &mut settings,
        surveyed,
        &unnamed,
        &mut terminal,
    );
    let intake = planning.await?;
    let import = Import {
        request,
        settings,
        intake,
        metrics,
        is_watched,
    };
    let mut prepared = Prepared::new(import, &service, record, &mut terminal).await?;
    let rows = prepared.agree(&mut terminal, log).await?;
    send(prepared, rows, terminal, log).await
}

fn refuse_save_mapping(options: &Options) -> Result<(), Failure> {
    if options.mapping.save_mapping.is_none() {
        return Ok(());
    }
    Err(Failure::usage(
        "`--save-mapping` is for `leadload check`, which shows the mapping that it saves\n\nhint: run the same command with `check` instead of `import`",
    ))
}
