//! How far a run has come: what was read, and what became of it.

use std::time::Duration;

use tokio::time::Instant;

use crate::lead::{Counts, RowId};

const PULSE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Progress {
    began: Instant,
    next_pulse: Instant,
    pub(super) counts: Counts,
    pub(super) last_read: RowId,
    /// No row above this one was claimed by earlier processes of the run.
    reached: RowId,
    /// See [`LedgerOutlet::read_to`](super::LedgerOutlet::read_to).
    read_to: RowId,
    pub(super) is_read: bool,
    /// Whether rows are there that could not be read.
    pub(super) has_lost_rows: bool,
}

impl Progress {
    /// A run of which earlier processes have claimed rows up to `reached`, and have rows up
    /// to `read_to` in their files.
    pub(super) fn new(reached: RowId, read_to: RowId) -> Progress {
        let now = Instant::now();
        Progress {
            began: now,
            next_pulse: now + PULSE,
            counts: Counts::default(),
            last_read: RowId(0),
            reached,
            read_to: reached.max(read_to),
            is_read: false,
            has_lost_rows: false,
        }
    }

    /// How many rows there are, where they were read to their end.
    pub(super) fn rows_total(&self) -> Option<u64> {
        let has_all = self.is_read && !self.has_lost_rows;
        has_all.then_some(self.last_read.0)
    }

    pub(super) fn was_begun_before(&self) -> bool {
        self.reached > RowId(0)
    }

    /// Whether an earlier process has come further.
    pub(super) fn is_shorter(&self) -> bool {
        self.last_read < self.read_to
    }

    /// Since when rows are sent, and how long that is.
    pub(super) fn elapsed(&self, now: Instant) -> Duration {
        now - self.began
    }

    /// Whether it is time for a report, and when the next one is due.
    pub(super) fn pulse_due(&mut self, now: Instant) -> (bool, Instant) {
        let is_due = now >= self.next_pulse;
        if is_due {
            self.next_pulse = now + PULSE;
        }
        (is_due, self.next_pulse)
    }
}
