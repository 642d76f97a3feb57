//! Start times that the ledger has reserved for this process.
//!
//! Rule: pure; time is passed in. Where several machines send to one service, they share one
//! pace: the ledger hands out start times, each to one process. A request may start at a
//! reserved time, or later by a [`TOLERANCE`] at most. Times that come too late are dropped: made
//! up for, they would bunch with those of other processes.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use crate::ledger::shared_pace::{AHEAD, TOLERANCE};

/// When to ask again if the ledger has not answered: its answer wakes the loop before that.
const NO_ANSWER: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct ReservedStarts {
    times: VecDeque<Instant>,
    /// Whether a request waits for a time, or will soon.
    is_wanted: bool,
    /// Whether more have been asked for.
    is_asked: bool,
}

impl ReservedStarts {
    pub(super) fn add(&mut self, times: Vec<Instant>) {
        if !times.is_empty() {
            // More are asked for only when a request waits: what nobody uses is lost for all.
            (self.is_asked, self.is_wanted) = (false, false);
        }
        self.times.extend(times);
    }

    /// Whether a request may start now. If not, the error is when to ask again. If no time is
    /// reserved, what the ledger answers comes before that.
    pub(super) fn is_due(&mut self, now: Instant) -> Result<(), Instant> {
        while self.times.front().is_some_and(|at| *at + TOLERANCE < now) {
            self.times.pop_front();
        }
        let last = self.times.back();
        self.is_wanted = last.is_none_or(|last| *last < now + AHEAD / 2);
        match self.times.front() {
            Some(at) if *at <= now => Ok(()),
            first => Err(first.copied().unwrap_or(now + NO_ANSWER)),
        }
    }

    /// Uses the first time up.
    pub(super) fn take(&mut self) {
        self.times.pop_front();
    }

    /// Whether to ask for more now.
    pub(super) fn ask(&mut self) -> bool {
        let asks = self.is_wanted && !self.is_asked;
        self.is_asked |= asks;
        asks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_request_starts_at_a_reserved_time_and_never_before_it() {
        let now = Instant::now();
        let mut reserved = ReservedStarts::default();
        assert_eq!(reserved.is_due(now), Err(now + NO_ANSWER));
        reserved.add(vec![now + 10 * MS, now + 20 * MS]);
        assert_eq!(reserved.is_due(now), Err(now + 10 * MS));
        assert_eq!(reserved.is_due(now + 10 * MS), Ok(()));
        reserved.take();
        assert_eq!(reserved.is_due(now + 11 * MS), Err(now + 20 * MS));
    }

    #[test]
    fn times_that_come_too_late_are_dropped_and_not_made_up_for() {
        let now = Instant::now();
        let mut reserved = ReservedStarts::default();
        reserved.add((1..=4).map(|n| now + n * 10 * MS).collect());
        assert_eq!(reserved.is_due(now + 25 * MS), Ok(()));
        reserved.take();
        assert_eq!(reserved.is_due(now + 25 * MS), Err(now + 30 * MS));
        assert_eq!(reserved.is_due(now + 36 * MS), Err(now + 40 * MS));
    }

    #[test]
    fn without_a_request_no_more_are_asked_for() {
        let now = Instant::now();
        let mut reserved = ReservedStarts::default();
        let _ = reserved.is_due(now);
        assert!(reserved.ask());
        reserved.add(vec![now + 10 * MS]);
        assert!(!reserved.ask());
    }

    #[test]
    fn more_are_asked_for_once_and_before_the_last_is_due() {
        let now = Instant::now();
        let mut reserved = ReservedStarts::default();
        assert!(!reserved.ask());
        let _ = reserved.is_due(now);
        assert!(reserved.ask());
        assert!(!reserved.ask());
        reserved.add(vec![now + AHEAD]);
        let _ = reserved.is_due(now);
        assert!(!reserved.ask());
        let _ = reserved.is_due(now + AHEAD * 3 / 4);
        assert!(reserved.ask());
    }
}
