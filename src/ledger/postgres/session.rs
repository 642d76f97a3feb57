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
use std::future::Future;
use std::iter::once;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::future::{Either, join, join_all, select};
use futures::{FutureExt, TryFutureExt};
use futures_timer::Delay;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row};
use tracing::warn;

use super::connection::Connection;
use super::error::{Trouble, reason};
use super::place::ServerPlace;
use crate::clock;
use crate::ledger::lease::Ends;
use crate::ledger::{Lease, LedgerError};

/// How long a command waits for the server before it has begun a run.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// The same while a run is ending, since somebody waits for that.
const LAST_PATIENCE: Duration = Duration::from_secs(10);

/// How long an answer may take before the connection counts as lost.
pub(super) const ANSWER: Duration = Duration::from_secs(15);

/// The same while a run is ending.
const LAST_ANSWER: Duration = Duration::from_secs(5);

/// The same for work that goes through whole tables.
pub(super) const LONG_ANSWER: Duration = Duration::from_secs(24 * 3600);

/// The same for the beginning of a run, which may count the rows of an earlier start.
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
pub(super) const BEGIN_SLOWLY: &str = concat!("BEGIN", own_names_alone!());

/// Begins one in which all that is read is of one moment, and nothing is changed.
pub(super) const SNAPSHOT: &str = concat!(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    own_names_alone!()
);

/// A value of a statement, with its type: so nothing is prepared, which poolers need.
pub(super) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

pub(super) struct Session {
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

/// Why an attempt failed.
pub(super) enum Failed {
    Server(Error),
    /// The server cannot be reached, for this reason.
    Away(String),
    Ledger(LedgerError),
}

impl Failed {
    /// No answer came in time.
    pub(super) fn silent() -> Failed {
        Failed::Away("it does not answer".to_owned())
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
    pub(super) fn read<T>(
        &self,
        work: impl AsyncFn(&Client) -> Result<T, Error>,
    ) -> Result<T, LedgerError> {
        self.persist(ANSWER, async |client| reading(client, &work).await)
    }

    /// The same for work that may take long.
    pub(super) fn read_long<T>(
        &self,
        work: impl AsyncFn(&Client) -> Result<T, Error>,
    ) -> Result<T, LedgerError> {
        self.persist(LONG_ANSWER, async |client| reading(client, &work).await)
    }

    /// The same for work that changes something.
    pub(super) fn transact<T>(
        &self,
        work: impl AsyncFn(&Client) -> Result<T, Error>,
    ) -> Result<T, LedgerError> {
        self.transact_within(ANSWER, work)
    }

    /// The same for work that takes longer.
    pub(super) fn transact_within<T>(
        &self,
        answer: Duration,
        work: impl AsyncFn(&Client) -> Result<T, Error>,
    ) -> Result<T, LedgerError> {
        self.persist(answer, async |client| {
            let value = begun(BEGIN, client, &work).await?;
            client.batch_execute("COMMIT").await?;
            Ok(value)
        })
    }

    /// Performs work within one transaction that returns what it has changed. An attempt whose
    /// commit took effect though the answer was lost is not repeated: the next one would find
    /// nothing to change.
    pub(super) fn transact_once<T>(
        &self,
        answer: Duration,
        work: impl AsyncFn(&Client) -> Result<T, Error>,
    ) -> Result<T, LedgerError> {
        // The transaction of the last attempt, and what the attempt returns.
        let last: RefCell<Option<(String, T)>> = RefCell::new(None);
        self.persist(answer, async |client| {
            let unanswered = last.borrow().as_ref().map(|(id, _)| id.clone());
            if let Some(id) = unanswered
                && has_committed(client, &id).await?
            {
                return Ok(());
            }
            let value = begun(BEGIN, client, &work).await?;
            let id = "SELECT pg_current_xact_id()::text";
            let id = client.query_typed_one(id, &[]).await?.try_get(0)?;
            last.replace(Some((id, value)));
            client.batch_execute("COMMIT").await
        })?;
        let done = last.into_inner().map(|(_, value)| value);
        done.ok_or_else(LedgerError::broke_off)
    }

    /// Performs statements as one transaction, sent as a whole without waiting for what comes back,
    /// so that it takes one round trip. Returns the rows of each.
    pub(super) fn at_once(
        &self,
        statements: &[(&str, Vec<Value<'_>>)],
    ) -> Result<Vec<Vec<Row>>, LedgerError> {
        self.persist(ANSWER, async |client| {
            let batch = |sql: &'static str| {
                let sent = client.batch_execute(sql).map_ok(|()| Vec::new());
                sent.boxed_local()
            };
            let queries = statements
                .iter()
                .map(|(sql, values)| client.query_typed(sql, values).boxed_local());
            let all = once(batch(BEGIN))
                .chain(queries)
                .chain(once(batch("COMMIT")));
            let answers = join_all(all).await;
            // The first error is the reason; after it the server has undone everything.
            let answers: Vec<Vec<Row>> = answers.into_iter().collect::<Result<_, _>>()?;
            let of_statements = answers.into_iter().skip(1).take(statements.len());
            Ok(of_statements.collect())
        })
    }

    /// Rebuilds a table. That cannot be within a transaction, and looks no name up.
    pub(super) fn rebuild(&self, table: &str) -> Result<(), LedgerError> {
        let sql = format!("VACUUM (FULL) leadload.{table}");
        self.persist(LONG_ANSWER, async |client| client.batch_execute(&sql).await)
    }

    /// Gives a connected client to work that is not repeated, within a transaction.
    pub(super) fn with_client<T>(
        &self,
        begin: &str,
        work: impl FnOnce(&Client) -> T,
    ) -> Result<T, LedgerError> {
        self.read(async |client| client.check_connection().await)?;
        let connection = self.connection.take();
        let connection = connection.ok_or_else(LedgerError::broke_off)?;
        let begun = block_on(connection.client.batch_execute(begin));
        begun.map_err(|error| LedgerError::of_server(&self.place, &error))?;
        // It may be left within the transaction, so it is not used again.
        Ok(work(&connection.client))
    }

    fn persist<T>(
        &self,
        answer: Duration,
        work: impl AsyncFn(&Client) -> Result<T, Error>,
    ) -> Result<T, LedgerError> {
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut has_said = false;
        loop {
            let failed = match self.attempt(answer, &work) {
                Ok(value) => {
                    if has_said {
                        warn!(event = "ledger_back", "the ledger is in reach again");
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
                Failed::Ledger(error) => return Err(error),
                Failed::Away(why) => {
                    self.lose_touch();
                    why
                }
                Failed::Server(error) => match Trouble::of(&error) {
                    Trouble::Lasting => return Err(LedgerError::of_server(&self.place, &error)),
                    Trouble::Conflict => reason(&error),
                    Trouble::Away => {
                        self.lose_touch();
                        reason(&error)
                    }
                },
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
            Some(Ends::Soon) => LAST_PATIENCE.min(*patience),
            Some(Ends::AtOnce) => Duration::ZERO,
        }
    }

    fn attempt<T>(
        &self,
        answer: Duration,
        work: &impl AsyncFn(&Client) -> Result<T, Error>,
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
        let done = within(answer, work(&connection.client)).ok_or_else(Failed::silent)?;
        let value = done.map_err(Failed::Server)?;
        self.connection.replace(Some(connection));
        Ok(value)
    }
}

/// What the work returns; `None` if it takes too long.
fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    let work = std::pin::pin!(work);
    match block_on(select(work, Delay::new(limit))) {
        Either::Left((value, _)) => Some(value),
        Either::Right(_) => None,
    }
}

/// Performs work in a transaction that it does not end. The first statement of the work is sent
/// together with the beginning, and not performed if that fails.
async fn begun<T>(
    begin: &str,
    client: &Client,
    work: impl AsyncFn(&Client) -> Result<T, Error>,
) -> Result<T, Error> {
    let (begun, value) = join(client.batch_execute(begin), work(client)).await;
    begun.and(value)
}

/// Performs work that only reads. The end of its transaction is sent and not waited for.
async fn reading<T>(
    client: &Client,
    work: impl AsyncFn(&Client) -> Result<T, Error>,
) -> Result<T, Error> {
    let value = begun(SNAPSHOT, client, work).await?;
    let _ = client.batch_execute("COMMIT").now_or_never();
    Ok(value)
}

/// Whether a transaction took effect. While its connection is not known to have broken off, the
/// server may still be at it.
async fn has_committed(client: &Client, id: &str) -> Result<bool, Error> {
    let sql = "SELECT pg_xact_status($1::text::xid8)";
    loop {
        let asked = async |client: &Client| client.query_typed_one(sql, &[text(&id)]).await;
        let row = reading(client, asked).await?;
        let status: Option<&str> = row.try_get(0)?;
        if status != Some("in progress") {
            return Ok(status == Some("committed"));
        }
        Delay::new(FIRST_PAUSE).await;
    }
}

pub(super) fn int8(value: &i64) -> Value<'_> {
    (value, Type::INT8)
}

pub(super) fn int2(value: &i16) -> Value<'_> {
    (value, Type::INT2)
}

pub(super) fn int4(value: &i32) -> Value<'_> {
    (value, Type::INT4)
}

pub(super) fn text<'a>(value: &'a (dyn ToSql + Sync)) -> Value<'a> {
    (value, Type::TEXT)
}

pub(super) fn bytes<'a>(value: &'a (dyn ToSql + Sync)) -> Value<'a> {
    (value, Type::BYTEA)
}

/// A list or an optional value of any type.
pub(super) fn typed<'a>(value: &'a (dyn ToSql + Sync), of: Type) -> Value<'a> {
    (value, of)
}
