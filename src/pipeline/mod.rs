//! Prepared rows to settled rows: the one loop, and the one place that sends.
//!
//! It promises:
//!
//! - every attempt, first or repeated, passes the [`RateController`];
//! - never more than the allowed number are in flight, and only one until the
//!   first answer has been understood;
//! - of a campaign whose answers have not been understood yet, one row at a time is sent;
//! - a number is never in flight twice for one campaign: the service's check
//!   for duplicates may race;
//! - no request leaves before its row's claim is on disk, and no outcome is passed
//!   on before it is, where there is a ledger and until that has failed for good;
//! - every row that was handed in leaves with exactly one outcome, in input
//!   order; after an early stop, rows that were not finished leave without one,
//!   except those that may have been taken, which say so. A campaign that is refused
//!   among others ends early alone;
//! - it never prints: what happens is told as [`RunEvent`]s.
//!
//! The state is one struct; what changes it stands in `starting` (what is sent next),
//! `answering` (what an answer changes) and `closing` (the end). All that decides is in
//! small parts that know no others and can be tested without it: `rate_controller` and `outage` say
//! when a request may start and `concurrency` how many at once, `campaign_gates` and `stops` to which
//! campaigns, `attempt` and `queue` what becomes of a row, `commit_buffer` what is on disk, `window`
//! what leaves next. `single` is for a lead that is sent by itself, to try things out.
//!
//! Everything but the ledger's writer runs on one thread, as futures in one set, with
//! no lock and no task per request. Time is Tokio's, so that tests can stop it.

mod answering;
mod attempt;
mod campaign_gates;
mod closing;
mod commit_buffer;
mod concurrency;
mod input_check;
mod outage;
mod queue;
mod rate_controller;
mod rate_estimator;
mod rate_limiter;
mod single;
mod starting;
mod stops;
mod window;

use std::collections::HashMap;
use std::future::Future;
use std::num::{NonZeroU32, NonZeroUsize};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::api::verdict::Wait;
use crate::api::wire::LeadForm;
use crate::api::{Answer, Client};
use crate::backoff::Backoff;
use crate::event::{Pause, PauseReason, Pulse, RunEvent};
use crate::exit::StoppedBy;
use crate::intake::{Batch, Batches, IntakeError, OnUncertain, PlannedInput, PreparedRow};
use crate::lead::{CampaignId, Counts, ErrorCode, RowId, RowOutcome, Status};
use crate::ledger::{CellsDigest, Claim, Committed, InvalidRow, LedgerError, LedgerWriter};
use crate::phone::PhoneNumber;
use crate::signals::{Interrupt, Interrupts};
use crate::source::Row;
use crate::stop::{Stop, StopReason};
use answering::{wall_clock, wall_clock_ahead};

use attempt::Job;
use campaign_gates::CampaignGates;
use commit_buffer::CommitBuffer;
use concurrency::Concurrency;
use input_check::InputCheck;
use outage::Outage;
use queue::Queue;
pub use rate_controller::RateController;
pub use single::{Single, send_once};
use stops::Stops;
use window::{Slot, Window};

/// Sends one lead. The service's client does, and in tests whatever plays it.
pub trait LeadSender {
    /// One attempt; the future owns what it needs.
    fn send(&self, body: Bytes) -> impl Future<Output = Answer> + 'static;
}

impl LeadSender for Client {
    fn send(&self, body: Bytes) -> impl Future<Output = Answer> + 'static {
        let client = self.clone();
        async move { client.post_lead(body).await }
    }
}

/// How many requests may be in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConcurrencyChoice {
    /// As many as the service is found to carry.
    Auto,
    /// So many, fewer only while it refuses.
    Fixed(NonZeroUsize),
}

/// How rows are sent.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// In flight at most.
    pub concurrency: ConcurrencyChoice,
    /// So many rows in a row that are rejected alike stop.
    pub stop_after: NonZeroU32,
    /// So long without an answer about any row stops.
    pub max_outage: Duration,
    /// Attempts per row that end without a usable answer, at most. Refusals that
    /// ask to come back later do not count.
    pub max_attempts: u32,
    /// What to do about attempts that may have been taken.
    pub on_uncertain: OnUncertain,
    /// The waits between them.
    pub backoff: Backoff,
    /// The parts of the body that are the same for all.
    pub form: LeadForm,
}

/// Where rows go when they have their outcome.
#[derive(Debug)]
pub enum Outlet {
    /// Straight to the writer of results: nothing is remembered.
    Writer(mpsc::Sender<Batch>),
    /// Through the ledger, which passes them on when their outcomes are on disk.
    Ledger(Box<LedgerOutlet>),
}

/// The ledger, and how far this run has come in it.
#[derive(Debug)]
pub struct LedgerOutlet {
    /// Who writes in it.
    pub writer: LedgerWriter<Batch>,
    /// No row above this one has been claimed there.
    pub reached: RowId,
    /// No row above this one is in the files of an earlier start: rows up to here are read
    /// even when nothing more is sent, so that the results have no fewer rows than before.
    pub read_to: RowId,
}

/// How a run ended.
#[derive(Debug)]
pub struct End {
    /// Why it ended early, if it did.
    pub stop: Option<Stop>,
    /// Requests started.
    pub requests: u64,
    /// How many rows there are, where they were read to their end.
    pub rows_total: Option<u64>,
    /// The row that was read last.
    pub last_read: RowId,
    /// Whether an earlier start has come further.
    pub is_shorter: bool,
    /// Whether the ledger has all that there is to know, and whoever writes the results
    /// has got it.
    pub is_written_down: bool,
    /// The ledger's writer, where there is one.
    pub writer: Option<LedgerWriter<Batch>>,
}

/// A row's campaign and number: what is not to be in flight twice.
type Target = (CampaignId, PhoneNumber);

type Answers = FuturesUnordered<Pin<Box<dyn Future<Output = (Slot, Answer)>>>>;

/// A request under way.
#[derive(Debug)]
struct Flight {
    job: Job,
    started: Instant,
    /// Whether it was the limit of requests in flight that let no other one start.
    was_full: bool,
}

/// How often is told how things stand.
const PULSE: Duration = Duration::from_secs(1);

/// The state of a run.
pub struct Pipeline<'a, S> {
    sender: S,
    policy: Policy,
    rate: RateController,
    concurrency: Concurrency,
    inputs: Arc<[PlannedInput]>,
    input_check: InputCheck,
    events: &'a mut dyn FnMut(RunEvent<'_>),
    window: Window,
    /// Requests under way; each gives the place of its row and the answer.
    answers: Answers,
    /// What they are for.
    in_flight: HashMap<Slot, Flight>,
    /// The job that is sent next, as soon as the pace allows.
    next_job: Option<Job>,
    queue: Queue,
    gates: CampaignGates,
    outage: Outage,
    /// Why the last attempt brought no answer, in a sentence of ours.
    silence_reason: Option<String>,
    /// How many answers about rows there have been.
    epoch: u64,
    commits: CommitBuffer,
    /// Where batches go that are not queued behind commits.
    outlet: Option<mpsc::Sender<Batch>>,
    /// See [`LedgerOutlet`].
    reached: RowId,
    read_to: RowId,
    /// The row that was read last.
    last_read: RowId,
    counts: Counts,
    /// Rows whose refusal may turn out to be every row's.
    aside: Vec<(Job, Answer)>,
    /// Rows that have had all their attempts since any row was answered last: the service
    /// may be away, which is not known yet.
    exhausted_rows: Vec<(Job, RowOutcome)>,
    stops: Stops,
    /// Campaigns that were refused while others went on.
    refused: Vec<(CampaignId, Stop)>,
    /// Some row was not tried as often as it might have been, or not at all.
    has_given_up: bool,
    /// Pauses without a hint in a row.
    unhinted: u32,
    /// Why everything waits, if it does.
    held_why: ErrorCode,
    /// When a wait was begun last.
    held_at: Option<Instant>,
    /// When the last wait is over: then one request goes first, and the others when it has
    /// been answered.
    asks_again_at: Option<Instant>,
    /// Until when the service has asked to be left alone.
    asked_until: Option<Instant>,
    began: Instant,
    next_pulse: Instant,
    stop: Option<Stop>,
    /// The stop has been told.
    has_told_stop: bool,
    interrupted: bool,
    exhausted: bool,
    /// Rows that are there could not be read.
    has_lost_rows: bool,
    /// The writer of results takes no more.
    writer_ended: bool,
    requests: u64,
}

impl<'a, S: LeadSender> Pipeline<'a, S> {
    /// A pipeline for rows of `inputs`.
    pub fn new(
        sender: S,
        policy: Policy,
        rate: RateController,
        inputs: Arc<[PlannedInput]>,
        outlet: Outlet,
        events: &'a mut dyn FnMut(RunEvent<'_>),
    ) -> Self {
        let (outlet, writer, reached, read_to) = match outlet {
            Outlet::Writer(writer) => (Some(writer), None, RowId(0), RowId(0)),
            Outlet::Ledger(ledger) => {
                let read_to = ledger.reached.max(ledger.read_to);
                (None, Some(ledger.writer), ledger.reached, read_to)
            }
        };
        Pipeline {
            sender,
            policy,
            rate,
            concurrency: Concurrency::new(policy.concurrency),
            inputs,
            input_check: InputCheck::default(),
            commits: CommitBuffer::new(writer, &policy),
            outlet,
            reached,
            read_to,
            last_read: RowId(0),
            counts: Counts::default(),
            events,
            window: Window::default(),
            answers: FuturesUnordered::new(),
            in_flight: HashMap::new(),
            next_job: None,
            queue: Queue::default(),
            gates: CampaignGates::default(),
            outage: Outage::default(),
            silence_reason: None,
            epoch: 0,
            aside: Vec::new(),
            exhausted_rows: Vec::new(),
            stops: Stops::new(policy.stop_after),
            refused: Vec::new(),
            has_given_up: false,
            unhinted: 0,
            held_why: ErrorCode::Http(429),
            held_at: None,
            asks_again_at: None,
            asked_until: None,
            began: Instant::now(),
            next_pulse: Instant::now() + PULSE,
            stop: None,
            has_told_stop: false,
            interrupted: false,
            exhausted: false,
            has_lost_rows: false,
            writer_ended: false,
            requests: 0,
        }
    }

    /// Sends all rows that come in and hands batches on as their rows are settled.
    /// The first signal of `interrupts`, or the end of the time, stops it when what is in
    /// flight has been answered, a second signal at once.
    pub async fn run(mut self, mut batches: Batches, mut interrupts: Interrupts) -> End {
        let outlet = self.outlet.take();
        let mut ends_at_once = false;
        self.go_on_waiting();
        loop {
            let wake = earlier_of(self.start_what_may(), self.write_down());
            if self.has_sent_all() {
                self.settle_exhausted();
            }
            if self.is_over() {
                break;
            }
            if wake.is_none() && self.waits_for_nothing() {
                self.end_waiting_for_nothing();
                continue;
            }
            let wake = earlier_of(wake, self.watch_the_clock());
            tokio::select! {
                biased;
                interrupt = interrupts.next() => match interrupt {
                    Interrupt::Signal if self.interrupted => {
                        ends_at_once = true;
                        break;
                    }
                    Interrupt::Signal => self.interrupt(),
                    Interrupt::TimeUp => {
                        self.stop(Stop::new(StopReason::Interrupted(interrupt)));
                    }
                },
                Some((slot, answer)) = self.answers.next() => self.take(slot, answer),
                committed = self.commits.committed(), if self.commits.are_busy() => {
                    self.take_committed(committed);
                }
                room = reserve(outlet.as_ref()), if self.writes() => match room {
                    Some(room) => {
                        if let Some(batch) = self.window.take_front() {
                            room.send(batch);
                        }
                    }
                    None => {
                        self.writer_ended = true;
                        self.stop(Stop::new(StopReason::ResultsEnded));
                    }
                },
                rows = batches.next(), if self.wants_rows() => self.receive(rows),
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {}
            }
        }
        let rest = (!ends_at_once).then_some((batches, interrupts));
        self.finish(rest, outlet.as_ref()).await
    }

    /// Goes on with a wait that the service asked an earlier process for.
    fn go_on_waiting(&mut self) {
        let Some((until, why)) = self.rate.pause_at_start() else {
            return;
        };
        let now = Instant::now();
        self.outage.started(now);
        let left = until - now;
        self.note_hold(until, left, Wait::Said(left), why);
    }

    /// Whether there is something to be written without a ledger, and somebody to do it.
    fn writes(&self) -> bool {
        !self.commits.are_kept() && self.window.is_front_done() && !self.writer_ended
    }

    fn wants_rows(&self) -> bool {
        self.stop.is_none() && !self.exhausted && self.window.wants_rows()
    }

    fn is_over(&mut self) -> bool {
        self.in_flight.is_empty() && (self.stop.is_some() || self.has_sent_all())
    }

    /// Whether there is nothing more to be sent, now or later, whatever is answered.
    fn has_sent_all(&mut self) -> bool {
        self.exhausted
            && self.in_flight.is_empty()
            && self.next_job.is_none()
            && self.queue.is_empty()
            && self.commits.unstarted() == 0
            && !self.gates.has_free_rows()
            && self.window.peek_ready().is_none()
    }

    /// Whether nothing will happen any more by itself: no answer, commit, time, row or writer
    /// is waited for. [`Pipeline::run`] asks only where no time is.
    fn waits_for_nothing(&self) -> bool {
        self.in_flight.is_empty()
            && !self.commits.are_busy()
            && !self.wants_rows()
            && !self.window.is_front_done()
    }

    /// Settles the rows that wait for an answer to another row, which will not come: rows
    /// that were put aside, or have had all their attempts. That there is no such row has
    /// no known cause. A run that stops and says so can go on; one that hangs cannot.
    fn end_waiting_for_nothing(&mut self) {
        if self.aside.len() + self.exhausted_rows.len() > 0 {
            self.settle_exhausted();
            self.reject_aside(|_| true);
        } else {
            self.stop(Stop::new(StopReason::Stuck(self.window.open())));
        }
    }

    /// Puts batches whose rows all have their outcome behind the entries they wait for, and hands those
    /// over if it is time. Returns when it will be.
    fn write_down(&mut self) -> Option<Instant> {
        if !self.commits.are_kept() {
            return None;
        }
        while self.window.is_front_done() && self.commits.have_room() {
            if let Some(batch) = self.window.take_front() {
                self.commits.enqueue_after_commit(batch);
            }
        }
        self.commits
            .hand_over(self.counts, self.rate.known(), self.stop.is_some())
    }

    fn take_committed(&mut self, committed: Option<Committed>) {
        let (result, is_taken) = match committed {
            Some(Committed { result, is_taken }) => (result, is_taken),
            None => (Err(LedgerError::broke_off()), true),
        };
        match result {
            Ok(()) => self.commits.grant(),
            Err(error) => {
                self.commits.fail();
                self.stop(Stop::error(StoppedBy::Ledger, error));
            }
        }
        if !is_taken {
            self.stop(Stop::new(StopReason::ResultsEnded));
        }
    }

    fn receive(&mut self, rows: Option<Result<Batch, IntakeError>>) {
        match rows {
            Some(Ok(batch)) => {
                self.note_rows(&batch);
                self.window.push(batch);
            }
            Some(Err(error)) => {
                self.has_lost_rows = true;
                let by = match error.stopped_by() {
                    // Once something was sent the run is one that can go on.
                    StoppedBy::Usage if self.has_sent_any() => StoppedBy::Input,
                    by => by,
                };
                self.stop(Stop::error(by, error));
            }
            None => self.exhausted = true,
        }
    }

    /// Whether a request of this run has left, now or earlier.
    fn has_sent_any(&self) -> bool {
        self.requests > 0 || self.reached > RowId(0)
    }

    /// How many rows there are, where they were read to their end.
    fn rows_total(&self) -> Option<u64> {
        let has_all = self.exhausted && !self.has_lost_rows;
        has_all.then_some(self.last_read.0)
    }

    /// Tells of the rows of a batch that have an outcome already, and writes down those
    /// that cannot be sent.
    fn note_rows(&mut self, batch: &Batch) {
        for (row, prepared) in batch.rows.rows().zip(&batch.prepared) {
            self.last_read = row.id();
            let Some(outcome) = &prepared.outcome else {
                continue;
            };
            self.counts.add(outcome.status);
            (self.events)(RunEvent::Settled {
                row,
                phone: prepared.phone,
                campaign: prepared.campaign,
                outcome,
                sent: false,
            });
            if outcome.status == Status::Invalid && self.commits.are_kept() {
                let mapping = &self.inputs[row.file()].mapping;
                self.commits.refuse(InvalidRow {
                    row: row.id(),
                    file: row.file(),
                    line: row.line(),
                    campaign: prepared.campaign,
                    cell: mapping.phone_cell(row).into_owned(),
                    outcome: outcome.clone(),
                    cells: CellsDigest::of(mapping.own_cells(row)),
                });
            }
        }
    }

    /// Nothing more is sent. Of several reasons the one with the highest exit code
    /// is told.
    fn stop(&mut self, stop: Stop) {
        match &self.stop {
            Some(earlier) if earlier.by().exit_code() >= stop.by().exit_code() => {}
            Some(_) => {
                self.stop = Some(stop);
                self.tell_stop();
            }
            None => {
                // Where nothing is left to be sent it may yet turn out to be no stop.
                let is_sure = stop.by() != StoppedBy::Rejections
                    || self.window.open() > self.in_flight.len() as u64;
                self.stop = Some(stop);
                if is_sure {
                    self.tell_stop();
                }
            }
        }
    }

    /// Tells of the stop, once.
    fn tell_stop(&mut self) {
        if let Some(stop) = self.stop.as_ref().filter(|_| !self.has_told_stop) {
            self.has_told_stop = true;
            (self.events)(RunEvent::Stopping {
                by: stop.by(),
                in_flight: self.in_flight.len(),
            });
        }
    }

    /// Tells how things stand, and stops where no answer has come for too long. Returns
    /// when to look again.
    fn watch_the_clock(&mut self) -> Option<Instant> {
        let now = Instant::now();
        if let Some(rate) = self.rate.news() {
            (self.events)(RunEvent::Paced(rate));
        }
        if now >= self.next_pulse {
            self.next_pulse = now + PULSE;
            let pulse = self.pulse(now);
            (self.events)(RunEvent::Pulse(pulse));
        }
        // Where nothing is left to be sent there is nothing to wait for.
        let may_stop = self.stop.is_none() && self.window.open() > 0;
        let too_long_at = self.too_long_at().filter(|_| may_stop);
        if too_long_at.is_some_and(|at| at <= now || self.is_silent_until(at)) {
            self.stop(self.too_long());
            return Some(now);
        }
        earlier_of(Some(self.next_pulse), too_long_at)
    }

    /// Whether it is certain that no answer comes before then: to wait would change nothing.
    fn is_silent_until(&self, at: Instant) -> bool {
        self.in_flight.is_empty() && self.asked_until.is_some_and(|until| at < until)
    }

    /// When no answer about any row will have come for as long as may be. A wait that the
    /// service asked for and that ends just then, as one of an hour does, is not for
    /// nothing: it is asked once more.
    fn too_long_at(&self) -> Option<Instant> {
        let most = self.policy.max_outage;
        let at = self.outage.too_long_at(most)?;
        let grace = most / 100;
        let held_until = self.rate.held_until().or(self.asks_again_at);
        match held_until.filter(|until| *until <= at + grace && at <= *until + grace) {
            Some(until) => Some(at.max(until + grace)),
            None => Some(at),
        }
    }

    fn pulse(&self, now: Instant) -> Pulse {
        let away = self.outage.away();
        let outage = away.map(|away| Pause {
            left: away.next.saturating_duration_since(now),
            reason: PauseReason::Outage {
                since: wall_clock(away.since),
                why: away.why,
            },
        });
        let held = self.rate.held_until().map(|until| Pause {
            left: until.saturating_duration_since(now),
            reason: PauseReason::Refused(self.held_why),
        });
        Pulse {
            elapsed: now - self.began,
            allowed: self.rate.pace(),
            in_flight: self.in_flight.len(),
            requests: self.requests,
            read: self.last_read.0,
            waiting: self.window.open(),
            pause: outage.or(held.filter(|held| !held.left.is_zero())),
        }
    }

    /// No answer about any row has come for as long as may be.
    fn too_long(&self) -> Stop {
        let now = Instant::now();
        match self.asked_until.filter(|until| now < *until) {
            Some(until) => Stop::new(StopReason::AskedToWait {
                until: wall_clock_ahead(until - now),
                why: self.held_why,
            }),
            None => self.silent_too_long(),
        }
    }

    fn silent_too_long(&self) -> Stop {
        let since = self
            .outage
            .asking_since()
            .map(wall_clock)
            .unwrap_or_default();
        // Refused again and again, without a word on how long to wait.
        let is_refused = self.held_at.is_some() && self.held_at >= self.outage.asking_since();
        let last = self.outage.away().map(|away| away.why);
        Stop::new(StopReason::NoAnswers {
            since,
            last: last.or(is_refused.then_some(self.held_why)),
            detail: self.silence_reason.clone(),
        })
    }

    fn interrupt(&mut self) {
        self.interrupted = true;
        self.stop(Stop::new(StopReason::Interrupted(Interrupt::Signal)));
    }
}

/// What is claimed of a row, where its number and its campaign are known.
fn claim(row: Row<'_>, prepared: &PreparedRow) -> Option<Claim> {
    Some(Claim {
        row: row.id(),
        file: row.file(),
        line: row.line(),
        number: prepared.phone?,
        campaign: prepared.campaign?,
    })
}

/// The earlier of two times, of which either may not come.
fn earlier_of(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    a.into_iter().chain(b).min()
}

/// Room for a batch; none if nobody takes batches any more.
async fn reserve(writer: Option<&mpsc::Sender<Batch>>) -> Option<mpsc::Permit<'_, Batch>> {
    writer?.reserve().await.ok()
}

#[cfg(test)]
mod ledger_tests;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod tests;
