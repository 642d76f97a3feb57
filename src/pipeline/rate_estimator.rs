//! What rate is allowed now: as given, as stated, or as found by trying.
//!
//! Rule: pure; time is passed in.
//!
//! | choice | starts | ceiling |
//! |-|-|-|
//! | limits | at them | themselves; headers change nothing but a wait |
//! | `none` | without a limit, until the first refusal | none |
//! | `auto` | at 100 a minute, or where the last run was | what answers state ([`stated`]), else 10 a second |
//!
//! **Up**, only while the pace is what binds: a pace that is not used says nothing of what would
//! be allowed (RFC 7661). While nothing has been refused `auto` doubles every half minute, as
//! slow start does (RFC 5681); after that any pace grows by 1/400 of itself a second, or 1/1000
//! an accepted request where that is slower, so that a service that allows one a second does not
//! refuse every twentieth.
//!
//! **Down**, at a refusal: to what was delivered, as TCP Westwood does (Mascolo et al., 2001).
//! Refusals and the waits after them, up to the first answer to a request that started after the
//! last wait, are one event, which ends a cycle; the pace is accepted / length of the cycle, the
//! wait included. It is decided when work goes on, and foreseen at the refusal, so that the first
//! requests after the wait keep to it. Three corrections, each for what simulation showed:
//!
//! - *hints are in whole seconds*: 100 a second, refused after half a second, wait for another
//!   whole one, and look like 67. After a wait of two seconds at most, 95 % of the fullest second
//!   of the last minute is allowed as well;
//! - *some refusals have nothing to do with the pace*, say one in fifty, and would take it down to
//!   nearly nothing. So the delivery is the best of the last five minutes, less 5 % where it is
//!   not the latest, as in BBR (Cardwell et al., 2016). Not so where few are accepted between
//!   refusals, twice in a row, nor where the same is accepted four times in a row: then there
//!   really is less than there was;
//! - *little is accepted in a cycle*: it is measured over the last fifty accepted requests at
//!   least, over as many cycles as that takes. Where there are fewer, five are evidence after a
//!   long wait, and fifty after a short one. Without evidence the pace becomes 0.7 of itself,
//!   after a short wait 0.9; where there is no limit yet, there is none afterwards.
//!
//! Where the rate is given, a single refusal within ten minutes causes the wait that it asks for,
//! and no slower pace: it may have been an accident, and a real limit refuses again.

mod delivery;
mod stated;

use std::time::Duration;

use tokio::time::Instant;

use crate::api::Quota;
use crate::rate::{KnownRate, Rate, RateChoice};

use delivery::{Delivery, ENOUGH, EVIDENCE};
use stated::StatedLimits;

/// Where `auto` starts: the only limit ever published, 100 a minute.
const START: f64 = 100.0 / 60.0;

/// `auto` does not grow beyond it.
const MOST: f64 = 10.0;

/// Nor does any pace fall below it.
const LEAST: f64 = 1.0 / 60.0;

/// One that was found lower in a bad hour is not where the next run starts: from there it
/// would take hours to grow.
const MIN_KNOWN: f64 = START / 4.0;

/// In this time the pace doubles while nothing has been refused.
const DOUBLING_S: f64 = 30.0;

/// In this time it grows e-fold after that: a four-hundredth a second.
const SLOW_GROWTH_S: f64 = 400.0;

/// and in this many requests, where that is slower.
const SLOW_GROWTH_REQUESTS: f64 = 1000.0;

/// What the pace is multiplied by where nothing better is known.
const STEP_DOWN: f64 = 0.7;

/// The same after a short wait, which may be one by chance.
const SHORT_STEP_DOWN: f64 = 0.9;

/// A pace that differs by less is not worth new limits.
const STEP: f64 = 0.005;

/// To this share of the best of the last minute the pace returns at once.
const NEARLY: f64 = 0.95;

/// A wait up to this says more of the hint, which is in whole seconds, than of the limit.
const SHORT_WAIT: Duration = Duration::from_secs(2);

/// Two refusals that are no further apart are no accident.
const LATELY: Duration = Duration::from_secs(600);

/// What asks for a longer wait is a cap on the hour or the day: it is reached at any pace,
/// and a pace that spreads it out would help no one.
const LONGEST_LESSON: Duration = Duration::from_secs(5 * 60);

#[derive(Debug)]
pub(super) struct RateEstimator {
    ceiling: Ceiling,
    /// The pace that was found by trying, if it is below the ceiling.
    found: Option<f64>,
    /// The same as the limiter has it: see [`STEP`].
    applied: Option<f64>,
    /// The present limits, as the limiter needs them: what was found is for about a second, so
    /// that a pace that falls need not wait for a long span to empty.
    pub(super) limits: Vec<Rate>,
    /// Nothing was refused yet, nor is anything known from elsewhere.
    is_fast: bool,
    has_learned: bool,
    delivery: Delivery,
    refusal: Option<Refusal>,
    /// When the last one began.
    last_refusal: Option<Instant>,
    /// What started before it belongs to refusals that are over.
    cycle_from: Instant,
    last_start: Instant,
    /// Whether a request waits only for the pace.
    pub(super) binds: bool,
}

/// What limits the pace beside refusals.
#[derive(Debug)]
enum Ceiling {
    Given(Vec<Rate>),
    Stated(StatedLimits),
}

#[derive(Debug)]
struct Refusal {
    since: Instant,
    until: Instant,
    before: Option<f64>,
    /// Whether there was one before lately, or a pace is being looked for.
    is_lesson: bool,
}

impl RateEstimator {
    pub(super) fn new(
        choice: &RateChoice,
        known: Option<KnownRate>,
        now: Instant,
    ) -> RateEstimator {
        let (ceiling, found) = match (choice, known) {
            (RateChoice::Limits(rates), _) => (Ceiling::Given(rates.clone()), None),
            (RateChoice::Unlimited, _) => (Ceiling::Given(Vec::new()), None),
            (RateChoice::Auto, Some(known)) if known.is_stated => {
                (Ceiling::Stated(StatedLimits::knowing(known.rate)), None)
            }
            (RateChoice::Auto, known) => (
                Ceiling::Stated(StatedLimits::default()),
                Some(known.map_or(START, |known| known.rate.pace().clamp(MIN_KNOWN, MOST))),
            ),
        };
        let mut estimator = RateEstimator {
            limits: Vec::new(),
            ceiling,
            found,
            applied: found,
            is_fast: *choice == RateChoice::Auto && known.is_none(),
            has_learned: known.is_some(),
            delivery: Delivery::new(now),
            refusal: None,
            last_refusal: None,
            cycle_from: now,
            last_start: now,
            binds: false,
        };
        estimator.update_limits();
        estimator
    }

    /// The tightest of them, as people would write it; none if there is no limit.
    pub(super) fn pace(&self) -> Option<Rate> {
        let found = self.applied.map(Rate::of_pace);
        let rate = slowest(self.ceiling.rates().into_iter().chain(found))?;
        Some(match rate.per.subsec_nanos() {
            0 => rate,
            _ => Rate::of_pace(rate.pace()),
        })
    }

    pub(super) fn started(&mut self, now: Instant) {
        if let Ceiling::Stated(stated) = &mut self.ceiling {
            stated.start(now);
        }
        let since = std::mem::replace(&mut self.last_start, now);
        if std::mem::take(&mut self.binds) && self.refusal.is_none() {
            self.grow(now - since);
        }
        self.update_limits();
    }

    /// An answer about a row, or a refusal that holds for all. Returns until when it says that
    /// nothing more is free.
    pub(super) fn accepted(
        &mut self,
        started: Instant,
        quota: Option<&Quota>,
        now: Instant,
    ) -> Option<Instant> {
        let usual = self.usual_space(now - started);
        self.delivery.accept(now, usual);
        let mut hold = None;
        if let Ceiling::Stated(stated) = &mut self.ceiling {
            let was_silent = stated.rates().is_empty();
            hold = stated.answered(started, quota, now);
            if was_silent && !stated.rates().is_empty() {
                self.is_fast = false;
                self.has_learned = true;
                if self.refusal.is_none() {
                    self.found = None;
                }
            }
        }
        if self
            .refusal
            .as_ref()
            .is_some_and(|refusal| started >= refusal.until)
        {
            self.resume(started, now);
        }
        if !matches!(self.ceiling, Ceiling::Stated(_)) {
            hold = used_up(quota).map(|reset| now + reset);
            if let Some(until) = hold {
                // The next request would have been refused.
                self.note_refusal(until, now);
            }
        }
        self.update_limits();
        hold
    }

    /// An answer that asks to come back later, for which the pipeline is held until
    /// `until`.
    pub(super) fn refused(
        &mut self,
        started: Instant,
        quota: Option<&Quota>,
        until: Instant,
        now: Instant,
    ) {
        if let Ceiling::Stated(stated) = &mut self.ceiling {
            stated.refused(started, quota);
        }
        if started >= self.cycle_from {
            self.note_refusal(until, now);
        }
        self.update_limits();
    }

    fn note_refusal(&mut self, until: Instant, now: Instant) {
        if until - now > LONGEST_LESSON {
            return;
        }
        if self.refusal.is_none() {
            self.refusal = Some(Refusal {
                since: now,
                until,
                before: self.current(),
                is_lesson: self.is_lesson(now),
            });
            self.last_refusal = Some(now);
        }
        if let Some(refusal) = &mut self.refusal {
            refusal.until = refusal.until.max(until);
        }
        self.fall(until);
    }

    /// Whether a refusal that comes now should change the pace.
    fn is_lesson(&self, now: Instant) -> bool {
        matches!(self.ceiling, Ceiling::Stated(_))
            || self.found.is_some()
            || self.last_refusal.is_some_and(|last| now - last < LATELY)
    }

    pub(super) fn lost(&mut self, started: Instant) {
        if let Ceiling::Stated(stated) = &mut self.ceiling {
            stated.forget(started);
        }
    }

    pub(super) fn known(&self) -> Option<KnownRate> {
        let Ceiling::Stated(stated) = &self.ceiling else {
            return None;
        };
        match (slowest(stated.rates()), self.found) {
            (Some(rate), _) => Some(KnownRate {
                rate,
                is_stated: true,
            }),
            (None, Some(found)) if self.has_learned || found > START => Some(KnownRate {
                rate: Rate::of_pace(found),
                is_stated: false,
            }),
            _ => None,
        }
    }

    fn usual_space(&self, latency: Duration) -> Duration {
        match (&self.refusal, self.current()) {
            (Some(_), _) => Duration::MAX,
            (None, pace) => latency
                .saturating_mul(2)
                .max(Duration::from_secs_f64(pace.map_or(0.0, |pace| 2.0 / pace)))
                .max(Duration::from_secs(2)),
        }
    }

    fn current(&self) -> Option<f64> {
        self.ceiling
            .pace()
            .into_iter()
            .chain(self.found)
            .min_by(f64::total_cmp)
    }

    fn grow(&mut self, bound: Duration) {
        let Some(found) = &mut self.found else { return };
        let seconds = bound.as_secs_f64().min(5.0 / *found);
        *found *= if self.is_fast {
            (seconds / DOUBLING_S).exp2()
        } else {
            (seconds * (1.0 / SLOW_GROWTH_S).min(*found / SLOW_GROWTH_REQUESTS)).exp()
        };
        self.keep_below_ceiling();
    }

    fn keep_below_ceiling(&mut self) {
        match (self.ceiling.pace(), &self.ceiling) {
            (Some(ceiling), _) => self.found = self.found.filter(|found| *found < ceiling),
            (None, Ceiling::Stated(_)) => self.found = self.found.map(|found| found.min(MOST)),
            (None, _) => {}
        }
    }

    /// Work goes on: what was accepted until now is what the service takes.
    fn resume(&mut self, started: Instant, now: Instant) {
        self.fall(now);
        self.refusal = None;
        self.cycle_from = started;
        self.last_start = now;
        self.binds = false;
        self.is_fast &= self.delivery.mean(EVIDENCE, now).is_none();
        self.has_learned = true;
        self.delivery.next_cycle(now);
    }

    fn fall(&mut self, now: Instant) {
        let Some(refusal) = self.refusal.as_ref().filter(|refusal| refusal.is_lesson) else {
            return;
        };
        let is_short = refusal.until - refusal.since <= SHORT_WAIT;
        let evidence = if is_short { ENOUGH } else { EVIDENCE };
        let step_down = if is_short { SHORT_STEP_DOWN } else { STEP_DOWN };
        let least = refusal.before.map(|before| before * step_down);
        let mut best = self.delivery.best(refusal.since);
        if is_short {
            let spaces = self.delivery.peak(refusal.since).saturating_sub(1);
            best = best.max(f64::from(spaces));
        }
        let pace = match (self.delivery.mean(evidence, now), least) {
            (Some(mean), _) if self.delivery.flows() => mean.max(best * NEARLY),
            (Some(mean), least) if is_short => mean.max(least.unwrap_or(0.0)),
            (Some(mean), _) => mean,
            (None, Some(least)) => least,
            (None, None) => return,
        };
        let pace = refusal.before.map_or(pace, |before| pace.min(before));
        self.found = Some(pace.max(LEAST));
        self.keep_below_ceiling();
    }

    fn update_limits(&mut self) {
        let is_close = match (self.applied, self.found) {
            (Some(applied), Some(found)) => (found / applied - 1.0).abs() < STEP,
            (applied, found) => applied == found,
        };
        if !is_close {
            self.applied = self.found;
        }
        let applied = self.applied.map(over_a_second);
        self.limits = self.ceiling.rates().into_iter().chain(applied).collect();
    }
}

/// How long a quota that is used up is waited for at most: nobody has refused anything yet.
const LONGEST_RESET: Duration = Duration::from_secs(3600);

/// In how long there are more requests, where an answer says that there are none left.
fn used_up(quota: Option<&Quota>) -> Option<Duration> {
    let quota = quota.filter(|quota| quota.remaining == Some(0))?;
    Some(quota.reset?.min(LONGEST_RESET))
}

impl Ceiling {
    fn rates(&self) -> Vec<Rate> {
        match self {
            Ceiling::Given(rates) => rates.clone(),
            Ceiling::Stated(stated) => stated.rates(),
        }
    }

    fn pace(&self) -> Option<f64> {
        slowest(self.rates()).map(|rate| rate.pace())
    }
}

fn slowest(rates: impl IntoIterator<Item = Rate>) -> Option<Rate> {
    rates
        .into_iter()
        .min_by(|a, b| a.pace().total_cmp(&b.pace()))
}

/// A pace as a number in about a second, exactly.
fn over_a_second(pace: f64) -> Rate {
    let mut rate = Rate::per_second(pace.round() as u32);
    rate.per = Duration::from_secs_f64(f64::from(rate.requests.get()) / pace);
    rate
}

#[cfg(test)]
#[path = "rate_estimator_tests.rs"]
mod tests;
