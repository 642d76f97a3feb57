//! What a run that ended anyhow has left behind is put in order, before the next begins.

use rusqlite::{Connection, TransactionBehavior, params};

use super::record::status_code;
use super::{Ledger, LedgerError, ServiceId};
use crate::lead::{ErrorCode, Status};

const REACH: &str = "
UPDATE runs
SET reached = max(reached, coalesce((SELECT max(row) FROM claims WHERE run = runs.id), 0))
WHERE service = ?1";

/// One attempt at least may have left, beside those of earlier starts; whether there were
/// more, nobody knows.
const GIVE_UP: &str = "
INSERT INTO sent
    (service, number, campaign, run, row, file, line_offset,
     status, attempts, error_code, error)
SELECT ?1, number, campaign, run, row, file, line_offset, ?2, 1, ?3, ?4
FROM claims WHERE run IN (SELECT id FROM runs WHERE service = ?1)
ORDER BY number, campaign, run, row
ON CONFLICT (number, service, campaign, run, row) DO UPDATE SET
    status = excluded.status, attempts = attempts + 1, http_status = NULL,
    lead_id = NULL, settled_at = NULL,
    error_code = excluded.error_code, error = excluded.error";

/// Nobody is at work: a start without an end was killed.
const NOTE_KILLED: &str = "
UPDATE starts SET stopped_by = 'killed'
WHERE ended_at IS NULL AND run IN (SELECT id FROM runs WHERE service = ?1)";

const CLEAR: &str = "DELETE FROM claims WHERE run IN (SELECT id FROM runs WHERE service = ?1)";

/// What is said of a row whose answer never came.
pub(super) const NO_ANSWER: &str = "the run ended before the answer came";

impl Ledger {
    /// Puts in order what earlier runs of the service have left, so that nothing of it
    /// is in the journal any more: settled rows are filed, and claims without an outcome
    /// become rows that are uncertain. Returns how many of those there were.
    ///
    /// Only for whoever may send to the service now, before the first claim.
    pub fn recover(&mut self, service: ServiceId) -> Result<u64, LedgerError> {
        self.file_service(service)?;
        let given_up = give_up(&mut self.db, service);
        self.checked(given_up)
    }
}

fn give_up(db: &mut Connection, service: ServiceId) -> rusqlite::Result<u64> {
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    change.execute(REACH, [service.0])?;
    let uncertain = params![
        service.0,
        status_code(Status::Uncertain),
        ErrorCode::AnswerLost.to_string(),
        NO_ANSWER,
    ];
    let given_up = change.execute(GIVE_UP, uncertain)?;
    change.execute(CLEAR, [service.0])?;
    change.execute(NOTE_KILLED, [service.0])?;
    change.commit()?;
    Ok(given_up as u64)
}
