//! What the terminal shows while rows are sent or checked: at most four lines.
//!
//! ```text
//! [=======>                              ] 1,200 of 8,800 rows (13 %)
//! 1,180 created, 20 rejected
//! 1.6/s of 100/min allowed, 3 in flight, about 1 h 20 min left
//! ```
//!
//! The last line says instead what everything waits for, if it does. On a narrow terminal
//! each line leaves out what matters least, and cuts nothing. Signs are those that every
//! terminal has, in one width; there is no colour.

use std::time::{Duration, Instant};

use super::block::Block;
use super::clock::Clock;
use super::listeners::Show;
use super::progress::{Progress, Work, is_counted, per_time};
use super::time_left::about;
use super::width::{first_that_fits, wrapped};
use super::{Log, Tally};
use crate::event::RunEvent;
use crate::lead::{Counts, Status};
use crate::text::grouped;

/// How often it is drawn, at most: numbers that change faster cannot be read.
const EVERY: Duration = Duration::from_millis(200);

/// A bar that is shorter says nothing.
const SHORTEST_BAR: usize = 10;

/// How many lines counts may take.
const LINES_OF_COUNTS: usize = 2;

/// What is shown rather than others where there is no room for all.
const BY_IMPORTANCE: [Status; 11] = [
    Status::Ready,
    Status::Created,
    Status::Failed,
    Status::Uncertain,
    Status::Rejected,
    Status::Invalid,
    Status::Duplicate,
    Status::Suppressed,
    Status::Excluded,
    Status::AlreadyImported,
    Status::Repeated,
];

/// The lines on standard error, or none.
#[derive(Debug)]
pub struct Bar {
    block: Option<Block>,
    work: Work,
    clock: Clock,
    began: Instant,
    drawn: Option<Instant>,
}

impl Bar {
    /// A bar that shares standard error with the log, if one is to be shown.
    pub fn new(show: Show, work: Work, log: &Log) -> Bar {
        Bar {
            block: (show == Show::Bar).then(|| log.block().clone()),
            work,
            clock: Clock::here(),
            began: Instant::now(),
            drawn: None,
        }
    }

    /// Whether there is anything to be seen.
    pub fn is_shown(&self) -> bool {
        self.block.is_some()
    }

    /// Shows what has happened.
    pub fn note(&mut self, event: &RunEvent<'_>, tally: &Tally, progress: &Progress) {
        let Some(block) = &self.block else {
            return;
        };
        let is_frequent = matches!(
            event,
            RunEvent::Settled { .. } | RunEvent::InFlight(_) | RunEvent::Retrying { .. }
        );
        // Text that nobody would see is not made.
        if is_frequent && self.drawn.is_some_and(|drawn| drawn.elapsed() < EVERY) {
            return;
        }
        self.drawn = Some(Instant::now());
        block.show(self.lines(block.width(), tally, progress));
    }

    /// What is shown in so many columns.
    fn lines(&self, width: usize, tally: &Tally, progress: &Progress) -> Vec<String> {
        let mut lines = vec![rows(width, tally.counts.total(), progress.total())];
        lines.extend(counts(width, &tally.counts, self.work));
        lines.push(match self.work {
            Work::Sending => first_that_fits(width, sending(tally, progress, &self.clock)),
            Work::Checking => {
                let checked = tally.counts.total();
                let elapsed = self.began.elapsed();
                first_that_fits(width, checking(checked, progress.total(), elapsed))
            }
        });
        lines
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(block) = &self.block {
            block.hide();
        }
    }
}

/// However a command ends, what it says last stands on a clean screen.
impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The bar, and how many rows of how many.
fn rows(width: usize, rows: u64, total: Option<u64>) -> String {
    let done = grouped(rows);
    let Some(total) = total.filter(|total| *total > 0) else {
        return first_that_fits(width, [format!("{done} rows"), done]);
    };
    let rows = rows.min(total);
    // Neither overflows: no file has so many rows.
    let share = 100 * rows / total;
    let all = grouped(total);
    let texts = [
        format!("{done} of {all} rows ({share} %)"),
        format!("{done}/{all} ({share} %)"),
        format!("{done}/{all}"),
        format!("{share} %"),
    ];
    let room = |text: &String| width.saturating_sub(text.len() + 1);
    match texts[..3].iter().find(|text| room(text) >= SHORTEST_BAR) {
        Some(text) => format!("{} {text}", bar(room(text), rows, total)),
        None => first_that_fits(width, texts),
    }
}

fn bar(width: usize, rows: u64, total: u64) -> String {
    let inner = width - 2;
    let done = (inner as u64 * rows / total) as usize;
    let tip = if done < inner { ">" } else { "" };
    format!("[{:<inner$}]", "=".repeat(done) + tip)
}

/// The rows by status; where there are too many for two lines, those that matter.
fn counts(width: usize, counts: &Counts, work: Work) -> Vec<String> {
    let mut shown: Vec<(Status, u64)> = counts
        .all()
        .filter(|(status, rows)| is_counted(*status, *rows, work))
        .collect();
    while !shown.is_empty() {
        let last = shown.len() - 1;
        let words = shown.iter().enumerate().map(|(at, (status, rows))| {
            let comma = if at < last { "," } else { "" };
            format!("{} {status}{comma}", grouped(*rows))
        });
        let words: Vec<String> = words.collect();
        let lines = wrapped(width, words.iter().map(String::as_str));
        if lines.len() <= LINES_OF_COUNTS && lines.iter().all(|line| line.len() <= width) {
            return lines;
        }
        let importance =
            |(status, _): &(Status, u64)| BY_IMPORTANCE.iter().position(|other| other == status);
        let least = (0..shown.len()).max_by_key(|at| importance(&shown[*at]));
        shown.remove(least.unwrap_or(last));
    }
    Vec::new()
}

/// What is said of the sending: what everything waits for, or the pace; and how long it
/// will take. With all details, and with fewer and fewer.
fn sending(tally: &Tally, progress: &Progress, clock: &Clock) -> Vec<String> {
    let in_flight = Some(format!("{} in flight", grouped(tally.in_flight as u64)));
    let left = progress.time_left();
    let joined = |parts: &[&Option<String>]| {
        let parts: Vec<&str> = parts.iter().filter_map(|part| part.as_deref()).collect();
        parts.join(", ")
    };
    match progress.state(tally.in_flight, clock) {
        Some(states) => {
            let mut texts: Vec<String> = states
                .iter()
                .take(2)
                .map(|state| joined(&[&Some(state.clone()), &left]))
                .collect();
            texts.extend(states);
            texts
        }
        None => {
            let (full, pace) = (progress.pace_in_full(), progress.pace());
            [
                &[&full, &in_flight, &left][..],
                &[&pace, &in_flight, &left],
                &[&pace, &left],
                &[&left],
                &[&pace],
                &[&in_flight],
            ]
            .map(joined)
            .into()
        }
    }
}

/// What is said of the checking: rows that are checked all take the same time.
fn checking(rows: u64, total: Option<u64>, elapsed: Duration) -> Vec<String> {
    let per_second = rows as f64 / elapsed.as_secs_f64().max(0.001);
    let pace = per_time(per_second);
    let left = total.filter(|_| elapsed > Duration::from_secs(1) && rows > 0);
    let left = left.map(|total| total.saturating_sub(rows) as f64 / per_second);
    let left = left.and_then(|left| Duration::try_from_secs_f64(left).ok());
    match left {
        Some(left) => vec![format!("{pace}, {}", about(left)), about(left), pace],
        None => vec![pace],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Pause, PauseReason, Pulse};
    use crate::exit::StoppedBy;
    use crate::lead::ErrorCode;
    use crate::rate::Rate;
    use crate::report::RowTotal;

    fn pulse(pause: Option<Pause>) -> RunEvent<'static> {
        RunEvent::Pulse(Pulse {
            elapsed: Duration::from_secs(700),
            allowed: Some(Rate::per_minute(100)),
            in_flight: 3,
            requests: 1200,
            read: 10_000,
            waiting: 8800,
            pause,
        })
    }

    fn asked_to_wait() -> RunEvent<'static> {
        pulse(Some(Pause {
            left: Duration::from_secs(37),
            reason: PauseReason::Refused(ErrorCode::Http(429)),
        }))
    }

    fn away() -> RunEvent<'static> {
        pulse(Some(Pause {
            left: Duration::from_secs(40),
            reason: PauseReason::Outage {
                since: "2026-11-21T14:02:31Z".parse().unwrap(),
                why: ErrorCode::Timeout,
            },
        }))
    }

    const STOPPING: RunEvent<'static> = RunEvent::Stopping {
        by: StoppedBy::Signal,
        in_flight: 3,
    };

    fn counted() -> Progress {
        let total = RowTotal::default();
        total.set(8800);
        Progress::new(total)
    }

    fn bar_without_screen() -> Bar {
        Bar {
            block: None,
            work: Work::Sending,
            clock: Clock::utc(),
            began: Instant::now(),
            drawn: None,
        }
    }

    /// What is shown after an event, in so many columns.
    fn shown(width: usize, event: &RunEvent<'_>) -> Vec<String> {
        let mut progress = counted();
        progress.note(event);
        bar_without_screen().lines(width, &Tally::midway(), &progress)
    }

    #[test]
    fn where_there_is_room_everything_is_said() {
        assert_eq!(
            shown(79, &pulse(None)),
            [
                "[======>                                           ] 1,200 of 8,800 rows (13 %)",
                "1,180 created, 20 rejected",
                "up to 100/min, 3 in flight, about 1 h 30 min left",
            ]
        );
    }

    #[test]
    fn on_a_narrow_screen_what_matters_least_is_left_out() {
        assert_eq!(
            shown(39, &pulse(None)),
            [
                "[=>        ] 1,200 of 8,800 rows (13 %)",
                "1,180 created, 20 rejected",
                "up to 100/min, about 1 h 30 min left",
            ]
        );
        assert_eq!(
            shown(19, &pulse(None)),
            [
                "1,200/8,800 (13 %)",
                "1,180 created,",
                "20 rejected",
                "up to 100/min",
            ]
        );
        assert_eq!(shown(3, &pulse(None)), ["", ""]);
        assert_eq!(shown(0, &pulse(None)), ["", ""]);
    }

    #[test]
    fn what_everything_waits_for_takes_the_place_of_the_pace() {
        for (event, wide, narrow, very_narrow) in [
            (
                asked_to_wait(),
                "the service asks to wait 37 s, about 1 h 30 min left",
                "the service asks to wait 37 s",
                "asked to wait 37 s",
            ),
            (
                away(),
                "service not answering since 14:02 UTC, trying again in 40 s",
                "no answer, next try in 40 s",
                "next try in 40 s",
            ),
            (
                STOPPING,
                "stopping, 3 still in flight",
                "stopping, 3 still in flight",
                "stopping, 3 left",
            ),
        ] {
            let last = |width| shown(width, &event).pop().unwrap();
            assert_eq!(last(79), wide);
            assert_eq!(last(39), narrow);
            assert_eq!(last(19), very_narrow);
        }
    }

    #[test]
    fn no_line_is_wider_than_the_screen_and_there_are_four_at_most() {
        let mut tally = Tally::midway();
        for status in Status::ALL {
            (0..12_345).for_each(|_| tally.counts.add(status));
        }
        let mut progress = counted();
        for event in [pulse(None), asked_to_wait(), away(), STOPPING] {
            progress.note(&event);
            for progress in [&progress, &Progress::default()] {
                for width in 0..200 {
                    let lines = bar_without_screen().lines(width, &tally, progress);
                    assert!(lines.len() <= 4, "{lines:?}");
                    let widest = lines.iter().map(String::len).max().unwrap();
                    assert!(widest <= width, "{width}: {lines:?}");
                }
            }
        }
    }

    #[test]
    fn every_status_has_its_place_and_the_least_important_go_first() {
        let mut all = Counts::default();
        Status::ALL.into_iter().for_each(|status| all.add(status));
        let is_there = |status: &Status| BY_IMPORTANCE.contains(status);
        assert!(Status::ALL.iter().all(is_there));
        assert_eq!(
            counts(79, &all, Work::Sending),
            [
                "1 created, 1 duplicate, 1 repeated, 1 already_imported, 1 excluded,",
                "1 suppressed, 1 invalid, 1 rejected, 1 failed, 1 uncertain, 1 ready"
            ]
        );
        assert_eq!(
            counts(39, &all, Work::Sending),
            [
                "1 created, 1 invalid, 1 rejected,",
                "1 failed, 1 uncertain, 1 ready"
            ]
        );
        assert_eq!(
            counts(9, &all, Work::Sending),
            ["1 created,", "1 ready"][1..]
        );
    }

    #[test]
    fn what_was_created_is_said_also_where_it_is_nothing() {
        let nothing = Counts::default();
        assert_eq!(counts(79, &nothing, Work::Sending), ["0 created"]);
        assert_eq!(counts(79, &nothing, Work::Checking), Vec::<String>::new());
    }

    #[test]
    fn a_bar_is_empty_at_first_and_full_at_the_end() {
        assert_eq!(bar(12, 0, 7), "[>         ]");
        assert_eq!(bar(12, 6, 7), "[========> ]");
        assert_eq!(bar(12, 7, 7), "[==========]");
        assert_eq!(rows(79, 0, Some(0)), "0 rows");
        assert_eq!(rows(79, 1200, None), "1,200 rows");
        // A file that has grown meanwhile.
        assert!(rows(79, 9, Some(8)).ends_with("9 of 8 rows (100 %)"));
    }

    #[test]
    fn a_check_tells_its_pace_and_how_long_it_will_take() {
        let elapsed = Duration::from_secs(2);
        assert_eq!(
            checking(2000, Some(10_000), elapsed),
            ["1,000/s, about 10 s left", "about 10 s left", "1,000/s"]
        );
        assert_eq!(checking(2000, None, elapsed), ["1,000/s"]);
        assert_eq!(checking(0, Some(10), Duration::ZERO), ["0/min"]);
    }
}
