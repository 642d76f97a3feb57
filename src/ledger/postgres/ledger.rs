//! The ledger on a server: opens it, makes it on first use, and refuses a newer one.

use std::sync::Once;

use tracing::warn;

use super::place::ServerPlace;
use super::schema;
use super::sender::Sender;
use super::session::Session;
use crate::ledger::place::Use;
use crate::ledger::{Lease, LedgerError};

/// A check reads the ledger more than once.
static SAID_OLDER: Once = Once::new();

#[derive(Debug)]
pub struct PostgresLedger {
    pub(in crate::ledger) session: Session,
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

    fn on(session: Session) -> PostgresLedger {
        PostgresLedger {
            session,
            sender: None,
        }
    }

    /// Another connection for reading the same.
    pub(in crate::ledger) fn again(&self) -> PostgresLedger {
        PostgresLedger::on(self.session.another())
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
}
