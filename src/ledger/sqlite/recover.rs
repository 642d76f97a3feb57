//! Cleans up what earlier runs have left behind, however they ended, before the next run begins.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::journal::{Open, Replay, follow};
use super::sql::FileSql;
use super::{
    Attempted, LedgerError, ServiceId, Settlement, SqliteLedger, StartsInSecond, pace, record,
};
use crate::clock;
use crate::lead::{RowId, RunId, Status};
use crate::ledger::attempts;
use crate::ledger::counts;
use crate::ledger::earlier::services;
use crate::ledger::record::{NO_ANSWER, without_answer};
use crate::ledger::store::{Failed, Sql};
use crate::message::Template;
use crate::simulation::{Fault, is_planted};

/// No process is sending, so a start without an end was killed.
const NOTE_KILLED: &str = "
UPDATE starts SET stopped_by = 'killed'
WHERE ended_at IS NULL AND run IN (SELECT id FROM runs WHERE service = $1)";

const CLEAR: &str = "DELETE FROM journal WHERE run IN (SELECT id FROM runs WHERE service = $1)";

const EARLIER_ATTEMPTS: &str = "
SELECT attempts FROM main.sent
WHERE number = ?1 AND service = ?2 AND campaign = ?3 AND run = ?4 AND row = ?5";

impl SqliteLedger {
    /// Cleans up what earlier runs of the service have left, so that the journal
    /// has no entries of the service: settled rows are filed, and claims without
    /// an outcome become uncertain rows. Returns how many rows became uncertain.
    ///
    /// Call it only in the process that may send to the service now, before its first claim.
    pub fn recover(&mut self, service: ServiceId) -> Result<u64, LedgerError> {
        loop {
            self.file_service(service)?;
            if let Some(ended) = self.write_sql(|sql| end_claims(sql, service))? {
                return Ok(ended);
            }
        }
    }

    /// Recovers the rows of all services, while nothing is sent to any.
    pub(in crate::ledger) fn recover_all(&mut self) -> Result<(), LedgerError> {
        for service in self.services()? {
            self.recover(service)?;
        }
        Ok(())
    }

    pub(super) fn services(&self) -> Result<Vec<ServiceId>, LedgerError> {
        self.read_sql(services)
    }
}

/// Turns open claims into uncertain rows. Returns `None` if the journal
/// has an outcome that came after all rows were filed: only a process
/// that has lost the lock writes one, but no outcome is ever thrown away.
fn end_claims(sql: &mut FileSql<'_>, service: ServiceId) -> Result<Option<u64>, Failed> {
    let change = sql.db;
    let mut replay = Replay::default();
    let mut is_filed = true;
    follow(change, Some(service), 0, |_, run, entries| {
        is_filed = replay.take(run, entries).is_empty();
        Ok(is_filed)
    })?;
    if !is_filed {
        return Ok(None);
    }
    let mut uncertain = outcomes_of_open(change, service, replay.open, NO_ANSWER)?;
    if is_planted(Fault::ForgetOpenClaims) {
        uncertain.clear();
    }
    uncertain.sort_by_key(|(_, settled)| settled.claim.number);
    record::store(change, "sent", service, &uncertain)?;
    for (run, settled) in &uncertain {
        if let Some(values) = attempts::values(*run, settled) {
            sql.change(attempts::RECORD, &values)?;
        }
    }
    for (run, rows) in uncounted(&uncertain) {
        let mut counts = counts::to_change(sql, run)?;
        (0..rows).for_each(|_| counts.add(Status::Uncertain));
        counts::write(sql, run, &counts)?;
    }
    // A request that was not counted before the kill was for one of these rows.
    let started = StartsInSecond {
        second: clock::now().as_second(),
        requests: u32::try_from(uncertain.len()).unwrap_or(u32::MAX),
    };
    let started = (started.requests > 0).then_some(started);
    pace::add_starts(sql, service, started.as_slice())?;
    sql.change(CLEAR, &[service.into()])?;
    sql.change(NOTE_KILLED, &[service.into()])?;
    Ok(Some(uncertain.len() as u64))
}

/// The outcomes of open claims, by run and row.
pub(super) fn outcomes_of_open(
    db: &Connection,
    service: ServiceId,
    open: BTreeMap<(RunId, RowId), Open>,
    why: Template,
) -> rusqlite::Result<Vec<(RunId, Settlement)>> {
    let mut earlier = db.prepare_cached(EARLIER_ATTEMPTS)?;
    let open = open.into_iter();
    let now = clock::now();
    open.map(|((run, row), Open { claim, since_ms })| {
        let number = claim.number.key();
        let key = params![number, service.0, claim.campaign.0, run.0, row.0];
        let attempts: Option<u32> = earlier.query_row(key, |row| row.get(0)).optional()?;
        let outcome = without_answer(attempts.unwrap_or_default(), why);
        let first = Timestamp::from_millisecond(since_ms).ok();
        let settled = Settlement {
            claim,
            outcome,
            cells: None,
            // Its process has ended by now.
            attempted: first
                .filter(|_| since_ms > 0)
                .map(|claimed| Attempted::claimed(claimed, now)),
        };
        Ok((run, settled))
    })
    .collect()
}

/// How many rows of each run were claimed for the first time, so that no start has counted them.
pub(super) fn uncounted(open: &[(RunId, Settlement)]) -> BTreeMap<RunId, u64> {
    let mut rows = BTreeMap::new();
    for (run, _) in open.iter().filter(|(_, row)| row.outcome.attempts == 1) {
        *rows.entry(*run).or_default() += 1;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::sqlite::samples::{RUN, Sample, claims, created, settlements};

    #[test]
    fn an_outcome_that_is_not_filed_is_never_thrown_away() {
        let mut sample = Sample::new();
        sample.commit(RUN, claims([1, 2]));
        sample.commit(RUN, settlements([1], &created()));
        let service = sample.service;
        let end = |sample: &mut Sample| {
            let ended = sample
                .ledger
                .file_mut()
                .write_sql(|sql| end_claims(sql, service));
            ended.unwrap()
        };
        assert_eq!(end(&mut sample), None);
        assert_eq!(sample.number("SELECT count(*) FROM journal"), 2);
        sample.ledger.file_mut().file_service(service).unwrap();
        assert_eq!(end(&mut sample), Some(1));
        assert_eq!(sample.number("SELECT count(*) FROM journal"), 0);
        assert_eq!(sample.number("SELECT count(*) FROM sent"), 2);
    }
}
