//! The progress of a run and how it is worded, for the bar and the log.
//!
//! Rule: pure; made from events. Its texts hold no personal data.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::time_left::{TimeLeft, rounded};
use crate::event::{Pause, RunEvent, Waiting};
use crate::lead::{Counts, Status};
use crate::message::Text;
use crate::rate::Pace;
use crate::text::{counted, grouped};

/// The number of rows of all inputs. It is counted while the
/// work is done, so it becomes known some time after the start.
pub type RowTotal = Arc<OnceLock<u64>>;

#[derive(Debug, Default)]
pub struct Progress {
    total: RowTotal,
    /// The time since sending began.
    pub(super) elapsed: Duration,
    /// `None` means no limit of our own, or none known yet.
    pub(super) allowed: Option<Pace>,
    pause: Option<Pause>,
    is_stopping: bool,
    time_left: TimeLeft,
}

impl Progress {
    pub fn new(total: RowTotal) -> Progress {
        Progress {
            total,
            ..Progress::default()
        }
    }

    pub fn count(&mut self, event: &RunEvent<'_>) {
        self.time_left.count(event);
        match event {
            RunEvent::Pulse(pulse) => {
                self.elapsed = pulse.elapsed;
                self.allowed = pulse.allowed;
                self.pause.clone_from(&pulse.pause);
            }
            RunEvent::Stopping { .. } => self.is_stopping = true,
            _ => {}
        }
    }

    pub(super) fn total(&self) -> Option<u64> {
        self.total.get().copied()
    }

    /// What all requests wait for, if they do.
    pub fn state(&self, in_flight: usize, zone: &TimeZone) -> Option<Text> {
        if self.is_stopping {
            return Some(text!("stopping, {in_flight:} still in flight", in_flight));
        }
        let Pause { left, why } = self.pause.as_ref()?;
        let wait = wait(*left);
        Some(match why {
            Waiting::Asked => text!("the service asks to wait {wait}", wait),
            Waiting::Refused => text!(
                "the service takes nothing for now, trying again in {wait}",
                wait
            ),
            Waiting::Outage { since } => {
                let next = match left.is_zero() {
                    true => "now".to_owned(),
                    false => format!("in {wait}"),
                };
                text!(
                    "{service not answering|the service has not answered} since {since}, trying again {next}",
                    since = clock(*since, zone),
                    next
                )
            }
            Waiting::Retry => text!("no usable answer, trying again in {wait}", wait),
            Waiting::Pace => text!(
                "the rate is used up by what was sent before, going on in {wait}",
                wait
            ),
            Waiting::Others { rows, by } => others(*rows, by.as_deref(), *left),
            Waiting::Token => text!(
                "the access token is refused, another one is awaited for {wait}",
                wait
            ),
            Waiting::Ledger { since } => text!(
                "{ledger out of reach|leadload's record of what was sent can't be reached} since {since}, nothing is sent",
                since = clock(*since, zone)
            ),
            Waiting::Commit { since } => text!(
                "{ledger} has been slow to write since {since}, nothing is sent",
                since = clock(*since, zone)
            ),
        })
    }

    /// What all requests wait for, as a word for machines.
    pub(super) fn waits_for(&self) -> Option<&'static str> {
        self.pause.as_ref().map(|pause| pause.why.word())
    }

    /// The measured pace and the limit: `1.6/s of 100/min, as the service states`.
    pub fn pace(&self) -> Option<String> {
        match (self.pace_seen().map(per_time), self.allowed) {
            (Some(seen), Some(allowed)) => Some(format!("{seen} of {allowed}")),
            (Some(seen), None) => Some(seen),
            (None, allowed) => allowed.map(|allowed| format!("up to {allowed}")),
        }
    }

    /// Rows answered in a second; `None` if there is not enough data.
    pub(super) fn pace_seen(&self) -> Option<f64> {
        self.time_left.pace_seen()
    }

    /// The time left: `about 1 h 40 min left`. It is not shown when the run is stopping.
    pub(super) fn time_left(&self) -> Option<String> {
        let left = self.left()?;
        Some(format!("about {} left", rounded(left)))
    }

    pub fn left(&self) -> Option<Duration> {
        let total = self.total().filter(|_| !self.is_stopping)?;
        self.time_left.estimate(total)
    }
}

/// A time of day: `14:02`.
fn clock(at: Timestamp, zone: &TimeZone) -> String {
    let form = if *zone == TimeZone::UTC {
        "%H:%M UTC"
    } else {
        "%H:%M"
    };
    at.to_zoned(zone.clone()).strftime(form).to_string()
}

/// The wait for rows of other runs, which may send on for longer.
fn others(rows: u64, by: Option<&str>, left: Duration) -> Text {
    let by = by.unwrap_or("another run");
    let at_most = match left.is_zero() {
        true => Text::default(),
        false => text!(", {wait} at most if it was killed", wait = wait(left)),
    };
    text!(
        "waiting for {rows:row} that {by} has claimed{at_most}",
        rows,
        by,
        at_most
    )
}

/// The rows by status: `1,180 created, 20 rejected`. When
/// rows are sent, `created` is shown even if it is 0.
pub(super) fn counts(counts: &Counts, work: Work) -> String {
    let is_sent = |status| work == Work::Sending && status == Status::Created;
    let said: Vec<String> = counts
        .all()
        .filter(|(status, rows)| *rows > 0 || is_sent(*status))
        .map(|(status, rows)| format!("{} {status}", grouped(rows)))
        .collect();
    said.join(", ")
}

/// How many rows have an outcome: `1,200 of 8,800 rows (13 %)`.
pub(super) fn row_count(rows: u64, total: Option<u64>) -> String {
    match total.filter(|total| *total > 0) {
        Some(total) => {
            let percent = 100 * rows.min(total) / total;
            let all = counted(total, "row");
            format!("{} of {all} ({percent} %)", grouped(rows))
        }
        None => counted(rows, "row"),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    Bar,
    /// As log lines, which need `-v`.
    Log,
    /// As lines on a terminal that cannot show a bar.
    Lines,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Sending,
    Checking,
}

/// A pace in the unit in which it is a number of some size: `1/min`, `1.6/s`, `1,200/s`.
pub(super) fn per_time(per_second: f64) -> String {
    match per_second {
        ..0.95 => format!("{:.0}/min", per_second * 60.0),
        ..9.95 => format!("{per_second:.1}/s"),
        _ => format!("{}/s", grouped(per_second.round() as u64)),
    }
}

/// A wait, which is counted down.
fn wait(time: Duration) -> String {
    match time.as_secs_f64().ceil() as u64 {
        seconds @ ..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Pulse;
    use crate::exit::StoppedBy;
    use crate::rate::Rate;

    fn pulse(pause: Option<Pause>) -> RunEvent<'static> {
        RunEvent::Pulse(Pulse {
            elapsed: Duration::from_secs(1),
            allowed: Some(Pace::stated(Rate::per_minute(100))),
            in_flight: 3,
            requests: 0,
            read: 10_000,
            waiting: 10_000,
            pause,
        })
    }

    fn after(events: &[RunEvent<'_>]) -> Progress {
        let total = RowTotal::default();
        total.set(10_000).unwrap();
        let mut progress = Progress::new(total);
        events.iter().for_each(|event| progress.count(event));
        progress
    }

    fn refused(left: f64) -> Option<Pause> {
        Some(Waiting::Asked.lasting(Duration::from_secs_f64(left)))
    }

    fn outage(left: u64) -> Option<Pause> {
        other(left, Waiting::Outage { since: since() })
    }

    fn since() -> Timestamp {
        "2026-11-21T14:02:31Z".parse().unwrap()
    }

    fn other(left: u64, why: Waiting) -> Option<Pause> {
        Some(why.lasting(Duration::from_secs(left)))
    }

    fn claimed(by: Option<&str>) -> Waiting {
        let by = by.map(Into::into);
        Waiting::Others { rows: 2, by }
    }

    #[test]
    fn the_reason_of_a_wait_is_shown_with_a_countdown() {
        for (pause, said) in [
            (refused(37.0), "the service asks to wait 37 s"),
            (refused(36.2), "the service asks to wait 37 s"),
            (refused(119.0), "the service asks to wait 119 s"),
            (refused(121.0), "the service asks to wait 3 min"),
            (
                refused(2.0).map(|pause| Pause {
                    why: Waiting::Refused,
                    ..pause
                }),
                "the service takes nothing for now, trying again in 2 s",
            ),
            (
                outage(40),
                "service not answering since 14:02 UTC, trying again in 40 s",
            ),
            (
                other(0, Waiting::Ledger { since: since() }),
                "ledger out of reach since 14:02 UTC, nothing is sent",
            ),
            (
                other(0, Waiting::Commit { since: since() }),
                "the ledger has been slow to write since 14:02 UTC, nothing is sent",
            ),
            (
                other(63, Waiting::Pace),
                "the rate is used up by what was sent before, going on in 63 s",
            ),
            (
                other(4, Waiting::Retry),
                "no usable answer, trying again in 4 s",
            ),
            (
                other(120, Waiting::Token),
                "the access token is refused, another one is awaited for 2 min",
            ),
            (
                other(68, claimed(Some("run 3 of ada on desk"))),
                "waiting for 2 rows that run 3 of ada on desk has claimed, 68 s at most if it was killed",
            ),
            (
                other(0, claimed(None)),
                "waiting for 2 rows that another run has claimed",
            ),
            (
                outage(0),
                "service not answering since 14:02 UTC, trying again now",
            ),
        ] {
            let state = after(&[pulse(pause)]).state(3, &TimeZone::UTC);
            assert_eq!(state.unwrap(), said);
        }
        assert_eq!(after(&[pulse(None)]).state(3, &TimeZone::UTC), None);
        let stopping = RunEvent::Stopping {
            by: StoppedBy::Signal,
            in_flight: 3,
        };
        let stopping = after(&[pulse(refused(37.0)), stopping]);
        let state = stopping.state(2, &TimeZone::UTC).unwrap();
        assert_eq!(state, "stopping, 2 still in flight");
        assert_eq!(stopping.time_left(), None);
    }

    #[test]
    fn a_time_of_day_is_shown_in_local_time() {
        let zone = TimeZone::fixed(jiff::tz::offset(-5));
        let state = after(&[pulse(outage(40))]).state(0, &zone).unwrap();
        assert_eq!(
            state,
            "service not answering since 09:02, trying again in 40 s"
        );
    }

    #[test]
    fn the_pace_is_what_is_allowed_until_one_is_seen() {
        assert_eq!(Progress::default().pace(), None);
        let progress = after(&[pulse(None)]);
        assert_eq!(
            progress.pace().unwrap(),
            "up to 100/min, as the service states"
        );
        assert_eq!(progress.time_left().unwrap(), "about 1 h 40 min left");
    }

    #[test]
    fn the_measured_pace_is_rounded() {
        for (every, answers, said) in [
            (60, 1, "1/min of 100/min, as the service states"),
            (2, 1, "30/min of 100/min, as the service states"),
            (1, 1, "1.0/s of 100/min, as the service states"),
            (1, 25, "25/s of 100/min, as the service states"),
        ] {
            let mut progress = Progress::default();
            for second in 0..=60 {
                let answered = if second > 0 && second % every == 0 {
                    answers
                } else {
                    0
                };
                progress.time_left.answered(answered);
                progress.count(&RunEvent::Pulse(Pulse {
                    elapsed: Duration::from_secs(second),
                    allowed: Some(Pace::stated(Rate::per_minute(100))),
                    in_flight: 1,
                    requests: 0,
                    read: 1_000_000,
                    waiting: 0,
                    pause: None,
                }));
            }
            assert_eq!(progress.pace().unwrap(), said);
        }
    }

    #[test]
    fn rows_are_counted_against_their_total() {
        assert_eq!(row_count(1200, Some(8800)), "1,200 of 8,800 rows (13 %)");
        assert_eq!(row_count(0, Some(0)), "0 rows");
        // A file that has grown since it was counted.
        assert_eq!(row_count(9, Some(8)), "9 of 8 rows (100 %)");
    }

    #[test]
    fn the_created_count_is_shown_even_if_zero() {
        assert_eq!(counts(&Counts::default(), Work::Sending), "0 created");
        assert_eq!(counts(&Counts::default(), Work::Checking), "");
    }

    #[test]
    fn no_remaining_time_is_shown_during_an_outage_or_before_rows_are_counted() {
        for pause in [
            outage(5),
            other(68, claimed(None)),
            other(9, Waiting::Token),
        ] {
            assert_eq!(after(&[pulse(pause)]).time_left(), None);
        }
        let mut uncounted = Progress::default();
        uncounted.count(&pulse(None));
        assert_eq!(uncounted.time_left(), None);
    }
}
