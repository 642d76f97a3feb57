//! Removing the leads of a run again: what is to be removed, and what became of it.
//!
//! Make the changes to a file only while nothing is sent to the service, and when everything is filed
//! (`recover`): a row that is filed later would count as a lead again.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::attempts;
use super::coding::{OF_REMOVED, REMOVED, status_code};
use super::record::REMOVED_AGAIN;
use super::row::{LeadId, Row};
use super::store::{Failed, LOCK_SERVICE, Sql, Value};
use super::undo::{MADE_BY_ANOTHER, MAY_HAVE_ARRIVED, NO_LEAD_ID, PERHAPS_ANOTHERS};
use super::{
    AtWork, Ledger, LedgerError, ServiceId, UndoCounts, UndoOutcome, UndoRecord, UndoRow,
    UndoStatus,
};
use crate::lead::{ErrorCode, RowId, RunId, Status};
use crate::simulation::{Fault, is_planted};

/// What is to be removed of a run, row by row.
///
/// A lead that an earlier run has made too is not this run's alone: the service has answered a
/// second request with the first one's lead. (A duplicate shows that only if it was one before this row's lead
/// was made: one that was looked up later may be a duplicate of this very lead.) Where undo of that run may have removed it, its outcome is
/// unknown. The rows of earlier runs are all filed. A lead whose removal was asked for is asked for again. In a
/// file, a row whose cell was corrected may have been sent under two numbers.
fn planned() -> String {
    let earlier = "SELECT min(o.run) FROM leadload.sent AS o
        WHERE o.number = s.number AND o.service = s.service AND o.campaign = s.campaign
            AND o.run < s.run AND o.lead_id = s.lead_id
            AND (o.status <> 1 OR o.settled_at <= s.settled_at)";
    let [created, duplicate, uncertain] =
        [Status::Created, Status::Duplicate, Status::Uncertain].map(status_code);
    let (unknown, kept) = (UndoStatus::Unknown.code(), UndoStatus::Kept.code());
    let lost = ErrorCode::AnswerLost;
    format!(
        "SELECT row, number, campaign, lead_id, CAST(NULL AS timestamptz) AS asked_at,
            CASE WHEN status <> {created} AND NOT was_asked OR lead_id IS NULL THEN {unknown}
                WHEN earlier IS NOT NULL THEN {kept} END AS status,
            CAST(NULL AS integer) AS http_status,
            CASE WHEN status = {uncertain} AND NOT was_asked THEN '{MAY_HAVE_ARRIVED}'
                WHEN status IN ({duplicate}, {OF_REMOVED}) THEN $2
                WHEN lead_id IS NULL THEN '{NO_LEAD_ID}'
                WHEN status = {REMOVED} THEN '{MADE_BY_ANOTHER}' || in_doubt
                WHEN earlier IS NOT NULL THEN '{MADE_BY_ANOTHER}' || earlier END AS error,
            CAST(NULL AS timestamptz) AS settled_at, settled_at AS made_at,
            coalesce(error_code = '{lost}', false) AS answer_lost
        FROM (
            SELECT s.*, ({earlier} AND o.status IN ({created}, {duplicate}, {uncertain})) AS earlier,
                ({earlier} AND o.status = {uncertain}) AS in_doubt,
                EXISTS (SELECT 1 FROM leadload.undo_rows AS u
                    WHERE u.run = s.run AND u.row = s.row AND u.asked_at IS NOT NULL) AS was_asked
            FROM leadload.sent_seen AS s WHERE s.run = $1
        ) AS s
        WHERE status IN ({created}, {uncertain}) OR status = {REMOVED} AND in_doubt IS NOT NULL
            OR error_code = '{lost}' AND (status = {duplicate}
                OR status = {OF_REMOVED} AND (lead_id IS NULL OR in_doubt IS NOT NULL))
        /*file GROUP BY row */"
    )
}

const COLUMNS: &str =
    "row, number, campaign, lead_id, asked_at, status, http_status, error, settled_at";

/// A lead that may have been removed is in doubt: if the answer does not come, a later run sends the
/// person again and does not take the lead for settled.
const DOUBT: &str = "
UPDATE leadload.sent SET status = $3
WHERE run = $1 AND row = $2 AND status = 0
    AND number = (SELECT number FROM leadload.undo_rows WHERE run = $1 AND row = $2)
    AND campaign = (SELECT campaign FROM leadload.undo_rows WHERE run = $1 AND row = $2)
    AND service = (SELECT service FROM leadload.runs WHERE id = $1)";

/// Those that were in doubt and are there.
const IS_THERE: &str = "
UPDATE leadload.sent AS s SET status = 0 FROM leadload.undo_rows AS u
WHERE u.run = $1 AND u.row BETWEEN $2 AND $3 AND u.asked_at IS NOT NULL
    AND s.number = u.number AND s.campaign = u.campaign AND s.run = u.run AND s.row = u.row
    AND s.service = (SELECT service FROM leadload.runs WHERE id = $1)
    AND s.status = $4 /*server AND NOT s.is_open */";

/// Shifts the stored status of other rows that have these leads (see [`REMOVED`]): the service has
/// answered their requests with one of them, or has refused them as duplicates. The rows themselves have
/// another status by then.
const OTHER_ROWS: &str = "
UPDATE leadload.sent AS s SET status = s.status + $4 /*server , holds = NULL, holds_service = NULL */
FROM leadload.undo_rows AS u
WHERE u.run = $1 AND u.row BETWEEN $2 AND $3 AND u.asked_at IS NOT NULL
    AND s.number = u.number AND s.campaign = u.campaign
    AND s.service = (SELECT service FROM leadload.runs WHERE id = $1)
    AND s.status IN ($5, $6) /*server AND NOT s.is_open */
    AND (s.lead_id = u.lead_id OR s.lead_id IS NULL AND s.status = $6)";

/// Whether a lead was removed, or may be as far as its outcome says.
const MAY_BE_REMOVED: &str = "
SELECT EXISTS (
    SELECT 1 FROM leadload.undo_rows WHERE run = $1
        AND (status IN (0, 1) OR status = 3 AND asked_at IS NOT NULL)
)";

const REMOVE: &str = "
UPDATE leadload.sent SET status = $3, error_code = $6, error = $7
    /*server , holds = NULL, holds_service = NULL */
WHERE run = $1 AND row = $2 AND number = $4 AND campaign = $5 AND status IN (0, $8)
    AND service = (SELECT service FROM leadload.runs WHERE id = $1)";

impl Ledger {
    /// Records that the run is undone, so that it does not continue, and which of its leads are to
    /// be removed. What was not removed before is tried once more; what was kept was not removed, so it is
    /// as if nobody had asked. If a process is sending the run, returns which one.
    pub fn begin_undo(
        &mut self,
        run: RunId,
        now: Timestamp,
    ) -> Result<Result<(), AtWork>, LedgerError> {
        self.changing_once(|sql| {
            // Nobody acquires a lease of the run until this is done.
            let service = "SELECT service FROM leadload.runs WHERE id = $1";
            let service: Option<ServiceId> = sql.row(service, &[run.into()], |row| row.get(0))?;
            // It was forgotten meanwhile.
            let Some(service) = service else {
                return Ok(Ok(()));
            };
            sql.on_server(LOCK_SERVICE, &[service.into()])?;
            if let Some(lease) = sql.lease_of(run)? {
                return Ok(Err(lease.at_work));
            }
            begin(sql, run, now)?;
            Ok(Ok(()))
        })
    }

    /// What undoing the run would do, row by row; also of a run that was killed.
    pub fn undo_plan(&self, run: RunId) -> Result<Vec<UndoRow>, LedgerError> {
        let plan = planned() + " ORDER BY row";
        self.reading_seen(|sql| {
            let mut times = attempts::of_run(sql, run)?;
            sql.rows(&plan, &[run.into(), PERHAPS_ANOTHERS.into()], |row| {
                let mut planned = read(row)?;
                planned.made_at = row.get("made_at")?;
                planned.answer_lost = row.get("answer_lost")?;
                planned.attempted = times.remove(&planned.row).unwrap_or_default();
                Ok(planned)
            })
        })
    }

    /// Records that the service is about to be asked to remove the lead of a row: from now on it is
    /// uncertain, and other rows that have the same lead settle nobody.
    pub fn ask_to_undo(
        &mut self,
        run: RunId,
        row: RowId,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        if is_planted(Fault::ForgetRemoval) {
            return Ok(());
        }
        let ask = "UPDATE leadload.undo_rows SET asked_at = coalesce(asked_at, $3)
            WHERE run = $1 AND row = $2";
        self.changing(|sql| {
            sql.change(ask, &[run.into(), row.into(), now.into()])?;
            sql.change(DOUBT, &[run.into(), row.into(), uncertain()])?;
            if is_planted(Fault::FreeLate) {
                return Ok(());
            }
            free(sql, run, row)
        })
    }

    /// Takes the beginning of undoing a run back, unless a lead was removed, or may have been.
    pub fn cancel_undo(&mut self, run: RunId) -> Result<(), LedgerError> {
        let go_on = "UPDATE leadload.runs SET undone_at = NULL, undone_after = NULL WHERE id = $1";
        self.changing(|sql| {
            if sql.value(MAY_BE_REMOVED, &[run.into()])? {
                return Ok(());
            }
            are_there(sql, run, (0, i64::MAX))?;
            sql.change(go_on, &[run.into()])?;
            sql.change(
                "DELETE FROM leadload.undo_rows WHERE run = $1",
                &[run.into()],
            )?;
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
        let settle = "UPDATE leadload.undo_rows
            SET status = $3, http_status = $4, error = $5, settled_at = $6
            WHERE run = $1 AND row = $2";
        let values = [
            run.into(),
            row.row.into(),
            outcome.status.code().into(),
            outcome.http_status.into(),
            outcome.error.as_deref().into(),
            outcome.settled_at.into(),
        ];
        let undone = ErrorCode::Undone.to_string();
        let removed = [
            run.into(),
            row.row.into(),
            REMOVED.into(),
            row.number.into(),
            row.campaign.into(),
            (&undone).into(),
            REMOVED_AGAIN.into(),
            uncertain(),
        ];
        self.changing(|sql| {
            sql.change(settle, &values)?;
            if outcome.status == UndoStatus::Kept {
                let row = row.row.0.cast_signed();
                return are_there(sql, run, (row, row));
            }
            if outcome.status.is_removed() {
                sql.change(REMOVE, &removed)?;
            }
            free(sql, run, row.row)
        })
    }

    /// The leads of a run that is undone, in the order of its rows.
    pub fn undo_rows(&self, run: RunId) -> Result<Vec<UndoRow>, LedgerError> {
        let rows = format!("SELECT {COLUMNS} FROM leadload.undo_rows WHERE run = $1 ORDER BY row");
        self.reading(|sql| sql.rows(&rows, &[run.into()], read))
    }
}

fn begin(sql: &mut dyn Sql, run: RunId, now: Timestamp) -> Result<(), Failed> {
    let begin = "UPDATE leadload.runs SET undone_at = coalesce(undone_at, $2),
            undone_after = coalesce(undone_after, (SELECT max(seq) FROM leadload.starts))
        WHERE id = $1";
    sql.change(begin, &[run.into(), now.into()])?;
    let stale = "DELETE FROM leadload.undo_rows
        WHERE run = $1 AND status = $2 AND asked_at IS NULL";
    let unknown = UndoStatus::Unknown.code();
    sql.change(stale, &[run.into(), unknown.into()])?;
    let kept = UndoStatus::Kept.code();
    let planned = planned();
    let plan = format!(
        "INSERT INTO leadload.undo_rows (run, {COLUMNS})
        SELECT $1, {COLUMNS} FROM ({planned}) AS planned
        WHERE true ON CONFLICT (run, row) DO UPDATE
        SET lead_id = excluded.lead_id, status = excluded.status, error = excluded.error,
            http_status = NULL, settled_at = NULL,
            asked_at = CASE WHEN undo_rows.status = {kept} THEN NULL ELSE undo_rows.asked_at END
        WHERE undo_rows.status IS NULL OR undo_rows.status >= {kept}"
    );
    sql.change(&plan, &[run.into(), PERHAPS_ANOTHERS.into()])?;
    Ok(())
}

/// Leads of these rows are there after all, so they and other rows that have them are settled again.
fn are_there(sql: &mut dyn Sql, run: RunId, (first, last): (i64, i64)) -> Result<(), Failed> {
    let values = [run.into(), first.into(), last.into(), uncertain()];
    sql.change(IS_THERE, &values)?;
    shift(sql, run, (first, last), [-REMOVED, REMOVED, OF_REMOVED])
}

/// No other row that has the lead of this one keeps its person from being sent. Only where the removal
/// was asked for, by the condition of [`OTHER_ROWS`].
fn free(sql: &mut dyn Sql, run: RunId, row: RowId) -> Result<(), Failed> {
    if is_planted(Fault::KeepDuplicates) {
        return Ok(());
    }
    let row = row.0.cast_signed();
    let [created, duplicate] = [Status::Created, Status::Duplicate].map(status_code);
    shift(sql, run, (row, row), [REMOVED, created, duplicate])
}

/// Shifts other rows that have the leads of these rows by a number, from these two statuses.
fn shift(
    sql: &mut dyn Sql,
    run: RunId,
    (first, last): (i64, i64),
    [by, created, duplicate]: [i64; 3],
) -> Result<(), Failed> {
    let values = [
        run.into(),
        first.into(),
        last.into(),
        by.into(),
        created.into(),
        duplicate.into(),
    ];
    sql.change(OTHER_ROWS, &values).map(drop)
}

fn uncertain() -> Value<'static> {
    status_code(Status::Uncertain).into()
}

fn read(row: &Row<'_>) -> Result<UndoRow, Failed> {
    let lead_id: Option<LeadId> = row.get("lead_id")?;
    let asked_at: Option<Timestamp> = row.get("asked_at")?;
    let status: Option<UndoStatus> = row.get("status")?;
    let (http_status, error): (_, Option<String>) = (row.get("http_status")?, row.get("error")?);
    let settled_at = row.get("settled_at")?;
    // Nothing else is stored of it than the reason.
    let may_be_looked_up = match error.as_deref() {
        Some(MAY_HAVE_ARRIVED) => true,
        Some(PERHAPS_ANOTHERS) => lead_id.is_none(),
        _ => false,
    };
    Ok(UndoRow {
        row: row.get("row")?,
        number: row.get("number")?,
        campaign: row.get("campaign")?,
        lead_id: lead_id.map(|LeadId(id)| id),
        made_at: None,
        answer_lost: false,
        attempted: Vec::new(),
        was_asked: asked_at.is_some(),
        may_be_looked_up,
        outcome: status.map(|status| UndoOutcome {
            status,
            http_status,
            error,
            settled_at,
        }),
    })
}

/// What is known of undoing each run.
pub(super) fn records(sql: &mut dyn Sql) -> Result<BTreeMap<RunId, UndoRecord>, Failed> {
    let began = "SELECT id, undone_at FROM leadload.runs WHERE undone_at IS NOT NULL";
    let began = sql.rows(began, &[], |row| {
        let counts = UndoCounts::default();
        let began_at = row.get("undone_at")?;
        Ok((row.get("id")?, UndoRecord { began_at, counts }))
    })?;
    let mut records: BTreeMap<RunId, UndoRecord> = began.into_iter().collect();
    let counts = "SELECT run, status, count(*) FROM leadload.undo_rows GROUP BY run, status";
    sql.each(counts, &[], &mut |row| {
        let (run, status, rows): (RunId, _, _) = (row.get(0)?, row.get(1)?, row.get(2)?);
        if let Some(record) = records.get_mut(&run) {
            record.counts.add(status, rows);
        }
        Ok(true)
    })?;
    Ok(records)
}
