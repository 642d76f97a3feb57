//! Whether refusals have to do with the pace at all.
//!
//! Rule: pure; time is passed in. A limit refuses what goes beyond it. So two samples are compared: the
//! answers since a first refusal, and those at a pace no faster than what was taken meanwhile, all
//! waits included. If a limit was the reason, hardly anything is refused there. If the same share is
//! refused, by the likelihoods of the two, a slower pace does not help: they come by chance. Those of a
//! limit also depend on the answer before, since a wait has passed or a window is used up; those that
//! come by chance do not.
//!
//! The pace waits for the second sample to be large enough, and then goes back to where it was, which may
//! be no limit at all. What was found holds as long as neither more nor fewer are refused than then, and
//! refusals do not depend on the answer before: a limit shows itself once the pace is above it.

use tokio::time::Instant;

use crate::event::ByChance;
use crate::rate::Rate;

/// So many refusals make a sample.
const ENOUGH: f64 = 3.0;
/// Where it is not sure after so many at the slower pace, the first sample was too small, and another
/// one is taken.
const MANY: f64 = 8.0;
/// The second pace may be that much faster than what was taken.
const ABOUT: f64 = 1.03;
/// It need not be slower than this share of that.
const LESS: f64 = 0.7;
/// A limit refuses at most this share of what it refused at the pace before.
const LIMITED: f64 = 0.25;
/// The odds of being refused differ by as much where they depend on the answer before, …
const DEPENDS: f64 = 4.0;
/// … or where more is refused than by chance, or less.
const EXCESS: f64 = 3.0;
/// How much more likely one explanation must be than the other, as a logarithm: fifty times.
const CERTAIN: f64 = 4.0;
/// `CERTAIN` where more is refused at the slower pace: something has changed meanwhile.
const OTHER: f64 = 2.0;
/// `CERTAIN` for answers that depend on the one before, or two samples that are not alike.
const UNCLEAR: f64 = 1.0;
/// `CERTAIN` before what was found is given up: it is asked at each answer of hours, and a new comparison
/// costs minutes.
const AT_LAST: f64 = 16.0;

#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    answers: f64,
    refused: f64,
}

/// Two samples that are compared.
#[derive(Debug)]
struct Trial {
    /// The pace before the first refusal; infinite if there was no limit.
    from: f64,
    /// Since when the present sample is taken.
    since: Instant,
    before: Sample,
    /// The most that was taken a second meanwhile, all waits included.
    taken: f64,
    /// The slower pace, once it was reached, and its sample.
    slow: Option<(f64, Sample)>,
    sequence: Sequence,
}

/// The answers after one that was taken, and after a refusal.
#[derive(Debug, Default)]
struct Sequence {
    after: [Sample; 2],
    was_refused: bool,
}

/// That refusals come by chance.
#[derive(Debug)]
struct Found {
    share: f64,
    /// How much more likely it is that more are refused by now, or fewer, as a logarithm.
    changed: [f64; 2],
    sequence: Sequence,
}

#[derive(Debug, Default)]
pub(super) struct Chance {
    trial: Option<Trial>,
    found: Option<Found>,
    was_found: bool,
    news: Option<ByChance>,
}

impl Chance {
    /// Whether refusals come by chance, as far as is known.
    pub(super) fn is_found(&self) -> bool {
        self.found.is_some()
    }

    /// What was found for the first time, once.
    pub(super) fn take_news(&mut self) -> Option<ByChance> {
        self.news.take()
    }

    pub(super) fn answered(&mut self, started: Instant, is_refused: bool) {
        if let Some(found) = &mut self.found {
            if found.is_over(is_refused) {
                self.found = None;
            }
        } else if let Some(trial) = &mut self.trial {
            trial.answered(started, is_refused);
        }
    }

    /// A wait is over, after which the pace would be `pace`, and was `from`; returns what it is to be.
    /// `is_new`: this refusal has nothing to do with the last one. `started`: when the first request
    /// after the wait was.
    pub(super) fn judge(&mut self, pace: f64, from: f64, is_new: bool, started: Instant) -> f64 {
        let Some(trial) = self.trial.as_mut().filter(|_| !is_new) else {
            self.trial = Some(Trial::new(from, started));
            return pace;
        };
        let Some((slow, now)) = trial.slow else {
            return trial.slow_down(pace, started);
        };
        let from = trial.from;
        let evidence = trial.evidence(now);
        let more = differs(trial.before, now, EXCESS);
        let depends = trial.sequence.depends();
        if evidence < -CERTAIN {
            self.trial = None;
            return pace;
        }
        if more.max(depends) > OTHER {
            // This may be chance too, so the comparison starts again, with the pace from before.
            *trial = Trial::new(from, started);
            return if self.was_found { from } else { pace };
        }
        if evidence < CERTAIN || now.refused < ENOUGH || depends > UNCLEAR {
            return pace.max(slow);
        }
        if more.max(differs(now, trial.before, EXCESS)) > UNCLEAR {
            if now.refused < MANY {
                return pace.max(slow);
            }
            *trial = Trial::new(from, started);
            return from;
        }
        let both = trial.before.and(now);
        if !std::mem::replace(&mut self.was_found, true) {
            let fastest = if from.is_finite() {
                from
            } else {
                trial.taken.max(slow)
            };
            self.news = Some(ByChance {
                before: (trial.before.share(), Rate::of_pace(fastest)),
                slower: (now.share(), Rate::of_pace(slow)),
            });
        }
        self.found = Some(Found {
            share: both.share(),
            changed: [0.0; 2],
            sequence: Sequence::default(),
        });
        self.trial = None;
        from
    }
}

impl Found {
    /// Takes an answer; returns whether this holds no longer.
    fn is_over(&mut self, is_refused: bool) -> bool {
        self.sequence.add(is_refused);
        let answer = Sample::default().with(is_refused);
        for (changed, times) in self.changed.iter_mut().zip([EXCESS, 1.0 / EXCESS]) {
            let other = times_odds(self.share, times);
            let likelier = answer.likelihood(other) - answer.likelihood(self.share);
            *changed = (*changed + likelier).max(0.0);
        }
        let [more, fewer] = self.changed;
        let depends = is_refused && self.sequence.depends() > AT_LAST;
        more.max(fewer) > AT_LAST || depends
    }
}

impl Trial {
    fn new(from: f64, since: Instant) -> Trial {
        Trial {
            from,
            since,
            before: Sample::default(),
            taken: 0.0,
            slow: None,
            sequence: Sequence::default(),
        }
    }

    fn answered(&mut self, started: Instant, is_refused: bool) {
        if started < self.since {
            return;
        }
        let slow = self.slow.as_mut().map(|(_, sample)| sample);
        let sample = slow.unwrap_or(&mut self.before);
        *sample = sample.with(is_refused);
        self.sequence.add(is_refused);
    }

    /// Begins the second sample where the pace is slow enough for any limit that explains the first.
    /// Returns the pace, which need not be slower.
    fn slow_down(&mut self, pace: f64, now: Instant) -> f64 {
        if self.before.refused < ENOUGH {
            return pace;
        }
        // With the one that ended the wait.
        let taken = self.before.answers - self.before.refused + 1.0;
        self.taken = self.taken.max(taken / (now - self.since).as_secs_f64());
        if pace > ABOUT * self.taken {
            return pace;
        }
        let pace = pace.max(LESS * self.taken).min(self.from);
        self.slow = Some((pace, Sample::default()));
        self.since = now;
        pace
    }

    /// By how much chance explains the second sample better than a limit, as a logarithm.
    fn evidence(&self, now: Sample) -> f64 {
        let share = self.before.and(now).share();
        now.likelihood(share) - now.likelihood(share * LIMITED)
    }
}

impl Sequence {
    fn add(&mut self, is_refused: bool) {
        let sample = &mut self.after[usize::from(self.was_refused)];
        *sample = sample.with(is_refused);
        self.was_refused = is_refused;
    }

    /// By how much it is more likely that an answer depends on the one before it, as a logarithm.
    fn depends(&self) -> f64 {
        let [taken, refused] = self.after;
        differs(taken, refused, DEPENDS).max(differs(refused, taken, DEPENDS))
    }
}

/// Whether two samples are explained better by odds that are so many times as high in the second.
fn differs(a: Sample, b: Sample, times: f64) -> f64 {
    let likelihood = |times: f64| {
        // The share in the first that fits both best.
        let (mut least, mut most) = (0.0, 1.0);
        for _ in 0..40 {
            let share = (least + most) / 2.0;
            let expected = a.answers * share + b.answers * times_odds(share, times);
            match expected < a.refused + b.refused {
                true => least = share,
                false => most = share,
            }
        }
        let share = least.clamp(1e-6, 1.0 - 1e-6);
        a.likelihood(share) + b.likelihood(times_odds(share, times))
    };
    likelihood(times) - likelihood(1.0)
}

impl Sample {
    fn with(self, is_refused: bool) -> Sample {
        Sample {
            answers: self.answers + 1.0,
            refused: self.refused + f64::from(u8::from(is_refused)),
        }
    }

    fn and(self, other: Sample) -> Sample {
        Sample {
            answers: self.answers + other.answers,
            refused: self.refused + other.refused,
        }
    }

    /// The share that is refused; never none or all, of which a sample is no proof.
    fn share(self) -> f64 {
        (self.refused + 0.5) / (self.answers + 1.0)
    }

    /// How likely the sample is if this share is refused, as a logarithm.
    fn likelihood(self, share: f64) -> f64 {
        self.refused * share.ln() + (self.answers - self.refused) * (1.0 - share).ln()
    }
}

/// The share whose odds are so many times as high.
fn times_odds(share: f64, times: f64) -> f64 {
    let odds = times * share / (1.0 - share);
    odds / (1.0 + odds)
}
