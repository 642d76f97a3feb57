//! Makes the tables in a file.

use rusqlite::{Connection, TransactionBehavior};

use crate::ledger::schema::{STEPS, in_file};

/// The version of the first release, as SQLite's `user_version` has it. Earlier ones are refused.
pub(super) const FIRST: u32 = 8;

/// The version of the tables: each step has led to one.
pub(super) const VERSION: u32 = FIRST - 1 + STEPS.len() as u32;

/// The `application_id` that marks a database as a ledger: "Lead" in ASCII.
pub(super) const APPLICATION_ID: u32 = 0x4C65_6164;

/// Creates the tables, or those that are missing: all of them or none.
pub(super) fn create(db: &mut Connection) -> rusqlite::Result<()> {
    if version(db)? == VERSION {
        return Ok(());
    }
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Asked again, now that no other process can be writing.
    let found = version(&change)?;
    if found >= VERSION {
        return Ok(());
    }
    // There is none of a version before the first one, but for a new file.
    let done = (found + 1).saturating_sub(FIRST) as usize;
    for step in STEPS.iter().skip(done) {
        change.execute_batch(&in_file(step))?;
    }
    change.pragma_update(None, "application_id", APPLICATION_ID)?;
    change.pragma_update(None, "user_version", VERSION)?;
    change.commit()
}

/// The version of the tables; 0 if there are none.
pub(super) fn version(db: &Connection) -> rusqlite::Result<u32> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// The kind of database, as its header says; 0 if it says nothing.
pub(super) fn application_id(db: &Connection) -> rusqlite::Result<u32> {
    db.pragma_query_value(None, "application_id", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::sqlite::SqliteLedger;
    use crate::ledger::sqlite::testing::TestLedger;

    #[test]
    fn a_ledger_of_another_version_is_refused_by_readers_and_writers() {
        let test = TestLedger::new();
        let place = test.ledger.file().place();
        for other in [1, FIRST - 1, VERSION + 1] {
            test.sql(&format!("PRAGMA user_version = {other}"));
            for refused in [
                SqliteLedger::open(place).err(),
                SqliteLedger::read(place).err(),
            ] {
                let text = refused.unwrap().0.to_string();
                let is_newer = text.contains("newer");
                assert_eq!(is_newer, other > VERSION, "{text}");
                assert!(text.contains(&format!("(format {other}")), "{text}");
            }
        }
    }
}
