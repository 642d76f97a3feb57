//! What a run waits for while nothing is under way.
//!
//! Each such wait is told, once it can be noticed. Only what the service causes counts towards
//! `--max-outage`: who waits for another run's rows, for the pace, a token or the ledger asks nothing
//! of it.

use std::time::Duration;

use tokio::time::Instant;

use super::throttle::wall_clock;
use super::{LeadSender, Pipeline};
use crate::event::{Pause, Waiting};

/// A shorter wait is not told.
const NOTICEABLE: Duration = Duration::from_secs(2);

impl<S: LeadSender> Pipeline<'_, S> {
    /// What all rows wait for, if that is told.
    pub(super) fn pause(&self, now: Instant) -> Option<Pause> {
        let elsewhere = self.waits_elsewhere(now);
        let is_first = |pause: &Pause| matches!(pause.why, Waiting::Token | Waiting::Ledger { .. });
        if elsewhere.as_ref().is_some_and(is_first) {
            return elsewhere;
        }
        let noticed = |pause: &Pause| {
            let since = self.progress.waits_since;
            pause.why == Waiting::Pace || since.is_some_and(|at| now >= at + NOTICEABLE)
        };
        let service = self.pacer.pause(now);
        service.or_else(|| elsewhere.filter(noticed).or_else(|| self.retry(now)))
    }

    /// Lets the time for `--max-outage` run only while the service is asked, or lets nothing start.
    pub(super) fn count_silence(&mut self, now: Instant) {
        let elsewhere = self.waits_elsewhere(now);
        let is_idle = elsewhere.is_some()
            && self.in_flight.answers.is_empty()
            && self.pacer.pause(now).is_none();
        self.pacer.outage.count(is_idle, now);
        let lasts =
            |pause: &Pause| matches!(pause.why, Waiting::Others { .. } | Waiting::Commit { .. });
        let since = self.progress.waits_since.unwrap_or(now);
        self.progress.waits_since = elsewhere.filter(lasts).map(|_| since);
    }

    /// What is waited for that is not the service.
    fn waits_elsewhere(&self, now: Instant) -> Option<Pause> {
        if self.stop_state.is_stopping() {
            return None;
        }
        let until = |at: Instant| at.saturating_duration_since(now);
        if let Some(wait) = &self.token_wait {
            return Some(Waiting::Token.lasting(until(wait.until)));
        }
        if let Some(since) = self.commits.away_since() {
            return Some(Waiting::Ledger { since }.lasting(Duration::ZERO));
        }
        if !self.in_flight.flights.is_empty() {
            return None;
        }
        let next = self.schedule.next.as_ref();
        if next.is_some_and(|job| !job.is_others) {
            // From the second one on, each request waits for the one before it.
            let usual = match self.in_flight.requests {
                0 => Duration::ZERO,
                _ => self.pacer.rate.limiter.space(),
            };
            let left = until(self.pacer.starts_at?);
            return (left >= usual + NOTICEABLE).then(|| Waiting::Pace.lasting(left));
        }
        if let Some(rows) = self.rows_of_others() {
            let (by, at_most) = self.progress.claimed_by.clone().unzip();
            let left = at_most.map_or(Duration::ZERO, until);
            return Some(Waiting::Others { rows, by }.lasting(left));
        }
        let since = self.commits.busy_since.map(wall_clock)?;
        Some(Waiting::Commit { since }.lasting(Duration::ZERO))
    }

    /// How many rows other runs have claimed, if no other one is left that may be sent now or later.
    fn rows_of_others(&self) -> Option<u64> {
        let (waiting, own) = self.schedule.waits();
        // One that is about to be claimed again waits for the ledger's news first.
        let claims = self.commits.claims.unstarted_jobs();
        let claims = claims.chain(&self.schedule.next);
        let is_only = own.is_none() && claims.clone().all(|job| job.is_others);
        let rows = (waiting + claims.count()) as u64;
        (is_only && rows > 0).then_some(rows)
    }

    /// The wait for the next attempt, where no other row is left.
    fn retry(&self, now: Instant) -> Option<Pause> {
        let (_, own) = self.schedule.waits();
        let left = own?.saturating_duration_since(now);
        let is_idle = self.schedule.next.is_none()
            && self.in_flight.flights.is_empty()
            && self.commits.claims.unstarted() == 0;
        let is_told = is_idle && left >= NOTICEABLE && !self.stop_state.is_stopping();
        is_told.then(|| Waiting::Retry.lasting(left))
    }
}
