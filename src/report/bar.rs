//! The progress bar.

use std::fmt::Write;
use std::time::{Duration, Instant};

use indicatif::style::TemplateError;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::forgiving_term::ForgivingTerm;
use super::{Log, Tally};
use crate::event::RunEvent;
use crate::lead::Status;

/// How often the bar is drawn per second at most.
const DRAWS_PER_SECOND: u8 = 10;

/// A bar on standard error, or none.
#[derive(Debug, Clone)]
pub struct Bar {
    bar: Option<ProgressBar>,
    /// Whether leads are sent, or rows only checked.
    sends: bool,
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
            let bar = log.bars().add(ProgressBar::no_length());
            set_style(&bar, ROWS_UNKNOWN);
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        Bar {
            bar,
            sends,
            drawn: Instant::now(),
        }
    }

    /// Whether there is anything to be seen.
    pub fn is_shown(&self) -> bool {
        self.bar.is_some()
    }

    /// Says how many rows there are, once that is known.
    pub fn set_total(&self, rows: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(rows);
            set_style(bar, ROWS_KNOWN);
        }
    }

    /// Shows what has happened.
    pub fn note(&mut self, event: &RunEvent<'_>, tally: &Tally) {
        let Some(bar) = &self.bar else {
            return;
        };
        match event {
            RunEvent::Settled { .. } | RunEvent::InFlight(_) => {
                // Text that nobody would see is not made.
                if self.drawn.elapsed() < Duration::from_secs(1) / u32::from(DRAWS_PER_SECOND) {
                    return;
                }
                self.drawn = Instant::now();
                bar.set_position(tally.counts.total());
                bar.set_message(message(tally, self.sends));
            }
            RunEvent::Held { wait, .. } => {
                let seconds = wait.as_secs_f64().ceil();
                bar.set_message(format!("the service asks to wait {seconds} s"));
            }
            RunEvent::Stopping { in_flight, .. } => {
                bar.set_message(format!("stopping, {in_flight} still in flight"));
            }
            RunEvent::Retrying { .. } => {}
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The rows by status, and what is in flight where leads are sent: the part of the bar
/// that is ours.
fn message(tally: &Tally, sends: bool) -> String {
    let mut parts: Vec<String> = tally
        .counts
        .all()
        .filter(|(status, rows)| *rows > 0 || sends && *status == Status::Created)
        .map(|(status, rows)| format!("{rows} {status}"))
        .collect();
    if sends {
        parts.push(format!("{} in flight", tally.in_flight));
    }
    parts.join(", ")
}

const ROWS_KNOWN: &str = "{wide_bar} {human_pos}/{human_len} rows\n{pace}, {eta} left, {wide_msg}";
const ROWS_UNKNOWN: &str = "{spinner} {human_pos} rows\n{pace}, {elapsed}, {wide_msg}";

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
    use super::*;

    #[test]
    fn the_templates_can_be_read() {
        for template in [ROWS_KNOWN, ROWS_UNKNOWN] {
            assert!(style(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn the_message_has_what_there_is_and_what_was_created_in_any_case() {
        let mut tally = Tally::default();
        tally.note(&RunEvent::InFlight(3));
        assert_eq!(message(&tally, true), "0 created, 3 in flight");
        assert_eq!(message(&tally, false), "");
    }
}
