//! A pace that is found by trying, by CUBIC (RFC 9438), which the AWS SDKs use for client-side rate
//! limiting too; here with requests in place of seconds.
//!
//! Rule: pure; time is passed in. The rules stand at the head of
//! [`rate_controller`](super::rate_controller).

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// The numbers were chosen in simulation, over the limits of `limit_tests`.
struct Rules {
    /// `auto` starts at the only limit ever published, 100 a minute, …
    start: f64,
    /// … and doubles in so many requests, at first in 45 seconds.
    doubling: f64,
    /// After a refusal the pace falls this share below what was taken: with a smaller step the next
    /// request would often be refused too, since latencies vary.
    fall: f64,
    /// After a short wait little can be measured, and the pace keeps this share of itself.
    steep: f64,
    /// It is back after so many requests: one refusal, or a few at once, are less than a hundredth
    /// of them. A wait takes about a second, so it takes so many seconds too. The first time it is
    /// a share of that: while the pace doubled, little could be measured.
    plateau: f64,
    plateau_s: f64,
    first: f64,
    /// Below this pace each request counts as several: a bad minute must not cost hours.
    slow: f64,
    /// A pace is proven when nothing was refused for this share of the plateau. It is tried again
    /// where a proven one is so many times lower, within so many requests.
    proven: f64,
    lower: f64,
    memory: f64,
    /// Where more than so many refusals in a row each come sooner than after `soon` requests, on
    /// average not sooner than after `rare`, and no later than at first although the pace has fallen
    /// to the share `far`, they have nothing to do with it, and it goes up so many times.
    in_vain: f64,
    soon: f64,
    rare: f64,
    far: f64,
    up: f64,
    /// Two refusals that are no further apart are no accident.
    lately: Duration,
    /// Fewer answers say nothing of a pace.
    evidence: usize,
    /// Services count by ten seconds or by the minute. An answer takes its time, and a stated wait
    /// is in whole seconds: spans are this much longer, and waits as much too long.
    spans: [Duration; 2],
    slack: f64,
    rounding: Duration,
    /// A burst that ends with a shorter wait says little of what is taken in the long run.
    short: Duration,
    /// What asks for a longer wait is a cap on the hour or the day: it is reached at any pace.
    longest_wait: Duration,
}

const RULES: Rules = Rules {
    start: 100.0 / 60.0,
    doubling: 75.0,
    fall: 0.03,
    steep: 0.85,
    plateau: 300.0,
    plateau_s: 40.0,
    first: 0.4,
    slow: 50.0 / 60.0,
    proven: 0.2,
    lower: 1.1,
    memory: 1000.0,
    in_vain: 6.0,
    soon: 200.0,
    rare: 20.0,
    far: 0.85,
    up: 1.5,
    lately: Duration::from_secs(600),
    evidence: 5,
    spans: [Duration::from_secs(10), Duration::from_secs(60)],
    slack: 1.005,
    rounding: Duration::from_secs(1),
    short: Duration::from_secs(2),
    longest_wait: Duration::from_secs(300),
};

pub(super) const START: f64 = RULES.start;

/// No pace is lower, in requests a second.
const LEAST: f64 = 1.0 / 60.0;

/// How many answers are remembered: of more in a minute, the last ten seconds say enough.
const REMEMBERED: usize = 16_384;

#[derive(Debug)]
pub(super) struct Cubic {
    /// The pace does not grow beyond it.
    pub(super) most: f64,
    /// What the service takes, as far as is known, in requests a second; infinite at first.
    top: f64,
    /// Nothing was refused yet.
    pub(super) doubles: bool,
    plateau: f64,
    /// Requests since the last refusal that waited for nothing but the pace.
    quiet: f64,
    /// The same since the beginning.
    sent: f64,
    /// The highest pace that was proven, and when, as `sent` counts.
    proven: Option<(f64, f64)>,
    /// How many times longer than at first a lower pace must hold before that one is tried.
    patience: f64,
    /// Refusals in a row, each soon after the one before and with a short wait; the requests
    /// between them; and the pace at the first.
    falls: f64,
    between: f64,
    fell_from: f64,
    refusal: Option<Refusal>,
    last_refusal: Option<Instant>,
    /// When the first request after the last wait started: a window opened then.
    window_from: Instant,
    /// When answers came that were no refusals.
    answers: VecDeque<Instant>,
}

/// All refusals up to the first answer to a request that started after the wait: one event.
#[derive(Debug)]
struct Refusal {
    since: Instant,
    until: Instant,
    last: Instant,
    /// Whether the service said how long to wait.
    is_hinted: bool,
    /// The pace, or what the service took before, if that was more.
    before: f64,
    /// Where no pace was found yet, one alone may be an accident.
    teaches: bool,
}

impl Cubic {
    /// From a pace on that is known, or a guess.
    pub(super) fn new(pace: f64, is_guess: bool, now: Instant) -> Cubic {
        Cubic {
            most: f64::INFINITY,
            top: pace,
            doubles: is_guess,
            plateau: RULES.plateau,
            quiet: RULES.plateau,
            sent: 0.0,
            proven: (!is_guess && pace.is_finite()).then_some((pace, 0.0)),
            patience: 1.0,
            falls: 0.0,
            between: 0.0,
            fell_from: pace,
            refusal: None,
            last_refusal: None,
            window_from: now,
            answers: VecDeque::new(),
        }
    }

    /// Requests a second; `None` if there is no limit.
    pub(super) fn pace(&self) -> Option<f64> {
        let way = match self.doubles {
            true => 0.0,
            false => self.quiet / self.plateau - 1.0,
        };
        let pace = self.top.min(self.most) * (1.0 + RULES.fall * way.powi(3));
        self.top.is_finite().then(|| pace.min(self.most).max(LEAST))
    }

    /// What the service is believed to take: more than the pace at the foot of the curve.
    pub(super) fn believed(&self) -> Option<f64> {
        Some(self.pace()?.max(self.top.min(self.most)))
    }

    pub(super) fn is_refused(&self) -> bool {
        self.refusal.is_some()
    }

    /// There is no limit to find: another one is stricter.
    pub(super) fn forget(&mut self) {
        self.top = f64::INFINITY;
        self.doubles = false;
    }

    /// A request has started that waited for nothing but this pace.
    pub(super) fn used(&mut self) {
        if self.refusal.is_some() || self.pace().is_none_or(|pace| pace >= self.most) {
            return;
        }
        if self.doubles {
            self.top *= RULES.doubling.recip().exp2();
            return;
        }
        let before = self.quiet;
        let weight = (RULES.slow / self.top).max(1.0);
        self.quiet += weight;
        self.sent += weight;
        let is_now = |enough: f64| before < enough && self.quiet >= enough;
        let enough = self.plateau * RULES.proven;
        let (is_proven, may_try) = (is_now(enough), is_now(enough * self.patience));
        if is_proven || may_try {
            let proven = self.prove(self.top);
            if proven <= self.top {
                self.patience = 1.0;
            } else if may_try && proven > RULES.lower * self.top {
                self.patience *= 2.0;
                self.begin(proven);
            }
        }
    }

    /// The service has taken as much. Returns the most that it has taken lately.
    fn prove(&mut self, pace: f64) -> f64 {
        let is_kept = |(proven, at): &(f64, f64)| *proven > pace && self.sent - at <= RULES.memory;
        let proven = self.proven.filter(is_kept).unwrap_or((pace, self.sent));
        self.proven = Some(proven);
        proven.0
    }

    /// Begins the curve below this pace.
    fn begin(&mut self, pace: f64) {
        self.top = pace.max(LEAST);
        self.plateau = RULES.plateau.max(RULES.plateau_s * self.top);
        self.quiet = 0.0;
    }

    /// An answer about a row.
    pub(super) fn accepted(&mut self, started: Instant, now: Instant) {
        if let Some(refusal) = self.refusal.take_if(|refusal| started >= refusal.until) {
            if refusal.teaches && self.answers.len() >= RULES.evidence {
                self.learn(&refusal, started);
            }
            self.window_from = started;
        }
        if self.answers.len() == REMEMBERED {
            self.answers.pop_front();
        }
        self.answers.push_back(now);
    }

    /// An answer that asks to come back later; nothing starts before `until`.
    pub(super) fn refused(
        &mut self,
        started: Instant,
        until: Instant,
        is_hinted: bool,
        now: Instant,
    ) {
        if started < self.window_from || until - now > RULES.longest_wait {
            return;
        }
        let before = self.believed().unwrap_or(self.most);
        let refusal = match &mut self.refusal {
            Some(refusal) => refusal,
            none => {
                let last = self.last_refusal.replace(now);
                let is_lately = last.is_some_and(|last| now - last < RULES.lately);
                none.insert(Refusal {
                    since: now,
                    until,
                    last: now,
                    is_hinted,
                    before,
                    teaches: self.top.is_finite() || is_lately,
                })
            }
        };
        refusal.until = refusal.until.max(until);
        refusal.last = now;
        refusal.is_hinted = is_hinted;
    }

    /// Work goes on with a request that started then.
    fn learn(&mut self, refusal: &Refusal, started: Instant) {
        let end = self.end_of(refusal, started);
        let is_short = end - refusal.since <= RULES.short;
        let sure = end.checked_sub(RULES.rounding).unwrap_or(end);
        let mut taken = self.taken_until(sure.max(refusal.since));
        if is_short {
            taken = taken.max(self.taken_last());
        }
        let was_unknown = self.top.is_infinite() || self.doubles;
        if self.top.is_infinite() && self.most.is_finite() {
            self.prove(self.most);
        }
        self.doubles = refusal.before.is_infinite() && is_short;
        let least = if self.doubles {
            RULES.start
        } else if is_short && !was_unknown {
            RULES.steep * refusal.before
        } else {
            0.0
        };
        let pace = taken.max(least).min(refusal.before);
        let is_new = was_unknown || !is_short || self.quiet >= RULES.soon;
        let pace = self.up_if_by_chance(pace, is_new);
        self.begin(pace);
        if !is_short {
            // A window has been used up.
            self.prove(pace);
        } else if was_unknown {
            self.plateau *= RULES.first;
        }
    }

    /// When the wait was over. Without a hint only the last refusal is sure, and the end of a
    /// minute in which a window may have ended.
    fn end_of(&self, refusal: &Refusal, started: Instant) -> Instant {
        if refusal.is_hinted {
            return refusal.until;
        }
        let minute = refusal.last.checked_add(self.rest_of_minute(refusal.last));
        minute.filter(|end| *end <= started).unwrap_or(refusal.last)
    }

    /// The pace to which it falls; or a faster one, where it was slowed down in vain: a limit would
    /// refuse less often at a slower pace. `is_new`: this refusal has nothing to do with the last.
    fn up_if_by_chance(&mut self, pace: f64, is_new: bool) -> f64 {
        if is_new {
            (self.falls, self.between, self.fell_from) = (0.0, 0.0, pace);
        }
        self.falls += 1.0;
        self.between += self.quiet;
        let mean = self.between / self.falls;
        let is_as_often = mean >= RULES.rare && self.quiet <= 1.5 * mean;
        if !is_as_often || self.falls <= RULES.in_vain || pace >= RULES.far * self.fell_from {
            return pace;
        }
        let pace = self.fell_from * RULES.up;
        (self.falls, self.between, self.fell_from) = (0.0, 0.0, pace);
        pace
    }

    /// How long it is until a whole number of minutes has passed since the first request after
    /// the last wait: most windows are a minute long, and open with it. After the third minute
    /// it is no matter of minutes.
    pub(super) fn rest_of_minute(&self, now: Instant) -> Duration {
        let minute = RULES.spans[1].mul_f64(RULES.slack);
        let mut ends = (1..=3).map(|minutes| self.window_from + minute * minutes);
        let next = ends.find(|end| *end > now);
        next.map_or(Duration::MAX, |end| end - now)
    }

    /// The most that was accepted in one of the spans that end then, or since the window opened,
    /// in requests a second.
    fn taken_until(&self, end: Instant) -> f64 {
        let [shortest, longest] = RULES.spans;
        let window = (end - self.window_from).clamp(shortest, longest);
        let spans = [shortest, window, longest].map(|span| {
            let seen = span.mul_f64(RULES.slack);
            let within = |at: &&Instant| **at <= end && end - **at <= seen;
            self.answers.iter().filter(within).count() as f64 / seen.as_secs_f64()
        });
        spans.into_iter().fold(0.0, f64::max)
    }

    /// The same of the last second in which anything was accepted, or of ten answers if there
    /// were fewer.
    fn taken_last(&self) -> f64 {
        let mut answers = self.answers.iter().rev();
        let last = answers.next();
        let ages = answers.filter_map(|at| Some(*last? - *at)).zip(1..);
        let second = Duration::from_secs(1);
        let recent = ages.take_while(|(age, place)| *place <= 10 || *age <= second);
        let (age, answers) = recent.last().unwrap_or_default();
        f64::from(answers) / age.max(second).as_secs_f64()
    }
}
