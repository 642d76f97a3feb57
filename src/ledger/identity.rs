//! Whether what stands at the ledger's path is still what is open.
//!
//! What is written to a file that nobody finds again is lost without an error, be that
//! deleted, replaced by a backup, or put aside by a program that keeps folders in step. And
//! what is in the log beside it must not get into another file, which it would destroy.
//!
//! Asked before each commit, by what the file system says of the names: to close any handle
//! of a file takes SQLite's locks on it away from the whole process. Where a file was copied
//! over the open one it is the same to the file system. So a start of a run is brought into
//! the file itself when it begins, and looked for whenever that has changed since: a backup
//! from before, or another ledger, does not have it.
//!
//! Where files cannot be told apart by their names (Windows), one that is open can be neither
//! removed nor renamed.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags};
use url::Url;

use super::{Ledger, LedgerError};
use crate::lead::RunId;
use crate::source::file_identity;

/// Another process may be writing the file right now, for a service of its own.
const ATTEMPTS: u32 = 5;

/// The time between them.
const PAUSE: Duration = Duration::from_millis(20);

/// Who moves a file away often puts another one there, this much later.
const TIME_TO_REPLACE: Duration = Duration::from_millis(100);

/// The ledger's file and the log beside it, as they are known from others of these names.
#[derive(Debug, Default)]
pub(super) struct Identity {
    file: Option<(u64, u64)>,
    /// Known once there is a log, which stays the same as long as the ledger is open.
    log: Option<(u64, u64)>,
    /// When the file had been written last, when it was found to be the right one.
    modified: Option<SystemTime>,
    /// The start by which the file is known, once it has one.
    start: Option<Start>,
    /// Set when it was found to be another one.
    is_lost: bool,
    /// Where the log was put then.
    log_apart: Option<PathBuf>,
}

/// A start of a run, with all that tells it from those of other ledgers.
#[derive(Debug, PartialEq, Eq)]
struct Start {
    run: RunId,
    start: u32,
    /// When it began, in which process, on which computer.
    origin: String,
}

impl Identity {
    pub(super) fn of(path: &Path) -> Identity {
        Identity {
            file: identity_at(path),
            ..Identity::default()
        }
    }

    /// Whether the files are still those that stand at the path.
    fn is_still(&mut self, path: &Path) -> bool {
        let log = identity_at(&log_of(path));
        let is_same_log = self.log.is_none() || log == self.log;
        self.log = self.log.or(log);
        is_same_log && identity_at(path) == self.file && self.has_start(path)
    }

    /// Whether the file has the start, where it has been written since that was asked last.
    fn has_start(&mut self, path: &Path) -> bool {
        let modified = path.metadata().and_then(|found| found.modified()).ok();
        let Some(start) = self.start.as_ref().filter(|_| modified != self.modified) else {
            return true;
        };
        self.modified = modified;
        (0..ATTEMPTS).any(|attempt| {
            if attempt > 0 {
                thread::sleep(PAUSE);
            }
            start_in_file(path, start.run, start.start).is_some_and(|found| found == *start)
        })
    }
}

impl Ledger {
    /// Makes the file known by a start that has just begun.
    pub(super) fn mark_file(&mut self, run: RunId, start: u32) {
        if self.identity.file.is_none() {
            return;
        }
        // Where somebody reads what was there before, it stays in the log.
        let checkpoint = "PRAGMA wal_checkpoint(PASSIVE)";
        let _ = self.db.query_row(checkpoint, [], |_| Ok(()));
        self.identity.start = start_in_file(&self.path, run, start);
    }

    /// Makes sure that what is open is what others find at the path.
    pub(super) fn refuse_replaced(&mut self) -> Result<(), LedgerError> {
        let Ledger { path, identity, .. } = self;
        if !identity.is_lost && identity.is_still(path) {
            return Ok(());
        }
        if !identity.is_lost && !path.exists() {
            thread::sleep(TIME_TO_REPLACE);
        }
        let path = path.clone();
        if !path.exists() {
            self.identity.is_lost = true;
            return Err(LedgerError::Gone { path });
        }
        if !std::mem::replace(&mut self.identity.is_lost, true) {
            self.identity.log_apart = self.keep_log_apart();
        }
        let log = self.identity.log_apart.clone();
        Err(LedgerError::Replaced { path, log })
    }

    /// Keeps the log, which is of the file that was there before, from the one that is
    /// there now: whoever opens that next would write it there too. Returns where the log
    /// is, if it was moved.
    fn keep_log_apart(&self) -> Option<PathBuf> {
        self.keep_log_from_file();
        let log = log_of(&self.path);
        let is_ours = self.identity.log.is_some() && identity_at(&log) == self.identity.log;
        let stamp = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
        let mut apart = log.clone().into_os_string();
        apart.push(format!(".{stamp}"));
        let apart = PathBuf::from(apart);
        (is_ours && fs::rename(log, &apart).is_ok()).then_some(apart)
    }
}

/// The start as it stands in the file itself, without the log. Opened beside SQLite's own
/// handles, which it takes care of.
fn start_in_file(path: &Path, run: RunId, start: u32) -> Option<Start> {
    let mut url = Url::from_file_path(fs::canonicalize(path).ok()?).ok()?;
    url.set_query(Some("immutable=1"));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let file = Connection::open_with_flags(url.as_str(), flags).ok()?;
    let origin = "SELECT began_at || ' ' || process || ' ' || host FROM starts
        WHERE run = ?1 AND start = ?2";
    let origin = file.query_row(origin, (run.0, start), |row| row.get(0));
    Some(Start {
        run,
        start,
        origin: origin.ok()?,
    })
}

fn identity_at(path: &Path) -> Option<(u64, u64)> {
    file_identity(&path.metadata().ok()?)
}

/// The log that SQLite keeps beside a database.
pub(super) fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}
