//! Removing the leads of a run again: what is to be removed, and what became of it.

use std::collections::HashMap;

use jiff::Timestamp;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::PostgresLedger;
use super::reconcile::{ATTEMPTED, attempted};
use super::record::{Unreadable, get, storable, whole_seconds};
use super::sender::lease_of;
use super::session::{LONG_ANSWER, Value, int2, int8, text, typed};
use super::statements::NOTE_TOKEN;
use crate::lead::{CampaignId, ErrorCode, RowId, RunId, Status};
use crate::ledger::coding::{OF_REMOVED, REMOVED, status_code};
use crate::ledger::record::REMOVED_AGAIN;
use crate::ledger::undo::{MADE_BY_ANOTHER, MAY_HAVE_ARRIVED, NO_LEAD_ID, PERHAPS_ANOTHERS};
use crate::ledger::{
    AtWork, LedgerError, UndoCounts, UndoOutcome, UndoRecord, UndoRow, UndoStatus,
};
use crate::phone::PhoneNumber;

/// A lead that an earlier run has made too is not this run's alone: the service has answered a
/// second request with the first one's lead. Where undo of that run may have removed it, its outcome is
/// unknown. A row whose claim is open is uncertain. A lead whose removal was asked for is asked for again.
fn planned() -> String {
    format!(
        "SELECT DISTINCT ON (s.row) s.row, s.number, s.campaign, s.lead_id, NULL::timestamptz AS asked_at,
    CASE WHEN s.is_open OR s.status <> 0 AND u.row IS NULL OR s.lead_id IS NULL THEN $3::smallint
        WHEN o.run IS NOT NULL THEN $4::smallint END AS status,
    NULL::integer AS http_status,
    CASE WHEN s.is_open OR s.status = $2 AND u.row IS NULL THEN $6::text
        WHEN s.status IN (1, $10) THEN $9::text
        WHEN s.lead_id IS NULL THEN $5::text
        WHEN o.run IS NOT NULL THEN $7::text || o.run END AS error,
    NULL::timestamptz AS settled_at, s.settled_at AS made_at,
    coalesce(s.error_code = $8, false) AS answer_lost, {ATTEMPTED}
FROM leadload.sent AS s LEFT JOIN leadload.sent AS o
    ON o.number = s.number AND o.service = s.service AND o.campaign = s.campaign
        AND o.run < s.run AND o.lead_id = s.lead_id AND o.status IN (0, 1, $2)
    LEFT JOIN leadload.undo_rows AS u
    ON u.run = s.run AND u.row = s.row AND u.asked_at IS NOT NULL
WHERE s.run = $1 AND (
    s.is_open OR s.status IN (0, $2) OR s.status = $11 AND o.status = $2
        OR s.error_code = $8
            AND (s.status = 1 OR s.status = $10 AND (s.lead_id IS NULL OR o.status = $2))
)
ORDER BY s.row, o.run"
    )
}

const COLUMNS: &str =
    "row, number, campaign, lead_id, asked_at, status, http_status, error, settled_at";

/// As `sender::LOCK`, for the service of a run.
const LOCK: &str = "
SELECT 1 FROM leadload.services WHERE id = (SELECT service FROM leadload.runs WHERE id = $1)
FOR NO KEY UPDATE";

const BEGIN: &str = "
UPDATE leadload.runs SET undone_at = coalesce(undone_at, $2),
    undone_after = coalesce(undone_after, (SELECT max(seq) FROM leadload.starts))
WHERE id = $1";

const FORGET_UNKNOWN: &str = "
DELETE FROM leadload.undo_rows WHERE run = $1 AND status = $2 AND asked_at IS NULL";

const ASK: &str = "
UPDATE leadload.undo_rows SET asked_at = coalesce(asked_at, $3)
WHERE run = $1 AND row = $2";

/// A lead that may have been removed is in doubt: if the answer does not come, a later run sends the
/// person again and does not take the lead for settled.
const DOUBT: &str = "
UPDATE leadload.sent SET status = $3 WHERE run = $1 AND row = $2 AND status = 0";

/// Those that were in doubt and are there.
const IS_THERE: &str = "
UPDATE leadload.sent AS s SET status = 0 FROM leadload.undo_rows AS u
WHERE s.run = $1 AND u.run = s.run AND u.row = s.row AND u.asked_at IS NOT NULL
    AND s.row BETWEEN $2 AND $3 AND s.status = $4 AND NOT s.is_open";

/// Shifts the stored status of other rows that have these leads (see [`REMOVED`]): the service has
/// answered their requests with one of them, or has refused them as duplicates. The rows themselves have
/// another status by then.
const OTHER_ROWS: &str = "
UPDATE leadload.sent AS s SET status = s.status + $4, holds = NULL, holds_service = NULL
FROM leadload.undo_rows AS u
WHERE u.run = $1 AND u.row BETWEEN $2 AND $3 AND u.asked_at IS NOT NULL
    AND s.number = u.number AND s.campaign = u.campaign
    AND s.service = (SELECT service FROM leadload.runs WHERE id = $1)
    AND s.status IN ($5, $6) AND NOT s.is_open
    AND (s.lead_id = u.lead_id OR s.lead_id IS NULL AND s.status = $6)";

/// Whether a lead was removed, or may be as far as its outcome says.
const MAY_BE_REMOVED: &str = "
SELECT EXISTS (
    SELECT 1 FROM leadload.undo_rows WHERE run = $1
        AND (status IN (0, 1) OR status = 3 AND asked_at IS NOT NULL)
)";

const CANCEL: [&str; 2] = [
    "UPDATE leadload.runs SET undone_at = NULL, undone_after = NULL WHERE id = $1",
    "DELETE FROM leadload.undo_rows WHERE run = $1",
];

const SETTLE: &str = "
UPDATE leadload.undo_rows SET status = $3, http_status = $4, error = $5, settled_at = $6
WHERE run = $1 AND row = $2";

const REMOVE: &str = "
UPDATE leadload.sent SET status = $3, error_code = $4, error = $5, holds = NULL,
    holds_service = NULL
WHERE run = $1 AND row = $2 AND status IN (0, $6)";

impl PostgresLedger {
    /// Records that the run is undone, so that it does not continue, and which of its leads are to
    /// be removed. What was kept was not removed, so it is as if nobody had asked. If a process is sending
    /// the run, returns which one.
    pub fn begin_undo(
        &mut self,
        run: RunId,
        now: Timestamp,
    ) -> Result<Result<(), AtWork>, LedgerError> {
        let (id, now) = (run.0.cast_signed(), whole_seconds(now));
        let planned = planned();
        let plan = format!(
            "INSERT INTO leadload.undo_rows (run, {COLUMNS})
            SELECT $1, {COLUMNS} FROM ({planned}) AS planned
            ON CONFLICT (run, row) DO UPDATE
            SET lead_id = excluded.lead_id, status = excluded.status, error = excluded.error,
                http_status = NULL, settled_at = NULL,
                asked_at = CASE WHEN undo_rows.status = $4 THEN NULL ELSE undo_rows.asked_at END
            WHERE undo_rows.status IS NULL OR undo_rows.status >= $4"
        );
        self.session.transact_within(LONG_ANSWER, async |client| {
            // Nobody acquires a lease of the run until this is done.
            client.query_typed(LOCK, &[int8(&id)]).await?;
            if let Some(lease) = lease_of(client, run).await? {
                return Ok(Err(lease.at_work));
            }
            let begin = [int8(&id), typed(&now, Type::TIMESTAMPTZ)];
            client.execute_typed(BEGIN, &begin).await?;
            let unknown = UndoStatus::Unknown.code() as i16;
            client
                .execute_typed(FORGET_UNKNOWN, &[int8(&id), int2(&unknown)])
                .await?;
            let values = PlanValues::new();
            client.execute_typed(&plan, &values.of(&id)).await?;
            Ok(Ok(()))
        })
    }

    /// What undoing the run would do, row by row.
    pub fn undo_plan(&self, run: RunId) -> Result<Vec<UndoRow>, LedgerError> {
        let values = PlanValues::new();
        let rows = self.query(&planned(), &values.of(&run.0.cast_signed()))?;
        self.read_all(&rows, read)
    }

    /// Notes a token with which leads of the run were made.
    pub fn note_token(&mut self, run: RunId, token: &str) -> Result<(), LedgerError> {
        let run = run.0.cast_signed();
        let values = vec![int8(&run), text(&token), typed(&None::<i64>, Type::INT8)];
        self.change(NOTE_TOKEN, values)?;
        Ok(())
    }

    /// Records that the service is about to be asked to remove the lead of a row: from now on it is
    /// uncertain, and other rows that have the same lead settle nobody.
    pub fn ask_to_undo(
        &mut self,
        run: RunId,
        row: RowId,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let (id, at, now) = (run.0.cast_signed(), row.0.cast_signed(), whole_seconds(now));
        let asked = [int8(&id), int8(&at), typed(&now, Type::TIMESTAMPTZ)];
        let uncertain = uncertain();
        let doubted = [int8(&id), int8(&at), int2(&uncertain)];
        self.session.transact(async |client| {
            client.execute_typed(ASK, &asked).await?;
            client.execute_typed(DOUBT, &doubted).await?;
            free(client, run, row).await
        })
    }

    /// Takes the beginning of undoing a run back, unless a lead was removed, or may have been.
    pub fn cancel_undo(&mut self, run: RunId) -> Result<(), LedgerError> {
        let id = run.0.cast_signed();
        self.session.transact(async |client| {
            let removed = client.query_typed_one(MAY_BE_REMOVED, &[int8(&id)]).await?;
            if removed.try_get(0)? {
                return Ok(());
            }
            are_there(client, run, (0, i64::MAX)).await?;
            for sql in CANCEL {
                client.execute_typed(sql, &[int8(&id)]).await?;
            }
            Ok(())
        })
    }

    /// Records what became of a lead. One that is removed, or may be, is not settled any more, and neither
    /// are other rows that have it. One that is kept is settled again, with them.
    pub fn settle_undo(
        &mut self,
        run: RunId,
        row: &UndoRow,
        outcome: &UndoOutcome,
    ) -> Result<(), LedgerError> {
        self.session
            .transact(async |client| settle(client, run, row.row, outcome).await)
    }

    /// The leads of a run that is undone, in the order of its rows.
    pub fn undo_rows(&self, run: RunId) -> Result<Vec<UndoRow>, LedgerError> {
        let select = format!(
            "SELECT {COLUMNS}, NULL::timestamptz AS made_at, false AS answer_lost,
                '{{}}'::bigint[], '{{}}'::bigint[], '{{}}'::bigint[]
            FROM leadload.undo_rows WHERE run = $1 ORDER BY row"
        );
        let rows = self.query(&select, &[int8(&run.0.cast_signed())])?;
        self.read_all(&rows, read)
    }
}

/// The values of [`planned`] after the first.
struct PlanValues {
    uncertain: i16,
    unknown: i16,
    kept: i16,
    code: String,
    of_removed: i16,
    removed: i16,
}

impl PlanValues {
    fn new() -> PlanValues {
        PlanValues {
            uncertain: uncertain(),
            unknown: UndoStatus::Unknown.code() as i16,
            kept: UndoStatus::Kept.code() as i16,
            code: ErrorCode::AnswerLost.to_string(),
            of_removed: OF_REMOVED as i16,
            removed: REMOVED as i16,
        }
    }

    fn of<'a>(&'a self, run: &'a i64) -> [Value<'a>; 11] {
        [
            int8(run),
            int2(&self.uncertain),
            int2(&self.unknown),
            int2(&self.kept),
            text(&NO_LEAD_ID),
            text(&MAY_HAVE_ARRIVED),
            text(&MADE_BY_ANOTHER),
            text(&self.code),
            text(&PERHAPS_ANOTHERS),
            int2(&self.of_removed),
            int2(&self.removed),
        ]
    }
}

fn uncertain() -> i16 {
    status_code(Status::Uncertain) as i16
}

async fn settle(
    client: &Client,
    run: RunId,
    row: RowId,
    outcome: &UndoOutcome,
) -> Result<(), tokio_postgres::Error> {
    let (id, at) = (run.0.cast_signed(), row.0.cast_signed());
    let status = outcome.status.code() as i16;
    let http_status = outcome.http_status.map(i32::from);
    let error = outcome.error.as_deref().map(storable);
    let settled_at = outcome.settled_at.map(whole_seconds);
    let values = [
        int8(&id),
        int8(&at),
        int2(&status),
        typed(&http_status, Type::INT4),
        text(&error),
        typed(&settled_at, Type::TIMESTAMPTZ),
    ];
    client.execute_typed(SETTLE, &values).await?;
    if outcome.status == UndoStatus::Kept {
        return are_there(client, run, (at, at)).await;
    }
    if outcome.status.is_removed() {
        let code = ErrorCode::Undone.to_string();
        let (removed, uncertain) = (REMOVED as i16, uncertain());
        let values = [
            int8(&id),
            int8(&at),
            int2(&removed),
            text(&code),
            text(&REMOVED_AGAIN),
            int2(&uncertain),
        ];
        client.execute_typed(REMOVE, &values).await?;
    }
    free(client, run, row).await
}

/// Leads of these rows are there after all, so they and other rows that have them are settled again.
async fn are_there(
    client: &Client,
    run: RunId,
    rows: (i64, i64),
) -> Result<(), tokio_postgres::Error> {
    let (id, uncertain) = (run.0.cast_signed(), uncertain());
    let values = [int8(&id), int8(&rows.0), int8(&rows.1), int2(&uncertain)];
    client.execute_typed(IS_THERE, &values).await?;
    change_others(client, run, rows, -REMOVED, [REMOVED, OF_REMOVED]).await
}

/// No other row that has the lead of this one keeps its person from being sent. Only where the removal
/// was asked for, by the condition of [`OTHER_ROWS`].
async fn free(client: &Client, run: RunId, row: RowId) -> Result<(), tokio_postgres::Error> {
    let row = row.0.cast_signed();
    let settled = [Status::Created, Status::Duplicate].map(status_code);
    change_others(client, run, (row, row), REMOVED, settled).await
}

async fn change_others(
    client: &Client,
    run: RunId,
    (first, last): (i64, i64),
    by: i64,
    statuses: [i64; 2],
) -> Result<(), tokio_postgres::Error> {
    let (run, by) = (run.0.cast_signed(), by as i16);
    let [created, duplicate] = statuses.map(|status| status as i16);
    let values = [
        int8(&run),
        int8(&first),
        int8(&last),
        int2(&by),
        int2(&created),
        int2(&duplicate),
    ];
    client.execute_typed(OTHER_ROWS, &values).await?;
    Ok(())
}

fn read(row: &Row) -> Result<UndoRow, Unreadable> {
    let (at, number): (i64, i64) = (get(row, 0)?, get(row, 1)?);
    let asked_at: Option<Timestamp> = get(row, 4)?;
    let status: Option<i16> = get(row, 5)?;
    let http_status: Option<i32> = get(row, 6)?;
    let (error, settled_at, made_at) = (get(row, 7)?, get(row, 8)?, get(row, 9)?);
    let status = status.map(|code| UndoStatus::of_code(code.into()).ok_or("a status that is none"));
    let number = PhoneNumber::from_key(number.cast_unsigned());
    Ok(UndoRow {
        row: RowId(at.cast_unsigned()),
        number: number.ok_or("a number that is none")?,
        campaign: CampaignId(get(row, 2)?),
        lead_id: get(row, 3)?,
        made_at,
        answer_lost: get(row, 10)?,
        attempted: attempted(row, 11)?,
        was_asked: asked_at.is_some(),
        outcome: status.transpose()?.map(|status| UndoOutcome {
            status,
            http_status: http_status.and_then(|status| u16::try_from(status).ok()),
            error,
            settled_at,
        }),
    })
}

/// When undoing each run began, …
pub(super) const BEGUN: &str =
    "SELECT id, undone_at FROM leadload.runs WHERE undone_at IS NOT NULL";

/// … and its rows by what became of them.
pub(super) const COUNTS: &str =
    "SELECT run, status, count(*) FROM leadload.undo_rows GROUP BY run, status";

/// What is known of undoing each run, from the answers to [`BEGUN`] and [`COUNTS`].
pub(super) fn records(
    begun: &[Row],
    counts: &[Row],
) -> Result<HashMap<RunId, UndoRecord>, Unreadable> {
    let mut records = HashMap::new();
    for row in begun {
        let run: i64 = get(row, 0)?;
        let record = UndoRecord {
            began_at: get(row, 1)?,
            counts: UndoCounts::default(),
        };
        records.insert(RunId(run.cast_unsigned()), record);
    }
    for row in counts {
        let (run, status): (i64, Option<i16>) = (get(row, 0)?, get(row, 1)?);
        let status = status.and_then(|code| UndoStatus::of_code(code.into()));
        if let Some(record) = records.get_mut(&RunId(run.cast_unsigned())) {
            record
                .counts
                .add(status, get::<i64>(row, 2)?.cast_unsigned());
        }
    }
    Ok(records)
}
