//! What is done about runs that have ended, on threads of its own: their leads are removed again,
//! and rows that may have arrived are looked up.
//!
//! Promise: it has the page's right to send while it lasts, and does not wait for another list. So
//! the page sends nothing meanwhile, and nobody who wants to take a list back waits hours for
//! another one.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{Notify, SemaphorePermit, mpsc};

use super::sending::SendState;
use super::site::Site;
use super::trouble::Trouble;
use super::work;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::follow_up::{Target, Undo, Wanted, reconcile};
use crate::lead::RunId;
use crate::ledger::{OutputKind, RunRecord};
use crate::message::Message;
use crate::options::Options;
use crate::paths::is_same_place;
use crate::report::{self, Block, age_unknown, list_name};
use crate::results::UndoFile;
use crate::settings::FollowUpSettings;
use crate::signals::Interrupts;

/// The latest work on each run since the start of the program.
#[derive(Debug, Default)]
pub struct FollowUps {
    of_runs: Mutex<BTreeMap<RunId, Arc<FollowUp>>>,
    changed: Notify,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Removes the leads of the run, as far as the user has agreed.
    Undo(Agreed),
    LookUp,
}

/// What the question has said, and the user has agreed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreed {
    /// So many are removed, at most.
    pub leads: u64,
    /// So many are older than the run, and stay.
    pub older: u64,
}

#[derive(Debug)]
pub struct FollowUp {
    pub run: RunId,
    /// The name of the run's list.
    pub list: String,
    pub task: Task,
    stop: mpsc::Sender<()>,
    state: Mutex<State>,
}

/// How far the work has come.
#[derive(Debug, Default, Clone)]
pub struct State {
    pub done: u64,
    pub total: u64,
    pub is_stopping: bool,
    /// How many leads are older than the run, so that they stay.
    pub older: u64,
    /// What came of it, if it is over.
    pub end: Option<Result<Vec<Block>, Trouble>>,
}

impl FollowUp {
    /// What is being done.
    pub fn what(&self) -> String {
        match self.task {
            Task::Undo(_) => format!("Removing the leads of {}", self.list),
            Task::LookUp => format!("Looking up rows of {}", self.list),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn now(&self) -> State {
        self.lock().clone()
    }

    pub fn is_at_work(&self) -> bool {
        self.lock().end.is_none()
    }

    /// Lets nothing more start. Only the first call does something: a second message would not wait
    /// for the answers that are on their way.
    pub fn stop(&self) {
        if !std::mem::replace(&mut self.lock().is_stopping, true) {
            let _ = self.stop.try_send(());
        }
    }

    fn shows(&self, done: u64, total: u64) {
        let mut state = self.lock();
        (state.done, state.total) = (done, total);
    }
}

impl FollowUps {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<RunId, Arc<FollowUp>>> {
        self.of_runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn of_run(&self, run: RunId) -> Option<Arc<FollowUp>> {
        self.lock().get(&run).cloned()
    }

    pub fn at_work(&self) -> Vec<Arc<FollowUp>> {
        let all = self.lock();
        let at_work = all.values().filter(|work| work.is_at_work());
        at_work.cloned().collect()
    }

    /// Waits until the work on this run is over, but not beyond this time.
    pub async fn wait_until(&self, time: Instant, run: RunId) {
        let is_over = || self.of_run(run).is_none_or(|work| !work.is_at_work());
        let waited = work::wait(&self.changed, is_over);
        let _ = tokio::time::timeout_at(time.into(), waited).await;
    }
}

/// Begins this work on a run, unless some is being done.
pub fn begin(site: &Arc<Site>, run: &RunRecord, task: Task) {
    let (stop, stopped) = mpsc::channel(1);
    let begun = Arc::new(FollowUp {
        run: run.run,
        list: list_name(run),
        task,
        stop,
        state: Mutex::default(),
    });
    let mut of_runs = site.follow_ups.lock();
    if of_runs.get(&run.run).is_some_and(|work| work.is_at_work()) {
        return;
    }
    of_runs.insert(run.run, Arc::clone(&begun));
    drop(of_runs);
    let (for_work, of_site) = (Arc::clone(&begun), Arc::clone(site));
    let site = Arc::clone(site);
    let run = run.clone();
    work::begin(
        async move || attempt(&of_site, &run, &for_work, stopped).await,
        move |ended: Result<Vec<Block>, Failure>| {
            show_what_is_known_now(&site, begun.run);
            begun.lock().end = Some(match ended {
                Err(failure) if failure.stopped_by == StoppedBy::Signal => {
                    Ok(vec![Block::Paragraph(text!(
                        "stopped; you can go on with it at any time"
                    ))])
                }
                ended => ended.map_err(|failure| Trouble::of(&failure)),
            });
            site.follow_ups.changed.notify_waiters();
        },
    );
}

/// What pages remember of this run, and of checks, is not true any more.
fn show_what_is_known_now(site: &Site, run: RunId) {
    if let Some(job) = site.jobs.of_run(run) {
        let mut state = job.state();
        if state.record.run == Some(run) && matches!(state.sending, SendState::Ended(_)) {
            state.sending = SendState::NotBegun;
        }
    }
    site.jobs.forget_checks();
}

async fn attempt(
    site: &Site,
    run: &RunRecord,
    work: &FollowUp,
    stopped: mpsc::Receiver<()>,
) -> Result<Vec<Block>, Failure> {
    let mut interrupts = Interrupts::new(stopped);
    let opening = async {
        let turn = take_turn(site).await?;
        let target = Target::open(wanted(site, run.run)?).await?;
        let prepared = match work.task {
            Task::Undo(agreed) => {
                let show = |done, total| work.shows(done, total);
                Work::Undo(Undo::prepare(target, show).await?, agreed)
            }
            Task::LookUp => Work::LookUp(target),
        };
        Ok::<_, Failure>((turn, prepared))
    };
    let (_turn, prepared) = tokio::select! {
        biased;
        _ = interrupts.next() => return Err(cancelled()),
        prepared = opening => prepared?,
    };
    match prepared {
        Work::Undo(undo, agreed) => undo_leads(site, run, work, (undo, agreed), interrupts).await,
        Work::LookUp(target) => {
            let show = |done, total| work.shows(done, total);
            let found = reconcile(&target, interrupts, show).await?;
            let told = report::reconciled(&found);
            found.stopped.map_or(Ok(told), Err)
        }
    }
}

/// Takes the right to send. A run that is over has it until its files are in order.
async fn take_turn(site: &Site) -> Result<SemaphorePermit<'_>, Failure> {
    for job in site.jobs.at_work() {
        job.wait(|state| !state.sending.is_ending()).await;
    }
    site.turn.try_acquire().map_err(|_| busy())
}

enum Work {
    Undo(Undo, Agreed),
    LookUp(Target),
}

fn wanted(site: &Site, run: RunId) -> Result<Wanted, Failure> {
    let layers = site.layers(&Options::default())?;
    let mut settings = FollowUpSettings::new(&layers).stopped_by(StoppedBy::Usage)?;
    settings.service = site.service(&layers)?;
    let ledger = site.ledger_place()?.ok_or_else(|| {
        let message = message!(
            "leadload keeps no record of what was sent",
            "remove the leads in the service's own screens"
        );
        Failure::new(StoppedBy::Usage, message)
    })?;
    Ok(Wanted {
        ledger,
        run,
        address: site.service_name(),
        settings,
        is_dry_run: false,
    })
}

async fn undo_leads(
    site: &Site,
    run: &RunRecord,
    work: &FollowUp,
    (undo, agreed): (Undo, Agreed),
    interrupts: Interrupts,
) -> Result<Vec<Block>, Failure> {
    let (leads, older) = (undo.leads(), undo.older());
    work.lock().older = older;
    if older > agreed.older {
        let message = message!(
            "{older:lead} of this list {older?was:were} in the campaign before it was sent, so nothing was removed yet",
            "press “Undo” to remove the others",
            older
        );
        return Err(Failure::new(StoppedBy::Usage, message));
    }
    if leads > agreed.leads {
        let message = message!(
            "meanwhile this list has other leads, so nothing was removed",
            "look how many there are, and choose again"
        );
        return Err(Failure::new(StoppedBy::Usage, message));
    }
    work.shows(0, leads);
    let show = |done| work.shows(done, leads);
    let undone = undo.perform(place(site, run), interrupts, show).await?;
    match undone.stopped {
        Some(failure) => Err(failure),
        None => Ok(age_unknown(undone.undated)
            .map(Block::Paragraph)
            .into_iter()
            .collect()),
    }
}

/// Where it is written what became of each lead: where it was before, with the other files of the
/// list, or in the page's own folder. A ledger names no other place.
fn place(site: &Site, run: &RunRecord) -> PathBuf {
    let otherwise = UndoFile::path(run, site.jobs.folder());
    let mut outputs = run.outputs.iter().rev();
    let earlier = outputs.find(|output| output.kind == OutputKind::Undo);
    let earlier = earlier.and_then(|output| output.path.clone());
    let earlier = earlier.filter(|path| is_same_place(path, &otherwise) || site.jobs.has(path));
    let job = site.jobs.of_run(run.run);
    // That of a list which a command line began is beside the list too.
    let of_job = job.map(|job| job.output(".undo.csv"));
    let mut places = [earlier, of_job].into_iter().flatten();
    let usable = places.find(|path| UndoFile::can_be_at(path));
    usable.unwrap_or(otherwise)
}

fn busy() -> Failure {
    let message = message!(
        "another list is being sent, or its leads are being removed",
        "stop that, or wait until it has ended, then try again"
    );
    Failure::new(StoppedBy::Busy, message)
}

fn cancelled() -> Failure {
    Failure::new(
        StoppedBy::Signal,
        Message::without_hint(text!("stopped before anything was changed")),
    )
}
