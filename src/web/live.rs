//! What a run is doing right now, for the pages that show it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio::sync::mpsc;

use super::job::Job;
use super::trouble::Trouble;
use crate::event::{RunEvent, Waiting};
use crate::exit::Failure;
use crate::import::{Observer, service};
use crate::intake::Intake;
use crate::lead::{Counts, RunId, Status};
use crate::ledger::Begun;
use crate::message::{Message, Voice};
use crate::report::{Block, Listeners, Outcome, all_problems, stop_text};
use crate::text::{counted, grouped};

/// A run that is prepared, being sent, or over.
#[derive(Debug)]
pub struct Live {
    state: Mutex<LiveState>,
    stop: mpsc::Sender<()>,
}

#[derive(Debug, Default, Clone)]
pub struct LiveState {
    /// Whether other runs are over, so that this one can begin.
    pub has_turn: bool,
    pub run: Option<RunId>,
    pub has_begun: bool,
    pub is_stopping: bool,
    pub rows_total: Option<u64>,
    pub counts: Counts,
    /// Rows answered in time, in words.
    pub pace: Option<String>,
    pub left: Option<Duration>,
    /// What all requests wait for, if they do.
    pub waits_for: Option<String>,
    /// What a screen reader says. It changes only at the start, at each tenth, at each wait and
    /// at the end.
    pub said: String,
    tenth: u64,
    /// The wait that was said last.
    said_of: Option<&'static str>,
    pub end: Option<LiveOutcome>,
}

/// How a run has ended.
#[derive(Debug, Clone, Default)]
pub struct LiveOutcome {
    pub is_complete: bool,
    pub trouble: Option<Trouble>,
    pub is_interrupted: bool,
    pub results: Option<PathBuf>,
    pub rejects: Option<PathBuf>,
    /// What is wrong with rows that have not become leads.
    pub problems: Vec<Block>,
}

impl Live {
    /// A run that has not begun, and where it is told to stop.
    pub fn new() -> (Live, mpsc::Receiver<()>) {
        let (stop, stopped) = mpsc::channel(1);
        let state = Mutex::default();
        (Live { state, stop }, stopped)
    }

    fn lock(&self) -> MutexGuard<'_, LiveState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn now(&self) -> LiveState {
        self.lock().clone()
    }

    pub fn has_begun(&self) -> bool {
        self.lock().has_begun
    }

    /// The results of a run that is complete.
    pub fn results_of_complete(&self) -> Option<PathBuf> {
        let live = self.lock();
        let end = live.end.as_ref().filter(|end| end.is_complete)?;
        end.results.clone()
    }

    /// Stops the run as Ctrl-C does, or ends its wait for its turn. Only the first call does
    /// something: a second message would not wait for the answers that are on their way.
    pub fn stop(&self) {
        if !std::mem::replace(&mut self.lock().is_stopping, true) {
            let _ = self.stop.try_send(());
        }
    }

    /// The run has broken off.
    pub fn fail(&self, trouble: Trouble) {
        let mut live = self.lock();
        live.said = trouble.what.clone();
        live.end = Some(LiveOutcome {
            trouble: Some(trouble),
            ..LiveOutcome::default()
        });
    }
}

impl LiveState {
    pub fn rows_done(&self) -> u64 {
        self.counts.total()
    }

    /// `312 people were added to the campaign`
    pub fn created(&self) -> String {
        match self.counts.of(Status::Created) {
            1 => "1 person was added to the campaign".to_owned(),
            created => format!("{} people were added to the campaign", grouped(created)),
        }
    }

    /// When it should be over, as people say it.
    pub fn finish(&self) -> Option<String> {
        let left = self.left.filter(|_| self.end.is_none())?;
        clock_after(left)
    }
}

/// The time of day after a while: `15:40`, with the day if it is not today.
pub fn clock_after(time: Duration) -> Option<String> {
    let zone = TimeZone::try_system().unwrap_or(TimeZone::UTC);
    let now = Timestamp::now().to_zoned(zone);
    let then = now.checked_add(time).ok()?;
    let form = match then.date() == now.date() {
        true => "%H:%M",
        false => "%H:%M on %A, %-d %B",
    };
    Some(then.strftime(form).to_string())
}

/// Tells the page what happens in a run.
pub struct LiveObserver {
    live: Arc<Live>,
    pub job: Arc<Job>,
    /// After so many settled leads the run is stopped.
    stop_after: Option<u64>,
    /// The problems of the list, which the user has seen.
    problems: Option<Vec<String>>,
    settled: u64,
}

impl LiveObserver {
    pub fn new(
        live: Arc<Live>,
        job: Arc<Job>,
        stop_after: Option<u64>,
        problems: Option<Vec<String>>,
    ) -> LiveObserver {
        LiveObserver {
            live,
            job,
            stop_after,
            problems,
            settled: 0,
        }
    }

    pub fn live(&self) -> &Live {
        &self.live
    }

    pub fn has_its_turn(&self) {
        let mut live = self.live.lock();
        live.has_turn = true;
        live.waits_for = None;
    }

    /// What this list waits for, in words.
    pub fn waits_for(&self, what: String) {
        let mut live = self.live.lock();
        if live.waits_for.as_ref() != Some(&what) {
            live.said.clone_from(&what);
            live.waits_for = Some(what);
        }
    }

    pub fn rows_total(&self) -> Option<u64> {
        self.live.lock().rows_total
    }

    /// Counts the rows, so that the page can say how many there are.
    pub async fn count_rows(&self, intake: &Intake) -> Result<(), Failure> {
        let intake = intake.clone();
        let rows = service::on_a_thread(move || intake.count_rows()).await?;
        self.live.lock().rows_total = Some(rows);
        Ok(())
    }

    /// Stops the run, once, when enough leads are settled.
    fn count_settled(&mut self, status: Status, was_sent: bool) {
        let is_settled = matches!(status, Status::Created | Status::Duplicate);
        if !is_settled || !was_sent {
            return;
        }
        self.settled += 1;
        if self.stop_after == Some(self.settled) {
            self.live.stop();
        }
    }
}

impl Observer for LiveObserver {
    fn begun(&mut self, begun: Option<&Begun>) {
        if let Some(begun) = begun {
            self.job.begin_run(begun.run, self.problems.take());
        }
        // Not while the live state is locked: pages lock it behind that of the job.
        let name = self.job.record().name;
        let mut live = self.live.lock();
        live.has_begun = true;
        live.run = begun.map(|begun| begun.run);
        live.said = format!("Sending {name} has begun.");
        drop(live);
        self.job.has_changed();
    }

    fn event(&mut self, event: &RunEvent<'_>, listeners: &Listeners) {
        if let RunEvent::Settled { outcome, sent, .. } = event {
            self.count_settled(outcome.status, *sent);
        }
        // For rows it is enough to look at them together, once a second.
        let is_seldom = !matches!(event, RunEvent::Settled { .. } | RunEvent::Retrying { .. });
        if is_seldom {
            self.live.lock().take(event, listeners);
        }
    }

    fn ended(&mut self, outcome: &Outcome<'_>) -> Result<(), Failure> {
        let mut live = self.live.lock();
        live.counts = outcome.tally.counts;
        live.rows_total = outcome.rows_total.or(live.rows_total);
        live.waits_for = None;
        let end = LiveOutcome::of(outcome);
        live.said = match (&end.trouble, end.is_complete) {
            (_, true) => format!("Finished. {}.", live.created()),
            (Some(trouble), _) if !end.is_interrupted => trouble.what.clone(),
            _ => format!("Stopped. {}.", live.created()),
        };
        live.end = Some(end);
        Ok(())
    }
}

impl LiveOutcome {
    fn of(outcome: &Outcome<'_>) -> LiveOutcome {
        let stop = outcome.stop.as_ref();
        LiveOutcome {
            is_complete: stop.is_none(),
            is_interrupted: stop.is_some_and(|stop| stop.is_interrupted() && stop.also.is_none()),
            trouble: stop.map(|stop| {
                let text = stop_text(stop);
                let text = match outcome.refused_rows() {
                    Some(rows) => text.then(Message::without_hint(rows)),
                    None => text,
                };
                Trouble::of_message(stop.by(), &text)
            }),
            results: outcome.written.results.clone(),
            rejects: outcome.written.rejects_paths().next().map(Into::into),
            problems: all_problems(outcome),
        }
    }
}

impl LiveState {
    fn take(&mut self, event: &RunEvent<'_>, listeners: &Listeners) {
        self.counts = listeners.tally.counts;
        let progress = &listeners.progress;
        self.pace = progress.pace();
        self.left = progress.left();
        let zone = TimeZone::try_system().unwrap_or(TimeZone::UTC);
        let state = progress.state(listeners.tally.in_flight, &zone);
        self.waits_for = state.map(|state| state.words(Voice::Page));
        match event {
            RunEvent::Held { .. } => self.said = "The service asks for a pause.".to_owned(),
            RunEvent::AwaitsToken { .. } => {
                self.said = "The service no longer accepts the access token. leadload waits for a new one in its file.".to_owned();
            }
            RunEvent::Outage { .. } => {
                self.said = "The service does not answer. leadload keeps trying.".to_owned();
            }
            RunEvent::Recovered { .. } => self.said = "The service answers again.".to_owned(),
            RunEvent::Stopping { .. } => self.said = "Stopping.".to_owned(),
            RunEvent::Pulse(pulse) => self.note_wait(pulse.pause.as_ref().map(|pause| &pause.why)),
            _ => self.note_tenth(),
        }
    }

    /// Says a wait that no other event tells of, once: what is shown of it counts down.
    fn note_wait(&mut self, why: Option<&Waiting>) {
        let why = why.filter(|why| why.is_told_by_pulses()).map(Waiting::word);
        let is_new = std::mem::replace(&mut self.said_of, why) != why;
        match &self.waits_for {
            Some(state) if is_new && why.is_some() => self.said.clone_from(state),
            _ => self.note_tenth(),
        }
    }

    fn note_tenth(&mut self) {
        let Some(total) = self.rows_total.filter(|total| *total > 0) else {
            return;
        };
        let tenth = 10 * self.rows_done() / total;
        if tenth > self.tenth && tenth < 10 {
            self.tenth = tenth;
            let done = grouped(self.rows_done());
            self.said = format!("{done} of {}.", counted(total, "row"));
        }
    }
}
