//! A pace that is found by trying, by CUBIC (RFC 9438), which the AWS SDKs use for client-side rate
//! limiting too; here with requests in place of seconds.
//!
//! Rule: pure; time is passed in. [`rate_controller`](super::rate_controller) explains the rules.
//! The numbers were chosen in simulation, over the limits of `limit_tests`.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::by_chance::Chance;
use crate::rate::AUTO_START;

pub(super) const START: f64 = AUTO_START.pace();
/// While nothing is known, the pace doubles in so many requests, at first in 45 seconds.
const DOUBLING: f64 = 75.0;
/// No pace is lower, in requests a second.
const LEAST: f64 = 1.0 / 60.0;

/// No pace is felt that is faster.
const FASTEST: f64 = 10_000.0;

/// After a refusal the pace falls this share below what was taken: with a smaller step the next
/// request would often be refused too, since latencies vary.
const FALL: f64 = 0.03;
/// The share that the pace keeps after a short wait.
const STEEP: f64 = 0.85;
/// It is back after so many requests, so that refusals are less than a hundredth of them, and after
/// so many seconds, as a wait takes about one. The first time it is a share of that: while the pace
/// doubled, little could be measured.
const PLATEAU: f64 = 300.0;
const PLATEAU_S: f64 = 40.0;
const FIRST: f64 = 0.4;
/// Below this pace each request counts as several: a bad minute must not cost hours.
const SLOW: f64 = START / 2.0;

/// A pace is proven when nothing was refused for this share of the plateau. It is tried again within
/// so many requests, once one that is so many times lower is proven.
const PROVEN: f64 = 0.2;
const LOWER: f64 = 1.1;
const MEMORY: f64 = 1000.0;

/// A refusal has to do with the last one if it comes within so many requests, and follows closely on it
/// within so many.
const SOON: f64 = 200.0;
const RARE: f64 = 20.0;

/// Where fewer were taken between refusals, nothing follows from them.
const FEW: f64 = 3.0;

/// Two refusals that are no further apart are no accident.
const LATELY: Duration = Duration::from_secs(600);
/// Fewer answers say nothing of a pace.
const EVIDENCE: usize = 5;
/// How many answers are remembered: of more in a minute, the last ten seconds say enough.
const REMEMBERED: usize = 16_384;

/// Services count in such spans; they are this much longer here, since an answer takes its time.
const SECOND: Duration = Duration::from_secs(1);
const TEN_SECONDS: Duration = Duration::from_secs(10);
const MINUTE: Duration = Duration::from_secs(60);
const LONGER: f64 = 1.005;
/// A burst that ends with a shorter wait says little of what is taken in the long run.
const SHORT: Duration = Duration::from_secs(2);
/// What asks for a longer wait is a cap on the hour or the day: it is reached at any pace.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub(super) struct Cubic {
    /// The pace does not grow beyond it.
    pub(super) most: f64,
    /// What the service takes, as far as is known, in requests a second; infinite at first.
    top: f64,
    /// Nothing was learned yet: the pace doubles, and is a guess.
    pub(super) doubles: bool,
    /// How many requests it takes from a refusal until the curve is back at `top`.
    plateau: f64,
    /// Requests since the last refusal that waited for nothing but the pace.
    quiet: f64,
    /// Requests since the beginning that waited for nothing but the pace.
    sent: f64,
    /// The highest pace that was proven, and when, as `sent` counts.
    proven: (f64, f64),
    /// How many times longer than at first a lower pace must hold before that one is tried.
    patience: f64,
    pub(super) chance: Chance,
    /// The first refusal that came soon after another one, with only such refusals since.
    close_since: Option<Instant>,
    /// What was taken in a minute when the last refusal came.
    in_minute: f64,
    refusal: Option<Refusal>,
    last_refusal: Option<Instant>,
    /// When the first request after the last wait started: a window opened then.
    window_from: Instant,
    /// When answers came that were no refusals, the newest first.
    answers: VecDeque<Instant>,
}

/// All refusals up to the first answer to a request that started after the wait: one event.
#[derive(Debug)]
struct Refusal {
    since: Instant,
    /// Nothing starts before.
    until: Instant,
    /// When the latest of them came.
    last: Instant,
    /// When the service takes more again: as it says, or when a minute ends.
    over: Option<Instant>,
}

impl Cubic {
    pub(super) fn new(pace: f64, is_guess: bool, now: Instant) -> Cubic {
        let is_known = !is_guess && pace.is_finite();
        Cubic {
            most: f64::INFINITY,
            top: pace,
            doubles: is_guess,
            plateau: PLATEAU,
            quiet: PLATEAU,
            sent: 0.0,
            proven: (if is_known { pace } else { 0.0 }, 0.0),
            patience: 1.0,
            chance: Chance::default(),
            close_since: None,
            in_minute: 0.0,
            refusal: None,
            last_refusal: None,
            window_from: now,
            answers: VecDeque::new(),
        }
    }

    /// Requests a second; `None` if there is no limit.
    pub(super) fn pace(&self) -> Option<f64> {
        let way = if self.doubles {
            0.0
        } else {
            self.quiet / self.plateau - 1.0
        };
        let pace = self.top.min(self.most) * (1.0 + FALL * way.powi(3));
        self.top.is_finite().then(|| pace.min(self.most).max(LEAST))
    }

    /// What the service is believed to take; at the foot of the curve the pace is lower.
    pub(super) fn believed(&self) -> Option<f64> {
        Some(self.pace()?.max(self.top.min(self.most)))
    }

    /// There is no limit to find while another one is stricter.
    pub(super) fn forget(&mut self) {
        if self.refusal.is_none() {
            (self.top, self.doubles) = (f64::INFINITY, false);
        }
    }

    /// A request has started that waited for nothing but this pace.
    pub(super) fn used(&mut self) {
        let most = self.most.min(FASTEST);
        if self.refusal.is_some() || self.pace().is_none_or(|pace| pace >= most) {
            return;
        }
        if self.doubles {
            self.top *= DOUBLING.recip().exp2();
            return;
        }
        let weight = (SLOW / self.top).max(1.0);
        self.quiet += weight;
        self.sent += weight;
        let is_now = |enough: f64| (enough..enough + weight).contains(&self.quiet);
        let enough = self.plateau * PROVEN;
        let (is_proven, may_try) = (is_now(enough), is_now(enough * self.patience));
        if !is_proven && !may_try {
            return;
        }
        let proven = self.prove(self.top);
        if proven <= self.top {
            self.patience = 1.0;
        } else if may_try && proven > LOWER * self.top {
            self.patience *= 2.0;
            self.begin(proven);
        }
    }

    /// The service has taken as much. Returns the most that it has taken lately.
    fn prove(&mut self, pace: f64) -> f64 {
        let (proven, at) = self.proven;
        if proven <= pace || self.sent - at > MEMORY {
            self.proven = (pace, self.sent);
        }
        self.proven.0
    }

    pub(super) fn begin(&mut self, pace: f64) {
        self.top = pace.max(LEAST);
        self.plateau = PLATEAU.max(PLATEAU_S * self.top);
        self.quiet = 0.0;
    }

    pub(super) fn accepted(&mut self, started: Instant, now: Instant) {
        if let Some(refusal) = self.refusal.take_if(|refusal| started >= refusal.until) {
            let last = self.last_refusal;
            let is_lately = last.is_some_and(|last| refusal.since - last < LATELY);
            // Where no pace was found yet, one alone may be an accident.
            let is_window = self.most.is_infinite() && refusal.until - refusal.since > TEN_SECONDS;
            let teaches = self.top.is_finite() || is_lately || is_window;
            if teaches && !self.chance.is_found() && self.answers.len() >= EVIDENCE {
                self.learn(&refusal, started);
            }
            self.last_refusal = Some(refusal.since);
            self.window_from = started;
        }
        self.chance.answered(started, false);
        self.answers.push_front(now);
        self.answers.truncate(REMEMBERED);
    }

    /// An answer that asks to come back later; nothing starts before `until`.
    pub(super) fn refused(&mut self, started: Instant, until: Instant, hinted: bool, now: Instant) {
        if started < self.window_from || until - now > LONGEST_WAIT {
            return;
        }
        let first = self.refusal.as_ref();
        self.refusal = Some(Refusal {
            since: first.map_or(now, |first| first.since),
            until: first.map_or(until, |first| first.until.max(until)),
            last: now,
            over: if hinted {
                Some(until)
            } else {
                first.and_then(|first| first.over).or(self.minute_end(now))
            },
        });
    }

    fn learn(&mut self, refusal: &Refusal, started: Instant) {
        // Without a hint only the last refusal is sure, and the end of a minute.
        let over = refusal.over.filter(|over| *over <= started);
        let end = over.unwrap_or(refusal.last);
        let is_short = end - refusal.since <= SHORT;
        let before = self.believed().unwrap_or(self.most);
        let was_unknown = self.top.is_infinite() || self.doubles;
        // A stated wait is rounded up to whole seconds.
        let sure = end.checked_sub(SECOND).unwrap_or(end);
        let mut taken = self.taken_until(sure.max(refusal.since), refusal.since);
        let is_new = was_unknown || !is_short || self.quiet >= SOON;
        if let Some(between) = self.taken_between(refusal.since, is_new, before) {
            taken = between;
        } else if is_short {
            // The last second too, from answer to answer.
            let last = self.answers.front().copied().unwrap_or(end);
            let least = if was_unknown { START } else { STEEP * before };
            let last_second = self.accepted_within(SECOND, last) - 1.0;
            taken = taken.max(last_second).max(least);
        }
        if self.top.is_infinite() && before.is_finite() {
            // The limit that is set.
            self.prove(before);
        }
        self.doubles = before.is_infinite() && is_short;
        let taken = taken.min(before);
        let has_begun = was_unknown || self.quiet >= SOON;
        let pace = self.chance.judge(taken, before, has_begun, started);
        self.begin(pace.min(self.most));
        // As if nothing had been refused.
        self.doubles |= self.chance.is_found();
        if !is_short {
            // A window has been used up.
            self.prove(taken);
        } else if was_unknown {
            self.plateau *= FIRST;
        }
    }

    /// What was taken between refusals that follow closely on each other; `None` up to the second.
    fn taken_between(&mut self, now: Instant, is_new: bool, before: f64) -> Option<f64> {
        let in_minute = self.accepted_within(MINUTE.mul_f64(LONGER), now);
        let is_window = (in_minute - self.in_minute).abs() <= 1.0;
        self.in_minute = in_minute;
        let gap = now - self.last_refusal.unwrap_or(now);
        let is_close = !is_new && self.quiet < RARE && self.accepted_within(gap, now) < SOON;
        let since = self.close_since.filter(|_| is_close);
        self.close_since = is_close.then(|| since.unwrap_or(now));
        let span = now - since?;
        let taken = self.accepted_within(span, now);
        if taken < FEW {
            return None;
        }
        if is_window {
            // A window slides, and is used up again and again, though not evenly yet.
            self.prove(before.min(in_minute / 60.0));
        }
        Some((taken / span.as_secs_f64()).max(before / 2.0))
    }

    /// The next end of a minute. After the third, what is refused is no matter of minutes.
    pub(super) fn minute_end(&self, now: Instant) -> Option<Instant> {
        let minute = MINUTE.mul_f64(LONGER);
        let mut ends = (1..=3).map(|minutes| self.window_from + minute * minutes);
        ends.find(|end| *end > now)
    }

    /// The most that was accepted in one of the spans that end then, in requests a second. Where
    /// the wait was longer than a minute, so is the window.
    fn taken_until(&self, end: Instant, since: Instant) -> f64 {
        let longest = MINUTE + (end - since);
        let window = (end - self.window_from).clamp(TEN_SECONDS, longest);
        let spans = [TEN_SECONDS, window, MINUTE].map(|span| {
            let seen = span.mul_f64(LONGER);
            self.accepted_within(seen, end) / seen.as_secs_f64()
        });
        spans.into_iter().fold(0.0, f64::max)
    }

    fn accepted_within(&self, span: Duration, end: Instant) -> f64 {
        let within = |at: &&Instant| **at <= end && end - **at <= span;
        self.answers.iter().filter(within).count() as f64
    }
}
