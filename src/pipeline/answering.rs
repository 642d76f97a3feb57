//! What an answer changes: for its row, its campaign, and all.

use tokio::time::Instant;

use super::attempt::{Context, Job, SHORTEST_RESEND, Step};
use super::in_flight::Flight;
use super::stops::{self, Answered, Consequence};
use super::window::Slot;
use super::{LeadSender, Pipeline};
use crate::api::Answer;
use crate::event::RunEvent;
use crate::intake::PlannedInput;
use crate::lead::{CampaignId, RowOutcome, Status};
use crate::ledger::CellsDigest;
use crate::stop::Stop;

impl<S: LeadSender> Pipeline<'_, S> {
    /// Takes an answer: the row is settled, waits for another attempt, or stops its
    /// campaign or the run.
    pub(super) fn take(&mut self, slot: Slot, answer: Answer) {
        let Some(mut flight) = self.in_flight.land(slot) else {
            return;
        };
        (self.events)(RunEvent::InFlight(self.in_flight.len()));
        self.schedule.queue.arrive(flight.job.target());
        self.observe(&mut flight, &answer);
        let is_excused = self.service.excuses(flight.started);
        let job = flight.job;
        let campaign = job.claim.campaign;
        let answered = Answered {
            row: slot,
            is_excused,
            is_in_doubt: job.is_in_doubt(),
        };
        let consequence = self.stops.observe(campaign, answered, &answer);
        let consequence =
            consequence.map_stop(|stop| self.redact_personal_data(stop, slot, &answer));
        match consequence {
            Consequence::GoOn => self.step(job, answer, is_excused),
            Consequence::Understood => {
                self.understand(campaign);
                self.step(job, answer, is_excused);
            }
            Consequence::PutAside if !self.is_ending(campaign) => {
                self.undecided.add_refused(job, answer);
            }
            // The row that met a stop has no outcome, unless an attempt of it may have
            // been taken.
            Consequence::PutAside => self.give_up(job),
            Consequence::StopCampaign(stop) => {
                self.stop_campaign(campaign, stop);
                self.give_up_after(job, answer);
            }
            Consequence::Stop(stop) => {
                self.stop(stop);
                self.give_up_after(job, answer);
            }
            Consequence::LastOfCampaign(stop) => {
                self.understand(campaign);
                self.step(job, answer, is_excused);
                self.stop_campaign(campaign, stop);
            }
            Consequence::Last(stop) => {
                self.understand(campaign);
                self.step(job, answer, is_excused);
                self.stop(stop);
            }
        }
    }

    fn redact_personal_data(&self, stop: Stop, slot: Slot, answer: &Answer) -> Stop {
        match self.window.get(slot) {
            Some((row, _)) => {
                let values = self.inputs[row.file()].mapping.variables(row);
                stops::redact_personal_data(stop, answer, values.map(|(_, value)| value))
            }
            None => stop,
        }
    }

    /// What the answer says of the service, and what that means for rows that wait.
    fn observe(&mut self, flight: &mut Flight, answer: &Answer) {
        let around = (!self.in_flight.is_empty(), self.undecided.epoch());
        let observed = self.service.observe(flight, answer, around, self.events);
        if let Some(pause) = observed.pause {
            self.commits.record_pause(pause);
        }
        if observed.is_about_row {
            for (job, outcome) in self.undecided.answered() {
                self.settle(&job, outcome);
            }
        }
        if observed.went_away {
            let epoch = self.undecided.epoch();
            flight.job.forgive(epoch);
            self.in_flight.jobs_mut().for_each(|job| job.forgive(epoch));
            for (job, _) in self.undecided.take_exhausted() {
                let due = Instant::now() + SHORTEST_RESEND;
                self.schedule.queue.push(due, job);
            }
            self.schedule.for_each(|job| job.forgive(epoch));
        }
    }

    /// What the answer means for the row; `is_excused` if that none came says nothing of it.
    fn step(&mut self, mut job: Job, answer: Answer, is_excused: bool) {
        let campaign = job.claim.campaign;
        let context = Context {
            epoch: self.undecided.epoch(),
            is_excused,
            chance: fastrand::f64(),
        };
        match job.judge(answer, &self.policy, context) {
            Step::Settle(outcome) => self.settle(&job, outcome),
            Step::Exhausted(outcome)
                if job.has_only_failed_lately() && !self.is_ending(campaign) =>
            {
                self.undecided.add_exhausted(job, outcome);
            }
            Step::Exhausted(outcome) => self.settle(&job, outcome),
            // Nothing is sent any more.
            Step::Again { .. } | Step::Later if self.is_ending(campaign) => self.give_up(job),
            Step::Again { after, why } => {
                (self.events)(RunEvent::Retrying {
                    row: job.claim.row,
                    attempt: job.attempts,
                    after,
                    why,
                });
                self.schedule.queue.push(Instant::now() + after, job);
            }
            Step::Later => {
                self.schedule.gates.await_return(campaign, job.slot);
                self.schedule.queue.push(Instant::now(), job);
                return;
            }
        }
        // Without effect where the answer was understood: then the gate is open.
        self.schedule.gates.pass_on(campaign);
        self.schedule.queue_free_jobs();
    }

    /// Rows that have had all their attempts: others were answered, or there are none.
    pub(super) fn settle_exhausted(&mut self) {
        for (job, outcome) in self.undecided.take_exhausted() {
            self.settle(&job, outcome);
        }
    }

    /// Whether no more of the campaign is sent.
    fn is_ending(&self, campaign: CampaignId) -> bool {
        self.ending.is_stopping() || self.schedule.gates.is_closed(campaign)
    }

    fn understand(&mut self, campaign: CampaignId) {
        self.service.understood();
        self.schedule.gates.open(campaign);
        self.schedule.queue_free_jobs();
        self.reject_undecided(Some(campaign));
    }

    /// The refusals of rows of the campaign, or of all, turned out to be their own.
    pub(super) fn reject_undecided(&mut self, campaign: Option<CampaignId>) {
        for (mut job, answer) in self.undecided.take_refused(campaign) {
            let context = Context {
                epoch: self.undecided.epoch(),
                is_excused: false,
                chance: 0.0,
            };
            if let Step::Settle(outcome) = job.judge(answer, &self.policy, context) {
                self.settle(&job, outcome);
            }
        }
    }

    /// Nothing more is sent to the campaign; where there is no other, the run ends.
    fn stop_campaign(&mut self, campaign: CampaignId, stop: Stop) {
        let has_others = |input: &PlannedInput| input.mapping.campaign_column.is_some();
        if !self.inputs.iter().any(has_others) {
            return self.stop(stop);
        }
        if self.schedule.gates.is_closed(campaign) {
            return;
        }
        (self.events)(RunEvent::CampaignStopped {
            campaign,
            by: stop.by(),
        });
        self.ending.refuse(campaign, stop);
        let (mut jobs, rows) = self.schedule.close(campaign);
        let refused = self.undecided.take_refused(Some(campaign));
        jobs.extend(refused.into_iter().map(|(job, _)| job));
        for job in jobs {
            self.give_up(job);
        }
        for slot in rows {
            self.pass_over(slot);
        }
    }

    pub(super) fn settle(&mut self, job: &Job, outcome: RowOutcome) {
        let cells = match outcome.status {
            Status::Rejected => self.cells(job.slot),
            _ => None,
        };
        self.commits.settle(job.claim, &outcome, cells);
        self.give(job.slot, outcome);
    }

    fn cells(&self, slot: Slot) -> Option<CellsDigest> {
        let (row, _) = self.window.get(slot)?;
        let mapping = &self.inputs[row.file()].mapping;
        Some(CellsDigest::of(mapping.own_cells(row)))
    }

    pub(super) fn give(&mut self, slot: Slot, outcome: RowOutcome) {
        if let Some((row, prepared)) = self.window.get(slot) {
            (self.events)(RunEvent::Settled {
                row,
                phone: prepared.phone,
                campaign: prepared.campaign,
                outcome: &outcome,
                sent: true,
            });
        }
        self.progress.counts.add(outcome.status);
        self.window.settle(slot, outcome);
    }

    /// The same of a row that has just had an answer.
    fn give_up_after(&mut self, mut job: Job, answer: Answer) {
        job.note_doubt(answer);
        self.give_up(job);
    }

    /// A row that is not tried again in this run: it has no outcome, unless some
    /// attempt may have been taken. Saying nothing of that would hide a call.
    pub(super) fn give_up(&mut self, mut job: Job) {
        self.ending.has_given_up = true;
        match job.uncertain() {
            Some(outcome) => self.settle(&job, outcome),
            None => {
                self.commits.release(job.claim.row);
                self.window.pass_over(job.slot);
            }
        }
    }

    /// The same of a row that was not claimed in this process.
    pub(super) fn pass_over(&mut self, slot: Slot) {
        self.ending.has_given_up = true;
        match self.new_job(slot).and_then(|mut job| job.uncertain()) {
            Some(outcome) => self.give(slot, outcome),
            None => self.window.pass_over(slot),
        }
    }
}
