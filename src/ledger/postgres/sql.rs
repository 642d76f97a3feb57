//! Performs the statements of every kind of ledger on a server (see `ledger::store`).
//!
//! Nothing is prepared, since poolers give each transaction to another session: each value goes with its
//! type. A number is a `bigint`, which the server makes narrower where a column is.

use std::error::Error as StdError;
use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::future::{Either, join, select};
use futures::{FutureExt, TryStreamExt};
use futures_timer::Delay;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Error};

use super::claims::{IS_EXPIRED, SENDER, attempts_of_open};
use super::sender::live_lease;
use crate::lead::RunId;
use crate::ledger::coding::{storable, storable_json, whole_seconds};
use crate::ledger::column::Column;
use crate::ledger::record::{KEY, NO_ANSWER, NO_ANSWER_YET, OUTCOME, each_of, of_open};
use crate::ledger::row::Row;
use crate::ledger::runs::OpenWork;
use crate::ledger::store::{Failed, Sql, Value, of_dialect};
use crate::ledger::{LiveLease, ServiceId};

const SENDING: &str = "SELECT DISTINCT run FROM leadload.senders WHERE until > clock_timestamp()";

/// Rows of runs that were killed, for each run by its key.
const UNCOUNTED: &str = "
SELECT id, (SELECT count(*) FROM leadload.sent
    WHERE run = runs.id AND is_open AND status IS NULL AND row > read_to)
FROM leadload.runs WHERE completed_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM leadload.senders WHERE run = runs.id AND until > clock_timestamp()
)";

/// A transaction on a server.
pub(in crate::ledger) struct ServerSql<'a> {
    pub(super) client: &'a Client,
    /// What begins it, together with its first statement.
    begin: Option<&'static str>,
    deadline: Instant,
}

impl<'a> ServerSql<'a> {
    pub(super) fn new(client: &'a Client, begin: &'static str, limit: Duration) -> ServerSql<'a> {
        ServerSql {
            client,
            begin: Some(begin),
            deadline: Instant::now() + limit,
        }
    }

    /// Waits for an answer. The first statement is sent together with the beginning, and not performed
    /// if that fails.
    pub(super) fn wait<T>(
        &mut self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Failed> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let done = match self.begin.take() {
            None => within(left, work),
            Some(begin) => within(left, async {
                let (begun, value) = join(self.client.batch_execute(begin), work).await;
                begun.and(value)
            }),
        };
        Ok(done.ok_or_else(Failed::silent)??)
    }

    pub(super) fn as_sql(&mut self) -> &mut (dyn Sql + 'a) {
        self
    }

    /// Performs statements without values.
    pub(super) fn batch(&mut self, sql: &str) -> Result<(), Failed> {
        let client = self.client;
        self.wait(client.batch_execute(sql))
    }

    pub(super) fn commit(&mut self) -> Result<(), Failed> {
        self.batch("COMMIT")
    }

    /// Ends a transaction that has changed nothing, without waiting for that.
    pub(super) fn end_reading(&mut self) {
        if self.begin.is_none() {
            let _ = self.client.batch_execute("COMMIT").now_or_never();
        }
    }
}

impl Sql for ServerSql<'_> {
    fn each(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&Row<'_>) -> Result<bool, Failed>,
    ) -> Result<(), Failed> {
        let (client, sql) = (self.client, translated(sql));
        let values = values.iter().map(|value| (value, value.kind()));
        let rows = self.wait(client.query_typed_raw(&sql, values))?;
        let mut rows = pin!(rows);
        loop {
            // Most rows are there already. What is done with one may wait for a server too, so that is
            // not done within.
            let next = match rows.try_next().now_or_never() {
                Some(next) => next?,
                None => self.wait(rows.try_next())?,
            };
            match next {
                Some(row) if each(&Row::Server(&row))? => {}
                _ => return Ok(()),
            }
        }
    }

    fn change(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, Failed> {
        let client = self.client;
        self.wait(client.execute_typed(&translated(sql), &typed(values)))
    }

    fn on_server(&mut self, sql: &str, values: &[Value<'_>]) -> Result<(), Failed> {
        self.change(sql, values).map(drop)
    }

    fn lease_of(&mut self, run: RunId) -> Result<Option<LiveLease>, Failed> {
        live_lease(self, run)
    }

    fn open_work(&mut self, _busy: &[ServiceId]) -> Result<Vec<(RunId, OpenWork)>, Failed> {
        let sql = self.as_sql();
        let mut open = sql.rows(SENDING, &[], |row| Ok((row.get(0)?, OpenWork::Sending)))?;
        open.extend(sql.rows(UNCOUNTED, &[], |row| {
            Ok((row.get(0)?, OpenWork::Uncounted(row.get(1)?)))
        })?);
        Ok(open)
    }
}

/// What the work returns; `None` if it takes too long.
pub(super) fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    let work = pin!(work);
    match block_on(select(work, Delay::new(limit))) {
        Either::Left((value, _)) => Some(value),
        Either::Right(_) => None,
    }
}

/// The values with their types.
pub(super) fn typed<'a>(values: &'a [Value<'_>]) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    let values = values.iter();
    values
        .map(|value| (value as &(dyn ToSql + Sync), value.kind()))
        .collect()
}

pub(super) fn translated(sql: &str) -> String {
    let mut sql = of_dialect(sql, "server").replace("json_each(", "json_array_elements_text(");
    if sql.contains("_seen") {
        sql = sql.replace("leadload.sent_seen", &sent_seen());
        sql = sql.replace("leadload.attempts_seen", &attempts_seen());
    }
    sql
}

/// Rows that were sent; an open claim is an uncertain one.
fn sent_seen() -> String {
    let key = each_of(KEY, |name| format!("s.{name}"));
    // Of a function that changes within a statement the server makes no join, but reads the whole table.
    let is_expired = IS_EXPIRED.replace("clock_timestamp", "statement_timestamp");
    let outcome = each_of(&OUTCOME, |(Column { name, .. }, _)| {
        let [ended, yet] = [NO_ANSWER, NO_ANSWER_YET].map(|why| of_open(name, why));
        format!(
            "CASE WHEN NOT s.is_open THEN s.{name} WHEN {is_expired} THEN {ended} ELSE {yet} END AS {name}"
        )
    });
    format!(
        "(SELECT {key}, s.service, {outcome}, s.is_open AND NOT {is_expired} AS is_busy
        FROM leadload.sent AS s {SENDER})"
    )
}

/// The times of attempts, with those of open claims.
fn attempts_seen() -> String {
    let open = attempts_of_open("leadload.sent");
    format!(
        "(SELECT run, row, first_ms, max(last_ms) AS last_ms, max(ended_ms) AS ended_ms FROM (
            SELECT run, row, first_ms, last_ms, ended_ms FROM leadload.attempts
            UNION ALL
            {open} AND x.is_open
        ) AS each_time GROUP BY run, row, first_ms)"
    )
}

impl Value<'_> {
    fn kind(&self) -> Type {
        match self {
            // The server takes it for what its place needs.
            Value::Null => Type::UNKNOWN,
            Value::Int(_) => Type::INT8,
            Value::Bool(_) => Type::BOOL,
            Value::Text(_) | Value::LeadId(_) => Type::TEXT,
            Value::Json(_) => Type::JSON,
            Value::Bytes(_) | Value::Path(_) => Type::BYTEA,
            Value::Time(_) => Type::TIMESTAMPTZ,
            Value::List(of, _) => of.clone(),
        }
    }
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        of: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(number) => number.to_sql(of, out),
            Value::Bool(is_so) => is_so.to_sql(of, out),
            Value::Text(text) | Value::LeadId(text) => storable(text).to_sql(of, out),
            Value::Json(json) => storable_json(json).to_sql(&Type::TEXT, out),
            Value::Bytes(bytes) => bytes.to_sql(of, out),
            Value::Path(path) => path.to_sql(of, out),
            Value::Time(time) => whole_seconds(*time).to_sql(of, out),
            Value::List(_, values) => values.to_sql(of, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
