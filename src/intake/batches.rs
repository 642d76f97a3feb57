//! Rows on their way from thread to thread, in input order.

use std::vec;

use tokio::sync::mpsc;

use crate::exit::Failure;
use crate::lead::{CampaignId, RowOutcome};
use crate::phone::{NumberKind, PhoneNumber};
use crate::source::{RowBatch, SourceError};

/// What one thread sends to the next: rows, an error, or none at the end. The end is sent, so
/// that a thread that has died does not look like one that has read everything.
pub(super) type Message<T> = Result<Option<T>, Failure>;

/// The rows or the error of what was received, if anything was; none at the end.
pub(super) fn received<T>(message: Option<Message<T>>) -> Option<Result<T, Failure>> {
    let broke_off = || Err(SourceError::broke_off().into());
    message.unwrap_or_else(broke_off).transpose()
}

#[derive(Debug)]
pub struct Batches {
    receiver: mpsc::Receiver<Message<Vec<Batch>>>,
    /// Those that were received and not taken yet.
    here: vec::IntoIter<Batch>,
    has_ended: bool,
}

impl Batches {
    pub(super) fn channel(max: usize) -> (mpsc::Sender<Message<Vec<Batch>>>, Batches) {
        let (sender, receiver) = mpsc::channel(max);
        let batches = Batches {
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
        let (sender, ready) = Batches::channel(2);
        for message in [Ok(Some(batches)), Ok(None)] {
            sender.try_send(message).unwrap();
        }
        ready
    }
}

/// Rows in input order and what is known of each before anything is sent.
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
    /// What became of it; none while it is still to send.
    pub outcome: Option<RowOutcome>,
    /// What was tried before, of a row that is still to send.
    pub earlier: Option<Box<Earlier>>,
}

impl PreparedRow {
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

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Earlier {
    /// How many this run has made.
    pub attempts: u32,
    /// Why one of them, of this run or another, may have been taken, if one may have.
    pub doubt: Option<String>,
}
