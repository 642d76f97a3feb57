//! Overwrites what was removed: deleted data is overwritten (`secure_delete`), the file is built again
//! without it, and the log next to it is emptied.

use rusqlite::ErrorCode;

use super::{LedgerError, SqliteLedger};

impl SqliteLedger {
    pub(in crate::ledger) fn scrub(&self) -> Result<(), LedgerError> {
        if let Err(error) = self.db.execute_batch("VACUUM") {
            return match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    Err(self.not_yet_overwritten())
                }
                _ => self.checked(Err(error)),
            };
        }
        self.empty_log()
    }

    /// Brings all that is in the log into the file, and empties it.
    pub(in crate::ledger) fn empty_log(&self) -> Result<(), LedgerError> {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let is_held: bool = self.checked(self.db.query_row(checkpoint, [], |row| row.get(0)))?;
        match is_held {
            true => Err(self.not_yet_overwritten()),
            false => Ok(()),
        }
    }

    fn not_yet_overwritten(&self) -> LedgerError {
        LedgerError(message!(
            "the data is removed, but not yet overwritten on disk: another program has {place} open",
            "close that program, then {again}",
            place = &self.place
        ))
    }
}
