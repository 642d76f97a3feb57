//! Makes the tables on a server, in a schema of their own.

use super::owners::{FIND, Stranger};
use super::place::ServerPlace;
use super::session::Session;
use super::sql::ServerSql;
use crate::ledger::LedgerError;
use crate::ledger::schema::{STEPS, on_server};
use crate::ledger::store::{Failed, Sql};

/// The version of the tables.
pub(super) const VERSION: u32 = STEPS.len() as u32;

/// Held while tables are made, so that two programs do not make them at once: "leadload" in ASCII.
const LOCK: i64 = 0x6C65_6164_6C6F_6164;

const FIND_VERSION: &str = "SELECT version FROM leadload.about";
const FIND_SCHEMA: &str = "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'leadload')";

/// Makes the tables, or those that are missing: all of it or nothing.
pub(super) fn create(session: &Session) -> Result<(), LedgerError> {
    if version(session)? == Some(VERSION) {
        return Ok(());
    }
    let encoding = "SELECT current_setting('server_encoding')";
    let encoding: String = session.read(|sql| sql.as_sql().value(encoding, &[]))?;
    // The second one stores all texts as they are.
    if !["UTF8", "SQL_ASCII"].contains(&&*encoding) {
        return Err(LedgerError::wrong_encoding(&session.place, &encoding));
    }
    let found = session.write(|sql| {
        sql.change("SELECT pg_advisory_xact_lock($1)", &[LOCK.into()])?;
        // Asked again, now that no other program can be making them.
        let found = match find(sql)? {
            Ok(found) => found.unwrap_or(0),
            Err(stranger) => return Ok(Err(stranger)),
        };
        let Some(missing) = STEPS.get(found as usize..) else {
            return Ok(Ok(found));
        };
        // Asked for, since making one that exists needs a right too.
        if !sql.as_sql().value::<bool>(FIND_SCHEMA, &[])? {
            sql.batch("CREATE SCHEMA leadload")?;
        }
        for step in missing {
            sql.batch(&on_server(step))?;
        }
        let set = "UPDATE leadload.about SET version = $1";
        sql.change(set, &[VERSION.into()])?;
        Ok(Ok(VERSION))
    })?;
    let found = found.map_err(|stranger| LedgerError::of_stranger(&session.place, &stranger))?;
    refuse_newer(&session.place, found)
}

/// The version of the tables; `None` if there are none. Fails if a newer program made them, or if
/// somebody else decides what they call.
pub(super) fn version(session: &Session) -> Result<Option<u32>, LedgerError> {
    let found = session.read(find)?;
    let found = found.map_err(|stranger| LedgerError::of_stranger(&session.place, &stranger))?;
    if let Some(found) = found {
        refuse_newer(&session.place, found)?;
    }
    Ok(found)
}

fn find(sql: &mut ServerSql<'_>) -> Result<Result<Option<u32>, Stranger>, Failed> {
    let sql = sql.as_sql();
    let found = sql.row(FIND, &[], |row| Ok((row.get(0)?, Stranger::of(row)?)))?;
    Ok(match found {
        Some((_, Some(stranger))) => Err(stranger),
        Some((true, None)) => Ok(Some(sql.value(FIND_VERSION, &[])?)),
        _ => Ok(None),
    })
}

fn refuse_newer(place: &ServerPlace, found: u32) -> Result<(), LedgerError> {
    if found > VERSION {
        let hint = "update leadload on this computer";
        return Err(LedgerError::of_newer_version(place, found, VERSION, hint));
    }
    Ok(())
}
