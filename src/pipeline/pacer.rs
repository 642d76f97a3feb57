//! Permission to start a request: one pace for leads, other calls and test leads.
//!
//! Whoever sends asks it before each attempt, and tells it the result of each. From what the service has
//! said so far it knows whether the service is up, how many requests it handles at once, and how
//! fast; and so when the next request may start.
//!
//! The parts do not know each other: rate, concurrency, the waits that the service asks for,
//! and outages. Here each of them sees every result, in the order that matters.

use std::time::Duration;

use tokio::time::Instant;

use super::attempt::OutagePeriods;
use super::concurrency::Concurrency;
use super::in_flight::Flight;
use super::outage::{Away, Outage, Silence};
use super::throttle::{Throttle, wall_clock, wall_clock_ahead};
use super::{ConcurrencyChoice, RateController};
use crate::api::verdict::{LONGEST_WAIT, Verdict};
use crate::api::{Answer, Quota};
use crate::clock;
use crate::event::{Pause, RunEvent, Waiting};
use crate::lead::ErrorCode;
use crate::ledger::{AskedPause, Ledger, LedgerError, RecentUse, Reply, ServiceId, StartsInSecond};
use crate::rate::Rate;
use crate::stop::{Stop, StopReason};

pub(super) type Events<'a> = &'a mut dyn FnMut(RunEvent<'_>);

/// A wait that ends so shortly after the known one is the same: clocks differ.
const SAME_WAIT: Duration = Duration::from_secs(1);

pub struct Pacer {
    pub(super) rate: RateController,
    concurrency: Concurrency,
    pub(super) throttle: Throttle,
    pub(super) outage: Outage,
    /// When the next request may start, where it had to wait for the pace.
    pub(super) starts_at: Option<Instant>,
    /// Why the last attempt brought no answer, in words that may be shown.
    silence: Option<String>,
    max_outage: Duration,
    /// A wait that the service has asked for since this was taken, so that later processes obey it too.
    pub(super) asked: Option<AskedPause>,
}

/// The result of an attempt.
pub(super) struct Heard<'a> {
    pub(super) started: Instant,
    /// Whether it was the limit of requests in flight that let no other one start.
    pub(super) was_full: bool,
    pub(super) others_are_out: bool,
    pub(super) quota: Option<&'a Quota>,
    pub(super) said: Said<'a>,
}

/// What the result of an attempt says about the service, whatever it says about a row.
pub(super) enum Said<'a> {
    /// It has answered what it was asked.
    Answer,
    /// It is to be asked again later.
    Later {
        wait: Option<Duration>,
        code: ErrorCode,
        /// Whether it means one row alone, which waits by itself.
        is_own: bool,
    },
    /// It is there, which is all.
    Something,
    /// It has said nothing that can be used; why, in words that may be shown.
    Nothing(Silence, Option<&'a str>),
}

impl<'a> Heard<'a> {
    /// What the answer to a lead says. The service's own words for a failure are not shown.
    pub(super) fn of(
        answer: &'a Answer,
        flight: &mut Flight,
        periods: &OutagePeriods,
        others_are_out: bool,
    ) -> Heard<'a> {
        let said = match &answer.verdict {
            verdict if verdict.is_about_row() => Said::Answer,
            Verdict::RetryLater { wait, code, .. } => Said::Later {
                wait: *wait,
                code: *code,
                is_own: flight.job.own_wait(&answer.verdict, periods).is_some(),
            },
            Verdict::PerhapsTaken { code, text } | Verdict::NeverTaken { code, text, .. } => {
                let has_answered = answer.http_status.is_some();
                let may_be_taken = matches!(answer.verdict, Verdict::PerhapsTaken { .. });
                let may_be_the_rows = has_answered || may_be_taken;
                let silence = Silence {
                    slot: flight.job.slot,
                    started: flight.started,
                    may_be_the_rows,
                    is_suspect: may_be_the_rows && flight.job.is_suspect(periods),
                    why: *code,
                };
                Said::Nothing(silence, (!has_answered).then_some(text))
            }
            _ => Said::Something,
        };
        Heard {
            started: flight.started,
            was_full: flight.was_full,
            others_are_out,
            quota: answer.quota.as_ref(),
            said,
        }
    }
}

impl Pacer {
    /// No more than `most` requests are ever in flight. Without an answer for `max_outage` it is over.
    pub(super) fn new(
        rate: RateController,
        choice: ConcurrencyChoice,
        most: usize,
        max_outage: Duration,
    ) -> Pacer {
        Pacer {
            rate,
            concurrency: Concurrency::new(choice, most),
            throttle: Throttle::default(),
            outage: Outage::default(),
            starts_at: None,
            silence: None,
            max_outage,
            asked: None,
        }
    }

    /// For somebody who makes one request.
    pub fn for_one(rate: RateController, max_outage: Duration) -> Pacer {
        Pacer::new(rate, ConcurrencyChoice::Auto, 1, max_outage)
    }

    /// Continues a wait that the service asked of an earlier process.
    pub fn resume_wait(&mut self, events: Events<'_>) {
        if let Some((until, why)) = self.rate.pause_at_start {
            let now = Instant::now();
            self.outage.started(now);
            self.hold(until - now, true, why, events);
        }
    }

    /// How many requests may be in flight beside those that were started then: one until an answer has
    /// been understood.
    pub(super) fn limit(
        &self,
        is_understood: bool,
        starts: impl Iterator<Item = Instant>,
    ) -> usize {
        match is_understood {
            true => self.concurrency.limit_beside(starts, Instant::now()),
            false => 1,
        }
    }

    /// Counts a request as started and returns the time, by which its answer is known again. If none
    /// may start, the error is when to ask again, `None` if only an answer can change that. `starts` are
    /// the start times of the requests in flight.
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
        started
            .map_err(Some)
            .inspect(|now| self.outage.started(*now))
    }

    /// Permission for somebody who sends outside of a run: a start, or when to ask again. It is over when
    /// no answer has come for too long, or none can come before that.
    pub fn request(&mut self, starts: &[Instant]) -> Result<Result<Instant, Instant>, Stop> {
        let now = Instant::now();
        let too_long_at = self.too_long_at(now, !starts.is_empty());
        if too_long_at.is_some_and(|at| at <= now) {
            return Err(self.too_long());
        }
        let started = self.try_start(starts.iter().copied());
        Ok(started.map_err(|when| when.unwrap_or(now + clock::LOOK_AGAIN)))
    }

    /// Puts a request outside of any run on record before it starts, so that it counts for later processes
    /// even after a kill. Returns when it may start, where the runs of several machines share one pace.
    pub fn record_start(
        ledger: &mut Ledger,
        service: ServiceId,
        limits: &[Rate],
    ) -> Result<Option<Instant>, LedgerError> {
        let at = ledger.reserve_start(service, limits)?;
        let (second, requests, pause) = (clock::now().as_second(), 1, None);
        let starts = vec![StartsInSecond { second, requests }];
        ledger.record_use(service, RecentUse { starts, pause })?;
        Ok(at)
    }

    /// A wait that the service has asked for since this was called, to be recorded outside of any run.
    pub fn take_asked(&mut self) -> Option<RecentUse> {
        let pause = self.asked.take();
        let starts = Vec::new();
        pause.is_some().then_some(RecentUse { starts, pause })
    }

    /// Takes what the runs of all machines share: the reserved start times, and the
    /// waits that the service asked one of them for.
    pub(super) fn share(&mut self, reply: Reply, events: Events<'_>) {
        self.rate.limiter.share(reply.is_paced, reply.starts);
        let left = |pause: AskedPause| Some((pause, pause.left(clock::now())?));
        let Some((pause, left)) = reply.pause.and_then(left) else {
            return;
        };
        let (now, wait) = (Instant::now(), left.min(LONGEST_WAIT));
        let is_known = |known: Instant| now + wait <= known + SAME_WAIT;
        if self.rate.limiter.held_until().is_some_and(is_known) {
            return;
        }
        self.outage.started(now);
        self.hold(wait, true, ErrorCode::Http(pause.http_status), events);
    }

    /// Takes the result of an attempt. Returns whether the service turns out to be away, so that the
    /// latest failures say nothing about their rows.
    pub(super) fn hear(&mut self, heard: &Heard<'_>, events: Events<'_>) -> bool {
        let (now, started) = (Instant::now(), heard.started);
        if let Said::Later { .. } = heard.said {
            self.concurrency.refused(started, now);
        } else {
            let (was_full, is_good) = (heard.was_full, matches!(heard.said, Said::Answer));
            self.throttle.answered(started);
            self.concurrency.answered(started, now, was_full, is_good);
        }
        self.learn_pace(heard, now, events);
        let back = match &heard.said {
            Said::Answer => {
                let waits_after = self.throttle.probe_at.is_some_and(|at| now < at);
                let is_busy = heard.others_are_out || waits_after;
                self.outage.answered(started, is_busy, now)
            }
            Said::Later { .. } | Said::Something => self.outage.is_there(started, now),
            Said::Nothing(silence, why) => {
                self.silence = why.map(str::to_owned);
                if !self.outage.counts(silence) {
                    return false;
                }
                let was_certain = self.outage.certain().is_some();
                let away = self.outage.silent(*silence, now, fastrand::f64());
                self.report(away, now, events);
                return away.is_some() && !was_certain;
            }
        };
        report_recovery(back, now, events);
        false
    }

    fn learn_pace(&mut self, heard: &Heard<'_>, now: Instant, events: Events<'_>) {
        let (started, quota) = (heard.started, heard.quota);
        match heard.said {
            Said::Answer => self.rate.accepted(started, quota),
            Said::Later {
                wait,
                code,
                is_own: false,
            } => {
                let refused = self.throttle.refused(wait, started, now, fastrand::f64());
                if let Some(guess) = refused {
                    let wait_for = wait.unwrap_or_else(|| guess.min(self.rate.longest_guess()));
                    self.hold(wait_for, wait.is_some(), code, events);
                }
                // A 503 is about the service itself: a slower pace would not have avoided it.
                if code == ErrorCode::Http(429) {
                    self.rate.refused(started, quota, wait.is_some());
                } else {
                    self.rate.lost(started);
                }
                if let (Some(wait), ErrorCode::Http(http_status)) = (wait, code) {
                    self.asked = Some(AskedPause::asked_now(wait, http_status));
                }
            }
            _ => self.rate.lost(started),
        }
        if let Some(found) = self.rate.take_news() {
            events(RunEvent::RefusedByChance(found));
        }
    }

    /// Lets nothing start for so long, and then one request first. `is_asked`: the service has said how long.
    fn hold(&mut self, wait: Duration, is_asked: bool, why: ErrorCode, events: Events<'_>) {
        let until = Instant::now() + wait;
        self.rate.limiter.hold(until);
        self.throttle.wait(until, is_asked, why);
        events(RunEvent::Held { wait, why });
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
        if came {
            report_recovery(self.outage.is_there(started, now), now, events);
        } else {
            let away = self.outage.no_list(started, now, fastrand::f64());
            self.report(away, now, events);
        }
    }

    pub(super) fn is_held(&self) -> bool {
        self.rate.limiter.held_until().is_some()
    }

    /// The limits that are kept to, for whoever shares them.
    pub fn limits(&self) -> &[Rate] {
        self.rate.limits()
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
        let asked = self.throttle.asked_until.zip(self.throttle.why);
        if let Some((until, why)) = asked.filter(|(until, _)| now < *until) {
            let until = wall_clock_ahead(until - now);
            return Stop::new(StopReason::AskedToWait { until, why });
        }
        let since = self.outage.asking_since;
        // Refused again and again, without saying how long to wait.
        let is_refused = self.throttle.has_refused_since(since);
        let last = self.outage.away.map(|away| away.why);
        Stop::new(StopReason::NoAnswers {
            since: since.map(wall_clock).unwrap_or_default(),
            last: last.or(self.throttle.why.filter(|_| is_refused)),
            detail: self.silence.clone(),
        })
    }
}

/// Reports that the service is back, if it was away since then.
fn report_recovery(since: Option<Instant>, now: Instant, events: Events<'_>) {
    if let Some(since) = since {
        let outage = now - since;
        events(RunEvent::Recovered { outage });
    }
}
