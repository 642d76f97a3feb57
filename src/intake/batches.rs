//! Rows on their way from the reading threads to the async one, in input order.

use tokio::sync::mpsc;

use super::message::{IntakeError, Message};
use crate::lead::{CampaignId, RowOutcome};
use crate::phone::{NumberKind, PhoneNumber};
use crate::source::RowBatch;

/// Batches as they come from the thread, in input order.
#[derive(Debug)]
pub struct Batches {
    receiver: mpsc::Receiver<Message<Batch>>,
    has_ended: bool,
}

impl Batches {
    /// A channel in which so many batches may wait.
    pub(super) fn channel(most: usize) -> (mpsc::Sender<Message<Batch>>, Batches) {
        let (sender, receiver) = mpsc::channel(most);
        let batches = Batches {
            receiver,
            has_ended: false,
        };
        (sender, batches)
    }

    /// The next batch, or why there is none; nothing at the end.
    pub async fn next(&mut self) -> Option<Result<Batch, IntakeError>> {
        if self.has_ended {
            return None;
        }
        let taken = Message::taken(self.receiver.recv().await);
        self.has_ended = !matches!(taken, Some(Ok(_)));
        taken
    }

    /// Batches that are all there already, for tests that stop the clock.
    #[cfg(test)]
    pub(crate) fn ready(batches: Vec<Batch>) -> Batches {
        let (sender, receiver) = mpsc::channel(batches.len() + 1);
        let messages = batches.into_iter().map(Message::Rows);
        for message in messages.chain([Message::End]) {
            sender.try_send(message).unwrap();
        }
        Batches {
            receiver,
            has_ended: false,
        }
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
