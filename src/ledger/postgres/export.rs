//! Exports the rows that runs sent or found invalid, in the order of the input.

use std::pin::pin;

use futures::TryStreamExt;
use futures::executor::block_on;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::PostgresLedger;
use super::history::run_id;
use super::place::ServerPlace;
use super::record::{COLUMNS, Unreadable, get, record};
use super::session::{SNAPSHOT, Value, typed};
use crate::lead::{CampaignId, ErrorCode, RowId, RowOutcome, Status};
use crate::ledger::record::{NO_ANSWER_YET, without_answer};
use crate::ledger::{ExportedRow, LedgerError, Selection};

/// Rows that were sent, the open ones too, and invalid rows, which have no number but a cell. A row
/// that was invalid, and that a later version could send, is in both tables.
fn rows() -> String {
    format!(
        "SELECT {COLUMNS}, s.is_open, NULL AS cell FROM leadload.sent AS s
        WHERE s.run = ANY($1) AND ($2::bigint IS NULL OR s.campaign = $2)
        UNION ALL
        SELECT NULL, i.campaign, i.run, i.row, i.file, i.line, NULL, NULL, NULL, NULL, NULL,
            i.error_code, i.error, false, coalesce(i.cell, '')
        FROM leadload.invalid_rows AS i
        WHERE i.run = ANY($1) AND ($2::bigint IS NULL OR i.campaign = $2) AND NOT EXISTS (
            SELECT 1 FROM leadload.sent AS s WHERE s.run = i.run AND s.row = i.row
        )
        ORDER BY run, row"
    )
}

impl PostgresLedger {
    /// Passes every row of the selection to `each`, ordered by run
    /// and row, as they are at this moment. Stops when `each` fails.
    pub fn export<E: From<LedgerError>>(
        &self,
        selection: &Selection,
        mut each: impl FnMut(ExportedRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let runs = selection.runs.iter().map(|run| run.0.cast_signed());
        let runs: Vec<i64> = runs.collect();
        let campaign = selection.campaign.map(|campaign| campaign.0);
        let values: [Value<'_>; 2] = [typed(&runs, Type::INT8_ARRAY), typed(&campaign, Type::INT8)];
        let pass_on = |row: Row| {
            let row = self.readable(exported(&row))?;
            selection.take(row).map_or(Ok(()), &mut each)
        };
        self.session.with_client(SNAPSHOT, |client| {
            stream(self.place(), client, &rows(), &values, pass_on)
        })?
    }
}

/// Passes the rows of a query on as they come: all of them may not fit into memory. Nothing is
/// repeated if the connection breaks.
pub(super) fn stream<E: From<LedgerError>>(
    place: &ServerPlace,
    client: &Client,
    sql: &str,
    values: &[Value<'_>],
    mut each: impl FnMut(Row) -> Result<(), E>,
) -> Result<(), E> {
    let values = values.iter().map(|(value, of)| (*value, of.clone()));
    let values: Vec<_> = values.collect();
    let failed = |error| E::from(LedgerError::of_server(place, &error));
    let rows = block_on(client.query_typed_raw(sql, values)).map_err(failed)?;
    let mut rows = pin!(rows);
    // What is done with a row may wait for a server too, so that is not done within.
    while let Some(row) = block_on(rows.try_next()).map_err(failed)? {
        each(row)?;
    }
    Ok(())
}

fn exported(row: &Row) -> Result<ExportedRow, Unreadable> {
    match get(row, 14)? {
        Some(cell) => invalid_row(row, cell),
        None => sent_row(row),
    }
}

fn sent_row(row: &Row) -> Result<ExportedRow, Unreadable> {
    let is_open: bool = get(row, 13)?;
    let record = record(row)?;
    let outcome = match is_open {
        true => without_answer(record.outcome.attempts, NO_ANSWER_YET),
        false => record.outcome,
    };
    Ok(ExportedRow {
        run: record.run,
        row: record.row,
        file: record.file,
        line: record.line,
        phone: record.number.to_string(),
        campaign: Some(record.campaign),
        outcome,
    })
}

fn invalid_row(row: &Row, cell: String) -> Result<ExportedRow, Unreadable> {
    let code: &str = get(row, 11)?;
    let code: ErrorCode = code.parse()?;
    let campaign: Option<i64> = get(row, 1)?;
    Ok(ExportedRow {
        run: run_id(row, 2)?,
        row: RowId(get::<i64>(row, 3)?.cast_unsigned()),
        file: get::<i32>(row, 4)?.cast_unsigned() as usize,
        line: get::<i64>(row, 5)?.cast_unsigned(),
        phone: cell,
        campaign: campaign.map(CampaignId),
        outcome: RowOutcome::not_sent(Status::Invalid, Some(code), get(row, 12)?),
    })
}
