//! Why the ledger cannot be used. Each text says what happened, where, and what to do.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;
use thiserror::Error;

use super::LedgerPlace;
use crate::exit::{Failure, StoppedBy};

/// A ledger that cannot be used.
#[derive(Debug, Error)]
#[error("{}", problem.text(ledger))]
pub struct LedgerError {
    ledger: String,
    pub(super) problem: Problem,
}

/// What is wrong.
#[derive(Debug)]
pub(super) enum Problem {
    /// The operating system refuses.
    Unusable(io::Error),
    /// It is no database, or one of another program.
    NotALedger,
    /// An earlier version of leadload has written it, in this format.
    TooOld { version: u32, known: u32 },
    /// A later version has.
    TooNew { version: u32, known: u32 },
    /// Another program holds it.
    Locked,
    /// Its file system cannot keep two runs apart.
    NoLocks,
    /// It was deleted or moved.
    Gone,
    /// Another file was put in its place, or copied over it; its log may have been kept.
    Replaced {
        log: Option<PathBuf>,
        original: PathBuf,
    },
    /// Another program reads what was removed.
    NotOverwritten,
    /// The disk is full.
    Full,
    /// It may be read but not written.
    ReadOnly,
    /// What is in it makes no sense.
    Damaged(String),
    /// The thread that works with it has died.
    BrokeOff,
    /// Anything else, as the database reports it.
    Failed(String),
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Failure {
        Failure::new(StoppedBy::Ledger, error)
    }
}

impl LedgerError {
    pub(super) fn new(place: &LedgerPlace, problem: Problem) -> LedgerError {
        LedgerError {
            ledger: place.to_string(),
            problem,
        }
    }

    /// What the operating system says of the ledger, or of a file beside it.
    pub(super) fn unusable(place: &LedgerPlace, error: io::Error) -> LedgerError {
        LedgerError::new(place, Problem::Unusable(error))
    }

    /// The thread that works with a ledger has died.
    pub fn broke_off() -> LedgerError {
        LedgerError {
            ledger: String::new(),
            problem: Problem::BrokeOff,
        }
    }

    /// What an error of SQLite means for the ledger.
    pub(super) fn of(place: &LedgerPlace, error: rusqlite::Error) -> LedgerError {
        let problem = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Problem::Full,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Problem::Locked,
            Some(ErrorCode::ReadOnly) => Problem::ReadOnly,
            Some(ErrorCode::NotADatabase) => Problem::NotALedger,
            Some(ErrorCode::DatabaseCorrupt) => Problem::Damaged(error.to_string()),
            None if is_unreadable(&error) => Problem::Damaged(error.to_string()),
            _ => Problem::Failed(error.to_string()),
        };
        LedgerError::new(place, problem)
    }
}

/// Whether a value was read that no version of the program writes.
fn is_unreadable(error: &rusqlite::Error) -> bool {
    use rusqlite::Error;
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
    )
}

impl Problem {
    fn text(&self, ledger: &str) -> String {
        let (what, hint) = match self {
            Problem::Unusable(error) => (
                format!("cannot use the ledger `{ledger}`: {error}"),
                "fix that, or name another file with `--ledger`".to_owned(),
            ),
            Problem::NotALedger => (
                format!("`{ledger}` is not a ledger of leadload"),
                "name another file with `--ledger`; where there is none, a new ledger is made"
                    .into(),
            ),
            Problem::TooOld { version, known } => (
                format!(
                    "the ledger `{ledger}` was written by a version of leadload from before the first release (format {version}), which this version (format {known}) cannot read"
                ),
                "move it away, and a new one is made. The service then refuses leads that it already has, but not with `--allow-duplicates`".into(),
            ),
            Problem::TooNew { version, known } => (
                format!(
                    "the ledger `{ledger}` was written by a newer version of leadload (format {version}, this version knows {known})"
                ),
                "update leadload, or name another file with `--ledger`".into(),
            ),
            Problem::Locked => (
                format!("the ledger `{ledger}` is locked by another program"),
                "close the program that has it open, then run the same command again".into(),
            ),
            Problem::NoLocks => (
                format!(
                    "the file system of the ledger `{ledger}` has no locks, so two runs could send the same leads"
                ),
                "name a file on another disk with `--ledger`".into(),
            ),
            Problem::Gone => (
                format!("the ledger `{ledger}` was deleted or moved away while it was in use"),
                "put it back, then run the same command again; without it only the service can refuse leads that it already has".into(),
            ),
            Problem::Replaced { log, original } => (
                format!("the ledger `{ledger}` was replaced or overwritten while it was in use"),
                format!(
                    "restore a backup only while nothing is being sent. If you have the ledger from before, put it back{}; then run the same command again. With any other, the leads in the unfinished results are sent again, and only the service can refuse them: with `--allow-duplicates` it does not",
                    log.as_ref().map_or_else(String::new, |log| format!(
                        ", and `{}` beside it as `{}`",
                        log.display(),
                        original.display()
                    ))
                ),
            ),
            Problem::NotOverwritten => (
                format!(
                    "the data is removed, but not yet overwritten on disk: another program has the ledger `{ledger}` open"
                ),
                "close that program, then run the same command again".into(),
            ),
            Problem::Full => (
                format!("the ledger `{ledger}` cannot grow: the disk is full"),
                "make room, then run the same command again".into(),
            ),
            Problem::ReadOnly => (
                format!("the ledger `{ledger}` cannot be written: it, or its folder, is read-only"),
                "fix that, or name another file with `--ledger`".into(),
            ),
            Problem::Damaged(detail) => (
                format!("the ledger `{ledger}` is damaged ({detail})"),
                "remove it with its `-wal` and `-shm`, and put a backup in its place; without one, move it away, and only the service can refuse leads that it already has".into(),
            ),
            Problem::BrokeOff => (
                "the thread that works with the ledger has died".into(),
                "this is a bug in leadload, please report it; run the same command again".into(),
            ),
            Problem::Failed(error) => (
                format!("the ledger `{ledger}` cannot be used: {error}"),
                "fix that, then run the same command again".into(),
            ),
        };
        format!("{what}\n\nhint: {hint}")
    }
}
