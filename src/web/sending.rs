//! Sends a job's list, on a thread of its own. The run belongs to the process: a page that is
//! closed stops nothing.
//!
//! Promise: one list is sent at a time. The others wait in the order in which they were sent off,
//! and the first of them for other programs too. One that is cancelled while it waits begins
//! nothing and holds nothing.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::time::sleep;

use super::job::{Job, JobRecord, NotChanged};
use super::kept_files;
use super::live::{Live, LiveObserver};
use super::reading::surveyed;
use super::site::Site;
use super::trouble::Trouble;
use super::work;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::import::campaign_list::no_campaign;
use crate::import::{Import, OpenLedger, Prepared, WorkTime, inputs, send};
use crate::lead::RunId;
use crate::options::Given;
use crate::paths::folder_of;
use crate::private_file;
use crate::report::Metrics;
use crate::settings::{ImportSettings, Layers};
use crate::signals::Interrupts;
use crate::text::printable;

/// How long to wait for the right to send before it is found out who has it.
const SOON: Duration = Duration::from_secs(1);

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
pub struct Sending(Arc<Live>);

impl SendState {
    pub fn is_at_work(&self) -> bool {
        matches!(self, SendState::Sending(_))
    }

    pub fn is_sending(&self) -> bool {
        matches!(self, SendState::Sending(Sending(live)) if live.has_begun())
    }

    /// Whether the run is over and only its files are put in order.
    pub fn is_ending(&self) -> bool {
        matches!(self, SendState::Sending(Sending(live)) if live.now().end.is_some())
    }

    pub fn live(&self) -> Option<&Arc<Live>> {
        match self {
            SendState::Sending(Sending(live)) | SendState::Ended(live) => Some(live),
            SendState::NotBegun | SendState::Failed(_) => None,
        }
    }

    /// Stops a run as Ctrl-C does, or ends its wait for its turn.
    pub fn stop(&self) {
        if let SendState::Sending(Sending(live)) = self {
            live.stop();
        }
    }
}

/// What the user has seen of a list that is to be sent.
#[derive(Debug, Default)]
pub struct Confirmation {
    /// The version of the job; `None` if a run goes on, with the settings that it has.
    pub version: Option<u64>,
    /// The kinds of problems that rows have.
    pub problems: Option<Vec<String>>,
    /// Whether to stop when the first few leads are settled.
    pub only_first: bool,
    /// Whether to send people again who were sent before.
    pub again: bool,
}

/// Begins to send the list, unless that is being done.
pub fn begin(site: &Arc<Site>, job: &Arc<Job>, confirmed: Confirmation) -> Result<(), NotChanged> {
    let (live, stopped) = Live::new();
    let live = Arc::new(live);
    let mut record = job.begin_sending(confirmed.version, Sending(Arc::clone(&live)))?;
    if confirmed.again {
        record.options.delivery.again = Some(true);
    }
    let stop_after = confirmed.only_first.then_some(FIRST);
    let for_end = (Arc::clone(&live), Arc::clone(job));
    let mut observer = LiveObserver::new(live, Arc::clone(job), stop_after, confirmed.problems);
    let (site, for_checks) = (Arc::clone(site), Arc::clone(site));
    let goes_on = confirmed.version.is_none().then_some(record.run).flatten();
    let sending = async move || run(&site, &record, goes_on, stopped, &mut observer).await;
    work::begin(sending, move |sent| {
        let (live, job) = for_end;
        job.end_sending(ended(live, sent));
        // Other lists may have the same people.
        for_checks.jobs.forget_checks();
    });
    Ok(())
}

/// Goes on with the run of this list, once the files of its last start are in order (but does not wait
/// beyond this time). If it is being sent already, the page shows that.
pub async fn resume(site: &Arc<Site>, job: &Arc<Job>, until: Instant) {
    job.wait_until(until, |state| !state.sending.is_ending())
        .await;
    let _ = begin(site, job, Confirmation::default());
}

fn ended(live: Arc<Live>, sent: Result<(), Failure>) -> SendState {
    match sent {
        Ok(()) => SendState::Ended(live),
        Err(failure) if live.has_begun() => {
            live.fail(Trouble::of(&failure));
            SendState::Ended(live)
        }
        Err(failure) if failure.stopped_by == StoppedBy::Signal => SendState::NotBegun,
        Err(failure) => SendState::Failed(Trouble::of(&failure)),
    }
}

async fn run(
    site: &Site,
    record: &JobRecord,
    goes_on: Option<RunId>,
    stopped: mpsc::Receiver<()>,
    observer: &mut LiveObserver,
) -> Result<(), Failure> {
    let mut interrupts = Interrupts::new(stopped);
    let preparing = async {
        // The semaphore is never closed. Its queue is fair, and who leaves it leaves nothing behind.
        let turn = site.turn.acquire().await;
        let time = WorkTime::start();
        let prepared = prepare(site, record, observer).await?;
        refuse_another_run(record, &prepared, goes_on)?;
        Ok::<_, Failure>((turn, time, prepared))
    };
    let (_turn, time, prepared) = tokio::select! {
        biased;
        _ = interrupts.next() => {
            let cancelled = anyhow::anyhow!("cancelled before anything was sent");
            return Err(Failure::new(StoppedBy::Signal, cancelled));
        }
        prepared = preparing => prepared?,
    };
    let rows = observer.rows_total();
    let most = prepared
        .import
        .settings
        .options
        .delivery
        .max_duration
        .as_deref()
        .copied();
    interrupts.set_deadline(time.deadline(most));
    let sent = send(prepared, rows, &time, interrupts, &site.log, observer).await;
    site.log.name_run(None);
    sent?;
    if let Some(results) = observer.live().results_of_complete() {
        // If this fails, the list is there for the next start of the program.
        let _ = kept_files::remove_sent(site, &observer.job, results).await;
    }
    Ok(())
}

/// Refuses to go on with a run if its list or its settings are others by now: they would be sent
/// without having been looked at.
fn refuse_another_run(
    record: &JobRecord,
    prepared: &Prepared,
    goes_on: Option<RunId>,
) -> Result<(), Failure> {
    let (Some(run), Some(planned)) = (goes_on, &prepared.planned) else {
        return Ok(());
    };
    if planned.predecessors.latest.going_on == Some(run) {
        return Ok(());
    }
    let name = printable(&record.name);
    Err(Failure::usage(message!(
        "{name} or its settings were changed after it was sent in part, so nothing more was sent",
        "look at what would be sent now; who has been sent is left out",
        name
    )))
}

/// Opens the ledger. If another program sends, this waits until it has ended, and the page says who
/// it is. Where several people share the ledger, they send at the same time.
async fn open(
    site: &Site,
    settings: &ImportSettings,
    observer: &LiveObserver,
) -> Result<Option<OpenLedger>, Failure> {
    let mut opening = pin!(OpenLedger::open(settings));
    tokio::select! {
        biased;
        opened = &mut opening => return opened,
        () = sleep(SOON), if !site.is_shared() => observer.waits_for(site.who_sends()),
    }
    opening.await
}

async fn prepare(
    site: &Site,
    record: &JobRecord,
    observer: &LiveObserver,
) -> Result<Prepared, Failure> {
    refuse_other_service(site, record)?;
    let mut record = record.clone();
    record.options.delivery.wait = Some(true);
    record.options.delivery.yes = Some(true);
    place_outputs(&observer.job, &mut record).stopped_by(StoppedBy::Disk)?;
    let mut request = site.request(&record)?;
    let service = site.service(&request.layers)?;
    let surveyed = surveyed(&observer.job, &record, &mut request).await?;
    let opened = open(site, &request.settings()?, observer).await?;
    observer.has_its_turn();
    let mut settings = request.settings()?;
    settings.policy.awaits_token = is_of_others(&request.layers);
    let intake = inputs::plan(&settings.reading, surveyed).await?;
    let intake = inputs::protect(intake, &settings, &mut request.warnings).await?;
    observer.count_rows(&intake).await?;
    let import = Import {
        request,
        settings,
        intake,
        metrics: Metrics::default(),
        is_watched: false,
        patience: None,
    };
    Prepared::new(import, &service, opened, async |_| Err(no_campaign())).await
}

/// Whether the token is one that the page was started with. Only the person at the page replaces a
/// stored one, and is asked to when the run has stopped.
fn is_of_others(layers: &Layers) -> bool {
    let given = [layers.typed(), layers.of_environment()];
    given
        .iter()
        .any(|given| given.connection.token_file.is_some())
}

/// Outputs are in the job's folder, except those that a command line has written.
fn place_outputs(job: &Job, record: &mut JobRecord) -> io::Result<()> {
    let output = &mut record.options.output;
    for (place, ending) in [
        (&mut output.results, ".results.csv"),
        (&mut output.rejects, ".rows-to-fix.xlsx"),
    ] {
        if place.is_none() {
            let path = job.output(ending);
            private_file::folders().create(folder_of(&path))?;
            *place = Some(Given::new(path.clone(), path));
        }
    }
    Ok(())
}

/// A list that was prepared for another service: that one has other campaigns with the same ids.
pub fn refuse_other_service(site: &Site, record: &JobRecord) -> Result<(), Failure> {
    if record.service == site.service_name() {
        return Ok(());
    }
    let message = message!(
        "this list was prepared for another service",
        "choose its campaign again"
    );
    Err(Failure::new(StoppedBy::Usage, message))
}
