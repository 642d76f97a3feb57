//! How a start ends.

use jiff::Timestamp;

use super::store::{Failed, Sql, Value, list};
use super::{Ledger, LedgerError, SenderId, StartEnd};
use crate::lead::RunId;

/// What it has claimed and not settled stays open until its time-out has passed.
const END_LEASE: &str = "
UPDATE leadload.senders SET until = least(until, clock_timestamp()) WHERE id = $1";

const END_START: &str = "
UPDATE leadload.starts SET ended_at = $3, exit_code = $4, stopped_by = $5, requests = $6
WHERE run = $1 AND start = $2";

/// Rows after the last one that was read are in no file of this start.
const IN_REJECTS: &str = "
UPDATE leadload.known_bad SET in_rejects = true WHERE run = $1 AND row <= $2
    AND row NOT IN (SELECT CAST(value AS bigint) FROM json_each($3))";

/// A start that stopped early may have got less far than the one before it. A run stays complete: on a server,
/// a process that was cut off ends after another one has completed it.
const END_RUN: &str = "
UPDATE leadload.runs SET completed_at = CASE WHEN $2 THEN $3 ELSE completed_at END,
    read_to = CASE WHEN $5 > read_to THEN $5 ELSE read_to END,
    counts = CASE WHEN $2 OR $5 >= read_to THEN $4 ELSE counts END
    /*server , counted = CASE WHEN $2 OR $5 >= read_to THEN $6 ELSE counted END */
WHERE id = $1";

const END_INPUT: &str = "
UPDATE leadload.inputs SET rows = coalesce($3, rows) WHERE run = $1 AND position = $2";

impl Ledger {
    /// Records how a start has ended. If that fails, the start looks as if it had been killed.
    pub fn end(
        &mut self,
        run: RunId,
        start: u32,
        ending: &StartEnd<'_>,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let lease = match self {
            Ledger::File(ledger) => {
                ledger.refuse_replaced()?;
                SenderId::default()
            }
            Ledger::Server(ledger) => ledger.sender_id(),
        };
        self.changing(|sql| {
            end(sql, run, start, ending, now)?;
            sql.on_server(END_LEASE, &[lease.into()])
        })?;
        // There is time for filing now. Rows that cannot be filed are filed before the next run.
        let _ = self.file_all();
        Ok(())
    }
}

fn end(
    sql: &mut dyn Sql,
    run: RunId,
    start: u32,
    ending: &StartEnd<'_>,
    now: Timestamp,
) -> Result<(), Failed> {
    let values = [
        run.into(),
        start.into(),
        now.into(),
        i64::from(ending.exit_code).into(),
        ending.stopped_by.into(),
        ending.requests.into(),
    ];
    sql.change(END_START, &values)?;
    if ending.has_rejects {
        let again = list(ending.tried_again.iter().map(|row| row.0));
        sql.change(IN_REJECTS, &[run.into(), ending.last_read.into(), again])?;
    }
    let values = [
        run.into(),
        ending.complete.into(),
        now.into(),
        Value::json(&ending.counts),
        ending.last_read.into(),
        ending.counts.total().into(),
    ];
    sql.change(END_RUN, &values)?;
    for (position, rows) in ending.input_rows.iter().enumerate() {
        sql.change(END_INPUT, &[run.into(), position.into(), (*rows).into()])?;
    }
    Ok(())
}
