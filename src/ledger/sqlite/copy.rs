//! Copies the ledger, even while it is in use.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use super::{FilePlace, LedgerError, SqliteLedger};
use crate::ledger::Ledger;

#[derive(Debug)]
pub enum CopyError {
    /// The ledger cannot be read, or the copy is not a ledger.
    Ledger(LedgerError),
    Output(io::Error),
}

impl From<LedgerError> for CopyError {
    fn from(error: LedgerError) -> CopyError {
        CopyError::Ledger(error)
    }
}

impl SqliteLedger {
    /// Writes everything that is committed into the file `to`,
    /// which has to be empty. Returns how many runs the copy knows.
    pub fn copy_into(&self, to: &Path) -> Result<usize, CopyError> {
        self.write_into(to)?;
        // A copy that cannot be opened is no backup, and that must be noticed now.
        let place = FilePlace::file(to);
        let no_ledger = || LedgerError::not_a_ledger(&place);
        let copy = SqliteLedger::read(&place)?.ok_or_else(no_ledger)?;
        let copy = Ledger::File(Box::new(copy));
        Ok(copy.runs()?.len())
    }

    /// SQLite reads the ledger as it is at one moment, together with the log
    /// next to it, where a killed run may have left entries that the file
    /// alone does not have. A process that is sending neither waits for this
    /// nor delays it. The copy is a single file, without deleted data.
    pub(super) fn write_into(&self, to: &Path) -> Result<(), CopyError> {
        let name = to
            .to_str()
            .ok_or_else(|| CopyError::Output(io::ErrorKind::InvalidFilename.into()))?;
        let written = self.db.execute("VACUUM INTO ?1", [name]);
        self.reading.refuse_changed(&self.place)?;
        written.map(drop).map_err(|error| {
            match error.sqlite_error_code() {
                Some(ErrorCode::DiskFull) => CopyError::Output(io::ErrorKind::StorageFull.into()),
                // The system does not say whether the error is about the ledger or the copy.
                Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => {
                    CopyError::Output(io::Error::other(error.to_string()))
                }
                _ => CopyError::Ledger(LedgerError::of(&self.place, error)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::ledger::sqlite::schema;
    use crate::ledger::sqlite::testing::TestLedger;

    #[test]
    fn a_copy_has_what_only_the_log_beside_the_ledger_has() {
        let test = TestLedger::new();
        let source = test.ledger.file().place();
        assert!(source.log().metadata().unwrap().len() > 0);
        let to = source.path().with_file_name("copy");
        let reader = SqliteLedger::read(source).unwrap().unwrap();
        reader.copy_into(&to).unwrap();
        let copy = SqliteLedger::read(&FilePlace::file(to)).unwrap().unwrap();
        assert_eq!(schema::version(&copy.db).unwrap(), schema::VERSION);
        let id = schema::application_id(&copy.db).unwrap();
        assert_eq!(id, schema::APPLICATION_ID);
        assert_eq!(copy.services().unwrap(), reader.services().unwrap());
        let names = |db: &Connection| -> Vec<String> {
            let mut read = db
                .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
                .unwrap();
            let rows = read.query_map([], |row| row.get(0)).unwrap();
            rows.map(Result::unwrap).collect()
        };
        assert_eq!(names(&copy.db), names(&reader.db));
    }

    #[test]
    fn a_writer_neither_waits_for_a_copy_nor_holds_it_up() {
        let test = TestLedger::new();
        let place = test.ledger.file().place();
        let writer = Connection::open(place.path()).unwrap();
        writer
            .execute_batch(
                "BEGIN IMMEDIATE; INSERT INTO services (address) VALUES ('https://b.example')",
            )
            .unwrap();
        let to = place.path().with_file_name("copy");
        let reader = SqliteLedger::read(place).unwrap().unwrap();
        reader.copy_into(&to).unwrap();
        writer.execute_batch("COMMIT").unwrap();
        let services = |place| {
            SqliteLedger::read(place)
                .unwrap()
                .unwrap()
                .services()
                .unwrap()
        };
        let copy = FilePlace::file(to);
        assert_eq!(services(&copy).len() + 1, services(place).len());
    }

    #[test]
    fn a_copy_is_never_written_into_another_file() {
        let test = TestLedger::new();
        let to = test.ledger.file().place().path().with_file_name("notes");
        std::fs::write(&to, "notes").unwrap();
        assert!(test.ledger.file().copy_into(&to).is_err());
        assert_eq!(std::fs::read(&to).unwrap(), b"notes");
    }
}
