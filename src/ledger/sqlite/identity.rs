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
//! Neither may a file have it that another process is writing the log into, page by page: that
//! process may be halted or killed midway for as long as it likes. Until it is done, the file makes
//! sense only together with the log. So where the file alone does not have the start, both together
//! count, if they are a ledger without a contradiction.
//!
//! On systems where files cannot be told apart this way
//! (Windows), an open file can be neither removed nor renamed.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags};

use super::reader::url;
use super::{LedgerError, SqliteLedger};
use crate::clock;
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
    /// The file that is locked while this process sends: without it, another process could send too.
    lock: Option<(u64, u64)>,
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
        let is_in_file = (0..ATTEMPTS).any(|attempt| {
            if attempt > 0 {
                thread::sleep(PAUSE);
            }
            origin_in_file(path, *run, *start).as_ref() == Some(origin)
        });
        is_in_file || origin_with_log(path, *run, *start).as_ref() == Some(origin)
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
    pub(in crate::ledger) fn refuse_replaced(&mut self) -> Result<(), LedgerError> {
        if self.identity.lost.is_none() {
            self.identity.lost = match self.is_still_there() {
                true => self.lost_lock(),
                false => Some(self.lose()),
            };
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

    /// The error if the file that is locked while this process sends is not there any more.
    fn lost_lock(&mut self) -> Option<LedgerError> {
        let file = self.place.lock_file(self.filing.service?);
        let lock = identity_at(&file);
        let is_same = self.identity.lock.is_none() || lock == self.identity.lock;
        self.identity.lock = self.identity.lock.or(lock);
        (!is_same).then(|| LedgerError::lost_lock(&self.place, &file))
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
        let stamp = clock::now().strftime("%Y%m%dT%H%M%SZ").to_string();
        let apart = place.log_apart(&stamp);
        let mut with_log = String::new();
        if is_ours && fs::rename(&log, &apart).is_ok() {
            let (apart, log) = (apart.display(), log.display());
            with_log = format!(", and move `{apart}` to `{log}`");
        }
        LedgerError::of_another(
            text!(
                "{place} was replaced or overwritten while it was in use",
                place
            ),
            &format!("the original ledger back as `{place}`{with_log}"),
        )
    }
}

/// Reads the origin of a start from the file itself, without the log.
fn origin_in_file(path: &Path, run: RunId, start: u32) -> Option<String> {
    origin(&opened(path, "immutable=1")?, run, start)
}

/// Reads the origin of a start as every program sees it that opens the file with the log: pages
/// that are in the log count, whatever the file has in their place. In another file the others
/// do not go with them.
fn origin_with_log(path: &Path, run: RunId, start: u32) -> Option<String> {
    let both = opened(path, "mode=ro")?;
    let check = "PRAGMA quick_check(1)";
    let found: String = both.query_row(check, [], |row| row.get(0)).ok()?;
    (found == "ok").then(|| origin(&both, run, start))?
}

/// Opens the file once more through SQLite, which takes care of its own other handles.
fn opened(path: &Path, how: &str) -> Option<Connection> {
    let url = url(path, how)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(url.as_str(), flags).ok()
}

fn origin(file: &Connection, run: RunId, start: u32) -> Option<String> {
    let origin = "SELECT began_at || ' ' || process || ' ' || host FROM starts
        WHERE run = ?1 AND start = ?2";
    file.query_row(origin, (run.0, start), |row| row.get(0))
        .ok()
}

fn identity_at(path: &Path) -> Option<(u64, u64)> {
    file_identity(&path.metadata().ok()?)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::ledger::sqlite::samples::claims;
    use crate::ledger::sqlite::testing::{TestLedger, at};

    /// Another start whose rows move those of this one to other pages.
    const ANOTHER_START: &str = "
        WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
        INSERT INTO starts (run, start, began_at, process, host, version)
            SELECT 1, i, 0, 1, printf('%0200d', i), '1' FROM n";

    /// A ledger with a start that is marked in the file, and a log that nobody applies to it.
    fn marked(ledger: &mut TestLedger) -> RunId {
        ledger.sql("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0");
        let new = ledger.run_of(1);
        let begun = ledger.begin(&new, at(0));
        assert!(ledger.ledger.file().identity.start.is_some());
        begun.run
    }

    /// The pages in the log, in the order in which they get into the file.
    fn pages_in(log: &Path) -> (u64, BTreeMap<u64, Vec<u8>>) {
        let log = fs::read(log).unwrap();
        let number = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().unwrap());
        let size = number(8) as usize;
        let frames = log[32..].chunks_exact(24 + size).enumerate();
        let live = frames.take_while(|(_, frame)| frame[8..16] == log[16..24]);
        let pages = live.map(|(nth, frame)| {
            let page = number(32 + nth * (24 + size));
            (u64::from(page), frame[24..].to_vec())
        });
        (size as u64, pages.collect())
    }

    /// What a process leaves that is halted or killed after any page.
    #[test]
    fn a_file_that_the_log_is_half_written_into_is_the_ledger_still() {
        let mut test = TestLedger::new();
        let run = marked(&mut test);
        let place = test.ledger.file().place().clone();
        test.sql(ANOTHER_START);
        let (size, pages) = pages_in(&place.log());
        let before = place.path().metadata().unwrap().len();
        assert!(pages.contains_key(&1) && pages.keys().any(|page| page * size > before));
        let (mut commits, mut alone) = (0, 0);
        let mut commit = |test: &mut TestLedger| {
            commits += 1;
            let file = File::options().write(true).open(place.path()).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(commits);
            file.set_modified(time).unwrap();
            alone += u64::from(origin_in_file(place.path(), run, 1).is_none());
            test.ledger.commit(run, &claims([commits])).unwrap();
        };
        commit(&mut test);
        for (page, content) in &pages {
            let file = File::options().write(true).open(place.path()).unwrap();
            file.write_all_at(content, (page - 1) * size).unwrap();
            commit(&mut test);
        }
        assert!(alone > 1, "the file alone has had the start");
        test.sql("PRAGMA wal_checkpoint(TRUNCATE)");
        let number = |sql| {
            test.ledger
                .file()
                .db
                .query_row(sql, [], |row| row.get::<_, u64>(0))
        };
        assert_eq!(number("SELECT count(*) FROM journal"), Ok(commits));
        assert_eq!(number("SELECT count(*) FROM starts"), Ok(200));
        assert!(origin_with_log(place.path(), run, 1).is_some());
    }

    #[test]
    fn a_backup_in_its_place_is_noticed_though_the_log_has_the_start() {
        let mut test = TestLedger::new();
        let place = test.ledger.file().place().clone();
        test.sql("PRAGMA wal_checkpoint(TRUNCATE)");
        let backup = fs::read(place.path()).unwrap();
        let leads = "
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
            INSERT INTO services (address) SELECT printf('https://%0200d.example', i) FROM n";
        test.sql(leads);
        let run = marked(&mut test);
        test.sql(ANOTHER_START);
        fs::write(place.path(), &backup).unwrap();
        let refused = test.ledger.commit(run, &claims([1])).unwrap_err();
        let text = refused.0.to_string();
        assert!(text.contains("was replaced or overwritten"), "{text}");
        assert!(fs::read(place.path()).unwrap() == backup);
    }
}
