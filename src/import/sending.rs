//! Begins the run, sends its rows and writes the results.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::ending::{SentImport, campaign_names};
use super::inputs;
use super::observer::Observer;
use super::planned_run::Run;
use super::prepared::{Import, Prepared};
use super::work_time::WorkTime;
use crate::api::Client;
use crate::campaign::CampaignBook;
use crate::event::RunEvent;
use crate::exit::{ExitCode, Failure, StoppedBy};
use crate::intake::{Batch, Intake, KnownBad, Memory, Purpose};
use crate::lead::{RowId, RunId};
use crate::ledger::{Ledger, LedgerError, LedgerWriter};
use crate::pipeline::{Delivery, Destination, LedgerDestination, Pipeline, RateController};
use crate::report::{Examples, Listeners, Log, Work, log_import};
use crate::results::{Completion, OutputError, Writer, Written};
use crate::settings::ImportSettings;
use crate::signals::Interrupts;
use crate::simulation::{self, Fault, is_planted};
use crate::stop::Stop;

/// The most batches that wait for the writer.
const BATCHES_TO_WRITE: usize = 4;

/// Begins the run and sends it. `rows` is the number of rows, if it is known, and `time` how long
/// preparing it took.
pub async fn send(
    prepared: Prepared,
    rows: Option<u64>,
    time: &WorkTime,
    interrupts: Interrupts,
    log: &Log,
    observer: &mut dyn Observer,
) -> Result<ExitCode, Failure> {
    let Prepared {
        import,
        book,
        writer,
        report,
        reached,
        planned,
        campaign_list,
        ..
    } = prepared;
    let begun = match planned {
        Some(planned) => Some(planned.begin(&import.settings).await?),
        None => {
            // A ledger has them already. They show whether a list that was touched has changed.
            inputs::fingerprints(&import.intake).await?;
            None
        }
    };
    let (mut run, known) = begun.unzip();
    if let Some(run) = &run {
        log.name_run(Some(run.begun.run));
        import.metrics.name_run(run.begun.run);
    }
    observer.begun(run.as_ref().map(|run| &run.begun));
    log_start(&import.settings, &import.intake, run.as_ref());
    let mut listeners = listeners(&import, report.is_some(), rows, log);
    let campaign_names = campaign_names(&book, campaign_list.listed());
    let mut events = |event: RunEvent<'_>| {
        listeners.take(&event);
        observer.event(&event, &listeners);
    };
    let delivered = deliver(
        &import,
        reached.client,
        book,
        writer,
        run.as_mut().zip(known),
        &mut events,
        interrupts,
    )
    .await;
    listeners.finish();
    let sent = SentImport {
        import: &import,
        time,
        report,
        campaign_names,
        run,
    };
    let (delivery, written) = delivered?;
    sent.close(delivery, written, &listeners, observer)
}

/// Who is told what happens. Rows whose number is not known are counted while they are sent, if a listener
/// shows it.
fn listeners(import: &Import, has_report: bool, rows: Option<u64>, log: &Log) -> Listeners {
    let (inputs, show) = (&import.intake.inputs, inputs::show(&import.settings));
    let metrics = import.metrics.clone();
    let mut listeners = Listeners::new(inputs.len(), show, Work::Sending, log, metrics);
    listeners.page = has_report.then(|| Examples::new(inputs));
    if let Some(rows) = rows {
        let _ = listeners.total.set(rows);
    } else if let Some(total) = listeners.wants_total() {
        inputs::count_rows(&import.intake, total);
    }
    listeners
}

fn log_start(settings: &ImportSettings, intake: &Intake, run: Option<&Run>) {
    let reading = &settings.reading;
    log_import(
        run.map(|run| run.begun.continues),
        intake.inputs.len(),
        &settings.service,
        reading.campaign.as_ref().map(ToString::to_string),
        reading.mapping.campaign_column.as_deref(),
    );
}

async fn deliver(
    import: &Import,
    client: Client,
    book: CampaignBook,
    mut writer: Writer,
    begun: Option<(&mut Run, (Memory, RateController))>,
    events: &mut dyn FnMut(RunEvent<'_>),
    interrupts: Interrupts,
) -> Result<(Delivery, Result<Written, OutputError>), Failure> {
    let (settings, intake) = (&import.settings, &import.intake);
    let (mut run, known) = begun.unzip();
    let (settled, to_write) = mpsc::channel(simulation::room(BATCHES_TO_WRITE));
    if let Err(error) = writer.begin(run.as_ref().map(|run| &run.begun)) {
        let failure = error.before_sending();
        if let Some(run) = run {
            run.end_unsent(&failure);
        }
        return Err(failure);
    }
    let begun = run.as_deref_mut();
    let destination = match begun.and_then(|run| Some((run.ledger.take()?, &run.begun))) {
        Some((ledger, begun)) => Destination::Ledger(Box::new(LedgerDestination {
            writer: LedgerWriter::start(ledger, begun.run, settled),
            suppression: Arc::clone(&intake.suppression),
            reached: RowId(begun.reached),
            read_to: RowId(begun.read_to),
        })),
        None => Destination::Writer(settled),
    };
    let (memory, pace) = known.map_or_else(
        || (None, RateController::new(&settings.rate, None)),
        |(memory, pace)| (Some(memory), pace),
    );
    let writing = simulation::beside(write_all(writer, to_write));
    let inputs = intake.inputs.clone();
    let pipeline = Pipeline::new(client, settings.policy, pace, inputs, destination, events);
    let batches = intake.start(book, Purpose::Sending, memory);
    let mut end = pipeline.run(batches, interrupts).await;
    // All rows are on disk, so how the run ended is not waited for as long as they were.
    if let Some(writer) = &end.writer {
        writer.lease.end(false);
    }
    // The ledger's thread ends first: it sends the last batches to the writer's thread.
    if let (Some(writer), Some(run)) = (end.writer.take(), &mut run) {
        run.ledger = writer.close();
        if run.ledger.is_none() {
            end.stop = Some(Stop::worse(end.stop, LedgerError::broke_off().into()));
        }
    }
    let writer = writing.await.unwrap_or_else(|_| Err(OutputError::died()));
    let keeps_rejects = settings.reading.known_bad == KnownBad::Skip;
    let ledger = run.and_then(|run| run.ledger.as_mut().zip(Some(run.begun.run)));
    let written = writer.and_then(|writer| finish(writer, &mut end, ledger, keeps_rejects));
    Ok((end, written))
}

fn finish(
    mut writer: Writer,
    end: &mut Delivery,
    ledger: Option<(&mut Ledger, RunId)>,
    keeps_rejects: bool,
) -> Result<Written, OutputError> {
    let stopped_by = end.stop.as_ref().map(Stop::by);
    if stopped_by == Some(StoppedBy::Usage) || !end.is_written_down && end.requests == 0 {
        // Nothing was sent: dropping the writer removes its files.
        return Ok(Written::default());
    }
    if !end.is_written_down && !is_planted(Fault::ResultsBeforeLedger) {
        // The ledger lacks the last rows, so these files are not
        // final. But they alone have the outcomes of those rows.
        return writer.set_aside();
    }
    let run_end = |end: &Delivery| Completion {
        is_complete: end.stop.is_none(),
        is_shorter: end.is_shorter,
        keeps_rejects,
    };
    // Recorded before the files get their names, so that
    // they are recognized as ours even after a crash.
    let sealed = writer.seal(run_end(end))?;
    if is_planted(Fault::RenameBeforeRecord) {
        let written = writer.finish(run_end(end))?;
        if let Some((ledger, run)) = ledger {
            simulation::step("before outputs are recorded");
            let _ = ledger.record_outputs(run, &sealed);
        }
        return Ok(written);
    }
    if let Some((ledger, run)) = ledger
        && let Err(error) = ledger.record_outputs(run, &sealed)
    {
        end.stop = Some(Stop::worse(end.stop.take(), error.into()));
    }
    writer.finish(run_end(end))
}

/// Writes all batches. Writing files blocks, so this has its own thread.
async fn write_all(
    mut writer: Writer,
    mut batches: mpsc::Receiver<Batch>,
) -> Result<Writer, OutputError> {
    while let Some(batch) = batches.recv().await {
        if let Err(error) = writer.write(&batch) {
            writer.leave();
            return Err(error);
        }
    }
    Ok(writer)
}
