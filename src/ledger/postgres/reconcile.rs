//! Rows that may have been taken, and what the service has of them.

use serde_json::json;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::PostgresLedger;
use super::claims::{attempt_times, expire};
use super::record::{
    COLUMNS, IS_EXPIRED, SENDER, Unreadable, get, record, storable, whole_seconds,
};
use super::session::{LONG_ANSWER, int2, int8, text, typed};
use crate::lead::{Counts, ErrorCode, RowOutcome, RunId, Status};
use crate::ledger::coding::{OF_REMOVED, REMOVED, status_code};
use crate::ledger::record::{NO_ANSWER, NO_ANSWER_YET, without_answer};
use crate::ledger::{Attempted, LeadAt, LedgerError, Record};
use crate::phone::PhoneNumber;

const SETTLE: &str = "
UPDATE leadload.sent SET status = $3, lead_id = $4, http_status = $5, settled_at = $6,
    error_code = $7, error = $8, claimed_at = NULL,
    holds = CASE WHEN $3 <= 1 THEN holds END,
    holds_service = CASE WHEN $3 <= 1 THEN holds_service END
WHERE run = $1 AND row = $2 AND status IN ($9, $10) AND lead_id IS NULL AND NOT is_open";

/// When each start has sent a row of `leadload.sent AS s`.
pub(super) const ATTEMPTED: &str = "
    ARRAY(SELECT first_ms FROM leadload.attempts WHERE run = s.run AND row = s.row ORDER BY first_ms),
    ARRAY(SELECT last_ms FROM leadload.attempts WHERE run = s.run AND row = s.row ORDER BY first_ms),
    ARRAY(SELECT ended_ms FROM leadload.attempts WHERE run = s.run AND row = s.row ORDER BY first_ms)";

impl PostgresLedger {
    /// The rows of a run whose leads may be looked up, in order, each with the times of its attempts
    /// as far as they are known. Open claims whose requests cannot be on their way any more are among them.
    /// Leads whose removal was asked for are not: undoing knows them by their ids.
    pub fn rows_to_look_up(
        &self,
        run: RunId,
    ) -> Result<Vec<(Record, Vec<Attempted>)>, LedgerError> {
        let (id, uncertain) = (run.0.cast_signed(), status_code(Status::Uncertain) as i16);
        let code = ErrorCode::AnswerLost.to_string();
        let [claimed, ended] = attempt_times("s");
        let is_known = "s.is_open AND s.claimed_at IS NOT NULL";
        let select = format!(
            "SELECT {COLUMNS}, s.is_open, {ATTEMPTED}, CASE WHEN {is_known} THEN {claimed} END,
                CASE WHEN {is_known} THEN {ended} END
            FROM leadload.sent AS s {SENDER}
            WHERE s.run = $1 AND CASE WHEN s.is_open THEN {IS_EXPIRED}
                ELSE s.status = $2 OR s.status IN (1, $4) AND s.error_code = $3 AND s.lead_id IS NULL END
                AND NOT EXISTS (SELECT 1 FROM leadload.undo_rows AS u
                    WHERE u.run = s.run AND u.row = s.row AND u.asked_at IS NOT NULL)
            ORDER BY s.row"
        );
        let of_removed = OF_REMOVED as i16;
        let values = [int8(&id), int2(&uncertain), text(&code), int2(&of_removed)];
        let rows = self
            .session
            .read_long(async |client| client.query_typed(&select, &values).await)?;
        self.read_all(&rows, |row| {
            let mut record = record(row)?;
            if get(row, 13)? {
                record.outcome = without_answer(record.outcome.attempts, NO_ANSWER);
            }
            let mut times = attempted(row, 14)?;
            let claimed: Option<i64> = get(row, 17)?;
            let open = claimed.zip(get(row, 18)?);
            times.extend(open.and_then(|(at, ended)| Attempted::of_millis(at, at, Some(ended))));
            Ok((record, times))
        })
    }

    /// The run's open claims whose requests cannot be on their way any more become uncertain, and are
    /// counted so. Returns how many others there are.
    pub fn expire_claims(&mut self, run: RunId) -> Result<u64, LedgerError> {
        let left = self
            .session
            .transact_within(LONG_ANSWER, async |client| expire_claims(client, run).await)?;
        self.readable(left)
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

    /// Records what the service has of a row that was looked up. One that is being sent by now stays.
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
    let mut counts = match counts_to_change(client, run).await? {
        Ok(counts) => counts,
        Err(error) => return Ok(Err(error)),
    };
    let before = status_code(record.outcome.status) as i16;
    let removed = before + REMOVED as i16;
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
        int2(&before),
        int2(&removed),
    ];
    if client.execute_typed(SETTLE, &values).await? > 0 {
        counts.change(record.outcome.status, outcome.status);
        let known = "DELETE FROM leadload.attempts WHERE run = $1 AND row = $2";
        let key = [int8(&run), int8(&row)];
        client.execute_typed(known, &key).await?;
        write_counts(client, run, &counts).await?;
    }
    Ok(Ok(()))
}

async fn expire_claims(
    client: &Client,
    run: RunId,
) -> Result<Result<u64, String>, tokio_postgres::Error> {
    let run = run.0.cast_signed();
    let mut counts = match counts_to_change(client, run).await? {
        Ok(counts) => counts,
        Err(error) => return Ok(Err(error)),
    };
    // A row that was sent before is counted, and so is one that a later start has read.
    let uncounted = format!(
        "SELECT count(*) FROM leadload.sent AS s {SENDER}
        WHERE s.run = $1 AND s.status IS NULL AND {IS_EXPIRED}
            AND s.row > (SELECT read_to FROM leadload.runs WHERE id = $1)"
    );
    let uncounted = client.query_typed_one(&uncounted, &[int8(&run)]).await?;
    let expire = expire(&format!(
        "FROM leadload.sent AS open {} WHERE s.run = $1 AND s.is_open
            AND open.run = s.run AND open.row = s.row AND {}",
        SENDER.replace("s.", "open."),
        IS_EXPIRED.replace("s.", "open."),
    ));
    client.execute_typed(&expire, &[int8(&run)]).await?;
    (0..uncounted.try_get::<_, i64>(0)?).for_each(|_| counts.add(Status::Uncertain));
    write_counts(client, run, &counts).await?;
    let left = "SELECT count(*) FROM leadload.sent WHERE run = $1 AND is_open";
    let left = client.query_typed_one(left, &[int8(&run)]).await?;
    Ok(Ok(left.try_get::<_, i64>(0)?.cast_unsigned()))
}

/// The counts of a run, which nobody else changes until the transaction ends.
async fn counts_to_change(
    client: &Client,
    run: i64,
) -> Result<Result<Counts, String>, tokio_postgres::Error> {
    let select = "SELECT counts::text FROM leadload.runs WHERE id = $1 FOR NO KEY UPDATE";
    let counts = client.query_typed_one(select, &[int8(&run)]).await?;
    Ok(serde_json::from_str(counts.try_get(0)?).map_err(|error| error.to_string()))
}

async fn write_counts(
    client: &Client,
    run: i64,
    counts: &Counts,
) -> Result<(), tokio_postgres::Error> {
    let counts = json!(counts).to_string();
    let update = "UPDATE leadload.runs SET counts = $2::text::json WHERE id = $1";
    let values = [int8(&run), text(&counts)];
    client.execute_typed(update, &values).await?;
    Ok(())
}

/// The three columns that [`ATTEMPTED`] makes, from the one at `first`.
pub(super) fn attempted(row: &Row, first: usize) -> Result<Vec<Attempted>, Unreadable> {
    let (firsts, lasts): (Vec<i64>, Vec<i64>) = (get(row, first)?, get(row, first + 1)?);
    let ends: Vec<Option<i64>> = get(row, first + 2)?;
    let times = firsts.into_iter().zip(lasts).zip(ends);
    let times = times.filter_map(|((first, last), ended)| Attempted::of_millis(first, last, ended));
    Ok(times.collect())
}
