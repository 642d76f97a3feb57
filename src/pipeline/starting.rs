//! What is sent next: claims, gates, the pace, and the hand-over to the service.

use bytes::Bytes;
use tokio::time::Instant;

use super::attempt::Job;
use super::campaign_gates::Admission;
use super::window::Slot;
use super::{Flight, LeadSender, Pipeline, claim};
use crate::event::RunEvent;
use crate::lead::{CampaignId, ErrorCode, RowOutcome};
use crate::stop::Stop;

impl<S: LeadSender> Pipeline<'_, S> {
    /// Starts as many requests as may start now, and returns when to look again
    /// (none: only an answer, new rows or a commit can change anything).
    pub(super) fn start_what_may(&mut self) -> Option<Instant> {
        self.commits
            .set_most_in_flight(self.limit(), self.aside.len() + self.exhausted_rows.len());
        while self.stop.is_none() && self.in_flight.len() < self.limit() {
            self.claim_ahead();
            if self.next_job.is_none() {
                let due = self.queue.next_due();
                let is_due = due.is_some_and(|due| due <= Instant::now());
                if !is_due && !self.commits.has_granted() {
                    self.commits.starve();
                    return due;
                }
                self.next_job = self.next_job(is_due);
                continue;
            }
            if let Some(stop) = self.changed_input() {
                self.stop(stop);
                return None;
            }
            let now = match self.may_start() {
                Ok(now) => now,
                Err(when) => {
                    // Nothing was held up by a claim.
                    self.commits.record_idle();
                    return when;
                }
            };
            self.commits.note_start();
            if let Some(job) = self.next_job.take() {
                self.start(job, now);
            }
        }
        if self.stop.is_none() {
            self.claim_ahead();
        }
        None
    }

    /// Why the row that is sent next must not be: its input is not what it was any more.
    fn changed_input(&mut self) -> Option<Stop> {
        let (row, _) = self.window.get(self.next_job.as_ref()?.slot)?;
        let checked = self.input_check.check(&self.inputs, row.file());
        checked
            .err()
            .map(|error| Stop::error(error.stopped_by(), error))
    }

    /// In flight at most: one until it is known that answers are understood.
    fn limit(&self) -> usize {
        if self.stops.has_understood() {
            let started = self.in_flight.values().map(|flight| flight.started);
            self.concurrency.limit_beside(started, Instant::now())
        } else {
            1
        }
    }

    /// Whether a request may start now, and what now is; if not, when to ask again, unless
    /// only an answer can change it.
    fn may_start(&mut self) -> Result<Instant, Option<Instant>> {
        let away = self.outage.away();
        let asks = away.map_or(self.asks_again_at, |away| Some(away.began));
        let mut flights = self.in_flight.values();
        if asks.is_some_and(|since| flights.any(|flight| flight.started >= since)) {
            return Err(None);
        }
        if let Some(away) = away
            && Instant::now() < away.next
        {
            return Err(Some(away.next));
        }
        self.rate.try_start().map_err(Some)
    }

    /// Whether nothing has been understood yet, and a row is on its way that may change
    /// that.
    fn awaits_first_answer(&self) -> bool {
        let is_out =
            !self.in_flight.is_empty() || self.commits.unstarted() > 0 || self.next_job.is_some();
        is_out && !self.stops.has_understood()
    }

    /// Asks for the claims of rows that are to be sent next.
    fn claim_ahead(&mut self) {
        while self.commits.want_claims() && !self.awaits_first_answer() {
            let Some(job) = self.next_row().and_then(|slot| self.new_job(slot)) else {
                return;
            };
            self.commits.claim(job);
        }
    }

    /// The next row that is to be sent for the first time, and whose campaign may be sent to.
    fn next_row(&mut self) -> Option<Slot> {
        loop {
            let slot = match self.gates.next_free_row() {
                Some(slot) => slot,
                None => {
                    let slot = self.window.peek_ready()?;
                    self.window.step_over(slot);
                    slot
                }
            };
            let Some(campaign) = self.campaign_of(slot) else {
                // Only where the input changed after its campaign names were read.
                let text = "the campaign's id is not known";
                self.give(slot, RowOutcome::invalid(ErrorCode::CampaignInvalid, text));
                continue;
            };
            match self.gates.enter(campaign, slot) {
                Admission::Go(slot) => return Some(slot),
                Admission::Wait => {}
                Admission::Closed(slot) => self.pass_over(slot),
            }
        }
    }

    /// A job that nothing but the pace holds back, if the next one is such.
    fn next_job(&mut self, is_due: bool) -> Option<Job> {
        let job = if is_due {
            let job = self.queue.pop()?;
            match self.gates.enter_again(job.claim.campaign, job) {
                Admission::Go(job) => job,
                Admission::Wait => return None,
                Admission::Closed(job) => {
                    self.give_up(job);
                    return None;
                }
            }
        } else {
            let job = self.commits.next_granted()?;
            if self.gates.is_shut(job.claim.campaign) {
                self.give_up(job);
                return None;
            }
            job
        };
        self.queue.unless_busy(job)
    }

    fn campaign_of(&self, slot: Slot) -> Option<CampaignId> {
        let (_, prepared) = self.window.get(slot)?;
        prepared.phone?;
        prepared.campaign
    }

    pub(super) fn new_job(&self, slot: Slot) -> Option<Job> {
        let (row, prepared) = self.window.get(slot)?;
        let claim = claim(row, prepared)?;
        Some(Job::new(slot, claim, prepared.earlier.as_deref()))
    }

    /// The job's body, made from its row anew each time: kept, the bodies of rows
    /// that wait would take as much memory as the rows.
    fn body(&self, job: &Job) -> Option<Bytes> {
        let (row, _) = self.window.get(job.slot)?;
        let (campaign, phone) = job.target();
        let variables = self.inputs[row.file()].mapping.variables(row);
        Some(self.policy.form.body(phone, campaign, variables))
    }

    /// Starts a request that is counted as started `now`: the rate knows it by this time.
    fn start(&mut self, mut job: Job, now: Instant) {
        // A row that waits for its outcome is always in the window.
        let Some(body) = self.body(&job) else {
            return self.give_up(job);
        };
        self.queue.depart(job.target());
        self.outage.started(now);
        self.commits.count_request();
        job.attempts += 1;
        self.requests += 1;
        let slot = job.slot;
        let answer = self.sender.send(body);
        self.answers
            .push(Box::pin(async move { (slot, answer.await) }));
        let flight = Flight {
            job,
            started: now,
            was_full: self.in_flight.len() + 1 >= self.limit(),
        };
        self.in_flight.insert(slot, flight);
        (self.events)(RunEvent::InFlight(self.in_flight.len()));
    }
}
