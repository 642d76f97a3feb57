//! Why the ledger cannot be used. Each text says what, where and what next.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

use crate::exit::{Failure, StoppedBy};

/// A ledger that cannot be used.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The operating system says no.
    #[error(
        "cannot use the ledger `{}`: {error}\n\nhint: mend that, or name another file with `--ledger`",
        path.display()
    )]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
    /// It is no database, or one of another program.
    #[error(
        "`{}` is not a ledger of leadload\n\nhint: name another file with `--ledger`; a new one is made where there is none",
        path.display()
    )]
    NotALedger {
        /// The file.
        path: PathBuf,
    },
    /// Another version has written it.
    #[error(
        "the ledger `{}` was written by another version of leadload (format {version}, this one knows {known})\n\nhint: use that version, or name another file with `--ledger`",
        path.display()
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: u32,
        /// The one that this program knows.
        known: u32,
    },
    /// Another program holds it.
    #[error(
        "the ledger `{}` is locked by another program\n\nhint: close what has it open, then run the same command again",
        path.display()
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// Its file system cannot keep two runs apart.
    #[error(
        "the file system of the ledger `{}` knows no locks, so that two runs could send the same leads\n\nhint: name a file on another disk with `--ledger`",
        path.display()
    )]
    NoLocks {
        /// The file.
        path: PathBuf,
    },
    /// Somebody has deleted or moved it.
    #[error(
        "the ledger `{}` has been deleted or moved away while it was in use\n\nhint: put it back, then run the same command again; without it only the service can refuse the leads that it has",
        path.display()
    )]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// Another file has been put in its place, or copied over it.
    #[error(
        "the ledger `{}` was replaced or overwritten while it was in use\n\nhint: restore a backup only while nothing is being sent. If you have the ledger from before, put it back{}; then run the same command again. With any other, the leads that the unfinished results name are sent again, and only the service can refuse them: with `--allow-duplicates` it does not",
        path.display(),
        with_log(log.as_deref(), path)
    )]
    Replaced {
        /// The file.
        path: PathBuf,
        /// Where its log is now.
        log: Option<PathBuf>,
    },
    /// Another program reads what was removed.
    #[error(
        "what was asked for is removed, but not yet overwritten: another program has the ledger `{}` open, and the bytes stand in it until then\n\nhint: close what has it open, then run the same command again",
        path.display()
    )]
    NotOverwritten {
        /// The file.
        path: PathBuf,
    },
    /// The disk is full.
    #[error(
        "the ledger `{}` cannot grow: the disk is full\n\nhint: make room, then run the same command again",
        path.display()
    )]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// It may be read but not written.
    #[error(
        "the ledger `{}` cannot be written: it, or its folder, is read-only\n\nhint: mend that, or name another file with `--ledger`",
        path.display()
    )]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// What is in it makes no sense.
    #[error(
        "the ledger `{}` is damaged ({detail})\n\nhint: remove it with its `-wal` and `-shm`, and put a backup in its place; without one, move it away, and only the service can refuse the leads that it has",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The thread that works with it has died.
    #[error(
        "the work with the ledger broke off\n\nhint: this is a mistake of leadload, please report it; run the same command again"
    )]
    BrokeOff,
    /// Anything else.
    #[error(
        "the ledger `{}` cannot be used: {error}\n\nhint: run the same command again when that is mended",
        path.display()
    )]
    Failed {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        error: rusqlite::Error,
    },
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Failure {
        Failure::new(StoppedBy::Ledger, error)
    }
}

fn with_log(log: Option<&Path>, path: &Path) -> String {
    log.map_or_else(String::new, |log| {
        format!(
            ", and `{}` beside it as `{}-wal`",
            log.display(),
            path.display()
        )
    })
}

impl LedgerError {
    /// What the operating system says of the ledger at `path`, or of a file beside it.
    pub(super) fn unusable(path: &Path, error: io::Error) -> LedgerError {
        LedgerError::Unusable {
            path: path.to_owned(),
            error,
        }
    }

    /// What an error of SQLite means for the ledger at `path`.
    pub(super) fn of(path: &Path, error: rusqlite::Error) -> LedgerError {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => LedgerError::Full { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                LedgerError::Locked { path }
            }
            Some(ErrorCode::ReadOnly) => LedgerError::ReadOnly { path },
            Some(ErrorCode::NotADatabase) => LedgerError::NotALedger { path },
            Some(ErrorCode::DatabaseCorrupt) => LedgerError::Damaged {
                path,
                detail: error.to_string(),
            },
            None if is_unreadable(&error) => LedgerError::Damaged {
                path,
                detail: error.to_string(),
            },
            _ => LedgerError::Failed { path, error },
        }
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
