//! What the answers so far say about the service: whether it is up, how many requests it
//! handles at once, and how fast; and so when the next request may start.
//!
//! The parts do not know each other: rate, concurrency, the waits that the service asks for,
//! and outages. Here each of them sees every answer, in the order that matters.

use std::time::Duration;

use tokio::time::Instant;

use super::attempt::{Epochs, Job};
use super::concurrency::Concurrency;
use super::in_flight::Flight;
use super::outage::{Away, Outage, Silence};
use super::throttle::{Throttle, wall_clock, wall_clock_ahead};
use super::{Policy, RateController};
use crate::api::Answer;
use crate::api::verdict::{LONGEST_WAIT, Verdict};
use crate::clock;
use crate::event::{Pause, RunEvent, Waiting};
use crate::lead::ErrorCode;
use crate::ledger::Reply;
use crate::stop::{Stop, StopReason};

pub(super) type Events<'a> = &'a mut dyn FnMut(RunEvent<'_>);

/// A wait that ends so shortly after the known one is the same: clocks differ.
const SAME_WAIT: Duration = Duration::from_secs(1);

pub(super) struct Service {
    pub(super) rate: RateController,
    pub(super) concurrency: Concurrency,
    pub(super) throttle: Throttle,
    pub(super) outage: Outage,
    /// When the next request may start, where it had to wait for the pace.
    pub(super) starts_at: Option<Instant>,
    /// Why the last attempt brought no answer, in our own words.
    silence: Option<String>,
    max_outage: Duration,
}

impl Service {
    pub(super) fn new(rate: RateController, policy: &Policy) -> Service {
        Service {
            rate,
            concurrency: Concurrency::new(policy.concurrency).at_most(policy.most_in_flight),
            throttle: Throttle::default(),
            outage: Outage::default(),
            starts_at: None,
            silence: None,
            max_outage: policy.max_outage,
        }
    }

    /// Continues a wait that the service asked of an earlier process.
    pub(super) fn resume_wait(&mut self, events: Events<'_>) {
        let Some((until, why)) = self.rate.pause_at_start else {
            return;
        };
        let now = Instant::now();
        self.outage.started(now);
        let wait = until - now;
        self.throttle.wait(until, Some(wait), why);
        events(RunEvent::Held { wait, why });
    }

    /// Counts a request as started and returns the time. If none may start, the error is when
    /// to ask again, `None` if only an answer can change that. `starts` are the start times
    /// of the requests in flight.
    pub(super) fn try_start(
        &mut self,
        mut starts: impl Iterator<Item = Instant>,
    ) -> Result<Instant, Option<Instant>> {
        self.throttle.count_sleep();
        self.starts_at = None;
        let away = self.outage.away;
        let probes = away.map_or(self.throttle.probe_at, |away| Some(away.began));
        if probes.is_some_and(|since| starts.any(|started| started >= since)) {
            return Err(None);
        }
        if let Some(away) = away
            && Instant::now() < away.next
        {
            return Err(Some(away.next));
        }
        let started = self.rate.try_start();
        self.starts_at = started.err();
        started.map_err(Some)
    }

    /// Takes what the runs of all machines share: the reserved start times, and the
    /// waits that the service asked one of them for.
    pub(super) fn share(&mut self, reply: Reply, events: Events<'_>) {
        self.rate.limiter.share(reply.is_paced, reply.starts);
        let Some(pause) = reply.pause else {
            return;
        };
        let Some(left) = pause.left(clock::now()) else {
            return;
        };
        let (now, wait) = (Instant::now(), left.min(LONGEST_WAIT));
        let is_known = |known: Instant| now + wait <= known + SAME_WAIT;
        if self.rate.limiter.held_until().is_some_and(is_known) {
            return;
        }
        let why = ErrorCode::Http(pause.http_status);
        self.outage.started(now);
        self.rate.limiter.hold(now + wait);
        self.throttle.wait(now + wait, Some(wait), why);
        events(RunEvent::Held { wait, why });
    }

    /// Takes what the answer says about the service, whatever it says about the row.
    /// `others_are_out`: other requests are in flight. Returns whether the service turns out
    /// to be away, so that the latest failures say nothing about their rows.
    pub(super) fn observe(
        &mut self,
        flight: &mut Flight,
        answer: &Answer,
        others_are_out: bool,
        epochs: &Epochs,
        events: Events<'_>,
    ) -> bool {
        let (now, started) = (Instant::now(), flight.started);
        let verdict = &answer.verdict;
        let mut went_away = false;
        let waits_alone = flight.job.own_wait(verdict, epochs).is_some();
        self.adapt(flight, verdict, now);
        self.learn_pace(started, answer, waits_alone, events);
        let away_since = match verdict {
            _ if verdict.is_about_row() => {
                let is_busy = others_are_out || self.throttle.probe_at.is_some_and(|at| now < at);
                self.outage.answered(started, is_busy, now)
            }
            Verdict::RetryLater { .. } | Verdict::TokenReplaced => {
                self.outage.is_there(started, now)
            }
            // Something answers, whatever it is. `stops` counts these.
            _ if answer.is_unreadable() && self.outage.away.is_none() => None,
            Verdict::PerhapsTaken { code, text } | Verdict::NeverTaken { code, text, .. } => {
                let has_answered = answer.http_status.is_some();
                self.silence = (!has_answered).then(|| text.clone());
                let may_be_taken = matches!(verdict, Verdict::PerhapsTaken { .. });
                let silence = Silence {
                    slot: flight.job.slot,
                    started,
                    may_be_the_rows: has_answered || may_be_taken,
                    why: *code,
                };
                went_away = self.record_silence(silence, &mut flight.job, epochs, events);
                None
            }
            _ => None,
        };
        if let Some(since) = away_since {
            let outage = now - since;
            events(RunEvent::Recovered { outage });
        }
        went_away
    }

    fn adapt(&mut self, flight: &Flight, verdict: &Verdict, now: Instant) {
        let started = flight.started;
        if let Verdict::RetryLater { .. } = verdict {
            self.concurrency.refused(started, now);
        } else {
            self.throttle.answered(started);
            let is_good = verdict.is_about_row();
            self.concurrency
                .answered(started, now, flight.was_full, is_good);
        }
    }

    fn learn_pace(
        &mut self,
        started: Instant,
        answer: &Answer,
        waits_alone: bool,
        events: Events<'_>,
    ) {
        let quota = answer.quota.as_ref();
        match &answer.verdict {
            verdict if verdict.is_about_row() => self.rate.accepted(started, quota),
            Verdict::RetryLater { .. } if waits_alone => self.rate.lost(started),
            Verdict::RetryLater { wait, code, .. } => {
                self.hold(*wait, *code, started, events);
                // A 503 is about the service itself: a slower pace would not have avoided it.
                if *code == ErrorCode::Http(429) {
                    self.rate.refused(started, quota, wait.is_some());
                } else {
                    self.rate.lost(started);
                }
            }
            _ => self.rate.lost(started),
        }
        if let Some(found) = self.rate.take_news() {
            events(RunEvent::RefusedByChance(found));
        }
    }

    fn hold(
        &mut self,
        hint: Option<Duration>,
        why: ErrorCode,
        started: Instant,
        events: Events<'_>,
    ) {
        let now = Instant::now();
        let chance = fastrand::f64();
        if let Some(wait) = self.throttle.refused(hint, started, now, chance) {
            let wait = hint.unwrap_or(wait.min(self.rate.longest_guess()));
            self.rate.limiter.hold(now + wait);
            self.throttle.wait(now + wait, hint, why);
            events(RunEvent::Held { wait, why });
        }
    }

    fn record_silence(
        &mut self,
        silence: Silence,
        job: &mut Job,
        epochs: &Epochs,
        events: Events<'_>,
    ) -> bool {
        let is_suspect = silence.may_be_the_rows && job.is_suspect(epochs);
        let was_certain = self.outage.certain().is_some();
        if self.outage.away.is_none() && (is_suspect || self.outage.excuses(silence.started)) {
            return false;
        }
        let now = Instant::now();
        let away = self.outage.silent(silence, now, fastrand::f64());
        self.report(away, now, events);
        away.is_some() && !was_certain
    }

    fn report(&self, away: Option<Away>, now: Instant, events: Events<'_>) {
        if let Some(away) = away {
            events(RunEvent::Outage {
                since: wall_clock(away.since),
                why: away.why,
                reason: self.silence.as_deref(),
                next: away.next - now,
            });
        }
    }

    /// Takes whether the list of campaigns came, asked for at `started`.
    pub(super) fn list(&mut self, started: Instant, came: bool, events: Events<'_>) {
        let now = Instant::now();
        if !came {
            let away = self.outage.no_list(started, now, fastrand::f64());
            self.report(away, now, events);
        } else if let Some(since) = self.outage.is_there(started, now) {
            events(RunEvent::Recovered {
                outage: now - since,
            });
        }
    }

    pub(super) fn pause(&self, now: Instant) -> Option<Pause> {
        if let Some(away) = self.outage.certain() {
            let since = wall_clock(away.since);
            let left = away.next.saturating_duration_since(now);
            return Some(Waiting::Outage { since }.lasting(left));
        }
        let until = self.rate.limiter.held_until()?;
        let why = match self.throttle.asked_until >= Some(until) {
            true => Waiting::Asked,
            false => Waiting::Refused,
        };
        Some(why.lasting(until - now))
    }

    /// When `--max-outage` will have passed without an answer about any row; now, if it is
    /// certain that none can come before. A wait that the service asked for may end just then,
    /// as one of an hour does: then one more request is allowed.
    pub(super) fn too_long_at(&self, now: Instant, is_any_out: bool) -> Option<Instant> {
        let at = self.outage.too_long_at(self.max_outage)?;
        let grace = self.max_outage / 100;
        let held_until = self.rate.limiter.held_until().or(self.throttle.probe_at);
        let at = match held_until.filter(|until| *until <= at + grace && at <= *until + grace) {
            Some(until) => at.max(until + grace),
            None => at,
        };
        let is_silent = !is_any_out && self.throttle.asked_until.is_some_and(|until| at < until);
        Some(if is_silent { now } else { at })
    }

    /// The stop after `--max-outage` without an answer about any row.
    pub(super) fn too_long(&self) -> Stop {
        let now = Instant::now();
        if let Some(until) = self.throttle.asked_until.filter(|until| now < *until) {
            return Stop::new(StopReason::AskedToWait {
                until: wall_clock_ahead(until - now),
                why: self.throttle.why,
            });
        }
        let since = self.outage.asking_since;
        // Refused again and again, without saying how long to wait.
        let is_refused = self.throttle.has_refused_since(since);
        let last = self.outage.away.map(|away| away.why);
        Stop::new(StopReason::NoAnswers {
            since: since.map(wall_clock).unwrap_or_default(),
            last: last.or(is_refused.then_some(self.throttle.why)),
            detail: self.silence.clone(),
        })
    }
}
