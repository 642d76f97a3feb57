//! How a ledger is read by a process that changes no file there ([`FilePlace::for_reading`]).
//!
//! SQLite itself makes a log and an index, or changes those that are there, to read a ledger; where it
//! may not, it reads nothing. So it depends on what is beside the ledger how that is read:
//!
//! | beside it | how it is read |
//! |-|-|
//! | a log and an index, and somebody is sending | as SQLite does it: the index is in use |
//! | both, left by a process that was killed | with an index in memory; the file alone, if nothing is in the log |
//! | no log | as SQLite does it, and what it makes is removed again; where nothing can be written, the file alone, while that stays the same |
//! | a log without its index, as in some copies, or a journal | by a private copy |
//!
//! One of an earlier version is read by a private copy too, which becomes one of this version.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, ErrorCode, OpenFlags};
use tempfile::TempDir;
use tracing::debug;
use url::Url;

use super::lock::is_locked;
use super::{CopyError, FilePlace, LedgerError, SqliteLedger, schema};
use crate::paths::file_identity;
use crate::private_file;

/// The last process that used the ledger may be removing log and index right now.
const ATTEMPTS: u32 = 5;

const PAUSE: Duration = Duration::from_millis(20);

const NAME_OF_COPY: &str = "ledger";

/// The bytes of a log before its first entry.
const LOG_HEADER: u64 = 32;

/// What lasts as long as the connection of such a reader.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// What the file looked like, where nothing but this tells that somebody writes it.
    stamp: Option<Stamp>,
    copy: Option<Arc<TempDir>>,
    _tidy: Option<Tidy>,
}

/// Size, modification time and identity of a file.
type Stamp = (u64, Option<SystemTime>, Option<(u64, u64)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Shared,
    IndexInMemory,
    Tidied,
    FileAlone,
    Copied,
}

impl Way {
    fn of(place: &FilePlace) -> Way {
        if !place.is_only_read {
            return Way::Shared;
        }
        let [_, log, index, journal] = place.of_sqlite();
        let bytes = |file: &Path| file.metadata().map_or(0, |found| found.len());
        match (
            log.exists() && index.exists(),
            bytes(&log) + bytes(&journal),
        ) {
            (true, _) if is_sent(place) => Way::Shared,
            // With an index in memory SQLite waits ten seconds for a log that has nothing, and fails.
            (true, _) if bytes(&log) <= LOG_HEADER => Way::FileAlone,
            (true, _) => Way::IndexInMemory,
            (false, 0) if may_write(place) => Way::Tidied,
            (false, 0) => Way::FileAlone,
            (false, _) => Way::Copied,
        }
    }
}

impl SqliteLedger {
    /// Opens a ledger that exists for reading.
    pub(super) fn reader(place: &FilePlace) -> Result<SqliteLedger, LedgerError> {
        for _ in 1..ATTEMPTS {
            let ledger = SqliteLedger::reader_by(Way::of(place), place)?;
            let looked = schema::version(&ledger.db);
            let failed = looked.err().and_then(|error| error.sqlite_error_code());
            if failed != Some(ErrorCode::CannotOpen) {
                return Ok(ledger);
            }
            thread::sleep(PAUSE);
        }
        SqliteLedger::reader_by(Way::of(place), place)
    }

    fn reader_by(way: Way, place: &FilePlace) -> Result<SqliteLedger, LedgerError> {
        let path = place.path();
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let by_url = |query, reading| {
            let url = url(path, query).ok_or_else(|| LedgerError::gone(place))?;
            let flags = flags | OpenFlags::SQLITE_OPEN_URI;
            SqliteLedger::connect(place, url.as_str(), flags, reading)
        };
        match way {
            Way::Shared => SqliteLedger::connect(place, path, flags, Reading::default()),
            Way::IndexInMemory => by_url("readonly_shm=1", Reading::default()),
            Way::Tidied => {
                let reading = Reading {
                    _tidy: Some(Tidy(place.clone())),
                    ..Reading::default()
                };
                SqliteLedger::connect(place, path, flags, reading)
            }
            Way::FileAlone => {
                let reading = Reading {
                    stamp: stamp(path),
                    ..Reading::default()
                };
                by_url("immutable=1", reading)
            }
            Way::Copied => SqliteLedger::copied(place, copy_files(place)?.into()),
        }
    }

    /// Another connection for reading the same.
    pub(in crate::ledger) fn again(&self) -> Result<SqliteLedger, LedgerError> {
        match &self.reading.copy {
            Some(copy) => SqliteLedger::copied(&self.place, Arc::clone(copy)),
            None => {
                let again = SqliteLedger::read(&self.place)?;
                again.ok_or_else(|| LedgerError::gone(&self.place))
            }
        }
    }

    /// What this ledger of an earlier version would be as one of this version.
    pub(super) fn into_this_version(self) -> Result<SqliteLedger, LedgerError> {
        let mut copied = if self.reading.copy.is_some() {
            self
        } else {
            let folder = temporary_folder(&self.place)?;
            let written = self.write_into(&folder.path().join(NAME_OF_COPY));
            written.map_err(|error| match error {
                CopyError::Ledger(error) => error,
                CopyError::Output(error) => LedgerError::not_copied(&self.place, error),
            })?;
            SqliteLedger::copied(&self.place, folder.into())?
        };
        schema::create(&mut copied.db)
            .map_err(|error| LedgerError::not_copied(&copied.place, error))?;
        Ok(copied)
    }

    fn copied(place: &FilePlace, folder: Arc<TempDir>) -> Result<SqliteLedger, LedgerError> {
        let file = folder.path().join(NAME_OF_COPY);
        let reading = Reading {
            copy: Some(folder),
            ..Reading::default()
        };
        SqliteLedger::connect(place, &file, OpenFlags::SQLITE_OPEN_READ_WRITE, reading)
    }
}

impl Reading {
    /// Refuses what was read from a file that somebody has written meanwhile.
    pub(super) fn refuse_changed(&self, place: &FilePlace) -> Result<(), LedgerError> {
        match self.stamp.is_some() && stamp(place.path()) != self.stamp {
            true => Err(LedgerError::changed_meanwhile(place)),
            false => Ok(()),
        }
    }
}

/// Removes the log and the index that a reader has made, when its connection is closed. SQLite does
/// that when the last one who could write closes the ledger, and knows whether somebody else uses them.
#[derive(Debug)]
struct Tidy(FilePlace);

impl Drop for Tidy {
    fn drop(&mut self) {
        let Tidy(place) = self;
        if place.log().metadata().is_ok_and(|log| log.len() == 0) {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let last = Connection::open_with_flags(place.path(), flags);
            let _ = last.and_then(|last| schema::version(&last));
        }
    }
}

/// The address by which SQLite opens a file in a way of its own.
pub(super) fn url(path: &Path, query: &str) -> Option<Url> {
    let mut url = Url::from_file_path(fs::canonicalize(path).ok()?).ok()?;
    url.set_query(Some(query));
    Some(url)
}

/// Whether somebody sends to a service, or it cannot be known.
fn is_sent(place: &FilePlace) -> bool {
    let locks = place.lock_files();
    locks.iter().any(|lock| is_locked(lock).unwrap_or(true))
}

/// Whether this process may write the file and make others beside it. Nothing is opened: a process that
/// closes a file loses SQLite's locks on it.
#[cfg(unix)]
fn may_write(place: &FilePlace) -> bool {
    use crate::paths::folder_of;
    let real = place.real();
    let may_write = |path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    may_write(&*real) && may_write(folder_of(&real))
}

#[cfg(not(unix))]
fn may_write(place: &FilePlace) -> bool {
    private_file::probe(&place.real()).is_ok()
}

fn stamp(path: &Path) -> Option<Stamp> {
    let found = path.metadata().ok()?;
    Some((found.len(), found.modified().ok(), file_identity(&found)))
}

fn temporary_folder(place: &FilePlace) -> Result<TempDir, LedgerError> {
    let folder = private_file::temporary_folders()
        .prefix("leadload-")
        .tempdir()
        .map_err(|error| LedgerError::not_copied(place, error))?;
    debug!(
        event = "note",
        "the ledger `{place}` is read by a private copy in `{}`",
        folder.path().display()
    );
    Ok(folder)
}

/// Copies the ledger's file and what SQLite has to bring into it.
fn copy_files(place: &FilePlace) -> Result<TempDir, LedgerError> {
    let folder = temporary_folder(place)?;
    let copy = FilePlace::file(folder.path().join(NAME_OF_COPY)).of_sqlite();
    let files = place.of_sqlite();
    let stamps = || files.each_ref().map(|file| stamp(file));
    let before = stamps();
    let there = files.iter().zip(&copy).filter(|(file, _)| file.exists());
    let copied = there.map(|(file, copy)| private_file::copy(file, copy));
    let copied: io::Result<()> = copied.collect();
    copied.map_err(|error| LedgerError::not_copied(place, error))?;
    match stamps() == before {
        true => Ok(folder),
        false => Err(LedgerError::changed_meanwhile(place)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::sqlite::ServiceId;
    use crate::ledger::sqlite::testing::TestLedger;

    #[test]
    fn the_way_of_reading_depends_on_what_is_beside_the_ledger_and_on_who_sends() {
        let test = TestLedger::new();
        let place = test.ledger.file().place().clone().for_reading();
        assert_eq!(Way::of(test.ledger.file().place()), Way::Shared);
        assert_eq!(Way::of(&place), Way::IndexInMemory);
        let lock = test.ledger.file().try_lock_sender(ServiceId(7)).unwrap();
        assert_eq!(Way::of(&place), Way::Shared);
        drop(lock);
        // Copies, so that the ledger that is open keeps its own files.
        let folder = tempfile::tempdir().unwrap();
        let copy = FilePlace::file(folder.path().join("copy")).for_reading();
        fs::copy(place.path(), copy.path()).unwrap();
        assert_eq!(Way::of(&copy), Way::Tidied);
        fs::copy(place.log(), copy.log()).unwrap();
        assert_eq!(Way::of(&copy), Way::Copied);
    }

    #[test]
    fn a_process_that_was_killed_before_the_first_entry_of_its_log_has_written_nothing() {
        let test = TestLedger::new();
        let copy = test.ledger.file().place().path().with_file_name("copy");
        test.ledger.file().copy_into(&copy).unwrap();
        let [_, log, index, _] = test.ledger.file().place().of_sqlite();
        let place = FilePlace::file(&copy).for_reading();
        let [_, log_of_copy, index_of_copy, _] = place.of_sqlite();
        fs::copy(index, index_of_copy).unwrap();
        let header = fs::read(log).unwrap()[..LOG_HEADER as usize].to_vec();
        fs::write(log_of_copy, header).unwrap();
        assert_eq!(Way::of(&place), Way::FileAlone);
        let reader = SqliteLedger::read(&place).unwrap().unwrap();
        assert_eq!(reader.services().unwrap(), test.ledger.services().unwrap());
    }

    #[test]
    fn what_was_read_from_a_file_that_changed_meanwhile_is_refused() {
        let test = TestLedger::new();
        let copy = test.ledger.file().place().path().with_file_name("copy");
        test.ledger.file().copy_into(&copy).unwrap();
        let place = FilePlace::file(&copy).for_reading();
        let reader = SqliteLedger::reader_by(Way::FileAlone, &place).unwrap();
        assert_eq!(reader.services().unwrap(), test.ledger.services().unwrap());
        let later = SystemTime::now() + Duration::from_secs(5);
        let file = fs::File::options().write(true).open(&copy).unwrap();
        file.set_modified(later).unwrap();
        let refused = reader.services().unwrap_err().0.to_string();
        assert!(refused.contains("changed"), "{refused}");
    }

    #[test]
    fn a_reader_leaves_nothing_behind_and_takes_nothing_from_others() {
        let test = TestLedger::new();
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy");
        test.ledger.file().copy_into(&copy).unwrap();
        let mut writer = Connection::open(&copy).unwrap();
        writer.pragma_update(None, "journal_mode", "WAL").unwrap();
        writer.close().unwrap();
        let place = FilePlace::file(&copy).for_reading();
        let names = || fs::read_dir(folder.path()).unwrap().count();
        let read = || SqliteLedger::read(&place).unwrap().unwrap();
        let reader = read();
        assert_eq!(names(), 3);
        drop(reader);
        assert_eq!(names(), 1);
        let reader = read();
        writer = Connection::open(&copy).unwrap();
        let add = "INSERT INTO services (address) VALUES ('https://b.example')";
        writer.execute(add, []).unwrap();
        assert_eq!(reader.services().unwrap().len(), 2);
        drop(reader);
        assert_eq!(names(), 3);
        writer.execute("DELETE FROM services", []).unwrap();
        writer.close().unwrap();
        assert_eq!(read().services().unwrap(), []);
    }
}
