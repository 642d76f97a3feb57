//! How a run stands, and how to say it: what the bar and the log have in common.
//!
//! Rule: pure; made of events. What it says names nobody.

use std::time::Duration;

use jiff::Timestamp;

use super::row_total::RowTotal;
use super::tally::Tally;
use super::time_left::{TimeLeft, about};
use crate::event::{Pause, PauseReason, RunEvent};
use crate::lead::Status;
use crate::rate::Rate;
use crate::text::grouped;

/// What has been told of a run so far, but for what became of its rows.
#[derive(Debug, Default)]
pub struct Progress {
    total: RowTotal,
    /// Time since the sending began.
    elapsed: Duration,
    allowed: Option<Rate>,
    pause: Option<Pause>,
    is_stopping: bool,
    time_left: TimeLeft,
}

impl Progress {
    /// Nothing yet, of as many rows as will be counted.
    pub fn new(total: RowTotal) -> Progress {
        Progress {
            total,
            ..Progress::default()
        }
    }

    /// Takes an event.
    pub fn note(&mut self, event: &RunEvent<'_>) {
        self.time_left.note(event);
        match event {
            RunEvent::Pulse(pulse) => {
                self.elapsed = pulse.elapsed;
                self.allowed = pulse.allowed;
                self.pause = pulse.pause;
            }
            RunEvent::Paced(rate) => self.allowed = *rate,
            RunEvent::Held { wait, why, .. } => {
                self.pause = Some(Pause {
                    left: *wait,
                    reason: PauseReason::Refused(*why),
                });
            }
            RunEvent::Outage {
                since, why, next, ..
            } => {
                self.pause = Some(Pause {
                    left: *next,
                    reason: PauseReason::Outage {
                        since: *since,
                        why: *why,
                    },
                });
            }
            RunEvent::Recovered { .. } => self.pause = None,
            RunEvent::Stopping { .. } => self.is_stopping = true,
            _ => {}
        }
    }

    /// How many rows there are, where that is known.
    pub(super) fn total(&self) -> Option<u64> {
        self.total.get()
    }

    /// Time since the sending began.
    pub(super) fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// What everything waits for, if it does.
    pub(super) fn state(&self, in_flight: usize) -> Option<String> {
        if self.is_stopping {
            return Some(format!("stopping, {in_flight} still in flight"));
        }
        let Pause { left, reason } = self.pause?;
        Some(match reason {
            PauseReason::Refused(_) => format!("the service asks to wait {}", wait(left)),
            PauseReason::Outage { since, .. } => {
                let next = match left.is_zero() {
                    true => "trying again now".to_owned(),
                    false => format!("trying again in {}", wait(left)),
                };
                format!("service not answering since {}, {next}", clock(since))
            }
        })
    }

    /// The pace seen, against the one allowed: `1.6/s of 100/min`.
    pub(super) fn pace(&self) -> Option<String> {
        self.pace_with("")
    }

    /// The same for those who see it out of context: `1.6/s of 100/min allowed`.
    pub(super) fn pace_in_full(&self) -> Option<String> {
        self.pace_with(" allowed")
    }

    fn pace_with(&self, word: &str) -> Option<String> {
        let seen = self.time_left.pace_seen();
        let seen = seen.map(|per_second| match per_second {
            ..0.95 => format!("{:.0}/min", per_second * 60.0),
            ..9.95 => format!("{per_second:.1}/s"),
            _ => format!("{}/s", grouped(per_second.round() as u64)),
        });
        match (seen, self.allowed) {
            (Some(seen), Some(allowed)) => Some(format!("{seen} of {allowed}{word}")),
            (Some(seen), None) => Some(seen),
            (None, allowed) => allowed.map(|allowed| format!("up to {allowed}")),
        }
    }

    /// How long it will take: `about 1 h 40 min left`. Once it stops that is of no
    /// interest any more.
    pub(super) fn time_left(&self) -> Option<String> {
        let total = self.total().filter(|_| !self.is_stopping)?;
        self.time_left.estimate(total).map(about)
    }
}

/// The rows by status: `1,180 created, 20 rejected`. What was created is said also where
/// it is nothing, if leads are sent.
pub(super) fn counts(tally: &Tally, sends: bool) -> Vec<String> {
    let is_said = |status: Status, rows: u64| rows > 0 || sends && status == Status::Created;
    let counts = tally.counts.all();
    counts
        .filter(|(status, rows)| is_said(*status, *rows))
        .map(|(status, rows)| format!("{} {status}", grouped(rows)))
        .collect()
}

/// A wait, which is counted down.
fn wait(time: Duration) -> String {
    match time.as_secs_f64().ceil() as u64 {
        seconds @ ..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

/// A time of day, as the log has it: in UTC.
fn clock(time: Timestamp) -> String {
    time.strftime("%H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Pulse;
    use crate::exit::StoppedBy;
    use crate::lead::ErrorCode;

    fn pulse(pause: Option<Pause>) -> RunEvent<'static> {
        RunEvent::Pulse(Pulse {
            elapsed: Duration::from_secs(1),
            allowed: Some(Rate::per_minute(100)),
            in_flight: 3,
            read: 10_000,
            waiting: 10_000,
            pause,
        })
    }

    fn after(events: &[RunEvent<'_>]) -> Progress {
        let total = RowTotal::default();
        total.set(10_000);
        let mut progress = Progress::new(total);
        events.iter().for_each(|event| progress.note(event));
        progress
    }

    fn refused(left: f64) -> Option<Pause> {
        Some(Pause {
            left: Duration::from_secs_f64(left),
            reason: PauseReason::Refused(ErrorCode::Http(429)),
        })
    }

    fn outage(left: u64) -> Option<Pause> {
        Some(Pause {
            left: Duration::from_secs(left),
            reason: PauseReason::Outage {
                since: "2026-11-21T14:02:31Z".parse().unwrap(),
                why: ErrorCode::Timeout,
            },
        })
    }

    #[test]
    fn what_everything_waits_for_is_said_in_words_and_counted_down() {
        for (pause, said) in [
            (refused(37.0), "the service asks to wait 37 s"),
            (refused(36.2), "the service asks to wait 37 s"),
            (refused(119.0), "the service asks to wait 119 s"),
            (refused(121.0), "the service asks to wait 3 min"),
            (
                outage(40),
                "service not answering since 14:02 UTC, trying again in 40 s",
            ),
            (
                outage(0),
                "service not answering since 14:02 UTC, trying again now",
            ),
        ] {
            assert_eq!(after(&[pulse(pause)]).state(3).as_deref(), Some(said));
        }
        assert_eq!(after(&[pulse(None)]).state(3), None);
        let stopping = RunEvent::Stopping {
            by: StoppedBy::Signal,
            in_flight: 3,
        };
        let stopping = after(&[pulse(refused(37.0)), stopping]);
        assert_eq!(stopping.state(2).unwrap(), "stopping, 2 still in flight");
        assert_eq!(stopping.time_left(), None);
    }

    #[test]
    fn a_pause_is_known_before_the_next_pulse_and_its_end_too() {
        let held = RunEvent::Held {
            hint: crate::api::verdict::Wait::Unsaid,
            wait: Duration::from_secs(37),
            why: ErrorCode::Http(429),
        };
        let progress = after(&[pulse(None), held]);
        assert_eq!(progress.state(0).unwrap(), "the service asks to wait 37 s");
        let over = after(&[
            pulse(outage(40)),
            RunEvent::Recovered {
                outage: Duration::from_secs(90),
            },
        ]);
        assert_eq!(over.state(0), None);
        assert_eq!(after(&[held, pulse(None)]).state(0), None);
    }

    #[test]
    fn the_pace_is_what_is_allowed_until_one_is_seen() {
        assert_eq!(Progress::default().pace(), None);
        let progress = after(&[pulse(None)]);
        assert_eq!(progress.pace().unwrap(), "up to 100/min");
        assert_eq!(progress.time_left().unwrap(), "about 1 h 40 min left");
        let unlimited = after(&[pulse(None), RunEvent::Paced(None)]);
        assert_eq!(unlimited.pace(), None);
    }

    #[test]
    fn the_pace_seen_is_told_in_whole_numbers_or_nearly() {
        for (every, answers, said) in [
            (60, 1, "1/min of 100/min"),
            (2, 1, "30/min of 100/min"),
            (1, 1, "1.0/s of 100/min"),
            (1, 25, "25/s of 100/min"),
        ] {
            let mut progress = Progress::default();
            for second in 0..=60 {
                let answered = if second > 0 && second % every == 0 {
                    answers
                } else {
                    0
                };
                progress.time_left.answered(answered);
                progress.note(&RunEvent::Pulse(Pulse {
                    elapsed: Duration::from_secs(second),
                    allowed: Some(Rate::per_minute(100)),
                    in_flight: 1,
                    read: 1_000_000,
                    waiting: 0,
                    pause: None,
                }));
            }
            assert_eq!(progress.pace().unwrap(), said);
        }
        let mut progress = Progress::default();
        progress.note(&pulse(None));
        let full = progress.pace_in_full();
        assert_eq!(full.unwrap(), "up to 100/min");
    }

    #[test]
    fn no_time_is_told_during_an_outage_or_before_the_rows_are_counted() {
        assert_eq!(after(&[pulse(outage(5))]).time_left(), None);
        let mut uncounted = Progress::default();
        uncounted.note(&pulse(None));
        assert_eq!(uncounted.time_left(), None);
    }
}
