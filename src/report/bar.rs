//! The progress bar.

use std::fmt::Write;
use std::time::{Duration, Instant};

use indicatif::style::TemplateError;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::forgiving_term::ForgivingTerm;
use super::progress::{Progress, counts};
use super::{Log, Tally};
use crate::event::RunEvent;
use crate::text::grouped;

/// How often the bar is drawn per second at most.
const DRAWS_PER_SECOND: u8 = 10;

/// A bar on standard error, or none.
#[derive(Debug)]
pub struct Bar {
    bar: Option<ProgressBar>,
    /// Whether leads are sent, or rows only checked.
    sends: bool,
    /// Whether it has been told how many rows there are.
    knows_total: bool,
    drawn: Instant,
}

impl Bar {
    /// A bar that shares standard error with the log, if it is to be shown.
    pub fn new(is_shown: bool, sends: bool, log: &Log) -> Bar {
        let bar = is_shown.then(|| {
            let term = Box::new(ForgivingTerm::stderr());
            log.bars()
                .set_draw_target(ProgressDrawTarget::term_like_with_hz(
                    term,
                    DRAWS_PER_SECOND,
                ));
            log.bars().add(ProgressBar::no_length())
        });
        Bar::of(bar, sends)
    }

    fn of(bar: Option<ProgressBar>, sends: bool) -> Bar {
        if let Some(bar) = &bar {
            set_style(bar, template(sends, false));
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Bar {
            bar,
            sends,
            knows_total: false,
            drawn: Instant::now(),
        }
    }

    /// Whether there is anything to be seen.
    pub fn is_shown(&self) -> bool {
        self.bar.is_some()
    }

    /// Shows what has happened.
    pub fn note(&mut self, event: &RunEvent<'_>, tally: &Tally, progress: &Progress) {
        let Some(bar) = &self.bar else {
            return;
        };
        let is_frequent = matches!(
            event,
            RunEvent::Settled { .. } | RunEvent::InFlight(_) | RunEvent::Retrying { .. }
        );
        // Text that nobody would see is not made.
        if is_frequent
            && self.drawn.elapsed() < Duration::from_secs(1) / u32::from(DRAWS_PER_SECOND)
        {
            return;
        }
        self.drawn = Instant::now();
        if let (false, Some(rows)) = (self.knows_total, progress.total()) {
            self.knows_total = true;
            bar.set_length(rows);
            set_style(bar, template(self.sends, true));
        }
        bar.set_position(tally.counts.total());
        bar.set_message(message(tally, progress, self.sends));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The part of the bar that is ours. What is told first is what a narrow screen shows:
/// what everything waits for, or how fast it goes; then how long, and what there is.
fn message(tally: &Tally, progress: &Progress, sends: bool) -> String {
    let state = progress.state(tally.in_flight);
    let says_in_flight = sends && state.is_none();
    let mut parts: Vec<String> = state.or_else(|| progress.pace()).into_iter().collect();
    parts.extend(progress.time_left());
    parts.extend(counts(tally, sends));
    if says_in_flight {
        parts.push(format!("{} in flight", grouped(tally.in_flight as u64)));
    }
    parts.join(", ")
}

const CHECKING: &str = "{wide_bar} {human_pos}/{human_len} rows\n{pace}, {eta} left, {wide_msg}";
const CHECKING_UNCOUNTED: &str = "{spinner} {human_pos} rows\n{pace}, {elapsed}, {wide_msg}";
const SENDING: &str = "{wide_bar} {human_pos}/{human_len} rows\n{wide_msg}";
const SENDING_UNCOUNTED: &str = "{spinner} {human_pos} rows, {elapsed}\n{wide_msg}";

/// Rows that are checked all take the same time, so there the bar's own estimate will do.
fn template(sends: bool, is_counted: bool) -> &'static str {
    match (sends, is_counted) {
        (false, true) => CHECKING,
        (false, false) => CHECKING_UNCOUNTED,
        (true, true) => SENDING,
        (true, false) => SENDING_UNCOUNTED,
    }
}

fn set_style(bar: &ProgressBar, template: &str) {
    // The templates are fixed, and a test reads them.
    if let Ok(style) = style(template) {
        bar.set_style(style);
    }
}

fn style(template: &str) -> Result<ProgressStyle, TemplateError> {
    let pace = |state: &ProgressState, out: &mut dyn Write| {
        // The bar's own text; there is nowhere to report a failure to.
        let _ = write!(out, "{:.1}/s", state.per_sec());
    };
    Ok(ProgressStyle::with_template(template)?.with_key("pace", pace))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;
    use crate::event::{Pause, PauseReason, Pulse};
    use crate::exit::StoppedBy;
    use crate::lead::ErrorCode;
    use crate::rate::Rate;
    use crate::report::RowTotal;

    #[test]
    fn the_templates_can_be_read() {
        for sends in [false, true] {
            for is_counted in [false, true] {
                let template = template(sends, is_counted);
                assert!(style(template).is_ok(), "{template}");
            }
        }
    }

    fn pulse(pause: Option<Pause>) -> RunEvent<'static> {
        RunEvent::Pulse(Pulse {
            elapsed: Duration::from_secs(700),
            allowed: Some(Rate::per_minute(100)),
            in_flight: 3,
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

    const STOPPING: RunEvent<'static> = RunEvent::Stopping {
        by: StoppedBy::Signal,
        in_flight: 3,
    };

    fn counted() -> Progress {
        let total = RowTotal::default();
        total.set(8800);
        Progress::new(total)
    }

    #[test]
    fn the_message_has_what_there_is_and_what_was_created_in_any_case() {
        let mut tally = Tally::default();
        tally.note(&RunEvent::InFlight(3));
        let progress = Progress::default();
        assert_eq!(message(&tally, &progress, true), "0 created, 3 in flight");
        assert_eq!(message(&tally, &progress, false), "");
    }

    #[test]
    fn the_message_begins_with_the_pace_or_with_what_everything_waits_for() {
        for (event, said) in [
            (
                pulse(None),
                "up to 100/min, about 1 h 30 min left, 1,180 created, 20 rejected, 3 in flight",
            ),
            (
                asked_to_wait(),
                "the service asks to wait 37 s, about 1 h 30 min left, 1,180 created, 20 rejected",
            ),
            (
                STOPPING,
                "stopping, 3 still in flight, 1,180 created, 20 rejected",
            ),
        ] {
            let mut progress = counted();
            progress.note(&event);
            assert_eq!(message(&Tally::midway(), &progress, true), said);
        }
    }

    /// A screen of 40 columns that keeps what is written on it.
    #[derive(Debug, Clone, Default)]
    struct Narrow(Arc<Mutex<String>>);

    impl Narrow {
        /// Lines are written one by one.
        fn add(&self, text: &str) -> io::Result<()> {
            let mut shown = self.0.lock().unwrap();
            shown.push_str(text);
            shown.push('\n');
            Ok(())
        }
    }

    impl TermLike for Narrow {
        fn width(&self) -> u16 {
            40
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.add(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.add(text)
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn no_line_is_wider_than_a_narrow_screen_and_each_begins_with_what_matters() {
        let screen = Narrow::default();
        let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
        let bar = ProgressBar::with_draw_target(None, target);
        let mut bar = Bar::of(Some(bar), true);
        for mut progress in [Progress::default(), counted()] {
            for event in [pulse(None), asked_to_wait(), STOPPING] {
                progress.note(&event);
                bar.note(&event, &Tally::midway(), &progress);
                if let Some(bar) = &bar.bar {
                    bar.force_draw();
                }
            }
        }
        let shown = screen.0.lock().unwrap().clone();
        let widest = shown.lines().map(|line| line.trim_end().chars().count());
        assert!(widest.max().unwrap() <= 40, "{shown}");
        for said in [
            "1,200 rows",
            "1,200/8,800 rows",
            "up to 100/min, about 1 h 30 min left, 1,",
            "the service asks to wait 37 s, ",
            "stopping, 3 still in flight, ",
        ] {
            assert!(shown.contains(said), "{said}: {shown}");
        }
    }
}
