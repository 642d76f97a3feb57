//! `leadload import`: a CSV goes in, leads exist, every row is accounted for.

use std::thread;
use std::time::Instant;

use anyhow::anyhow;
use tokio::sync::mpsc;
use tracing::warn;

use super::service::Reached;
use super::{check, inputs, service};
use crate::api::Client;
use crate::campaign::CampaignBook;
use crate::cli::{Format, ImportArgs};
use crate::event::RunEvent;
use crate::exit::{ExitCode, Failure, OrStopped, Stop, StoppedBy};
use crate::intake::{Batch, Intake, Purpose};
use crate::pipeline::{End, OnUncertain, Pacer, Pipeline};
use crate::report::{
    Bar, Ended, Log, Tally, console, json_summary, log_event, opening_lines, text_summary,
};
use crate::results::{OutputError, Writer, Written, has_results_header};
use crate::settings::{Environment, ImportSettings, ReadingSettings, Service};
use crate::signals;

/// How many batches may wait for the writer.
const BATCHES_TO_WRITE: usize = 4;

/// Runs the command.
pub fn run(args: &ImportArgs, log: &Log) -> Result<ExitCode, Failure> {
    match args.delivery.dry_run {
        true => check::run(args, log),
        false => service::block_on(import(args, log)),
    }
}

async fn import(args: &ImportArgs, log: &Log) -> Result<ExitCode, Failure> {
    let began = Instant::now();
    // From the beginning on, so that no signal falls between two listeners.
    let mut interrupts = signals::listen().or_stopped(StoppedBy::Usage)?;
    let settings =
        ImportSettings::from_cli(args, &Environment::read()).or_stopped(StoppedBy::Usage)?;
    let reading = &settings.reading;
    let intake = service::unless(&mut interrupts, inputs::plan(reading)).await?;
    refuse_results_files(&intake)?;
    let paths = inputs::output_paths(reading, &intake)?;
    let rejects_uncertain = settings.policy.on_uncertain == OnUncertain::Resend;
    let writer = Writer::create(&paths, &intake.inputs, rejects_uncertain)
        .map_err(OutputError::before_sending)?;
    let reached = reach(&settings).await?;
    let finding = campaign_book(&reached.client, reading, &intake);
    let book = service::unless(&mut interrupts, finding).await?;
    if !args.output.quiet {
        console::note(&opening_lines(&intake));
    }

    let mut tally = Tally::default();
    let is_shown = inputs::shows_bar(reading.progress, args.output.quiet);
    let mut bar = Bar::new(is_shown, true, log);
    inputs::count_rows(&intake, &bar);
    let mut events = |event: RunEvent<'_>| {
        tally.note(&event);
        bar.note(&event, &tally);
        log_event(&event);
    };
    let delivery = Delivery {
        settings: &settings,
        client: reached.client.clone(),
        intake: &intake,
        book,
        writer,
    };
    let ran = send(delivery, &mut events, interrupts).await;
    bar.finish();
    let ended = ended(ran?, &settings, &intake, &tally, began);
    let summarised = summarise(&ended, reading.format);
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

/// `leadload import *.csv` must not send the results of the last time.
fn refuse_results_files(intake: &Intake) -> Result<(), Failure> {
    let mut inputs = intake.inputs.iter();
    match inputs.find(|planned| has_results_header(&planned.header.names)) {
        None => Ok(()),
        Some(planned) => {
            let error = anyhow!(
                "`{}` is a results file of leadload, not a list of contacts\n\nhint: import the list itself; `leadload import *.csv` takes results files in",
                planned.input.name()
            );
            Err(Failure::new(StoppedBy::Usage, error))
        }
    }
}

/// The client. Promises that this version cannot keep are not made silently.
async fn reach(settings: &ImportSettings) -> Result<Reached, Failure> {
    if matches!(settings.service, Service::At(_)) {
        warn!(
            "this version keeps no record of earlier runs: importing the same list again sends every row again, and only the service can refuse those that it has"
        );
    }
    service::reach(&settings.service, settings.timeout).await
}

/// The campaigns of the rows, by the ids that the service has for them.
async fn campaign_book(
    client: &Client,
    reading: &ReadingSettings,
    intake: &Intake,
) -> Result<CampaignBook, Failure> {
    let ids = service::campaign_ids(client, reading.campaign.as_ref(), intake).await?;
    Ok(CampaignBook::new(reading.campaign.clone(), ids))
}

/// What is to be sent, and to whom.
struct Delivery<'a> {
    settings: &'a ImportSettings,
    client: Client,
    intake: &'a Intake,
    book: CampaignBook,
    writer: Writer,
}

async fn send(
    delivery: Delivery<'_>,
    events: &mut dyn FnMut(RunEvent<'_>),
    interrupts: mpsc::Receiver<()>,
) -> Result<Ran, Failure> {
    let (end, writer) = deliver(delivery, events, interrupts).await?;
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

/// Sends all rows and writes down what becomes of them.
async fn deliver(
    delivery: Delivery<'_>,
    events: &mut dyn FnMut(RunEvent<'_>),
    interrupts: mpsc::Receiver<()>,
) -> Result<(End, Result<Writer, OutputError>), Failure> {
    let Delivery {
        settings,
        client,
        intake,
        book,
        writer,
    } = delivery;
    let (settled, to_write) = mpsc::channel(BATCHES_TO_WRITE);
    let writing = thread::spawn(move || write_all(writer, to_write));
    let pacer = Pacer::new(&settings.rates);
    let inputs = intake.inputs.clone();
    let pipeline = Pipeline::new(client, settings.policy, pacer, inputs, events);
    let batches = intake.start(book, Purpose::Sending);
    let end = pipeline.run(batches, settled, interrupts).await;
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
        sandbox: settings.reading.sandbox,
    }
}

fn unwritten(error: &OutputError) -> Stop {
    Stop {
        by: StoppedBy::Disk,
        text: format!("{error}\n\nWhat was written before is in the files that end in `.part`."),
    }
}

fn summarise(ended: &Ended<'_>, format: Format) -> Result<(), Failure> {
    if ended.stop.is_none() {
        inputs::warn_of_nothing(ended.tally);
    }
    inputs::warn_of_files(ended, format);
    if ended.sandbox && format == Format::Json {
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
