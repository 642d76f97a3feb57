//! The pace at which rows are answered, as it was over the last minute or so of sending.
//!
//! Rule: pure; time is what the pulses say. A pause that is over says nothing of the pace
//! to come, so it is left out. Where the service has refused more than once in that time,
//! the pauses are how it paces us, and they count. An outage never does.

use std::collections::VecDeque;
use std::time::Duration;

use crate::event::{Pause, PauseReason, Pulse};

/// How much sending is looked back on.
const LOOK_BACK: Duration = Duration::from_secs(60);

/// Before this much of it a pace is not worth a word.
const MIN_TO_SHOW: Duration = Duration::from_secs(5);

/// Before this much, and fewer rows than these, nothing is built on it.
const MIN_TO_TRUST: Duration = Duration::from_secs(10);
const FEWEST_ROWS: u64 = 20;

/// The answers of the last minute or so.
#[derive(Debug, Default)]
pub(super) struct PaceSeen {
    /// What was between two pulses, the latest last.
    spans: VecDeque<Span>,
    /// Rows answered since the latest pulse.
    answered: u64,
    latest: Option<Pulse>,
}

#[derive(Debug, Default)]
struct Span {
    working: Duration,
    /// Waiting because the service refused.
    refused: Duration,
    /// How many such waits began.
    refusals: u32,
    answered: u64,
}

impl PaceSeen {
    /// A row that was sent has its outcome.
    pub(super) fn answer(&mut self) {
        self.answered += 1;
    }

    /// Takes a pulse.
    pub(super) fn pulse(&mut self, pulse: &Pulse) {
        let answered = std::mem::take(&mut self.answered);
        let Some(latest) = self.latest.replace(*pulse) else {
            // What was before the first pulse cannot be told from what was not sent.
            return;
        };
        let time = pulse.elapsed.saturating_sub(latest.elapsed);
        let (refused, out) = waited(latest.pause, time);
        self.push(Span {
            working: time.saturating_sub(refused).saturating_sub(out),
            refused,
            refusals: u32::from(is_refused(pulse.pause) && !is_refused(latest.pause)),
            answered,
        });
    }

    fn push(&mut self, span: Span) {
        match self.spans.back_mut() {
            // A long pause is one span, or there would be thousands of them.
            Some(last) if span.working.is_zero() && last.working.is_zero() => {
                last.refused += span.refused;
                last.refusals += span.refusals;
                last.answered += span.answered;
            }
            _ => self.spans.push_back(span),
        }
        while let Some(first) = self.spans.front()
            && self.working() >= LOOK_BACK + first.working
        {
            self.spans.pop_front();
        }
    }

    fn working(&self) -> Duration {
        self.spans.iter().map(|span| span.working).sum()
    }

    /// Rows answered in a second, where there is enough to tell.
    pub(super) fn per_second(&self) -> Option<f64> {
        let working = self.working();
        if working < MIN_TO_SHOW {
            return None;
        }
        let refusals: u32 = self.spans.iter().map(|span| span.refusals).sum();
        let refused: Duration = self.spans.iter().map(|span| span.refused).sum();
        let time = match refusals {
            0 | 1 => working,
            _ => working + refused,
        };
        Some(self.rows() as f64 / time.as_secs_f64())
    }

    /// The same, where something can be built on it.
    pub(super) fn trusted(&self) -> Option<f64> {
        let (working, rows) = (self.working(), self.rows());
        let is_much = working >= MIN_TO_TRUST && rows >= FEWEST_ROWS;
        // Few answers in a whole minute are a slow pace, not little evidence.
        let is_long = working >= LOOK_BACK && rows > 0;
        self.per_second().filter(|_| is_much || is_long)
    }

    fn rows(&self) -> u64 {
        self.spans.iter().map(|span| span.answered).sum()
    }
}

/// How much of a time was spent waiting, by the pause it began with: because the service
/// refused, and because it did not answer.
fn waited(pause: Option<Pause>, time: Duration) -> (Duration, Duration) {
    match pause {
        None => (Duration::ZERO, Duration::ZERO),
        Some(Pause {
            left,
            reason: PauseReason::Refused(_),
        }) => (left.min(time), Duration::ZERO),
        Some(Pause {
            reason: PauseReason::Outage { .. },
            ..
        }) => (Duration::ZERO, time),
    }
}

fn is_refused(pause: Option<Pause>) -> bool {
    pause.is_some_and(|pause| matches!(pause.reason, PauseReason::Refused(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lead::ErrorCode;

    fn pulse(second: u64, pause: Option<Pause>) -> Pulse {
        Pulse {
            elapsed: Duration::from_secs(second),
            allowed: None,
            in_flight: 0,
            requests: 0,
            read: 0,
            waiting: 0,
            pause,
        }
    }

    /// So many answers in each second, from the first pulse on.
    fn seen(seconds: u64, answers: u64) -> PaceSeen {
        let mut seen = PaceSeen::default();
        for second in 0..=seconds {
            (0..answers).for_each(|_| seen.answer());
            seen.pulse(&pulse(second, None));
        }
        seen
    }

    #[test]
    fn a_pace_is_shown_early_and_trusted_when_there_is_enough() {
        assert_eq!(seen(4, 3).per_second(), None);
        assert_eq!(seen(5, 3).per_second(), Some(3.0));
        assert_eq!(seen(9, 3).trusted(), None);
        assert_eq!(seen(10, 3).trusted(), Some(3.0));
        assert_eq!(seen(12, 1).trusted(), None);
        assert_eq!(seen(20, 1).trusted(), Some(1.0));
        assert_eq!(seen(90, 0).trusted(), None);
    }

    #[test]
    fn only_the_last_minute_counts() {
        let mut seen = seen(600, 10);
        for second in 601..=660 {
            seen.answer();
            seen.pulse(&pulse(second, None));
        }
        assert_eq!(seen.per_second(), Some(1.0));
    }

    #[test]
    fn a_pause_of_hours_takes_no_room() {
        let mut seen = seen(10, 10);
        let pause = Pause {
            left: Duration::from_secs(7200),
            reason: PauseReason::Refused(ErrorCode::Http(429)),
        };
        (11..7200).for_each(|second| seen.pulse(&pulse(second, Some(pause))));
        assert!(seen.spans.len() < 15, "{}", seen.spans.len());
    }
}
