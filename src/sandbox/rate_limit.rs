//! Limits how many requests may start in a span of time.
//!
//! Rule: time is passed in (microseconds since the start), and a refused request does not count.

use std::collections::VecDeque;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::ensure;
use axum::http::HeaderMap;
use serde::Deserialize;

use crate::rate::Rate;

/// The longest window, in seconds: a year, so that the end of every wait can be written as a date.
const MAX_WINDOW_S: f64 = 365.0 * 24.0 * 3600.0;

/// At most `requests` requests in `per_s` seconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimit {
    pub requests: usize,
    /// Length of the window in seconds.
    pub per_s: f64,
    pub window: Window,
    /// When the limit starts, in seconds since the start of the sandbox.
    pub from_s: f64,
    /// When the limit ends; `None` if never.
    pub until_s: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Window {
    /// Any span of this length counts.
    #[default]
    Sliding,
    /// The window opens with a request and lasts for the whole span (as in Laravel).
    Fixed,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum RateLimitHint {
    /// `Retry-After` in seconds.
    #[default]
    RetryAfter,
    /// `Retry-After` as a date.
    HttpDate,
    /// `retry_after` in the body.
    Body,
    /// No hint.
    None,
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
    pub(super) fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.requests > 0 && self.per_s > 0.0 && self.per_s <= MAX_WINDOW_S,
            "a rate limit needs `requests` above 0 and `per_s` above 0, at most {MAX_WINDOW_S}"
        );
        Ok(())
    }
}

/// What a client may learn about a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quota {
    pub(super) limit: usize,
    pub(super) remaining: usize,
    /// Microseconds until more requests are allowed.
    pub(super) reset_us: u64,
}

impl Quota {
    /// Sets the headers for this quota. A scripted answer keeps the headers that it already has.
    pub(super) fn state_in(self, headers: &mut HeaderMap, reset: SystemTime) {
        let reset = reset.duration_since(UNIX_EPOCH).unwrap_or_default();
        let reset_s = reset.as_secs() + u64::from(reset.subsec_nanos() > 0);
        for (name, value) in [
            ("x-ratelimit-limit", self.limit as u64),
            ("x-ratelimit-remaining", self.remaining as u64),
            ("x-ratelimit-reset", reset_s),
        ] {
            headers.entry(name).or_insert(value.into());
        }
    }
}

pub(super) struct Limiter {
    limit: RateLimit,
    /// When the requests in the window were admitted, oldest first; never more than the limit.
    admitted: VecDeque<u64>,
}

impl Limiter {
    pub(super) fn new(limit: RateLimit) -> Self {
        let admitted = VecDeque::new();
        Self { limit, admitted }
    }

    pub(super) fn holds(&self, now: u64) -> bool {
        let now = now as f64 / 1e6;
        self.limit.from_s <= now && self.limit.until_s.is_none_or(|until| now < until)
    }

    /// Removes what has left the window at `now`, and returns the quota that is left.
    pub(super) fn quota(&mut self, now: u64) -> Quota {
        let per_us = (self.limit.per_s * 1e6) as u64;
        while let Some(&first) = self.admitted.front()
            && first + per_us <= now
        {
            match self.limit.window {
                Window::Sliding => drop(self.admitted.pop_front()),
                Window::Fixed => self.admitted.clear(),
            }
        }
        let over = self.admitted.front().map_or(now, |t| t + per_us);
        Quota {
            limit: self.limit.requests,
            remaining: self.limit.requests - self.admitted.len(),
            reset_us: over - now,
        }
    }

    /// Counts a request at `now`. Call it only if [`quota`](Self::quota) has some left.
    pub(super) fn admit(&mut self, now: u64) {
        self.admitted.push_back(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(window: Window) -> Limiter {
        Limiter::new(RateLimit {
            requests: 2,
            per_s: 1.0,
            window,
            ..RateLimit::default()
        })
    }

    /// Which of the requests at these times are admitted.
    fn admitted(window: Window, times: &[u64]) -> Vec<bool> {
        let mut limiter = limiter(window);
        times
            .iter()
            .map(|&now| {
                let free = limiter.quota(now).remaining > 0;
                if free {
                    limiter.admit(now);
                }
                free
            })
            .collect()
    }

    #[test]
    fn a_sliding_window_frees_one_place_at_a_time() {
        let times = [0, 900_000, 999_999, 1_000_000, 1_000_001, 1_900_000];
        assert_eq!(
            admitted(Window::Sliding, &times),
            [true, true, false, true, false, true]
        );
    }

    #[test]
    fn a_fixed_window_frees_all_places_at_once() {
        let times = [0, 900_000, 999_999, 1_000_000, 1_000_001, 1_900_000];
        assert_eq!(
            admitted(Window::Fixed, &times),
            [true, true, false, true, true, false]
        );
    }

    #[test]
    fn the_quota_has_the_time_when_more_is_free() {
        let mut limiter = limiter(Window::Sliding);
        limiter.admit(0);
        limiter.admit(400_000);
        let expected = Quota {
            limit: 2,
            remaining: 0,
            reset_us: 500_000,
        };
        assert_eq!(limiter.quota(500_000), expected);
    }
}
