//! The listeners to the events of a run or check.

use std::time::Instant;

use super::progress::{Show, Work};
use super::{Bar, Log, Logbook, Metrics, PageNotes, Progress, RowTotal, Tally};
use crate::event::RunEvent;

/// All listeners. They take an event in a fixed order: first the sums, which the others
/// show.
#[derive(Debug)]
pub struct Listeners {
    pub tally: Tally,
    pub page: Option<PageNotes>,
    progress: Progress,
    bar: Bar,
    logbook: Logbook,
    metrics: Metrics,
    pub total: RowTotal,
    /// When a check began: it has no pulses.
    check_began: Option<Instant>,
}

impl Listeners {
    pub fn of_import(inputs: usize, show: Show, log: &Log, metrics: Metrics) -> Listeners {
        Listeners::new(inputs, show, Work::Sending, log, metrics)
    }

    pub fn of_check(inputs: usize, show: Show, log: &Log) -> Listeners {
        Listeners {
            check_began: Some(Instant::now()),
            ..Listeners::new(inputs, show, Work::Checking, log, Metrics::default())
        }
    }

    fn new(inputs: usize, show: Show, work: Work, log: &Log, metrics: Metrics) -> Listeners {
        let total = RowTotal::default();
        Listeners {
            tally: Tally::new(inputs),
            page: None,
            progress: Progress::new(total.clone()),
            logbook: Logbook::new(show, work),
            bar: Bar::new(show, work, log),
            metrics,
            total,
            check_began: None,
        }
    }

    /// Where to put the number of rows, if any listener shows it while rows are sent.
    pub fn wants_total(&self) -> Option<&RowTotal> {
        let is_told =
            self.bar.is_shown() || self.logbook.logs_progress() || self.metrics.are_wanted();
        is_told.then_some(&self.total)
    }

    pub fn note(&mut self, event: &RunEvent<'_>) {
        self.tally.note(event);
        if let Some(page) = &mut self.page {
            page.note(event);
        }
        self.progress.note(event);
        self.bar.note(event, &self.tally, &self.progress);
        self.logbook.note(event, &self.tally, &self.progress);
        if let Some(began) = self.check_began {
            self.logbook
                .log_progress(began.elapsed(), &self.tally, &self.progress);
        }
        self.metrics.note(event, &self.tally, &self.progress);
    }

    pub fn finish(&self) {
        self.bar.finish();
    }
}
