//! Rows on their way from the reading threads to the async one, in input order.

use std::vec;

use tokio::sync::mpsc;

use super::message::{IntakeError, Message};
use crate::lead::{CampaignId, RowOutcome};
use crate::phone::{NumberKind, PhoneNumber};
use crate::source::RowBatch;

/// Batches as they come from the thread, in input order.
#[derive(Debug)]
pub struct Batches {
    receiver: mpsc::Receiver<Message<Vec<Batch>>>,
    /// Those that have come and not been taken.
    here: vec::IntoIter<Batch>,
    has_ended: bool,
}

impl Batches {
    /// A channel in which so many groups of batches may wait.
    pub(super) fn channel(most: usize) -> (mpsc::Sender<Message<Vec<Batch>>>, Batches) {
        let (sender, receiver) = mpsc::channel(most);
        let batches = Batches {
            receiver,
            here: Vec::new().into_iter(),
            has_ended: false,
        };
        (sender, batches)
    }

    /// The next batch, or why there is none; nothing at the end.
    pub async fn next(&mut self) -> Option<Result<Batch, IntakeError>> {
        loop {
            if let Some(batch) = self.here.next() {
                return Some(Ok(batch));
            }
            if self.has_ended {
                return None;
            }
            match Message::taken(self.receiver.recv().await) {
                Some(Ok(group)) => self.here = group.into_iter(),
                ended => {
                    self.has_ended = true;
                    return ended.and_then(Result::err).map(Err);
                }
            }
        }
    }

    /// Batches that are all there already, for tests that stop the clock.
    #[cfg(test)]
    pub(crate) fn ready(batches: Vec<Batch>) -> Batches {
        let (sender, ready) = Batches::channel(2);
        for message in [Message::Rows(batches), Message::End] {
            sender.try_send(message).unwrap();
        }
        ready
    }
}

/// Rows in input order and what is known of each before anything is sent.
#[derive(Debug)]
pub struct Batch {
    /// The rows as read.
    pub rows: RowBatch,
    /// The same rows as prepared.
    pub prepared: Vec<PreparedRow>,
}

impl Batch {
    /// The bytes that it takes in memory, roughly.
    pub fn size(&self) -> usize {
        let prepared: usize = self.prepared.iter().map(PreparedRow::size).sum();
        self.rows.size() + prepared
    }
}

/// One row on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedRow {
    /// The number to be sent, where the cell held one.
    pub phone: Option<PhoneNumber>,
    /// What kind of number that is, where it was asked for.
    pub kind: Option<NumberKind>,
    /// The campaign, where its id is known.
    pub campaign: Option<CampaignId>,
    /// What became of it; none as long as it is still to be sent.
    pub outcome: Option<RowOutcome>,
    /// What was tried before, of a row that is still to be sent.
    pub earlier: Option<Box<Earlier>>,
}

impl PreparedRow {
    /// The bytes that it takes in memory, roughly, with what is said of it.
    pub fn size(&self) -> usize {
        let outcome = self.outcome.as_ref();
        let texts = outcome.map(|outcome| [&outcome.lead_id, &outcome.error]);
        let texts = texts.into_iter().flatten().flatten();
        let doubt = self.earlier.iter().flat_map(|earlier| &earlier.doubt);
        size_of::<PreparedRow>() + texts.chain(doubt).map(String::capacity).sum::<usize>()
    }

    /// Whether it has no outcome although an earlier attempt may have been taken.
    pub fn is_doubtful(&self) -> bool {
        let doubt = self.earlier.as_ref().and_then(|e| e.doubt.as_ref());
        self.outcome.is_none() && doubt.is_some()
    }
}

/// Attempts that the ledger knows of and that did not settle the row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Earlier {
    /// How many this run has made.
    pub attempts: u32,
    /// Why one of them, of this run or another, may have been taken, if one may.
    pub doubt: Option<String>,
}
