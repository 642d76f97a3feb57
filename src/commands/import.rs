//! `leadload import`: a CSV goes in, leads exist, every row is accounted for.

use std::thread;
use std::time::Instant;

use anyhow::anyhow;
use tokio::sync::mpsc;
use tokio::task::LocalSet;
use tracing::warn;

use super::{check, service};
use crate::api::Client;
use crate::campaign::CampaignBook;
use crate::cli::{Format, ImportArgs};
use crate::exit::{ExitCode, Failure, StoppedBy};
use crate::intake::{Batch, Intake, PlannedInput};
use crate::pipeline::{End, Pacer, Pipeline, Stop};
use crate::report::{
    Bar, Ended, Log, RunEvent, Tally, console, json_object, log_event, text_summary,
};
use crate::results::{OutputError, OutputPaths, Writer, Written, has_results_header};
use crate::settings::{Environment, ImportSettings, Service};
use crate::signals;
use crate::source::Input;

/// How many batches may wait for the writer.
const BATCHES_TO_WRITE: usize = 4;

/// Runs the command.
pub fn run(args: &ImportArgs, log: &Log) -> Result<ExitCode, Failure> {
    let began = Instant::now();
    let settings = ImportSettings::from_cli(args, &Environment::read())?;
    let inputs = open_inputs(&settings)?;
    let paths = OutputPaths::plan(
        &inputs,
        &settings.results,
        &settings.rejects,
        settings.sandbox,
    )?;
    let intake = plan(inputs, &settings)?;
    let writer = Writer::create(&paths, &intake.inputs, settings.policy.on_uncertain)?;

    let bar = Bar::new(settings.progress, args.output.quiet, log);
    count_rows(&intake, &bar);
    let mut tally = Tally::default();
    let mut events = |event: RunEvent<'_>| {
        tally.note(&event);
        bar.note(&event, &tally);
        log_event(&event);
    };
    let ran = match &settings.service {
        None => dry_run(&settings, &intake, writer, &mut events),
        Some(service) => send(&settings, service, &intake, writer, &mut events),
    };
    bar.finish();
    let Ran {
        mut stop,
        requests,
        written,
    } = ran?;

    let written = written.unwrap_or_else(|error| {
        // Of all that can go wrong, this machine comes first.
        stop = Some(disk_full(&error));
        Written::default()
    });
    let ended = Ended {
        inputs: intake.inputs.iter().map(|i| i.input.name()).collect(),
        exit_code: exit_code(stop.as_ref(), &tally),
        stop,
        requests,
        elapsed_s: began.elapsed().as_secs_f64(),
        written,
        sandbox: settings.sandbox,
        dry_run: settings.is_dry_run(),
        tally: &tally,
    };
    summarise(&ended, settings.format);
    Ok(ended.exit_code)
}

/// What came of the rows, and of the files.
struct Ran {
    stop: Option<Stop>,
    requests: u64,
    written: Result<Written, OutputError>,
}

fn open_inputs(settings: &ImportSettings) -> Result<Vec<Input>, Failure> {
    let mut inputs: Vec<Input> = Vec::with_capacity(settings.inputs.len());
    for path in &settings.inputs {
        let input = Input::open(path)?;
        if inputs.iter().any(|other| other.is_same(&input)) {
            return Err(anyhow!(
                "`{}` is given twice\n\nhint: name each input once",
                input.name()
            )
            .into());
        }
        inputs.push(input);
    }
    Ok(inputs)
}

fn plan(inputs: Vec<Input>, settings: &ImportSettings) -> Result<Intake, Failure> {
    let mut planned = Vec::with_capacity(inputs.len());
    for input in inputs {
        let input = PlannedInput::new(input, &settings.mapping)?;
        if has_results_header(&input.header.names) && !settings.is_dry_run() {
            return Err(anyhow!(
                "`{}` is a results file of leadload, not a list of contacts\n\nhint: import the list itself; `leadload import *.csv` takes results files in",
                input.input.name()
            )
            .into());
        }
        planned.push(input);
    }
    Ok(Intake {
        inputs: planned.into(),
        limit: settings.limit,
        allow_duplicates: settings.policy.form.allow_duplicates,
    })
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

fn dry_run(
    settings: &ImportSettings,
    intake: &Intake,
    mut writer: Writer,
    events: &mut dyn FnMut(RunEvent<'_>),
) -> Result<Ran, Failure> {
    let book = CampaignBook::new(settings.campaign.clone(), Default::default());
    check::check(intake, book, &mut writer, events)?;
    Ok(Ran {
        stop: None,
        requests: 0,
        written: writer.finish(),
    })
}

fn send(
    settings: &ImportSettings,
    service: &Service,
    intake: &Intake,
    writer: Writer,
    events: &mut dyn FnMut(RunEvent<'_>),
) -> Result<Ran, Failure> {
    if matches!(service, Service::At(_)) {
        warn!(
            "this version keeps no record of earlier runs: importing the same list again sends every row again, and only the service can refuse those that it has"
        );
    }
    let runtime = service::runtime()?;
    let reached = service::reach(service, settings.timeout)?;
    let (end, writer) = LocalSet::new().block_on(
        &runtime,
        deliver(settings, reached.client.clone(), intake, writer, events),
    )?;
    if let Some(stop) = end.stop.as_ref().filter(|stop| stop.by == StoppedBy::Input)
        && end.requests == 0
    {
        // Nothing was sent, so nothing is to be left behind.
        if let Ok(writer) = writer {
            writer.set_kept(false);
        }
        return Err(anyhow!(stop.text.clone()).into());
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
) -> Result<(End, Result<Writer, OutputError>), Failure> {
    let mut interrupts = signals::listen()?;
    let ids = tokio::select! {
        biased;
        _ = interrupts.recv() => {
            let error = anyhow!("stopped by a signal before anything was sent");
            return Err(Failure::new(StoppedBy::Signal, error));
        }
        ids = service::campaign_ids(&client, settings.campaign.as_ref(), intake) => ids?,
    };
    let book = CampaignBook::new(settings.campaign.clone(), ids);
    let (settled, to_write) = mpsc::channel(BATCHES_TO_WRITE);
    let writing = thread::spawn(move || write_all(writer, to_write));
    let pacer = Pacer::new(&settings.rates);
    let inputs = intake.inputs.clone();
    let pipeline = Pipeline::new(client, settings.policy, pacer, inputs, events);
    let end = pipeline.run(intake.start(book), settled, interrupts).await;
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
        writer.set_kept(true);
        writer.write(&batch)?;
    }
    Ok(writer)
}

fn disk_full(error: &OutputError) -> Stop {
    Stop {
        by: StoppedBy::Disk,
        text: format!("{error}; what was written so far is in the files that end in `.part`"),
    }
}

fn exit_code(stop: Option<&Stop>, tally: &Tally) -> ExitCode {
    match stop {
        Some(stop) => stop.by.exit_code(),
        None if tally.has_problems() => ExitCode::Problems,
        None => ExitCode::Complete,
    }
}

fn summarise(ended: &Ended<'_>, format: Format) {
    if ended.tally.counts.total() == 0 && ended.stop.is_none() {
        warn!("the input has a header and no rows");
    }
    console::print(&match format {
        Format::Text => text_summary(ended),
        Format::Json => format!("{}\n", json_object(ended)),
    });
    if let Some(stop) = &ended.stop {
        console::error(&stop.text);
    }
}
