//! The waits that the service asks for: 429, or any other refusal with a hint.
//!
//! Rule: pure; time and chance are passed in. Nothing starts during a wait. After it one
//! request goes first, and the others when it has been answered. Without a hint each wait is
//! longer than the last, until an answer has been understood.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use crate::backoff;
use crate::clock::{self, Slept};
use crate::lead::ErrorCode;

#[derive(Debug, Default)]
pub(super) struct Throttle {
    /// Refusals without a hint since an answer was understood.
    pub(super) unhinted: u32,
    /// The answer that asked for the last wait.
    pub(super) why: Option<ErrorCode>,
    began: Option<Instant>,
    /// When the last wait ends; kept until the first request after it is answered.
    pub(super) probe_at: Option<Instant>,
    /// Until when the service itself asked us to wait.
    pub(super) asked_until: Option<Instant>,
    slept: Slept,
}

impl Throttle {
    /// How long to wait after a refusal of a request that started at `started`; `None` if it
    /// belongs to a refusal that is already being waited for.
    pub(super) fn refused(
        &mut self,
        hint: Option<Duration>,
        started: Instant,
        now: Instant,
        chance: f64,
    ) -> Option<Duration> {
        let wait = match hint {
            Some(wait) => wait,
            // Everything in flight is refused at once: that is one refusal, even if one of
            // the answers arrives much later.
            None if self.began.is_some_and(|at| started <= at) => return None,
            None => {
                self.unhinted += 1;
                backoff::refused_delay(self.unhinted, chance)
            }
        };
        self.began = Some(now);
        Some(wait)
    }

    /// Everything waits until `until`, for which the service itself has asked or not.
    pub(super) fn wait(&mut self, until: Instant, is_asked: bool, why: ErrorCode) {
        self.count_sleep();
        self.probe_at = self.probe_at.max(Some(until));
        if is_asked {
            self.asked_until = self.asked_until.max(Some(until));
        }
        self.why = Some(why);
    }

    /// The time that the computer sleeps is part of each wait.
    pub(super) fn count_sleep(&mut self) {
        self.slept
            .bring_nearer([&mut self.probe_at, &mut self.asked_until]);
    }

    /// A request got an answer that is no refusal: if it was the one that went first after a
    /// wait, the others may follow.
    pub(super) fn answered(&mut self, started: Instant) {
        self.probe_at = self.probe_at.filter(|at| started < *at);
    }

    /// Whether a wait has begun since then.
    pub(super) fn has_refused_since(&self, since: Option<Instant>) -> bool {
        self.began.is_some() && self.began >= since
    }
}

/// The time of day after a wait.
pub(super) fn wall_clock_ahead(wait: Duration) -> Timestamp {
    let wait = SignedDuration::try_from(wait).unwrap_or_default();
    clock::now().saturating_add(wait).unwrap_or_default()
}

/// The time of day at a moment of the monotonic clock.
pub(super) fn wall_clock(at: Instant) -> Timestamp {
    let ago = SignedDuration::try_from(at.elapsed()).unwrap_or_default();
    clock::now().saturating_sub(ago).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    const NO_HINT: Option<Duration> = None;

    fn at(seconds: u64) -> Instant {
        // The clock is not started: only differences count.
        let zero = Instant::now();
        zero + Duration::from_secs(seconds)
    }

    #[test]
    fn requests_refused_together_count_as_one_refusal() {
        let zero = at(0);
        let after = |seconds| zero + Duration::from_secs(seconds);
        let mut throttle = Throttle::default();
        let first = throttle.refused(NO_HINT, after(0), after(1), 1.0);
        assert_eq!(first, Some(Duration::from_secs(1)));
        assert_eq!(throttle.refused(NO_HINT, after(1), after(2), 1.0), None);
        let second = throttle.refused(NO_HINT, after(3), after(4), 1.0);
        assert_eq!(second, Some(Duration::from_millis(1300)));
        throttle.unhinted = 0;
        let third = throttle.refused(NO_HINT, after(5), after(6), 1.0);
        assert_eq!(third, Some(Duration::from_secs(1)));
    }

    #[test]
    fn a_wait_without_a_hint_is_never_nothing() {
        let mut throttle = Throttle::default();
        let wait = throttle.refused(NO_HINT, at(0), at(0), 0.0);
        assert_eq!(wait, Some(Duration::from_millis(500)));
    }

    #[test]
    fn waits_go_on_while_the_computer_sleeps_and_are_probed_after_that_all_the_same() {
        let zero = at(0);
        let after = |seconds| zero + Duration::from_secs(seconds);
        let mut throttle = Throttle::default();
        throttle.wait(after(3600), true, ErrorCode::Http(429));
        clock::testing::sleep(Duration::from_secs(3000));
        throttle.count_sleep();
        assert_eq!(throttle.probe_at, Some(after(600)));
        assert_eq!(throttle.asked_until, Some(after(600)));
        clock::testing::sleep(Duration::from_secs(3000));
        throttle.count_sleep();
        throttle.answered(zero);
        assert!(throttle.probe_at.is_some_and(|at| at < after(600)));
    }

    #[test]
    fn the_longest_wait_counts_and_ends_with_an_answer_to_a_later_request() {
        let zero = at(0);
        let after = |seconds| zero + Duration::from_secs(seconds);
        let mut throttle = Throttle::default();
        throttle.wait(after(60), true, ErrorCode::Http(429));
        throttle.wait(after(5), true, ErrorCode::Http(503));
        throttle.wait(after(90), false, ErrorCode::Http(503));
        assert_eq!(throttle.probe_at, Some(after(90)));
        assert_eq!(throttle.asked_until, Some(after(60)));
        throttle.answered(after(89));
        assert_eq!(throttle.probe_at, Some(after(90)));
        throttle.answered(after(90));
        assert_eq!(throttle.probe_at, None);
    }
}
