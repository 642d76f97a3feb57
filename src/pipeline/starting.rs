//! What is sent next: claims, gates, the pace, and the request.

use bytes::Bytes;
use tokio::time::Instant;

use super::attempt::Job;
use super::campaign_gates::Admission;
use super::in_flight::Flight;
use super::window::Slot;
use super::{LeadSender, Pipeline, claim};
use crate::event::RunEvent;
use crate::lead::{CampaignId, ErrorCode, RowOutcome};
use crate::stop::Stop;

impl<S: LeadSender> Pipeline<'_, S> {
    /// Starts as many requests as may start now, and returns when to look again
    /// (none: only an answer, new rows or a commit can change anything).
    pub(super) fn start_what_may(&mut self) -> Option<Instant> {
        let limit = self.limit();
        self.commits.claims.set_limits(limit, self.undecided.len());
        while !self.ending.is_stopping() && self.in_flight.len() < self.limit() {
            self.claim_ahead();
            if self.schedule.next.is_none() {
                let due = self.schedule.queue.next_due();
                let is_due = due.is_some_and(|due| due <= Instant::now());
                if !is_due && !self.commits.claims.has_granted() {
                    self.commits.claims.starve();
                    return due;
                }
                self.schedule.next = self.next_job(is_due);
                continue;
            }
            if let Some(stop) = self.changed_input() {
                self.stop(stop);
                return None;
            }
            let now = match self.service.try_start(self.in_flight.starts()) {
                Ok(now) => now,
                Err(when) => {
                    self.commits.claims.record_idle();
                    return when;
                }
            };
            self.commits.claims.record_start();
            if let Some(job) = self.schedule.next.take() {
                self.start(job, now);
            }
        }
        if !self.ending.is_stopping() {
            self.claim_ahead();
        }
        None
    }

    /// Why the next row must not be sent: its input has changed since the run began.
    fn changed_input(&mut self) -> Option<Stop> {
        let (row, _) = self.window.get(self.schedule.next.as_ref()?.slot)?;
        let checked = self.input_check.check(&self.inputs, row.file());
        checked
            .err()
            .map(|error| Stop::error(error.stopped_by(), error))
    }

    /// In flight at most: one until it is known that answers are understood.
    fn limit(&self) -> usize {
        if self.stops.has_understood() {
            self.service.limit_beside(self.in_flight.starts())
        } else {
            1
        }
    }

    /// Whether nothing has been understood yet, and a row is on its way that may change
    /// that.
    fn awaits_first_answer(&self) -> bool {
        let is_out = !self.in_flight.is_empty()
            || self.commits.claims.unstarted() > 0
            || self.schedule.next.is_some();
        is_out && !self.stops.has_understood()
    }

    fn claim_ahead(&mut self) {
        while self.commits.claims.wants_more() && !self.awaits_first_answer() {
            let Some(job) = self.next_row().and_then(|slot| self.new_job(slot)) else {
                return;
            };
            self.commits.claim(job);
        }
    }

    /// The next row to be sent for the first time whose campaign may be sent to.
    fn next_row(&mut self) -> Option<Slot> {
        loop {
            let slot = match self.schedule.gates.next_free_row() {
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
            match self.schedule.gates.enter(campaign, slot) {
                Admission::Go(slot) => return Some(slot),
                Admission::Wait => {}
                Admission::Closed(slot) => self.pass_over(slot),
            }
        }
    }

    fn next_job(&mut self, is_due: bool) -> Option<Job> {
        let admission = if is_due {
            self.schedule.pop()?
        } else {
            let job = self.commits.claims.next_granted()?;
            self.schedule.admit(job)
        };
        match admission {
            Admission::Go(job) => self.schedule.queue.unless_busy(job),
            Admission::Wait => None,
            Admission::Closed(job) => {
                self.give_up(job);
                None
            }
        }
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

    /// The job's body, made from its row each time: if they were kept, the bodies of rows
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
        self.schedule.queue.depart(job.target());
        self.service.started(now);
        self.commits.count_request();
        job.attempts += 1;
        let flight = Flight {
            job,
            started: now,
            was_full: self.in_flight.len() + 1 >= self.limit(),
        };
        self.in_flight.start(flight, body);
        (self.events)(RunEvent::InFlight(self.in_flight.len()));
    }
}
