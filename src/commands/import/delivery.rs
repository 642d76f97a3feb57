//! Sends all rows and writes down what becomes of them.

use std::thread;

use anyhow::anyhow;
use jiff::Timestamp;
use tokio::sync::mpsc;

use crate::api::Client;
use crate::campaign::CampaignBook;
use crate::event::RunEvent;
use crate::exit::{Failure, StoppedBy};
use crate::intake::{Batch, Intake, KnownBad, Purpose};
use crate::lead::RowId;
use crate::ledger::{Ledger, LedgerError, LedgerWriter};
use crate::pipeline::{End, LedgerOutlet, Outlet, Pipeline, RateController};
use crate::results::{OutputError, RunEnd, Writer, Written};
use crate::settings::ImportSettings;
use crate::signals::Interrupts;
use crate::stop::Stop;

use super::record::{Run, RunLedger};

/// How many batches may wait for the writer.
const BATCHES_TO_WRITE: usize = 4;

/// What is to be sent, and to whom.
pub(super) struct Delivery<'a> {
    pub(super) settings: &'a ImportSettings,
    pub(super) client: Client,
    pub(super) intake: &'a Intake,
    pub(super) book: CampaignBook,
    pub(super) writer: Writer,
    /// The run and what it is sent with, where there is a ledger.
    pub(super) run: Option<(&'a Run, RunLedger)>,
}

/// What came of the rows, and of the files.
pub(super) struct Delivered {
    pub(super) stop: Option<Stop>,
    pub(super) requests: u64,
    /// How many rows there are, where they were read to their end.
    pub(super) rows_total: Option<u64>,
    /// The row that was read last.
    pub(super) last_read: u64,
    pub(super) written: Result<Written, OutputError>,
    pub(super) ledger: Option<Ledger>,
}

/// What the threads have left behind.
struct Ended {
    end: End,
    ledger: Option<Ledger>,
    /// Set where the ledger's thread has died.
    lost_ledger: bool,
    writer: Result<Writer, OutputError>,
}

impl Delivery<'_> {
    /// Does it.
    pub(super) async fn send(
        self,
        events: &mut dyn FnMut(RunEvent<'_>),
        interrupts: Interrupts,
    ) -> Result<Delivered, Failure> {
        let keeps_rejects = self.settings.reading.known_bad == KnownBad::Skip;
        let run = self.run.as_ref().map(|(run, _)| run.begun.run);
        let mut ended = self.deliver(events, interrupts).await?;
        let mut stop = ended.end.stop;
        if ended.lost_ledger {
            stop = Some(Stop::worse(stop, broken(&LedgerError::broke_off())));
        }
        let (requests, rows_total) = (ended.end.requests, ended.end.rows_total);
        let last_read = ended.end.last_read.0;
        let is_unread = stop
            .as_ref()
            .is_some_and(|stop| stop.by() == StoppedBy::Usage);
        let is_written_down = ended.end.is_written_down;
        let written = ended.writer.and_then(|mut writer| {
            if is_unread || !is_written_down && requests == 0 {
                // Nothing was sent, so nothing is left behind: the writer is dropped.
                return Ok(Written::default());
            }
            if !is_written_down {
                // The ledger does not have the last rows, so these files are not final; but
                // nothing else tells what became of those rows.
                return writer.set_aside();
            }
            // Before the files get their names, so that they are known for ours whatever
            // happens next.
            let end = |stop: &Option<Stop>| RunEnd {
                is_complete: stop.is_none(),
                is_shorter: ended.end.is_shorter,
                keeps_rejects,
            };
            let sealed = writer.seal(end(&stop))?;
            if let (Some(ledger), Some(run)) = (&mut ended.ledger, run)
                && let Err(error) = ledger.record_outputs(run, &sealed)
            {
                stop = Some(Stop::worse(stop.take(), broken(&error)));
            }
            writer.finish(end(&stop))
        });
        Ok(Delivered {
            stop,
            requests,
            rows_total,
            last_read,
            written,
            ledger: ended.ledger,
        })
    }

    async fn deliver(
        self,
        events: &mut dyn FnMut(RunEvent<'_>),
        interrupts: Interrupts,
    ) -> Result<Ended, Failure> {
        let (settings, intake, mut writer) = (self.settings, self.intake, self.writer);
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
        // First the ledger's thread, which hands the last batches to the writer's. Nothing
        // else is left to be done on this one.
        let ledger = end.writer.take().map(LedgerWriter::close);
        let writer = writing.join().map_err(|_| {
            Failure::new(StoppedBy::Disk, anyhow!("the writer of results broke off"))
        })?;
        Ok(Ended {
            end,
            lost_ledger: matches!(ledger, Some(None)),
            ledger: ledger.flatten(),
            writer,
        })
    }
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
