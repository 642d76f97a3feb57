//! The ledger, opened by a command that writes in it.

use std::path::Path;

use crate::exit::{Failure, StoppedBy};
use crate::ledger::{Ledger, LedgerError};

/// Opens it. One that cannot be brought to this version while it is being sent from is busy.
pub(super) fn open(path: &Path) -> Result<Ledger, Failure> {
    Ledger::open(path).map_err(|error| {
        let by = match error {
            LedgerError::InUse { .. } => StoppedBy::Busy,
            _ => StoppedBy::Usage,
        };
        Failure::new(by, error)
    })
}
