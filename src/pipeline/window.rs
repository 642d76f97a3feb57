//! Rows under way, in input order.
//!
//! Answers come in any order; results are written in input order. Batches wait here
//! until all their rows have an outcome, and leave from the front. The window is limited by
//! the memory that it takes: one row in a long backoff must neither stop the others for long
//! nor let the window fill the memory.

use std::collections::VecDeque;

use crate::intake::{Batch, PreparedRow};
use crate::lead::RowOutcome;
use crate::source::Row;

/// How many bytes of rows, and of what was said of them, may be under way before reading pauses: most
/// of what all rows may take from when they are read until they are written. 50,000 rows of a few
/// short cells, which is a minute's work at eight hundred a second.
const MAX_BYTES: usize = 12 << 20;

/// How many batches (of 256 rows, fewer if rows are long) are read ahead of the row that is
/// sent next. They show which share of the coming rows will be sent, and so how long it will
/// take (`report::share_to_send`); more would only take memory.
const BATCHES_AHEAD: u64 = 80;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Slot {
    batch: u64,
    index: usize,
}

impl Slot {
    /// The place of something that is in no window.
    pub(super) fn new(batch: u64, index: usize) -> Slot {
        Slot { batch, index }
    }
}

#[derive(Debug)]
struct Waiting {
    batch: Batch,
    /// Rows that will get an outcome but have none yet.
    open: usize,
}

#[derive(Debug, Default)]
pub(super) struct Window {
    batches: VecDeque<Waiting>,
    first: u64,
    bytes: usize,
    /// The first row that was not looked at for sending yet.
    next: Option<Slot>,
}

impl Window {
    /// Whether more rows should be read: there is room, and few are waiting to be sent.
    pub(super) fn wants_rows(&self) -> bool {
        let end = self.first + self.batches.len() as u64;
        let ahead = self.next.map_or(0, |next| end.saturating_sub(next.batch));
        ahead < BATCHES_AHEAD && self.bytes < MAX_BYTES
    }

    pub(super) fn push(&mut self, batch: Batch) {
        self.bytes += batch.size();
        let prepared = batch.prepared.iter();
        let open = prepared.filter(|row| row.outcome.is_none()).count();
        let number = self.first + self.batches.len() as u64;
        self.batches.push_back(Waiting { batch, open });
        self.next.get_or_insert(Slot::new(number, 0));
    }

    /// The next row that was not tried yet, without moving on.
    pub(super) fn peek_ready(&mut self) -> Option<Slot> {
        loop {
            let slot = self.next?;
            let Some(waiting) = self.waiting(slot.batch) else {
                self.next = None;
                return None;
            };
            match waiting.batch.prepared.get(slot.index) {
                Some(row) if row.outcome.is_none() => return Some(slot),
                Some(_) => self.step_over(slot),
                None => self.next = Some(Slot::new(slot.batch + 1, 0)),
            }
        }
    }

    /// Moves on past a row that [`Window::peek_ready`] returned.
    pub(super) fn step_over(&mut self, slot: Slot) {
        self.next = Some(Slot::new(slot.batch, slot.index + 1));
    }

    pub(super) fn get(&self, slot: Slot) -> Option<(Row<'_>, &PreparedRow)> {
        let batch = &self.waiting(slot.batch)?.batch;
        Some((batch.rows.row(slot.index), batch.prepared.get(slot.index)?))
    }

    pub(super) fn settle(&mut self, slot: Slot, outcome: RowOutcome) {
        let Some(waiting) = self.waiting_mut(slot.batch) else {
            return;
        };
        let Some(row) = waiting.batch.prepared.get_mut(slot.index) else {
            return;
        };
        let before = row.size();
        if row.outcome.replace(outcome).is_none() {
            waiting.open -= 1;
        }
        let after = row.size();
        self.bytes = self.bytes - before + after;
    }

    /// Leaves a row without an outcome: this run does not send it, and it holds up no other.
    pub(super) fn pass_over(&mut self, slot: Slot) {
        if let Some(waiting) = self.waiting_mut(slot.batch) {
            waiting.open -= 1;
        }
    }

    /// How many rows will get an outcome but have none yet.
    pub(super) fn open(&self) -> u64 {
        self.batches.iter().map(|batch| batch.open as u64).sum()
    }

    /// The rows without an outcome of which an earlier attempt may have been taken.
    pub(super) fn doubtful(&self) -> Vec<Slot> {
        let waiting = (self.first..).zip(&self.batches);
        waiting
            .flat_map(|(batch, waiting)| {
                let rows = waiting.batch.prepared.iter().enumerate();
                let doubtful = rows.filter(|(_, row)| row.is_doubtful());
                doubtful.map(move |(index, _)| Slot { batch, index })
            })
            .collect()
    }

    /// Whether all rows of the batch at the front have an outcome or will get none.
    pub(super) fn is_front_done(&self) -> bool {
        self.batches.front().is_some_and(|front| front.open == 0)
    }

    pub(super) fn take_front(&mut self) -> Option<Batch> {
        let Waiting { batch, .. } = self.batches.pop_front()?;
        self.first += 1;
        self.bytes -= batch.size();
        // A slot in a batch that has left becomes the beginning of the next batch.
        if self.next.is_some_and(|next| next.batch < self.first) {
            self.next = (!self.batches.is_empty()).then_some(Slot::new(self.first, 0));
        }
        Some(batch)
    }

    fn waiting(&self, batch: u64) -> Option<&Waiting> {
        self.batches
            .get(usize::try_from(batch.checked_sub(self.first)?).ok()?)
    }

    fn waiting_mut(&mut self, batch: u64) -> Option<&mut Waiting> {
        self.batches
            .get_mut(usize::try_from(batch.checked_sub(self.first)?).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;
    use crate::lead::{CampaignId, Status};
    use crate::message::Text;
    use crate::phone::PhoneNumber;
    use crate::source::RowBatch;

    fn batch(outcome: Option<RowOutcome>) -> Batch {
        let row = PreparedRow {
            phone: PhoneNumber::from_key(447_911_000_000),
            kind: None,
            campaign: Some(CampaignId(101)),
            outcome,
            earlier: None,
        };
        Batch {
            rows: RowBatch::of_text(&[&["+447911000000"], &["+447911000000"]]),
            prepared: vec![row.clone(), row],
        }
    }

    fn refused() -> RowOutcome {
        let error = "The city is unknown. ".repeat(10);
        RowOutcome::not_sent(Status::Rejected, None, Some(Text::said(error)))
    }

    /// Fills the window; how many batches it takes.
    fn fill(window: &mut Window) -> u64 {
        let batches = (0..).take_while(|_| {
            let wants = window.wants_rows();
            if wants {
                window.push(batch(None));
            }
            wants
        });
        batches.count() as u64
    }

    #[test]
    fn no_more_rows_are_read_than_are_soon_sent() {
        let mut window = Window::default();
        assert_eq!(fill(&mut window), BATCHES_AHEAD);
        for _ in 0..2 {
            let slot = window.peek_ready().unwrap();
            window.step_over(slot);
        }
        // The first batch is out, which is known when the next row is looked for.
        assert_eq!(window.peek_ready(), Some(Slot::new(1, 0)));
        assert_eq!(fill(&mut window), 1);
    }

    #[test]
    fn behind_a_row_in_backoff_others_are_read_while_there_is_room() {
        let mut window = Window::default();
        window.push(batch(None));
        let slow = window.peek_ready().unwrap();
        window.step_over(slow);
        while window.wants_rows() {
            window.push(batch(None));
            while let Some(slot) = window.peek_ready() {
                window.step_over(slot);
                window.settle(slot, refused());
            }
        }
        assert_eq!(window.open(), 1);
        // What the service said of the rows takes room too.
        let sizes: Vec<usize> = iter::from_fn(|| window.take_front())
            .map(|batch| batch.size())
            .collect();
        let (all, one) = (sizes.iter().sum::<usize>(), sizes[1]);
        assert!((MAX_BYTES..MAX_BYTES + one).contains(&all));
        assert_eq!(window.bytes, 0);
    }

    #[test]
    fn rows_that_are_not_to_be_sent_do_not_keep_others_from_being_read() {
        let mut window = Window::default();
        let settled = RowOutcome::not_sent(Status::AlreadyImported, None, None);
        for _ in 0..BATCHES_AHEAD {
            window.push(batch(Some(settled.clone())));
        }
        assert_eq!(window.peek_ready(), None);
        assert!(window.wants_rows());
    }
}
