//! How many requests may be in flight: as given, or as many as the service carries.
//!
//! Rule: pure; time is passed in. A *round* judges one limit. It begins with the first answer to a
//! request that was started under it, one latency after it changed at the earliest, and ends with
//! as many answers as the limit, after a tenth of a second at the earliest. Its rate is the limit
//! over the mean latency, by Little's law, and not counted: answers come in volleys.
//!
//! **`auto`** climbs by throughput. It tries the limit that it keeps, at first one, times a factor.
//! A try that pays is kept, and the factor tried again; else what is kept is measured again, and the
//! next factor tried. When none pays, it rests for half a minute or until the rate halves; then it
//! tries fewer requests, since a queue gains nothing, and more again. Nothing grows in a round in
//! which it was mostly not the limit that bound.
//!
//! **Refusals**, and lost answers under `auto`, count by their share in the round: the limit
//! becomes that share of it which was answered well, at least 0.7; a try must pay all the same. Up
//! to one in twenty only end the doubling: a service that refuses one in fifty anyway would end up
//! with one request. A given number shrinks on refusals alone, and comes back.

use std::time::Duration;

use tokio::time::Instant;

use super::ConcurrencyChoice;

/// More would hardly be faster anywhere.
const MOST: f64 = 512.0;
const SHORTEST_ROUND: Duration = Duration::from_millis(100);
/// Those before `DOUBLING` are used once each; `FINER` follows on refusals and on `LESS`.
const FACTORS: [f64; 6] = [4.0, 4.0, 2.0, 1.4, 1.2, 0.75];
const DOUBLING: usize = 2;
const FINER: usize = 3;
const LESS: usize = 5;
/// More pays if the rate gains this share of what the limit grew by, …
const GAIN: f64 = 0.5;
/// … and less if it loses at most this share of what the limit shrank by.
const LOSS: f64 = 0.2;
const REST: Duration = Duration::from_secs(30);
const LEAST_LEFT: f64 = 0.7;
const AS_GOOD_AS_ALL: f64 = 0.95;
/// Up to this many in flight, one that takes so long and so many latencies does not count.
const FEW: f64 = 16.0;
const STUCK: Duration = Duration::from_secs(1);
const STUCK_LATENCIES: u32 = 8;
const MAX_STUCK: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Concurrency {
    limit: f64,
    most: f64,
    adapts: bool,
    changed: Option<Instant>,
    round: Round,
    kept: f64,
    /// Of what is kept; none until more was tried: the very first answers say too little.
    rate: f64,
    factor: usize,
}

#[derive(Debug, Default)]
struct Round {
    begun: Option<Instant>,
    answers: u32,
    full: u32,
    good: u32,
    good_seconds: f64,
}

impl Concurrency {
    /// Never goes beyond `most`, whatever is chosen.
    pub(super) fn new(choice: ConcurrencyChoice, most: usize) -> Concurrency {
        let most = most as f64;
        let given = match choice {
            ConcurrencyChoice::Auto => None,
            ConcurrencyChoice::Fixed(given) => Some(most.min(given.get() as f64)),
        };
        let limit = given.unwrap_or(1.0);
        Concurrency {
            limit,
            most: given.unwrap_or(MOST.min(most)),
            adapts: given.is_none(),
            kept: limit,
            ..Concurrency::default()
        }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit.round() as usize
    }

    /// Where `auto` needs few, a request that gets no answer for long must not hold up the others.
    pub(super) fn limit_beside(&self, out: impl Iterator<Item = Instant>, now: Instant) -> usize {
        let patience = STUCK.max(self.kept_latency() * STUCK_LATENCIES);
        let stuck = out.filter(|started| now - *started > patience);
        let is_few = self.adapts && self.limit <= FEW;
        let stuck = stuck.take(if is_few { MAX_STUCK } else { 0 }).count();
        (self.limit() + stuck).min(self.most as usize)
    }

    fn kept_latency(&self) -> Duration {
        Duration::try_from_secs_f64(self.kept / self.rate).unwrap_or_default()
    }

    /// `full`: it was the limit that let no other one start. `good`: the answer is about its row.
    pub(super) fn answered(&mut self, started: Instant, now: Instant, full: bool, good: bool) {
        if self.adapts || good {
            self.count(started, now, full, good);
        }
    }

    pub(super) fn refused(&mut self, started: Instant, now: Instant) {
        self.count(started, now, false, false);
    }

    fn count(&mut self, started: Instant, now: Instant, full: bool, good: bool) {
        let (latency, round) = (self.kept_latency(), &mut self.round);
        let is_old = |changed| started < changed || now < changed + latency;
        // Once a round has begun, old answers count: else the slow ones would be missed.
        if (round.begun.is_none() || !good) && self.changed.is_some_and(is_old) {
            return;
        }
        let begun = *round.begun.get_or_insert(now);
        round.answers += 1;
        round.full += u32::from(full);
        if good {
            round.good += 1;
            round.good_seconds += (now - started).as_secs_f64();
        }
        let before = self.limit.round();
        if f64::from(round.answers) < before || now - begun < SHORTEST_ROUND {
            return;
        }
        let round = std::mem::take(round);
        self.limit = self.next_limit(&round, now);
        if self.limit.round() != before {
            self.changed = Some(now);
        }
    }

    fn next_limit(&mut self, round: &Round, now: Instant) -> f64 {
        let share = f64::from(round.good) / f64::from(round.answers);
        let mean = round.good_seconds.max(f64::EPSILON) / f64::from(round.good.max(1));
        let (rate, grown) = (self.limit * share / mean, self.limit / self.kept - 1.0);
        let is_refused = share < AS_GOOD_AS_ALL;
        let least = if is_refused { LEAST_LEFT } else { 1.0 };
        let left = (self.limit * share.max(least)).round();
        self.factor = self.factor.max(if share < 1.0 { FINER } else { 0 });
        if is_refused && grown <= 0.0 {
            (self.kept, self.factor) = (left, FINER);
            return left;
        }
        if !self.adapts {
            self.kept = (self.limit + self.limit.sqrt()).min(self.most);
            return self.kept;
        }
        if round.full * 2 < round.answers {
            return if is_refused { self.turn() } else { self.limit };
        }
        if grown != 0.0 {
            let worth = 1.0 + grown * if grown > 0.0 { GAIN } else { LOSS };
            if rate < self.rate * worth {
                return self.turn();
            }
            (self.kept, self.rate) = (left, rate);
            self.factor += usize::from(self.factor < DOUBLING);
        } else if self.factor == LESS && self.changed.is_some_and(|at| now < at + REST) {
            self.changed = self.changed.filter(|_| rate > self.rate / 2.0);
            return left;
        } else if self.factor > 0 {
            self.rate = rate;
        }
        let step = self.kept * (FACTORS[self.factor] - 1.0);
        let next = (self.kept + step.abs().ceil().copysign(step)).clamp(1.0, self.most);
        if is_refused || next == self.kept {
            return self.turn();
        }
        next
    }

    /// Back to what is kept, and on to the next factor.
    fn turn(&mut self) -> f64 {
        let is_last = self.factor == LESS;
        self.factor = if is_last { FINER } else { self.factor + 1 };
        self.kept
    }
}

#[cfg(test)]
#[path = "concurrency_tests.rs"]
mod tests;
