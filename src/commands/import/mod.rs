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

use anyhow::anyhow;

use super::stopwatch::Stopwatch;
use super::{check, inputs, places, service};
use crate::ask;
use crate::cli::ImportArgs;
use crate::command_line::CommandLine;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::report::{JobLabels, Log, Metrics};
use crate::settings::{Environment, ImportSettings, LedgerChoice, RefusedImport};
use crate::signals;
use prepared::{Asked, Prepared};
use sending::send;
use test_lead::TestLead;

/// Runs the command, which was typed as `line`.
pub fn run(
    args: &ImportArgs,
    environment: &Environment,
    line: CommandLine,
    log: &Log,
) -> Result<ExitCode, Failure> {
    if args.delivery.dry_run {
        return check::run(args, environment, &line, log);
    }
    let metrics = metrics(args, environment)?;
    let ended = service::block_on(import(args, environment, line, log, metrics.clone()));
    if let Err(failure) = &ended {
        metrics.fail(failure);
    }
    ended
}

/// The figures of the import. A test lead is no run, and has none.
fn metrics(args: &ImportArgs, environment: &Environment) -> Result<Metrics, Failure> {
    let file = args.metrics_file.as_deref();
    let file = file.filter(|_| args.delivery.test_to.is_none());
    let profile = environment.profile.as_ref();
    let profile = profile.and_then(|in_force| in_force.profile.name.as_deref());
    let labels = JobLabels::new(profile, &args.inputs);
    Ok(Metrics::new(file, labels)?)
}

/// Leaves the figures of an import whose settings are wrong.
pub fn refused(import: &RefusedImport, failure: &Failure) {
    let labels = JobLabels::new(import.profile.as_deref(), &import.inputs);
    // What keeps them from being written is not what is wrong with the command.
    if let Ok(metrics) = Metrics::new(Some(&import.metrics_file), labels) {
        metrics.fail(failure);
    }
}

async fn import(
    args: &ImportArgs,
    environment: &Environment,
    line: CommandLine,
    log: &Log,
    metrics: Metrics,
) -> Result<ExitCode, Failure> {
    let watch = Stopwatch::start();
    if args.mapping.save_mapping.is_some() {
        return Err(Failure::new(
            StoppedBy::Usage,
            anyhow!(
                "`--save-mapping` goes with `leadload check`, which shows the mapping that is kept\n\nhint: type the same command with `check` in the place of `import`"
            ),
        ));
    }
    // From the beginning on, so that no signal falls between two listeners.
    let mut interrupts = signals::listen().or_stopped(StoppedBy::Usage)?;
    let ledger = LedgerChoice::for_rows(args, environment).or_stopped(StoppedBy::Usage)?;
    service::unless(&mut interrupts, places::look_at(args, environment, &ledger)).await?;
    let mut settings = ImportSettings::from_cli(args, environment).or_stopped(StoppedBy::Usage)?;
    // A time that no clock can show never comes.
    let time_up = settings
        .max_duration
        .and_then(|most| watch.began().checked_add(most));
    interrupts.set_deadline(time_up.map(Into::into));
    let surveying = inputs::survey(args, environment, &settings.ledger);
    let (args, surveyed) = service::unless(&mut interrupts, surveying).await?;
    let taken_up = settings.take_up(&args, environment);
    taken_up.or_stopped(StoppedBy::Usage)?;
    // What is tried out on the sandbox calls nobody, and a log for machines is read by none
    // who could answer.
    let is_watched = ask::may_ask(args.output.log_format) && !settings.reading.outputs.sandbox;
    let may_pick = is_watched && !settings.yes && args.delivery.test_to.is_none();
    if !settings.has_campaign() && !may_pick {
        return Err(picker::no_campaign());
    }
    if let Some(number) = &args.delivery.test_to {
        let test = TestLead::new(number, &args, environment, settings, watch)?;
        return test.send(surveyed, interrupts).await;
    }
    let show = inputs::show(settings.reading.progress, &args.output);
    let asked = Asked {
        args,
        environment,
        settings,
        line,
        watch,
        metrics,
        show,
        is_watched,
    };
    let mut prepared = Prepared::new(asked, surveyed, &mut interrupts).await?;
    let rows = prepared.agree(&mut interrupts, log).await?;
    send(prepared, rows, interrupts, log).await
}
