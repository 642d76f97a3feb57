//! Prepared rows to settled rows: the one loop, and the one place that sends.
//!
//! It promises:
//!
//! - every attempt, first or repeated, is let start by the [`Pacer`];
//! - never more than the allowed number are in flight, and only one until the
//!   first answer has been understood;
//! - of a campaign whose answers have not been understood yet, one row at a time is sent;
//! - a number is never in flight twice for one campaign: the service's check
//!   for duplicates may race;
//! - with a ledger, no request leaves for a number that was on the do-not-call list when the last
//!   commit began, and that one has ended within the last second;
//! - with a ledger, no request leaves before its row's claim is on disk, and no outcome
//!   is passed on before the outcome is on disk, unless the ledger has failed;
//! - every row leaves with exactly one outcome, in input order. After an early stop an
//!   unfinished row has none, unless the service may have taken it: then it is `uncertain`.
//!   If the service refuses one of several campaigns, only that campaign stops;
//! - it never prints: it reports what happens as [`RunEvent`]s.
//!
//! The loop is in this file; what it does is in `starting` (what is sent next), `answering`
//! (what an answer changes) and `closing` (the end). Its state is in parts that decide on their
//! own, know nothing of the loop, and are tested without it:
//!
//! | part | state |
//! |-|-|
//! | `window` | the rows that were read, in input order |
//! | `schedule` (`campaign_gates`) | which claimed row is next, and what the others wait for |
//! | `answering::Undecided` (`probes`) | rows whose outcome depends on other rows' answers |
//! | `in_flight` (`attempt`) | requests under way |
//! | `pacer` (`rate_controller`, `concurrency`, `throttle`, `outage`) | when the next request may start, and what the results say of that |
//! | `stops` | whether going on is pointless |
//! | `token_wait` | a refused token in whose place another one may come |
//! | `waiting` | what is waited for while nothing is under way |
//! | `commit_buffer` (`claims`) | what is on disk, and what waits to be |
//! | `stop_state` | whether and why it stops, and how the run ends |
//!
//! Two others send when a pacer lets them, and tell it the results: `test_send` one lead by itself, for
//! `--test-to`, and `paced_client` other calls than leads.
//!
//! Everything but the ledger's writer runs on one thread, as futures in one set, with
//! no lock and no task per request. Time is Tokio's, so that tests can stop it.

mod answering;
mod attempt;
mod by_chance;
mod campaign_gates;
mod claims;
mod closing;
mod commit_buffer;
mod concurrency;
mod cubic;
mod in_flight;
mod ledger_thread;
mod outage;
mod paced_client;
mod pacer;
mod probes;
mod rate_controller;
mod rate_limiter;
mod reasons;
mod reserved_starts;
mod schedule;
mod starting;
mod stated_limits;
mod stop_state;
mod stops;
mod test_send;
mod throttle;
mod token_wait;
mod waiting;
mod window;

use std::future::Future;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::api::wire::LeadForm;
use crate::api::{Answer, Client};
use crate::event::{Pulse, RunEvent};
use crate::exit::{Failure, StoppedBy};
use crate::intake::{Batch, Batches, OnUncertain, PlannedInput, PreparedRow};
use crate::lead::{CampaignId, Counts, RowId, Status};
use crate::ledger::{CellsDigest, Committed, InvalidRow, LedgerError, LedgerWriter};
use crate::phone::PhoneNumber;
use crate::screen::SuppressionLists;
use crate::signals::{Interrupt, Interrupts};
use crate::stop::{Stop, StopReason};
use crate::text::shortened;
use answering::Undecided;
use commit_buffer::CommitBuffer;
use in_flight::{Arrived, InFlight};
pub use paced_client::{AT_ONCE, PacedClient};
pub use pacer::Pacer;
pub use rate_controller::RateController;
use reasons::Reasons;
use schedule::Schedule;
use stop_state::StopState;
use stops::Stops;
pub use test_send::{TestSend, send_once};
use token_wait::TokenWait;
use window::Window;

/// How many characters the ledger keeps of a cell that is no number. The results have all of it.
const LONGEST_CELL: usize = 1_000;

const PULSE: Duration = Duration::from_secs(1);

/// Sends one lead: the HTTP client, or a fake service in tests.
pub trait LeadSender {
    /// One attempt; the future owns what it needs.
    fn send(&self, body: Bytes) -> impl Future<Output = Answer> + 'static;

    /// Whether the list of campaigns comes: then the service is there.
    fn lists_campaigns(&self) -> impl Future<Output = bool> + 'static;

    /// Looks whether another token has come in place of the one that is known by this; `None` where
    /// none may come.
    fn token_is_replaced(&self, _refused: &str) -> Option<bool> {
        None
    }
}

impl LeadSender for Client {
    fn send(&self, body: Bytes) -> impl Future<Output = Answer> + 'static {
        let client = self.clone();
        async move { client.post_lead(body).await }
    }

    fn lists_campaigns(&self) -> impl Future<Output = bool> + 'static {
        let client = self.clone();
        async move { client.lists_campaigns().await }
    }

    fn token_is_replaced(&self, refused: &str) -> Option<bool> {
        Client::token_is_replaced(self, refused)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConcurrencyChoice {
    /// As many as the service turns out to handle.
    Auto,
    /// That many; fewer only while the service refuses.
    Fixed(NonZeroUsize),
}

#[derive(Debug, Clone, Copy)]
pub struct Policy {
    pub concurrency: ConcurrencyChoice,
    /// As many as there may be connections.
    pub most_in_flight: usize,
    /// After this many consecutive rows rejected for the same reason the run stops.
    pub stop_after: NonZeroU32,
    pub max_outage: Duration,
    /// The most attempts of a row without a usable answer. Refusals that ask to come
    /// back later do not count.
    pub max_attempts: u32,
    pub on_uncertain: OnUncertain,
    /// Whether a refused token is waited for, where another one may come.
    pub awaits_token: bool,
    /// The parts of the body that are the same for all.
    pub form: LeadForm,
}

#[derive(Debug)]
pub enum Destination {
    /// Straight to the results: there is no ledger.
    Writer(mpsc::Sender<Batch>),
    /// Through the ledger, which passes batches on when their outcomes are on disk.
    Ledger(Box<LedgerDestination>),
}

#[derive(Debug)]
pub struct LedgerDestination {
    pub writer: LedgerWriter<Batch>,
    /// The do-not-call lists, one of which may grow in the ledger.
    pub suppression: Arc<SuppressionLists>,
    /// The last row that earlier starts claimed there.
    pub reached: RowId,
    /// The last row in the files of an earlier start: rows up to here are read even when
    /// nothing more is sent, so that the results have no fewer rows than before.
    pub read_to: RowId,
}

#[derive(Debug)]
pub struct Delivery {
    pub stop: Option<Stop>,
    pub requests: u64,
    pub rows_total: Option<u64>,
    pub last_read: RowId,
    /// Whether an earlier start got further.
    pub is_shorter: bool,
    /// Whether everything that is known is in the ledger, and with the writer of the
    /// results.
    pub is_written_down: bool,
    /// Rows that were refused, now or before, where it is not known if that was their own: the file and
    /// line of each. They have no outcome.
    pub stopped_at: Vec<(usize, u64)>,
    /// Rejected rows that the same command tries again.
    pub tried_again: Vec<RowId>,
    pub writer: Option<LedgerWriter<Batch>>,
}

/// A row's campaign and number, which must not be in flight twice.
type Target = (CampaignId, PhoneNumber);

pub struct Pipeline<'a, S> {
    policy: Policy,
    inputs: Arc<[PlannedInput]>,
    /// The input that was last checked and unchanged, and when.
    unchanged: Option<(usize, Instant)>,
    events: &'a mut dyn FnMut(RunEvent<'_>),
    window: Window,
    schedule: Schedule,
    in_flight: InFlight<S>,
    undecided: Undecided,
    pacer: Pacer,
    stops: Stops,
    token_wait: Option<TokenWait>,
    commits: CommitBuffer,
    /// Where batches go if there is no ledger to wait for.
    results: Option<mpsc::Sender<Batch>>,
    progress: Progress,
    stop_state: StopState,
}

#[derive(Debug)]
struct Progress {
    began: Instant,
    next_pulse: Instant,
    counts: Counts,
    reasons: Reasons,
    last_read: RowId,
    reached: RowId,
    /// See [`LedgerDestination::read_to`].
    read_to: RowId,
    is_read: bool,
    /// Whether reading failed, so that rows are missing.
    has_lost_rows: bool,
    /// Since when nothing was under way, but for other runs or the ledger.
    waits_since: Option<Instant>,
    /// Whose run has claimed rows that this one waits for, and when they are free at the latest if that
    /// one has ended.
    claimed_by: Option<(Arc<str>, Instant)>,
}

impl Progress {
    fn is_shorter(&self) -> bool {
        self.last_read < self.read_to
    }
}

impl<'a, S: LeadSender> Pipeline<'a, S> {
    pub fn new(
        sender: S,
        policy: Policy,
        rate: RateController,
        inputs: Arc<[PlannedInput]>,
        destination: Destination,
        events: &'a mut dyn FnMut(RunEvent<'_>),
    ) -> Self {
        let (results, ledger, reached, read_to) = match destination {
            Destination::Writer(results) => (Some(results), None, RowId(0), RowId(0)),
            Destination::Ledger(destination) => {
                let ledger = (destination.writer, destination.suppression);
                (None, Some(ledger), destination.reached, destination.read_to)
            }
        };
        let now = Instant::now();
        let commits = CommitBuffer::new(ledger, rate.limits());
        Pipeline {
            policy,
            inputs,
            unchanged: None,
            events,
            window: Window::default(),
            schedule: Schedule::default(),
            in_flight: InFlight::new(sender),
            undecided: Undecided::default(),
            pacer: Pacer::new(
                rate,
                policy.concurrency,
                policy.most_in_flight,
                policy.max_outage,
            ),
            stops: Stops::new(policy.stop_after),
            token_wait: None,
            commits,
            results,
            progress: Progress {
                began: now,
                next_pulse: now,
                counts: Counts::default(),
                reasons: Reasons::default(),
                last_read: RowId(0),
                reached,
                read_to: reached.max(read_to),
                is_read: false,
                has_lost_rows: false,
                waits_since: None,
                claimed_by: None,
            },
            stop_state: StopState::default(),
        }
    }

    /// Sends all rows that come in and passes batches on as their rows are settled.
    /// The first signal of `interrupts`, or the end of the time, stops it when what is in
    /// flight has been answered, a second signal at once.
    pub async fn run(mut self, mut batches: Batches, mut interrupts: Interrupts) -> Delivery {
        let results = self.results.take();
        let mut ends_at_once = false;
        self.pacer.resume_wait(self.events);
        loop {
            let wake = earlier_of(self.start_what_may(), self.commit_what_is_due());
            if self.has_sent_all() && self.decide_rest() {
                continue;
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
                interrupt = interrupts.next() => {
                    if interrupt == Interrupt::Signal && self.stop_state.is_interrupted {
                        ends_at_once = true;
                        self.commits.end_lease(true);
                        break;
                    }
                    self.stop_state.is_interrupted |= interrupt == Interrupt::Signal;
                    self.stop(Stop::new(StopReason::Interrupted(interrupt)));
                }
                Some(arrived) = self.in_flight.answers.next() => match arrived {
                    Arrived::Lead(slot, answer) => self.take(slot, answer),
                    Arrived::List(came) => self.take_list(came),
                },
                committed = self.commits.committed(), if self.commits.is_busy() => {
                    self.take_committed(committed);
                }
                room = reserve(results.as_ref()), if self.writes() => match room {
                    Some(room) => {
                        if let Some(batch) = self.window.take_front() {
                            room.send(batch);
                        }
                    }
                    None => self.stop_without_results(),
                },
                rows = batches.next(), if self.wants_rows() => self.receive(rows),
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {}
            }
        }
        let rest = (!ends_at_once).then_some((batches, interrupts));
        self.finish(rest, results.as_ref()).await
    }

    /// Whether the batch at the front can go straight to the results.
    fn writes(&self) -> bool {
        !self.commits.has_ledger() && self.window.is_front_done() && !self.stop_state.results_ended
    }

    fn wants_rows(&self) -> bool {
        !self.stop_state.is_stopping() && !self.progress.is_read && self.window.wants_rows()
    }

    fn is_over(&mut self) -> bool {
        self.in_flight.flights.is_empty() && (self.stop_state.is_stopping() || self.has_sent_all())
    }

    /// Whether nothing is left to send, now or later, whatever the answers are.
    fn has_sent_all(&mut self) -> bool {
        self.progress.is_read
            && self.in_flight.flights.is_empty()
            && self.schedule.is_empty()
            && self.commits.claims.unstarted() == 0
            && self.window.peek_ready().is_none()
    }

    /// Whether the loop would wait forever: no answer, commit, row or writer is due.
    /// [`Pipeline::run`] asks only when no time is due either.
    fn waits_for_nothing(&self) -> bool {
        self.in_flight.answers.is_empty()
            && !self.commits.is_busy()
            && !self.wants_rows()
            && !self.window.is_front_done()
    }

    /// Decides about rows that wait for an answer to another row, which will not come. If there
    /// are none, this is a bug without a known cause: a run that stops and says so can
    /// continue, one that hangs cannot.
    fn end_waiting_for_nothing(&mut self) {
        if !self.decide_rest() {
            self.stop(Stop::new(StopReason::Stuck(self.window.open())));
        }
    }

    /// Takes the next step with rows that wait for others, now that no other can be sent. Returns
    /// whether there was one.
    fn decide_rest(&mut self) -> bool {
        let is_exhausted = !self.undecided.exhausted.is_empty();
        self.settle_exhausted();
        is_exhausted || !self.stop_state.is_stopping() && self.decide_suspects()
    }

    /// Adds finished batches to the next commit, and submits it if it is due. Returns when it
    /// will be.
    fn commit_what_is_due(&mut self) -> Option<Instant> {
        if !self.commits.has_ledger() {
            return None;
        }
        while self.window.is_front_done() && self.commits.has_room() {
            if let Some(batch) = self.window.take_front() {
                self.commits.batches.push(batch);
            }
        }
        let at_once = self.stop_state.is_stopping();
        let known = self.pacer.rate.known();
        self.commits.record_limits(self.pacer.limits());
        if let Some(space) = self.pacer.rate.limiter.wanted_spacing() {
            self.commits.want_starts(space);
        }
        if std::mem::take(&mut self.pacer.rate.limiter.wants_news) {
            self.commits.want_reply();
        }
        self.commits.submit(self.progress.counts, known, at_once)
    }

    fn take_committed(&mut self, committed: Option<Committed>) {
        let Committed { result, is_taken } = committed.unwrap_or(Committed {
            result: Err(LedgerError::broke_off()),
            is_taken: true,
        });
        match result {
            Ok(reply) => {
                let mut reply = reply.unwrap_or_default();
                let refused = self.commits.finish(Some(&mut reply));
                if let Some((whose, left)) = reply.claimed_by.take() {
                    self.progress.claimed_by = Some((whose, Instant::now() + left));
                }
                if reply.is_shared {
                    self.pacer.share(reply, self.events);
                }
                for (job, refusal) in refused {
                    self.take_refusal(job, refusal);
                }
            }
            Err(error) => {
                self.commits.finish(None);
                self.stop(error.into());
            }
        }
        if !is_taken {
            self.stop_without_results();
        }
    }

    /// The writer of the results has stopped; it reports why itself.
    fn stop_without_results(&mut self) {
        self.stop_state.results_ended = true;
        self.stop(Stop::new(StopReason::ResultsEnded));
    }

    fn receive(&mut self, rows: Option<Result<Batch, Failure>>) {
        match rows {
            Some(Ok(batch)) => {
                self.record_rows(&batch);
                if batch.prepared.iter().any(PreparedRow::was_refused) {
                    self.schedule.has_refused_ahead = true;
                    self.stops.follows_stop = true;
                }
                self.window.push(batch);
            }
            Some(Err(error)) => {
                self.progress.has_lost_rows = true;
                let was_begun_before = self.progress.reached > RowId(0);
                let by = match error.stopped_by {
                    // Once something was sent, this is a run that can be continued.
                    StoppedBy::Usage if self.in_flight.requests > 0 || was_begun_before => {
                        StoppedBy::Input
                    }
                    by => by,
                };
                self.stop(Stop::error(by, error.message()));
            }
            None => self.progress.is_read = true,
        }
    }

    /// Reports the rows of a batch that have an outcome already, and records those that
    /// cannot be sent.
    fn record_rows(&mut self, batch: &Batch) {
        for (row, prepared) in batch.rows.rows().zip(&batch.prepared) {
            self.progress.last_read = row.id();
            let Some(outcome) = &prepared.outcome else {
                continue;
            };
            self.progress.counts.add(outcome.status);
            let mapping = &self.inputs[row.file()].mapping;
            (self.events)(RunEvent::Settled {
                row,
                phone: prepared.phone,
                campaign: prepared.campaign,
                outcome,
                sent: false,
            });
            if outcome.status == Status::Invalid {
                self.commits.record_invalid(|| InvalidRow {
                    row: row.id(),
                    file: row.file(),
                    line: row.line(),
                    campaign: prepared.campaign,
                    cell: shortened(&mapping.phone_cell(row), LONGEST_CELL),
                    outcome: outcome.clone(),
                    cells: CellsDigest::of(mapping.own_cells(row)),
                });
            }
        }
    }

    fn stop(&mut self, stop: Stop) {
        if let StopReason::Interrupted(_) = stop.reason {
            self.commits.end_lease(false);
        }
        let are_rows_left = self.window.open() > self.in_flight.flights.len() as u64;
        let news = self.stop_state.stop(stop, are_rows_left);
        self.report_stop(news);
    }

    fn report_stop(&mut self, news: Option<StoppedBy>) {
        if let Some(by) = news {
            let in_flight = self.in_flight.flights.len();
            (self.events)(RunEvent::Stopping { by, in_flight });
        }
    }

    /// Reports progress, and stops if no answer has come for too long. Returns when to look
    /// again.
    fn watch_the_clock(&mut self) -> Option<Instant> {
        let now = Instant::now();
        self.count_silence(now);
        if now >= self.progress.next_pulse {
            self.progress.next_pulse = now + PULSE;
            let pulse = self.pulse(now);
            (self.events)(RunEvent::Pulse(pulse));
        }
        // With nothing left to send there is nothing to wait for.
        let may_stop = !self.stop_state.is_stopping() && self.window.open() > 0;
        let is_any_out = !self.in_flight.flights.is_empty();
        let too_long_at = self.pacer.too_long_at(now, is_any_out);
        let too_long_at = too_long_at.filter(|_| may_stop);
        if too_long_at.is_some_and(|at| at <= now) {
            self.stop(self.pacer.too_long());
            return Some(now);
        }
        earlier_of(Some(self.progress.next_pulse), too_long_at)
    }

    fn pulse(&self, now: Instant) -> Pulse {
        Pulse {
            elapsed: now - self.progress.began,
            allowed: self.pacer.rate.pace(),
            in_flight: self.in_flight.flights.len(),
            requests: self.in_flight.requests,
            read: self.progress.last_read.0,
            waiting: self.window.open(),
            pause: self.pause(now),
        }
    }
}

fn earlier_of(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    a.into_iter().chain(b).min()
}

/// Room for one batch; `None` if the receiver is gone.
async fn reserve(results: Option<&mpsc::Sender<Batch>>) -> Option<mpsc::Permit<'_, Batch>> {
    results?.reserve().await.ok()
}

#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod tests;
