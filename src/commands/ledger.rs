//! The ledger, opened by a command that writes in it.

use std::path::Path;
use std::thread;
use std::time::Duration;

use tracing::warn;

use super::stopwatch::Stopwatch;
use crate::exit::{Failure, StoppedBy};
use crate::ledger::{Ledger, LedgerError};

/// How often it is tried again.
const PAUSE: Duration = Duration::from_millis(500);

/// Opens it. One that cannot be brought to this version while it is being sent from is busy.
pub(super) fn open(path: &Path) -> Result<Ledger, Failure> {
    Ledger::open(path).map_err(failure)
}

/// Opens it, and waits for one that is busy, while the watch stands still.
pub(super) fn open_patiently(path: &Path, watch: &Stopwatch) -> Result<Ledger, Failure> {
    let mut opened = Ledger::open(path);
    if let Err(LedgerError::InUse { .. }) = opened {
        warn!(
            event = "waiting",
            "an import is at work on the ledger, which is of an older version; waiting until it has ended"
        );
    }
    while let Err(LedgerError::InUse { .. }) = opened {
        watch.pause(|| thread::sleep(PAUSE));
        opened = Ledger::open(path);
    }
    opened.map_err(failure)
}

fn failure(error: LedgerError) -> Failure {
    let by = match error {
        LedgerError::InUse { .. } => StoppedBy::Busy,
        _ => StoppedBy::Usage,
    };
    Failure::new(by, error)
}
