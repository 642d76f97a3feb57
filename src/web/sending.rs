//! Sends a job's list, on a thread of its own. The run belongs to the process: a page that is
//! closed stops nothing.

use std::sync::Arc;
use std::thread;

use tokio::sync::mpsc;

use super::job::{Job, JobRecord};
use super::kept_files;
use super::live::{Live, LiveObserver};
use super::site::Site;
use super::trouble::Trouble;
use crate::exit::{Failure, StoppedBy};
use crate::import::campaign_list::no_campaign;
use crate::import::{Import, Prepared, Record, WorkTime, inputs, send, service};
use crate::options::Given;
use crate::report::Metrics;
use crate::signals::Interrupts;

/// How many leads are settled before a run stops that is to be looked at first.
pub const FIRST: u64 = 10;

#[derive(Debug, Default)]
pub enum SendState {
    #[default]
    NotBegun,
    Sending(Sending),
    Ended(Arc<Live>),
    /// Nothing was sent.
    Failed(Trouble),
}

/// A list that is being sent, or waits for its turn.
#[derive(Debug)]
pub struct Sending {
    pub live: Arc<Live>,
    stop: mpsc::Sender<()>,
}

impl SendState {
    pub fn is_at_work(&self) -> bool {
        matches!(self, SendState::Sending(_))
    }

    pub fn is_sending(&self) -> bool {
        matches!(self, SendState::Sending(sending) if sending.live.has_begun())
    }

    pub fn live(&self) -> Option<&Arc<Live>> {
        match self {
            SendState::Sending(sending) => Some(&sending.live),
            SendState::Ended(live) => Some(live),
            SendState::NotBegun | SendState::Failed(_) => None,
        }
    }

    /// Stops a run as Ctrl-C does, or ends its wait for its turn.
    pub fn stop(&self) {
        if let SendState::Sending(sending) = self {
            sending.live.is_stopping();
            // A second message would not wait for the answers that are on their way.
            if sending.stop.capacity() == sending.stop.max_capacity() {
                let _ = sending.stop.try_send(());
            }
        }
    }
}

/// Begins to send the list, unless that is being done. With `only_first` it stops
/// when the first few leads are settled.
pub fn begin(site: &Arc<Site>, job: &Arc<Job>, only_first: bool) {
    let mut state = job.state();
    if state.sending.is_at_work() {
        return;
    }
    let (stop, stopped) = mpsc::channel(1);
    let live = Arc::new(Live::default());
    state.sending = SendState::Sending(Sending {
        live: Arc::clone(&live),
        stop: stop.clone(),
    });
    let record = state.record.clone();
    drop(state);
    job.has_changed();
    let most = only_first.then_some(FIRST);
    let (site, job) = (Arc::clone(site), Arc::clone(job));
    thread::spawn(move || {
        let mut observer = LiveObserver::new(Arc::clone(&live), Arc::clone(&job), most, stop);
        let sent = service::block_on(run(&site, &record, stopped, &mut observer));
        let mut state = job.state();
        state.sending = match sent {
            Ok(()) => SendState::Ended(Arc::clone(&live)),
            Err(failure) if failure.stopped_by == StoppedBy::Signal => SendState::NotBegun,
            Err(failure) if live.has_begun() => {
                live.fail(Trouble::of(&failure));
                SendState::Ended(Arc::clone(&live))
            }
            Err(failure) => SendState::Failed(Trouble::of(&failure)),
        };
        drop(state);
        job.has_changed();
        if let Some(results) = live.results_of_complete() {
            let removing = kept_files::remove_sent(&site, &job, results);
            let _ = service::block_on(async { Ok(removing.await) });
        }
    });
}

async fn run(
    site: &Site,
    record: &JobRecord,
    stopped: mpsc::Receiver<()>,
    observer: &mut LiveObserver,
) -> Result<(), Failure> {
    let mut interrupts = Interrupts::new(stopped);
    let time = WorkTime::start();
    let preparing = prepare(site, record, observer);
    let prepared = tokio::select! {
        biased;
        _ = interrupts.next() => {
            let cancelled = anyhow::anyhow!("cancelled before anything was sent");
            return Err(Failure::new(StoppedBy::Signal, cancelled));
        }
        prepared = preparing => prepared?,
    };
    let rows = observer.rows_total();
    send(prepared, rows, &time, interrupts, &site.log, observer).await?;
    Ok(())
}

async fn prepare(
    site: &Site,
    record: &JobRecord,
    observer: &LiveObserver,
) -> Result<Prepared, Failure> {
    let mut record = record.clone();
    record.options.delivery.wait = Some(true);
    record.options.delivery.yes = Some(true);
    if record.options.output.rejects.is_none() {
        let place = observer.job.beside_list(".rows-to-fix.xlsx");
        record.options.output.rejects = Some(Given::new(place.clone(), place));
    }
    let mut request = site.request(&record)?;
    let service = site.service(&request.layers)?;
    let surveyed = inputs::survey(&mut request).await?;
    // May wait for another run to end.
    let opened = Record::open(&request.settings()?).await?;
    observer.has_its_turn();
    let settings = request.settings()?;
    let intake = inputs::plan(&settings.reading, surveyed).await?;
    let intake = inputs::protect(intake, &settings.reading).await?;
    observer.count_rows(&intake).await?;
    let import = Import {
        request,
        settings,
        intake,
        metrics: Metrics::default(),
        is_watched: false,
    };
    Prepared::new(import, &service, opened, async |_| Err(no_campaign())).await
}
