//! What a run that ended anyhow has left behind is put in order, before the next begins.

use jiff::Timestamp;
use rusqlite::{Connection, TransactionBehavior, params};

use super::entries::StoredClaim;
use super::reached::Reached;
use super::record::status_code;
use super::replay::{Key, Replay, follow};
use super::{Ledger, LedgerError, ServiceId, StartsInSecond, recent};
use crate::lead::{ErrorCode, Status};

/// One attempt at least may have left, beside those of earlier starts; whether there were
/// more, nobody knows.
const GIVE_UP: &str = "
INSERT INTO sent
    (service, number, campaign, run, row, file, line_offset,
     status, attempts, error_code, error)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1, ?9, ?10)
ON CONFLICT (number, service, campaign, run, row) DO UPDATE SET
    status = excluded.status, attempts = attempts + 1, http_status = NULL,
    lead_id = NULL, settled_at = NULL,
    error_code = excluded.error_code, error = excluded.error";

/// Nobody is at work: a start without an end was killed.
const NOTE_KILLED: &str = "
UPDATE starts SET stopped_by = 'killed'
WHERE ended_at IS NULL AND run IN (SELECT id FROM runs WHERE service = ?1)";

const CLEAR: &str = "DELETE FROM journal WHERE run IN (SELECT id FROM runs WHERE service = ?1)";

/// What is said of a row whose answer never came.
pub(super) const NO_ANSWER: &str = "the run ended before the answer came";

impl Ledger {
    /// Puts in order what earlier runs of the service have left, so that nothing of it
    /// is in the journal any more: settled rows are filed, and claims without an outcome
    /// become rows that are uncertain. Returns how many of those there were.
    ///
    /// Only for whoever may send to the service now, before the first claim.
    pub fn recover(&mut self, service: ServiceId) -> Result<u64, LedgerError> {
        loop {
            self.file_service(service)?;
            let given_up = give_up(&mut self.db, service);
            if let Some(given_up) = self.checked(given_up)? {
                return Ok(given_up);
            }
        }
    }
}

/// Nothing where an outcome has come since all were filed: from somebody who has the lock no
/// more, but no outcome is ever thrown away.
fn give_up(db: &mut Connection, service: ServiceId) -> rusqlite::Result<Option<u64>> {
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut replay = Replay::default();
    let mut is_filed = true;
    follow(&change, Some(service), 0, |_, run, entries| {
        is_filed = replay.take(run, entries).is_empty();
        Ok(is_filed)
    })?;
    if !is_filed {
        return Ok(None);
    }
    let mut reached = Reached::default();
    for (run, row) in replay.open.keys() {
        reached.note(*run, *row);
    }
    reached.write(&change)?;
    let mut by_number: Vec<(Key, StoredClaim)> = replay.open.into_iter().collect();
    by_number.sort_by_key(|(_, claim)| claim.number);
    for ((run, row), claim) in &by_number {
        change.prepare_cached(GIVE_UP)?.execute(params![
            service.0,
            claim.number,
            claim.campaign,
            run,
            row,
            claim.file,
            claim.line_offset,
            status_code(Status::Uncertain),
            ErrorCode::AnswerLost.to_string(),
            NO_ANSWER,
        ])?;
    }
    let started = StartsInSecond {
        second: Timestamp::now().as_second(),
        requests: u32::try_from(by_number.len()).unwrap_or(u32::MAX),
    };
    let started = (started.requests > 0).then_some(started);
    recent::add(&change, service, started.as_slice())?;
    change.execute(CLEAR, [service.0])?;
    change.execute(NOTE_KILLED, [service.0])?;
    change.commit()?;
    Ok(Some(by_number.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::samples::{RUN, Sample, claims, created, settlements};

    #[test]
    fn an_outcome_that_is_not_filed_is_never_thrown_away() {
        let mut sample = Sample::new();
        sample.commit(RUN, claims([1, 2]));
        sample.commit(RUN, settlements([1], &created()));
        let service = sample.service;
        assert_eq!(give_up(&mut sample.ledger.db, service), Ok(None));
        assert_eq!(sample.number("SELECT count(*) FROM journal"), 2);
        sample.ledger.file_service(service).unwrap();
        assert_eq!(give_up(&mut sample.ledger.db, service), Ok(Some(1)));
        assert_eq!(sample.number("SELECT count(*) FROM journal"), 0);
        assert_eq!(sample.number("SELECT count(*) FROM sent"), 2);
    }
}
