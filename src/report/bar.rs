//! The progress bar on the terminal while rows are sent or checked.
//!
//! ```text
//! [=======>                              ] 1,200 of 8,800 rows (13 %)
//! 1,180 created, 20 rejected
//! 1.6/s of 100/min, as the service states, 3 in flight, about 1 h 20 min left
//! ```
//!
//! While all requests wait, the last line says what they wait for. On a
//! narrow terminal lines are broken at commas. ASCII only, no colour.

use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use jiff::tz::TimeZone;

use super::progress::{Progress, Show, Work, counts, row_count};
use super::screen;
use super::width::wrapped;
use super::{Log, Tally};
use crate::event::RunEvent;
use crate::text::grouped;

/// The shortest time between two drawings: numbers that change faster cannot be read.
const EVERY: Duration = Duration::from_millis(200);

/// If less room than this is left next to the count, the bar gets a line of its own.
const MIN_BAR: usize = 10;

/// A bar with nothing but how many are done, of so many. Log lines appear above it.
pub fn count_bar(log: &Log, total: u64) -> ProgressBar {
    let bars = log.bars();
    bars.set_draw_target(screen::draw_target());
    let bar = bars.add(ProgressBar::new(total));
    if let Ok(style) =
        ProgressStyle::with_template("[{wide_bar}] {human_pos} of {human_len}  {elapsed}")
    {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(EVERY);
    bar
}

#[derive(Debug)]
pub struct Bar {
    drawn: Option<(ProgressBar, MultiProgress)>,
    work: Work,
    zone: TimeZone,
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
            zone: TimeZone::try_system().unwrap_or(TimeZone::UTC),
            drawn_at: None,
        }
    }

    pub fn is_shown(&self) -> bool {
        self.drawn.is_some()
    }

    pub fn draw(&mut self, event: &RunEvent<'_>, tally: &Tally, progress: &Progress) {
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
        // A check takes seconds, of which the bar itself says enough.
        let state = match self.work {
            Work::Sending => sending(tally, progress, &self.zone),
            Work::Checking => String::new(),
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

/// What all requests wait for, or the rate; and how long it will take.
pub(super) fn sending(tally: &Tally, progress: &Progress, zone: &TimeZone) -> String {
    let parts = match progress.state(tally.in_flight, zone) {
        Some(state) => vec![Some(state.to_string()), progress.time_left()],
        None => vec![
            progress.pace(),
            Some(format!("{} in flight", grouped(tally.in_flight as u64))),
            progress.time_left(),
        ],
    };
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Pause, Pulse, Waiting};
    use crate::rate::{Pace, Rate};
    use crate::report::RowTotal;

    fn below(width: usize, pause: Option<Pause>) -> Vec<String> {
        let total = RowTotal::default();
        total.set(8800).unwrap();
        let mut progress = Progress::new(total);
        progress.count(&RunEvent::Pulse(Pulse {
            elapsed: Duration::from_secs(700),
            allowed: Some(Pace::stated(Rate::per_minute(100))),
            in_flight: 3,
            requests: 1200,
            read: 10_000,
            waiting: 8800,
            pause,
        }));
        let bar = Bar {
            drawn: None,
            work: Work::Sending,
            zone: TimeZone::UTC,
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
                "up to 100/min, as the service states, 3 in flight, about 1 h 30 min left",
            ]
        );
        assert_eq!(
            below(39, None),
            [
                "1,180 created, 20 rejected",
                "up to 100/min, as the service states,",
                "3 in flight, about 1 h 30 min left",
            ]
        );
    }

    #[test]
    fn while_all_requests_wait_the_reason_replaces_the_rate() {
        let refused = Waiting::Asked.lasting(Duration::from_secs(37));
        let since = "2026-11-21T14:02:31Z".parse().unwrap();
        let away = Waiting::Outage { since }.lasting(Duration::from_secs(40));
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
}
