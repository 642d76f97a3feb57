//! Rows that may have been taken, and what the service has of them.

use jiff::Timestamp;
use serde_json::json;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::PostgresLedger;
use super::claims::expire;
use super::record::{
    COLUMNS, IS_EXPIRED, SENDER, Unreadable, get, record, storable, whole_seconds,
};
use super::session::{int2, int8, text, typed};
use crate::lead::{Counts, RowOutcome, RunId, Status};
use crate::ledger::coding::status_code;
use crate::ledger::record::{NO_ANSWER_YET, without_answer};
use crate::ledger::{Attempted, LeadAt, LedgerError, Record};
use crate::phone::PhoneNumber;

const SETTLE: &str = "
UPDATE leadload.sent SET status = $3, lead_id = $4, http_status = $5, settled_at = $6,
    error_code = $7, error = $8, claimed_at = NULL,
    holds = CASE WHEN $3 <= 1 THEN holds END,
    holds_service = CASE WHEN $3 <= 1 THEN holds_service END
WHERE run = $1 AND row = $2 AND status = $9 AND NOT is_open";

impl PostgresLedger {
    /// The uncertain rows of a run, in order, each with the time of its attempts if that is known.
    /// Open claims whose requests cannot be on their way any more become uncertain first.
    pub fn uncertain_rows(
        &self,
        run: RunId,
    ) -> Result<Vec<(Record, Option<Attempted>)>, LedgerError> {
        let (id, uncertain) = (run.0.cast_signed(), status_code(Status::Uncertain) as i16);
        let expire = expire(&format!(
            "FROM leadload.sent AS open {} WHERE s.run = $1 AND s.is_open
                AND open.run = s.run AND open.row = s.row AND {}",
            SENDER.replace("s.", "open."),
            IS_EXPIRED.replace("s.", "open."),
        ));
        let select = format!(
            "SELECT {COLUMNS}, a.first_ms, a.last_ms FROM leadload.sent AS s
            LEFT JOIN leadload.attempts AS a ON a.run = s.run AND a.row = s.row
            WHERE s.run = $1 AND s.status = $2 AND NOT s.is_open ORDER BY s.row"
        );
        let rows = self.session.transact_long(async |client| {
            client.execute_typed(&expire, &[int8(&id)]).await?;
            let values = [int8(&id), int2(&uncertain)];
            client.query_typed(&select, &values).await
        })?;
        self.read_all(&rows, |row| Ok((record(row)?, attempted(row)?)))
    }

    /// The latest lead of each campaign that the run has made.
    pub fn leads_made(&self, run: RunId) -> Result<Vec<Record>, LedgerError> {
        let latest = format!(
            "SELECT DISTINCT ON (s.campaign) {COLUMNS} FROM leadload.sent AS s
            WHERE s.run = $1 AND s.status = 0 AND s.lead_id IS NOT NULL
            ORDER BY s.campaign, s.row DESC"
        );
        let rows = self.query(&latest, &[int8(&run.0.cast_signed())])?;
        self.read_all(&rows, record)
    }

    /// The leads of these numbers in all campaigns of all services, and rows that may be leads, as
    /// they are now: those that are being sent too.
    pub fn leads_of(&self, numbers: &[PhoneNumber]) -> Result<Vec<LeadAt>, LedgerError> {
        let keys = numbers.iter().map(|number| number.key().cast_signed());
        let keys: Vec<i64> = keys.collect();
        let uncertain = status_code(Status::Uncertain) as i16;
        let select = format!(
            "SELECT {COLUMNS}, s.is_open, address
            FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted (number, nth), LATERAL (
                SELECT * FROM leadload.sent WHERE sent.number = wanted.number
                    AND (is_open OR status IN (0, 1, $2)) OFFSET 0
            ) AS s JOIN leadload.services ON services.id = s.service
            ORDER BY nth, s.service, s.campaign, s.run, s.row"
        );
        let rows = self.query(&select, &[typed(&keys, Type::INT8_ARRAY), int2(&uncertain)])?;
        self.read_all(&rows, |row| {
            let mut record = record(row)?;
            if get(row, 13)? {
                record.outcome = without_answer(record.outcome.attempts, NO_ANSWER_YET);
            }
            Ok(LeadAt {
                record,
                service: get(row, 14)?,
            })
        })
    }

    /// Records what the service has of an uncertain row. One that is being sent by now stays.
    pub fn reconcile(&mut self, row: &Record, outcome: &RowOutcome) -> Result<(), LedgerError> {
        let failed = self
            .session
            .transact(async |client| reconcile(client, row, outcome).await)?;
        self.readable(failed)
    }
}

async fn reconcile(
    client: &Client,
    record: &Record,
    outcome: &RowOutcome,
) -> Result<Result<(), String>, tokio_postgres::Error> {
    let (run, row) = (record.run.0.cast_signed(), record.row.0.cast_signed());
    let select = "SELECT counts::text FROM leadload.runs WHERE id = $1 FOR NO KEY UPDATE";
    let counts = client.query_typed_one(select, &[int8(&run)]).await?;
    let mut counts: Counts = match serde_json::from_str(counts.try_get(0)?) {
        Ok(counts) => counts,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let uncertain = status_code(Status::Uncertain) as i16;
    let status = status_code(outcome.status) as i16;
    let lead_id = outcome.lead_id.as_deref().map(storable);
    let http_status = outcome.http_status.map(i32::from);
    let settled_at = outcome.settled_at.map(whole_seconds);
    let code = outcome.error_code.map(|code| code.to_string());
    let error = outcome.error.as_deref().map(storable);
    let values = [
        int8(&run),
        int8(&row),
        int2(&status),
        text(&lead_id),
        typed(&http_status, Type::INT4),
        typed(&settled_at, Type::TIMESTAMPTZ),
        text(&code),
        text(&error),
        int2(&uncertain),
    ];
    if client.execute_typed(SETTLE, &values).await? > 0 {
        counts.change(Status::Uncertain, outcome.status);
        let known = "DELETE FROM leadload.attempts WHERE run = $1 AND row = $2";
        let key = [int8(&run), int8(&row)];
        client.execute_typed(known, &key).await?;
        let counts = json!(counts).to_string();
        let update = "UPDATE leadload.runs SET counts = $2::text::json WHERE id = $1";
        let values = [int8(&run), text(&counts)];
        client.execute_typed(update, &values).await?;
    }
    Ok(Ok(()))
}

fn attempted(row: &Row) -> Result<Option<Attempted>, Unreadable> {
    let (first, last): (Option<i64>, Option<i64>) = (get(row, 13)?, get(row, 14)?);
    let time = |ms: Option<i64>| Timestamp::from_millisecond(ms?).ok();
    Ok(time(first)
        .zip(time(last))
        .map(|(first, last)| Attempted { first, last }))
}
