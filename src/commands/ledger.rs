//! The ledger of a command that looks at it, or changes it, without sending.

use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::ledger::{Ledger, LedgerPlace};
use crate::message::{Message, Text};
use crate::settings::{Layers, ledger_place};

/// The ledger that the settings name; fails if that is none. `what` is kept there.
pub(super) fn ledger_of(layers: &Layers, what: &str) -> Result<LedgerPlace, Failure> {
    let choice = ledger_place(&layers.options());
    match choice.stopped_by(StoppedBy::Usage)? {
        Some(place) => Ok(place),
        None => Err(Failure::usage(Message::new(
            Text::terminal(format!(
                "{what} in the ledger, and the ledger is set to `none`"
            )),
            terminal_text!(
                "name its file with `--ledger`, or take `none` out of LEADLOAD_LEDGER or of the profile"
            ),
        ))),
    }
}

/// Refuses a ledger that is named on the command line but does not exist.
pub(super) fn refuse_missing(layers: &Layers, ledger: &LedgerPlace) -> Result<(), Failure> {
    let is_typed = layers.typed().ledger.ledger.is_some();
    // Anything else that is wrong with the ledger is found when it is opened.
    if !is_typed || ledger.exists() {
        return Ok(());
    }
    // Fails if only the ledger's log is left.
    Ledger::read(ledger)?;
    Err(Failure::usage(Message::new(
        Text::terminal(format!("there is no ledger `{ledger}`")),
        terminal_text!("check the name, or leave `--ledger` out for the one that imports use"),
    )))
}
