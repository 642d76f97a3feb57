//! How a start ends.

use jiff::Timestamp;
use serde_json::json;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::PostgresLedger;
use super::record::whole_seconds;
use super::sender::{self, Sender};
use super::session::{int4, int8, text, typed};
use crate::lead::RunId;
use crate::ledger::{Ending, LedgerError, SenderId};

impl PostgresLedger {
    /// Records how a start has ended, and gives its lease up.
    pub fn end(
        &mut self,
        run: RunId,
        start: u32,
        ending: &Ending<'_>,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let now = whole_seconds(now);
        let lease = self.sender.as_ref().map(Sender::id);
        self.session
            .transact(async |client| end(client, (run, start), ending, lease, now).await)
    }
}

async fn end(
    client: &Client,
    (run, start): (RunId, u32),
    ending: &Ending<'_>,
    lease: Option<SenderId>,
    now: Timestamp,
) -> Result<(), Error> {
    let run = run.0.cast_signed();
    end_start(client, run, start, ending, now).await?;
    let last_read = ending.last_read.cast_signed();
    if ending.has_rejects {
        // Rows after the last one that was read are in no file of this start.
        let update = "UPDATE leadload.known_bad SET in_rejects = true WHERE run = $1 AND row <= $2
            AND row <> ALL ($3)";
        let again = ending.tried_again.iter();
        let again: Vec<i64> = again.map(|row| row.0.cast_signed()).collect();
        let values = [
            int8(&run),
            int8(&last_read),
            typed(&again, Type::INT8_ARRAY),
        ];
        client.execute_typed(update, &values).await?;
    }
    end_run(client, run, ending, now).await?;
    for (position, rows) in (0_i32..).zip(&ending.input_rows) {
        let update = "UPDATE leadload.inputs SET rows = coalesce($3, rows)
            WHERE run = $1 AND position = $2";
        let rows = rows.map(u64::cast_signed);
        let values = [int8(&run), int4(&position), typed(&rows, Type::INT8)];
        client.execute_typed(update, &values).await?;
    }
    if let Some(lease) = lease {
        client.execute_typed(sender::END, &[int8(&lease.0)]).await?;
    }
    Ok(())
}

async fn end_start(
    client: &Client,
    run: i64,
    start: u32,
    ending: &Ending<'_>,
    now: Timestamp,
) -> Result<(), Error> {
    let start = start.cast_signed();
    let exit_code = i32::from(ending.exit_code);
    let requests = ending.requests.cast_signed();
    let values = [
        int8(&run),
        int4(&start),
        typed(&now, Type::TIMESTAMPTZ),
        int4(&exit_code),
        text(&ending.stopped_by),
        int8(&requests),
    ];
    let update = "UPDATE leadload.starts
        SET ended_at = $3, exit_code = $4, stopped_by = $5, requests = $6
        WHERE run = $1 AND start = $2";
    client.execute_typed(update, &values).await?;
    Ok(())
}

/// A start that stopped early may have counted fewer rows than the one before it.
async fn end_run(
    client: &Client,
    run: i64,
    ending: &Ending<'_>,
    now: Timestamp,
) -> Result<(), Error> {
    let last_read = ending.last_read.cast_signed();
    let counts = json!(ending.counts).to_string();
    let total = ending.counts.total().cast_signed();
    let values = [
        int8(&run),
        typed(&ending.complete, Type::BOOL),
        typed(&now, Type::TIMESTAMPTZ),
        text(&counts),
        int8(&total),
        int8(&last_read),
    ];
    let update = "UPDATE leadload.runs
        SET completed_at = CASE WHEN $2 THEN $3 ELSE completed_at END,
        read_to = greatest(read_to, $6),
        counts = CASE WHEN $2 OR $6 >= read_to THEN $4::text::json ELSE counts END,
        counted = CASE WHEN $2 OR $6 >= read_to THEN $5 ELSE counted END
        WHERE id = $1";
    client.execute_typed(update, &values).await?;
    Ok(())
}
