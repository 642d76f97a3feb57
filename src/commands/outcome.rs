//! How a command with rows has ended, on the terminal.

use std::io;

use tracing::warn;

use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::lead::Status;
use crate::options::Format;
use crate::report::{Outcome, console, log_end, stop_text};

/// Reports how the command ended, and then prints by `print` to standard output.
pub(super) fn report(
    outcome: &Outcome<'_>,
    format: Format,
    print: impl FnOnce() -> io::Result<()>,
) -> Result<(), Failure> {
    let rows = outcome.tally.counts.total();
    if outcome.stop.is_some() {
        // The stop is the reason for missing rows and is reported below.
    } else if rows == 0 {
        warn!(event = "warning", "there are no rows to import");
    } else if outcome.tally.counts.of(Status::Excluded) == rows {
        warn!(
            event = "warning",
            "all rows are excluded, by `--only` or as hidden rows"
        );
    }
    // In text form the summary has the notes.
    if format == Format::Json {
        for note in &outcome.written.notes {
            warn!(event = "warning", "{note}");
        }
    }
    match &outcome.stop {
        // The summary in text form says it.
        Some(stop)
            if stop.is_interrupted()
                && stop.also.is_none()
                && format == Format::Text
                && !console::is_json() => {}
        Some(stop) => console::stop(stop.by(), &stop_text(stop)),
        None => {}
    }
    log_end(outcome);
    print().stopped_by(StoppedBy::Disk)
}
