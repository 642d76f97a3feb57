//! The limits that answers state, and the spans of time they are for.
//!
//! Rule: pure; time is passed in. `X-RateLimit-Limit` and `-Remaining` say how many, not in what
//! time. So the span is taken from what is seen, always as an upper bound: one that is too long
//! costs a little of the rate, one that is too short costs refusals. The least bound counts.
//!
//! Of an answer that says `used` (limit − remaining):
//!
//! - **with a reset** the oldest request that counts is the `used`-th last one, and its time in the
//!   window ends at the reset, whether the window slides or is fixed: the span is at most from its
//!   start to the reset;
//! - **`used` is 1**: the window was empty before. So it was for the one before that said 1; the
//!   two are at least a span apart, in either kind of window;
//! - **the window slides** if none of the last `used` said 1: a fixed window was opened by one of
//!   them. Then the request before these has left it, and the span is at most from its start to
//!   this answer.
//!
//! Requests may overtake each other on their way. As many as were in flight when a request started
//! may have: its neighbours are looked for that many further back.
//!
//! Without any bound a limit is per minute, and if more is used than was started in that time, per
//! two minutes, and so on. Where more is used than can be ours, others use the limit too; then no
//! window counts as sliding.
//!
//! A service may have several limits and state the one with the fewest left (20 in ten seconds, 100
//! a minute). All that were stated apply. One that, by our own count, has fewer left than the one
//! that is stated now has ended.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::time::Duration;

use tokio::time::Instant;

use super::LONGEST_RESET;
use crate::api::Quota;
use crate::rate::Rate;

/// What a limit is for when nothing is known of it.
const MINUTE: Duration = Duration::from_secs(60);

const DAY: Duration = Duration::from_secs(24 * 3600);

const SHORTEST: Duration = Duration::from_millis(50);

/// Services count in whole seconds: a bound that is this much above them is rounded.
const NEARLY: f64 = 1.02;

/// A limit beyond this is none: the starts in its span are kept.
const MAX_REQUESTS: NonZeroU32 = NonZeroU32::MIN.saturating_add(999_999);

/// A bound is sharpened by a seventh at most.
const SHARPENED: f64 = 1.15;

/// How many requests are remembered; of a larger limit only `used` = 1 says anything.
const REMEMBERED: usize = 16_384;

const MAX_LIMITS: usize = 4;

#[derive(Debug, Default)]
pub(super) struct StatedLimits {
    /// What was started, in that order, without what was refused or lost.
    requests: VecDeque<Request>,
    in_flight: usize,
    /// The one stated last is the last one.
    limits: Vec<Limit>,
}

#[derive(Debug)]
struct Request {
    start: Instant,
    /// How many were in flight that this one may have overtaken.
    others: usize,
    answered: Option<Instant>,
    /// The limit and how much of it was used, by the answer.
    said: Option<(NonZeroU32, u32)>,
}

#[derive(Debug)]
struct Limit {
    requests: NonZeroU32,
    assumed: Duration,
    bound: Option<Duration>,
    /// The start of the last one that was answered with `used` = 1.
    opener: Option<Instant>,
    /// Until then it is known that others use it.
    shared_until: Option<Instant>,
}

impl StatedLimits {
    pub(super) fn knowing(rate: Rate) -> StatedLimits {
        StatedLimits {
            limits: vec![Limit {
                assumed: rate.per,
                ..Limit::new(rate.requests)
            }],
            ..StatedLimits::default()
        }
    }

    pub(super) fn rates(&self) -> Vec<Rate> {
        self.limits.iter().map(Limit::rate).collect()
    }

    pub(super) fn start(&mut self, now: Instant) {
        if self.requests.len() >= REMEMBERED
            && let Some(Request { answered: None, .. }) = self.requests.pop_front()
        {
            self.in_flight = self.in_flight.saturating_sub(1);
        }
        self.requests.push_back(Request {
            start: now,
            others: self.in_flight,
            answered: None,
            said: None,
        });
        self.in_flight += 1;
    }

    /// A request that does not count, as far as is known.
    pub(super) fn forget(&mut self, start: Instant) {
        if let Some(place) = self.unanswered(start) {
            self.requests.remove(place);
            self.in_flight = self.in_flight.saturating_sub(1);
        }
    }

    /// A refusal states its limit as well.
    pub(super) fn refused(&mut self, start: Instant, quota: Option<&Quota>) {
        self.forget(start);
        if let Some(limit) = quota.and_then(|quota| quota.limit)
            && limit <= MAX_REQUESTS
            && self.limits.is_empty()
        {
            self.limits.push(Limit::new(limit));
        }
    }

    /// What an answer says. Returns until when nothing more is free, where our own
    /// requests do not explain it.
    pub(super) fn answered(
        &mut self,
        start: Instant,
        quota: Option<&Quota>,
        now: Instant,
    ) -> Option<Instant> {
        let place = self.unanswered(start)?;
        self.in_flight = self.in_flight.saturating_sub(1);
        self.requests[place].answered = Some(now);
        let quota = quota?;
        let requests = quota.limit.filter(|limit| *limit <= MAX_REQUESTS)?;
        let remaining = quota.remaining.filter(|left| *left <= requests.get());
        let mut limit = self.take(requests, remaining, now);
        let until = remaining.and_then(|remaining| {
            let used = requests.get() - remaining;
            self.requests[place].said = Some((requests, used));
            self.learn(&mut limit, place, used, quota.reset, now);
            let own = self.started_within(limit.span(), now) as f64;
            let is_ours = own + 1.0 >= 0.9 * f64::from(requests.get());
            quota
                .reset
                .filter(|_| remaining == 0 && !is_ours)
                .map(|reset| now + reset.min(LONGEST_RESET))
        });
        self.limits.push(limit);
        until
    }

    fn unanswered(&self, start: Instant) -> Option<usize> {
        let from = self
            .requests
            .partition_point(|request| request.start < start);
        (from..self.requests.len())
            .take_while(|place| self.requests[*place].start == start)
            .find(|place| self.requests[*place].answered.is_none())
    }

    fn started_within(&self, span: Duration, now: Instant) -> usize {
        let older = self
            .requests
            .partition_point(|request| request.start + span <= now);
        self.requests.len() - older
    }

    /// Takes out the limit that is stated, and drops those that have ended.
    fn take(&mut self, requests: NonZeroU32, remaining: Option<u32>, now: Instant) -> Limit {
        if let Some(place) = self.limits.iter().position(|l| l.requests == requests) {
            let limit = self.limits.remove(place);
            self.drop_old(remaining, now);
            return limit;
        }
        let mut limit = Limit::new(requests);
        // A limit that was changed is for the same time as before.
        if let Some(old) = self.drop_old(remaining, now) {
            limit.assumed = old.span();
        }
        if self.limits.len() == MAX_LIMITS {
            self.limits.remove(0);
        }
        limit
    }

    fn drop_old(&mut self, remaining: Option<u32>, now: Instant) -> Option<Limit> {
        let remaining = remaining? as usize;
        let has_more = |limit: &Limit| {
            let own = self.started_within(limit.span(), now);
            let left = (limit.requests.get() as usize).saturating_sub(own);
            left + 1 + self.in_flight < remaining
        };
        let place = self.limits.iter().rposition(has_more)?;
        Some(self.limits.remove(place))
    }

    fn learn(
        &self,
        limit: &mut Limit,
        place: usize,
        used: u32,
        reset: Option<Duration>,
        now: Instant,
    ) {
        let Request { start, others, .. } = self.requests[place];
        let count = used as usize;
        if self.is_shared(place, limit.requests, count) {
            limit.shared_until = Some(now + limit.span());
        }
        let is_shared = limit.shared_until.is_some_and(|until| now < until);
        if let Some(reset) = reset.filter(|reset| !reset.is_zero()) {
            if count >= 1 && count <= place + 1 {
                let oldest = place + 1 - count;
                let safe = oldest.saturating_sub(others);
                let span = |oldest: usize| now + reset - self.requests[oldest].start;
                // A reset that was over when the answer came is not stated: one that is
                // stated is late by as much as the answer took.
                let sharp = span(oldest).saturating_sub(now - start);
                limit.bind(span(safe), sharp);
                if !is_shared {
                    // It is close: nothing need be assumed.
                    limit.assumed = DAY;
                }
            }
            return;
        }
        if used == 1 {
            if let Some(earlier) = limit.opener.filter(|opener| *opener < start) {
                limit.bind(now - earlier, now - earlier);
            }
            limit.opener = limit.opener.max(Some(start));
            return;
        }
        if is_shared {
            return;
        }
        if let Some(span) = self.sliding_span(limit.requests) {
            limit.bind(span, span);
        }
        let latency = now - start;
        let older = self
            .requests
            .partition_point(|request| request.start + limit.assumed + latency < start);
        if limit.bound.is_none() && count > self.requests.len() - older + others {
            limit.assumed = limit.assumed.saturating_mul(2).min(DAY);
        }
    }

    /// A bound of a window that slides: by the latest request that was answered before
    /// the first one started whose answer is still out, so that the answers to all that
    /// may have overtaken it are known.
    fn sliding_span(&self, limit: NonZeroU32) -> Option<Duration> {
        let mut out = self.in_flight;
        let mut first_out = self.requests.len();
        while out > 0 && first_out > 0 {
            first_out -= 1;
            out -= usize::from(self.requests[first_out].answered.is_none());
        }
        let until = self.requests.get(first_out).map(|request| request.start);
        let (place, answered) = (0..first_out).rev().find_map(|place| {
            let answered = self.requests[place].answered?;
            until
                .is_none_or(|until| answered < until)
                .then_some((place, answered))
        })?;
        let request = &self.requests[place];
        let (stated, used) = request.said?;
        let before = place.checked_sub(used as usize + request.others)?;
        let after = self
            .requests
            .partition_point(|request| request.start <= answered);
        // The first of a window may have been overtaken itself, by as many.
        let from = (before + 1).saturating_sub(2 * request.others);
        let slides = stated == limit
            && self
                .requests
                .range(from..after)
                .all(|request| matches!(request.said, Some((of, used)) if of == limit && used > 1));
        slides.then(|| answered - self.requests[before].start)
    }

    fn is_shared(&self, place: usize, limit: NonZeroU32, used: usize) -> bool {
        // Those before it that it may have overtaken, and those after it that it may have
        // been overtaken by.
        let others = self.requests[place].others + self.requests.len() - 1 - place;
        let earlier = (0..place).rev().find_map(|i| {
            let (stated, used) = self.requests[i].said?;
            (stated == limit).then_some(used as usize + place - i)
        });
        used > earlier.unwrap_or(place + 1) + others
    }
}

impl Limit {
    fn new(requests: NonZeroU32) -> Limit {
        Limit {
            requests,
            assumed: MINUTE,
            bound: None,
            opener: None,
            shared_until: None,
        }
    }

    /// Takes a bound: a safe one, and one that holds if no request has overtaken another.
    /// Services count in whole seconds. Where there is such a number between the two, that
    /// is the span; no safe bound of a whole span is below it. Not so where the two are far
    /// apart: then requests take so long on their way that some of one span arrive in the
    /// next, and what the longer one leaves is needed.
    fn bind(&mut self, safe: Duration, sharp: Duration) {
        let whole = Duration::from_secs(safe.as_secs());
        let span = if whole >= sharp && safe <= whole.mul_f64(SHARPENED) {
            whole
        } else {
            safe
        };
        self.bound = Some(self.bound.map_or(span, |bound| bound.min(span)));
    }

    fn span(&self) -> Duration {
        let span = self
            .bound
            .map_or(self.assumed, |bound| bound.min(self.assumed));
        let whole = Duration::from_secs(span.as_secs());
        if !whole.is_zero() && span <= whole.mul_f64(NEARLY) {
            whole
        } else {
            span.max(SHORTEST)
        }
    }

    fn rate(&self) -> Rate {
        Rate {
            requests: self.requests,
            per: self.span(),
        }
    }
}
