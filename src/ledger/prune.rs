//! Removes data from the ledger for good, while nothing is sent.
//!
//! The file, or the tables that had the data, are built again without it; what a server itself keeps
//! elsewhere, its log and its backups, is not the ledger's. Only then is the run marked as pruned, or
//! removed itself: after a kill in between the same command finishes the work.

use jiff::Timestamp;

use super::coding::may_be_number;
use super::store::{Failed, Sql, Value, list};
use super::{Ledger, LedgerError, Pruned, ServiceId};
use crate::clock;
use crate::lead::{CampaignId, RowId, RunId};
use crate::phone::PhoneNumber;

/// When each run was last active. A start without an end was killed: the time of its beginning counts.
const ACTIVE: &str = "
SELECT id, pruned_at, began_at, undone_at, (
    SELECT max(coalesce(ended_at, began_at)) FROM leadload.starts WHERE run = runs.id
) AS worked_at
FROM leadload.runs ORDER BY id";

/// The first two statements change rows; their numbers are added up for [`Pruned::rows`].
const PRUNE: [&str; 7] = [
    "UPDATE leadload.sent SET error = NULL WHERE error IS NOT NULL AND run IN ",
    "UPDATE leadload.invalid_rows SET cell = NULL, error = NULL
     WHERE (cell IS NOT NULL OR error IS NOT NULL) AND run IN ",
    "UPDATE leadload.undo_rows SET error = NULL WHERE run IN ",
    "UPDATE leadload.inputs SET name = NULL, path = NULL WHERE run IN ",
    "UPDATE leadload.lists SET name = NULL WHERE run IN ",
    "UPDATE leadload.outputs SET path = NULL WHERE run IN ",
    "UPDATE leadload.runs SET campaign_ids = coalesce(options -> 'campaign_ids', campaign_ids),
         options = NULL, defaults = NULL
     WHERE id IN ",
];

/// The identity of a run that is being forgotten: no digest is that short.
const NOBODYS: [u8; 0] = [];

const GIVEN: &str = "(SELECT CAST(value AS bigint) FROM json_each($1))";

const MARK_PRUNED: &str =
    "UPDATE leadload.runs SET pruned_at = $2 WHERE options IS NULL AND id IN ";

/// The tables that hold data of a run. The run's row in `runs` stays until the rest is gone.
const OF_RUN: [&str; 8] = [
    "sent",
    "invalid_rows",
    "known_bad",
    "attempts",
    "undo_rows",
    "inputs",
    "lists",
    "outputs",
];

const FORGET_NUMBER: [&str; 3] = [
    "DELETE FROM leadload.attempts
     WHERE (run, row) IN (SELECT run, row FROM leadload.sent WHERE number = $1)",
    "DELETE FROM leadload.sent WHERE number = $1",
    "DELETE FROM leadload.undo_rows WHERE number = $1",
];

/// What is known of the people of a campaign.
const FORGET_CAMPAIGN: [&str; 4] = [
    "DELETE FROM leadload.attempts WHERE (run, row) IN
         (SELECT run, row FROM leadload.sent WHERE service = $1 AND campaign = $2)",
    "DELETE FROM leadload.sent WHERE service = $1 AND campaign = $2",
    "DELETE FROM leadload.undo_rows
     WHERE campaign = $2 AND run IN (SELECT id FROM leadload.runs WHERE service = $1)",
    "UPDATE leadload.invalid_rows SET cell = NULL, error = NULL
     WHERE campaign = $2 AND run IN (SELECT id FROM leadload.runs WHERE service = $1)",
];

/// Call what changes something only while nothing is sent to any service; on a server that is made sure of.
impl Ledger {
    /// The runs that [`prune`](Self::prune) removes data of: they were last active before a given time,
    /// and were active since they were last pruned.
    pub fn old_runs(&self, older_than: Timestamp) -> Result<Vec<RunId>, LedgerError> {
        self.reading(|sql| old_runs(sql, older_than))
    }

    /// Removes cells, texts and file names of runs that ended before
    /// `older_than`, or that began before it and were killed. Numbers,
    /// campaigns and lead ids stay: what has been sent is not sent again.
    pub fn prune(&mut self, older_than: Timestamp) -> Result<Pruned, LedgerError> {
        if self.old_runs(older_than)?.is_empty() {
            return Ok(Pruned::default());
        }
        let (runs, rows) = self.alone(|sql| {
            let runs = old_runs(sql, older_than)?;
            let mut changed = [0; PRUNE.len()];
            for (prune, changed) in PRUNE.iter().zip(&mut changed) {
                *changed = sql.change(&format!("{prune}{GIVEN}"), &[given(&runs)])?;
            }
            Ok((runs, changed[0] + changed[1]))
        })?;
        self.overwrite()?;
        let mark = format!("{MARK_PRUNED}{GIVEN}");
        self.changing(|sql| sql.change(&mark, &[given(&runs), clock::now().into()]))?;
        Ok(Pruned {
            runs: runs.len() as u64,
            rows,
        })
    }

    /// Removes a run and everything that is known about it. Returns how many leads it
    /// had that were created or duplicates: their numbers count as new afterwards.
    pub fn forget_run(&mut self, run: RunId) -> Result<u64, LedgerError> {
        let leads = self.alone(|sql| {
            let leads = count_leads(sql, "run = $1", &[run.into()])?;
            for table in OF_RUN {
                let delete = format!("DELETE FROM leadload.{table} WHERE run = $1");
                sql.change(&delete, &[run.into()])?;
            }
            // Nobody continues what is left of it.
            let forget = "UPDATE leadload.runs SET options = NULL, defaults = NULL, identity = $2
                WHERE id = $1";
            sql.change(forget, &[run.into(), (&NOBODYS).into()])?;
            Ok(leads)
        })?;
        self.overwrite()?;
        let forget = "DELETE FROM leadload.runs WHERE id = $1";
        self.changing(|sql| sql.change(forget, &[run.into()]))?;
        self.overwrite_runs()?;
        Ok(leads)
    }

    /// Removes everything that is known about a number, for all services.
    /// Returns how many leads it had that were created or duplicates.
    pub fn forget_number(&mut self, number: PhoneNumber) -> Result<u64, LedgerError> {
        let leads = self.alone(|sql| {
            let leads = count_leads(sql, "number = $1", &[number.into()])?;
            for forget in FORGET_NUMBER {
                sql.change(forget, &[number.into()])?;
            }
            forget_cells(sql, number)?;
            Ok(leads)
        })?;
        self.overwrite()?;
        Ok(leads)
    }

    /// Removes everything that is known about the people of a campaign.
    /// Returns how many leads it had that were created or duplicates.
    pub fn forget_campaign(
        &mut self,
        service: ServiceId,
        campaign: CampaignId,
    ) -> Result<u64, LedgerError> {
        let of_campaign = [service.into(), campaign.into()];
        let leads = self.alone(|sql| {
            let leads = count_leads(sql, "service = $1 AND campaign = $2", &of_campaign)?;
            for forget in FORGET_CAMPAIGN {
                sql.change(forget, &of_campaign)?;
            }
            Ok(leads)
        })?;
        self.overwrite()?;
        Ok(leads)
    }
}

fn given<'a>(runs: &[RunId]) -> Value<'a> {
    list(runs.iter().map(|run| run.0))
}

fn old_runs(sql: &mut dyn Sql, older_than: Timestamp) -> Result<Vec<RunId>, Failed> {
    let mut old = Vec::new();
    sql.each(ACTIVE, &[], &mut |row| {
        let began_at: Option<Timestamp> = row.get("began_at")?;
        let active = [began_at, row.get("undone_at")?, row.get("worked_at")?];
        let active = active.into_iter().max().flatten().map(Timestamp::as_second);
        let pruned_at: Option<Timestamp> = row.get("pruned_at")?;
        let pruned_at = pruned_at.map(Timestamp::as_second);
        if active <= Some(older_than.as_second()) && pruned_at <= active {
            old.push(row.get("id")?);
        }
        Ok(true)
    })?;
    Ok(old)
}

/// How many rows there are of leads that the service has created, or had.
fn count_leads(sql: &mut dyn Sql, which: &str, values: &[Value<'_>]) -> Result<u64, Failed> {
    let count = format!("SELECT count(*) FROM leadload.sent WHERE {which} AND status IN (0, 1)");
    sql.value(&count, values)
}

/// Removes the cells of invalid rows that may hold the number. Such a row may have a valid
/// number: it may have been refused for too many cells or a country that was not allowed.
fn forget_cells(sql: &mut dyn Sql, number: PhoneNumber) -> Result<(), Failed> {
    let digits = number.key().to_string();
    let cells = "SELECT run, row, cell FROM leadload.invalid_rows WHERE cell IS NOT NULL";
    let mut found: Vec<(RunId, RowId)> = Vec::new();
    sql.each(cells, &[], &mut |row| {
        let cell: String = row.get("cell")?;
        if may_be_number(&cell, &digits) {
            found.push((row.get("run")?, row.get("row")?));
        }
        Ok(true)
    })?;
    let forget = "UPDATE leadload.invalid_rows SET cell = NULL, error = NULL
        WHERE run = $1 AND row = $2";
    for (run, row) in found {
        sql.change(forget, &[run.into(), row.into()])?;
    }
    Ok(())
}
