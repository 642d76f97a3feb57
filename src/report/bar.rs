//! The progress bar on the terminal while rows are sent or checked.
//!
//! ```text
//! [=======>                              ] 1,200 of 8,800 rows (13 %)
//! 1,180 created, 20 rejected
//! 1.6/s of 100/min allowed, 3 in flight, about 1 h 20 min left
//! ```
//!
//! While all requests wait, the last line says what they wait for. On a
//! narrow terminal lines are broken at commas. ASCII only, no colour.

use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::clock::Clock;
use super::progress::{Progress, Show, Work, about_left, counts, per_time, row_count};
use super::screen;
use super::width::wrapped;
use super::{Log, Tally};
use crate::event::RunEvent;
use crate::text::grouped;

/// The shortest time between two drawings: numbers that change faster cannot be read.
const EVERY: Duration = Duration::from_millis(200);

/// If less room than this is left next to the count, the bar gets a line of its own.
const MIN_BAR: usize = 10;

#[derive(Debug)]
pub struct Bar {
    drawn: Option<(ProgressBar, MultiProgress)>,
    work: Work,
    clock: Clock,
    began: Instant,
    drawn_at: Option<Instant>,
}

impl Bar {
    pub fn new(show: Show, work: Work, log: &Log) -> Bar {
        let drawn = (show == Show::Bar).then(|| {
            let bars = log.bars().clone();
            bars.set_draw_target(screen::draw_target());
            (bars.add(ProgressBar::no_length()), bars)
        });
        Bar {
            drawn,
            work,
            clock: Clock::here(),
            began: Instant::now(),
            drawn_at: None,
        }
    }

    pub fn is_shown(&self) -> bool {
        self.drawn.is_some()
    }

    pub fn note(&mut self, event: &RunEvent<'_>, tally: &Tally, progress: &Progress) {
        let Some((bar, _)) = &self.drawn else {
            return;
        };
        let is_frequent = matches!(event, RunEvent::Settled { .. } | RunEvent::Retrying { .. });
        if is_frequent && self.drawn_at.is_some_and(|drawn| drawn.elapsed() < EVERY) {
            return;
        }
        self.drawn_at = Some(Instant::now());
        let width = screen::width();
        let rows = tally.counts.total();
        let total = progress.total().filter(|total| *total > 0);
        let count = row_count(rows, total);
        let template = match total {
            None => "{prefix}\n{msg}",
            Some(_) if count.len() + MIN_BAR < width => "[{wide_bar}] {prefix}\n{msg}",
            Some(_) => "[{wide_bar}]\n{prefix}\n{msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        // Each of these changes draws the bar. The text is most of it, so it is set first.
        bar.set_message(self.below(width, tally, progress).join("\n"));
        bar.set_prefix(wrapped(width, count.split(' ')).join("\n"));
        bar.update(|state| {
            state.set_len(total.unwrap_or(rows));
            state.set_pos(rows);
        });
    }

    fn below(&self, width: usize, tally: &Tally, progress: &Progress) -> Vec<String> {
        let state = match self.work {
            Work::Sending => sending(tally, progress, &self.clock),
            Work::Checking => {
                checking(tally.counts.total(), progress.total(), self.began.elapsed())
            }
        };
        [counts(&tally.counts, self.work), state]
            .iter()
            .filter(|text| !text.is_empty())
            .flat_map(|text| wrapped(width, text.split_inclusive(", ").map(str::trim_end)))
            // A part that is wider than the screen is broken between words.
            .flat_map(|part| wrapped(width, part.split(' ')))
            .collect()
    }

    pub fn finish(&self) {
        if let Some((bar, bars)) = &self.drawn {
            bar.finish_and_clear();
            bars.remove(bar);
        }
    }
}

/// However a command ends, its last message is printed on a clean screen.
impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

/// What all requests wait for, otherwise the rate; and the time left.
pub(super) fn sending(tally: &Tally, progress: &Progress, clock: &Clock) -> String {
    let parts = match progress.state(tally.in_flight, clock) {
        Some(state) => vec![Some(state), progress.time_left()],
        None => vec![
            progress.pace(),
            Some(format!("{} in flight", grouped(tally.in_flight as u64))),
            progress.time_left(),
        ],
    };
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(", ")
}

/// The rate of a check, and the time left: all rows take the same time.
fn checking(rows: u64, total: Option<u64>, elapsed: Duration) -> String {
    let per_second = rows as f64 / elapsed.as_secs_f64().max(0.001);
    let pace = per_time(per_second);
    let left = total.filter(|_| elapsed > Duration::from_secs(1) && rows > 0);
    let left = left.map(|total| total.saturating_sub(rows) as f64 / per_second);
    match left.and_then(|left| Duration::try_from_secs_f64(left).ok()) {
        Some(left) => format!("{pace}, {}", about_left(left)),
        None => pace,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Pause, Pulse};
    use crate::rate::Rate;
    use crate::report::RowTotal;

    fn below(width: usize, pause: Option<Pause>) -> Vec<String> {
        let total = RowTotal::default();
        total.set(8800).unwrap();
        let mut progress = Progress::new(total);
        progress.note(&RunEvent::Pulse(Pulse {
            elapsed: Duration::from_secs(700),
            allowed: Some(Rate::per_minute(100)),
            in_flight: 3,
            requests: 1200,
            read: 10_000,
            waiting: 8800,
            pause,
        }));
        let bar = Bar {
            drawn: None,
            work: Work::Sending,
            clock: Clock::utc(),
            began: Instant::now(),
            drawn_at: None,
        };
        bar.below(width, &Tally::midway(), &progress)
    }

    #[test]
    fn lines_are_broken_between_words_where_the_screen_is_narrow() {
        assert_eq!(
            below(79, None),
            [
                "1,180 created, 20 rejected",
                "up to 100/min, 3 in flight, about 1 h 30 min left",
            ]
        );
        assert_eq!(
            below(39, None),
            [
                "1,180 created, 20 rejected",
                "up to 100/min, 3 in flight,",
                "about 1 h 30 min left",
            ]
        );
    }

    #[test]
    fn while_all_requests_wait_the_reason_replaces_the_rate() {
        let refused = Pause {
            left: Duration::from_secs(37),
            outage_since: None,
        };
        let away = Pause {
            left: Duration::from_secs(40),
            outage_since: Some("2026-11-21T14:02:31Z".parse().unwrap()),
        };
        for (pause, said) in [
            (
                refused,
                "the service asks to wait 37 s, about 1 h 30 min left",
            ),
            (
                away,
                "service not answering since 14:02 UTC, trying again in 40 s",
            ),
        ] {
            assert_eq!(below(79, Some(pause))[1], said);
        }
    }

    #[test]
    fn a_check_shows_its_rate_and_remaining_time() {
        let elapsed = Duration::from_secs(2);
        assert_eq!(
            checking(2000, Some(10_000), elapsed),
            "1,000/s, about 10 s left"
        );
        assert_eq!(checking(2000, None, elapsed), "1,000/s");
        assert_eq!(checking(0, Some(10), Duration::ZERO), "0/min");
    }
}
