//! How a start begins in a file, for which its process has the right to send.

use jiff::Timestamp;

use super::{Begun, LedgerError, NewRun, SqliteLedger};
use crate::ledger::{NotBegun, beginning};

impl SqliteLedger {
    pub(in crate::ledger) fn begin(
        &mut self,
        run: &NewRun,
        now: Timestamp,
    ) -> Result<Result<Begun, NotBegun>, LedgerError> {
        let begun = self.write_sql(|sql| {
            let latest = beginning::latest(sql, run)?;
            if latest != run.expected {
                return Ok(Err(NotBegun::Changed));
            }
            let (run, start) = beginning::start(sql, run, latest.going_on, &[0; 16], now)?;
            beginning::begun(sql, run, start).map(Ok)
        })?;
        if let Ok(begun) = &begun {
            self.mark_file(begun.run, begun.start);
        }
        Ok(begun)
    }
}
