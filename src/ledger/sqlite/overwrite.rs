//! Overwrites what was removed: deleted data is overwritten (`secure_delete`), the file is built again
//! without it, and the log next to it is emptied.

use rusqlite::ErrorCode;

use super::{LedgerError, SqliteLedger};

impl SqliteLedger {
    pub(in crate::ledger) fn scrub(&self) -> Result<(), LedgerError> {
        let not_yet = || {
            LedgerError::new(
                format!(
                    "the data is removed, but not yet overwritten on disk: another program has the ledger `{}` open",
                    self.place
                ),
                "close that program, then run the same command again",
            )
        };
        if let Err(error) = self.db.execute_batch("VACUUM") {
            return match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Err(not_yet()),
                _ => self.checked(Err(error)),
            };
        }
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let is_held: bool = self.checked(self.db.query_row(checkpoint, [], |row| row.get(0)))?;
        if is_held { Err(not_yet()) } else { Ok(()) }
    }
}
