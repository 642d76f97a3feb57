//! When requests start: what is allowed, and that it is kept to.
//!
//! The [`RateEstimator`] learns from answers what is allowed; the [`RateLimiter`] keeps to it.
//! Here each gets what it needs of the other.

use jiff::Timestamp;
use tokio::time::Instant;

use super::rate_estimator::RateEstimator;
use super::rate_limiter::RateLimiter;
use crate::api::Quota;
use crate::api::verdict::LONGEST_WAIT;
use crate::lead::ErrorCode;
use crate::ledger::{AskedPause, RecentUse};
use crate::rate::{KnownRate, Rate, RateChoice};

#[derive(Debug)]
pub struct RateController {
    pub(super) estimator: RateEstimator,
    pub(super) limiter: RateLimiter,
    /// Whether the pace has changed since it was read.
    has_news: bool,
    pub(super) pause_at_start: Option<(Instant, ErrorCode)>,
}

impl RateController {
    pub fn new(choice: &RateChoice, known: Option<KnownRate>) -> RateController {
        let estimator = RateEstimator::new(choice, known, Instant::now());
        let limiter = RateLimiter::new(&estimator.limits);
        RateController {
            estimator,
            limiter,
            has_news: true,
            pause_at_start: None,
        }
    }

    /// The same after earlier processes, which the service counts too: what they started is
    /// within the limits, and a wait that it asked them for is obeyed. `now` is the time of
    /// day.
    #[must_use]
    pub fn after(mut self, recent: &RecentUse, now: Timestamp) -> RateController {
        self.limiter.resume(&recent.starts, now);
        let pause = recent.pause.filter(|pause| pause.until > now);
        if let Some(AskedPause { until, http_status }) = pause {
            let left = now.duration_until(until).unsigned_abs().min(LONGEST_WAIT);
            let until = Instant::now() + left;
            self.limiter.hold(until);
            self.pause_at_start = Some((until, ErrorCode::Http(http_status)));
        }
        self
    }

    /// Starts a request now and says when that is, by which its answer is known again, or
    /// says when to ask again. A request that may start is counted as started.
    pub fn try_start(&mut self) -> Result<Instant, Instant> {
        let now = Instant::now();
        match self.limiter.try_start(now) {
            Ok(()) => {
                self.estimator.started(now);
                self.apply_limits();
                Ok(now)
            }
            Err(when) => {
                self.estimator.binds = true;
                Err(when)
            }
        }
    }

    /// An answer that is no refusal for now, to a request of that time.
    pub(super) fn accepted(&mut self, started: Instant, quota: Option<&Quota>) {
        let hold = self.estimator.accepted(started, quota, Instant::now());
        self.apply_limits();
        if let Some(until) = hold {
            self.limiter.hold(until);
        }
    }

    /// An answer that asks to come back later, for which everything is held.
    pub(super) fn refused(&mut self, started: Instant, quota: Option<&Quota>) {
        let now = Instant::now();
        let until = self.limiter.held_until().unwrap_or(now);
        self.estimator.refused(started, quota, until, now);
        self.apply_limits();
    }

    fn apply_limits(&mut self) {
        self.has_news |= self.limiter.set_limits(&self.estimator.limits);
    }

    /// The pace, where it may have changed since this was asked last.
    pub(super) fn news(&mut self) -> Option<Option<Rate>> {
        let has_news = std::mem::take(&mut self.has_news);
        has_news.then(|| self.estimator.pace())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::StartsInSecond;
    use std::time::Duration;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(millis).unwrap()
    }

    fn limited(rate: &str, recent: &RecentUse, now: Timestamp) -> RateController {
        let choice = RateChoice::Limits(vec![rate.parse().unwrap()]);
        RateController::new(&choice, None).after(recent, now)
    }

    /// How long after the beginning each of these requests may start.
    async fn start(rate: &mut RateController, requests: usize) -> Vec<Duration> {
        let began = Instant::now();
        let mut starts = Vec::new();
        while starts.len() < requests {
            match rate.try_start() {
                Ok(at) => starts.push(at - began),
                Err(when) => tokio::time::sleep_until(when).await,
            }
        }
        starts
    }

    fn counted(seconds: impl Iterator<Item = i64>) -> RecentUse {
        let start = |second| StartsInSecond {
            second,
            requests: 1,
        };
        RecentUse {
            starts: seconds.map(start).collect(),
            pause: None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn requests_of_earlier_processes_count_towards_the_limit() {
        // Fifteen requests, a second apart, the last of them half a second ago.
        let recent = counted(86..=100);
        let mut rate = limited("20/10s", &recent, at(100_500));
        let mut all: Vec<f64> = (86..=100).map(|second| second as f64).collect();
        let new = start(&mut rate, 40).await;
        all.extend(new.iter().map(|after| 100.5 + after.as_secs_f64()));
        for (first, at) in all.iter().enumerate() {
            let in_span = all[first..].iter().take_while(|t| **t < at + 10.0);
            assert!(in_span.count() <= 20, "from {at}: {all:?}");
        }
        assert!(new[0] < Duration::from_millis(1_100), "{:?}", new[0]);
    }

    #[tokio::test(start_paused = true)]
    async fn three_processes_one_after_the_other_keep_to_one_limit() {
        let began = Instant::now();
        let wall_clock = || at(1_000_000 + began.elapsed().as_millis() as i64);
        let mut all: Vec<Duration> = Vec::new();
        for requests in [9, 9, 9] {
            let seconds = all.iter().map(|at| 1_000 + at.as_secs() as i64);
            let mut rate = limited("20/10s", &counted(seconds), wall_clock());
            let before = began.elapsed();
            let new = start(&mut rate, requests).await;
            all.extend(new.into_iter().map(|after| before + after));
        }
        for (first, at) in all.iter().enumerate() {
            let span = *at + Duration::from_secs(10);
            assert!(all[first..].iter().take_while(|t| **t < span).count() <= 20);
        }
        // Evenly spread all the while, but for a second at each beginning.
        assert!(all[26] < Duration::from_secs(17), "{all:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_an_earlier_process_was_asked_for_is_obeyed_to_its_end() {
        let asked = |until| RecentUse {
            starts: Vec::new(),
            pause: Some(AskedPause {
                until: at(until),
                http_status: 429,
            }),
        };
        let mut rate = limited("20/s", &asked(700_000), at(100_000));
        let (_, why) = rate.pause_at_start.unwrap();
        assert_eq!(why, ErrorCode::Http(429));
        assert_eq!(start(&mut rate, 1).await, [Duration::from_secs(600)]);
        let mut rate = limited("20/s", &asked(100_000), at(100_000));
        assert_eq!(rate.pause_at_start, None);
        assert_eq!(start(&mut rate, 1).await, [Duration::ZERO]);
    }

    #[tokio::test(start_paused = true)]
    async fn starts_recorded_in_the_future_count_as_made_now() {
        let recent = counted([5_000, 5_001].into_iter());
        let mut rate = limited("2/10s", &recent, at(100_000));
        let new = start(&mut rate, 1).await;
        let expected = Duration::from_millis(11_100);
        assert!(
            new[0].abs_diff(expected) < Duration::from_millis(10),
            "{new:?}"
        );
    }
}
