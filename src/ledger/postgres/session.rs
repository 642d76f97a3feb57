//! A connection to the server, which is made again whenever it is lost.
//!
//! The rest of the program calls the ledger from its own threads and waits for it, as it waits
//! for a disk. So each connection has a thread that moves its bytes, and the caller waits.
//!
//! All work is within a transaction, and the first thing in it is where names are looked up: in
//! PostgreSQL's own schema alone. In many databases every role may make operators and functions in
//! `public`, and one whose types fit better than those of PostgreSQL's own would be called in its
//! place, with the rights of this program. A setting of the session would not do: poolers lose it.
//!
//! Work is repeated after an error that passes, so all of it must be harmless to repeat: a
//! commit whose answer is lost may have happened.

use std::cell::RefCell;
use std::fmt;
use std::iter::once;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use futures::future::join_all;
use futures::{FutureExt, TryFutureExt};
use tokio_postgres::{Client, Row};
use tracing::warn;

use super::connection::Connection;
use super::error::{ErrorKind, reason};
use super::place::ServerPlace;
use super::sql::{ServerSql, translated, typed, within};
use super::transfer;
use crate::clock;
use crate::ledger::lease::ShutdownPhase;
use crate::ledger::store::{Failed, Value};
use crate::ledger::{Lease, LedgerError};

/// How long a command waits for the server before it has begun a run.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long it waits for the server while a run is ending, since somebody waits for that.
const LAST_PATIENCE: Duration = Duration::from_secs(10);

/// How long an answer may take before the connection counts as lost.
const ANSWER: Duration = Duration::from_secs(15);

/// How long an answer may take while a run is ending.
const LAST_ANSWER: Duration = Duration::from_secs(5);

/// How long the answer to work that goes through whole tables may take.
pub(in crate::ledger) const LONG_ANSWER: Duration = Duration::from_secs(24 * 3600);

/// How long the beginning of a run may take, which may count the rows of an earlier start.
pub(super) const BEGINNING: Duration = Duration::from_secs(60);

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// From when on somebody who waits is told why.
const SAY_AFTER: Duration = Duration::from_secs(2);

/// What every transaction begins with. Tables are named with their schema, and all else is
/// PostgreSQL's own.
macro_rules! own_names_alone {
    () => {
        "; SET LOCAL search_path = pg_catalog, pg_temp"
    };
}

/// Begins a transaction that changes something, as one message. The settings hold for it alone, so they
/// work through poolers too: a transaction of a computer that was cut off holds up no one for
/// long, a commit is on disk when it has returned, and rows are looked up by their keys: for
/// some thousand rows the server would rather read the whole table or the whole run.
const BEGIN: &str = concat!(
    "BEGIN",
    own_names_alone!(),
    "; SET LOCAL idle_in_transaction_session_timeout = '10s';
    SET LOCAL lock_timeout = '10s';
    SET LOCAL enable_hashjoin = off;
    SET LOCAL enable_mergejoin = off;
    SELECT set_config('synchronous_commit', 'on', true)
    WHERE current_setting('synchronous_commit') = 'off'"
);

/// Begins one that may pause for any time.
const BEGIN_SLOWLY: &str = concat!("BEGIN", own_names_alone!());

/// Begins one in which all that is read is of one moment, and nothing is changed.
const SNAPSHOT: &str = concat!(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    own_names_alone!()
);

pub(in crate::ledger) struct Session {
    pub(super) place: ServerPlace,
    connection: RefCell<Option<Connection>>,
    shared: Arc<Mutex<Shared>>,
    /// Whether the lease depends on this connection, and not on another one.
    keeps_lease: bool,
}

/// What all connections of a run share.
#[derive(Debug)]
struct Shared {
    patience: Duration,
    /// The lease of the run that is sent, if there is one.
    lease: Lease,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({})", self.place)
    }
}

impl Session {
    pub(super) fn new(place: &ServerPlace) -> Session {
        Session {
            place: place.clone(),
            connection: RefCell::new(None),
            shared: Arc::new(Mutex::new(Shared {
                patience: PATIENCE,
                lease: Lease::unlimited(),
            })),
            keeps_lease: true,
        }
    }

    /// Another connection to the same server, which waits for it as long as this one.
    pub(super) fn another(&self) -> Session {
        Session {
            shared: Arc::clone(&self.shared),
            keeps_lease: false,
            ..Session::new(&self.place)
        }
    }

    /// A run has begun: from now on it waits so long for the server.
    pub(super) fn begin(&self, lease: Lease, patience: Duration) {
        *self.shared() = Shared { patience, lease };
    }

    pub(super) fn lease(&self) -> Lease {
        self.shared().lease.clone()
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Performs work that only reads, as often as it takes until it succeeds or fails for good.
    pub(in crate::ledger) fn read<T>(
        &self,
        work: impl Fn(&mut ServerSql<'_>) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        self.read_within(ANSWER, work)
    }

    /// Performs work that only reads and whose answers may take this long.
    pub(in crate::ledger) fn read_within<T>(
        &self,
        answer: Duration,
        work: impl Fn(&mut ServerSql<'_>) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        self.persist(answer, |client, limit| {
            let mut sql = ServerSql::new(client, SNAPSHOT, limit);
            let value = work(&mut sql)?;
            sql.end_reading();
            Ok(value)
        })
    }

    /// Performs work that changes something.
    pub(in crate::ledger) fn write<T>(
        &self,
        work: impl Fn(&mut ServerSql<'_>) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        self.write_within(ANSWER, work)
    }

    /// Performs work that changes something and whose answers may take this long.
    pub(super) fn write_within<T>(
        &self,
        answer: Duration,
        work: impl Fn(&mut ServerSql<'_>) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        self.persist(answer, |client, limit| {
            let mut sql = ServerSql::new(client, BEGIN, limit);
            let value = work(&mut sql)?;
            sql.commit()?;
            Ok(value)
        })
    }

    /// Performs work within one transaction that returns what it has changed. An attempt whose
    /// commit took effect though the answer was lost is not repeated: the next one would find
    /// nothing to change.
    pub(in crate::ledger) fn write_once<T>(
        &self,
        work: impl Fn(&mut ServerSql<'_>) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        // The transaction of the last attempt, and what the attempt returns.
        let mut last: Option<(String, T)> = None;
        self.persist(LONG_ANSWER, |client, limit| {
            if let Some((id, _)) = &last
                && has_committed(client, id, limit)?
            {
                return Ok(());
            }
            let mut sql = ServerSql::new(client, BEGIN, limit);
            let value = work(&mut sql)?;
            let id = sql
                .as_sql()
                .value("SELECT pg_current_xact_id()::text", &[])?;
            last = Some((id, value));
            sql.commit()
        })?;
        let done = last.map(|(_, value)| value);
        done.ok_or_else(LedgerError::broke_off)
    }

    /// Performs work that only reads and is not repeated if the connection breaks.
    pub(in crate::ledger) fn stream<T>(
        &self,
        work: impl FnOnce(&mut ServerSql<'_>) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        self.once(SNAPSHOT, |sql| {
            let value = work(sql)?;
            sql.end_reading();
            Ok(value)
        })
    }

    /// Fills an empty ledger. The rows may come slowly.
    pub(in crate::ledger) fn fill<T>(
        &self,
        work: impl FnOnce(&mut ServerSql<'_>) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        self.once(BEGIN_SLOWLY, |sql| {
            let value = work(sql)?;
            transfer::complete(sql)?;
            sql.commit()?;
            Ok(value)
        })
    }

    /// Performs work that is not repeated.
    fn once<T>(
        &self,
        begin: &'static str,
        work: impl FnOnce(&mut ServerSql<'_>) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        self.read(|sql| sql.batch(""))?;
        let connection = self.connection.take();
        let connection = connection.ok_or_else(LedgerError::broke_off)?;
        // It may be left within the transaction, so it is not used again.
        let mut sql = ServerSql::new(&connection.client, begin, LONG_ANSWER);
        work(&mut sql).map_err(|failed| self.lasting(failed))
    }

    /// The error of work that is not repeated.
    pub(super) fn lasting(&self, failed: Failed) -> LedgerError {
        match failed {
            Failed::Server(error) => LedgerError::of_server(&self.place, &error),
            Failed::Away(why) => LedgerError::out_of_reach(&self.place, Duration::ZERO, &why),
            Failed::Damaged(why) => LedgerError::damaged_server(&self.place, why),
            Failed::Ledger(error) => error,
            // A server fails in no such way.
            Failed::File(error) => LedgerError::damaged_server(&self.place, error),
        }
    }

    /// Performs statements as one transaction, sent as a whole without waiting for what comes back,
    /// so that it takes one round trip. Returns the rows of each.
    pub(super) fn at_once(
        &self,
        statements: &[(&str, &[Value<'_>])],
    ) -> Result<Vec<Vec<Row>>, LedgerError> {
        self.persist(ANSWER, |client, limit| {
            let batch = |sql: &'static str| {
                let sent = client.batch_execute(sql).map_ok(|()| Vec::new());
                sent.boxed_local()
            };
            let queries = statements.iter().map(|(sql, values)| {
                let (sql, values) = (translated(sql), typed(values));
                async move { client.query_typed(&sql, &values).await }.boxed_local()
            });
            let all = once(batch(BEGIN))
                .chain(queries)
                .chain(once(batch("COMMIT")));
            let answers = within(limit, join_all(all)).ok_or_else(Failed::silent)?;
            // The first error is the reason; after it the server has undone everything.
            let answers: Vec<Vec<Row>> = answers.into_iter().collect::<Result<_, _>>()?;
            let of_statements = answers.into_iter().skip(1).take(statements.len());
            Ok(of_statements.collect())
        })
    }

    /// Rebuilds a table. That cannot be within a transaction, and looks no name up.
    pub(super) fn rebuild(&self, table: &str) -> Result<(), LedgerError> {
        let sql = format!("VACUUM (FULL) leadload.{table}");
        self.persist(LONG_ANSWER, |client, limit| {
            let done = within(limit, client.batch_execute(&sql));
            Ok(done.ok_or_else(Failed::silent)??)
        })
    }

    fn persist<T>(
        &self,
        answer: Duration,
        mut work: impl FnMut(&Client, Duration) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut has_said = false;
        loop {
            let failed = match self.attempt(answer, &mut work) {
                Ok(value) => {
                    if has_said {
                        warn!(event = "ledger_back", "the ledger can be reached again");
                    }
                    if self.keeps_lease {
                        self.lease().in_touch();
                    }
                    return Ok(value);
                }
                Err(failed) => failed,
            };
            // Whatever it has begun is undone by the server when the connection ends.
            self.connection.replace(None);
            let why = match failed {
                Failed::Away(why) => {
                    self.lose_touch();
                    why
                }
                Failed::Server(error) if ErrorKind::of(&error) == ErrorKind::Conflict => {
                    reason(&error)
                }
                Failed::Server(error) if ErrorKind::of(&error) == ErrorKind::Away => {
                    self.lose_touch();
                    reason(&error)
                }
                lasting => return Err(self.lasting(lasting)),
            };
            let why = self.place.mask(&why);
            let waited = self.waited(began);
            if waited >= self.patience() {
                return Err(LedgerError::out_of_reach(&self.place, waited, &why));
            }
            if waited >= SAY_AFTER && !has_said {
                has_said = true;
                let server = self.place.server();
                warn!(
                    event = "ledger_away",
                    "the ledger at {server} is out of reach ({why}); nothing is sent until it is back"
                );
            }
            thread::sleep(pause.mul_f64(0.5 + fastrand::f64() / 2.0));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// How long the server has been waited for, by work before this too.
    fn waited(&self, began: Instant) -> Duration {
        let away = self.lease().away_since();
        let away = away.map(|since| since.duration_until(clock::now()).unsigned_abs());
        began.elapsed().max(away.unwrap_or_default())
    }

    fn lose_touch(&self) {
        if self.keeps_lease {
            self.lease().lost_touch();
        }
    }

    fn patience(&self) -> Duration {
        let Shared { patience, lease } = &*self.shared();
        match lease.ends() {
            None => *patience,
            Some(ShutdownPhase::Soon) => LAST_PATIENCE.min(*patience),
            Some(ShutdownPhase::AtOnce) => Duration::ZERO,
        }
    }

    fn attempt<T>(
        &self,
        answer: Duration,
        work: &mut impl FnMut(&Client, Duration) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let answer = match self.lease().ends() {
            None => answer,
            Some(_) => LAST_ANSWER.min(answer),
        };
        let is_usable = |connection: &Connection| !connection.client.is_closed();
        let connection = match self.connection.take().filter(is_usable) {
            Some(connection) => connection,
            None => Connection::open(&self.place, ANSWER.min(answer))?,
        };
        let value = work(&connection.client, answer)?;
        self.connection.replace(Some(connection));
        Ok(value)
    }
}

/// Whether a transaction took effect. While its connection is not known to have broken off, the
/// server may still be at it.
fn has_committed(client: &Client, id: &str, limit: Duration) -> Result<bool, Failed> {
    let sql = "SELECT pg_xact_status(CAST(CAST($1 AS text) AS xid8))";
    loop {
        let mut asked = ServerSql::new(client, SNAPSHOT, limit);
        let status: Option<String> = asked.as_sql().value(sql, &[id.into()])?;
        asked.end_reading();
        match status.as_deref() {
            Some("in progress") => thread::sleep(FIRST_PAUSE),
            status => return Ok(status == Some("committed")),
        }
    }
}
