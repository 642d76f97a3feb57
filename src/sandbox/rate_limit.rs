//! Limits how many requests may start in a span of time.
//!
//! Rule: time is passed in (microseconds since the start), and a refused request does not count.

use std::collections::VecDeque;

use anyhow::ensure;
use clap::ValueEnum;
use serde::Deserialize;

use crate::options::Value;
use crate::rate::Rate;

/// The longest window, in seconds: a year, so that the end of every wait can be written as a date.
const MAX_WINDOW_S: f64 = 365.0 * 24.0 * 3600.0;

const SHAPES: &str =
    "begin with `leaky:`, `token:`, `fixed:` or `sliding:`, such as `leaky:20/s:5`";
const BURST: &str = "write the burst as a whole number, such as `leaky:20/s:5`";

/// `requests` requests in `per_s` seconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimit {
    pub requests: usize,
    pub per_s: f64,
    pub shape: Shape,
    /// Requests at once: of `leaky` those beyond the first, none when not given; of `token` the
    /// size of the bucket, `requests` when not given.
    pub burst: Option<usize>,
    /// When the limit starts, in seconds since the start of the sandbox.
    pub from_s: f64,
    /// When the limit ends; `None` if never.
    pub until_s: Option<f64>,
    pub other_user: Option<OtherUser>,
}

/// How the requests are counted.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Any span of this length counts.
    #[default]
    Sliding,
    /// The window opens with a request and lasts for the whole span (as in Laravel).
    Fixed,
    /// An even pace, and a burst beyond it (`limit_req` of nginx with `nodelay`).
    Leaky,
    /// A bucket of tokens, full at first and refilled evenly.
    Token,
}

/// Somebody else who uses the account, and sends half of what the limit allows, evenly.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct OtherUser {
    /// When they start, in seconds since the start of the sandbox.
    pub from_s: f64,
    /// When they end; `None` if never.
    pub until_s: Option<f64>,
}

impl From<Rate> for RateLimit {
    fn from(rate: Rate) -> Self {
        RateLimit {
            requests: rate.requests.get() as usize,
            per_s: rate.per.as_secs_f64(),
            ..RateLimit::default()
        }
    }
}

impl RateLimit {
    /// Parses `SHAPE:N/PERIOD[:BURST]`, or `N/PERIOD`; the error says what to write.
    pub(super) fn parse(text: &str) -> Result<RateLimit, String> {
        let (shape, rest) = text.split_once(':').unwrap_or((text, ""));
        let shape = match Shape::from_str(shape.trim(), true) {
            Ok(shape) => shape,
            Err(_) if rest.is_empty() => return Rate::parse(text).map(RateLimit::from),
            Err(_) => return Err(SHAPES.to_owned()),
        };
        let (rate, burst) = rest.split_once(':').unzip();
        let rate = Rate::parse(rate.unwrap_or(rest))
            .map_err(|error| format!("after the shape, {error}"))?;
        let burst = burst.map(|burst| burst.trim().parse()).transpose();
        let limit = RateLimit {
            shape,
            burst: burst.map_err(|_| BURST)?,
            ..rate.into()
        };
        let checked = limit.check().map(|()| limit);
        checked.map_err(|error| error.to_string())
    }

    pub(super) fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.requests > 0 && self.per_s > 0.0 && self.per_s <= MAX_WINDOW_S,
            "a rate limit needs `requests` above 0 and `per_s` above 0, at most {MAX_WINDOW_S}"
        );
        ensure!(
            self.burst.is_none() || matches!(self.shape, Shape::Leaky | Shape::Token),
            "only `leaky` and `token` have a burst; leave it out, or write one of these shapes"
        );
        ensure!(
            self.shape != Shape::Token || self.burst != Some(0),
            "the burst of `token` must be at least 1, or nothing is ever admitted"
        );
        ensure!(
            self.other_user.is_none_or(|other| other.from_s >= 0.0),
            "`from_s` of `other_user` must be 0 or more"
        );
        Ok(())
    }

    /// The most requests at once. What nginx calls excess is 0 after the first request, so a
    /// leaky bucket is one of tokens that has one more than its burst.
    fn most_at_once(&self) -> usize {
        match self.shape {
            Shape::Leaky => self.burst.unwrap_or(0).saturating_add(1),
            Shape::Token => self.burst.unwrap_or(self.requests),
            Shape::Sliding | Shape::Fixed => self.requests,
        }
    }
}

/// What a client may learn about a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quota {
    pub(super) limit: usize,
    pub(super) remaining: usize,
    /// Microseconds until more requests are allowed.
    pub(super) reset_us: u64,
    /// nginx tells nobody what its limits are.
    pub(super) is_stated: bool,
}

#[derive(Default)]
pub(super) struct Limiter {
    limit: RateLimit,
    per_us: u64,
    /// Of windows: when the requests in it were admitted, oldest first; never more than the limit.
    admitted: VecDeque<u64>,
    /// Of buckets: when nothing admitted is left in it, in microseconds times `requests`. In this
    /// unit all times are whole: each request takes `per_us`.
    over: u128,
    /// How many requests the other user has sent.
    sent_by_other: u64,
}

impl Limiter {
    pub(super) fn new(limit: RateLimit) -> Self {
        Self {
            limit,
            // Not zero, since buckets divide by it.
            per_us: ((limit.per_s * 1e6) as u64).max(1),
            ..Self::default()
        }
    }

    pub(super) fn holds(&self, now: u64) -> bool {
        let now = now as f64 / 1e6;
        self.limit.from_s <= now && self.limit.until_s.is_none_or(|until| now < until)
    }

    /// Counts what the other user has sent by `now`, and returns the quota that is left.
    pub(super) fn quota(&mut self, now: u64) -> Quota {
        while let Some(due) = self.next_of_other()
            && due <= now
        {
            self.sent_by_other += 1;
            if self.holds(due) && self.left(due).remaining > 0 {
                self.admit(due);
            }
        }
        self.left(now)
    }

    /// When the next request of the other user is due, if there is one.
    fn next_of_other(&self) -> Option<u64> {
        let other = self.limit.other_user?;
        let each_s = 2.0 * self.limit.per_s / self.limit.requests as f64;
        let due = other.from_s + each_s * self.sent_by_other as f64;
        let is_over = other.until_s.is_some_and(|until| due >= until);
        (!is_over).then_some((due * 1e6).round() as u64)
    }

    /// Removes what no longer counts at `now`, and returns the quota that is left.
    fn left(&mut self, now: u64) -> Quota {
        let (used, reset_us) = match self.limit.shape {
            Shape::Sliding | Shape::Fixed => self.in_window(now),
            Shape::Leaky | Shape::Token => self.in_bucket(now),
        };
        Quota {
            // Not what is refilled in a span: a bucket has a size.
            limit: self.limit.most_at_once(),
            remaining: self.limit.most_at_once() - used,
            reset_us,
            is_stated: self.limit.shape != Shape::Leaky,
        }
    }

    /// How many requests count, and the microseconds until fewer do.
    fn in_window(&mut self, now: u64) -> (usize, u64) {
        while let Some(&first) = self.admitted.front()
            && first + self.per_us <= now
        {
            match self.limit.shape {
                Shape::Fixed => self.admitted.clear(),
                _ => drop(self.admitted.pop_front()),
            }
        }
        let over = self.admitted.front().map_or(now, |t| t + self.per_us);
        (self.admitted.len(), over - now)
    }

    /// How many requests a leaky bucket holds, and how long until it is empty. A request of which
    /// a part has leaked away still counts.
    fn in_bucket(&self, now: u64) -> (usize, u64) {
        let (each, requests) = (u128::from(self.per_us), self.limit.requests as u128);
        let level = self.over.saturating_sub(u128::from(now) * requests);
        let used = level.div_ceil(each);
        let above = level - used.saturating_sub(1) * each;
        (used as usize, above.div_ceil(requests) as u64)
    }

    /// Counts a request at `now`. Call it only if [`quota`](Self::quota) has some left.
    pub(super) fn admit(&mut self, now: u64) {
        match self.limit.shape {
            Shape::Sliding | Shape::Fixed => self.admitted.push_back(now),
            Shape::Leaky | Shape::Token => {
                let now = u128::from(now) * self.limit.requests as u128;
                self.over = self.over.max(now) + u128::from(self.per_us);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Shape::{Fixed, Leaky, Sliding, Token};

    /// Two requests in a second.
    fn limit(shape: Shape, burst: Option<usize>) -> RateLimit {
        RateLimit {
            shape,
            burst,
            ..Rate::per_second(2).into()
        }
    }

    fn try_at(limiter: &mut Limiter, now: u64) -> bool {
        let is_free = limiter.quota(now).remaining > 0;
        if is_free {
            limiter.admit(now);
        }
        is_free
    }

    /// Checks the requests at these times, each with whether it is admitted.
    fn check(limit: RateLimit, requests: &[(u64, bool)]) {
        let mut limiter = Limiter::new(limit);
        for (index, (now, is_admitted)) in requests.iter().enumerate() {
            assert_eq!(try_at(&mut limiter, *now), *is_admitted, "{index}: {now}");
        }
    }

    #[test]
    fn a_sliding_window_frees_one_place_at_a_time() {
        check(
            limit(Sliding, None),
            &[
                (0, true),
                (900_000, true),
                (999_999, false),
                (1_000_000, true),
                (1_000_001, false),
                (1_900_000, true),
            ],
        );
    }

    #[test]
    fn a_fixed_window_frees_all_places_at_once() {
        check(
            limit(Fixed, None),
            &[
                (0, true),
                (900_000, true),
                (999_999, false),
                (1_000_000, true),
                (1_000_001, true),
                (1_900_000, false),
            ],
        );
    }

    #[test]
    fn a_leaky_bucket_keeps_an_even_pace() {
        check(
            limit(Leaky, None),
            &[
                (0, true),
                (499_999, false),
                (500_000, true),
                // What was not used is not saved up.
                (2_000_000, true),
                (2_499_999, false),
                (2_500_000, true),
            ],
        );
    }

    #[test]
    fn a_leaky_bucket_takes_its_burst_beyond_the_first_request() {
        check(
            limit(Leaky, Some(2)),
            &[
                (0, true),
                (0, true),
                (0, true),
                (0, false),
                (499_999, false),
                (500_000, true),
                (500_000, false),
                (2_000_000, true),
                (2_000_000, true),
                (2_000_000, true),
                (2_000_000, false),
            ],
        );
    }

    #[test]
    fn a_leaky_bucket_decides_as_nginx_does() {
        let mut random = fastrand::Rng::with_seed(7);
        for burst in 0..4 {
            let mut limiter = Limiter::new(RateLimit {
                shape: Leaky,
                burst: Some(burst),
                ..Rate::per_second(3).into()
            });
            // Excess in millionths of a request, and the time of the last one admitted.
            let (mut last, mut now) = (None::<(i64, u64)>, 0);
            for _ in 0..10_000 {
                now += random.u64(0..700_000);
                let excess = last.map_or(0, |(excess, then)| {
                    (excess - 3 * (now - then) as i64 + 1_000_000).max(0)
                });
                let is_admitted = excess <= burst as i64 * 1_000_000;
                if is_admitted {
                    last = Some((excess, now));
                }
                assert_eq!(try_at(&mut limiter, now), is_admitted, "{burst}: {now}");
            }
        }
    }

    #[test]
    fn a_bucket_of_tokens_is_full_at_first_and_refilled_evenly() {
        check(
            limit(Token, None),
            &[
                (0, true),
                (0, true),
                (0, false),
                (499_999, false),
                (500_000, true),
                (500_000, false),
                // Two tokens fit into it.
                (9_000_000, true),
                (9_000_000, true),
                (9_000_000, false),
            ],
        );
        let first = |burst| {
            let mut limiter = Limiter::new(limit(Token, Some(burst)));
            (0..9).take_while(|_| try_at(&mut limiter, 0)).count()
        };
        assert_eq!([1, 3, 5].map(first), [1, 3, 5]);
    }

    /// Limit, remaining and microseconds until more is free, at these times.
    fn quotas(limiter: &mut Limiter, times: &[u64]) -> Vec<(usize, usize, u64)> {
        let quotas = times.iter().map(|now| limiter.quota(*now));
        quotas
            .map(|quota| (quota.limit, quota.remaining, quota.reset_us))
            .collect()
    }

    #[test]
    fn the_quota_has_the_time_when_more_is_free() {
        let after_two = |shape, burst| {
            let mut limiter = Limiter::new(limit(shape, burst));
            assert_eq!(quotas(&mut limiter, &[0])[0].2, 0);
            assert!(try_at(&mut limiter, 0));
            assert!(try_at(&mut limiter, 400_000));
            quotas(&mut limiter, &[400_000, 500_000, 1_000_000, 1_500_000])
        };
        assert_eq!(
            after_two(Sliding, None),
            [(2, 0, 600_000), (2, 0, 500_000), (2, 1, 400_000), (2, 2, 0)]
        );
        assert_eq!(
            after_two(Fixed, None),
            [(2, 0, 600_000), (2, 0, 500_000), (2, 2, 0), (2, 2, 0)]
        );
        let of_bucket = [(2, 0, 100_000), (2, 1, 500_000), (2, 2, 0), (2, 2, 0)];
        assert_eq!(after_two(Token, None), of_bucket);
        assert_eq!(after_two(Leaky, Some(1)), of_bucket);
        let larger = of_bucket.map(|(limit, left, reset)| (limit + 1, left + 1, reset));
        assert_eq!(after_two(Token, Some(3)), larger);
    }

    #[test]
    fn a_wait_that_is_no_whole_number_is_rounded_up() {
        let mut limiter = Limiter::new(RateLimit {
            shape: Leaky,
            ..Rate::per_second(3).into()
        });
        limiter.admit(0);
        assert_eq!(
            quotas(&mut limiter, &[0, 333_333, 333_334]),
            [(1, 0, 333_334), (1, 0, 1), (1, 1, 0)]
        );
    }

    #[test]
    fn a_limit_is_read_as_people_write_it() {
        for (text, shape, requests, per_s, burst) in [
            ("20/s", Sliding, 20, 1.0, None),
            (" 100 / min ", Sliding, 100, 60.0, None),
            ("sliding:20/10s", Sliding, 20, 10.0, None),
            ("fixed:60/min", Fixed, 60, 60.0, None),
            ("leaky:10/s", Leaky, 10, 1.0, None),
            ("leaky:10/s:0", Leaky, 10, 1.0, Some(0)),
            ("Leaky: 10/s : 20", Leaky, 10, 1.0, Some(20)),
            ("token:0.5/s:3", Token, 1, 2.0, Some(3)),
        ] {
            let expected = RateLimit {
                requests,
                per_s,
                shape,
                burst,
                ..RateLimit::default()
            };
            assert_eq!(RateLimit::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_limit_that_cannot_be_read_is_told_how_to_write_it() {
        const RATE: &str = "write requests per time span";
        const ONLY: &str = "only `leaky` and `token` have a burst";
        for (text, hint) in [
            ("", RATE),
            ("auto", RATE),
            ("20", RATE),
            ("20/s:", RATE),
            ("0/s", "it must be more than 0"),
            ("leaky", "after the shape, write requests"),
            ("leaky:", "after the shape, write requests"),
            ("leaky:20", "after the shape, write requests"),
            ("token:0/s", "after the shape, it must be more than 0"),
            ("leak:20/s", SHAPES),
            ("20/s:5", SHAPES),
            (":20/s", SHAPES),
            ("leaky:20/s:", BURST),
            ("leaky:20/s:-1", BURST),
            ("leaky:20/s:5:5", BURST),
            ("fixed:20/s:5", ONLY),
            ("sliding:20/s:5", ONLY),
            ("token:20/s:0", "the burst of `token` must be at least 1"),
        ] {
            let error = RateLimit::parse(text).unwrap_err();
            assert!(error.starts_with(hint), "{text}: {error}");
        }
    }

    fn shared(shape: Shape, from_s: f64, until_s: Option<f64>) -> RateLimit {
        RateLimit {
            other_user: Some(OtherUser { from_s, until_s }),
            ..limit(shape, None)
        }
    }

    #[test]
    fn what_is_admitted_of_another_user_counts() {
        // They send at 1, 2 and 3 seconds.
        let mut limiter = Limiter::new(shared(Sliding, 1.0, Some(4.0)));
        assert_eq!(
            quotas(
                &mut limiter,
                &[
                    999_999, 1_000_000, 1_999_999, 3_500_000, 4_000_000, 9_000_000
                ]
            ),
            [
                (2, 2, 0),
                (2, 1, 1_000_000),
                (2, 1, 1),
                (2, 1, 500_000),
                (2, 2, 0),
                (2, 2, 0)
            ]
        );
        // Their request at 1 second is refused, that at 2 seconds is not.
        check(
            shared(Sliding, 1.0, None),
            &[
                (900_000, true),
                (950_000, true),
                (1_900_000, true),
                (1_950_000, true),
                (2_800_000, false),
                (2_900_000, true),
                (2_950_000, true),
                (2_999_999, false),
            ],
        );
    }

    #[test]
    fn another_user_is_counted_in_every_shape() {
        // At 2.2 seconds, with requests of theirs at 0, 1 and 2 seconds.
        for (shape, expected) in [
            (Sliding, (2, 1, 800_000)),
            (Fixed, (2, 1, 800_000)),
            (Leaky, (1, 0, 300_000)),
            (Token, (2, 1, 300_000)),
        ] {
            let mut limiter = Limiter::new(shared(shape, 0.0, None));
            assert_eq!(quotas(&mut limiter, &[2_200_000]), [expected], "{shape:?}");
        }
    }

    #[test]
    fn another_user_does_not_count_while_there_is_no_limit() {
        let mut limiter = Limiter::new(RateLimit {
            per_s: 60.0,
            from_s: 30.0,
            until_s: Some(90.0),
            ..shared(Sliding, 0.0, None)
        });
        // Of those at 0, 60 and 120 seconds, one.
        assert_eq!(
            quotas(&mut limiter, &[30_000_000, 119_000_000, 120_000_000]),
            [(2, 2, 0), (2, 1, 1_000_000), (2, 2, 0)]
        );
    }
}
