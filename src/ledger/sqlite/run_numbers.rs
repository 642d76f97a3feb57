//! The number that was last given to a run.

use super::{LedgerError, SqliteLedger};
use crate::ledger::store::Sql;

impl SqliteLedger {
    /// The highest number that was ever given to a run, though the run may be forgotten.
    pub(in crate::ledger) fn last_run(&self) -> Result<i64, LedgerError> {
        let last = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'runs'";
        self.read_sql(|sql| sql.value(last, &[]))
    }

    /// Makes sure that no run gets this number or a lower one.
    pub(in crate::ledger) fn skip_runs(&mut self, last: i64) -> Result<(), LedgerError> {
        self.write_sql(|sql| {
            sql.change("DELETE FROM sqlite_sequence WHERE name = 'runs'", &[])?;
            let skip = "INSERT INTO sqlite_sequence (name, seq) VALUES ('runs', $1)";
            sql.change(skip, &[last.into()])?;
            Ok(())
        })
    }
}
