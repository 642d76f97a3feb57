//! What an answer changes: for its row, its campaign, and all.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use super::attempt::{Context, Job, SHORTEST_RESEND, Step};
use super::outage::Silence;
use super::stops::{self, Answered, Consequence};
use super::window::Slot;
use super::{Flight, LeadSender, Pipeline};
use crate::api::Answer;
use crate::api::verdict::{Verdict, Wait};
use crate::event::RunEvent;
use crate::intake::PlannedInput;
use crate::lead::{CampaignId, ErrorCode, RowOutcome, Status};
use crate::ledger::{AskedPause, CellsDigest};
use crate::stop::Stop;

impl<S: LeadSender> Pipeline<'_, S> {
    /// Takes an answer: the row is settled, waits for another attempt, or stops its
    /// campaign or the run.
    pub(super) fn take(&mut self, slot: Slot, answer: Answer) {
        let Some(mut flight) = self.in_flight.remove(&slot) else {
            return;
        };
        (self.events)(RunEvent::InFlight(self.in_flight.len()));
        self.queue.arrive(flight.job.target());
        self.note_service(&mut flight, &answer);
        let is_excused = self.outage.excuses(flight.started);
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
            Consequence::PutAside if !self.is_ending(campaign) => self.aside.push((job, answer)),
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

    /// See [`stops::redact_personal_data`].
    fn redact_personal_data(&self, stop: Stop, slot: Slot, answer: &Answer) -> Stop {
        match self.window.get(slot) {
            Some((row, _)) => {
                let values = self.inputs[row.file()].mapping.variables(row);
                stops::redact_personal_data(stop, answer, values.map(|(_, value)| value))
            }
            None => stop,
        }
    }

    /// What the answer says of the service, whatever it says of the row.
    fn note_service(&mut self, flight: &mut Flight, answer: &Answer) {
        let now = Instant::now();
        let (started, was_full) = (flight.started, flight.was_full);
        match &answer.verdict {
            Verdict::RetryLater { .. } => self.concurrency.refused(started, now),
            verdict => {
                self.asks_again_at = self.asks_again_at.filter(|at| started < *at);
                let is_good = verdict.is_about_row();
                self.concurrency.answered(started, now, was_full, is_good);
            }
        }
        let was_away = match &answer.verdict {
            verdict if verdict.is_about_row() => {
                self.epoch += 1;
                self.settle_exhausted();
                self.rate.accepted(started, answer.quota.as_ref());
                let is_held = self.asks_again_at.is_some_and(|at| now < at);
                let waits = is_held || !self.in_flight.is_empty();
                self.outage.answered(started, waits, now)
            }
            Verdict::RetryLater { wait, code, .. } => {
                self.hold(*wait, *code, started);
                // A 503 is about the service's state, and no pace would have avoided it.
                match code {
                    ErrorCode::Http(429) => {
                        self.rate.refused(started, answer.quota.as_ref());
                    }
                    _ => self.rate.lost(started),
                }
                self.outage.is_there(started, now)
            }
            // Something is there, whatever it is. `stops` counts these.
            Verdict::PerhapsTaken {
                code: ErrorCode::UnreadableAnswer,
                ..
            } if self.outage.away().is_none() => {
                self.rate.lost(flight.started);
                None
            }
            Verdict::PerhapsTaken { code, text } => {
                self.silence_reason = answer.http_status.is_none().then(|| text.clone());
                self.note_silence(flight, *code, true);
                None
            }
            Verdict::NeverTaken { code, text, .. } => {
                let has_answered = answer.http_status.is_some();
                self.silence_reason = (!has_answered).then(|| text.clone());
                self.note_silence(flight, *code, has_answered);
                None
            }
            Verdict::TokenReplaced => {
                self.rate.lost(started);
                self.outage.is_there(started, now)
            }
            // About a row: see above.
            _ => None,
        };
        if let Some(since) = was_away {
            let outage = now - since;
            (self.events)(RunEvent::Recovered { outage });
        }
    }

    fn note_silence(&mut self, flight: &mut Flight, why: ErrorCode, may_be_the_rows: bool) {
        self.rate.lost(flight.started);
        let was_away = self.outage.away().is_some();
        let is_suspect = may_be_the_rows && flight.job.is_suspect(self.epoch);
        if !was_away && (is_suspect || self.outage.excuses(flight.started)) {
            return;
        }
        let silence = Silence {
            slot: flight.job.slot,
            started: flight.started,
            may_be_the_rows,
            why,
        };
        let now = Instant::now();
        let Some(away) = self.outage.silent(silence, now, fastrand::f64()) else {
            return;
        };
        if !was_away {
            // What has just failed says nothing of those rows.
            let epoch = self.epoch;
            flight.job.forgive(epoch);
            let out = self.in_flight.values_mut().map(|flight| &mut flight.job);
            out.chain(&mut self.next_job)
                .for_each(|job| job.forgive(epoch));
            for (job, _) in std::mem::take(&mut self.exhausted_rows) {
                self.queue.push(now + SHORTEST_RESEND, job);
            }
            self.queue.for_each(|job| job.forgive(epoch));
            self.gates.for_each(|job| job.forgive(epoch));
        }
        (self.events)(RunEvent::Outage {
            since: wall_clock(away.since),
            why,
            reason: self.silence_reason.as_deref(),
            next: away.next - now,
        });
    }

    /// What the answer means for the row; `is_excused` if that none came says nothing of it.
    fn step(&mut self, mut job: Job, answer: Answer, is_excused: bool) {
        let campaign = job.claim.campaign;
        let context = Context {
            epoch: self.epoch,
            is_excused,
            chance: fastrand::f64(),
        };
        match job.judge(answer, &self.policy, context) {
            Step::Settle(outcome) => self.settle(&job, outcome),
            Step::Exhausted(outcome)
                if job.has_only_failed_lately() && !self.is_ending(campaign) =>
            {
                self.exhausted_rows.push((job, outcome));
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
                self.queue.push(Instant::now() + after, job);
            }
            Step::Later => {
                self.gates.await_return(campaign, job.slot);
                self.queue.push(Instant::now(), job);
                return;
            }
        }
        // Without effect where the answer was understood: then the gate is open.
        self.gates.pass_on(campaign);
        self.free_jobs();
    }

    /// Rows that have had all their attempts: others were answered, or there are none.
    pub(super) fn settle_exhausted(&mut self) {
        for (job, outcome) in std::mem::take(&mut self.exhausted_rows) {
            self.settle(&job, outcome);
        }
    }

    /// Whether no more of the campaign is sent.
    fn is_ending(&self, campaign: CampaignId) -> bool {
        self.stop.is_some() || self.gates.is_shut(campaign)
    }

    /// The service takes or refuses single rows of the campaign.
    fn understand(&mut self, campaign: CampaignId) {
        self.unhinted = 0;
        self.gates.open(campaign);
        self.free_jobs();
        self.reject_aside(|job| job.claim.campaign == campaign);
    }

    /// Rows that have waited for others of their campaign.
    fn free_jobs(&mut self) {
        for job in self.gates.take_free_jobs() {
            self.queue.push(Instant::now(), job);
        }
    }

    /// The whole pipeline waits, as the service asks or, without a hint, longer
    /// each time.
    fn hold(&mut self, hint: Wait, why: ErrorCode, started: Instant) {
        let wait = match hint.time() {
            Some(wait) => wait,
            // All that was in flight is refused at once: that is one refusal, also where
            // an answer was long on its way.
            None if self.held_at.is_some_and(|at| started <= at) => return,
            None => {
                self.unhinted += 1;
                // Half of it for certain: a wait of nothing would be no answer
                // to "too many requests".
                let chance = 0.5 + fastrand::f64() / 2.0;
                self.policy.backoff.delay(self.unhinted, chance)
            }
        };
        let now = Instant::now();
        let until = now + wait;
        self.held_at = Some(now);
        self.rate.hold(until);
        if let Some(pause) = asked_pause(hint, why) {
            self.commits.note_pause(pause);
        }
        self.note_hold(until, wait, hint, why);
    }

    /// Takes note that everything waits, and tells it.
    pub(super) fn note_hold(&mut self, until: Instant, wait: Duration, hint: Wait, why: ErrorCode) {
        self.asks_again_at = self.asks_again_at.max(Some(until));
        if hint.time().is_some() {
            self.asked_until = self.asked_until.max(Some(until));
        }
        self.held_why = why;
        (self.events)(RunEvent::Held { wait, hint, why });
    }

    /// The refusals of these rows turned out to be their own.
    pub(super) fn reject_aside(&mut self, are_meant: impl Fn(&Job) -> bool) {
        for (mut job, answer) in self.take_aside(are_meant) {
            let context = Context {
                epoch: self.epoch,
                is_excused: false,
                chance: 0.0,
            };
            if let Step::Settle(outcome) = job.judge(answer, &self.policy, context) {
                self.settle(&job, outcome);
            }
        }
    }

    fn take_aside(&mut self, are_meant: impl Fn(&Job) -> bool) -> Vec<(Job, Answer)> {
        let all = std::mem::take(&mut self.aside).into_iter();
        let (taken, kept) = all.partition(|(job, _)| are_meant(job));
        self.aside = kept;
        taken
    }

    /// Nothing more is sent to the campaign; where there is no other, the run ends.
    fn stop_campaign(&mut self, campaign: CampaignId, stop: Stop) {
        let has_others = |input: &PlannedInput| input.mapping.campaign_column.is_some();
        if !self.inputs.iter().any(has_others) {
            return self.stop(stop);
        }
        if self.gates.is_shut(campaign) {
            return;
        }
        (self.events)(RunEvent::CampaignStopped {
            campaign,
            by: stop.by(),
        });
        self.refused.push((campaign, stop));
        let (mut jobs, rows) = self.gates.shut(campaign);
        let is_of_it = |job: &Job| job.claim.campaign == campaign;
        jobs.extend(self.queue.take_campaign(campaign));
        jobs.extend(self.next_job.take_if(|job| is_of_it(job)));
        let aside = self.take_aside(is_of_it).into_iter();
        jobs.extend(aside.map(|(job, _)| job));
        for job in jobs {
            self.give_up(job);
        }
        for slot in rows {
            self.pass_over(slot);
        }
    }

    /// Writes down the outcome of a claimed row and gives it to the row.
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

    /// Gives a row its outcome.
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
        self.counts.add(outcome.status);
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
        self.has_given_up = true;
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
        self.has_given_up = true;
        match self.new_job(slot).and_then(|mut job| job.uncertain()) {
            Some(outcome) => self.give(slot, outcome),
            None => self.window.pass_over(slot),
        }
    }
}

/// What later starts of the program have to know of a wait that an answer asks for.
pub(super) fn asked_pause(hint: Wait, why: ErrorCode) -> Option<AskedPause> {
    match (hint.time(), why) {
        (Some(wait), ErrorCode::Http(http_status)) => Some(AskedPause {
            until: wall_clock_ahead(wait),
            http_status,
        }),
        _ => None,
    }
}

/// The time of day after a wait.
pub(super) fn wall_clock_ahead(wait: Duration) -> Timestamp {
    let wait = SignedDuration::try_from(wait).unwrap_or_default();
    Timestamp::now().saturating_add(wait).unwrap_or_default()
}

/// The time of day at a moment of the clock that only moves on.
pub(super) fn wall_clock(at: Instant) -> Timestamp {
    let ago = SignedDuration::try_from(at.elapsed()).unwrap_or_default();
    Timestamp::now().saturating_sub(ago).unwrap_or_default()
}
