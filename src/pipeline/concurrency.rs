//! How many requests may be in flight: as given, or as many as the service carries.
//!
//! Rule: pure; time is passed in. A *round* judges one limit. It begins with the first answer to a
//! request that was started under it, and ends with as many answers as the limit, a tenth of a
//! second and nearly one latency at the earliest.
//!
//! **Startup** (`auto` only), from one: the limit doubles with each round (the first two steps are
//! of four) while the rate of good answers grows by 60 % of what the limit grew by, as in BBR's
//! startup (Cardwell et al., 2016), with one second look. When the latency is half as much again
//! as the least, startup ends at once. What is kept is the least limit that gave 95 % of the best
//! rate. The rate is the limit over the mean latency, by Little's law, and not counted: answers
//! come in volleys, one latency apart.
//!
//! **Afterwards** increase is by addition and decrease by a factor (Chiu and Jain, 1989), by
//! latency as in TCP Vegas (Brakmo and Peterson, 1995):
//!
//! | mean latency of the round | limit |
//! |-|-|
//! | up to 1.1 × base | plus its root |
//! | up to 1.25 × base | plus one |
//! | up to 2 × base | stays |
//! | more | × 0.9 |
//!
//! The base is the least mean of a round. But the service may have become slower for good, and
//! then it is not our requests that wait for each other. What tells the two apart is whether fewer
//! of them are any faster: when the limit has shrunk to 0.7 of what it was, and where it stays for
//! half a minute, by a round with half of it. If they are not, the base is what is seen now; if
//! they are, the limit shrinks, since a queue gains nothing. A base that drifted up by itself would
//! take the limit with it, without end.
//!
//! **Refusals**, and lost answers under `auto`, count by their share in the round: the limit
//! becomes that share of it which was answered well, at least 0.7. Any ends the startup, but up to
//! one in twenty is otherwise left to the pauses and the pace: a service that refuses one in fifty
//! whatever happens would otherwise end up with one request at a time. This applies to a given
//! number too, which has no startup and ignores latency; the limit returns to it.
//!
//! Nothing grows in a round in which it was mostly not the limit that bound.

use std::time::Duration;

use tokio::time::Instant;

use super::ConcurrencyChoice;

/// `auto` goes no further: each request in flight is a connection, and a process may have
/// about a thousand files open.
const MOST: usize = 512;

const SHORTEST_ROUND: Duration = Duration::from_millis(100);

/// The share of a latency that counts as one: a volley that comes a moment early must not
/// cost another.
const NEARLY_ONE: f64 = 0.9;

const MIN_LATENCY: f64 = 1e-6;

const VERY_FEW: f64 = 4.0;

/// Startup continues while the rate gains this share of what the limit grew by.
const WORTH_IT: f64 = 0.6;

/// This share of the best rate is as good as the best.
const AS_GOOD: f64 = 0.95;

/// Up to this many base latencies there is room for many more.
const LOWEST: f64 = 1.1;

/// Up to this many there is room for more.
const LOW: f64 = 1.25;

/// This many end the startup.
const RISEN: f64 = 1.5;

/// From this many on there is too much.
const HIGH: f64 = 2.0;

/// What the limit is multiplied by when the latency is high.
const SHRUNK: f64 = 0.9;

/// How far it may shrink in all before it is checked whether that has helped.
const SHRUNK_IN_VAIN: f64 = 0.7;

/// It has not helped if the latency is still this share of what it was.
const AS_SLOW: f64 = 0.9;

/// The least that refusals leave of the limit in one round.
const REFUSED: f64 = 0.7;

/// This share of good answers is as good as all.
const MOSTLY: f64 = 0.95;

/// How long the limit stays where the latency is neither low nor high.
const PATIENCE: Duration = Duration::from_secs(30);

/// Then a round is tried with this share of it.
const PROBED: f64 = 0.5;

/// Up to this many in flight each one matters.
const FEW: usize = 16;

/// A request is stuck if it takes longer than this many base latencies, …
const STUCK_LATENCIES: f64 = 8.0;

/// … and longer than this; …
const SHORTEST_STUCK: Duration = Duration::from_secs(1);

/// … and up to this many are tolerated.
const MAX_STUCK: usize = 4;

#[derive(Debug)]
pub(super) struct Concurrency {
    limit: f64,
    most: f64,
    adapts: bool,
    startup: Option<Startup>,
    round: Round,
    since: Option<Instant>,
    base: f64,
    trial: Option<Trial>,
    /// Since when the latency is neither low nor high.
    undecided: Option<Instant>,
}

/// Whether fewer requests are any faster.
#[derive(Debug, Clone, Copy)]
struct Trial {
    limit: f64,
    mean: f64,
    /// For one round, after which the limit is what it was.
    is_probe: bool,
}

#[derive(Debug, Default)]
struct Startup {
    tried: Vec<(f64, f64)>,
    is_second_look: bool,
}

#[derive(Debug, Default)]
struct Round {
    begun: Option<Instant>,
    answers: u32,
    good: u32,
    full: u32,
    /// Of the good ones, in all.
    seconds: f64,
}

impl Concurrency {
    pub(super) fn new(choice: ConcurrencyChoice) -> Concurrency {
        let (limit, most, startup) = match choice {
            ConcurrencyChoice::Auto => (1, MOST, Some(Startup::default())),
            ConcurrencyChoice::Fixed(most) => (most.get(), most.get(), None),
        };
        Concurrency {
            limit: limit as f64,
            most: most as f64,
            adapts: startup.is_some(),
            startup,
            round: Round::default(),
            since: None,
            base: f64::INFINITY,
            trial: None,
            undecided: None,
        }
    }

    pub(super) fn limit(&self) -> usize {
        // At least one; the cast cuts the fraction off.
        self.limit as usize
    }

    /// How many may be in flight, given when those that are were started. Where `auto` needs
    /// few, a request that gets no answer for long must not hold up all others: it does not
    /// count, as long as there are not many such.
    pub(super) fn limit_beside(
        &self,
        started: impl Iterator<Item = Instant>,
        now: Instant,
    ) -> usize {
        let limit = self.limit();
        if !self.adapts || limit > FEW {
            return limit;
        }
        let usual = Duration::try_from_secs_f64(self.base * STUCK_LATENCIES);
        let patience = SHORTEST_STUCK.max(usual.unwrap_or(Duration::ZERO));
        let stuck = started.filter(|started| now - *started > patience);
        limit + stuck.take(MAX_STUCK).count()
    }

    /// An answer to a request. `was_full`: when it started, it was the limit that let no
    /// other one start. `is_good`: the answer is about its row.
    pub(super) fn answered(
        &mut self,
        started: Instant,
        now: Instant,
        was_full: bool,
        is_good: bool,
    ) {
        let is_old = self.since.is_some_and(|since| started < since);
        // A given number shrinks on refusals alone.
        if is_old || !(self.adapts || is_good) {
            return;
        }
        if self.round.begun.is_none() && is_good {
            self.round.begun = Some(now);
            return;
        }
        self.round.answers += 1;
        self.round.full += u32::from(was_full);
        if is_good {
            self.round.good += 1;
            self.round.seconds += (now - started).as_secs_f64();
        }
        self.end_round(now);
    }

    /// A request was refused for now. Those that started before the limit changed are no news.
    pub(super) fn refused(&mut self, started: Instant, now: Instant) {
        if self.since.is_some_and(|since| started < since) {
            return;
        }
        self.round.answers += 1;
        self.end_round(now);
    }

    fn end_round(&mut self, now: Instant) {
        let begun = *self.round.begun.get_or_insert(now);
        let elapsed = (now - begun).as_secs_f64();
        let mean = self.round.seconds / f64::from(self.round.good.max(1));
        let least = SHORTEST_ROUND.as_secs_f64().max(mean * NEARLY_ONE);
        if f64::from(self.round.answers) < self.limit.floor() || elapsed < least {
            return;
        }
        let round = std::mem::take(&mut self.round);
        let limit = self.judge(&round, mean, now).clamp(1.0, self.most);
        if limit.floor() != self.limit.floor() {
            self.since = Some(now);
        } else {
            self.round.begun = Some(now);
        }
        self.limit = limit;
    }

    fn judge(&mut self, round: &Round, mean: f64, now: Instant) -> f64 {
        let share = f64::from(round.good) / f64::from(round.answers);
        if share < MOSTLY {
            self.startup = None;
            self.trial = None;
            return self.limit * share.max(REFUSED);
        }
        let binds = round.full * 2 >= round.answers;
        if !self.adapts {
            return self.limit + self.limit.sqrt();
        }
        self.base = self.base.min(mean);
        if round.good < round.answers {
            // With the pauses in it, its rate says nothing of the limit.
            self.startup = None;
        }
        match &mut self.startup {
            Some(_) if !binds => self.limit,
            Some(startup) => {
                startup
                    .tried
                    .push((self.limit, self.limit / mean.max(MIN_LATENCY)));
                let factor = match mean / self.base {
                    ..=LOWEST if self.limit <= VERY_FEW => 4.0,
                    _ => 2.0,
                };
                let next = if mean > RISEN * self.base || self.limit >= self.most {
                    None
                } else {
                    startup.next(self.limit, factor)
                };
                if let Some(next) = next {
                    return next;
                }
                let best = startup.best();
                self.startup = None;
                best
            }
            None => self.steady(mean, binds, now),
        }
    }

    fn steady(&mut self, mean: f64, binds: bool, now: Instant) -> f64 {
        if let Some(trial) = self.trial.filter(|trial| trial.is_probe) {
            self.trial = None;
            return if self.learn_from(trial, mean) {
                trial.limit
            } else {
                // They wait for each other, and a queue gains nothing.
                trial.limit * SHRUNK
            };
        }
        if mean <= LOW * self.base {
            self.trial = None;
            self.undecided = None;
            return match binds {
                false => self.limit,
                true if mean <= LOWEST * self.base => self.limit + self.limit.sqrt(),
                true => self.limit + 1.0,
            };
        }
        let before = Trial {
            limit: self.limit,
            mean,
            is_probe: false,
        };
        if mean <= HIGH * self.base {
            self.trial = None;
            let since = *self.undecided.get_or_insert(now);
            if now < since + PATIENCE {
                return self.limit;
            }
            self.undecided = None;
            self.trial = Some(Trial {
                is_probe: true,
                ..before
            });
            return self.limit * PROBED;
        }
        self.undecided = None;
        let trial = *self.trial.get_or_insert(before);
        if self.limit > trial.limit * SHRUNK_IN_VAIN && self.limit >= 2.0 {
            return self.limit * SHRUNK;
        }
        self.trial = None;
        self.learn_from(trial, mean);
        self.limit
    }

    /// If fewer requests are as slow, that is how fast the service is.
    fn learn_from(&mut self, trial: Trial, mean: f64) -> bool {
        let is_as_slow = mean >= trial.mean * AS_SLOW;
        if is_as_slow {
            self.base = mean;
        }
        is_as_slow
    }
}

impl Startup {
    /// What to try after the last limit; nothing if more gives no more.
    fn next(&mut self, limit: f64, factor: f64) -> Option<f64> {
        let (_, rate) = *self.tried.last()?;
        let before = self.tried.iter().rev().find(|(tried, _)| *tried < limit);
        let is_worth_it = before.is_none_or(|(before, rate_before)| {
            let grown = (limit / before - 1.0) * WORTH_IT;
            rate >= rate_before * (1.0 + grown)
        });
        if is_worth_it {
            self.is_second_look = false;
            return Some(limit * factor);
        }
        if std::mem::replace(&mut self.is_second_look, true) {
            None
        } else {
            Some(limit)
        }
    }

    fn best(&self) -> f64 {
        let best = self.tried.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
        let good = self
            .tried
            .iter()
            .filter(|(_, rate)| *rate >= best * AS_GOOD);
        good.map(|(limit, _)| *limit).fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
#[path = "concurrency_tests.rs"]
mod tests;
