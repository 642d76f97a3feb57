//! Which process is sending, or was killed.

use super::{AtWork, LedgerError, ServiceId, SqliteLedger};
use crate::ledger::store::{Failed, Sql};

const AT_WORK: &str = "
SELECT run, process, starts.began_at, host, started_by FROM starts JOIN runs ON runs.id = run
WHERE service = $1 AND ended_at IS NULL AND stopped_by IS NULL
ORDER BY seq DESC LIMIT 1";

impl SqliteLedger {
    /// The latest start for this service that has no end. If the sender's lock is held,
    /// this is the process that is sending; if it is free, the one that was killed last.
    pub fn at_work(&self, service: ServiceId) -> Result<Option<AtWork>, LedgerError> {
        self.read_sql(|sql| at_work(sql, service))
    }
}

pub(super) fn at_work(sql: &mut dyn Sql, service: ServiceId) -> Result<Option<AtWork>, Failed> {
    sql.row(AT_WORK, &[service.into()], AtWork::read)
}
