//! Why the ledger cannot be used. Each text says what happened, where, and what to do.

use crate::exit::{Failure, StoppedBy};
use crate::message::Message;

/// It ends whatever uses the ledger.
#[derive(Debug, Clone)]
pub struct LedgerError(pub Message);

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Failure {
        Failure::new(StoppedBy::Ledger, error.0)
    }
}

impl LedgerError {
    pub(super) fn new(what: impl Into<String>, hint: impl Into<String>) -> LedgerError {
        LedgerError(Message::new(what, hint))
    }

    pub(super) fn on_page(self, what: impl Into<String>, hint: &str) -> LedgerError {
        LedgerError(self.0.on_page(what, hint))
    }

    pub fn broke_off() -> LedgerError {
        LedgerError::new(
            "the thread that works with the ledger has died",
            "this is a bug in leadload, please report it; run the same command again",
        )
        .on_page(
            "Writing down what was sent has ended unexpectedly",
            "This is a mistake in leadload, please report it. Start leadload again and try again.",
        )
    }
}
