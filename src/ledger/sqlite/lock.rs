//! The lock that lets one process at a time send to a service, for each ledger.
//!
//! It is a lock of the operating system on a file next to the ledger. The system frees
//! it when its process ends, however it ends. The file says who holds the lock; on
//! Windows that cannot be read while the lock is held. The file is never removed:
//! otherwise two processes could each hold the lock of a different file with this name.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::coding::here;
use super::{LedgerError, LockHolder, ServiceId, SqliteLedger, privacy};
use crate::clock;
use crate::private_file;
use crate::simulation;

/// How often to try a lock: a process that checks whether
/// the lock is held holds it itself for a moment.
const ATTEMPTS: u32 = 5;

const PAUSE: Duration = Duration::from_millis(20);

/// The right to send, until this is dropped.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl SqliteLedger {
    /// Takes the right to send to a service; `None` if another
    /// process has it. Fails if the file system has no locks.
    pub fn try_lock_sender(&self, service: ServiceId) -> Result<Option<FileLock>, LedgerError> {
        let file = self.lock_file(service)?;
        for attempt in 1..=ATTEMPTS {
            match file.try_lock() {
                Ok(()) => return Ok(Some(FileLock::held(file))),
                Err(TryLockError::WouldBlock) if attempt < ATTEMPTS && !simulation::is_on() => {
                    thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => break,
                Err(TryLockError::Error(error)) => return Err(self.not_locked(error)),
            }
        }
        Ok(None)
    }

    /// Takes the rights to send to every service, so nothing is sent while they are held.
    /// If another process is sending to a service, takes no right and returns that service.
    pub fn lock_all_senders(&self) -> Result<Result<Vec<FileLock>, ServiceId>, LedgerError> {
        let mut all = Vec::new();
        for service in self.services()? {
            match self.try_lock_sender(service)? {
                Some(lock) => all.push(lock),
                None => return Ok(Err(service)),
            }
        }
        Ok(Ok(all))
    }

    /// Who has the right to send to a service, or had it last; `None` if that cannot be read.
    pub fn lock_holder(&self, service: ServiceId) -> Option<LockHolder> {
        let line = fs::read_to_string(self.place.lock_file(service)).ok()?;
        let mut words = line.trim().splitn(4, ' ');
        Some(LockHolder {
            process: words.next()?.parse().ok()?,
            since: words.next()?.parse().ok()?,
            host: words.next()?.to_owned(),
            user: words.next().map(str::to_owned),
        })
    }

    /// The services that a process has the right to send to.
    pub(in crate::ledger) fn busy_services(&self) -> Result<Vec<ServiceId>, LedgerError> {
        let mut busy = Vec::new();
        for service in self.services()? {
            if self.is_sender_locked(service)? {
                busy.push(service);
            }
        }
        Ok(busy)
    }

    fn is_sender_locked(&self, service: ServiceId) -> Result<bool, LedgerError> {
        let locked = is_locked(&self.place.lock_file(service));
        locked.map_err(|error| self.not_locked(error))
    }

    fn lock_file(&self, service: ServiceId) -> Result<File, LedgerError> {
        let place = self.place.lock_file(service);
        let opened = private_file::options().open(&place);
        let file = opened.map_err(|error| LedgerError::unusable(&self.place, error))?;
        privacy::restrict(&self.place, &[place])?;
        Ok(file)
    }

    fn not_locked(&self, error: io::Error) -> LedgerError {
        if error.kind() == io::ErrorKind::Unsupported {
            LedgerError::of_setup(
                text!(
                    "{the file system of {place} has no locks, so two runs could send the same leads|{place} is on a disk that has no locks, so two lists could be sent at once}",
                    place = &self.place
                ),
                "name a file on another disk with `--ledger`",
            )
        } else {
            LedgerError::unusable(&self.place, error)
        }
    }
}

/// Whether a process holds the lock of this file; no, if there is no such file.
pub(super) fn is_locked(file: &Path) -> io::Result<bool> {
    let file = match File::open(file) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        // A user who may only read the ledger cannot know.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(true),
        Err(error) => return Err(error),
    };
    // Shared, so that two processes that check do not mistake each other for a sender.
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl FileLock {
    /// Turns the lock on `file` into a [`FileLock`]. The file says who holds it,
    /// for people to read; if that cannot be written, the lock holds all the same.
    fn held(mut file: File) -> FileLock {
        let (process, (host, user)) = (std::process::id(), here());
        let line = format!("{process} {} {host} {user}\n", clock::now());
        let _ = file
            .set_len(0)
            .and_then(|()| file.write_all(line.as_bytes()));
        FileLock { _file: file }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use crate::ledger::sqlite::FilePlace;
    use crate::ledger::sqlite::testing::{TestLedger, is_soon};

    #[test]
    fn one_holds_the_lock_of_a_service_until_it_is_dropped() {
        let test = TestLedger::new();
        let (ledger, service) = (test.ledger.file(), test.service);
        let held = ledger.try_lock_sender(service).unwrap();
        assert!(held.is_some());
        if cfg!(unix) {
            let holder = ledger.lock_holder(service).unwrap();
            assert_eq!(holder.process, std::process::id());
            assert_eq!((holder.host, holder.user), (here().0, Some(here().1)));
        }
        assert!(ledger.is_sender_locked(service).unwrap());
        assert!(ledger.try_lock_sender(service).unwrap().is_none());
        drop(held);
        assert!(is_soon(|| !ledger.is_sender_locked(service).unwrap()));
        assert!(ledger.try_lock_sender(service).unwrap().is_some());
    }

    #[test]
    fn a_lock_file_of_an_older_version_names_no_person() {
        let test = TestLedger::new();
        let file = test.ledger.file().place().lock_file(test.service);
        fs::write(file, "7 2026-11-21T03:00:00Z box\n").unwrap();
        let holder = test.ledger.file().lock_holder(test.service).unwrap();
        let named = "process 7 on box, since 2026-11-21 03:00:00 UTC";
        assert_eq!(holder.to_string(), named);
    }

    #[test]
    fn different_services_can_be_locked_at_the_same_time() {
        let test = TestLedger::new();
        let _held = test.ledger.file().try_lock_sender(test.service).unwrap();
        let other = test.ledger.file().try_lock_sender(test.another_service());
        assert!(other.unwrap().is_some());
    }

    #[test]
    fn reading_the_state_of_a_lock_creates_no_file() {
        let test = TestLedger::new();
        assert!(!test.ledger.file().is_sender_locked(test.service).unwrap());
        let file = test.ledger.file().place().lock_file(test.service);
        assert!(!file.exists());
    }

    #[test]
    fn all_locks_can_be_taken_only_while_nothing_is_sent() {
        let test = TestLedger::new();
        let other = test.another_service();
        let held = test.ledger.file().try_lock_sender(other).unwrap();
        let refused = test.ledger.file().lock_all_senders().unwrap();
        assert_eq!(refused.err(), Some(other));
        drop(held);
        assert!(is_soon(|| test
            .ledger
            .file()
            .lock_all_senders()
            .unwrap()
            .is_ok()));
    }

    #[cfg(unix)]
    #[test]
    fn a_symlinked_ledger_has_the_same_lock() {
        let test = TestLedger::new();
        let path = test.ledger.file().place().path();
        let link = path.with_file_name("link");
        std::os::unix::fs::symlink(path, &link).unwrap();
        let linked = SqliteLedger::open(&FilePlace::file(link)).unwrap();
        let _held = linked.try_lock_sender(test.service).unwrap();
        assert!(test.ledger.file().is_sender_locked(test.service).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_the_lock_file() {
        use std::os::unix::fs::PermissionsExt;
        let test = TestLedger::new();
        let _held = test.ledger.file().try_lock_sender(test.service).unwrap();
        let file = test.ledger.file().place().lock_file(test.service);
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
