//! Performs the statements of every kind of ledger in a file (see `ledger::store`).

use std::borrow::Cow;

use rusqlite::types::{ToSqlOutput, Value as Stored, ValueRef};
use rusqlite::{ToSql, Transaction, params_from_iter};

use super::recover::uncounted;
use super::unfiled::open_claims;
use super::{LedgerError, ServiceId, SqliteLedger, lead_id, unfiled};
use crate::lead::RunId;
use crate::ledger::LiveLease;
use crate::ledger::earlier::{at_work, services};
use crate::ledger::row::Row;
use crate::ledger::runs::OpenWork;
use crate::ledger::store::{Failed, Sql, Value, of_dialect};

/// A transaction in a file.
pub(in crate::ledger) struct FileSql<'a> {
    pub(super) db: &'a Transaction<'a>,
    /// Whether rows that are not filed are shown, by [`unfiled::show`].
    shows_unfiled: bool,
}

impl<'a> FileSql<'a> {
    pub(super) fn new(db: &'a Transaction<'a>) -> FileSql<'a> {
        FileSql {
            db,
            shows_unfiled: false,
        }
    }

    fn translated<'s>(&self, sql: &'s str) -> Cow<'s, str> {
        let mut sql = match sql.contains("/*") {
            true => Cow::Owned(of_dialect(sql, "file")),
            false => Cow::Borrowed(sql),
        };
        let seen = ("_seen", if self.shows_unfiled { "_seen" } else { "" });
        for (common, own) in [
            ("leadload.", ""),
            ("outputs.id", "outputs.rowid"),
            seen,
            ("$", "?"),
        ] {
            if sql.contains(common) {
                sql = sql.replace(common, own).into();
            }
        }
        sql
    }
}

impl Sql for FileSql<'_> {
    fn each(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&Row<'_>) -> Result<bool, Failed>,
    ) -> Result<(), Failed> {
        let mut query = self.db.prepare_cached(&self.translated(sql))?;
        let values = own_values(sql, values, query.parameter_count());
        let mut rows = query.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            if !each(&Row::File(row))? {
                break;
            }
        }
        Ok(())
    }

    fn change(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, Failed> {
        let mut change = self.db.prepare_cached(&self.translated(sql))?;
        let values = own_values(sql, values, change.parameter_count());
        Ok(change.execute(params_from_iter(values))? as u64)
    }

    fn on_server(&mut self, _sql: &str, _values: &[Value<'_>]) -> Result<(), Failed> {
        Ok(())
    }

    fn lease_of(&mut self, _run: RunId) -> Result<Option<LiveLease>, Failed> {
        Ok(None)
    }

    /// The runs of services that are sent to; what was claimed at the others is uncertain.
    fn open_work(&mut self, busy: &[ServiceId]) -> Result<Vec<(RunId, OpenWork)>, Failed> {
        let mut open = Vec::new();
        for service in services(self)? {
            if busy.contains(&service) {
                let at_work = at_work(self, service)?;
                open.extend(at_work.map(|found| (found.run, OpenWork::Sending)));
            } else {
                let rows = uncounted(&open_claims(self.db, service)?);
                let rows = rows.into_iter();
                open.extend(rows.map(|(run, rows)| (run, OpenWork::Uncounted(rows))));
            }
        }
        Ok(open)
    }
}

/// The values of a file: a part of the statement that is for a server alone may have the last ones.
fn own_values<'a, 'v>(sql: &str, values: &'a [Value<'v>], count: usize) -> &'a [Value<'v>] {
    match values.get(..count) {
        Some(own) if sql.contains("/*server") => own,
        _ => values,
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Value::Null => ToSqlOutput::Owned(Stored::Null),
            Value::Int(number) => (*number).into(),
            Value::Bool(is_so) => (*is_so).into(),
            Value::Text(text) => (**text).into(),
            Value::Json(text) => text.as_str().into(),
            Value::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Value::Time(time) => time.as_second().into(),
            // SQLite compares and keeps text byte by byte.
            Value::Path(path) => ToSqlOutput::Borrowed(ValueRef::Text(path)),
            Value::LeadId(id) => ToSqlOutput::Owned(lead_id::stored(id)),
            Value::List(..) => {
                let no_list = "a file knows no list".into();
                return Err(rusqlite::Error::ToSqlConversionFailure(no_list));
            }
        })
    }
}

impl SqliteLedger {
    /// What is read is as it is at one moment.
    pub(in crate::ledger) fn read_sql<T>(
        &self,
        work: impl FnOnce(&mut dyn Sql) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        self.within(self.shows_unfiled, work)
    }

    /// With rows that are not filed yet.
    pub(in crate::ledger) fn read_seen<T>(
        &self,
        work: impl FnOnce(&mut dyn Sql) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        self.within(true, work)
    }

    fn within<T>(
        &self,
        shows_unfiled: bool,
        work: impl FnOnce(&mut dyn Sql) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        let read = || -> Result<T, Failed> {
            // The temporary tables that show rows which are not filed are removed with it, unless they were
            // there before.
            let db = &self.db.unchecked_transaction()?;
            if shows_unfiled && !self.shows_unfiled {
                unfiled::show_all(db)?;
            }
            work(&mut FileSql { db, shows_unfiled })
        };
        self.succeeded(read())
    }

    /// From now on, all that this connection reads has the service's rows that are not filed, as they are now.
    pub(in crate::ledger) fn show_unfiled(
        &mut self,
        service: ServiceId,
    ) -> Result<(), LedgerError> {
        let show = || -> Result<(), Failed> {
            let change = self.db.unchecked_transaction()?;
            unfiled::show(&change, [service])?;
            Ok(change.commit()?)
        };
        self.succeeded(show())?;
        self.shows_unfiled = true;
        Ok(())
    }

    /// Returns what the work returns, when all its changes are on disk; after an error nothing is changed.
    pub(in crate::ledger) fn write_sql<T>(
        &mut self,
        work: impl FnOnce(&mut FileSql<'_>) -> Result<T, Failed>,
    ) -> Result<T, LedgerError> {
        let write = || -> Result<T, Failed> {
            let change = self.begin_change()?;
            let value = work(&mut FileSql::new(&change))?;
            change.commit()?;
            Ok(value)
        };
        let done = write();
        self.succeeded(done)
    }

    pub(super) fn succeeded<T>(&self, done: Result<T, Failed>) -> Result<T, LedgerError> {
        self.reading.refuse_changed(&self.place)?;
        match done {
            Ok(value) => Ok(value),
            Err(Failed::File(error)) => self.checked(Err(error)),
            Err(Failed::Damaged(why)) => Err(self.damaged(why)),
            Err(Failed::Ledger(error)) => Err(error),
            // A file fails in none of these ways.
            Err(Failed::Server(error)) => Err(self.damaged(error.to_string())),
            Err(Failed::Away(why)) => Err(self.damaged(why)),
        }
    }
}
