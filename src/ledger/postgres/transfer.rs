//! Reads and writes all tables as rows of plain cells.

use futures::executor::block_on;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};

use super::PostgresLedger;
use super::claims::attempts_of_open;
use super::export::stream;
use super::prune::STOP_SENDERS;
use super::record::{Unreadable, get};
use super::session::{BEGIN_SLOWLY, SNAPSHOT, Value, int8};
use crate::lead::Status;
use crate::ledger::LedgerError;
use crate::ledger::coding::status_code;
use crate::ledger::record::NO_ANSWER;
use crate::ledger::transfer::{Cell, Cells, Column, Kind, TABLES, Table, Write};

/// How many rows one statement inserts.
const AT_ONCE: usize = 4096;

/// Which of the rows of a number has its claim: the earliest lead, or else the latest row that
/// may be one.
fn claim() -> String {
    let uncertain = status_code(Status::Uncertain);
    format!(
        "UPDATE leadload.sent AS s SET holds = true FROM (
            SELECT DISTINCT ON (number, service, campaign) run, row FROM leadload.sent
            WHERE status IN (0, 1, {uncertain})
            ORDER BY number, service, campaign, status, CASE WHEN status < 2 THEN settled_at END,
                CASE WHEN status < 2 THEN run ELSE -run END, row
        ) AS first
        WHERE s.run = first.run AND s.row = first.row"
    )
}

/// What the other kind of ledger does not have: counts added up, the pace, and numbers that
/// are given from now on.
const COMPLETE: [&str; 3] = [
    "UPDATE leadload.runs SET counted = (
        SELECT coalesce(sum(value::bigint), 0) FROM json_each_text(counts))",
    "INSERT INTO leadload.pace (service) SELECT id FROM leadload.services",
    "SELECT setval(pg_get_serial_sequence('leadload.services', 'id'), max(id)) FROM leadload.services
     HAVING max(id) IS NOT NULL",
];

impl PostgresLedger {
    /// Passes all rows on, as they are at this moment. A row that is being sent is uncertain. If
    /// the ledger is to move, nothing is sent meanwhile.
    pub(in crate::ledger) fn each_row(
        &self,
        moves: bool,
        mut each: impl FnMut(&'static Table, Cells) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        let failed = |error: Error| LedgerError::of_server(self.place(), &error);
        self.session.with_client(SNAPSHOT, |client| {
            if moves {
                block_on(client.batch_execute(STOP_SENDERS)).map_err(failed)?;
            }
            for table in TABLES {
                stream(self.place(), client, &select(table), &[], |row| {
                    let cells = self.readable(cells(table, &row))?;
                    each(table, cells)
                })?;
            }
            block_on(client.batch_execute("COMMIT")).map_err(failed)
        })?
    }

    /// The highest number that was ever given to a run, though the run may be forgotten.
    pub(in crate::ledger) fn last_run(&self) -> Result<i64, LedgerError> {
        let last =
            "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM leadload.runs_id_seq";
        let rows = self.query(last, &[])?;
        let last = self.read_all(&rows, |row| get(row, 0))?;
        Ok(last.first().copied().unwrap_or_default())
    }

    /// Makes sure that no run gets this number or a lower one.
    pub(in crate::ledger) fn skip_runs(&mut self, last: i64) -> Result<(), LedgerError> {
        if last > 0 {
            let skip = "SELECT setval('leadload.runs_id_seq', $1)";
            self.change(skip, vec![int8(&last)])?;
        }
        Ok(())
    }

    /// Writes rows as they are given, all of them or none. The ledger has to be empty.
    pub(in crate::ledger) fn fill(
        &mut self,
        rows: impl FnOnce(&mut Write<'_>) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        let place = self.place().clone();
        let failed = |error: Error| LedgerError::of_server(&place, &error);
        // The source may take its time before the first row.
        self.session.with_client(BEGIN_SLOWLY, |client| {
            let mut waiting: Option<(&'static Table, Vec<Cells>)> = None;
            rows(&mut |table, cells| {
                let is_full =
                    |(of, rows): &(&Table, Vec<Cells>)| *of != table || rows.len() >= AT_ONCE;
                if let Some((of, rows)) = waiting.take_if(|waiting| is_full(waiting)) {
                    block_on(insert(client, of, &rows)).map_err(failed)?;
                }
                waiting.get_or_insert((table, Vec::new())).1.push(cells);
                Ok(())
            })?;
            if let Some((table, rows)) = waiting {
                block_on(insert(client, table, &rows)).map_err(failed)?;
            }
            block_on(async {
                client.batch_execute(&claim()).await?;
                for sql in COMPLETE {
                    client.batch_execute(sql).await?;
                }
                client.batch_execute("COMMIT").await
            })
            .map_err(failed)
        })?
    }
}

/// A column as a plain value.
fn read_as(column: &Column) -> String {
    let name = column.name;
    match column.kind {
        Kind::Whole => format!("s.{name}::bigint"),
        Kind::Text | Kind::LeadId | Kind::Bytes | Kind::Path => format!("s.{name}"),
        Kind::Json => format!("s.{name}::text"),
        Kind::YesNo => format!("s.{name}::integer::bigint"),
        Kind::Time => format!("floor(extract(epoch FROM s.{name}))::bigint"),
    }
}

fn select(table: &Table) -> String {
    let columns: Vec<String> = table.columns.iter().map(read_as).collect();
    let key: Vec<String> = table
        .key
        .split(", ")
        .map(|key| format!("s.{key}"))
        .collect();
    let (columns, key) = (columns.join(", "), key.join(", "));
    let rows = match table.name {
        "sent" => sent(),
        "attempts" => attempts(),
        name => format!("leadload.{name}"),
    };
    format!("SELECT {columns} FROM {rows} AS s ORDER BY {key}")
}

/// An open claim counts as what it becomes when it expires.
fn sent() -> String {
    let uncertain = status_code(Status::Uncertain);
    format!(
        "(SELECT run, row, number, service, campaign, file, line_offset, status, http_status,
            attempts, lead_id, settled_at, error_code, error
        FROM leadload.sent WHERE NOT is_open
        UNION ALL
        SELECT run, row, number, service, campaign, file, line_offset, {uncertain}::smallint, NULL,
            attempts + 1, NULL, NULL, 'answer_lost', '{NO_ANSWER}'
        FROM leadload.sent WHERE is_open)"
    )
}

/// The times of attempts, with those of open claims.
fn attempts() -> String {
    let open = attempts_of_open("leadload.sent");
    format!(
        "(SELECT run, row, first_ms, max(last_ms) AS last_ms, max(ended_ms) AS ended_ms FROM (
            SELECT run, row, first_ms, last_ms, ended_ms FROM leadload.attempts
            UNION ALL
            {open} AND x.is_open
        ) AS each GROUP BY run, row, first_ms)"
    )
}

fn cells(table: &Table, row: &Row) -> Result<Cells, Unreadable> {
    let columns = table.columns.iter().enumerate();
    columns
        .map(|(index, column)| {
            Ok(match column.kind {
                Kind::Whole | Kind::YesNo | Kind::Time => {
                    get::<Option<i64>>(row, index)?.map_or(Cell::Empty, Cell::Whole)
                }
                Kind::Text | Kind::Json | Kind::LeadId => {
                    get::<Option<String>>(row, index)?.map_or(Cell::Empty, Cell::Text)
                }
                Kind::Bytes | Kind::Path => {
                    get::<Option<Vec<u8>>>(row, index)?.map_or(Cell::Empty, Cell::Bytes)
                }
            })
        })
        .collect()
}

/// The type of the list that carries a column, and how it is stored.
fn written_as(column: &Column, number: usize) -> (Type, String, String) {
    let name = column.name;
    let (list, sql, stored) = match column.kind {
        Kind::Whole => (Type::INT8_ARRAY, "bigint[]", format!("t.{name}")),
        Kind::YesNo => (Type::INT8_ARRAY, "bigint[]", format!("t.{name} = 1")),
        Kind::Time => (
            Type::INT8_ARRAY,
            "bigint[]",
            format!("to_timestamp(t.{name})"),
        ),
        Kind::Text | Kind::LeadId => (Type::TEXT_ARRAY, "text[]", format!("t.{name}")),
        Kind::Json => (Type::TEXT_ARRAY, "text[]", format!("t.{name}::json")),
        Kind::Bytes | Kind::Path => (Type::BYTEA_ARRAY, "bytea[]", format!("t.{name}")),
    };
    (list, format!("${number}::{sql}"), stored)
}

/// The values of one column.
fn list(rows: &[Cells], index: usize, kind: Kind) -> Box<dyn ToSql + Sync> {
    let cells = rows.iter().map(|cells| cells.get(index));
    match kind {
        Kind::Whole | Kind::YesNo | Kind::Time => Box::new(
            cells
                .map(|cell| match cell {
                    Some(Cell::Whole(number)) => Some(*number),
                    _ => None,
                })
                .collect::<Vec<Option<i64>>>(),
        ),
        Kind::Text | Kind::Json | Kind::LeadId => Box::new(
            cells
                .map(|cell| match cell {
                    Some(Cell::Text(text)) => Some(text.clone()),
                    _ => None,
                })
                .collect::<Vec<Option<String>>>(),
        ),
        Kind::Bytes | Kind::Path => Box::new(
            cells
                .map(|cell| match cell {
                    Some(Cell::Bytes(bytes)) => Some(bytes.clone()),
                    _ => None,
                })
                .collect::<Vec<Option<Vec<u8>>>>(),
        ),
    }
}

async fn insert(client: &Client, table: &Table, rows: &[Cells]) -> Result<(), Error> {
    let columns = || table.columns.iter().enumerate();
    let written: Vec<_> = columns()
        .map(|(index, column)| written_as(column, index + 1))
        .collect();
    let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    let lists: Vec<&str> = written.iter().map(|(_, list, _)| &**list).collect();
    let stored: Vec<&str> = written.iter().map(|(_, _, stored)| &**stored).collect();
    let names = names.join(", ");
    let sql = format!(
        "INSERT INTO leadload.{} ({names}) SELECT {}
        FROM unnest({}) WITH ORDINALITY AS t ({names}, nth) ORDER BY nth",
        table.name,
        stored.join(", "),
        lists.join(", "),
    );
    let values: Vec<_> = columns()
        .map(|(index, column)| list(rows, index, column.kind))
        .collect();
    let values: Vec<Value<'_>> = values
        .iter()
        .zip(&written)
        .map(|(value, (of, _, _))| (&**value, of.clone()))
        .collect();
    client.execute_typed(&sql, &values).await?;
    Ok(())
}
