//! What is handed from thread to thread.

use thiserror::Error;

use crate::exit::{Failure, StoppedBy};
use crate::ledger::LedgerError;
use crate::source::SourceError;

/// Why there are no more rows.
#[derive(Debug, Error)]
pub enum IntakeError {
    /// The input cannot be read on.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// What earlier runs have done cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl IntakeError {
    /// What it stops.
    pub fn stopped_by(&self) -> StoppedBy {
        match self {
            IntakeError::Source(error) => error.stopped_by(),
            IntakeError::Ledger(_) => StoppedBy::Ledger,
        }
    }
}

impl From<IntakeError> for Failure {
    fn from(error: IntakeError) -> Failure {
        Failure::new(error.stopped_by(), error)
    }
}

/// Rows, or why there are no more. The end is said, so that a thread that has died is
/// not taken for one that has read everything.
#[derive(Debug)]
pub(super) enum Message<T> {
    Rows(T),
    Failed(IntakeError),
    End,
}

impl<T> Message<T> {
    /// What becomes of the rows, which may fail.
    pub(super) fn then<U>(self, make: impl FnOnce(T) -> Result<U, IntakeError>) -> Message<U> {
        match self {
            Message::Rows(rows) => make(rows).map_or_else(Message::Failed, Message::Rows),
            Message::Failed(error) => Message::Failed(error),
            Message::End => Message::End,
        }
    }

    /// What has come, if anything has: rows, an error, or nothing at the end.
    pub(super) fn taken(received: Option<Message<T>>) -> Option<Result<T, IntakeError>> {
        match received {
            Some(Message::Rows(rows)) => Some(Ok(rows)),
            Some(Message::Failed(error)) => Some(Err(error)),
            Some(Message::End) => None,
            None => Some(Err(SourceError::BrokeOff.into())),
        }
    }
}
