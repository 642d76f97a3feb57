//! The limits that answers state.
//!
//! Rule: pure; time is passed in. `X-RateLimit-Limit` and `-Remaining` say how many requests, not
//! in what time. So the span is taken from what is seen, always as an upper bound: one that is too
//! long costs a little of the rate, one that is too short costs refusals.
//!
//! - **With a reset**: if `used` requests count, the `used`-th last one stops counting at the reset,
//!   whether the window slides or opens with a request. So the span is at most from its start to the
//!   reset. The shortest such span counts.
//! - **Without one** the span is a minute at first, and doubles when more are used than were started
//!   in it. If fewer were ever used at once, the window was refilled meanwhile: if 300 were sent in
//!   three minutes and never more than 100 were used, it is a minute. Until then it is a guess, which
//!   may be wrong by as much as a day is longer than a minute. A count that never changes proves nothing.
//!
//! Requests may overtake each other: those that were in flight when one started count as used. A
//! service may have several limits and state the one with the fewest left (20 in ten seconds, 100 a
//! minute): all apply, until one has not been stated for as many answers as it allows.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use crate::api::Quota;
use crate::rate::Rate;

const MINUTE: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// Services count in whole seconds: no span is shorter than one, and one that is at most this much
/// above them is rounded.
const SHORTEST: Duration = Duration::from_secs(1);
const NEARLY: f64 = 1.15;
/// A span is longer only if this many times more are used than were started: some take longer.
const MANY_MORE: f64 = 1.1;
/// Where this share of a limit was started by us, it is ours that use it up.
const OURS: f64 = 0.9;
/// Starts that are remembered. Of a larger limit nothing is learned; one larger by far is none.
const REMEMBERED: usize = 16_384;
const LARGEST: u32 = 1_000_000;
/// More limits than that are none: a number that changes with every answer.
const MAX_LIMITS: usize = 4;

#[derive(Debug)]
pub(super) struct StatedLimits {
    /// Starts of requests that were not refused or lost, the newest first, and how many others were
    /// in flight then.
    starts: VecDeque<(Instant, usize)>,
    in_flight: usize,
    /// The one that was stated last comes first.
    limits: Vec<Limit>,
}

#[derive(Debug, Clone, Copy)]
struct Limit {
    rate: Rate,
    /// Whether the span follows from a reset.
    is_sure: bool,
    /// Whether the window was seen to be refilled within it.
    is_refilled: bool,
    /// How many were used last, and whether that was ever another number.
    used: Option<usize>,
    has_moved: bool,
    /// The most that were used at once since then.
    refill: Option<(Instant, usize)>,
    /// Answers that have stated another limit since this one.
    unstated: u32,
}

impl StatedLimits {
    pub(super) fn new(known: Option<Rate>) -> StatedLimits {
        StatedLimits {
            starts: VecDeque::new(),
            in_flight: 0,
            limits: known.map(Limit::known).into_iter().collect(),
        }
    }

    /// Whether the span of any limit is more than a guess.
    pub(super) fn has_known_span(&self) -> bool {
        let is_known = |limit: &Limit| limit.is_sure || limit.is_refilled && limit.has_moved;
        self.limits.iter().any(is_known)
    }

    pub(super) fn rates(&self) -> Vec<Rate> {
        self.limits.iter().rev().map(|limit| limit.rate).collect()
    }

    pub(super) fn start(&mut self, now: Instant) {
        self.starts.push_front((now, self.in_flight));
        self.starts.truncate(REMEMBERED);
        self.in_flight += 1;
    }

    /// A request that does not count, as far as is known.
    pub(super) fn forget(&mut self, start: Instant) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if let Some(place) = self.place(start) {
            self.starts.remove(place);
        }
    }

    fn place(&self, start: Instant) -> Option<usize> {
        self.starts.binary_search_by(|(at, _)| start.cmp(at)).ok()
    }

    /// A refusal states its limit as well. Requests do not start evenly around it.
    pub(super) fn refused(&mut self, start: Instant, quota: Option<&Quota>) {
        self.forget(start);
        self.limits.iter_mut().for_each(|limit| limit.refill = None);
        if self.limits.is_empty() {
            self.limits.extend(quota.and_then(limit_of));
        }
    }

    /// What an answer says. Returns whether the limit, if there is one, is used up by us alone.
    pub(super) fn answered(&mut self, start: Instant, quota: Option<&Quota>, now: Instant) -> bool {
        self.in_flight = self.in_flight.saturating_sub(1);
        let stated = quota.and_then(|quota| Some((quota, self.take(quota)?)));
        let Some((quota, mut limit)) = stated else {
            return true;
        };
        let requests = limit.rate.requests.get() as usize;
        let left = quota.remaining.map(|left| left as usize);
        let used = left.and_then(|left| requests.checked_sub(left));
        if let Some(used) = used {
            let before = limit.used.replace(used);
            limit.has_moved |= before.is_some_and(|before| before != used);
        }
        if let (Some(used), Some(place)) = (used, self.place(start)) {
            match quota.reset.filter(|reset| !reset.is_zero()) {
                Some(reset) => self.learn_from_reset(&mut limit, place, used, reset, now),
                None if limit.is_sure => {}
                None => self.learn_from_refill(&mut limit, place, used, now),
            }
        }
        let own = self.started_within(limit.rate.per, now) + 1;
        self.add(limit);
        own as f64 >= OURS * requests as f64
    }

    /// Takes out the limit that is stated. To the others it is one more answer that states another.
    fn take(&mut self, quota: &Quota) -> Option<Limit> {
        let is_stated = |limit: &Limit| Some(limit.rate.requests) == quota.limit;
        let place = self.limits.iter().position(is_stated);
        let known = place.map(|place| self.limits.remove(place));
        self.limits.iter_mut().for_each(|limit| limit.unstated += 1);
        self.limits
            .retain(|limit| limit.unstated < limit.rate.requests.get());
        let mut limit = known.or(limit_of(quota))?;
        limit.unstated = 0;
        Some(limit)
    }

    fn add(&mut self, limit: Limit) {
        self.limits.insert(0, limit);
        self.limits.truncate(MAX_LIMITS);
    }

    /// How many were started in the span before that, or later.
    fn started_within(&self, span: Duration, end: Instant) -> usize {
        self.starts.partition_point(|(at, _)| *at + span > end)
    }

    fn learn_from_reset(
        &self,
        limit: &mut Limit,
        place: usize,
        used: usize,
        reset: Duration,
        now: Instant,
    ) {
        if used == 0 || place + used > self.starts.len() {
            return;
        }
        let (start, in_flight) = self.starts[place];
        let oldest = place + used - 1;
        let since = |oldest: usize| now + reset - self.starts[oldest].0;
        // A reset that was over when the answer came is not stated: one that is stated is late
        // by as much as the answer took.
        let sharp = since(oldest).saturating_sub(now - start);
        let safe = since((oldest + in_flight).min(self.starts.len() - 1));
        let span = whole_seconds(sharp, safe);
        let known = limit.rate.per;
        limit.rate.per = if limit.is_sure { span.min(known) } else { span };
        limit.is_sure = true;
    }

    fn learn_from_refill(&self, limit: &mut Limit, place: usize, used: usize, now: Instant) {
        let (start, in_flight) = self.starts[place];
        if used == 0 || used > self.starts.len() - place + in_flight {
            // Not even this request counts, or more than was ever started here.
            return;
        }
        let started_within = |span| self.started_within(span, start).saturating_sub(place);
        let own = started_within(limit.rate.per + (now - start)) + in_flight;
        if used as f64 > MANY_MORE * own as f64 + 1.0 {
            limit.rate.per = limit.rate.per.saturating_mul(2).min(LONGEST);
            limit.refill = None;
            return;
        }
        let (since, most) = limit.refill.unwrap_or((start, 0));
        let most = most.max(used + in_flight);
        limit.refill = Some((since, most));
        let started = started_within(start - since);
        if started >= 2 * most + 2 {
            let share = |used: usize| (start - since).mul_f64(used as f64 / started as f64);
            let span = whole_seconds(share(most.saturating_sub(1)), share(most));
            limit.is_refilled |= span <= limit.rate.per.mul_f64(NEARLY);
            limit.rate.per = limit.rate.per.min(span);
            limit.refill = None;
        }
    }
}

/// The limit that is stated, per minute as long as nothing else is known.
fn limit_of(quota: &Quota) -> Option<Limit> {
    let requests = quota.limit.filter(|limit| limit.get() < LARGEST)?;
    let per = MINUTE;
    Some(Limit::new(Rate { requests, per }))
}

/// A span from `sharp` to `safe`: the whole seconds between the two. Not so where they are far below
/// `safe`: then requests take so long on their way that some of one span arrive in the next, and
/// what the longer one leaves is needed.
fn whole_seconds(sharp: Duration, safe: Duration) -> Duration {
    let safe = safe.clamp(SHORTEST, LONGEST);
    let whole = Duration::from_secs(safe.as_secs());
    let is_whole = whole >= sharp && safe <= whole.mul_f64(NEARLY);
    if is_whole { whole } else { safe }
}

impl Limit {
    fn new(rate: Rate) -> Limit {
        Limit {
            rate,
            is_sure: false,
            is_refilled: false,
            used: None,
            has_moved: false,
            refill: None,
            unstated: 0,
        }
    }

    /// One that an earlier run has found.
    fn known(rate: Rate) -> Limit {
        Limit {
            is_refilled: true,
            has_moved: true,
            ..Limit::new(rate)
        }
    }
}
