//! When the next request may start: one pacer for the whole run.
//!
//! Every attempt passes it, first or repeated, and a start is the hand-over to
//! the HTTP client. Two things work together:
//!
//! - governor spaces the starts evenly at the slowest of the rates given. Where
//!   the spaces are short, a start that came late may be made up for by at most
//!   [`BURST`] at once, so that the rate is used though timers are coarse;
//! - for each rate a ring of its last N start times makes sure that no span of
//!   its length, wherever it begins, holds more than N starts. governor alone
//!   cannot: with a burst of two, N+1 fit into an unlucky span.
//!
//! Both keep to spans that are a hundredth longer than asked for ([`SLACK`]): a
//! request that is delayed on its way and one that is not must not end up in one
//! span at the service.
//!
//! Apart from rates, the service may ask for a pause, which holds everybody.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::time::Instant;

use crate::rate::Rate;

/// How many starts may follow each other without a space after one came late.
const BURST: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

/// From this space on a start that comes late, by a millisecond or two, costs less
/// than a hundredth of the rate, and nothing is made up for.
const WIDE_SPACE: Duration = Duration::from_millis(200);

/// By how much the spans are longer than asked for.
const SLACK: f64 = 1.01;

/// Tokio's clock as governor wants it, so that tests can stop it.
#[derive(Debug, Clone)]
struct TokioClock {
    origin: Instant,
}

impl Clock for TokioClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.origin.elapsed()
    }
}

type Spacer = RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<Duration>>;

/// Decides when requests start.
#[derive(Debug)]
pub struct Pacer {
    origin: Instant,
    spacer: Option<(Spacer, TokioClock)>,
    rings: Vec<Ring>,
    held_until: Option<Instant>,
}

impl Pacer {
    /// A pacer for all of `rates` at once; for none, only pauses are obeyed.
    pub fn new(rates: &[Rate]) -> Pacer {
        let origin = Instant::now();
        let clock = TokioClock { origin };
        let spacer = rates
            .iter()
            .map(|rate| rate.per.mul_f64(SLACK) / rate.requests.get())
            .max()
            .and_then(|space| {
                let quota = Quota::with_period(space)?;
                Some(match space < WIDE_SPACE {
                    true => quota.allow_burst(BURST),
                    false => quota,
                })
            })
            .map(|quota| (RateLimiter::direct_with_clock(quota, clock.clone()), clock));
        Pacer {
            origin,
            spacer,
            rings: rates.iter().map(|rate| Ring::new(*rate)).collect(),
            held_until: None,
        }
    }

    /// Starts a request now, or says when to ask again. A request that may start
    /// is counted as started.
    pub fn try_start(&mut self) -> Result<(), Instant> {
        let now = Instant::now();
        if let Some(held_until) = self.held_until {
            if now < held_until {
                return Err(held_until);
            }
            self.held_until = None;
        }
        let elapsed = now - self.origin;
        let free_at = self
            .rings
            .iter()
            .map(Ring::free_at)
            .max()
            .unwrap_or_default();
        if elapsed < free_at {
            return Err(self.origin + free_at);
        }
        if let Some((spacer, clock)) = &self.spacer
            && let Err(not_yet) = spacer.check()
        {
            return Err(now
                + not_yet
                    .wait_time_from(clock.now())
                    .max(Duration::from_micros(1)));
        }
        for ring in &mut self.rings {
            ring.start(elapsed);
        }
        Ok(())
    }

    /// Lets nothing start before `until`, unless a longer pause is on already.
    pub fn hold(&mut self, until: Instant) {
        self.held_until = self.held_until.max(Some(until));
    }

    /// Until when nothing starts because the service asked for a pause.
    pub fn held_until(&self) -> Option<Instant> {
        self.held_until.filter(|until| Instant::now() < *until)
    }
}

/// The last N starts under one rate.
#[derive(Debug)]
struct Ring {
    starts: VecDeque<Duration>,
    most: usize,
    span: Duration,
}

impl Ring {
    fn new(rate: Rate) -> Ring {
        Ring {
            starts: VecDeque::new(),
            most: rate.requests.get() as usize,
            span: rate.per.mul_f64(SLACK),
        }
    }

    /// From when on one more start keeps every span honest.
    fn free_at(&self) -> Duration {
        match self.starts.front() {
            Some(oldest) if self.starts.len() == self.most => *oldest + self.span,
            _ => Duration::ZERO,
        }
    }

    fn start(&mut self, at: Duration) {
        if self.starts.len() == self.most {
            self.starts.pop_front();
        }
        self.starts.push_back(at);
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
        let mut pacer = Pacer::new(rates);
        let origin = Instant::now();
        let mut starts = Vec::new();
        while starts.len() < count {
            match pacer.try_start() {
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
    async fn a_pause_holds_everybody_and_a_shorter_one_does_not_end_it() {
        let mut pacer = Pacer::new(&[]);
        assert_eq!(pacer.try_start(), Ok(()));
        let until = Instant::now() + Duration::from_secs(37);
        pacer.hold(until);
        pacer.hold(Instant::now() + Duration::from_secs(1));
        assert_eq!(pacer.held_until(), Some(until));
        assert_eq!(pacer.try_start(), Err(until));
        tokio::time::advance(Duration::from_secs(37)).await;
        assert_eq!(pacer.try_start(), Ok(()));
        assert_eq!(pacer.held_until(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_saved_up_while_nothing_is_to_be_sent() {
        let mut pacer = Pacer::new(&[rate("10/s")]);
        tokio::time::advance(Duration::from_secs(60)).await;
        let at_once = (0..20).filter(|_| pacer.try_start().is_ok()).count();
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
}
