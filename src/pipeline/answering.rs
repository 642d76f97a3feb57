//! What an answer changes: for its row, its campaign and the run.

use tokio::time::Instant;

use super::attempt::{Epochs, Job, SHORTEST_RESEND, Step};
use super::in_flight::Flight;
use super::stops::{self, Consequence, Scope};
use super::throttle::asked_pause;
use super::window::Slot;
use super::{LeadSender, Pipeline};
use crate::api::Answer;
use crate::api::verdict::Verdict;
use crate::event::RunEvent;
use crate::intake::PlannedInput;
use crate::lead::{CampaignId, RowOutcome, Status};
use crate::ledger::CellsDigest;
use crate::stop::Stop;

/// Rows whose outcome depends on the answers to other rows.
///
/// A refusal that may hold for every row of a campaign counts as the row's own only when the
/// answer to another row of it has been understood (see [`stops`]). A row that is out of attempts
/// has failed by itself only if another row was answered meanwhile: otherwise the service may be
/// down (see [`outage`](super::outage)).
#[derive(Debug, Default)]
pub(super) struct Undecided {
    pub(super) refused: Vec<(Job, Answer)>,
    /// With the outcomes that they will have.
    pub(super) exhausted: Vec<(Job, RowOutcome)>,
    pub(super) epochs: Epochs,
}

impl Undecided {
    pub(super) fn len(&self) -> usize {
        self.refused.len() + self.exhausted.len()
    }

    fn take_refused(&mut self, campaign: Option<CampaignId>) -> Vec<(Job, Answer)> {
        let is_meant = |job: &Job| campaign.is_none_or(|meant| job.claim.campaign == meant);
        self.refused
            .extract_if(.., |(job, _)| is_meant(job))
            .collect()
    }
}

impl<S: LeadSender> Pipeline<'_, S> {
    /// Takes an answer: the row is settled, waits for another attempt, or stops its
    /// campaign or the run.
    pub(super) fn take(&mut self, slot: Slot, answer: Answer) {
        let Some(mut flight) = self.in_flight.flights.remove(&slot) else {
            return;
        };
        self.schedule.arrive(flight.job.target());
        self.observe(&mut flight, &answer);
        let is_excused = self.service.outage.excuses(flight.started);
        let mut job = flight.job;
        let campaign = job.claim.campaign;
        match self.stops.observe(&job, is_excused, &answer) {
            Consequence::GoOn => self.step(job, answer, is_excused),
            Consequence::Understood => {
                self.understand(campaign);
                self.step(job, answer, is_excused);
            }
            Consequence::PutAside if !self.is_ending(campaign) => {
                self.undecided.refused.push((job, answer));
            }
            // The row that triggered a stop has no outcome, unless an attempt may have been
            // taken.
            Consequence::PutAside => self.give_up(job),
            Consequence::Stop(scope, stop) => {
                let stop = self.redact_personal_data(stop, slot, &answer);
                self.stop_scope(scope, campaign, stop);
                job.note_doubt(answer);
                self.give_up(job);
            }
            Consequence::Last(scope, stop) => {
                let stop = self.redact_personal_data(stop, slot, &answer);
                self.understand(campaign);
                self.step(job, answer, is_excused);
                self.stop_scope(scope, campaign, stop);
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

    fn observe(&mut self, flight: &mut Flight, answer: &Answer) {
        let others_are_out = !self.in_flight.flights.is_empty();
        let epochs = &self.undecided.epochs;
        let service = &mut self.service;
        let went_away = service.observe(flight, answer, others_are_out, epochs, self.events);
        if let Some(pause) = asked_pause(&answer.verdict) {
            self.commits.record_pause(pause);
        }
        if let Verdict::Created { .. } | Verdict::PerhapsTaken { .. } | Verdict::TokenReplaced =
            answer.verdict
        {
            self.commits.note_token(answer.token.as_ref());
        }
        if answer.verdict.is_about_row() {
            self.undecided.epochs.answered();
            self.settle_exhausted();
        }
        if went_away {
            self.undecided.epochs.went_away();
            for (job, _) in std::mem::take(&mut self.undecided.exhausted) {
                self.schedule.push(Instant::now() + SHORTEST_RESEND, job);
            }
        }
    }

    /// What the answer means for the row. With `is_excused` a missing answer says nothing
    /// about it.
    fn step(&mut self, mut job: Job, answer: Answer, is_excused: bool) {
        let campaign = job.claim.campaign;
        let epochs = &self.undecided.epochs;
        match job.judge(answer, &self.policy, epochs, is_excused) {
            Step::Settle(outcome) => self.settle(&job, outcome),
            Step::Exhausted(outcome) if !job.is_suspect(epochs) && !self.is_ending(campaign) => {
                self.undecided.exhausted.push((job, outcome));
            }
            Step::Exhausted(outcome) => self.settle(&job, outcome),
            // Nothing more is sent.
            Step::Again { .. } | Step::Later if self.is_ending(campaign) => self.give_up(job),
            Step::Again { after, why } => {
                (self.events)(RunEvent::Retrying {
                    row: job.claim.row,
                    attempt: job.attempts,
                    after,
                    why,
                });
                self.schedule.push(Instant::now() + after, job);
            }
            Step::Later => {
                self.schedule.gates.await_return(campaign, job.slot);
                self.schedule.push(Instant::now(), job);
                return;
            }
        }
        // No effect if the answer was understood: then the gate is open.
        self.schedule.pass_on(campaign);
    }

    /// Settles the rows that are out of attempts: others were answered, or there are none.
    pub(super) fn settle_exhausted(&mut self) {
        for (job, outcome) in std::mem::take(&mut self.undecided.exhausted) {
            self.settle(&job, outcome);
        }
    }

    fn is_ending(&self, campaign: CampaignId) -> bool {
        self.ending.is_stopping() || self.schedule.gates.is_closed(campaign)
    }

    fn understand(&mut self, campaign: CampaignId) {
        self.service.throttle.unhinted = 0;
        self.schedule.open(campaign);
        self.reject_undecided(Some(campaign));
    }

    /// Rejects the undecided rows of a campaign, or all: the refusals were their own.
    pub(super) fn reject_undecided(&mut self, campaign: Option<CampaignId>) {
        for (mut job, answer) in self.undecided.take_refused(campaign) {
            let step = job.judge(answer, &self.policy, &self.undecided.epochs, false);
            if let Step::Settle(outcome) = step {
                self.settle(&job, outcome);
            }
        }
    }

    /// Stops the campaign or the whole run; the run too if there is no other campaign.
    fn stop_scope(&mut self, scope: Scope, campaign: CampaignId, stop: Stop) {
        let has_others = |input: &PlannedInput| input.mapping.campaign_column.is_some();
        if scope == Scope::Run || !self.inputs.iter().any(has_others) {
            return self.stop(stop);
        }
        if self.schedule.gates.is_closed(campaign) {
            return;
        }
        (self.events)(RunEvent::CampaignStopped {
            campaign,
            by: stop.by(),
        });
        self.ending.refused.push((campaign, stop));
        let jobs = self.schedule.take(Some(campaign)).into_iter();
        let refused = self.undecided.take_refused(Some(campaign)).into_iter();
        for job in jobs.chain(refused.map(|(job, _)| job)) {
            self.give_up(job);
        }
        for slot in self.schedule.gates.close(campaign) {
            self.pass_over(slot);
        }
    }

    pub(super) fn settle(&mut self, job: &Job, outcome: RowOutcome) {
        let cells = match outcome.status {
            Status::Rejected => self.cells(job.slot),
            _ => None,
        };
        self.commits.settle(job, &outcome, cells);
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

    /// Ends a row that this run does not try again: it has no outcome, unless an attempt may
    /// have been taken. Leaving that out would hide a call.
    pub(super) fn give_up(&mut self, mut job: Job) {
        self.ending.has_given_up = true;
        match job.uncertain() {
            // Its claim was refused, so the ledger has nothing of it.
            Some(outcome) if job.is_refused => self.give(job.slot, outcome),
            Some(outcome) => self.settle(&job, outcome),
            None if job.is_refused => self.window.pass_over(job.slot),
            None => {
                self.commits.release(job.claim.row);
                self.window.pass_over(job.slot);
            }
        }
    }

    /// The same for a row that this process did not claim.
    pub(super) fn pass_over(&mut self, slot: Slot) {
        self.ending.has_given_up = true;
        match self.new_job(slot).and_then(|mut job| job.uncertain()) {
            Some(outcome) => self.give(slot, outcome),
            None => self.window.pass_over(slot),
        }
    }
}
