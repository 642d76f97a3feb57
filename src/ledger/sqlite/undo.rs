//! Removing the leads of a run again: what is to be removed, and what became of it.
//!
//! Rule: call the methods that change anything only while nothing is sent to the service, and when
//! everything is filed (`recover`): a row that is filed later would count as a lead again.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::{Connection, Params, Row, params};

use super::coding::{OF_REMOVED, REMOVED, status_code};
use super::columns::{Seconds, all};
use super::lead_id::StoredLeadId;
use super::{
    Attempted, LedgerError, SqliteLedger, UndoCounts, UndoOutcome, UndoRecord, UndoRow, UndoStatus,
    unfiled,
};
use crate::lead::{CampaignId, ErrorCode, RowId, RunId, Status};
use crate::ledger::record::REMOVED_AGAIN;
use crate::ledger::undo::{MADE_BY_ANOTHER, MAY_HAVE_ARRIVED, NO_LEAD_ID, PERHAPS_ANOTHERS};
use crate::simulation::{Fault, is_planted};

/// A lead that an earlier run has made too is not this run's alone: the service has answered a
/// second request with the first one's lead. Where undo of that run may have removed it, its outcome is
/// unknown. The rows of earlier runs are all filed. A lead whose removal was asked for is asked for again.
const PLANNED: &str = "
SELECT s.row, s.number, s.campaign, s.lead_id, NULL AS asked_at,
    CASE WHEN s.status <> ?2 AND u.row IS NULL OR s.lead_id IS NULL THEN ?4
        WHEN o.run IS NOT NULL THEN ?5 END AS status,
    NULL AS http_status,
    CASE WHEN s.status = ?3 AND u.row IS NULL THEN ?7 WHEN s.status IN (1, ?11) THEN ?10
        WHEN s.lead_id IS NULL THEN ?6
        WHEN o.run IS NOT NULL THEN ?8 || o.run END AS error,
    NULL AS settled_at, s.settled_at AS made_at,
    coalesce(s.error_code = ?9, 0) AS answer_lost,
    (SELECT json_group_array(json_array(first_ms, last_ms, ended_ms)) FROM main.attempts
        WHERE run = s.run AND row = s.row) AS attempted
FROM sent AS s LEFT JOIN main.sent AS o
    ON o.number = s.number AND o.service = s.service AND o.campaign = s.campaign
        AND o.run < s.run AND o.lead_id = s.lead_id AND o.status IN (0, 1, ?3)
    LEFT JOIN main.undo_rows AS u ON u.run = s.run AND u.row = s.row AND u.asked_at IS NOT NULL
WHERE s.run = ?1 AND (s.status IN (?2, ?3) OR s.status = ?12 AND o.status = ?3
    OR s.error_code = ?9 AND (s.status = 1 OR s.status = ?11 AND (s.lead_id IS NULL OR o.status = ?3)))
GROUP BY s.row";

const COLUMNS: &str =
    "row, number, campaign, lead_id, asked_at, status, http_status, error, settled_at";

/// A lead that may have been removed is in doubt: if the answer does not come, a later run sends the
/// person again and does not take the lead for settled.
const DOUBT: &str = "
UPDATE sent SET status = ?3 WHERE run = ?1 AND row = ?2 AND status = 0
    AND number = (SELECT number FROM undo_rows WHERE run = ?1 AND row = ?2)
    AND campaign = (SELECT campaign FROM undo_rows WHERE run = ?1 AND row = ?2)
    AND service = (SELECT service FROM runs WHERE id = ?1)";

/// Those that were in doubt and are there.
const IS_THERE: &str = "
UPDATE sent SET status = 0 WHERE status = ?4 AND (number, service, campaign, run, row) IN (
    SELECT number, (SELECT service FROM runs WHERE id = ?1), campaign, run, row FROM undo_rows
    WHERE run = ?1 AND row BETWEEN ?2 AND ?3 AND asked_at IS NOT NULL
)";

/// Shifts the stored status of other rows that have these leads (see [`REMOVED`]): the service has
/// answered their requests with one of them, or has refused them as duplicates. The rows themselves have
/// another status by then.
const OTHER_ROWS: &str = "
UPDATE sent SET status = sent.status + ?4 FROM undo_rows AS u
WHERE u.run = ?1 AND u.row BETWEEN ?2 AND ?3 AND u.asked_at IS NOT NULL
    AND sent.number = u.number AND sent.campaign = u.campaign
    AND sent.service = (SELECT service FROM runs WHERE id = ?1)
    AND sent.status IN (?5, ?6)
    AND (sent.lead_id = u.lead_id OR sent.lead_id IS NULL AND sent.status = ?6)";

/// Whether a lead was removed, or may be as far as its outcome says.
const MAY_BE_REMOVED: &str = "
SELECT EXISTS (
    SELECT 1 FROM undo_rows WHERE run = ?1
        AND (status IN (0, 1) OR status = 3 AND asked_at IS NOT NULL)
)";

impl SqliteLedger {
    /// Records that the run is undone, so that it does not continue, and which of its leads are to
    /// be removed. What was not removed before is tried once more; what was kept was not removed, so it is
    /// as if nobody had asked.
    pub fn begin_undo(&mut self, run: RunId, now: Timestamp) -> Result<(), LedgerError> {
        self.changing(|change| {
            let begin = "UPDATE runs SET undone_at = coalesce(undone_at, ?2),
                undone_after = coalesce(undone_after, (SELECT max(seq) FROM starts)) WHERE id = ?1";
            change.execute(begin, params![run.0, Seconds(now)])?;
            let stale = "DELETE FROM undo_rows
                WHERE run = ?1 AND status = ?2 AND asked_at IS NULL";
            change.execute(stale, params![run.0, UndoStatus::Unknown.code()])?;
            let plan = format!(
                "INSERT INTO undo_rows (run, {COLUMNS}) SELECT ?1, {COLUMNS} FROM ({PLANNED}) AS planned
                WHERE true ON CONFLICT DO UPDATE
                SET lead_id = excluded.lead_id, status = excluded.status, error = excluded.error,
                    http_status = NULL, settled_at = NULL,
                    asked_at = CASE WHEN undo_rows.status = ?5 THEN NULL ELSE undo_rows.asked_at END
                WHERE undo_rows.status IS NULL OR undo_rows.status >= ?5"
            );
            change.execute(&plan, plan_values(run))?;
            Ok(())
        })
    }

    /// What undoing the run would do, row by row; also of a run that was killed.
    pub fn undo_plan(&self, run: RunId) -> Result<Vec<UndoRow>, LedgerError> {
        let services = self.services()?;
        let plan = format!("{PLANNED} ORDER BY s.row");
        self.reading(|db| {
            let snapshot = db.unchecked_transaction()?;
            unfiled::show(&snapshot, services)?;
            all(&snapshot, &plan, plan_values(run), read)
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
        let ask = "UPDATE undo_rows SET asked_at = coalesce(asked_at, ?3)
            WHERE run = ?1 AND row = ?2";
        if is_planted(Fault::ForgetRemoval) {
            return Ok(());
        }
        self.changing(|change| {
            change.execute(ask, params![run.0, row.0, Seconds(now)])?;
            change.execute(DOUBT, params![run.0, row.0, uncertain()])?;
            if is_planted(Fault::FreeLate) {
                return Ok(());
            }
            free(change, run, row)
        })
    }

    /// Takes the beginning of undoing a run back, unless a lead was removed, or may have been.
    pub fn cancel_undo(&mut self, run: RunId) -> Result<(), LedgerError> {
        self.changing(|change| {
            if change.query_row(MAY_BE_REMOVED, [run.0], |row| row.get(0))? {
                return Ok(());
            }
            are_there(change, run, (0, i64::MAX))?;
            change.execute(
                "UPDATE runs SET undone_at = NULL, undone_after = NULL WHERE id = ?1",
                [run.0],
            )?;
            change.execute("DELETE FROM undo_rows WHERE run = ?1", [run.0])?;
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
        let settle =
            "UPDATE undo_rows SET status = ?3, http_status = ?4, error = ?5, settled_at = ?6
            WHERE run = ?1 AND row = ?2";
        let values = params![
            run.0,
            row.row.0,
            outcome.status.code(),
            outcome.http_status,
            outcome.error,
            outcome.settled_at.map(Seconds),
        ];
        let remove = "UPDATE sent SET status = ?5, error_code = ?6, error = ?7
            WHERE number = ?1 AND campaign = ?2 AND run = ?3 AND row = ?4
                AND service = (SELECT service FROM runs WHERE id = ?3) AND status IN (0, ?8)";
        let removed = params![
            row.number.key().cast_signed(),
            row.campaign.0,
            run.0,
            row.row.0,
            REMOVED,
            ErrorCode::Undone.to_string(),
            REMOVED_AGAIN,
            uncertain(),
        ];
        self.changing(|change| {
            change.execute(settle, values)?;
            if outcome.status == UndoStatus::Kept {
                let row = row.row.0.cast_signed();
                return are_there(change, run, (row, row));
            }
            if outcome.status.is_removed() {
                change.execute(remove, removed)?;
            }
            free(change, run, row.row)
        })
    }

    /// The leads of a run that is undone, in the order of its rows.
    pub fn undo_rows(&self, run: RunId) -> Result<Vec<UndoRow>, LedgerError> {
        let select = format!(
            "SELECT {COLUMNS}, NULL AS made_at, 0 AS answer_lost,
                NULL AS attempted FROM undo_rows WHERE run = ?1 ORDER BY row"
        );
        self.reading(|db| all(db, &select, [run.0], read))
    }
}

/// Leads of these rows are there after all, so they and other rows that have them are settled again.
fn are_there(change: &Connection, run: RunId, (first, last): (i64, i64)) -> rusqlite::Result<()> {
    change.execute(IS_THERE, params![run.0, first, last, uncertain()])?;
    let values = params![run.0, first, last, -REMOVED, REMOVED, OF_REMOVED];
    change.execute(OTHER_ROWS, values)?;
    Ok(())
}

/// No other row that has the lead of this one keeps its person from being sent. Only where the removal
/// was asked for, by the condition of [`OTHER_ROWS`].
fn free(change: &Connection, run: RunId, row: RowId) -> rusqlite::Result<()> {
    if is_planted(Fault::KeepDuplicates) {
        return Ok(());
    }
    let [created, duplicate] = [Status::Created, Status::Duplicate].map(status_code);
    let values = params![run.0, row.0, row.0, REMOVED, created, duplicate];
    change.execute(OTHER_ROWS, values)?;
    Ok(())
}

fn uncertain() -> i64 {
    status_code(Status::Uncertain)
}

fn plan_values(run: RunId) -> impl Params {
    (
        run.0,
        status_code(Status::Created),
        status_code(Status::Uncertain),
        UndoStatus::Unknown.code(),
        UndoStatus::Kept.code(),
        NO_LEAD_ID,
        MAY_HAVE_ARRIVED,
        MADE_BY_ANOTHER,
        ErrorCode::AnswerLost.to_string(),
        PERHAPS_ANOTHERS,
        OF_REMOVED,
        REMOVED,
    )
}

fn read(row: &Row<'_>) -> rusqlite::Result<UndoRow> {
    let lead_id: Option<StoredLeadId> = row.get(3)?;
    let asked_at: Option<i64> = row.get(4)?;
    let status: Option<UndoStatus> = row.get(5)?;
    let settled_at: Option<Seconds> = row.get(8)?;
    let made_at: Option<Seconds> = row.get(9)?;
    let attempted: Option<String> = row.get(11)?;
    let attempted: Vec<(i64, i64, Option<i64>)> = attempted
        .and_then(|times| serde_json::from_str(&times).ok())
        .unwrap_or_default();
    let (http_status, error) = (row.get(6)?, row.get(7)?);
    Ok(UndoRow {
        row: RowId(row.get(0)?),
        number: row.get(1)?,
        campaign: CampaignId(row.get(2)?),
        lead_id: lead_id.map(|StoredLeadId(text)| text),
        made_at: made_at.map(|Seconds(time)| time),
        answer_lost: row.get(10)?,
        attempted: attempted
            .into_iter()
            .filter_map(|(first, last, ended)| Attempted::of_millis(first, last, ended))
            .collect(),
        was_asked: asked_at.is_some(),
        outcome: status.map(|status| UndoOutcome {
            status,
            http_status,
            error,
            settled_at: settled_at.map(|Seconds(time)| time),
        }),
    })
}

/// What is known of undoing each run.
pub(super) fn records(db: &Connection) -> rusqlite::Result<BTreeMap<RunId, UndoRecord>> {
    let began = "SELECT id, undone_at FROM runs WHERE undone_at IS NOT NULL";
    let mut records: BTreeMap<RunId, UndoRecord> = all(db, began, [], |row| {
        let Seconds(began_at) = row.get(1)?;
        let counts = UndoCounts::default();
        Ok((RunId(row.get(0)?), UndoRecord { began_at, counts }))
    })?;
    let counts = "SELECT run, status, count(*) FROM undo_rows GROUP BY run, status";
    let counts: Vec<(u64, Option<UndoStatus>, u64)> = all(db, counts, [], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    for (run, status, rows) in counts {
        if let Some(record) = records.get_mut(&RunId(run)) {
            record.counts.add(status, rows);
        }
    }
    Ok(records)
}
