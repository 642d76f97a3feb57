//! When the next request may start: one limiter for the whole run.
//!
//! Every attempt passes it, and a start is the hand-over to the HTTP client. Two things work
//! together:
//!
//! - governor spaces the starts evenly at the slowest of the rates. Where the spaces are short, a
//!   start that came late may be made up for by at most [`BURST`] at once, so that the rate is used
//!   though timers are coarse;
//! - a request may start only if the start N requests before it is at least a span ago, so that
//!   no span of a rate's length, wherever it begins, has more than N starts. governor with a burst
//!   does not guarantee that.
//!
//! Both keep to spans that are a hundredth longer than asked for ([`SLACK`]): a request that is
//! delayed on its way and one that is not must not end up in one span at the service.
//!
//! The rates may change at any time. Starts are remembered whatever the rates were, so that new
//! ones hold from their first moment for the spans that began before it; and the space before the
//! next start is the new one, counted from the last start.
//!
//! Apart from rates, the service may ask for a pause, which holds all requests.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::Quota;
use governor::clock::{Clock, FakeRelativeClock};
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{InMemoryState, NotKeyed};
use jiff::Timestamp;
use tokio::time::Instant;

use crate::ledger::StartsInSecond;
use crate::rate::Rate;

/// How many starts may follow each other without a space after one came late.
const BURST: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

/// From this space on a start that comes late, by a millisecond or two, costs less
/// than a hundredth of the rate, and nothing is made up for.
const WIDE_SPACE: Duration = Duration::from_millis(200);

const SLACK: f64 = 1.01;

/// How many starts are remembered though no present rate needs them: later ones may. Half a
/// minute at full speed, in half a megabyte.
const REMEMBERED: usize = 32_768;

/// Where on its clock a limiter begins: starts of earlier processes lie before that, as far
/// back as the longest span of any rate, a day.
const BEGIN: Duration = Duration::from_secs(2 * 24 * 3600);

/// Its clock is moved on by hand, so that it can learn of starts after the fact, and tests need
/// not wait.
type Limiter =
    governor::RateLimiter<NotKeyed, InMemoryState, FakeRelativeClock, NoOpMiddleware<Nanos>>;

#[derive(Debug)]
pub struct RateLimiter {
    origin: Instant,
    rates: Vec<Rate>,
    spacer: Option<Spacer>,
    /// The last starts, on a clock that shows [`BEGIN`] at the origin.
    starts: VecDeque<Duration>,
    held_until: Option<Instant>,
}

impl RateLimiter {
    /// A limiter for all of `rates` at once; for none, only pauses are obeyed.
    pub fn new(rates: &[Rate]) -> RateLimiter {
        RateLimiter {
            origin: Instant::now(),
            rates: rates.to_vec(),
            spacer: Spacer::new(rates, None),
            starts: VecDeque::new(),
            held_until: None,
        }
    }

    /// Counts what earlier processes have started, in order of time, seen from `now`: the
    /// rates apply to that too. It is counted by the second, and may have left at the end of
    /// it; if the clock was set back, now.
    pub(super) fn resume(&mut self, earlier: &[StartsInSecond], now: Timestamp) {
        let needed = self.remembered();
        for starts in earlier.iter().rev() {
            let Ok(second) = Timestamp::from_second(starts.second) else {
                continue;
            };
            let age = now.duration_since(second.min(now)).unsigned_abs();
            let at = (BEGIN + Duration::from_secs(1)).saturating_sub(age);
            for _ in 0..starts.requests {
                if self.starts.len() == needed {
                    break;
                }
                self.starts.push_front(at);
            }
        }
        self.spacer = Spacer::new(&self.rates, self.starts.back().copied());
    }

    /// From now on these rates apply, also to the starts already made. Returns whether they
    /// are others than before.
    pub fn set_limits(&mut self, rates: &[Rate]) -> bool {
        if self.rates == rates {
            return false;
        }
        self.rates = rates.to_vec();
        self.spacer = Spacer::new(rates, self.starts.back().copied());
        true
    }

    /// Starts a request now, or says when to ask again. A request that may start
    /// is counted as started. Time never goes back.
    pub(super) fn try_start(&mut self, now: Instant) -> Result<(), Instant> {
        if let Some(held_until) = self.held_until {
            if now < held_until {
                return Err(held_until);
            }
            self.held_until = None;
        }
        let elapsed = BEGIN + (now - self.origin);
        let free_at = self.rates.iter().map(|rate| self.free_at(*rate)).max();
        let free_at = free_at.unwrap_or_default();
        if elapsed < free_at {
            return Err(self.origin + (free_at - BEGIN));
        }
        if let Some(spacer) = &self.spacer {
            spacer.check(elapsed).map_err(|wait| now + wait)?;
        }
        self.note(elapsed);
        Ok(())
    }

    /// From when on one more start is one of N in the span of the rate that ends with it.
    fn free_at(&self, rate: Rate) -> Duration {
        let nth_last = self.starts.len().checked_sub(rate.requests.get() as usize);
        let start = nth_last.and_then(|nth_last| self.starts.get(nth_last));
        start.map_or(Duration::ZERO, |start| *start + rate.per.mul_f64(SLACK))
    }

    fn note(&mut self, at: Duration) {
        while self.starts.len() >= self.remembered() {
            self.starts.pop_front();
        }
        self.starts.push_back(at);
    }

    fn remembered(&self) -> usize {
        let needed = self.rates.iter().map(|rate| rate.requests.get() as usize);
        needed.max().unwrap_or_default().max(REMEMBERED)
    }

    /// Lets nothing start before `until`, unless a longer pause is on already.
    pub fn hold(&mut self, until: Instant) {
        self.held_until = self.held_until.max(Some(until));
    }

    pub fn held_until(&self) -> Option<Instant> {
        self.held_until.filter(|until| Instant::now() < *until)
    }
}

#[derive(Debug)]
struct Spacer {
    limiter: Limiter,
    clock: FakeRelativeClock,
}

impl Spacer {
    /// For the slowest of the rates, as if `last` was the last of many starts: nothing
    /// is made up for across a change of rates.
    fn new(rates: &[Rate], last: Option<Duration>) -> Option<Spacer> {
        let space = rates
            .iter()
            .map(|rate| rate.per.mul_f64(SLACK) / rate.requests.get())
            .max()?;
        let mut quota = Quota::with_period(space)?;
        if space < WIDE_SPACE {
            quota = quota.allow_burst(BURST);
        }
        let clock = FakeRelativeClock::default();
        clock.advance(last.unwrap_or(BEGIN));
        let spacer = Spacer {
            limiter: governor::RateLimiter::direct_with_clock(quota, clock.clone()),
            clock,
        };
        match last {
            Some(last) => while spacer.check(last).is_ok() {},
            // Nothing has come late yet: two at once at the beginning would, with the hole
            // that the limit for the span then makes, go on for ever.
            None if space < WIDE_SPACE => drop(spacer.check(BEGIN)),
            None => {}
        }
        Some(spacer)
    }

    fn check(&self, at: Duration) -> Result<(), Duration> {
        let shown = Duration::from(self.clock.now());
        self.clock.advance(at.saturating_sub(shown));
        self.limiter.check().map_err(|not_yet| {
            let wait = not_yet.wait_time_from(at.into());
            wait.max(Duration::from_micros(1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    /// The times at which `count` requests start when each starts as soon as it may
    /// and every wake-up comes late by what `lateness` says.
    async fn starts(
        rates: &[Rate],
        count: usize,
        lateness: impl Fn(usize) -> Duration,
    ) -> Vec<Duration> {
        let mut limiter = RateLimiter::new(rates);
        let origin = Instant::now();
        let mut starts = Vec::new();
        while starts.len() < count {
            match limiter.try_start(Instant::now()) {
                Ok(()) => starts.push(origin.elapsed()),
                Err(when) => tokio::time::sleep_until(when + lateness(starts.len())).await,
            }
        }
        starts
    }

    fn most_in_any(span: Duration, starts: &[Duration]) -> usize {
        let in_span_from = |first: usize| {
            starts[first..]
                .iter()
                .take_while(|at| **at < starts[first] + span)
                .count()
        };
        (0..starts.len()).map(in_span_from).max().unwrap_or(0)
    }

    #[tokio::test(start_paused = true)]
    async fn several_rates_hold_at_once_in_every_span() {
        let rates = [rate("20/10s"), rate("100/min"), rate("5/s")];
        let starts = starts(&rates, 400, |_| Duration::ZERO).await;
        assert!(most_in_any(Duration::from_secs(10), &starts) <= 20);
        assert!(most_in_any(Duration::from_secs(60), &starts) <= 100);
        assert!(most_in_any(Duration::from_secs(1), &starts) <= 5);
        let last = starts[399].as_secs_f64();
        assert!(last < 399.0 * 0.6 / 0.98, "{last}");
    }

    #[tokio::test(start_paused = true)]
    async fn coarse_timers_cost_less_than_two_percent_of_a_fast_rate() {
        let starts = starts(&[rate("100/s")], 3000, |i| {
            Duration::from_micros(i as u64 % 7 * 300)
        })
        .await;
        assert!(most_in_any(Duration::from_secs(1), &starts) <= 100);
        let seconds = starts[2999].as_secs_f64();
        assert!(seconds <= 30.0 / 0.98, "{seconds}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_holds_all_requests_and_a_shorter_one_does_not_end_it() {
        let mut limiter = RateLimiter::new(&[]);
        assert_eq!(limiter.try_start(Instant::now()), Ok(()));
        let until = Instant::now() + Duration::from_secs(37);
        limiter.hold(until);
        limiter.hold(Instant::now() + Duration::from_secs(1));
        assert_eq!(limiter.held_until(), Some(until));
        assert_eq!(limiter.try_start(Instant::now()), Err(until));
        tokio::time::advance(Duration::from_secs(37)).await;
        assert_eq!(limiter.try_start(Instant::now()), Ok(()));
        assert_eq!(limiter.held_until(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn idle_time_does_not_allow_a_burst() {
        let mut limiter = RateLimiter::new(&[rate("10/s")]);
        tokio::time::advance(Duration::from_secs(60)).await;
        let at_once = (0..20)
            .filter(|_| limiter.try_start(Instant::now()).is_ok())
            .count();
        assert_eq!(at_once, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_rate_is_spread_evenly_from_the_first_request_on() {
        let starts = starts(&[rate("20/10s")], 60, |_| Duration::from_millis(1)).await;
        let spaces = starts.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(
            spaces
                .clone()
                .all(|space| space >= Duration::from_millis(500))
        );
        let seconds = starts[59].as_secs_f64();
        assert!(seconds <= 59.0 * 0.5 / 0.98, "{seconds}");
    }

    proptest! {
        #[test]
        fn no_span_ever_holds_more_than_allowed(
            requests in 1u32..30,
            millis in 10u64..5000,
            late in prop::collection::vec(0u64..50, 1..20),
        ) {
            let rate = Rate { requests: NonZeroU32::new(requests).unwrap(), per: Duration::from_millis(millis) };
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .unwrap();
            let starts = runtime.block_on(starts(&[rate], 150, |i| Duration::from_millis(late[i % late.len()])));
            prop_assert!(most_in_any(rate.per, &starts) <= requests as usize);
        }
    }

    /// Starts as fast as allowed until `end`; every wake-up comes late.
    fn start_until(
        limiter: &mut RateLimiter,
        now: &mut Instant,
        end: Instant,
        late: Duration,
    ) -> Vec<Instant> {
        let mut starts = Vec::new();
        while *now < end {
            match limiter.try_start(*now) {
                Ok(()) => starts.push(*now),
                Err(when) => *now = when + late,
            }
        }
        starts
    }

    #[test]
    fn a_new_limit_counts_starts_made_before_it() {
        let mut limiter = RateLimiter::new(&[]);
        let origin = Instant::now();
        for i in 0..30 {
            assert_eq!(limiter.try_start(origin + Duration::from_millis(i)), Ok(()));
        }
        limiter.set_limits(&[rate("20/10s")]);
        let now = origin + Duration::from_millis(100);
        let when = limiter.try_start(now).unwrap_err();
        // The eleventh must be out of the span for one more to be the twentieth.
        let expected = Duration::from_millis(10_110);
        let waited = when - origin;
        assert!(
            waited.abs_diff(expected) < Duration::from_millis(2),
            "{waited:?}"
        );
    }

    #[test]
    fn a_changed_rate_lets_no_request_start_early() {
        let mut limiter = RateLimiter::new(&[rate("100/s")]);
        let mut now = Instant::now();
        let end = now + Duration::from_secs(2);
        let mut last = start_until(&mut limiter, &mut now, end, Duration::ZERO).pop();
        for requests in [99, 101, 50, 3] {
            limiter.set_limits(&[Rate::per_second(requests)]);
            while let Err(when) = limiter.try_start(now) {
                now = when;
            }
            let space = now - last.replace(now).unwrap();
            assert!(
                space >= Duration::from_secs(1) / requests,
                "{requests}/s: {space:?}"
            );
        }
    }

    #[test]
    fn changing_the_rate_every_second_does_not_lower_it() {
        let mut limiter = RateLimiter::new(&[]);
        let mut now = Instant::now();
        let mut count = 0;
        for second in 0..60 {
            limiter.set_limits(&[Rate::per_second(100 + second % 2)]);
            let end = now + Duration::from_secs(1);
            count += start_until(&mut limiter, &mut now, end, Duration::from_millis(1)).len();
        }
        assert!(count >= 60 * 98, "{count}");
    }

    #[test]
    fn without_limits_only_starts_that_may_be_needed_are_kept() {
        let mut limiter = RateLimiter::new(&[]);
        let now = Instant::now();
        for _ in 0..REMEMBERED + 10 {
            limiter.try_start(now).unwrap();
        }
        assert_eq!(limiter.starts.len(), REMEMBERED);
    }

    proptest! {
        #[test]
        fn whatever_the_changes_every_start_keeps_the_limits_of_its_time(
            stretches in prop::collection::vec(
                (prop::collection::vec((1u32..40, 50u64..3000), 0..3), 1u64..4000),
                1..12,
            ),
            late in 0u64..30,
        ) {
            let mut limiter = RateLimiter::new(&[]);
            let mut now = Instant::now();
            let mut starts: Vec<Instant> = Vec::new();
            for (rates, millis) in stretches {
                let rates: Vec<Rate> = rates
                    .into_iter()
                    .map(|(requests, millis)| Rate {
                        requests: NonZeroU32::new(requests).unwrap(),
                        per: Duration::from_millis(millis),
                    })
                    .collect();
                limiter.set_limits(&rates);
                let end = now + Duration::from_millis(millis);
                if rates.is_empty() {
                    // As fast as the network is.
                    while now < end {
                        prop_assert_eq!(limiter.try_start(now), Ok(()));
                        starts.push(now);
                        now += Duration::from_millis(10);
                    }
                    continue;
                }
                let before = starts.len();
                starts.extend(start_until(&mut limiter, &mut now, end, Duration::from_millis(late)));
                for last in before..starts.len() {
                    for rate in &rates {
                        let from = starts[..=last].partition_point(|at| *at + rate.per <= starts[last]);
                        prop_assert!(last + 1 - from <= rate.requests.get() as usize);
                    }
                }
            }
        }
    }
}
