//! `leadload import`: a CSV goes in, leads exist, every row is accounted for.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use anyhow::anyhow;
use tokio::sync::mpsc;
use tracing::warn;

use super::{check, service};
use crate::api::Client;
use crate::campaign::CampaignBook;
use crate::cli::{Format, ImportArgs, Progress};
use crate::event::RunEvent;
use crate::exit::{ExitCode, Failure, OrStopped, Stop, StoppedBy};
use crate::intake::{Batch, Intake, PlannedInput};
use crate::pipeline::{End, OnUncertain, Pacer, Pipeline};
use crate::report::{Bar, Ended, Log, Tally, console, json_summary, log_event, text_summary};
use crate::results::{OutputError, OutputPaths, Writer, Written, has_results_header};
use crate::settings::{Environment, ImportSettings, Service};
use crate::signals;
use crate::source::{Input, SourceError};

/// How many batches may wait for the writer.
const BATCHES_TO_WRITE: usize = 4;

/// Runs the command.
pub fn run(args: &ImportArgs, log: &Log) -> Result<ExitCode, Failure> {
    service::block_on(import(args, log))
}

async fn import(args: &ImportArgs, log: &Log) -> Result<ExitCode, Failure> {
    let began = Instant::now();
    // From the beginning on, so that no signal falls between two listeners.
    let mut interrupts = signals::listen().or_stopped(StoppedBy::Usage)?;
    let settings =
        ImportSettings::from_cli(args, &Environment::read()).or_stopped(StoppedBy::Usage)?;
    let inputs = service::unless(&mut interrupts, open_inputs(settings.inputs.clone())).await?;
    let paths = OutputPaths::plan(
        &inputs,
        &settings.results,
        &settings.rejects,
        settings.sandbox,
    )
    .map_err(OutputError::before_sending)?;
    let intake = plan(inputs, &settings)?;
    let rejects_uncertain = settings.policy.on_uncertain == OnUncertain::Resend;
    let writer = Writer::create(&paths, &intake.inputs, rejects_uncertain)
        .map_err(OutputError::before_sending)?;

    let mut tally = Tally::default();
    let mut bar = Bar::new(shows_bar(settings.progress, args.output.quiet), log);
    count_rows(&intake, &bar);
    let mut events = |event: RunEvent<'_>| {
        tally.note(&event);
        bar.note(&event, &tally);
        log_event(&event);
    };
    let ran = match &settings.service {
        None => {
            let checked = dry_run(&settings, &intake, writer, &mut events);
            service::unless(&mut interrupts, checked).await
        }
        Some(service) => send(&settings, service, &intake, writer, &mut events, interrupts).await,
    };
    bar.finish();
    let ended = ended(ran?, &settings, &intake, &tally, began);
    let summarised = summarise(&ended, settings.format);
    // Where the console was closed, that is why the run ended.
    if ended.stop.is_none() {
        summarised?;
    }
    Ok(ended.exit_code)
}

/// What came of the rows, and of the files.
struct Ran {
    stop: Option<Stop>,
    requests: u64,
    written: Result<Written, OutputError>,
}

/// Opens the inputs on a thread of its own: standard input may be long in coming,
/// and somebody may want to stop.
async fn open_inputs(paths: Vec<PathBuf>) -> Result<Vec<Input>, Failure> {
    service::on_a_thread(move || open_each(&paths))
        .await
        .unwrap_or_else(|| Err(SourceError::BrokeOff).or_stopped(StoppedBy::Usage))
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

fn plan(inputs: Vec<Input>, settings: &ImportSettings) -> Result<Intake, Failure> {
    let mut planned = Vec::with_capacity(inputs.len());
    for input in inputs {
        let input = PlannedInput::new(input, &settings.mapping).or_stopped(StoppedBy::Usage)?;
        if has_results_header(&input.header.names) && !settings.is_dry_run() {
            let error = anyhow!(
                "`{}` is a results file of leadload, not a list of contacts\n\nhint: import the list itself; `leadload import *.csv` takes results files in",
                input.input.name()
            );
            return Err(Failure::new(StoppedBy::Usage, error));
        }
        planned.push(input);
    }
    Ok(Intake {
        inputs: planned.into(),
        limit: settings.limit,
        allow_duplicates: settings.policy.form.allow_duplicates,
    })
}

fn shows_bar(progress: Progress, quiet: bool) -> bool {
    match progress {
        Progress::Never => false,
        Progress::Auto => !quiet && std::io::stderr().is_terminal(),
        Progress::Always => true,
    }
}

/// Counts the rows for a bar that is seen, beside the work: sending takes longer.
fn count_rows(intake: &Intake, bar: &Bar) {
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

async fn dry_run(
    settings: &ImportSettings,
    intake: &Intake,
    mut writer: Writer,
    events: &mut dyn FnMut(RunEvent<'_>),
) -> Result<Ran, Failure> {
    let book = CampaignBook::new(settings.campaign.clone(), Default::default());
    check::check(intake, book, &mut writer, events).await?;
    Ok(Ran {
        stop: None,
        requests: 0,
        written: writer.finish(),
    })
}

async fn send(
    settings: &ImportSettings,
    service: &Service,
    intake: &Intake,
    writer: Writer,
    events: &mut dyn FnMut(RunEvent<'_>),
    interrupts: mpsc::Receiver<()>,
) -> Result<Ran, Failure> {
    if matches!(service, Service::At(_)) {
        warn!(
            "this version keeps no record of earlier runs: importing the same list again sends every row again, and only the service can refuse those that it has"
        );
    }
    let reached = service::reach(service, settings.timeout).await?;
    let client = reached.client.clone();
    let (end, writer) = deliver(settings, client, intake, writer, events, interrupts).await?;
    if let Some(stop) = end.stop.as_ref().filter(|stop| stop.by == StoppedBy::Input)
        && end.requests == 0
    {
        // Nothing was sent, so nothing is left behind: the writer is dropped.
        return Err(Failure::new(StoppedBy::Usage, anyhow!(stop.text.clone())));
    }
    Ok(Ran {
        stop: end.stop,
        requests: end.requests,
        written: writer.and_then(Writer::finish),
    })
}

/// Finds the campaigns, then sends all rows and writes down what becomes of them.
async fn deliver(
    settings: &ImportSettings,
    client: Client,
    intake: &Intake,
    writer: Writer,
    events: &mut dyn FnMut(RunEvent<'_>),
    mut interrupts: mpsc::Receiver<()>,
) -> Result<(End, Result<Writer, OutputError>), Failure> {
    let campaign_ids = service::campaign_ids(&client, settings.campaign.as_ref(), intake);
    let ids = service::unless(&mut interrupts, campaign_ids).await?;
    let book = CampaignBook::new(settings.campaign.clone(), ids);
    let (settled, to_write) = mpsc::channel(BATCHES_TO_WRITE);
    let writing = thread::spawn(move || write_all(writer, to_write));
    let pacer = Pacer::new(&settings.rates);
    let inputs = intake.inputs.clone();
    let pipeline = Pipeline::new(client, settings.policy, pacer, inputs, events);
    let end = pipeline.run(intake.start(book), settled, interrupts).await;
    // Nothing else is left to be done on this thread.
    let writer = writing
        .join()
        .map_err(|_| Failure::new(StoppedBy::Disk, anyhow!("the writer of results broke off")))?;
    Ok((end, writer))
}

/// Writes batches until there are no more; on a thread of its own, since files block.
fn write_all(
    mut writer: Writer,
    mut batches: mpsc::Receiver<Batch>,
) -> Result<Writer, OutputError> {
    while let Some(batch) = batches.blocking_recv() {
        if let Err(error) = writer.write(&batch) {
            writer.leave();
            return Err(error);
        }
    }
    Ok(writer)
}

fn ended<'a>(
    ran: Ran,
    settings: &ImportSettings,
    intake: &'a Intake,
    tally: &'a Tally,
    began: Instant,
) -> Ended<'a> {
    let (stop, written) = match ran.written {
        Ok(written) => (ran.stop, written),
        // Of all that can go wrong, this machine comes first.
        Err(error) => (Some(unwritten(&error)), Written::default()),
    };
    Ended {
        tally,
        inputs: intake.inputs.iter().map(|i| i.input.name()).collect(),
        exit_code: match &stop {
            Some(stop) => stop.by.exit_code(),
            None if tally.has_problems() => ExitCode::Problems,
            None => ExitCode::Complete,
        },
        stop,
        requests: ran.requests,
        elapsed_s: began.elapsed().as_secs_f64(),
        written,
        sandbox: settings.sandbox,
        dry_run: settings.is_dry_run(),
    }
}

fn unwritten(error: &OutputError) -> Stop {
    Stop {
        by: StoppedBy::Disk,
        text: format!("{error}\n\nWhat was written before is in the files that end in `.part`."),
    }
}

fn summarise(ended: &Ended<'_>, format: Format) -> Result<(), Failure> {
    if ended.tally.counts.total() == 0 && ended.stop.is_none() {
        warn!("there are no rows to import");
    }
    if ended.sandbox && !ended.dry_run && format == Format::Json {
        // In text form the summary says so.
        warn!("this was a trial on the sandbox: nothing left this computer");
    }
    if let Some(stop) = &ended.stop {
        console::error(&stop.text);
    }
    let summary = match format {
        Format::Text => text_summary(ended),
        Format::Json => json_summary(ended),
    };
    console::print(&summary).or_stopped(StoppedBy::Disk)
}
