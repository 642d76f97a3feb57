//! The ledger's file: opens it, creates it on first use, and refuses a file of another version.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior,
};

use super::filing::Filing;
use super::identity::Identity;
use super::own_files::refuse_strange_files;
use super::reader::Reading;
use super::{FilePlace, LedgerError, ServiceId, privacy, schema};
use crate::paths::folder_of;
use crate::private_file;
use crate::simulation::{Fault, is_planted};

/// More than the number of different statements, so none is prepared twice.
const MAX_STATEMENTS: usize = 64;

/// How long to wait for another program that holds the file,
/// such as a run for another service that files many rows.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an empty file may be one that another process is creating.
const MAX_TIME_TO_MAKE: Duration = Duration::from_secs(1);

/// The size that the log keeps when SQLite starts to write it from its beginning again.
const LOG_BYTES: i64 = 8 * 1024 * 1024;

#[derive(Debug)]
pub struct SqliteLedger {
    pub(in crate::ledger) db: Connection,
    pub(super) place: FilePlace,
    pub(super) identity: Identity,
    pub(super) filing: Filing,
    /// Whether rows that are not filed are in temporary tables of this connection (`unfiled`).
    pub(super) shows_unfiled: bool,
    // Dropped after the connection.
    pub(super) reading: Reading,
}

impl SqliteLedger {
    /// Opens the ledger for writing. If there is none, it is created with its folder,
    /// readable by its owner only. Fails if the file is not a ledger that this version knows,
    /// has a second name, or cannot be made private.
    pub fn open(place: &FilePlace) -> Result<SqliteLedger, LedgerError> {
        refuse_lost(place)?;
        make(&place.real()).map_err(|error| LedgerError::unusable(place, error))?;
        refuse_strange_files(place)?;
        privacy::refuse_exposed(place)?;
        let access = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let mut ledger = SqliteLedger::connect(place, place.path(), access, Reading::default())?;
        ledger.refuse_others()?;
        // Not earlier: another file was named by mistake, and is not changed.
        privacy::restrict(place, &place.of_sqlite())?;
        let SqliteLedger { db, .. } = &mut ledger;
        let opened = begin_to_write(db).and_then(|()| schema::create(db));
        ledger.checked(opened)?;
        // Another version may have been first.
        ledger.refuse_others()?;
        Ok(ledger)
    }

    /// Opens the ledger for reading, while another process may write; `None` if
    /// there is no ledger. Fails if the file is not a ledger that this version knows. One of an
    /// earlier version becomes one of this, unless it is only read.
    pub fn read(place: &FilePlace) -> Result<Option<SqliteLedger>, LedgerError> {
        let unusable = |error| LedgerError::unusable(place, error);
        refuse_lost(place)?;
        if !place.path().try_exists().map_err(unusable)? {
            return Ok(None);
        }
        refuse_strange_files(place)?;
        if place.is_only_read {
            privacy::warn_of_writers(place);
        }
        let ledger = SqliteLedger::reader(place)?;
        ledger.refuse_others()?;
        // A ledger that was created but never written has no tables yet.
        match ledger.checked(schema::version(&ledger.db))? {
            0 => Ok(None),
            schema::VERSION => Ok(Some(ledger)),
            _ if place.is_only_read => ledger.into_this_version().map(Some),
            _ => {
                SqliteLedger::open(place)?;
                Ok(Some(ledger))
            }
        }
    }

    pub fn place(&self) -> &FilePlace {
        &self.place
    }

    /// The error for a value in the ledger that makes no sense.
    pub fn damaged(&self, detail: String) -> LedgerError {
        LedgerError::damaged(&self.place, detail)
    }

    /// Connects to the ledger at this place, whose content is in `file`: a path, or an
    /// address with `SQLITE_OPEN_URI`, which gives paths that begin with `file:` another meaning.
    pub(super) fn connect(
        place: &FilePlace,
        file: impl AsRef<Path>,
        access: OpenFlags,
        reading: Reading,
    ) -> Result<SqliteLedger, LedgerError> {
        // Without SQLite's own locks: only one thread uses a connection at a time.
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(file, flags);
        let db = opened.map_err(|error| LedgerError::of(place, error))?;
        db.set_prepared_statement_cache_capacity(MAX_STATEMENTS);
        let ledger = SqliteLedger {
            db,
            place: place.clone(),
            identity: Identity::of(place.path()),
            filing: Filing::default(),
            shows_unfiled: false,
            reading,
        };
        ledger.checked(ledger.db.busy_timeout(BUSY_TIMEOUT))?;
        Ok(ledger)
    }

    /// Makes sure that the file is a ledger that this version knows.
    fn refuse_others(&self) -> Result<(), LedgerError> {
        // This comes first, since another command may be creating the ledger right now.
        let is_new = self.checked(is_empty(&self.db))?;
        let version = self.checked(schema::version(&self.db))?;
        let application_id = self.checked(schema::application_id(&self.db))?;
        let (place, known) = (&self.place, schema::VERSION);
        if !is_new && application_id != schema::APPLICATION_ID {
            return Err(LedgerError::not_a_ledger(place));
        }
        if version == 0 || (schema::FIRST..=known).contains(&version) {
            return self.refuse_what_runs_by_itself();
        }
        if version > known {
            let hint = "update leadload, or name another file with `--ledger`";
            return Err(LedgerError::of_newer_version(place, version, known, hint));
        }
        Err(LedgerError::of_setup(
            text!(
                "{place} was written by a {version of leadload from before the first release (format {version}), which this version (format {known}) cannot read|very old leadload}",
                place,
                version,
                known
            ),
            "move it away, and a new one is made. The service then refuses leads that it already has, but not with `--allow-duplicates`",
        ))
    }

    /// A ledger has tables and indexes alone: a trigger or a view in it may change what is
    /// written: take a number off the do-not-call list again, for example.
    fn refuse_what_runs_by_itself(&self) -> Result<(), LedgerError> {
        let found = "SELECT type || ' ' || name FROM sqlite_master
            WHERE type NOT IN ('table', 'index') LIMIT 1";
        let found = self.db.query_row(found, [], |row| row.get::<_, String>(0));
        match self.checked(found.optional())? {
            None => Ok(()),
            Some(what) => {
                Err(self.damaged(format!("it has the {what}, which leadload never makes")))
            }
        }
    }

    pub(super) fn begin_change(&mut self) -> rusqlite::Result<Transaction<'_>> {
        self.db
            .transaction_with_behavior(TransactionBehavior::Immediate)
    }

    pub(super) fn checked<T>(&self, result: rusqlite::Result<T>) -> Result<T, LedgerError> {
        self.reading.refuse_changed(&self.place)?;
        result.map_err(|error| {
            if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) {
                self.keep_log_from_file();
            }
            LedgerError::of(&self.place, error)
        })
    }

    /// Stops SQLite from applying the log to the file when this
    /// process ends: the file may be damaged, or another one by now.
    pub(super) fn keep_log_from_file(&self) {
        let closing = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        let _ = self.db.set_db_config(closing, true);
    }
}

/// If two commands create the ledger at the same moment, SQLite refuses
/// this to the later one instead of waiting, so it tries again.
fn keep_a_log(db: &Connection) -> rusqlite::Result<()> {
    let began = Instant::now();
    loop {
        match db.pragma_update(None, "journal_mode", "WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && began.elapsed() < BUSY_TIMEOUT =>
            {
                thread::sleep(Duration::from_millis(10));
            }
            done => return done,
        }
    }
}

/// Sets up a connection that writes.
fn begin_to_write(db: &Connection) -> rusqlite::Result<()> {
    // Readers and the writer do not wait for each other …
    keep_a_log(db)?;
    // … what is committed is on disk …
    let synchronous = if is_planted(Fault::NoSync) {
        "OFF"
    } else {
        "FULL"
    };
    db.pragma_update(None, "synchronous", synchronous)?;
    // … even if `fsync` alone leaves it in the disk's own memory (macOS) …
    db.pragma_update(None, "fullfsync", true)?;
    db.pragma_update(None, "checkpoint_fullfsync", true)?;
    // … the log, which may grow while a reader is active, shrinks again …
    db.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    // … deleted data is overwritten …
    db.pragma_update(None, "secure_delete", true)?;
    // … and the rows of a forgotten run are deleted with it.
    db.pragma_update(None, "foreign_keys", true)
}

fn is_empty(db: &Connection) -> rusqlite::Result<bool> {
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(tables == 0)
}

/// Refuses to create a new ledger if files next to it show that there was one:
/// everyone who was called would be called again, and SQLite would throw away the
/// log. An empty file without a log may be one that another process is just creating.
fn refuse_lost(place: &FilePlace) -> Result<(), LedgerError> {
    let bytes = |path: &Path| path.metadata().map_or(0, |found| found.len());
    let has_been_used = || place.lock_file(ServiceId(1)).exists();
    let began = Instant::now();
    loop {
        // The log first: of a ledger that is just created it is written later.
        let has_log = bytes(&place.log()) > 0;
        if bytes(place.path()) > 0 {
            return Ok(());
        }
        let is_emptied = place.path().exists() && has_been_used();
        if !has_log && !is_emptied {
            return Ok(());
        }
        if has_log || began.elapsed() > MAX_TIME_TO_MAKE {
            let detail = "it is missing or empty, but files beside it are from a run";
            return Err(LedgerError::damaged(place, detail));
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Creates an empty file if there is none. SQLite would create one that others
/// can read; and it gives the files next to it the permissions of this one. A file
/// that exists is not opened: a process that closes it loses SQLite's locks on it.
fn make(path: &Path) -> io::Result<()> {
    private_file::folders().create(folder_of(path))?;
    match private_file::create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        created => created.map(drop),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn several_processes_can_create_the_ledger_at_once() {
        const AT_ONCE: usize = 6;
        for _ in 0..5 {
            let folder = tempfile::tempdir().unwrap();
            let place = FilePlace::file(folder.path().join("ledger.sqlite3"));
            let all_are_there = Barrier::new(AT_ONCE);
            thread::scope(|scope| {
                let open = || {
                    all_are_there.wait();
                    SqliteLedger::open(&place).map(drop)
                };
                let opening: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(open)).collect();
                for opened in opening {
                    opened.join().unwrap().unwrap();
                }
            });
        }
    }
}
