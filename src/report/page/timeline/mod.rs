//! How a run went over time: rows answered, waits and outages.
//!
//! Rule: pure, and of bounded size however long the run. A time is one since the sending
//! began.

mod pauses;
mod steps;

use std::time::Duration;

use jiff::Timestamp;

use crate::event::RunEvent;
use crate::lead::{ErrorCode, Status};
pub(super) use pauses::{Pauses, Span};
pub(super) use steps::{Step, Steps};

/// What has been told so far.
#[derive(Debug)]
pub(super) struct Timeline {
    /// When the sending began.
    pub(super) began: Timestamp,
    /// The time of the latest event.
    pub(super) ended: Duration,
    /// Rows by when they were answered.
    pub(super) steps: Steps,
    /// When the service refused for now.
    pub(super) waits: Pauses,
    outages: Pauses,
    /// The outage that is on.
    away: Option<(Duration, ErrorCode)>,
}

impl Timeline {
    /// Nothing yet.
    pub(super) fn new(began: Timestamp) -> Timeline {
        Timeline {
            began,
            ended: Duration::ZERO,
            steps: Steps::default(),
            waits: Pauses::default(),
            outages: Pauses::default(),
            away: None,
        }
    }

    /// Takes what happened at a time.
    pub(super) fn note(&mut self, event: &RunEvent<'_>, at: Duration) {
        self.ended = self.ended.max(at);
        match event {
            RunEvent::Settled {
                outcome,
                sent: true,
                ..
            } => self.steps.note(at, outcome.status == Status::Created),
            RunEvent::Held { wait, why, .. } => self.waits.note(Span {
                from: at,
                to: at + *wait,
                why: *why,
            }),
            RunEvent::Outage { since, why, .. } if self.away.is_none() => {
                let from = since.duration_since(self.began);
                self.away = Some((from.try_into().unwrap_or_default(), *why));
            }
            RunEvent::Recovered { .. } => {
                if let Some((from, why)) = self.away.take() {
                    self.outages.note(Span { from, to: at, why });
                }
            }
            _ => {}
        }
    }

    /// When the service gave no usable answers, up to the end.
    pub(super) fn outages(&self) -> Pauses {
        let mut outages = self.outages.clone();
        if let Some((from, why)) = self.away {
            let to = self.ended.max(from);
            outages.note(Span { from, to, why });
        }
        outages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::verdict::Wait;

    const BEGAN: Timestamp = Timestamp::constant(1_795_230_000, 0);

    fn second(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    fn outage(since: i64) -> RunEvent<'static> {
        RunEvent::Outage {
            since: Timestamp::from_second(BEGAN.as_second() + since).unwrap(),
            why: ErrorCode::Timeout,
            reason: None,
            next: second(1),
        }
    }

    const RECOVERED: RunEvent<'static> = RunEvent::Recovered {
        outage: Duration::from_secs(7),
    };

    fn span(from: u64, to: u64, why: ErrorCode) -> Span {
        Span {
            from: second(from),
            to: second(to),
            why,
        }
    }

    #[test]
    fn an_outage_lasts_from_the_first_silence_to_the_next_answer_or_to_the_end() {
        let mut line = Timeline::new(BEGAN);
        line.note(&outage(2), second(3));
        line.note(&outage(2), second(5));
        line.note(&RECOVERED, second(9));
        line.note(&outage(20), second(21));
        line.note(&RunEvent::InFlight(0), second(25));
        let spans = [
            span(2, 9, ErrorCode::Timeout),
            span(20, 25, ErrorCode::Timeout),
        ];
        let outages = line.outages();
        assert_eq!(outages.spans(), spans);
        assert_eq!((outages.count, outages.total), (2, second(12)));
    }

    #[test]
    fn a_clock_that_was_set_back_makes_no_outage_before_the_beginning() {
        let mut line = Timeline::new(BEGAN);
        line.note(&outage(-3600), second(3));
        assert_eq!(line.outages().spans(), [span(0, 3, ErrorCode::Timeout)]);
    }

    #[test]
    fn a_wait_ends_with_the_run_at_the_latest() {
        let mut line = Timeline::new(BEGAN);
        let held = RunEvent::Held {
            wait: second(60),
            hint: Wait::Unsaid,
            why: ErrorCode::Http(429),
        };
        line.note(&held, second(10));
        line.note(&RunEvent::InFlight(0), second(15));
        let waits = line.waits.until(line.ended);
        assert_eq!(waits.spans(), [span(10, 15, ErrorCode::Http(429))]);
        assert_eq!((waits.total, waits.longest), (second(5), second(5)));
    }
}
