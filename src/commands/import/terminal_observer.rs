//! Shows an import on the terminal: which run begins, and how it has ended.

use tracing::warn;

use crate::commands::outcome;
use crate::event::RunEvent;
use crate::exit::Failure;
use crate::import::{Observer, Prepared};
use crate::ledger::Begun;
use crate::options::Format;
use crate::report::{
    Block, Listeners, Outcome, TRIAL, console, destination, json_summary, run_line, summary,
};

pub(super) struct TerminalObserver {
    is_quiet: bool,
    /// Whether what would be sent was shown, with its destination.
    is_shown: bool,
    /// Where the leads go, and how the run differs from an earlier one.
    destination: Vec<Block>,
    format: Format,
}

impl TerminalObserver {
    pub(super) fn new(prepared: &Prepared, is_shown: bool) -> TerminalObserver {
        let planned = prepared.planned.as_ref();
        let options = &prepared.import.settings.options;
        TerminalObserver {
            is_quiet: options.log.is_quiet(),
            is_shown,
            destination: planned.map_or_else(Vec::new, |planned| {
                let destination = destination(planned.options());
                std::iter::once(destination)
                    .chain(planned.differences())
                    .collect()
            }),
            format: options.output.format(),
        }
    }
}

impl Observer for TerminalObserver {
    fn begun(&mut self, begun: Option<&Begun>) {
        let Some(begun) = begun.filter(|_| !self.is_quiet) else {
            return;
        };
        match self.is_shown {
            false => {
                let line = std::iter::once(run_line(begun));
                console::tell(&line.chain(self.destination.drain(..)).collect::<Vec<_>>());
            }
            true if begun.continues => {}
            true => console::tell(&[run_line(begun)]),
        }
    }

    /// The bar and the log are among the listeners.
    fn event(&mut self, _event: &RunEvent<'_>, _listeners: &Listeners) {}

    fn ended(&mut self, outcome: &Outcome<'_>) -> Result<(), Failure> {
        if outcome.sandbox && self.format == Format::Json {
            // In text form the summary says this itself.
            warn!(event = "warning", "{TRIAL}");
        }
        outcome::report(outcome, self.format, || match self.format {
            Format::Text => console::show(&summary(outcome)),
            Format::Json => console::print(&json_summary(outcome)),
        })
    }
}
