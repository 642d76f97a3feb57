//! Rows that are passed from thread to thread, in input order.

use std::sync::Arc;
use std::vec;

use tokio::sync::mpsc;

use crate::exit::Failure;
use crate::lead::{CampaignId, RowOutcome};
use crate::message::Text;
use crate::phone::{NumberKind, PhoneNumber};
use crate::source::{RowBatch, RowBudget, SourceError};

/// What one thread sends to the next: rows, an error, or `None` at the end. The end is sent
/// explicitly: otherwise a thread that died would look like one that has read everything.
pub(super) type Message<T> = Result<Option<T>, Failure>;

/// The rows or the error in a received message; `None` at the end. No message at all is an error.
pub(super) fn received<T>(message: Option<Message<T>>) -> Option<Result<T, Failure>> {
    let broke_off = || Err(SourceError::broke_off().into());
    message.unwrap_or_else(broke_off).transpose()
}

#[derive(Debug)]
pub struct Batches {
    receiver: mpsc::Receiver<Message<Vec<Batch>>>,
    /// Batches that were received and not yet taken.
    here: vec::IntoIter<Batch>,
    has_ended: bool,
    /// What the rows have shares of.
    budget: Arc<RowBudget>,
}

impl Batches {
    pub(super) fn channel(
        max: usize,
        budget: Arc<RowBudget>,
    ) -> (mpsc::Sender<Message<Vec<Batch>>>, Batches) {
        let (sender, receiver) = mpsc::channel(max);
        let batches = Batches {
            budget,
            receiver,
            here: Vec::new().into_iter(),
            has_ended: false,
        };
        (sender, batches)
    }

    pub async fn next(&mut self) -> Option<Result<Batch, Failure>> {
        loop {
            if let Some(batch) = self.here.next() {
                return Some(Ok(batch));
            }
            if self.has_ended {
                return None;
            }
            let _awaited = self.budget.awaited();
            match received(self.receiver.recv().await) {
                Some(Ok(group)) => self.here = group.into_iter(),
                ended => {
                    self.has_ended = true;
                    return ended.and_then(Result::err).map(Err);
                }
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn ready(batches: Vec<Batch>) -> Batches {
        let (sender, ready) = Batches::channel(2, RowBudget::new(0));
        for message in [Ok(Some(batches)), Ok(None)] {
            sender.try_send(message).unwrap();
        }
        ready
    }
}

/// Rows in input order, with what is known about each one before anything is sent.
#[derive(Debug)]
pub struct Batch {
    pub rows: RowBatch,
    pub prepared: Vec<PreparedRow>,
}

impl Batch {
    pub fn size(&self) -> usize {
        let prepared: usize = self.prepared.iter().map(PreparedRow::size).sum();
        self.rows.size() + prepared
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PreparedRow {
    pub phone: Option<PhoneNumber>,
    pub kind: Option<NumberKind>,
    pub campaign: Option<CampaignId>,
    /// The outcome; `None` while the row is still to be sent.
    pub outcome: Option<RowOutcome>,
    /// The earlier attempts, if the row is still to be sent.
    pub earlier: Option<Box<Earlier>>,
}

/// About what the values of a text take: names of columns, a cell, what the service said.
const TEXT_BYTES: usize = 256;

impl PreparedRow {
    pub fn size(&self) -> usize {
        let outcome = self.outcome.as_ref();
        let lead_id = outcome.and_then(|outcome| outcome.lead_id.as_ref());
        let error = outcome.and_then(|outcome| outcome.error.as_ref());
        let doubt = self.earlier.iter().flat_map(|earlier| &earlier.doubt);
        let texts = error.into_iter().chain(doubt).count();
        size_of::<PreparedRow>() + lead_id.map_or(0, String::capacity) + texts * TEXT_BYTES
    }

    /// Whether the row has no outcome although an earlier attempt may have been taken.
    pub fn is_doubtful(&self) -> bool {
        let doubt = self.earlier.as_ref().and_then(|e| e.doubt.as_ref());
        self.outcome.is_none() && doubt.is_some()
    }

    /// Whether the row has no outcome, and see [`Earlier::was_refused`].
    pub fn was_refused(&self) -> bool {
        let earlier = self.earlier.as_ref();
        self.outcome.is_none() && earlier.is_some_and(|earlier| earlier.was_refused)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Earlier {
    /// How many attempts this run has made.
    pub attempts: u32,
    /// Why an attempt of this run or another may have been taken, if that is possible.
    pub doubt: Option<Text>,
    /// Whether a run could not tell if the service refused the row or everything.
    pub was_refused: bool,
}
