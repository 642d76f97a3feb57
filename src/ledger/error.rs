//! Why the ledger cannot be used. Each text says what happened, where, and what to do.

use crate::exit::{Failure, StoppedBy};
use crate::message::{Message, Text, Value};

/// It ends whatever uses the ledger.
#[derive(Debug, Clone)]
pub struct LedgerError(pub Message);

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Failure {
        Failure::new(StoppedBy::Ledger, error.0)
    }
}

impl LedgerError {
    /// For what somebody has to mend who knows how leadload was set up: `hint` is for the terminal.
    pub(super) fn of_setup(what: impl Into<Text>, hint: &str) -> LedgerError {
        LedgerError(Message::new(what, text!("{{hint}|{ask_setup}}", hint)))
    }

    pub fn broke_off() -> LedgerError {
        LedgerError(message!(
            "{the thread that works with the ledger has died|writing down what was sent has ended unexpectedly}",
            "{report_bug}; {|start leadload again and }{again}"
        ))
    }

    pub(super) fn of_newer_version(
        place: impl Into<Value>,
        found: u32,
        known: u32,
        hint: &str,
    ) -> LedgerError {
        let (place, found, known): (Value, _, _) =
            (place.into(), found.to_string(), known.to_string());
        LedgerError(message!(
            "{place} was written by a newer version of leadload{ (format {found}, this version knows {known})|}",
            "{{hint}|install the newest leadload, and start it again}",
            place,
            found,
            known,
            hint
        ))
    }

    /// For a ledger in whose place there is another one now; `back` says what to put back.
    pub(super) fn of_another(what: Text, back: &str) -> LedgerError {
        LedgerError(Message::new(
            what,
            text!(
                "{put {back}; then {again}. With another ledger, the leads in the `.part` files|{ask_setup} to put it back; with another one, some people} would be sent a second time",
                back
            ),
        ))
    }
}
