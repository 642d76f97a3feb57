//! The listeners to the events of a run or check.

use super::{Bar, EventLog, Examples, Log, Metrics, Progress, RowTotal, Show, Tally, Work};
use crate::event::RunEvent;

/// All listeners. Each event goes to them in a fixed order:
/// first to the tally and the progress, which the others show.
#[derive(Debug)]
pub struct Listeners {
    pub tally: Tally,
    pub page: Option<Examples>,
    pub progress: Progress,
    bar: Bar,
    event_log: EventLog,
    metrics: Metrics,
    pub total: RowTotal,
}

impl Listeners {
    pub fn new(inputs: usize, show: Show, work: Work, log: &Log, metrics: Metrics) -> Listeners {
        let total = RowTotal::default();
        Listeners {
            tally: Tally::new(inputs),
            page: None,
            progress: Progress::new(total.clone()),
            event_log: EventLog::new(show, work),
            bar: Bar::new(show, work, log),
            metrics,
            total,
        }
    }

    /// The place for the number of rows, if any listener shows it while rows are sent.
    pub fn wants_total(&self) -> Option<&RowTotal> {
        let is_told =
            self.bar.is_shown() || self.event_log.logs_progress() || self.metrics.are_wanted();
        is_told.then_some(&self.total)
    }

    pub fn take(&mut self, event: &RunEvent<'_>) {
        self.tally.count(event);
        if let Some(page) = &mut self.page {
            page.count(event);
        }
        self.progress.count(event);
        self.bar.draw(event, &self.tally, &self.progress);
        self.event_log.log(event, &self.tally, &self.progress);
        self.metrics.count(event, &self.tally, &self.progress);
    }

    pub fn finish(&self) {
        self.bar.finish();
    }
}
