//! What is handed from thread to thread.

use crate::source::SourceError;

/// Rows, or why there are no more. The end is said, so that a thread that has died is
/// not taken for one that has read everything.
#[derive(Debug)]
pub(super) enum Message<T> {
    Rows(T),
    Failed(SourceError),
    End,
}

impl<T> Message<T> {
    /// What has come, if anything has: rows, an error, or nothing at the end.
    pub(super) fn taken(received: Option<Message<T>>) -> Option<Result<T, SourceError>> {
        match received {
            Some(Message::Rows(rows)) => Some(Ok(rows)),
            Some(Message::Failed(error)) => Some(Err(error)),
            Some(Message::End) => None,
            None => Some(Err(SourceError::BrokeOff)),
        }
    }
}
