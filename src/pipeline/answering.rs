//! What an answer changes: for its row, its campaign and the run.

use tokio::time::Instant;

use super::attempt::{Job, OutagePeriods, SHORTEST_RESEND, Step};
use super::in_flight::Flight;
use super::pacer::Heard;
use super::probes::Suspect;
use super::reasons::{Rejection, tried_again};
use super::stops::{self, Consequence, Scope};
use super::window::Slot;
use super::{LeadSender, Pipeline};
use crate::api::Answer;
use crate::api::verdict::Verdict;
use crate::event::RunEvent;
use crate::intake::PlannedInput;
use crate::lead::{CampaignId, RowOutcome, Status};
use crate::ledger::CellsDigest;
use crate::phone::PhoneNumber;
use crate::stop::{Stop, StopReason};

/// Rows whose outcome depends on the answers to other rows.
///
/// A refusal that may hold for every row of a campaign counts as the row's own only when another
/// row of it, sent later, was taken (see [`probes`](super::probes)). A row that is out of attempts
/// has failed by itself only if another row was answered meanwhile: otherwise the service may be
/// down (see [`outage`](super::outage)).
#[derive(Debug, Default)]
pub(super) struct Undecided {
    pub(super) suspects: Vec<Suspect>,
    /// With the outcomes that they will have.
    pub(super) exhausted: Vec<(Job, RowOutcome)>,
    pub(super) periods: OutagePeriods,
    /// How many rows from elsewhere were looked for, …
    pub(super) probes: u32,
    /// … and the one that was claimed to see if the service is away.
    pub(super) probe: Option<Slot>,
}

/// So many of its last digits in a row are hardly there by chance.
const OWN_DIGITS: usize = 7;

/// Whether the text has the number in it, with or without its country's code.
fn holds_number(text: &str, number: PhoneNumber) -> bool {
    let number = number.to_string();
    let end = number.get(number.len().saturating_sub(OWN_DIGITS)..);
    end.is_some_and(|end| text.contains(end))
}

impl<S: LeadSender> Pipeline<'_, S> {
    /// Takes an answer: the row is settled, waits for another attempt, or stops its
    /// campaign or the run.
    pub(super) fn take(&mut self, slot: Slot, mut answer: Answer) {
        let Some(mut flight) = self.in_flight.flights.remove(&slot) else {
            return;
        };
        // Phone numbers are in no log.
        let number = flight.job.claim.number;
        answer.request_id = answer.request_id.filter(|id| !holds_number(id, number));
        self.schedule.arrive(flight.job.target());
        (self.events)(RunEvent::Answered {
            row: flight.job.claim.row,
            http_status: answer.http_status,
            asks_to_wait: matches!(answer.verdict, Verdict::RetryLater { .. }),
            request_id: answer.verdict.refusal().and(answer.request_id.as_deref()),
        });
        self.observe(&mut flight, &answer);
        let is_excused = self.pacer.outage.covers(flight.started);
        self.undecided.periods.has_others = self.has_others();
        if let Verdict::RetryLater { .. } = answer.verdict {
            self.undecided.periods.putting_off(&flight.job);
        }
        let job = flight.job;
        let campaign = job.claim.campaign;
        match self.stops.observe(&job, is_excused, &answer) {
            Consequence::GoOn => self.step(job, answer, is_excused),
            Consequence::Understood => {
                self.understand(campaign);
                self.step(job, answer, is_excused);
            }
            Consequence::Taken => {
                self.undecided.periods.took();
                self.reject_suspects(campaign, job.refusals_before);
                self.release_deferred(Some(campaign));
                self.understand(campaign);
                self.step(job, answer, is_excused);
            }
            Consequence::PutAside(stop) => {
                let stop = self.redact_personal_data(stop, slot, &answer);
                self.put_aside(job, answer, stop);
            }
            Consequence::Stop(scope, stop) => {
                let stop = self.redact_personal_data(stop, slot, &answer);
                if self.awaits_token(&answer, &stop) {
                    // The row goes again, with the other token.
                    let verdict = Verdict::TokenReplaced;
                    return self.step(job, Answer { verdict, ..answer }, is_excused);
                }
                self.stop_at(scope, stop, job, answer);
            }
            Consequence::Last(scope, stop) => {
                let stop = self.redact_personal_data(stop, slot, &answer);
                self.understand(campaign);
                self.step(job, answer, is_excused);
                self.try_counted_again();
                self.stop_scope(scope, campaign, stop);
            }
        }
    }

    /// Stops at this row, which has no outcome unless an attempt may have been taken.
    fn stop_at(&mut self, scope: Scope, stop: Stop, mut job: Job, answer: Answer) {
        self.stop_scope(scope, job.claim.campaign, stop.clone());
        match stop.reason {
            StopReason::Refused(cause) if !cause.is_certain() => self.put_aside(job, answer, stop),
            _ => {
                job.note_doubt(answer);
                self.give_up(job);
            }
        }
    }

    /// Whether any row is left that this start has not tried.
    fn has_others(&mut self) -> bool {
        let is_any_ready = self.window.peek_ready().is_some();
        let gates = &self.schedule.gates;
        is_any_ready
            || self.wants_rows()
            || self.commits.claims.unstarted() > 0
            || !gates.free_rows.is_empty()
            || !gates.first.is_empty()
            || !self.schedule.deferred.is_empty()
            || gates.has_rows()
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
        let periods = &self.undecided.periods;
        let heard = Heard::of(answer, flight, periods, others_are_out);
        let went_away = self.pacer.hear(&heard, self.events);
        if let Some(pause) = self.pacer.asked.take() {
            self.commits.record_pause(pause);
        }
        if let Verdict::Created { .. } | Verdict::PerhapsTaken { .. } | Verdict::TokenReplaced =
            answer.verdict
        {
            self.commits.note_token(answer.token.as_ref(), answer.ahead);
        }
        if answer.verdict.is_about_row() {
            self.undecided.periods.answered();
            self.settle_exhausted();
        }
        if went_away {
            self.undecided.periods.went_away();
            for (job, _) in std::mem::take(&mut self.undecided.exhausted) {
                self.schedule.push(Instant::now() + SHORTEST_RESEND, job);
            }
        }
    }

    /// The service was asked for its campaigns to see if it is there. If it is, rows without an
    /// answer have failed by themselves.
    pub(super) fn take_list(&mut self, came: bool) {
        let Some(started) = self.in_flight.list.take() else {
            return;
        };
        self.pacer.list(started, came, self.events);
        if came {
            self.undecided.periods.answered();
            self.settle_exhausted();
        }
    }

    /// What the answer means for the row. With `is_excused` a missing answer says nothing
    /// about it.
    fn step(&mut self, mut job: Job, answer: Answer, is_excused: bool) {
        let (campaign, slot) = (job.claim.campaign, job.slot);
        if answer.is_unreadable() || self.stops.is_probing(campaign) {
            self.narrow(campaign);
        }
        // Rows like this one, which often stand beside it, may get the same answer.
        let from_elsewhere = !matches!(answer.verdict, Verdict::NeverTaken { .. });
        let periods = &self.undecided.periods;
        match job.judge(answer, &self.policy, periods, is_excused) {
            Step::Exhausted(outcome) if !job.is_suspect(periods) && !self.is_ending(campaign) => {
                self.undecided.exhausted.push((job, outcome));
            }
            Step::Settle(outcome) | Step::Exhausted(outcome) => self.settle(&job, outcome),
            // Nothing more is sent.
            Step::Again { .. } | Step::Later { .. } if self.is_ending(campaign) => {
                self.give_up(job)
            }
            Step::Again { after, why } => {
                (self.events)(RunEvent::Retrying {
                    row: job.claim.row,
                    attempt: job.attempts,
                    after,
                    why,
                });
                self.schedule.push(Instant::now() + after, job);
            }
            Step::Later { behind: None } => {
                self.schedule.push(Instant::now(), job);
                return;
            }
            Step::Later { behind: Some(time) } => self.schedule.push(Instant::now() + time, job),
        }
        // No effect if the gate is open.
        self.next_canary(campaign, slot, from_elsewhere);
    }

    /// Settles the rows that are out of attempts: others were answered, or there are none.
    pub(super) fn settle_exhausted(&mut self) {
        for (job, outcome) in std::mem::take(&mut self.undecided.exhausted) {
            self.settle(&job, outcome);
        }
    }

    pub(super) fn is_ending(&self, campaign: CampaignId) -> bool {
        self.stop_state.is_stopping() || self.schedule.gates.is_closed(campaign)
    }

    fn understand(&mut self, campaign: CampaignId) {
        self.pacer.throttle.unhinted = 0;
        if !self.stops.is_probing(campaign) {
            self.open_gate(campaign);
        }
    }

    /// Stops the campaign or the whole run; the run too if there is no other campaign.
    pub(super) fn stop_scope(&mut self, scope: Scope, campaign: CampaignId, stop: Stop) {
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
        self.stop_state.refused.push((campaign, stop));
        for job in self.schedule.take(Some(campaign)) {
            self.give_up(job);
        }
        self.give_up_suspects(Some(campaign));
        for slot in self.schedule.gates.close(campaign) {
            self.pass_over(slot);
        }
    }

    pub(super) fn settle(&mut self, job: &Job, outcome: RowOutcome) {
        let is_rejected = outcome.status == Status::Rejected;
        let cells = is_rejected.then(|| self.bad_cells(job)).flatten();
        let campaign = job.claim.campaign;
        let is_counted = self.stops.has_counted(campaign);
        if is_rejected && (is_counted || !self.progress.reasons.are_the_rows(campaign)) {
            self.commits.settle(job, &tried_again(&outcome), None);
            let rejection = Rejection {
                claim: job.claim,
                outcome: outcome.clone(),
                cells,
                is_counted,
            };
            self.progress.reasons.open.insert(job.claim.row, rejection);
        } else {
            self.commits.settle(job, &outcome, cells);
        }
        self.give(job.slot, outcome);
        if self.progress.reasons.are_the_rows(campaign) {
            self.keep_rejected(Some(campaign));
        }
    }

    /// A stop for rows rejected alike has counted rows, which are tried again by the next start.
    fn try_counted_again(&mut self) {
        for (claim, outcome) in self.stops.counted() {
            let open = self.progress.reasons.open.entry(claim.row);
            let rejection = open.or_insert_with(|| {
                self.commits
                    .settle_again(claim, tried_again(&outcome), None);
                Rejection {
                    claim,
                    outcome,
                    cells: None,
                    is_counted: true,
                }
            });
            rejection.is_counted = true;
        }
    }

    /// The rows of the campaign that were rejected so far are rejected for good, and known to be bad
    /// unless a stop has counted them. At the end of a run all of them are rejected, and it is not
    /// known of the last ones if they are bad.
    pub(super) fn keep_rejected(&mut self, campaign: Option<CampaignId>) {
        for (row, rejection) in std::mem::take(&mut self.progress.reasons.open) {
            let is_meant = |of| rejection.claim.campaign == of && !rejection.is_counted;
            if campaign.is_none_or(is_meant) {
                let cells = rejection.cells.filter(|_| campaign.is_some());
                let Rejection { claim, outcome, .. } = rejection;
                self.commits.settle_again(claim, outcome, cells);
            } else {
                self.progress.reasons.open.insert(row, rejection);
            }
        }
    }

    /// What a rejected row is known by to be bad; `None` if it was asked to come back later.
    pub(super) fn bad_cells(&self, job: &Job) -> Option<CellsDigest> {
        let was_asked = job.waits.among_others > 0;
        self.cells(job.slot).filter(|_| !was_asked)
    }

    pub(super) fn cells(&self, slot: Slot) -> Option<CellsDigest> {
        let (row, _) = self.window.get(slot)?;
        let mapping = &self.inputs[row.file()].mapping;
        Some(CellsDigest::of(mapping.own_cells(row)))
    }

    pub(super) fn give(&mut self, slot: Slot, outcome: RowOutcome) {
        if let Some((row, prepared)) = self.window.get(slot) {
            let mapping = &self.inputs[row.file()].mapping;
            if let Some(campaign) = prepared.campaign {
                let values = mapping.variables(row).map(|(_, value)| value);
                self.progress.reasons.count(campaign, &outcome, values);
            }
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
    /// have been taken. Leaving that out would hide a call. The ledger keeps that it was put off.
    pub(super) fn give_up(&mut self, mut job: Job) {
        self.stop_state.has_given_up = true;
        match job.uncertain() {
            // Its claim was refused, so the ledger has nothing of it.
            Some(outcome) if job.is_unclaimed => self.give(job.slot, outcome),
            Some(outcome) => self.settle(&job, outcome),
            None if job.is_unclaimed => self.window.pass_over(job.slot),
            None => {
                match job.put_off_for_now() {
                    Some(outcome) => self.commits.settle(&job, &outcome, None),
                    None => self.commits.release(job.claim.row),
                }
                self.window.pass_over(job.slot);
            }
        }
    }

    /// Ends a row that this process did not claim: it has no outcome, unless an earlier attempt may
    /// have been taken.
    pub(super) fn pass_over(&mut self, slot: Slot) {
        self.stop_state.has_given_up = true;
        match self.new_job(slot).and_then(|mut job| job.uncertain()) {
            Some(outcome) => self.give(slot, outcome),
            None => self.window.pass_over(slot),
        }
    }
}
