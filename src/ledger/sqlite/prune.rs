//! Removes data from the ledger for good.
//!
//! Deleted data is overwritten (`secure_delete`), the file is rebuilt without it,
//! and the log next to it is emptied. Only then is the run marked as pruned, or
//! removed itself: after a kill in between the same command finishes the work.

use jiff::Timestamp;
use rusqlite::{ErrorCode, Transaction};

use super::coding::may_be_number;
use super::columns::all;
use super::journal::{follow, has_claimed_rows, line};
use super::{Claim, LedgerError, Pruned, ServiceId, SqliteLedger};
use crate::clock;
use crate::lead::{CampaignId, RunId};
use crate::phone::PhoneNumber;

/// Runs that were last active before a given time, and were active since they were
/// last pruned. A start without an end was killed: the time of its beginning counts.
const OLD_RUNS: &str = "
SELECT id FROM (
    SELECT id, pruned_at, max(began_at, coalesce(undone_at, 0), coalesce(
        (SELECT max(coalesce(ended_at, began_at)) FROM starts WHERE run = runs.id), 0
    )) AS worked_at
    FROM runs
)
WHERE worked_at <= ?1 AND (pruned_at IS NULL OR pruned_at <= worked_at)";

/// The first two statements change rows; their numbers are added up for [`Pruned::rows`].
const PRUNE: [&str; 7] = [
    "UPDATE sent SET error = NULL
     WHERE error IS NOT NULL AND run IN (SELECT value FROM json_each(?1))",
    "UPDATE invalid_rows SET cell = NULL, error = NULL
     WHERE (cell IS NOT NULL OR error IS NOT NULL)
         AND run IN (SELECT value FROM json_each(?1))",
    "UPDATE undo_rows SET error = NULL WHERE run IN (SELECT value FROM json_each(?1))",
    "UPDATE inputs SET name = NULL, path = NULL
     WHERE run IN (SELECT value FROM json_each(?1))",
    "UPDATE lists SET name = NULL WHERE run IN (SELECT value FROM json_each(?1))",
    "UPDATE outputs SET path = NULL WHERE run IN (SELECT value FROM json_each(?1))",
    "UPDATE runs SET campaign_ids = coalesce(options -> '$.campaign_ids', campaign_ids),
         options = NULL, defaults = NULL
     WHERE id IN (SELECT value FROM json_each(?1))",
];

const MARK_PRUNED: &str =
    "UPDATE runs SET pruned_at = ?2 WHERE id IN (SELECT value FROM json_each(?1))";

/// The tables that hold data of a run. The run's row in `runs` stays until the rest is gone.
const OF_RUN: [&str; 9] = [
    "sent",
    "journal",
    "invalid_rows",
    "known_bad",
    "attempts",
    "undo_rows",
    "inputs",
    "lists",
    "outputs",
];

/// The statuses are created and duplicate, as numbered by `columns::status_code`.
const LEADS_OF_RUN: &str = "SELECT count(*) FROM sent WHERE run = ?1 AND status IN (0, 1)";
const LEADS_OF_NUMBER: &str = "SELECT count(*) FROM sent WHERE number = ?1 AND status IN (0, 1)";

const LEADS_OF_CAMPAIGN: &str =
    "SELECT count(*) FROM sent WHERE service = ?1 AND campaign = ?2 AND status IN (0, 1)";

/// What is known of the people of a campaign, apart from open claims.
const FORGET_CAMPAIGN: [&str; 4] = [
    "DELETE FROM attempts WHERE (run, row) IN
         (SELECT run, row FROM sent WHERE service = ?1 AND campaign = ?2)",
    "DELETE FROM sent WHERE service = ?1 AND campaign = ?2",
    "DELETE FROM undo_rows
     WHERE campaign = ?2 AND run IN (SELECT id FROM runs WHERE service = ?1)",
    "UPDATE invalid_rows SET cell = NULL, error = NULL
     WHERE campaign = ?2 AND run IN (SELECT id FROM runs WHERE service = ?1)",
];

const FORGET_ATTEMPTS: &str = "
DELETE FROM attempts WHERE (run, row) IN (SELECT run, row FROM sent WHERE number = ?1)";

impl SqliteLedger {
    /// The runs that [`prune`](Self::prune) removes data of.
    pub fn old_runs(&self, older_than: Timestamp) -> Result<Vec<RunId>, LedgerError> {
        let values = [older_than.as_second()];
        self.reading(|db| all(db, OLD_RUNS, values, |row| row.get(0).map(RunId)))
    }

    /// Removes cells, texts and file names of runs that ended before
    /// `older_than`, or that began before it and were killed. Numbers,
    /// campaigns and lead ids stay: what has been sent is not sent again.
    ///
    /// Call it only while nothing is being sent.
    pub fn prune(&mut self, older_than: Timestamp) -> Result<Pruned, LedgerError> {
        let runs = self.old_runs(older_than)?;
        if runs.is_empty() {
            return Ok(Pruned::default());
        }
        self.file_everything()?;
        let ids: Vec<u64> = runs.iter().map(|run| run.0).collect();
        let ids = serde_json::json!(ids).to_string();
        let rows = self.changing(|change| {
            let mut changed = [0; PRUNE.len()];
            for (sql, changed) in PRUNE.iter().zip(&mut changed) {
                *changed = change.execute(sql, [&ids])? as u64;
            }
            Ok(changed[0] + changed[1])
        })?;
        self.scrub()?;
        let now = clock::now().as_second();
        self.changing(|change| change.execute(MARK_PRUNED, (&ids, now)))?;
        Ok(Pruned {
            runs: runs.len() as u64,
            rows,
        })
    }

    /// Removes a run and everything that is known about it. Returns how many leads it
    /// had that were created or duplicates: their numbers count as new afterwards.
    ///
    /// Call it only while nothing is being sent.
    pub fn forget_run(&mut self, run: RunId) -> Result<u64, LedgerError> {
        self.file_everything()?;
        let run = run.0.cast_signed();
        let leads = self.changing(|change| {
            let leads = change.query_row(LEADS_OF_RUN, [run], |row| row.get(0))?;
            for table in OF_RUN {
                change.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [run])?;
            }
            let forget = "UPDATE runs SET options = NULL, defaults = NULL WHERE id = ?1";
            change.execute(forget, [run])?;
            Ok(leads)
        })?;
        self.scrub()?;
        self.checked(self.db.execute("DELETE FROM runs WHERE id = ?1", [run]))?;
        Ok(leads)
    }

    /// Removes everything that is known about a number, for all services.
    /// Returns how many leads it had that were created or duplicates.
    ///
    /// Call it only while nothing is being sent.
    pub fn forget_number(&mut self, number: PhoneNumber) -> Result<u64, LedgerError> {
        self.file_everything()?;
        let key = [number.key().cast_signed()];
        let leads = self.changing(|change| {
            let leads = change.query_row(LEADS_OF_NUMBER, key, |row| row.get(0))?;
            change.execute(FORGET_ATTEMPTS, key)?;
            change.execute("DELETE FROM sent WHERE number = ?1", key)?;
            change.execute("DELETE FROM undo_rows WHERE number = ?1", key)?;
            forget_claims(change, None, |claim| claim.number == number)?;
            forget_cells(change, number)?;
            Ok(leads)
        })?;
        self.scrub()?;
        Ok(leads)
    }

    /// Removes everything that is known about the people of a campaign.
    /// Returns how many leads it had that were created or duplicates.
    ///
    /// Call it only while nothing is being sent.
    pub fn forget_campaign(
        &mut self,
        service: ServiceId,
        campaign: CampaignId,
    ) -> Result<u64, LedgerError> {
        self.file_service(service)?;
        let key = (service.0, campaign.0);
        let leads = self.changing(|change| {
            let leads = change.query_row(LEADS_OF_CAMPAIGN, key, |row| row.get(0))?;
            for sql in FORGET_CAMPAIGN {
                change.execute(sql, key)?;
            }
            forget_claims(change, Some(service), |claim| claim.campaign == campaign)?;
            Ok(leads)
        })?;
        self.scrub()?;
        Ok(leads)
    }

    fn file_everything(&mut self) -> Result<(), LedgerError> {
        for service in self.services()? {
            self.file_service(service)?;
        }
        Ok(())
    }

    /// Rebuilds the file without the deleted data, and empties the log.
    fn scrub(&self) -> Result<(), LedgerError> {
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

/// Removes claims from the journal, which has nothing else: all outcomes have been filed.
fn forget_claims(
    change: &Transaction<'_>,
    service: Option<ServiceId>,
    is_meant: impl Fn(&Claim) -> bool,
) -> rusqlite::Result<()> {
    let mut changed = Vec::new();
    follow(change, service, 0, |seq, _, mut entries| {
        let before = entries.claims.len();
        entries.claims.retain(|claim| !is_meant(claim));
        if before != entries.claims.len() {
            changed.push((seq, entries));
        }
        Ok(true)
    })?;
    for (seq, entries) in changed {
        if has_claimed_rows(&entries) {
            let write = "UPDATE journal SET entries = ?2 WHERE seq = ?1";
            change.execute(write, (seq, line(&entries)?))?
        } else {
            change.execute("DELETE FROM journal WHERE seq = ?1", [seq])?
        };
    }
    Ok(())
}

/// Removes the cells of invalid rows that may hold the number. Such a row may have a valid
/// number: it may have been refused for too many cells or a country that was not allowed.
fn forget_cells(change: &Transaction<'_>, number: PhoneNumber) -> rusqlite::Result<()> {
    let digits = number.key().to_string();
    let cells = "SELECT run, row, cell FROM invalid_rows WHERE cell IS NOT NULL";
    let mut query = change.prepare(cells)?;
    let mut rows = query.query([])?;
    let mut found: Vec<(i64, i64)> = Vec::new();
    while let Some(row) = rows.next()? {
        if may_be_number(row.get_ref(2)?.as_str()?, &digits) {
            found.push((row.get(0)?, row.get(1)?));
        }
    }
    for key in found {
        let forget =
            "UPDATE invalid_rows SET cell = NULL, error = NULL WHERE run = ?1 AND row = ?2";
        change.execute(forget, key)?;
    }
    Ok(())
}
