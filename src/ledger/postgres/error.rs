//! What the server's errors mean: whether to try again, and what to do.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::connection::AsksInTheClear;
use super::owners::Stranger;
use super::place::{GIVE_PASSWORD, ServerPlace};
use crate::ledger::LedgerError;
use crate::text::printable;

/// What an error means for the work that met it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorKind {
    /// The server cannot be used at the moment.
    Away,
    /// Others were in the way: the same work succeeds when it is tried again.
    Conflict,
    /// Trying again changes nothing.
    Lasting,
}

impl ErrorKind {
    pub(super) fn of(error: &Error) -> ErrorKind {
        let Some(code) = error.code() else {
            return if is_lasting(error) {
                ErrorKind::Lasting
            } else {
                ErrorKind::Away
            };
        };
        let class = code.code().get(..2).unwrap_or_default();
        match code {
            &SqlState::T_R_SERIALIZATION_FAILURE
            | &SqlState::T_R_DEADLOCK_DETECTED
            | &SqlState::LOCK_NOT_AVAILABLE
            | &SqlState::UNIQUE_VIOLATION => ErrorKind::Conflict,
            // It restarts, is a replica at the moment, or gave up on this statement.
            &SqlState::READ_ONLY_SQL_TRANSACTION
            | &SqlState::QUERY_CANCELED
            | &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
            | &SqlState::IN_FAILED_SQL_TRANSACTION
            // The database does not accept connections at the moment.
            | &SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE => ErrorKind::Away,
            // `transaction_timeout` of PostgreSQL 17, which has no name here yet.
            _ if code.code() == "25P04" => ErrorKind::Away,
            // Connections; too few of anything (disk, memory, connections); operators.
            _ if matches!(class, "08" | "53" | "57" | "58") => ErrorKind::Away,
            _ => ErrorKind::Lasting,
        }
    }
}

/// Whether an error that the server did not report stays. A certificate that is not trusted does,
/// and so does an answer that no version of this program has written.
fn is_lasting(error: &Error) -> bool {
    let text = error.to_string();
    let is_tls = text.starts_with("error performing TLS handshake")
        && source_of(error).is_some_and(|io| io.kind() == io::ErrorKind::InvalidData);
    is_tls
        || has_no_tls(error)
        || asks_in_the_clear(error)
        || text.starts_with("error deserializing")
        || text.starts_with("error serializing")
        || text.starts_with("error encoding")
        || text.starts_with("authentication error")
        || text.starts_with("invalid configuration")
        || text.starts_with("query returned an unexpected number")
}

fn has_no_tls(error: &Error) -> bool {
    reason(error).contains("server does not support TLS")
}

fn asks_in_the_clear(error: &Error) -> bool {
    let source = source_of(error).and_then(io::Error::get_ref);
    source.is_some_and(|source| source.is::<AsksInTheClear>())
}

fn source_of(error: &Error) -> Option<&io::Error> {
    error.source()?.downcast_ref()
}

/// The reason in a few words, as the server gives it: what is shown of it, [`ServerPlace::mask`] has been over.
pub(super) fn reason(error: &Error) -> String {
    if let Some(error) = error.as_db_error() {
        return error.message().to_owned();
    }
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

impl LedgerError {
    /// For an error that stays.
    pub(super) fn of_server(place: &ServerPlace, error: &Error) -> LedgerError {
        let why = place.mask(&reason(error));
        let (user, database) = (place.user(), place.database());
        let hint = match error.code() {
            Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
                if place.has_password() =>
            {
                format!("check the name and the password of `{user}`")
            }
            Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
                GIVE_PASSWORD.to_owned()
            }
            // The only statement that divides by what may be zero finds no run (`statements`).
            Some(&SqlState::DIVISION_BY_ZERO) => return LedgerError::lost_run(place),
            Some(&SqlState::INVALID_CATALOG_NAME) => {
                format!("create it with `createdb {database}`, or name another one")
            }
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) if !why.contains("database") => format!(
                "make `{user}` a member of the role that owns the schema `leadload`: `GRANT OWNER TO \"{user}\"` with that role's name. To read alone, `GRANT USAGE ON SCHEMA leadload TO \"{user}\"; GRANT SELECT ON ALL TABLES IN SCHEMA leadload TO \"{user}\"; GRANT SELECT ON ALL SEQUENCES IN SCHEMA leadload TO \"{user}\"` is enough"
            ),
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => format!(
                "let its owner run `GRANT CREATE ON DATABASE \"{database}\" TO \"{user}\"`, or `CREATE SCHEMA leadload AUTHORIZATION \"{user}\"`"
            ),
            None if why.contains("password missing") => GIVE_PASSWORD.to_owned(),
            None if asks_in_the_clear(error) => format!(
                "if this is the server that you expect at {}, let it ask by `scram-sha-256` (in its `pg_hba.conf`), or use TLS: `sslrootcert=FILE` in the address, with the certificate of the authority that signed the server's. If not, another program has taken its place",
                place.server()
            ),
            None if has_no_tls(error) => {
                "let the server use TLS (`ssl = on` in its settings); on this computer `sslmode` can be left out".to_owned()
            }
            None if error.to_string().contains("TLS") => {
                "name the certificate of the authority that signed the server's with `sslrootcert=FILE` in the address".to_owned()
            }
            _ => "fix that, then run the same command again".to_owned(),
        };
        LedgerError::of_setup(
            text!(
                "{place} {cannot be used: {why}|cannot be reached}",
                place,
                why
            ),
            &hint,
        )
    }

    /// For a server that was out of reach for all the time that it was waited for.
    pub(super) fn out_of_reach(place: &ServerPlace, waited: Duration, why: &str) -> LedgerError {
        let seconds = format!("{:.0}", waited.as_secs_f64().round());
        LedgerError(message!(
            "{place} {has been out of reach for {seconds} s: {why}|cannot be reached}",
            "{start the server, or check the address and the network; then|check the network, then} {again}{|; if that does not help, {ask_setup}}",
            place,
            seconds,
            why
        ))
    }

    /// For a database that cannot store all texts.
    pub(super) fn wrong_encoding(place: &ServerPlace, encoding: &str) -> LedgerError {
        LedgerError::of_setup(
            text!(
                "the database of {place} has the encoding {encoding}, and cannot store every name",
                place,
                encoding
            ),
            "make another one, `createdb --encoding=UTF8 --template=template0 NAME`, and name that in the address",
        )
    }

    /// For a ledger that is somebody else's, or calls what is.
    pub(super) fn of_stranger(place: &ServerPlace, found: &Stranger) -> LedgerError {
        let [what, owner, role] =
            [&found.what, &found.owner, &found.role].map(|text| printable(text));
        let hint = format!(
            "if `{owner}` is to decide about the ledger, make `{role}` a member of it: `GRANT \"{owner}\" TO \"{role}\"`; if it only made this for the ledger, hand it over with `ALTER … OWNER TO \"{role}\"`. If neither, remove what it has made, or name another database"
        );
        LedgerError::of_setup(
            text!(
                "{place} {cannot be used: {what} belongs to the role `{owner}`, which could have anything called with the rights of `{role}`|belongs to somebody else}",
                place,
                what,
                owner,
                role
            ),
            &hint,
        )
    }

    /// For a reader, which changes nothing. To read the tables as they would be, they would have to be
    /// changed within a transaction, and that would stop the runs that are sending.
    pub(super) fn older_schema(place: &ServerPlace, found: u32) -> LedgerError {
        LedgerError(message!(
            "{place} has the tables of an older version of leadload{ (format {found}, this version reads {known})|}",
            "the next {import|list that is sent} with this version brings them up to date; until then, read it with the older version",
            place,
            found,
            known = super::schema::VERSION
        ))
    }

    /// For a ledger that does not have the run any more.
    pub(super) fn lost_run(place: &ServerPlace) -> LedgerError {
        LedgerError::of_another(
            text!(
                "{place} was emptied, or replaced by an older one, while it was in use",
                place
            ),
            "the ledger back",
        )
    }

    pub(super) fn damaged_server(
        place: &ServerPlace,
        detail: impl std::fmt::Display,
    ) -> LedgerError {
        LedgerError::of_setup(
            text!(
                "{place} is damaged{ ({detail})|}",
                place,
                detail = detail.to_string()
            ),
            "restore the schema `leadload` from a backup",
        )
    }
}
