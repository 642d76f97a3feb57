//! Rows that may have been taken, and what the service has of them.

use std::collections::HashMap;

use super::attempts;
use super::coding::{OF_REMOVED, REMOVED, status_code};
use super::column::Column;
use super::counts;
use super::record::{OUTCOME, Stored, columns, each_of};
use super::store::{Value, places};
use super::{Attempted, LeadAt, Ledger, LedgerError, SentRow};
use crate::lead::{ErrorCode, RowOutcome, RunId, Status};
use crate::phone::PhoneNumber;

/// The place of the first value of an outcome in [`settle`], its status.
const FIRST: usize = 7;

/// How many numbers one statement takes.
const AT_ONCE: usize = 1_000;

/// What a look-up says of a row: how often it was sent stays.
fn facts() -> impl Iterator<Item = &'static (Column, Stored)> {
    let facts = OUTCOME.iter();
    facts.filter(|(column, _)| column.name != "attempts")
}

/// Settles a row that was looked up, of which a request may have been on its way.
fn settle() -> String {
    let outcome = each_of(facts().zip(FIRST..), |((column, _), place)| {
        format!("{} = ${place}", column.name)
    });
    let settled = format!("${FIRST} <= 1");
    format!(
        "UPDATE leadload.sent SET {outcome} /*server , claimed_at = NULL,
            holds = CASE WHEN {settled} THEN holds END,
            holds_service = CASE WHEN {settled} THEN holds_service END */
        WHERE run = $1 AND row = $2 AND number = $3 AND campaign = $4
            AND service = (SELECT service FROM leadload.runs WHERE id = $1)
            AND status IN ($5, $6) AND lead_id IS NULL /*server AND NOT is_open */"
    )
}

impl Ledger {
    /// The rows of a run whose leads may be looked up, in order, each with the times of its attempts
    /// as far as they are known. Claims without an outcome that nobody is working at are among them. Leads
    /// whose removal was asked for are not: undoing knows them by their ids.
    pub fn rows_to_look_up(
        &self,
        run: RunId,
    ) -> Result<Vec<(SentRow, Vec<Attempted>)>, LedgerError> {
        let [uncertain, duplicate] = [Status::Uncertain, Status::Duplicate].map(status_code);
        let (lost, columns) = (ErrorCode::AnswerLost, columns(""));
        let select = format!(
            "SELECT {columns} FROM leadload.sent_seen AS s
            WHERE run = $1 AND NOT is_busy AND (status = {uncertain}
                OR status IN ({duplicate}, {OF_REMOVED}) AND error_code = '{lost}' AND lead_id IS NULL)
                AND NOT EXISTS (SELECT 1 FROM leadload.undo_rows AS u
                    WHERE u.run = s.run AND u.row = s.row AND u.asked_at IS NOT NULL)
            ORDER BY row"
        );
        self.reading_seen(|sql| {
            let mut times = attempts::of_run(sql, run)?;
            sql.rows(&select, &[run.into()], |row| {
                let record = SentRow::read(row)?;
                let attempted = times.remove(&record.row).unwrap_or_default();
                Ok((record, attempted))
            })
        })
    }

    /// The latest lead of each campaign that the run has made.
    pub fn leads_made(&self, run: RunId) -> Result<Vec<SentRow>, LedgerError> {
        let made = "run = $1 AND status = 0 AND lead_id IS NOT NULL";
        let columns = columns("");
        let latest = format!(
            "SELECT {columns} FROM leadload.sent_seen AS s WHERE {made} AND row IN (
                SELECT max(row) FROM leadload.sent_seen AS s WHERE {made} GROUP BY campaign
            ) ORDER BY campaign"
        );
        self.reading_seen(|sql| sql.rows(&latest, &[run.into()], SentRow::read))
    }

    /// The leads of these numbers in all campaigns of all services, and rows that may be leads, as
    /// they are now: those that are being sent too.
    pub fn leads_of(&self, numbers: &[PhoneNumber]) -> Result<Vec<LeadAt>, LedgerError> {
        let (uncertain, columns) = (status_code(Status::Uncertain), columns(""));
        self.reading_seen(|sql| {
            let mut found: HashMap<PhoneNumber, Vec<LeadAt>> = HashMap::new();
            for numbers in numbers.chunks(AT_ONCE) {
                let select = format!(
                    "SELECT {columns},
                        (SELECT address FROM leadload.services WHERE id = service) AS address
                    FROM leadload.sent_seen AS s
                    WHERE number IN {} AND status IN (0, 1, {uncertain})
                    ORDER BY number, service, campaign, run, row",
                    places(1, numbers.len())
                );
                let values: Vec<Value<'_>> = numbers.iter().map(|n| (*n).into()).collect();
                sql.each(&select, &values, &mut |row| {
                    let record = SentRow::read(row)?;
                    let service = row.get("address")?;
                    let of_number = found.entry(record.number).or_default();
                    of_number.push(LeadAt { record, service });
                    Ok(true)
                })?;
            }
            let in_order = numbers.iter().filter_map(|number| found.remove(number));
            Ok(in_order.flatten().collect())
        })
    }

    /// Records what the service has of a row that was looked up. In a file, call it only while nothing is
    /// sent; on a server a row that is being sent stays.
    pub fn reconcile(&mut self, row: &SentRow, outcome: &RowOutcome) -> Result<(), LedgerError> {
        let (run, at) = (row.run, row.row);
        let before = status_code(row.outcome.status);
        let mut values = vec![
            run.into(),
            at.into(),
            row.number.into(),
            row.campaign.into(),
            before.into(),
            (before + REMOVED).into(),
        ];
        values.extend(facts().map(|(_, stored)| stored(outcome)));
        self.changing(|sql| {
            let mut counts = counts::to_change(sql, run)?;
            if sql.change(&settle(), &values)? > 0 {
                counts.change(row.outcome.status, outcome.status);
                counts::write(sql, run, &counts)?;
                let known = "DELETE FROM leadload.attempts WHERE run = $1 AND row = $2";
                sql.change(known, &[run.into(), at.into()])?;
            }
            Ok(())
        })
    }
}
