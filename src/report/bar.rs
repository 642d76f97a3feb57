//! The progress bar.

use std::fmt::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::{Log, RunEvent, Tally};
use crate::cli::Progress;
use crate::lead::Status;

/// How often the bar is drawn per second at most.
const DRAWS_PER_SECOND: u8 = 10;

/// A bar on standard error, or none.
#[derive(Debug, Clone)]
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// A bar as `--progress` says. `auto` draws on a terminal only.
    pub fn new(when: Progress, quiet: bool, log: &Log) -> Bar {
        let bar = ProgressBar::no_length();
        let shown = match when {
            Progress::Never => false,
            Progress::Auto => !quiet && std::io::IsTerminal::is_terminal(&std::io::stderr()),
            Progress::Always => true,
        };
        if !shown {
            return Bar {
                bar: ProgressBar::hidden(),
            };
        }
        log.bars()
            .set_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND));
        let bar = log.bars().add(bar);
        bar.set_style(style(false));
        bar.enable_steady_tick(Duration::from_millis(250));
        Bar { bar }
    }

    /// Whether there is anything to be seen.
    pub fn is_shown(&self) -> bool {
        !self.bar.is_hidden()
    }

    /// Says how many rows there are, once that is known.
    pub fn set_total(&self, rows: u64) {
        self.bar.set_length(rows);
        self.bar.set_style(style(true));
    }

    /// Shows what has happened.
    pub fn note(&self, event: &RunEvent<'_>, tally: &Tally) {
        match event {
            RunEvent::Settled { .. } => {
                self.bar.set_position(tally.counts.total());
                self.bar.set_message(message(tally));
            }
            RunEvent::InFlight(_) => self.bar.set_message(message(tally)),
            RunEvent::Held { wait, .. } => {
                self.bar.set_message(format!(
                    "the service asks to wait {} s",
                    wait.as_secs_f64().ceil()
                ));
            }
            RunEvent::Stopping { in_flight, .. } => {
                self.bar
                    .set_message(format!("stopping, {in_flight} still in flight"));
            }
            RunEvent::Retrying { .. } => {}
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The rows by status, and what is in flight: the part of the bar that is ours.
fn message(tally: &Tally) -> String {
    let mut parts: Vec<String> = tally
        .counts
        .all()
        .filter(|(status, rows)| *rows > 0 || *status == Status::Created)
        .map(|(status, rows)| format!("{rows} {status}"))
        .collect();
    parts.push(format!("{} in flight", tally.in_flight));
    parts.join(", ")
}

fn style(total_known: bool) -> ProgressStyle {
    let template = match total_known {
        true => "{wide_bar} {human_pos}/{human_len} rows\n{pace}, {eta} left, {wide_msg}",
        false => "{spinner} {human_pos} rows\n{pace}, {elapsed}, {wide_msg}",
    };
    let pace = |state: &ProgressState, out: &mut dyn Write| {
        // The bar's own text; there is nowhere to report a failure to.
        let _ = write!(out, "{:.1}/s", state.per_sec());
    };
    // The templates are fixed, and a test reads them.
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("pace", pace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_can_be_read() {
        for total_known in [true, false] {
            let style = style(total_known);
            let bar = ProgressBar::hidden().with_style(style);
            bar.set_message(message(&Tally::default()));
            assert_eq!(bar.message(), "0 created, 0 in flight");
        }
    }
}
