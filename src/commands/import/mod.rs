//! `leadload import`: contacts go in, leads exist, every row is accounted for.

mod confirmation;
mod delivery;
mod ending;
mod identity;
mod picker;
mod prepared;
mod record;
mod sending;
mod shared_pace;
mod test_lead;

use std::path::PathBuf;

use anyhow::anyhow;

use super::asking::{Asking, Attempt};
use super::stopwatch::Stopwatch;
use super::{check, inputs, places, service};
use crate::ask;
use crate::command_line::CommandLine;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::options::Options;
use crate::report::{JobLabels, Log, Metrics};
use crate::results::OutputChoice;
use crate::settings::{ImportSettings, Layers, Service};
use crate::signals;
use prepared::{Asked, Prepared};
use record::Record;
use sending::send;
use test_lead::TestLead;

/// Runs the command, which was typed as `line`.
pub fn run(
    files: &[PathBuf],
    layers: Layers,
    line: CommandLine,
    log: &Log,
) -> Result<Attempt<ExitCode>, Failure> {
    if layers.typed().delivery.dry_run == Some(true) {
        return check::run(files, layers, &line, log);
    }
    let metrics = metrics(files, &layers)?;
    let ended = service::block_on(import(files, layers, line, log, metrics.clone()));
    if let Err(failure) = &ended {
        metrics.fail(failure);
    }
    ended
}

/// The figures of the import. A test lead is no run, and has none.
fn metrics(files: &[PathBuf], layers: &Layers) -> Result<Metrics, Failure> {
    let said = layers.said();
    let file = said.output.metrics_file.as_deref().map(PathBuf::as_path);
    let file = file.filter(|_| said.delivery.test_to.is_none());
    let profile = layers.profile.as_ref();
    let profile = profile.and_then(|profile| profile.name.as_deref());
    // One that is named and missing is what is wrong.
    let profile = profile.or(said.place.profile.as_ref().map(|name| name.0.as_str()));
    Ok(Metrics::new(file, JobLabels::new(profile, files))?)
}

/// Leaves the figures of an import whose settings are wrong.
pub fn refused(files: &[PathBuf], layers: &Layers, failure: &Failure) {
    let is_check = layers.typed().delivery.dry_run == Some(true);
    // What keeps them from being written is not what is wrong with the command.
    if let (false, Ok(metrics)) = (is_check, metrics(files, layers)) {
        metrics.fail(failure);
    }
}

async fn import(
    files: &[PathBuf],
    layers: Layers,
    line: CommandLine,
    log: &Log,
    metrics: Metrics,
) -> Result<Attempt<ExitCode>, Failure> {
    let watch = Stopwatch::start();
    let options = layers.options();
    refuse_save_mapping(&options)?;
    // From the beginning on, so that no signal falls between two listeners.
    let mut interrupts = signals::listen().or_stopped(StoppedBy::Usage)?;
    service::or_interrupted(&mut interrupts, places::look_at(files, &layers)).await?;
    if let Some(mut asking) = Asking::new(&layers, files, &watch, &mut interrupts)
        && let Some(answer) = asking.profile(&layers).await?
    {
        return Ok(Attempt::again(answer));
    }
    let service = Service::new(&layers).or_stopped(StoppedBy::Usage)?;
    // A time that no clock can show never comes.
    let max_duration = options.delivery.max_duration.as_deref();
    let time_up = max_duration.and_then(|most| watch.began().checked_add(*most));
    interrupts.set_deadline(time_up.map(Into::into));
    let surveying = inputs::survey(files, layers);
    let (layers, surveyed) = service::or_interrupted(&mut interrupts, surveying).await?;
    let settings = ImportSettings::new(&layers, &OutputChoice::BesideInput);
    let settings = settings.or_stopped(StoppedBy::Usage)?;
    // What is tried out on the sandbox calls nobody, and a log for machines is read by none
    // who could answer.
    let is_watched = ask::may_ask(settings.log_format) && !settings.reading.outputs.sandbox;
    let may_pick = is_watched && !settings.yes && settings.test_to.is_none();
    if !settings.has_campaign() && !may_pick {
        return Err(picker::no_campaign());
    }
    if let Some(number) = settings.test_to.clone() {
        let test = TestLead::new(&number, settings, service, watch)?;
        return test.send(surveyed, interrupts).await.map(Attempt::Done);
    }
    // It may have to be waited for, and do-not-call lists are to be as they are then.
    let record = Record::open(&settings, &watch, &mut interrupts).await?;
    let planning = inputs::plan(&settings.reading, surveyed);
    let planned = service::or_interrupted(&mut interrupts, planning).await;
    if let Some(asking) = Asking::new(&layers, files, &watch, &mut interrupts)
        && let Some(answer) = asking.lists(&planned).await?
    {
        return Ok(Attempt::again(answer));
    }
    let protecting = planned?.protected(&settings.reading);
    let asked = Asked {
        intake: service::or_interrupted(&mut interrupts, protecting).await?,
        record,
        show: inputs::show(&settings),
        settings,
        service,
        line,
        watch,
        metrics,
        is_watched,
    };
    let mut prepared = Prepared::new(asked, &mut interrupts).await?;
    let rows = prepared.agree(&mut interrupts, log).await?;
    send(prepared, rows, interrupts, log)
        .await
        .map(Attempt::Done)
}

fn refuse_save_mapping(options: &Options) -> Result<(), Failure> {
    match options.mapping.save_mapping {
        None => Ok(()),
        Some(_) => Err(Failure::new(
            StoppedBy::Usage,
            anyhow!(
                "`--save-mapping` goes with `leadload check`, which shows the mapping that is kept\n\nhint: type the same command with `check` in the place of `import`"
            ),
        )),
    }
}
