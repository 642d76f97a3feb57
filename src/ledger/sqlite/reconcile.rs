//! Rows that may have been taken, and what the service has of them.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::coding::{OF_REMOVED, REMOVED, status_code};
use super::columns::all;
use super::commit::change_counts;
use super::record::COLUMNS;
use super::{Attempted, LedgerError, Record, SqliteLedger, unfiled};
use crate::lead::{ErrorCode, RowOutcome, RunId, Status};
use crate::ledger::LeadAt;
use crate::phone::PhoneNumber;

impl SqliteLedger {
    /// The rows of a run whose leads may be looked up, in order, each with the times of its attempts
    /// as far as they are known. Claims without an outcome are among them. Leads whose removal was asked
    /// for are not: undoing knows them by their ids.
    pub fn rows_to_look_up(
        &self,
        run: RunId,
    ) -> Result<Vec<(Record, Vec<Attempted>)>, LedgerError> {
        let services = self.services()?;
        let select = format!(
            "SELECT {COLUMNS} FROM sent AS s WHERE run = ?1 AND (status = ?2
                OR status IN (?3, ?5) AND error_code = ?4 AND lead_id IS NULL) AND NOT EXISTS (
                    SELECT 1 FROM main.undo_rows AS u
                    WHERE u.run = s.run AND u.row = s.row AND u.asked_at IS NOT NULL
                ) ORDER BY row"
        );
        let values = params![
            run.0,
            status_code(Status::Uncertain),
            status_code(Status::Duplicate),
            ErrorCode::AnswerLost.to_string(),
            OF_REMOVED,
        ];
        self.reading(|db| {
            let snapshot = db.unchecked_transaction()?;
            unfiled::show(&snapshot, services)?;
            let rows: Vec<Record> = all(&snapshot, &select, values, Record::read)?;
            let rows = rows.into_iter();
            let with_times = rows.map(|row| {
                let times = attempted(&snapshot, &row)?;
                Ok((row, times))
            });
            with_times.collect()
        })
    }

    /// The latest lead of each campaign that the run has made.
    pub fn leads_made(&self, run: RunId) -> Result<Vec<Record>, LedgerError> {
        // SQLite takes the other columns from the row that has the maximum.
        let latest = format!(
            "SELECT {COLUMNS}, max(row) FROM sent
            WHERE run = ?1 AND status = 0 AND lead_id IS NOT NULL GROUP BY campaign"
        );
        let services = self.services()?;
        self.reading(|db| {
            let snapshot = db.unchecked_transaction()?;
            unfiled::show(&snapshot, services)?;
            all(&snapshot, &latest, [run.0], Record::read)
        })
    }

    /// The leads of these numbers in all campaigns of all services, and rows that may be leads, as
    /// they are now: those that are being sent too.
    pub fn leads_of(&self, numbers: &[PhoneNumber]) -> Result<Vec<LeadAt>, LedgerError> {
        let services = self.services()?;
        self.reading(|db| {
            // The temporary tables that show rows which are not filed are removed with it.
            let snapshot = db.unchecked_transaction()?;
            unfiled::show(&snapshot, services)?;
            let select = format!(
                "SELECT {COLUMNS}, (SELECT address FROM services WHERE id = service)
                FROM sent WHERE number = ?1 AND status IN (0, 1, ?2) ORDER BY service, campaign, run, row"
            );
            let mut leads = Vec::new();
            for number in numbers {
                let key = params![number.key().cast_signed(), status_code(Status::Uncertain)];
                let found: Vec<LeadAt> = all(&snapshot, &select, key, |row| {
                    Ok(LeadAt {
                        record: Record::read(row)?,
                        service: row.get(14)?,
                    })
                })?;
                leads.extend(found);
            }
            Ok(leads)
        })
    }

    /// Records what the service has of a row that was looked up. Call it only while nothing is sent.
    pub fn reconcile(&mut self, row: &Record, outcome: &RowOutcome) -> Result<(), LedgerError> {
        let settle = "UPDATE sent SET status = ?6, lead_id = ?7, http_status = ?8, settled_at = ?9,
                error_code = ?10, error = ?11
            WHERE number = ?1 AND campaign = ?2 AND run = ?3 AND row = ?4 AND status IN (?5, ?12)
                AND lead_id IS NULL
                AND service = (SELECT service FROM runs WHERE id = ?3)";
        let values = params![
            row.number.key().cast_signed(),
            row.campaign.0,
            row.run.0,
            row.row.0,
            status_code(row.outcome.status),
            status_code(outcome.status),
            outcome.lead_id.as_deref().map(super::lead_id::stored),
            outcome.http_status,
            outcome.settled_at.map(Timestamp::as_second),
            outcome.error_code.map(|code| code.to_string()),
            outcome.error,
            status_code(row.outcome.status) + REMOVED,
        ];
        self.changing(|change| {
            if change.execute(settle, values)? > 0 {
                change_counts(change, row.run, |counts| {
                    counts.change(row.outcome.status, outcome.status);
                })?;
            }
            let known = "DELETE FROM attempts WHERE run = ?1 AND row = ?2";
            change.execute(known, params![row.run.0, row.row.0])?;
            Ok(())
        })
    }
}

fn attempted(db: &Connection, row: &Record) -> rusqlite::Result<Vec<Attempted>> {
    let times = "SELECT first_ms, last_ms, ended_ms FROM attempts WHERE run = ?1 AND row = ?2";
    let found: Vec<Option<Attempted>> = all(db, times, params![row.run.0, row.row.0], |row| {
        Ok(Attempted::of_millis(row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    Ok(found.into_iter().flatten().collect())
}
