//! What is sent next: claims, campaign gates, the pace, and the request.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::attempt::Job;
use super::campaign_gates::Admission;
use super::commit_buffer::Permit;
use super::in_flight::Flight;
use super::window::Slot;
use super::{LeadSender, Pipeline};
use crate::intake::{ByOthers, OnUncertain, not_sent_again, suppressed};
use crate::lead::{CampaignId, ErrorCode, RowOutcome, Status};
use crate::ledger::{Claim, Refusal, SenderId};
use crate::simulation::{Fault, is_planted};
use crate::stop::Stop;

/// How long an input counts as unchanged after a check: file systems do not record
/// modification times much more finely than that.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How soon to ask for a lease again while there is none.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// How soon to ask again what has become of a number that another run has claimed.
const ASK_OTHERS: Duration = Duration::from_secs(1);

impl<S: LeadSender> Pipeline<'_, S> {
    /// Starts as many requests as may start now, and returns when to try again
    /// (`None`: only an answer, new rows or a commit can change anything).
    pub(super) fn start_what_may(&mut self) -> Option<Instant> {
        if let Some(next_look) = self.look_for_token() {
            return Some(next_look);
        }
        let limit = self.limit();
        if self.policy.on_uncertain == OnUncertain::Hold {
            // Rows that wait for others leave room for these.
            let waiting = self.undecided.exhausted.len()
                + self.schedule.gates.waiting_jobs()
                + self.schedule.count_put_off();
            self.commits.claims.max_open = 2 * limit + waiting;
        }
        while (!self.stop_state.is_stopping() || is_planted(Fault::SendAfterSignal))
            && self.in_flight.flights.len() < self.limit()
            && self.in_flight.has_room()
        {
            match self.make_ready() {
                Ok(true) => {}
                Ok(false) => continue,
                Err(when) => return when,
            }
            match self.pacer.try_start(self.in_flight.starts()) {
                Ok(now) => self.start(now),
                Err(when) => {
                    self.commits.claims.record_idle();
                    return when;
                }
            }
        }
        if !self.stop_state.is_stopping() && !self.pacer.outage.may_be_the_rows() {
            self.claim_ahead();
        }
        None
    }

    /// Chooses the row that is sent next, and makes sure that it may be. Where it may not, the answer is
    /// `false`, or the error is when to try again.
    fn make_ready(&mut self) -> Result<bool, Option<Instant>> {
        if self.pacer.outage.may_be_the_rows() {
            if self.is_probing() {
                return Err(None);
            }
            self.choose_probe()?;
        } else {
            self.claim_ahead();
        }
        if self.schedule.next.is_none() {
            let due = self.schedule.next_due();
            let is_due = due.is_some_and(|due| due <= Instant::now());
            if self.commits.claims.granted.is_empty() && (!is_due || self.waits_for_claims()) {
                self.commits.claims.request_commit();
                return Err(due.filter(|_| !is_due));
            }
            self.schedule.next = self.next_job(is_due);
            return Ok(false);
        }
        if let Some(stop) = self.changed_input() {
            self.stop(stop);
            return Err(None);
        }
        // As far as the ledger is concerned; asked immediately before each request.
        let next = self.schedule.next.as_ref();
        match next.map_or(Permit::Start, |job| self.commits.permits(job)) {
            Permit::Start => Ok(!self.leave_out_suppressed()),
            Permit::ClaimAgain => {
                if let Some(job) = self.schedule.next.take() {
                    self.commits.claim_again(job);
                }
                Ok(false)
            }
            Permit::Wait => {
                self.commits.want_reply();
                Err(Some(Instant::now() + ASK_AGAIN))
            }
        }
    }

    /// Whether an answer is awaited that shows if the service is away.
    fn is_probing(&self) -> bool {
        let began = self.pacer.outage.away.map(|away| away.began);
        began.is_some_and(|began| self.in_flight.starts().any(|started| started >= began))
    }

    /// Settles the next row if its number has come on a do-not-call list since it was read. Returns
    /// whether it has.
    fn leave_out_suppressed(&mut self) -> bool {
        let next = self.schedule.next.as_ref();
        let next = next.filter(|_| !is_planted(Fault::OldSuppression));
        let listing = next.and_then(|job| self.commits.suppressed(job.claim.number));
        let Some(mut outcome) = listing.map(suppressed) else {
            return false;
        };
        let Some(mut job) = self.schedule.next.take() else {
            return false;
        };
        outcome.attempts = job.attempts;
        match job.uncertain() {
            // It may have been taken, which stays known.
            Some(doubt) => {
                let why = doubt.error.clone().unwrap_or_default();
                let outcome = RowOutcome {
                    error: Some(not_sent_again(why, &outcome)),
                    is_suppressed: true,
                    ..doubt
                };
                self.settle(&job, outcome);
            }
            None => {
                self.commits.release(job.claim.row);
                self.give(job.slot, outcome);
            }
        }
        self.next_canary(job.claim.campaign, job.slot, false);
        true
    }

    /// Takes a row that another run has sent, or is sending now.
    pub(super) fn take_refusal(&mut self, mut job: Job, refusal: Refusal) {
        let (campaign, slot) = (job.claim.campaign, job.slot);
        job.is_others = refusal == Refusal::Busy;
        let by_others = match refusal {
            Refusal::Busy => {
                self.schedule.push(Instant::now() + ASK_OTHERS, job);
                return self.next_canary(campaign, slot, false);
            }
            Refusal::Own(outcome) => {
                let holds = self.policy.on_uncertain == OnUncertain::Hold;
                if outcome.status != Status::Uncertain || holds {
                    ByOthers::Settled(outcome)
                } else {
                    job.attempts = outcome.attempts;
                    ByOthers::Doubt(outcome.error.unwrap_or_default())
                }
            }
            Refusal::Known(known) => ByOthers::of(&known, campaign, self.policy.on_uncertain),
        };
        if let ByOthers::Settled(outcome) = by_others {
            self.give(job.slot, outcome);
        } else {
            if let ByOthers::Doubt(why) = by_others {
                job.doubt(why);
            }
            self.schedule.push(Instant::now(), job);
        }
        self.next_canary(campaign, slot, false);
    }

    /// The reason to stop before the next row if its input has changed since the run began.
    ///
    /// A nightly export may overwrite its list during the run. What was read from the changed
    /// file never gets here (`intake` checks each batch), but rows that were read before are
    /// from a list that no longer exists. A check takes about a microsecond on a local disk.
    fn changed_input(&mut self) -> Option<Stop> {
        let (row, _) = self.window.get(self.schedule.next.as_ref()?.slot)?;
        let (file, now) = (row.file(), Instant::now());
        let is_known = |(of, at): (usize, Instant)| of == file && now < at + LOOK_EVERY;
        if self.unchanged.is_some_and(is_known) {
            return None;
        }
        match self.inputs[file].input.check_unchanged() {
            Ok(()) => {
                self.unchanged = Some((file, now));
                None
            }
            Err(error) => Some(Stop::error(error.stopped_by, error.message)),
        }
    }

    /// How many requests may be in flight: one until an answer has been understood.
    fn limit(&self) -> usize {
        let is_understood = self.stops.all.is_understood;
        self.pacer.limit(is_understood, self.in_flight.starts())
    }

    /// Whether no answer has been understood yet, and a row is under way that may bring one.
    fn awaits_first_answer(&self) -> bool {
        let is_out = !self.in_flight.flights.is_empty()
            || self.commits.claims.unstarted() > 0
            || self.schedule.next.is_some();
        is_out && !self.stops.all.is_understood
    }

    /// All rows of the campaign may go. Those that were claimed are claims that are granted again, so that
    /// no more are made in their place: a crash would leave each of them in doubt.
    pub(super) fn open_gate(&mut self, campaign: CampaignId) {
        let Some(jobs) = self.schedule.gates.open(campaign) else {
            return;
        };
        for job in jobs.into_iter().rev() {
            match job.is_fresh() {
                true => self.commits.claims.granted.push_front(job),
                false => self.schedule.push(Instant::now(), job),
            }
        }
        self.commits.claims.record_gate();
    }

    fn claim_ahead(&mut self) {
        while self.commits.claims.wants_more() && !self.awaits_first_answer() {
            match self.next_row() {
                Some(job) => self.commits.claim(job),
                None if self.is_only_tried_left() && self.release_deferred(None) => {}
                None => return,
            }
        }
    }

    /// Whether no row is left in what was read that was not tried yet, and none is under way.
    fn is_only_tried_left(&self) -> bool {
        !self.wants_rows()
            && self.in_flight.flights.is_empty()
            && self.commits.claims.unstarted() == 0
            && !self.schedule.gates.has_rows()
    }

    /// The next row that was not tried yet and whose campaign may be sent to.
    fn next_row(&mut self) -> Option<Job> {
        loop {
            let (slot, is_chosen) = self.next_slot()?;
            let Some(job) = self.new_job(slot) else {
                // Only if the input changed after its campaign names were read.
                let text = text!("the campaign's id is not known");
                self.give(slot, RowOutcome::invalid(ErrorCode::CampaignInvalid, text));
                continue;
            };
            let campaign = job.claim.campaign;
            let goes_now = self.schedule.has_only_tried || self.stops.has_taken(campaign);
            if !job.is_fresh() && !is_chosen && !goes_now {
                self.schedule.deferred.insert(slot, campaign);
                continue;
            }
            match self.schedule.gates.enter(campaign, slot) {
                Admission::Go => return Some(job),
                Admission::Wait(backlog) => {
                    backlog.rows.insert(slot);
                }
                Admission::Closed => self.pass_over(slot),
            }
        }
    }

    /// The row to look at next, and whether it was chosen before others. While nothing is understood,
    /// other campaigns go before more rows of one that was refused.
    fn next_slot(&mut self) -> Option<(Slot, bool)> {
        let gates = &mut self.schedule.gates;
        if self.stops.all.is_understood
            && let Some(slot) = gates.first.pop_front()
        {
            return Some((slot, true));
        }
        if let Some(slot) = gates.free_rows.pop_first() {
            return Some((slot, false));
        }
        if let Some(slot) = self.window.peek_ready() {
            self.window.step_over(slot);
            return Some((slot, false));
        }
        gates.first.pop_front().map(|slot| (slot, true))
    }

    /// Whether all rows that are due let others go first, and claims of others are on their way to the
    /// ledger.
    fn waits_for_claims(&self) -> bool {
        let periods = &self.undecided.periods;
        self.commits.claims.is_awaiting()
            && !self.schedule.has_due(|job| !job.lets_others_go(periods))
    }

    fn next_job(&mut self, is_due: bool) -> Option<Job> {
        let periods = &self.undecided.periods;
        let due = self.schedule.pop_due(|job| !job.lets_others_go(periods));
        let job = due.or_else(|| self.commits.claims.granted.pop_front());
        let job = job.or_else(|| is_due.then(|| self.schedule.pop())?)?;
        // Since a row was admitted and claimed, its campaign may have been refused.
        match self.schedule.gates.enter(job.claim.campaign, job.slot) {
            Admission::Go => self.schedule.unless_busy(job),
            Admission::Wait(backlog) => {
                let target = job.target();
                backlog.jobs.push_back(job);
                self.schedule.unpark(target);
                None
            }
            Admission::Closed => {
                self.give_up(job);
                None
            }
        }
    }

    /// Chooses the row that shows if the service is away: one from elsewhere that was not tried yet.
    /// If there is none, the list of campaigns is asked for. The error is when to try again (`None`:
    /// something else happens first).
    fn choose_probe(&mut self) -> Result<(), Option<Instant>> {
        let probe = self.undecided.probe;
        let is_other = |job: &mut Job| !job.is_fresh() && Some(job.slot) != probe;
        if let Some(tried) = self.schedule.next.take_if(is_other) {
            self.schedule.push(Instant::now(), tried);
        }
        if self.schedule.next.is_some() {
            return Ok(());
        }
        if self.commits.claims.is_awaiting() {
            self.commits.claims.request_commit();
            return Err(None);
        }
        // Every probe may have been taken: while it is away, a few of them are sent again and again.
        if !self.pacer.outage.wants_fresh_row()
            && let Some(job) = probe.and_then(|slot| self.schedule.take_row(slot))
        {
            self.schedule.next = Some(job);
            return Ok(());
        }
        let granted = &self.commits.claims.granted;
        let claimed = probe.and_then(|slot| granted.iter().position(|job| job.slot == slot));
        if claimed.is_none() && self.claim_probe() {
            return self.choose_probe();
        }
        let granted = &self.commits.claims.granted;
        let last_fresh = || granted.iter().rposition(|job| self.is_probe(job));
        match claimed.or_else(last_fresh) {
            Some(at) => {
                let job = self.commits.claims.granted.remove(at);
                self.schedule.next = job.and_then(|job| self.schedule.unless_busy(job));
                Ok(())
            }
            None => Err(self.ask_for_list()),
        }
    }

    /// Whether the row was not tried yet, and its campaign is not refused.
    fn is_probe(&self, job: &Job) -> bool {
        job.is_fresh() && !self.schedule.gates.is_closed(job.claim.campaign)
    }

    /// Claims a row from elsewhere that was not tried yet; returns whether there is one.
    fn claim_probe(&mut self) -> bool {
        if self.pacer.outage.certain().is_none() {
            self.undecided.probes = 0;
        }
        let is_fresh = |slot: &Slot| self.new_job(*slot).is_some_and(|job| self.is_probe(&job));
        let chosen = self.schedule.gates.first.iter().position(is_fresh);
        let chosen = chosen.and_then(|at| self.schedule.gates.first.remove(at));
        let Some(slot) = chosen.or_else(|| self.elsewhere(None)) else {
            return false;
        };
        self.schedule.gates.free_rows.remove(&slot);
        let Some(job) = self.new_job(slot) else {
            return false;
        };
        self.schedule.gates.enter(job.claim.campaign, slot);
        self.undecided.probe = Some(slot);
        self.commits.claim(job);
        true
    }

    /// Asks for the list of campaigns as soon as a request may start. Returns when that is.
    fn ask_for_list(&mut self) -> Option<Instant> {
        match self.pacer.try_start(self.in_flight.starts()) {
            Ok(now) => {
                self.commits.count_request();
                self.in_flight.ask_for_list(now);
                None
            }
            Err(when) => when,
        }
    }

    /// `None` if the row's number or campaign is not known.
    pub(super) fn new_job(&self, slot: Slot) -> Option<Job> {
        let (row, prepared) = self.window.get(slot)?;
        let claim = Claim {
            row: row.id(),
            file: row.file(),
            line: row.line(),
            number: prepared.phone?,
            campaign: prepared.campaign?,
            resends: false,
            sender: SenderId::default(),
        };
        Some(Job::new(slot, claim, prepared.earlier.as_deref()))
    }

    /// The job's body, built from its row for each attempt: stored bodies would take as much
    /// memory as the rows.
    fn body(&self, job: &Job) -> Option<Bytes> {
        let (row, _) = self.window.get(job.slot)?;
        let (campaign, phone) = job.target();
        let variables = self.inputs[row.file()].mapping.variables(row);
        Some(self.policy.form.body(phone, campaign, variables))
    }

    /// Starts the request for the next row. `now` is the time by which the pacer has counted it.
    fn start(&mut self, now: Instant) {
        self.commits.claims.record_start();
        let Some(mut job) = self.schedule.next.take() else {
            return;
        };
        // A row that waits for its outcome is always in the window.
        let Some(body) = self.body(&job) else {
            return self.give_up(job);
        };
        self.schedule.depart(job.target());
        self.commits.count_request();
        job.start();
        job.refusals_before = self.stops.refusals;
        let flight = Flight {
            job,
            started: now,
            was_full: self.in_flight.flights.len() + 1 >= self.limit(),
            body: body.len(),
        };
        self.in_flight.start(flight, body);
    }
}
