//! When the next request may start: one limiter for the whole run.
//!
//! - For services that are leaky buckets, governor keeps the distance between two starts: that of
//!   the slowest limit. Timers are coarse: a start that is late by a tolerance at most counts as on
//!   time; a later one is not made up for.
//! - For those that count in windows, a request may start only if the start N requests before it is
//!   at least a span ago.
//!
//! Limits may change at any time. Starts are remembered whatever the limits were, so that new ones
//! hold from their first moment. The service may also ask for a pause, which holds all requests.

use std::collections::VecDeque;
use std::iter::repeat_n;
use std::time::Duration;

use governor::clock::{Clock, FakeRelativeClock};
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{InMemoryState, NotKeyed};
use jiff::Timestamp;
use tokio::time::Instant;

use super::reserved_starts::ReservedStarts;
use crate::clock::Slept;
use crate::ledger::shared_pace::NEWS_HOLD;
use crate::ledger::{StartsInSecond, is_of_wrong_clock};
use crate::rate::Rate;
use crate::simulation::{Fault, is_planted};

/// Nothing is made up for where the distance is as wide as this: a start that comes late by a
/// millisecond or two costs less than a hundredth of the rate.
const WIDE: Duration = Duration::from_millis(200);
/// The tolerance where the pace was found by trying: what timers are late by. A leaky bucket
/// refuses two starts that are closer together.
const TIMERS: Duration = Duration::from_millis(2);
/// Starts that are remembered for later rates: half a minute at full speed, in half a megabyte.
const REMEMBERED: usize = 32_768;
/// What the clock shows at the origin: starts of earlier processes lie up to a day before that.
const BEGIN: Duration = Duration::from_secs(2 * 24 * 3600);

/// Its clock is moved by hand: it must learn of starts after the fact.
type Governor =
    governor::RateLimiter<NotKeyed, InMemoryState, FakeRelativeClock, NoOpMiddleware<Nanos>>;

#[derive(Debug)]
pub(super) struct RateLimiter {
    origin: Instant,
    rates: Vec<Rate>,
    /// Requests a second, found by trying; kept to beside the rates.
    found: Option<f64>,
    governor: Option<Governor>,
    space: Duration,
    tolerance: Duration,
    /// When the last start was due, or when it was, if that was too late.
    last: Option<Duration>,
    /// The newest first.
    starts: VecDeque<Duration>,
    held_until: Option<Instant>,
    slept: Slept,
    /// Start times that are reserved here, where all runs of a service share them.
    reserved: Option<ReservedStarts>,
    /// When the ledger has last said what all runs share; `None` where nothing is shared.
    news_at: Option<Instant>,
    /// Whether something may be new of it, so that nothing starts before the ledger has been asked.
    pub(super) wants_news: bool,
}

impl RateLimiter {
    pub(super) fn new() -> RateLimiter {
        RateLimiter {
            origin: Instant::now(),
            rates: Vec::new(),
            found: None,
            governor: None,
            space: Duration::ZERO,
            tolerance: Duration::ZERO,
            last: None,
            starts: VecDeque::new(),
            held_until: None,
            slept: Slept::default(),
            reserved: None,
            news_at: None,
            wants_news: false,
        }
    }

    /// Counts what earlier processes have started, in order of time, seen from `now`; each as made
    /// at the end of its second. A time a little in the future (the clock was set back) counts as now.
    pub(super) fn resume(&mut self, earlier: &[StartsInSecond], now: Timestamp) {
        let at = |second| Timestamp::from_second(second).unwrap_or(now);
        let earlier = earlier.iter().rev();
        let earlier = earlier.filter(|starts| !is_of_wrong_clock(at(starts.second), now));
        let starts = earlier.flat_map(|starts| {
            let age = now
                .duration_since(at(starts.second).min(now))
                .unsigned_abs();
            let at = (BEGIN + Duration::from_secs(1)).saturating_sub(age);
            repeat_n(at, starts.requests as usize)
        });
        self.starts.extend(starts.take(self.remembered()));
        self.keep_distance();
    }

    pub(super) fn set_limits(&mut self, rates: &[Rate], found: Option<f64>) {
        if self.rates != rates || self.found != found {
            self.rates = rates.to_vec();
            self.found = found;
            self.keep_distance();
        }
    }

    /// Keeps the distance of the slowest limit, from the last start on.
    fn keep_distance(&mut self) {
        let of = |rate: &Rate| rate.kept_span() / rate.requests.get();
        let given = self.rates.iter().map(of).max().unwrap_or_default();
        let found = self.found.map(|pace| Duration::from_secs_f64(1.0 / pace));
        self.space = given.max(found.unwrap_or_default());
        self.tolerance = match self.space {
            space if space > given => TIMERS,
            space if space < WIDE => space,
            _ => Duration::ZERO,
        };
        let quota = governor::Quota::with_period(self.space);
        let clock = FakeRelativeClock::default();
        self.governor = quota.map(|quota| Governor::direct_with_clock(quota, clock));
        let newest = self.starts.front().copied();
        let in_time = |last: &Duration| newest.is_some_and(|newest| newest <= *last + TIMERS);
        if let Some(last) = self.last.take().filter(in_time).or(newest) {
            // A new governor has room for one.
            let _ = self.check(last);
        }
    }

    /// Counts a request as started, or says when to ask again. Time never goes back.
    pub(super) fn try_start(&mut self, now: Instant) -> Result<(), Instant> {
        self.slept.bring_nearer([&mut self.held_until]);
        if let Some(held_until) = self.held_until.filter(|until| now < *until) {
            return Err(held_until);
        }
        let elapsed = BEGIN + (now - self.origin);
        // When one more start is one of N in the span that ends with it.
        let free = self.rates.iter().filter_map(|rate| {
            let more = usize::from(is_planted(Fault::PastThePace));
            let nth_last = self.starts.get(rate.requests.get() as usize - 1 + more)?;
            Some(*nth_last + rate.kept_span())
        });
        if let Some(free_at) = free.max().filter(|free_at| elapsed < *free_at) {
            return Err(self.origin + (free_at - BEGIN));
        }
        if self.news_at.is_some_and(|at| at + NEWS_HOLD < now) {
            self.wants_news = true;
            return Err(now + NEWS_HOLD);
        }
        match &mut self.reserved {
            None => self.check(elapsed).map_err(|wait| now + wait)?,
            Some(reserved) => {
                // Reserved times are far enough apart for every limit, but not for what this
                // run has found by itself.
                let own = self.last.map(|last| last + self.space);
                let is_slower = self
                    .found
                    .is_some_and(|pace| self.space == Duration::from_secs_f64(1.0 / pace));
                if let Some(due) = own.filter(|due| is_slower && elapsed < *due) {
                    return Err(self.origin + (due - BEGIN));
                }
                reserved.is_due(now)?;
                reserved.take();
                self.last = Some(elapsed);
            }
        }
        self.starts.push_front(elapsed);
        self.starts.truncate(self.remembered());
        Ok(())
    }

    /// Takes a start at this time, or says how much too early it is.
    fn check(&mut self, at: Duration) -> Result<(), Duration> {
        let in_time = |due: &Duration| *due <= at && at <= *due + self.tolerance;
        let due = self.last.map(|last| last + self.space);
        let counts_as = due.filter(in_time).unwrap_or(at);
        if let Some(governor) = &self.governor {
            let clock = governor.clock();
            clock.advance(counts_as.saturating_sub(clock.now().into()));
            governor.check().map_err(|not_yet| {
                let wait = not_yet.wait_time_from(at.into());
                wait.max(Duration::from_micros(1))
            })?;
        }
        self.last = Some(counts_as);
        Ok(())
    }

    /// Whether a run has a limit that all share, and the start times that were reserved here.
    pub(super) fn share(&mut self, is_paced: bool, starts: Vec<Instant>) {
        self.news_at = Some(Instant::now());
        if is_paced {
            self.reserved.get_or_insert_default().add(starts);
        } else if self.reserved.take().is_some() {
            self.keep_distance();
        }
    }

    /// How far apart start times are to be reserved, if more are needed soon.
    pub(super) fn wanted_spacing(&mut self) -> Option<Duration> {
        let is_wanted = self.reserved.as_mut().is_some_and(ReservedStarts::ask);
        is_wanted.then_some(self.space)
    }

    /// How far apart starts are, unless more have started before.
    pub(super) fn space(&self) -> Duration {
        self.space
    }

    fn remembered(&self) -> usize {
        let needed = self.rates.iter().map(|rate| rate.requests.get() as usize);
        needed.max().unwrap_or_default().max(REMEMBERED)
    }

    /// Lets nothing start before `until`, unless a longer pause is on already. The time that the
    /// computer sleeps is part of it.
    pub(super) fn hold(&mut self, until: Instant) {
        self.slept.bring_nearer([&mut self.held_until]);
        self.held_until = self.held_until.max(Some(until));
    }

    pub(super) fn held_until(&self) -> Option<Instant> {
        self.held_until.filter(|until| Instant::now() < *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::num::NonZeroU32;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    fn limited(rates: &[Rate]) -> RateLimiter {
        let mut limiter = RateLimiter::new();
        limiter.set_limits(rates, None);
        limiter
    }

    /// The times at which `count` requests start when each starts as soon as it may
    /// and every wake-up comes late by what `lateness` says.
    async fn starts(
        rates: &[Rate],
        count: usize,
        lateness: impl Fn(usize) -> Duration,
    ) -> Vec<Duration> {
        let mut limiter = limited(rates);
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
        let mut limiter = RateLimiter::new();
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
    async fn a_pause_goes_on_while_the_computer_sleeps() {
        let mut limiter = RateLimiter::new();
        let now = Instant::now();
        crate::clock::testing::sleep(Duration::from_secs(7200));
        limiter.hold(now + Duration::from_secs(3600));
        crate::clock::testing::sleep(Duration::from_secs(3000));
        let until = now + Duration::from_secs(600);
        assert_eq!(limiter.try_start(now), Err(until));
        crate::clock::testing::sleep(Duration::from_secs(7200));
        assert_eq!(limiter.try_start(now), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn idle_time_does_not_allow_a_burst() {
        let mut limiter = limited(&[rate("10/s")]);
        tokio::time::advance(Duration::from_secs(60)).await;
        let at_once = (0..20)
            .filter(|_| limiter.try_start(Instant::now()).is_ok())
            .count();
        assert_eq!(at_once, 1);
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
    fn a_pace_that_was_found_keeps_its_distance_whatever_came_late() {
        let mut limiter = RateLimiter::new();
        limiter.set_limits(&[], Some(10.0));
        let mut now = Instant::now();
        limiter.try_start(now).unwrap();
        for late in [0, 1, 30, 0, 2, 99, 0, 250, 0, 1, 0] {
            let last = now;
            let due = limiter.try_start(now).unwrap_err();
            assert!(due - last >= Duration::from_millis(98), "{:?}", due - last);
            now = due + Duration::from_millis(late);
            limiter.try_start(now).unwrap();
        }
    }

    #[test]
    fn a_new_limit_counts_starts_made_before_it() {
        let mut limiter = RateLimiter::new();
        let origin = Instant::now();
        for i in 0..30 {
            assert_eq!(limiter.try_start(origin + Duration::from_millis(i)), Ok(()));
        }
        limiter.set_limits(&[rate("20/10s")], None);
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
        let mut limiter = limited(&[rate("100/s")]);
        let mut now = Instant::now();
        let end = now + Duration::from_secs(2);
        let mut last = start_until(&mut limiter, &mut now, end, Duration::ZERO).pop();
        for requests in [99, 101, 50, 3] {
            limiter.set_limits(&[Rate::per_second(requests)], None);
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
        let mut limiter = RateLimiter::new();
        let mut now = Instant::now();
        let mut count = 0;
        for second in 0..60 {
            limiter.set_limits(&[Rate::per_second(100 + second % 2)], None);
            let end = now + Duration::from_secs(1);
            count += start_until(&mut limiter, &mut now, end, Duration::from_millis(1)).len();
        }
        assert!(count >= 60 * 98, "{count}");
    }

    #[test]
    fn without_limits_only_starts_that_may_be_needed_are_kept() {
        let mut limiter = RateLimiter::new();
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
            let mut limiter = RateLimiter::new();
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
                limiter.set_limits(&rates, None);
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
