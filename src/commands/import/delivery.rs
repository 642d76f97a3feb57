//! Sends all rows and writes the results.

use std::thread;

use anyhow::anyhow;
use jiff::Timestamp;
use tokio::sync::mpsc;

use crate::api::Client;
use crate::campaign::CampaignBook;
use crate::event::RunEvent;
use crate::exit::{Failure, StoppedBy};
use crate::intake::{Batch, Intake, KnownBad, Purpose};
use crate::lead::{RowId, RunId};
use crate::ledger::{Ledger, LedgerError, LedgerWriter};
use crate::pipeline::{End, LedgerOutlet, Outlet, Pipeline, RateController};
use crate::results::{OutputError, RunEnd, Writer, Written};
use crate::settings::ImportSettings;
use crate::signals::Interrupts;
use crate::stop::Stop;

use super::record::{Run, RunLedger};

/// The most batches that wait for the writer.
const BATCHES_TO_WRITE: usize = 4;

/// What to send, and where.
pub(super) struct Delivery<'a> {
    pub(super) settings: &'a ImportSettings,
    pub(super) client: Client,
    pub(super) intake: &'a Intake,
    pub(super) book: CampaignBook,
    pub(super) writer: Writer,
    /// The run and its ledger, if there is one.
    pub(super) run: Option<(&'a Run, RunLedger)>,
}

/// What the pipeline and its threads leave behind.
pub(super) struct Delivered {
    pub(super) end: End,
    pub(super) written: Result<Written, OutputError>,
    pub(super) ledger: Option<Ledger>,
}

impl Delivery<'_> {
    /// Sends all rows.
    pub(super) async fn send(
        self,
        events: &mut dyn FnMut(RunEvent<'_>),
        interrupts: Interrupts,
    ) -> Result<Delivered, Failure> {
        let (settings, intake, mut writer) = (self.settings, self.intake, self.writer);
        let run = self.run.as_ref().map(|(run, _)| run.begun.run);
        let (settled, to_write) = mpsc::channel(BATCHES_TO_WRITE);
        let (outlet, memory, pacing) = match self.run {
            None => {
                let pacing = RateController::new(&settings.rate, None);
                (Outlet::Writer(settled), None, pacing)
            }
            Some((run, of_run)) => {
                writer.name_run(run.begun.run);
                let outlet = outlet(run, of_run.ledger, settled);
                let pacing = RateController::new(&settings.rate, of_run.known_rate)
                    .after(&of_run.recent, Timestamp::now());
                (outlet, Some(of_run.memory), pacing)
            }
        };
        let writing = thread::spawn(move || write_all(writer, to_write));
        let inputs = intake.inputs.clone();
        let pipeline = Pipeline::new(self.client, settings.policy, pacing, inputs, outlet, events);
        let batches = intake.start(self.book, Purpose::Sending, memory);
        let mut end = pipeline.run(batches, interrupts).await;
        // The ledger's thread first: it sends the last batches to the writer's.
        let mut ledger = match end.writer.take().map(LedgerWriter::close) {
            Some(None) => {
                end.stop = Some(Stop::worse(end.stop, broken(&LedgerError::broke_off())));
                None
            }
            ledger => ledger.flatten(),
        };
        let died = || anyhow!("the thread that writes results died");
        let writer = writing.join();
        let writer = writer.map_err(|_| Failure::new(StoppedBy::Disk, died()))?;
        let keeps_rejects = settings.reading.known_bad == KnownBad::Skip;
        let written = writer
            .and_then(|writer| finish(writer, &mut end, ledger.as_mut().zip(run), keeps_rejects));
        Ok(Delivered {
            end,
            written,
            ledger,
        })
    }
}

/// Finishes the output files.
fn finish(
    mut writer: Writer,
    end: &mut End,
    ledger: Option<(&mut Ledger, RunId)>,
    keeps_rejects: bool,
) -> Result<Written, OutputError> {
    let stopped_by = end.stop.as_ref().map(Stop::by);
    if stopped_by == Some(StoppedBy::Usage) || !end.is_written_down && end.requests == 0 {
        // Nothing was sent: dropping the writer removes its files.
        return Ok(Written::default());
    }
    if !end.is_written_down {
        // The ledger lacks the last rows, so these files are not final; but nothing else has the
        // outcome of those rows.
        return writer.set_aside();
    }
    let run_end = |end: &End| RunEnd {
        is_complete: end.stop.is_none(),
        is_shorter: end.is_shorter,
        keeps_rejects,
    };
    // Before the files get their names, so that they are recognized as ours even after a crash.
    let sealed = writer.seal(run_end(end))?;
    if let Some((ledger, run)) = ledger
        && let Err(error) = ledger.record_outputs(run, &sealed)
    {
        end.stop = Some(Stop::worse(end.stop.take(), broken(&error)));
    }
    writer.finish(run_end(end))
}

fn outlet(run: &Run, ledger: Ledger, settled: mpsc::Sender<Batch>) -> Outlet {
    Outlet::Ledger(Box::new(LedgerOutlet {
        writer: LedgerWriter::start(ledger, run.begun.run, settled),
        reached: RowId(run.begun.reached),
        read_to: RowId(run.begun.read_to),
    }))
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

/// The ledger cannot be used any more.
fn broken(error: &LedgerError) -> Stop {
    Stop::error(StoppedBy::Ledger, error)
}
