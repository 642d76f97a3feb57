//! Checks whether the file at the ledger's path is still the one that is open.
//!
//! If the file was deleted, replaced by a backup, or moved aside by a program that
//! synchronizes folders, everything written to it is lost without an error. And the
//! content of the log next to it must not get into another file, which it would destroy.
//!
//! The check is made before each commit, by what the file system says about the names:
//! closing any handle of a file removes SQLite's locks on it for the whole process. A file
//! that was copied over the open one looks the same to the file system. So when a start of
//! a run begins, its record is written to the file itself, and is looked up whenever the
//! file has changed since: an older backup or another ledger does not have it.
//!
//! On systems where files cannot be told apart this way
//! (Windows), an open file can be neither removed nor renamed.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags};
use url::Url;

use super::{LedgerError, SqliteLedger};
use crate::lead::RunId;
use crate::paths::file_identity;

/// Another process may be writing the file right now, for a service of its own.
const ATTEMPTS: u32 = 5;

const PAUSE: Duration = Duration::from_millis(20);

/// What tells the ledger's file and its log from other files of the same names.
#[derive(Debug, Default)]
pub(super) struct Identity {
    file: Option<(u64, u64)>,
    /// Known when there is a log, which stays the same as long as the ledger is open.
    log: Option<(u64, u64)>,
    /// The modification time of the file when it was last checked.
    modified: Option<SystemTime>,
    /// The start that identifies the file, when there is one: its run, its number, and
    /// its time, process and computer, which tell it from starts in other ledgers.
    start: Option<(RunId, u32, String)>,
    /// The error since the file was found to be another one.
    lost: Option<LedgerError>,
}

impl Identity {
    pub(super) fn of(path: &Path) -> Identity {
        Identity {
            file: identity_at(path),
            ..Identity::default()
        }
    }

    /// Whether the file has the start. Looked up only if
    /// the file has been written since the last check.
    fn has_start(&mut self, path: &Path) -> bool {
        let modified = path.metadata().and_then(|found| found.modified()).ok();
        let Some((run, start, origin)) = self.start.as_ref().filter(|_| modified != self.modified)
        else {
            return true;
        };
        self.modified = modified;
        (0..ATTEMPTS).any(|attempt| {
            if attempt > 0 {
                thread::sleep(PAUSE);
            }
            origin_in_file(path, *run, *start).as_ref() == Some(origin)
        })
    }
}

impl SqliteLedger {
    /// Lets the file be recognized by a start that has just begun.
    pub(super) fn mark_file(&mut self, run: RunId, start: u32) {
        if self.identity.file.is_none() {
            return;
        }
        // If a reader holds an older state, the start stays in the log and is not used.
        let checkpoint = "PRAGMA wal_checkpoint(PASSIVE)";
        let _ = self.db.query_row(checkpoint, [], |_| Ok(()));
        let origin = origin_in_file(self.place.path(), run, start);
        self.identity.start = origin.map(|origin| (run, start, origin));
    }

    /// Makes sure that the open file is the one that others find at the path.
    pub(super) fn refuse_replaced(&mut self) -> Result<(), LedgerError> {
        if self.identity.lost.is_none() && !self.is_still_there() {
            self.identity.lost = Some(self.lose());
        }
        match &self.identity.lost {
            Some(lost) => Err(lost.clone()),
            None => Ok(()),
        }
    }

    fn is_still_there(&mut self) -> bool {
        let SqliteLedger {
            place, identity, ..
        } = self;
        let log = identity_at(&place.log());
        let is_same_log = identity.log.is_none() || log == identity.log;
        identity.log = identity.log.or(log);
        let path = place.path();
        is_same_log && identity_at(path) == identity.file && identity.has_start(path)
    }

    /// The log belongs to the file that was there before. It is kept away from the
    /// present file: the next program that opens that file would write the log into it.
    fn lose(&self) -> LedgerError {
        let place = &self.place;
        if !place.path().exists() {
            return LedgerError::gone(place);
        }
        self.keep_log_from_file();
        let log = place.log();
        let is_ours = self.identity.log.is_some() && identity_at(&log) == self.identity.log;
        let stamp = Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let apart = place.log_apart(&stamp);
        let mut with_log = String::new();
        if is_ours && fs::rename(&log, &apart).is_ok() {
            let (apart, log) = (apart.display(), log.display());
            with_log = format!(", and move `{apart}` to `{log}`");
        }
        LedgerError::new(
            format!("the ledger `{place}` was replaced or overwritten while it was in use"),
            format!(
                "put the original ledger back as `{place}`{with_log}; then run the same command again. With another ledger, the leads in the `.part` files would be sent a second time"
            ),
        )
        .on_page(
            "leadload's record of what was sent was replaced while it was in use",
            "Ask the person who set up leadload on this computer to put it back. With another one, some people would be sent a second time.",
        )
    }
}

/// Reads the origin of a start from the file itself, without the log. The
/// file is opened through SQLite, which takes care of its own other handles.
fn origin_in_file(path: &Path, run: RunId, start: u32) -> Option<String> {
    let mut url = Url::from_file_path(fs::canonicalize(path).ok()?).ok()?;
    url.set_query(Some("immutable=1"));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let file = Connection::open_with_flags(url.as_str(), flags).ok()?;
    let origin = "SELECT began_at || ' ' || process || ' ' || host FROM starts
        WHERE run = ?1 AND start = ?2";
    file.query_row(origin, (run.0, start), |row| row.get(0))
        .ok()
}

fn identity_at(path: &Path) -> Option<(u64, u64)> {
    file_identity(&path.metadata().ok()?)
}
