//! `leadload import`: sends contacts as leads and accounts for every row.

mod confirmation;
mod terminal_observer;
mod test_call;

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;

use super::ask::{self, Terminal};
use super::{check, questions};
use crate::cli::Command;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::import::campaign_list::no_campaign;
use crate::import::{Import, OpenLedger, Prepared, Request, inputs, send, service};
use crate::intake::InspectedInput;
use crate::open_files;
use crate::options::Options;
use crate::paths::is_same_place;
use crate::report::{ListMapping, Log, Metrics, job_labels};
use crate::settings::{ImportSettings, Layers, Service, ledger_place, refuse_unreadable_proxy};
use crate::signals;
use terminal_observer::TerminalObserver;

pub fn run(request: Request, log: &Log) -> Result<ExitCode, Failure> {
    if request.layers.typed().delivery.dry_run == Some(true) {
        return check::run(request, log);
    }
    service::block_on(async {
        let metrics = metrics(&request.files, &request.layers)?;
        let ended = import(request, log, metrics.clone()).await;
        if let Err(failure) = &ended {
            metrics.fail(failure);
        }
        ended
    })
}

/// The metrics of the import. A test lead is not a run and has none.
fn metrics(files: &[PathBuf], layers: &Layers) -> Result<Metrics, Failure> {
    let given = layers.given();
    let file = given.output.metrics_file.as_deref().map(PathBuf::as_path);
    let file = file.filter(|_| given.delivery.test_to.is_none());
    let profile = layers.profile.as_ref();
    let profile = profile.and_then(|profile| profile.name.as_deref());
    // A profile that is named but does not exist may be what is wrong.
    let profile = profile.or(given.place.profile.as_deref().map(String::as_str));
    let ledger = ledger_place(&layers.options()).ok().flatten();
    let output = &given.output;
    let named = [&output.results, &output.rejects, &output.report];
    let named = named.into_iter().flatten();
    let named = named.chain(given.phones.suppress.iter().flatten());
    let mut needed: Vec<&Path> = named.map(|path| path.as_path()).collect();
    needed.extend(files.iter().chain(&layers.reserved).map(PathBuf::as_path));
    let is_needed = |path: &Path| {
        let mut needed = needed.iter();
        needed.any(|other| is_same_place(other, path))
            || ledger.as_ref().is_some_and(|ledger| ledger.owns(path))
    };
    Metrics::new(file, job_labels(profile, files), is_needed)
}

/// Writes metrics for an import whose settings are wrong.
pub fn record_refusal(command: &Command, layers: &Layers, failure: &Failure) {
    let is_dry_run = layers.typed().delivery.dry_run == Some(true);
    if let Command::Import(args) = command
        && !is_dry_run
        // An error here would hide the error that is to be reported.
        && let Ok(metrics) = metrics(&args.inputs, layers)
    {
        metrics.fail(failure);
    }
}

async fn import(request: Request, log: &Log, metrics: Metrics) -> Result<ExitCode, Failure> {
    let options = request.layers.options();
    // Said now, since with too few of them other things fail first.
    let is_sandbox = options.connection.sandbox == Some(true);
    open_files::requests_that_fit(request.files.len(), is_sandbox)?;
    let terminal = Terminal::open("sent");
    let mut interrupts = signals::listen().stopped_by(StoppedBy::Usage)?;
    let options = request.layers.options();
    let max_duration = options.delivery.max_duration.as_deref().copied();
    interrupts.set_deadline(terminal.time.deadline(max_duration));
    if options.delivery.test_to.is_some() {
        return test_call::run(request, &terminal, interrupts).await;
    }
    let preparing = prepare(request, metrics, &terminal, log);
    let preparing = terminal.or_interrupted(&mut interrupts, preparing);
    let (prepared, rows) = preparing.await?;
    let mut observer = TerminalObserver::new(&prepared, rows.is_some());
    let time = &terminal.time;
    send(prepared, rows, time, interrupts, log, &mut observer).await
}

/// Prepares the import and asks whether to send it.
/// Also returns the number of rows, if it is known.
async fn prepare(
    mut request: Request,
    metrics: Metrics,
    terminal: &Terminal,
    log: &Log,
) -> Result<(Prepared, Option<u64>), Failure> {
    let (service, surveyed, settings) = survey(&mut request).await?;
    // The sandbox calls no one, so there is no need to ask.
    let can_ask = ask::can_ask(settings.options.log.format());
    let is_watched = can_ask && !settings.reading.outputs.sandbox;
    let may_pick = is_watched && settings.options.delivery.yes != Some(true);
    if !settings.has_campaign() && !may_pick {
        return Err(no_campaign());
    }
    // Opened before the do-not-call lists are read, since it may wait a long time for another run.
    let asked = Instant::now();
    let opened = OpenLedger::open(&settings).await?;
    if settings.options.delivery.wait == Some(true) {
        terminal.time.has_waited(asked.elapsed());
    }
    let (settings, intake) = questions::plan(&mut request, surveyed, terminal).await?;
    let mapping = json!(ListMapping::of(&intake));
    let import = Import {
        patience: Some(settings.policy.max_outage),
        request,
        settings,
        intake,
        metrics,
        is_watched,
    };
    let pick = async |list: &mut _| questions::campaign(list, terminal).await;
    let preparing = async {
        let mut prepared = Prepared::new(import, &service, opened, pick).await?;
        let rows = prepared.agree(terminal, log).await?;
        Ok((prepared, rows))
    };
    let prepared: Result<_, Failure> = preparing.await;
    prepared.map_err(|failure| failure.of_mapping(mapping))
}

/// The service, the inputs, and the settings, including those that rejects among the inputs add.
async fn survey(
    request: &mut Request,
) -> Result<(Service, Vec<InspectedInput>, ImportSettings), Failure> {
    refuse_save_mapping(&request.layers.options())?;
    let service = Service::new(&request.layers).stopped_by(StoppedBy::Usage)?;
    refuse_unreadable_proxy(&request.layers).stopped_by(StoppedBy::Usage)?;
    let surveyed = inputs::survey(request).await?;
    Ok((service, surveyed, request.settings()?))
}

fn refuse_save_mapping(options: &Options) -> Result<(), Failure> {
    if options.mapping.save_mapping.is_none() {
        return Ok(());
    }
    Err(Failure::usage(terminal_message!(
        "`--save-mapping` is for `leadload check`, which shows the mapping that it saves",
        "run the same command with `check` instead of `import`"
    )))
}
