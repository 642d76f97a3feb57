//! Rows on their way from the reading threads to the async one, in input order.

use tokio::sync::mpsc;

use crate::lead::{CampaignId, RowOutcome};
use crate::phone::{NumberKind, PhoneNumber};
use crate::source::{RowBatch, SourceError};

/// How many batches may wait between the reading and the next stage.
const BATCHES_AHEAD: usize = 4;

/// Batches as they come from the thread, in input order.
#[derive(Debug)]
pub struct Batches {
    receiver: mpsc::Receiver<Message>,
    has_ended: bool,
}

/// What the thread says. That it is at the end is said, so that a thread that has
/// died is not taken for one that has read everything.
#[derive(Debug)]
pub(super) enum Message {
    Batch(Batch),
    Failed(SourceError),
    End,
}

impl Batches {
    /// A channel for batches.
    pub(super) fn channel() -> (mpsc::Sender<Message>, Batches) {
        let (sender, receiver) = mpsc::channel(BATCHES_AHEAD);
        let batches = Batches {
            receiver,
            has_ended: false,
        };
        (sender, batches)
    }

    /// The next batch, or why there is none; nothing at the end.
    pub async fn next(&mut self) -> Option<Result<Batch, SourceError>> {
        if self.has_ended {
            return None;
        }
        let message = self.receiver.recv().await;
        self.take(message)
    }

    /// Batches that are all there already, for tests that stop the clock.
    #[cfg(test)]
    pub(crate) fn ready(batches: Vec<Batch>) -> Batches {
        let (sender, receiver) = mpsc::channel(batches.len() + 1);
        let messages = batches.into_iter().map(Message::Batch);
        for message in messages.chain([Message::End]) {
            sender.try_send(message).unwrap();
        }
        Batches {
            receiver,
            has_ended: false,
        }
    }

    fn take(&mut self, message: Option<Message>) -> Option<Result<Batch, SourceError>> {
        self.has_ended = !matches!(message, Some(Message::Batch(_)));
        match message {
            Some(Message::Batch(batch)) => Some(Ok(batch)),
            Some(Message::Failed(error)) => Some(Err(error)),
            Some(Message::End) => None,
            None => Some(Err(SourceError::BrokeOff)),
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
}
