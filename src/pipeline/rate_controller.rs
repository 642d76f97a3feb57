//! When requests start: what is allowed, and that it is kept to. The rules:
//!
//! **What is allowed.** What is given or stated goes before what is found by trying.
//!
//! | choice | starts | never faster than |
//! |-|-|-|
//! | limits | at them | themselves; headers change nothing but a wait |
//! | `none` | without a limit, until two refusals within ten minutes, or a wait of more than ten seconds | |
//! | `auto` | at 100 a minute, or where the last run was | what answers state ([`StatedLimits`]), else 10 a second. A limit whose period is a guess lifts nothing above that |
//!
//! **Up**, only while requests wait for nothing but the pace: a pace that is not used says nothing
//! of what would be allowed (RFC 7661). Where nothing is known, `auto` doubles its pace until the
//! first refusal, as slow start does (RFC 5681), and so does `none` after two short waits. After a
//! refusal the pace follows CUBIC's curve ([`Cubic`]): it returns to what the service took, stays
//! about there, and then grows ever faster; with each request and not with time, since what matters
//! is how many of them are refused.
//!
//! **Down**, at a refusal: to what the service took. Refusals and the waits after them, up to the
//! first answer to a request that started after the last wait, are one event. What was taken is
//! the most that was accepted in the ten seconds or the minute before the wait ended, or since the
//! window opened. Services count in such spans: for a limit per window the pace is right as soon as
//! one window has been used up. After a short wait the last second counts too, and the pace keeps
//! 85 % of itself: a bucket that leaks is approached from above, in small steps. Where such refusals
//! follow closely on each other, a burst was used up or the limit has dropped: from the third on, the
//! pace is what was taken between them, and at least half of what it was.
//!
//! The wait is the one that the service asks for. Without a hint each is longer than the last, but
//! none goes past the end of a minute counted from the first request, since most windows are a minute
//! long.
//!
//! **Back**: a pace that was not refused for long is remembered, for the next thousand requests,
//! and tried again when one that is a tenth lower was not refused for long either. So the whole
//! limit is used again soon after another user of the account has left. What a minute took is tried
//! again too, if it was the same at each of several refusals: that is a window that slides, and that
//! was not used evenly yet.
//!
//! **By chance** ([`Chance`](super::by_chance::Chance)): where a slower pace does not lower the share of
//! refusals they have nothing to do with it. The pace goes back to where it was and doubles again, or there
//! is no limit again, until more are refused than by chance; the waits that are asked for are kept, and guessed ones are short.
//! And beside a given or stated limit, and under `none` one with a short wait, a single refusal within
//! ten minutes causes nothing but the wait that it asks for: a real limit refuses again.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::cubic::{Cubic, START};
use super::rate_limiter::RateLimiter;
use super::stated_limits::StatedLimits;
use crate::api::Quota;
use crate::api::verdict::LONGEST_WAIT;
use crate::event::ByChance;
use crate::lead::ErrorCode;
use crate::ledger::RecentUse;
use crate::rate::{AUTO_MOST, KnownRate, Pace, PaceSource, Rate, RateChoice};

/// Nothing is tried again sooner without a hint.
const SHORTEST_GUESS: Duration = Duration::from_millis(500);

const MOST: f64 = AUTO_MOST.pace();
/// No run starts lower because of a bad hour: from there it would take long to grow.
const LEAST_KNOWN: f64 = START / 4.0;
/// How long a quota that is used up is waited for at most: nobody has refused anything yet.
const LONGEST_RESET: Duration = Duration::from_secs(3600);

#[derive(Debug)]
pub struct RateController {
    is_auto: bool,
    /// What answers state; it counts under `auto`.
    stated: StatedLimits,
    /// What is given, or stated now.
    rates: Vec<Rate>,
    /// The slowest of them, if the pace may go up to it.
    ceiling: Option<Rate>,
    found: Cubic,
    pub(super) limiter: RateLimiter,
    /// Whether a request waits only for the pace.
    binds: bool,
    pub(super) pause_at_start: Option<(Instant, ErrorCode)>,
}

impl RateController {
    pub fn new(choice: &RateChoice, known: Option<KnownRate>) -> RateController {
        let is_auto = *choice == RateChoice::Auto;
        // A ledger does not decide how fast is sent: a faster limit counts when an answer states it again.
        let stated = known.filter(|known| known.is_stated && known.rate.pace() <= MOST);
        let found = match known {
            _ if !is_auto || stated.is_some() => f64::INFINITY,
            Some(known) => known.rate.pace().clamp(LEAST_KNOWN, MOST),
            None => START,
        };
        let mut controller = RateController {
            is_auto,
            stated: StatedLimits::new(stated.map(|known| known.rate)),
            rates: match choice {
                RateChoice::Limits(rates) => rates.clone(),
                RateChoice::Auto | RateChoice::Unlimited => Vec::new(),
            },
            ceiling: None,
            found: Cubic::new(found, is_auto && known.is_none(), Instant::now()),
            limiter: RateLimiter::new(),
            binds: false,
            pause_at_start: None,
        };
        controller.apply();
        controller
    }

    /// A controller after earlier processes: what they started counts, and a wait that they were
    /// asked for is obeyed. `now` is the time of day.
    #[must_use]
    pub fn after(mut self, recent: &RecentUse, now: Timestamp) -> RateController {
        self.limiter.resume(&recent.starts, now);
        if let Some(pause) = recent.pause
            && let Some(left) = pause.left(now)
        {
            let until = Instant::now() + left.min(LONGEST_WAIT);
            self.limiter.hold(until);
            self.pause_at_start = Some((until, ErrorCode::Http(pause.http_status)));
        }
        self
    }

    /// Counts a request as started and says when that is, by which its answer is known again, or
    /// says when to ask again.
    pub fn try_start(&mut self) -> Result<Instant, Instant> {
        let now = Instant::now();
        if let Err(when) = self.limiter.try_start(now) {
            self.binds = self.limiter.held_until().is_none();
            return Err(when);
        }
        self.stated.start(now);
        if std::mem::take(&mut self.binds) {
            self.found.used();
            self.apply();
        }
        Ok(now)
    }

    /// The limits that are kept to: those that are given, or stated.
    pub fn limits(&self) -> &[Rate] {
        &self.rates
    }

    /// An answer that is no refusal. Where it says that nothing more is free, nothing starts.
    pub(super) fn accepted(&mut self, started: Instant, quota: Option<&Quota>) {
        let now = Instant::now();
        self.found.accepted(started, now);
        let is_ours = self.stated.answered(started, quota, now);
        let reset = quota.and_then(used_up);
        if let Some(reset) = reset.filter(|_| !self.is_auto || !is_ours) {
            let until = now + reset;
            self.limiter.hold(until);
            if !self.is_auto && self.rates.is_empty() {
                // The next request would have been refused.
                self.found.refused(started, until, true, now);
            }
        }
        self.apply();
    }

    /// A refusal, for which everything is held already; `is_hinted` if it says for how long.
    pub(super) fn refused(&mut self, started: Instant, quota: Option<&Quota>, is_hinted: bool) {
        self.stated.refused(started, quota);
        let now = Instant::now();
        let until = self.limiter.held_until().unwrap_or(now);
        self.found.chance.answered(started, true);
        self.found.refused(started, until, is_hinted, now);
        self.apply();
    }

    /// How long to wait at most after a refusal that does not say how long.
    pub(super) fn longest_guess(&self) -> Duration {
        if self.found.chance.is_found() {
            return SHORTEST_GUESS;
        }
        let now = Instant::now();
        let end = self.found.minute_end(now);
        end.map_or(Duration::MAX, |end| (end - now).max(SHORTEST_GUESS))
    }

    /// That refusals turn out to have nothing to do with the pace; said once.
    pub(super) fn take_news(&mut self) -> Option<ByChance> {
        self.found.chance.take_news()
    }

    /// No answer has come, or one that says nothing of the pace.
    pub(super) fn lost(&mut self, started: Instant) {
        self.stated.forget(started);
    }

    /// What the next run may start with: no guess.
    pub(super) fn known(&self) -> Option<KnownRate> {
        let Pace { rate, source } = self.pace()?;
        let is_given = !self.is_auto && !self.rates.is_empty();
        if is_given || source == PaceSource::Trying {
            return None;
        }
        // If far less was found, the limit is not what it seems.
        let is_credible = |stated: &Rate| self.is_auto && rate.pace() >= stated.pace() / 2.0;
        let stated = self.ceiling.filter(is_credible);
        Some(KnownRate {
            rate: stated.unwrap_or(rate),
            is_stated: stated.is_some(),
        })
    }

    /// The limit that is believed in, and why; `None` if there is none.
    pub(super) fn pace(&self) -> Option<Pace> {
        let found = self.found.believed();
        let source = match found {
            None if self.is_auto => PaceSource::Stated,
            None => PaceSource::Given,
            Some(_)
                if self.is_auto && self.ceiling.is_none() && self.found.pace() >= Some(MOST) =>
            {
                PaceSource::Most
            }
            Some(_) if self.found.doubles => PaceSource::Trying,
            Some(_) => PaceSource::Found,
        };
        let rate = found.map(Rate::of_pace).or(self.ceiling)?;
        Some(Pace { rate, source })
    }

    fn apply(&mut self) {
        let before = slowest(&self.rates);
        if self.is_auto {
            self.rates = self.stated.rates();
        }
        let is_sure = !self.is_auto || self.stated.has_known_span();
        self.ceiling = slowest(&self.rates).filter(|rate| is_sure || rate.pace() <= MOST);
        if self.is_auto && self.ceiling.is_none() && self.found.pace().is_none() {
            // The limit is stated no longer.
            self.found.begin(before.map_or(START, |rate| rate.pace()));
        }
        let ceiling = self.ceiling.map(|rate| rate.pace());
        let most = if self.is_auto { MOST } else { f64::INFINITY };
        self.found.most = ceiling.unwrap_or(most);
        let is_guess = before.is_none() || self.found.doubles;
        let is_stricter = is_guess || self.found.pace() >= ceiling;
        if ceiling.is_some() && is_stricter {
            self.found.forget();
        }
        self.limiter.set_limits(&self.rates, self.found.pace());
    }
}

/// In how long there are more requests, where an answer says that there are none left.
fn used_up(quota: &Quota) -> Option<Duration> {
    let reset = quota.reset.filter(|_| quota.remaining == Some(0))?;
    Some(reset.min(LONGEST_RESET))
}

fn slowest(rates: &[Rate]) -> Option<Rate> {
    let slower = |a: &&Rate, b: &&Rate| a.pace().total_cmp(&b.pace());
    rates.iter().min_by(slower).copied()
}

#[cfg(test)]
#[path = "rate_controller_tests/mod.rs"]
mod tests;
