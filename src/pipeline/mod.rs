//! Prepared rows to settled rows: the one loop, and the one place that sends.
//!
//! It promises:
//!
//! - every attempt, first or repeated, passes the [`Pacer`];
//! - never more than the allowed number are in flight, and only one until the
//!   first answer has been understood;
//! - a number is never in flight twice for one campaign: the service's check
//!   for duplicates may race;
//! - every row that was handed in leaves with exactly one outcome, in input
//!   order; after an early stop, rows that were not finished leave without one,
//!   except those that may have been taken, which say so;
//! - it never prints: what happens is told as [`RunEvent`]s.
//!
//! Everything runs on one thread, as futures in one set, with no lock and no
//! task per request. Time is Tokio's, so that tests can stop it.

mod attempt;
mod pacer;
mod queue;
mod stops;
mod window;

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::api::wire::LeadForm;
use crate::api::{Answer, Client};
use crate::backoff::Backoff;
use crate::event::RunEvent;
use crate::exit::{Stop, StoppedBy};
use crate::intake::{Batch, Batches, PlannedInput, PreparedRow};
use crate::lead::{CampaignId, ErrorCode, RowOutcome};
use crate::phone::PhoneNumber;
use crate::source::SourceError;

use attempt::{Job, Step};
pub use pacer::Pacer;
use queue::Queue;
use stops::{Consequence, Stops};
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

/// What to do about an attempt that may have been taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum OnUncertain {
    /// Send again; while duplicates are not allowed the service refuses a second lead.
    Resend,
    /// Leave the row `uncertain`.
    Hold,
}

/// How rows are sent.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// In flight at most.
    pub concurrency: usize,
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

/// How a run ended.
#[derive(Debug)]
pub struct End {
    /// Why it ended early, if it did.
    pub stop: Option<Stop>,
    /// Requests started.
    pub requests: u64,
}

/// A row's campaign and number: what is not to be in flight twice.
type Target = (CampaignId, PhoneNumber);

type Answers = FuturesUnordered<Pin<Box<dyn Future<Output = (Slot, Answer)>>>>;

/// The state of a run.
pub struct Pipeline<'a, S> {
    sender: S,
    policy: Policy,
    pacer: Pacer,
    inputs: Arc<[PlannedInput]>,
    events: &'a mut dyn FnMut(RunEvent<'_>),
    window: Window,
    /// Requests under way; each gives the place of its row and the answer.
    answers: Answers,
    /// The jobs they are for.
    in_flight: HashMap<Slot, Job>,
    queue: Queue,
    /// Rows whose refusal may turn out to be every row's.
    aside: Vec<(Job, Answer)>,
    stops: Stops,
    /// Pauses without a hint in a row.
    unhinted: u32,
    stop: Option<Stop>,
    interrupted: bool,
    exhausted: bool,
    /// The writer of results takes no more.
    writer_ended: bool,
    requests: u64,
}

impl<'a, S: LeadSender> Pipeline<'a, S> {
    /// A pipeline for rows of `inputs`.
    pub fn new(
        sender: S,
        policy: Policy,
        pacer: Pacer,
        inputs: Arc<[PlannedInput]>,
        events: &'a mut dyn FnMut(RunEvent<'_>),
    ) -> Self {
        Pipeline {
            sender,
            policy,
            pacer,
            inputs,
            events,
            window: Window::default(),
            answers: FuturesUnordered::new(),
            in_flight: HashMap::new(),
            queue: Queue::default(),
            aside: Vec::new(),
            stops: Stops::default(),
            unhinted: 0,
            stop: None,
            interrupted: false,
            exhausted: false,
            writer_ended: false,
            requests: 0,
        }
    }

    /// Sends all rows that come in and hands batches on as their rows are settled.
    /// The first message of `interrupts` stops it when what is in flight has been
    /// answered, the second at once.
    pub async fn run(
        mut self,
        mut batches: Batches,
        settled: mpsc::Sender<Batch>,
        mut interrupts: mpsc::Receiver<()>,
    ) -> End {
        loop {
            let wake = self.start_what_may();
            if self.is_over() {
                break;
            }
            if wake.is_none() && self.is_waiting_for_the_aside() {
                self.reject_what_is_aside();
                continue;
            }
            tokio::select! {
                biased;
                Some(()) = interrupts.recv() => {
                    if std::mem::replace(&mut self.interrupted, true) {
                        break;
                    }
                    self.interrupt();
                }
                Some((slot, answer)) = self.answers.next() => self.take(slot, answer),
                room = settled.reserve(), if self.writes() => match room {
                    Ok(room) => {
                        if let Some(batch) = self.window.take_front() {
                            room.send(batch);
                        }
                    }
                    Err(_) => {
                        self.writer_ended = true;
                        self.stop(unwritten());
                    }
                },
                rows = batches.next(), if self.wants_rows() => self.receive(rows),
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {}
            }
        }
        self.finish(&settled).await
    }

    fn wants_rows(&self) -> bool {
        self.stop.is_none() && !self.exhausted && self.window.has_room()
    }

    /// Whether there is something to be written, and somebody to write it.
    fn writes(&self) -> bool {
        self.window.is_front_done() && !self.writer_ended
    }

    fn is_over(&mut self) -> bool {
        let nothing_waits = self.stop.is_some()
            || (self.exhausted && self.queue.is_empty() && self.window.peek_ready().is_none());
        self.in_flight.is_empty() && nothing_waits
    }

    /// Whether nothing can happen any more but that rows put aside make room: an
    /// answer that shows whose refusal it was will not come.
    fn is_waiting_for_the_aside(&self) -> bool {
        self.in_flight.is_empty()
            && !self.aside.is_empty()
            && !self.window.has_room()
            && !self.window.is_front_done()
    }

    fn receive(&mut self, rows: Option<Result<Batch, SourceError>>) {
        match rows {
            Some(Ok(batch)) => {
                for (row, prepared) in batch.rows.rows().zip(&batch.prepared) {
                    if let Some(outcome) = &prepared.outcome {
                        (self.events)(RunEvent::Settled {
                            row,
                            phone: prepared.phone,
                            campaign: prepared.campaign,
                            outcome,
                        });
                    }
                }
                self.window.push(batch);
            }
            Some(Err(error)) => self.stop(Stop {
                by: StoppedBy::Input,
                text: error.to_string(),
            }),
            None => self.exhausted = true,
        }
    }

    /// Starts as many requests as may start now, and returns when to look again
    /// (none: only an answer or new rows can change anything).
    fn start_what_may(&mut self) -> Option<Instant> {
        while self.stop.is_none() && self.in_flight.len() < self.limit() {
            let due = self.queue.next_due();
            let is_due = due.is_some_and(|due| due <= Instant::now());
            if !is_due && self.window.peek_ready().is_none() {
                return due;
            }
            let Some(job) = self.next_job(is_due) else {
                continue;
            };
            if let Err(when) = self.pacer.try_start() {
                self.queue.push(Instant::now(), job);
                return Some(when);
            }
            self.start(job);
        }
        None
    }

    /// In flight at most: one until it is known that answers are understood.
    fn limit(&self) -> usize {
        match self.stops.has_understood() {
            true => self.policy.concurrency,
            false => 1,
        }
    }

    /// The next job that may be sent; none where the row it would be turned out to
    /// be settled or to have to wait.
    fn next_job(&mut self, is_due: bool) -> Option<Job> {
        let job = match is_due {
            true => self.queue.pop()?,
            false => {
                let slot = self.window.peek_ready()?;
                self.window.step_over(slot);
                self.new_job(slot)?
            }
        };
        self.queue.unless_busy(job)
    }

    fn new_job(&mut self, slot: Slot) -> Option<Job> {
        let (row, prepared) = self.window.get(slot)?;
        let PreparedRow {
            phone: Some(phone),
            campaign: Some(campaign),
            ..
        } = *prepared
        else {
            // Only where the input changed after its campaign names were read.
            let outcome =
                RowOutcome::invalid(ErrorCode::CampaignInvalid, "the campaign's id is not known");
            self.settle(slot, outcome);
            return None;
        };
        Some(Job::new(slot, row.id(), (campaign, phone)))
    }

    /// The job's body, made from its row anew each time: kept, the bodies of rows
    /// that wait would take as much memory as the rows.
    fn body(&self, job: &Job) -> Option<Bytes> {
        let (row, _) = self.window.get(job.slot)?;
        let (campaign, phone) = job.target;
        let variables = self.inputs[row.file()].mapping.variables(row);
        Some(self.policy.form.body(phone, campaign, variables))
    }

    fn start(&mut self, mut job: Job) {
        let Some(body) = self.body(&job) else {
            return;
        };
        self.queue.depart(job.target);
        job.attempts += 1;
        self.requests += 1;
        let slot = job.slot;
        let answer = self.sender.send(body);
        self.answers
            .push(Box::pin(async move { (slot, answer.await) }));
        self.in_flight.insert(slot, job);
        (self.events)(RunEvent::InFlight(self.in_flight.len()));
    }

    /// Takes an answer: the row is settled, waits for another attempt, or stops the run.
    fn take(&mut self, slot: Slot, answer: Answer) {
        let Some(mut job) = self.in_flight.remove(&slot) else {
            return;
        };
        (self.events)(RunEvent::InFlight(self.in_flight.len()));
        self.queue.arrive(job.target);
        match self.stops.observe(&answer) {
            Consequence::GoOn => {}
            Consequence::Understood => {
                self.unhinted = 0;
                self.reject_what_is_aside();
            }
            Consequence::PutAside if self.stop.is_none() => {
                self.aside.push((job, answer));
                return;
            }
            // The row that met a stop has no outcome, unless an earlier attempt
            // of it may have been taken.
            Consequence::PutAside => return self.give_up(job),
            Consequence::Stop(stop) => {
                self.stop(stop);
                return self.give_up(job);
            }
        }
        match job.judge(answer, &self.policy, fastrand::f64()) {
            Step::Settle(outcome) => self.settle(slot, outcome),
            // Nothing is sent any more.
            Step::Again { .. } | Step::Hold { .. } if self.stop.is_some() => self.give_up(job),
            Step::Again { after, why } => {
                (self.events)(RunEvent::Retrying {
                    row: job.row,
                    attempt: job.attempts,
                    after,
                    why,
                });
                self.queue.push(Instant::now() + after, job);
            }
            Step::Hold { wait, why } => {
                self.hold(wait, why);
                self.queue.push(Instant::now(), job);
            }
        }
    }

    /// The whole pipeline waits, as the service asks or, without a hint, longer
    /// each time.
    fn hold(&mut self, hint: Option<Duration>, why: ErrorCode) {
        let is_held = self.pacer.held_until().is_some();
        let wait = match hint {
            Some(wait) => wait,
            // All that was in flight is refused at once: that is one refusal.
            None if is_held => return,
            None => {
                self.unhinted += 1;
                // Half of it for certain: a wait of nothing would be no answer
                // to "too many requests".
                let chance = 0.5 + fastrand::f64() / 2.0;
                self.policy.backoff.delay(self.unhinted, chance)
            }
        };
        self.pacer.hold(Instant::now() + wait);
        (self.events)(RunEvent::Held { wait, why });
    }

    /// The refusals turned out to be those rows' own.
    fn reject_what_is_aside(&mut self) {
        for (mut job, answer) in std::mem::take(&mut self.aside) {
            if let Step::Settle(outcome) = job.judge(answer, &self.policy, 0.0) {
                self.settle(job.slot, outcome);
            }
        }
    }

    fn settle(&mut self, slot: Slot, outcome: RowOutcome) {
        if let Some((row, prepared)) = self.window.get(slot) {
            (self.events)(RunEvent::Settled {
                row,
                phone: prepared.phone,
                campaign: prepared.campaign,
                outcome: &outcome,
            });
        }
        self.window.settle(slot, outcome);
    }

    /// Nothing more is sent. Of several reasons the one with the highest exit code
    /// is told.
    fn stop(&mut self, stop: Stop) {
        match &self.stop {
            Some(earlier) if earlier.by.exit_code() >= stop.by.exit_code() => return,
            Some(_) => {}
            None => (self.events)(RunEvent::Stopping {
                by: stop.by,
                in_flight: self.in_flight.len(),
            }),
        }
        self.stop = Some(stop);
    }

    fn interrupt(&mut self) {
        self.stop(Stop {
            by: StoppedBy::Signal,
            text: "stopped by a signal; rows without a line in the results have not become leads"
                .into(),
        });
    }

    /// A row that is not tried again in this run: it has no outcome, unless some
    /// attempt may have been taken. Saying nothing of that would hide a call.
    fn give_up(&mut self, job: Job) {
        if let Some((slot, outcome)) = job.uncertain() {
            self.settle(slot, outcome);
        }
    }

    /// Hands everything on: after an early end, rows without an outcome too.
    async fn finish(mut self, settled: &mpsc::Sender<Batch>) -> End {
        if self.stop.is_none() {
            self.reject_what_is_aside();
        }
        for job in std::mem::take(&mut self.in_flight).into_values() {
            let (slot, outcome) = job.abandoned();
            self.settle(slot, outcome);
        }
        for (job, _) in std::mem::take(&mut self.aside) {
            self.give_up(job);
        }
        while let Some(job) = self.queue.pop() {
            self.give_up(job);
        }
        while let Some(batch) = self.window.take_front() {
            if settled.send(batch).await.is_err() {
                self.stop(unwritten());
            }
        }
        End {
            stop: self.stop,
            requests: self.requests,
        }
    }
}

/// The writer of results has ended, and knows why.
fn unwritten() -> Stop {
    Stop {
        by: StoppedBy::Disk,
        text: "the results cannot be written".into(),
    }
}

#[cfg(test)]
mod tests;
