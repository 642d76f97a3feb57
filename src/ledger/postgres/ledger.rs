//! The ledger on a server: opens it, makes it on first use, and refuses a newer one.

use std::sync::Once;

use tokio_postgres::Row;
use tracing::warn;

use super::place::ServerPlace;
use super::record::Unreadable;
use super::schema;
use super::sender::Sender;
use super::session::{Session, text};
use crate::ledger::place::Use;
use crate::ledger::{Lease, LedgerError, ServiceId};

/// A check reads the ledger more than once.
static SAID_OLDER: Once = Once::new();

const SERVICE: &str = "SELECT id FROM leadload.services WHERE address = $1";

const ADD_SERVICE: &str = "
INSERT INTO leadload.services (address) VALUES ($1) ON CONFLICT (address) DO NOTHING";

const ADD_PACE: &str = "
INSERT INTO leadload.pace (service) SELECT id FROM leadload.services WHERE address = $1
ON CONFLICT (service) DO NOTHING";

#[derive(Debug)]
pub struct PostgresLedger {
    pub(super) session: Session,
    /// The run that this process sends, and its lease.
    pub(super) sender: Option<Sender>,
}

impl PostgresLedger {
    /// Opens the ledger for writing. If there is none, it is made. Fails
    /// if the server cannot be reached for 30 seconds.
    pub fn open(place: &ServerPlace) -> Result<PostgresLedger, LedgerError> {
        let ledger = PostgresLedger::on(Session::new(place));
        schema::create(&ledger.session)?;
        Ok(ledger)
    }

    /// Opens the ledger for reading; `None` if there is none. Tables that an older version did not
    /// have are made, unless the ledger is only read.
    pub fn read(place: &ServerPlace) -> Result<Option<PostgresLedger>, LedgerError> {
        let ledger = PostgresLedger::on(Session::new(place));
        let Some(found) = schema::version(&ledger.session)? else {
            return Ok(None);
        };
        match place.usage {
            Use::Anything => schema::create(&ledger.session)?,
            _ if found == schema::VERSION => {}
            Use::Reading => return Err(LedgerError::older_schema(place, found)),
            Use::Checking => {
                SAID_OLDER.call_once(|| {
                    let older = LedgerError::older_schema(place, found).0;
                    warn!(
                        event = "warning",
                        "{}, so nothing is known of earlier runs", older.what
                    );
                });
                return Ok(None);
            }
        }
        Ok(Some(ledger))
    }

    pub(super) fn on(session: Session) -> PostgresLedger {
        PostgresLedger {
            session,
            sender: None,
        }
    }

    pub fn place(&self) -> &ServerPlace {
        &self.session.place
    }

    /// The error for a value in the ledger that makes no sense.
    pub fn damaged(&self, detail: String) -> LedgerError {
        LedgerError::damaged_server(self.place(), detail)
    }

    pub fn lease(&self) -> Lease {
        self.session.lease()
    }

    /// The service at this address; `None` if no lead was ever sent there.
    pub fn known_service(&self, address: &str) -> Result<Option<ServiceId>, LedgerError> {
        let found = self.query(SERVICE, &[text(&address)])?;
        let id = found.first().map(|row| row.try_get(0)).transpose();
        Ok(self.readable(id)?.map(ServiceId))
    }

    /// The service at this address, which is added if it is new.
    pub fn service(&mut self, address: &str) -> Result<ServiceId, LedgerError> {
        // Usually the service is known, and then nothing is written.
        if let Some(known) = self.known_service(address)? {
            return Ok(known);
        }
        self.session.transact(async |client| {
            client.execute_typed(ADD_SERVICE, &[text(&address)]).await?;
            client.execute_typed(ADD_PACE, &[text(&address)]).await
        })?;
        let missing = || self.damaged("the service was removed".to_owned());
        self.known_service(address)?.ok_or_else(missing)
    }

    pub(in crate::ledger) fn services(&self) -> Result<Vec<ServiceId>, LedgerError> {
        let rows = self.query("SELECT id FROM leadload.services ORDER BY id", &[])?;
        self.read_all(&rows, |row| super::record::get(row, 0).map(ServiceId))
    }

    /// The rows that a query returns, in one round trip. It changes nothing.
    pub(super) fn query(
        &self,
        sql: &str,
        values: &[super::session::Value<'_>],
    ) -> Result<Vec<Row>, LedgerError> {
        self.session
            .read(async |client| client.query_typed(sql, values).await)
    }

    /// Performs one statement, in one round trip. Returns what it returns.
    pub(super) fn change(
        &self,
        sql: &str,
        values: Vec<super::session::Value<'_>>,
    ) -> Result<Vec<Row>, LedgerError> {
        let answers = self.session.at_once(&[(sql, values)])?;
        Ok(answers.into_iter().next().unwrap_or_default())
    }

    pub(super) fn readable<T, E: std::fmt::Display>(
        &self,
        value: Result<T, E>,
    ) -> Result<T, LedgerError> {
        value.map_err(|error| LedgerError::damaged_server(self.place(), error))
    }

    pub(super) fn read_all<T>(
        &self,
        rows: &[Row],
        read: impl FnMut(&Row) -> Result<T, Unreadable>,
    ) -> Result<Vec<T>, LedgerError> {
        self.readable(rows.iter().map(read).collect())
    }
}
