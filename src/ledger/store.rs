//! What both kinds of ledger do with statements: a file and a server behind one trait.
//!
//! A statement is written once, as PostgreSQL has it, in what both databases take: no arrays, no intervals,
//! no `::`. Each driver turns it into its own dialect:
//!
//! | in a statement | in a file | on a server |
//! |-|-|-|
//! | `leadload.sent` | `sent` | as it is |
//! | `$1` | `?1` | as it is |
//! | `/*server AND NOT is_open */` | nothing | `AND NOT is_open` |
//! | `/*file …*/` | what is in it | nothing |
//! | `leadload.sent_seen`, `leadload.attempts_seen` | views of this connection (`sqlite::unfiled`) | subqueries (`postgres::sql`) |
//! | `leadload.outputs.id` | its `rowid` | as it is |
//! | `json_each($1)`, of a [`Value::Json`] list | as it is | `json_array_elements_text($1)` |
//!
//! The *seen* tables are `sent` and `attempts` with claims that have no outcome, each as an uncertain row; in
//! work of [`Ledger::reading_seen`] and [`Ledger::streaming`], and after [`Ledger::show_unfiled`]; elsewhere they are
//! the tables themselves in a file.
//! `is_busy` says that a request may still be on its way: on a server, where others send meanwhile.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;
use tokio_postgres::types::Type;

use super::kinds::Ledger;
use super::postgres::{LONG_ANSWER, REBUILD};
use super::row::{FromCell, Row};
use super::runs::OpenWork;
use super::{LedgerError, LiveLease, SenderId, ServiceId};
use crate::lead::{CampaignId, RowId, RunId};
use crate::message;
use crate::phone::PhoneNumber;

/// A value of a statement, whatever the database calls its type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Int(i64),
    Bool(bool),
    Text(Cow<'a, str>),
    Json(String),
    Bytes(Cow<'a, [u8]>),
    /// In whole seconds.
    Time(Timestamp),
    /// With its own bytes, which need not be Unicode.
    Path(Cow<'a, [u8]>),
    LeadId(Cow<'a, str>),
    /// For a statement of a server alone, with the type of its values.
    List(Type, Vec<Value<'a>>),
}

/// Why work with a ledger failed.
#[derive(Debug)]
pub(super) enum Failed {
    File(rusqlite::Error),
    Server(tokio_postgres::Error),
    /// The server cannot be reached, for this reason.
    Away(String),
    /// There is a value that no version of the program writes.
    Damaged(String),
    Ledger(LedgerError),
}

/// A transaction.
pub(super) trait Sql {
    /// Passes the rows that a query returns to `each`, as long as that returns `true`.
    fn each(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&Row<'_>) -> Result<bool, Failed>,
    ) -> Result<(), Failed>;

    /// Returns how many rows the statement has changed.
    fn change(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, Failed>;

    /// Performs a statement on a server that a file does not need, as a lock: a file has one writer at a time.
    fn on_server(&mut self, sql: &str, values: &[Value<'_>]) -> Result<(), Failed>;

    /// The lease of a run, if one is under way; in a file there is none.
    fn lease_of(&mut self, run: RunId) -> Result<Option<LiveLease>, Failed>;

    /// What nobody has recorded an end of yet, by run. In a file, `busy` services are being sent to.
    fn open_work(&mut self, busy: &[ServiceId]) -> Result<Vec<(RunId, OpenWork)>, Failed>;
}

/// Two starts of one service, and two leases, wait for each other here.
pub(super) const LOCK_SERVICE: &str =
    "SELECT 1 FROM leadload.services WHERE id = $1 FOR NO KEY UPDATE";

impl dyn Sql + '_ {
    pub(super) fn rows<T>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T, Failed>,
    ) -> Result<Vec<T>, Failed> {
        let mut all = Vec::new();
        self.each(sql, values, &mut |row| {
            all.push(read(row)?);
            Ok(true)
        })?;
        Ok(all)
    }

    /// The first row.
    pub(super) fn row<T>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(&Row<'_>) -> Result<T, Failed>,
    ) -> Result<Option<T>, Failed> {
        let mut first = None;
        self.each(sql, values, &mut |row| {
            first = Some(read(row)?);
            Ok(false)
        })?;
        Ok(first)
    }

    /// The first column of the only row.
    pub(super) fn value<T: FromCell>(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<T, Failed> {
        let found = self.row(sql, values, |row| row.get(0))?;
        found.ok_or_else(|| Failed::Damaged("a row is missing".to_owned()))
    }
}

impl Ledger {
    /// What is read is as it is at one moment.
    pub(super) fn reading<T>(
        &self,
        work: impl Fn(&mut dyn Sql) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.read_sql(work),
            Ledger::Server(ledger) => ledger.session.read(|sql| work(sql)),
        }
    }

    /// Performs work that only reads and goes through whole tables.
    pub(super) fn reading_slowly<T>(
        &self,
        work: impl Fn(&mut dyn Sql) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.read_sql(work),
            Ledger::Server(ledger) => ledger.session.read_within(LONG_ANSWER, |sql| work(sql)),
        }
    }

    /// Reads whole tables, with the rows that are being sent.
    pub(super) fn reading_seen<T>(
        &self,
        work: impl Fn(&mut dyn Sql) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.read_seen(work),
            Ledger::Server(ledger) => ledger.session.read_within(LONG_ANSWER, |sql| work(sql)),
        }
    }

    /// Reads rows that may not all fit into memory: on a server nothing is repeated if the
    /// connection breaks.
    pub(super) fn streaming<T>(
        &self,
        work: impl FnOnce(&mut dyn Sql) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.read_seen(work),
            Ledger::Server(ledger) => ledger.session.stream(|sql| work(sql)),
        }
    }

    /// All changes of the work are made, or none. On a server it is repeated if others are in the way, or
    /// the answer is lost: it has to be harmless to repeat even after it took effect.
    pub(super) fn changing<T>(
        &mut self,
        work: impl Fn(&mut dyn Sql) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.write_sql(|sql| work(sql)),
            Ledger::Server(ledger) => ledger.session.write(|sql| work(sql)),
        }
    }

    /// Makes changes that may take long and must not be made twice.
    pub(super) fn changing_once<T>(
        &mut self,
        work: impl Fn(&mut dyn Sql) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.write_sql(|sql| work(sql)),
            Ledger::Server(ledger) => ledger.session.write_once(|sql| work(sql)),
        }
    }
}

impl Ledger {
    /// Makes changes during which nothing is sent. Claims without an outcome have become uncertain.
    pub(super) fn alone<T>(
        &mut self,
        work: impl Fn(&mut dyn Sql) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        match self {
            Ledger::File(ledger) => {
                ledger.recover_all()?;
                ledger.write_sql(|sql| work(sql))
            }
            Ledger::Server(ledger) => ledger.alone(|sql| work(sql)),
        }
    }

    /// Writes the rows of an empty ledger, which may come slowly.
    pub(super) fn filling<T>(
        &mut self,
        work: impl FnOnce(&mut dyn Sql) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.write_sql(|sql| work(sql)),
            Ledger::Server(ledger) => ledger.session.fill(|sql| work(sql)),
        }
    }

    /// Builds the file, or the tables, without what was removed.
    pub(super) fn overwrite(&mut self) -> Result<(), LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.scrub(),
            Ledger::Server(ledger) => ledger.rebuild(&REBUILD),
        }
    }

    /// Builds the tables of runs without a run whose row was removed. (A file overwrites what is
    /// deleted.)
    pub(super) fn overwrite_runs(&mut self) -> Result<(), LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.empty_log(),
            Ledger::Server(ledger) => ledger.rebuild(&["senders", "starts", "runs"]),
        }
    }

    /// The services that somebody has the right to send to; nobody needs it on a server.
    pub(super) fn busy_services(&self) -> Result<Vec<ServiceId>, LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.busy_services(),
            Ledger::Server(_) => Ok(Vec::new()),
        }
    }
}

/// What one kind of ledger takes of a statement: what stands between `/*file` or `/*server` and `*/` is for
/// that kind alone.
pub(super) fn of_dialect(sql: &str, kind: &str) -> String {
    let mut own = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some((before, marked)) = rest.split_once("/*") {
        let (marked, after) = marked.split_once("*/").unwrap_or((marked, ""));
        own.push_str(before);
        own.push_str(marked.strip_prefix(kind).unwrap_or_default());
        rest = after;
    }
    own + rest
}

/// Places for the values of so many rows: `($1, $2), ($3, $4)`.
pub(super) fn places(rows: usize, columns: usize) -> String {
    let mut all = String::new();
    for place in 0..rows * columns {
        let before = match (place, place % columns) {
            (0, _) => "(",
            (_, 0) => "), (",
            _ => ", ",
        };
        // A string takes all that is written.
        let _ = write!(all, "{before}${}", place + 1);
    }
    all + ")"
}

/// A list for `json_each`.
pub(super) fn list<T: Serialize>(of: impl IntoIterator<Item = T>) -> Value<'static> {
    Value::json(&of.into_iter().collect::<Vec<T>>())
}

impl Value<'_> {
    /// A value whose form in JSON has no keys but texts, which always can be written.
    pub(super) fn json(value: &impl Serialize) -> Value<'static> {
        Value::Json(serde_json::to_string(value).unwrap_or_default())
    }
}

impl Failed {
    /// No answer came in time.
    pub(super) fn silent() -> Failed {
        Failed::Away("it does not answer".to_owned())
    }
}

/// Makes a type of others.
macro_rules! made_of {
    ($made:ty: $($from:ty => |$value:ident| $make:expr,)*) => {$(
        impl<'a> From<$from> for $made {
            fn from($value: $from) -> $made {
                $make
            }
        }
    )*};
}

made_of! { Value<'a>:
    i64 => |number| Value::Int(number),
    u64 => |number| Value::Int(number.cast_signed()),
    usize => |number| Value::from(number as u64),
    u32 => |number| Value::Int(number.into()),
    u16 => |number| Value::Int(number.into()),
    bool => |is_so| Value::Bool(is_so),
    &'a str => |text| Value::Text(text.into()),
    &'a String => |text| Value::Text(text.into()),
    String => |text| Value::Text(text.into()),
    &'a message::Text => |text| text.to_string().into(),
    &'a Path => |path| Value::Path(path.as_os_str().as_encoded_bytes().into()),
    Timestamp => |time| Value::Time(time),
    RunId => |run| run.0.into(),
    RowId => |row| row.0.into(),
    CampaignId => |campaign| Value::Int(campaign.0),
    ServiceId => |service| Value::Int(service.0),
    SenderId => |sender| Value::Int(sender.0),
    PhoneNumber => |number| number.key().into(),
}

impl<'a, const N: usize> From<&'a [u8; N]> for Value<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Value::Bytes(bytes[..].into())
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Failed {
        Failed::File(error)
    }
}

impl From<tokio_postgres::Error> for Failed {
    fn from(error: tokio_postgres::Error) -> Failed {
        Failed::Server(error)
    }
}

impl From<LedgerError> for Failed {
    fn from(error: LedgerError) -> Failed {
        Failed::Ledger(error)
    }
}
