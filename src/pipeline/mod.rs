//! Prepared rows to settled rows: the one loop, and the one place that sends.
//!
//! It promises:
//!
//! - every attempt, first or repeated, passes the [`Pacer`];
//! - never more than the allowed number are in flight, and only one until the
//!   first answer has been understood;
//! - a number is never in flight twice for one campaign: the service's check
//!   for duplicates may race;
//! - no request leaves before its row's claim is on disk, and no outcome is passed
//!   on before it is, where there is a ledger;
//! - every row that was handed in leaves with exactly one outcome, in input
//!   order; after an early stop, rows that were not finished leave without one,
//!   except those that may have been taken, which say so;
//! - it never prints: what happens is told as [`RunEvent`]s.
//!
//! Everything but the ledger's keeper runs on one thread, as futures in one set, with
//! no lock and no task per request. Time is Tokio's, so that tests can stop it.

mod attempt;
mod books;
mod closing;
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
use crate::intake::{Batch, Batches, IntakeError, OnUncertain, PlannedInput, PreparedRow};
use crate::lead::{CampaignId, Counts, ErrorCode, RowId, RowOutcome, Status};
use crate::ledger::{CellsDigest, Claim, Committed, Keeper, LedgerError, Refusal};
use crate::phone::PhoneNumber;
use crate::source::Row;

use attempt::{Job, Step};
use books::Books;
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
    pub keeper: Keeper<Batch>,
    /// No row above this one has an outcome there: rows up to here are read even when
    /// nothing more is sent, so that the results are as complete as they can be.
    pub reached: RowId,
}

/// How a run ended.
#[derive(Debug)]
pub struct End {
    /// Why it ended early, if it did.
    pub stop: Option<Stop>,
    /// Requests started.
    pub requests: u64,
    /// Whether the ledger has all that there is to know, and whoever writes the results
    /// has got it.
    pub is_written_down: bool,
    /// The ledger's keeper, where there is one.
    pub keeper: Option<Keeper<Batch>>,
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
    books: Books,
    /// Where batches go that are not put behind the books.
    writer: Option<mpsc::Sender<Batch>>,
    /// See [`LedgerOutlet::reached`].
    reached: RowId,
    /// The row that was read last.
    last_read: RowId,
    counts: Counts,
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
        outlet: Outlet,
        events: &'a mut dyn FnMut(RunEvent<'_>),
    ) -> Self {
        let (writer, keeper, reached) = match outlet {
            Outlet::Writer(writer) => (Some(writer), None, RowId(0)),
            Outlet::Ledger(ledger) => (None, Some(ledger.keeper), ledger.reached),
        };
        Pipeline {
            sender,
            policy,
            pacer,
            inputs,
            books: Books::new(keeper, &policy),
            writer,
            reached,
            last_read: RowId(0),
            counts: Counts::default(),
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
    pub async fn run(mut self, mut batches: Batches, mut interrupts: mpsc::Receiver<()>) -> End {
        let writer = self.writer.take();
        let mut ends_at_once = false;
        loop {
            let wake = earlier_of(self.start_what_may(), self.write_down());
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
                        ends_at_once = true;
                        break;
                    }
                    self.interrupt();
                }
                Some((slot, answer)) = self.answers.next() => self.take(slot, answer),
                committed = self.books.committed(), if self.books.are_busy() => {
                    self.take_committed(committed);
                }
                room = reserve(writer.as_ref()), if self.writes() => match room {
                    Some(room) => {
                        if let Some(batch) = self.window.take_front() {
                            room.send(batch);
                        }
                    }
                    None => {
                        self.writer_ended = true;
                        self.stop(unwritten());
                    }
                },
                rows = batches.next(), if self.wants_rows() => self.receive(rows),
                () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {}
            }
        }
        let rest = (!ends_at_once).then_some((batches, interrupts));
        self.finish(rest, writer.as_ref()).await
    }

    /// Whether there is something to be written without the books, and somebody to do it.
    fn writes(&self) -> bool {
        !self.books.are_kept() && self.window.is_front_done() && !self.writer_ended
    }

    fn wants_rows(&self) -> bool {
        self.stop.is_none() && !self.exhausted && self.window.has_room()
    }

    fn is_over(&mut self) -> bool {
        let nothing_waits = self.stop.is_some()
            || (self.exhausted
                && self.queue.is_empty()
                && self.books.unstarted() == 0
                && self.window.peek_ready().is_none());
        self.in_flight.is_empty() && nothing_waits
    }

    /// Whether nothing can happen any more but that rows put aside make room: an
    /// answer that shows whose refusal it was will not come.
    fn is_waiting_for_the_aside(&self) -> bool {
        self.in_flight.is_empty()
            && !self.aside.is_empty()
            && !self.books.are_busy()
            && !self.window.has_room()
            && !self.window.is_front_done()
    }

    /// Puts batches whose rows all have their outcome behind the books, and hands those
    /// over if it is time. Returns when it will be.
    fn write_down(&mut self) -> Option<Instant> {
        if !self.books.are_kept() {
            return None;
        }
        while self.window.is_front_done() && self.books.have_room() {
            if let Some(batch) = self.window.take_front() {
                self.books.put_behind(batch);
            }
        }
        self.books.hand_over(self.counts, self.stop.is_some())
    }

    fn take_committed(&mut self, committed: Option<Committed>) {
        let (result, is_taken) = match committed {
            Some(Committed { result, is_taken }) => (result, is_taken),
            None => (Err(LedgerError::BrokeOff), true),
        };
        match result {
            Ok(()) => self.books.grant(),
            Err(error) => {
                self.books.fail();
                self.stop(Stop {
                    by: StoppedBy::Ledger,
                    text: error.to_string(),
                });
            }
        }
        if !is_taken {
            self.stop(unwritten());
        }
    }

    fn receive(&mut self, rows: Option<Result<Batch, IntakeError>>) {
        match rows {
            Some(Ok(batch)) => {
                self.note_rows(&batch);
                self.window.push(batch);
            }
            Some(Err(error)) => self.stop(Stop {
                by: match error {
                    IntakeError::Source(_) => StoppedBy::Input,
                    IntakeError::Ledger(_) => StoppedBy::Ledger,
                },
                text: error.to_string(),
            }),
            None => self.exhausted = true,
        }
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
            });
            if outcome.status == Status::Invalid && self.books.are_kept() {
                let mapping = &self.inputs[row.file()].mapping;
                self.books.refuse(Refusal {
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

    /// Starts as many requests as may start now, and returns when to look again
    /// (none: only an answer, new rows or a commit can change anything).
    fn start_what_may(&mut self) -> Option<Instant> {
        while self.stop.is_none() && self.in_flight.len() < self.limit() {
            let due = self.queue.next_due();
            let is_due = due.is_some_and(|due| due <= Instant::now());
            self.claim_ahead();
            if !is_due && !self.books.has_granted() {
                self.books.starve();
                return due;
            }
            let Some(job) = self.next_job(is_due) else {
                continue;
            };
            if let Err(when) = self.pacer.try_start() {
                match is_due {
                    true => self.queue.push(Instant::now(), job),
                    false => self.books.put_back(job),
                }
                return Some(when);
            }
            self.books.note_start();
            self.start(job);
        }
        if self.stop.is_none() {
            self.claim_ahead();
        }
        None
    }

    /// Whether a row is on its way of which it is not known yet how it will be answered:
    /// the first one.
    fn awaits_canary(&self) -> bool {
        let is_out = !self.in_flight.is_empty() || self.books.unstarted() > 0;
        is_out && !self.stops.has_understood()
    }

    /// Asks for the claims of rows that are to be sent next.
    fn claim_ahead(&mut self) {
        while self.books.want_claims() && !self.awaits_canary() {
            let Some(slot) = self.window.peek_ready() else {
                return;
            };
            self.window.step_over(slot);
            if let Some(job) = self.new_job(slot) {
                self.books.claim(job);
            }
        }
    }

    /// In flight at most: one until it is known that answers are understood.
    fn limit(&self) -> usize {
        match self.stops.has_understood() {
            true => self.policy.concurrency,
            false => 1,
        }
    }

    /// The next job that may be sent; none where its number is in flight.
    fn next_job(&mut self, is_due: bool) -> Option<Job> {
        let job = match is_due {
            true => self.queue.pop()?,
            false => self.books.next_granted()?,
        };
        self.queue.unless_busy(job)
    }

    fn new_job(&mut self, slot: Slot) -> Option<Job> {
        let (row, prepared) = self.window.get(slot)?;
        match claim(row, prepared) {
            Some(claim) => Some(Job::new(slot, claim, prepared.earlier.as_deref())),
            // Only where the input changed after its campaign names were read.
            None => {
                let text = "the campaign's id is not known";
                self.give(slot, RowOutcome::invalid(ErrorCode::CampaignInvalid, text));
                None
            }
        }
    }

    /// The job's body, made from its row anew each time: kept, the bodies of rows
    /// that wait would take as much memory as the rows.
    fn body(&self, job: &Job) -> Option<Bytes> {
        let (row, _) = self.window.get(job.slot)?;
        let (campaign, phone) = job.target();
        let variables = self.inputs[row.file()].mapping.variables(row);
        Some(self.policy.form.body(phone, campaign, variables))
    }

    fn start(&mut self, mut job: Job) {
        let Some(body) = self.body(&job) else {
            return;
        };
        self.queue.depart(job.target());
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
        self.queue.arrive(job.target());
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
            Step::Settle(outcome) => self.settle(&job, outcome),
            // Nothing is sent any more.
            Step::Again { .. } | Step::Hold { .. } if self.stop.is_some() => self.give_up(job),
            Step::Again { after, why } => {
                (self.events)(RunEvent::Retrying {
                    row: job.claim.row,
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
                self.settle(&job, outcome);
            }
        }
    }

    /// Writes down the outcome of a claimed row and gives it to the row.
    fn settle(&mut self, job: &Job, outcome: RowOutcome) {
        let cells = match outcome.status {
            Status::Rejected => self.cells(job.slot),
            _ => None,
        };
        self.books.settle(job.claim, &outcome, cells);
        self.give(job.slot, outcome);
    }

    fn cells(&self, slot: Slot) -> Option<CellsDigest> {
        let (row, _) = self.window.get(slot)?;
        let mapping = &self.inputs[row.file()].mapping;
        Some(CellsDigest::of(mapping.own_cells(row)))
    }

    /// Gives a row its outcome.
    fn give(&mut self, slot: Slot, outcome: RowOutcome) {
        if let Some((row, prepared)) = self.window.get(slot) {
            (self.events)(RunEvent::Settled {
                row,
                phone: prepared.phone,
                campaign: prepared.campaign,
                outcome: &outcome,
            });
        }
        self.counts.add(outcome.status);
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

/// The writer of results has ended, and knows why.
fn unwritten() -> Stop {
    Stop {
        by: StoppedBy::Disk,
        text: "the results cannot be written".into(),
    }
}

#[cfg(test)]
mod ledger_tests;
#[cfg(test)]
mod tests;
