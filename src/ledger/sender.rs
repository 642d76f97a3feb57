//! The right to send to a service: one process at a time for each ledger.
//!
//! It is a lock of the operating system on a file beside the ledger, which the death of its
//! process frees, however it dies. The file says who has it, where it can be read meanwhile
//! (not on Windows). It stays: were it removed, two processes could each hold the lock of
//! another file of this name.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use gethostname::gethostname;
use jiff::Timestamp;

use super::{Ledger, LedgerError, ServiceId};
use crate::private_file;

/// How often a lock is asked for: whoever looks whether it is held, holds it himself for
/// an instant.
const ATTEMPTS: u32 = 5;

/// The time between them.
const PAUSE: Duration = Duration::from_millis(20);

/// A process that may send, and nobody else meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// The process, by its id in the operating system.
    pub process: u32,
    /// The computer that it runs on.
    pub host: String,
    /// Since when it has it.
    pub since: Timestamp,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LockHolder { process, host, .. } = self;
        let since = self.since.strftime("%Y-%m-%d %H:%M:%S UTC");
        write!(f, "process {process} on {host}, since {since}")
    }
}

/// The right to send, which is given back when it is dropped.
#[derive(Debug)]
pub struct SenderLock {
    _file: File,
}

impl SenderLock {
    /// Takes it, unless another process has it. The ledger's file has to be there.
    ///
    /// # Errors
    ///
    /// Where the file system knows no locks, or the file cannot be made.
    pub fn try_take(ledger: &Path, service: ServiceId) -> Result<Option<Self>, LedgerError> {
        let file = open(ledger, service)?;
        for attempt in 1..=ATTEMPTS {
            match file.try_lock() {
                Ok(()) => return Ok(Some(SenderLock::held(file))),
                Err(TryLockError::WouldBlock) if attempt < ATTEMPTS => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => break,
                Err(TryLockError::Error(error)) => return Err(unlockable(ledger, error)),
            }
        }
        Ok(None)
    }

    /// Takes it, however long another process has it.
    ///
    /// # Errors
    ///
    /// As [`SenderLock::try_take`].
    pub fn take(ledger: &Path, service: ServiceId) -> Result<Self, LedgerError> {
        let file = open(ledger, service)?;
        match file.lock() {
            Ok(()) => Ok(SenderLock::held(file)),
            Err(error) => Err(unlockable(ledger, error)),
        }
    }

    /// The lock of a file that is locked. Who has it is for people to read: where that
    /// cannot be written down the lock holds all the same.
    fn held(mut file: File) -> SenderLock {
        let (process, host) = (std::process::id(), gethostname());
        let line = format!("{process} {} {}\n", Timestamp::now(), host.display());
        let _ = file
            .set_len(0)
            .and_then(|()| file.write_all(line.as_bytes()));
        SenderLock { _file: file }
    }

    /// Who has the lock, or had it last, as far as that can be read.
    pub fn holder(ledger: &Path, service: ServiceId) -> Option<LockHolder> {
        let line = fs::read_to_string(place(ledger, service).ok()?).ok()?;
        let mut words = line.trim().splitn(3, ' ');
        Some(LockHolder {
            process: words.next()?.parse().ok()?,
            since: words.next()?.parse().ok()?,
            host: words.next()?.to_owned(),
        })
    }

    /// Whether a process has it.
    ///
    /// # Errors
    ///
    /// As [`SenderLock::try_take`].
    pub fn is_held(ledger: &Path, service: ServiceId) -> Result<bool, LedgerError> {
        let place = place(ledger, service).map_err(|error| LedgerError::unusable(ledger, error))?;
        let file = match File::open(place) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(LedgerError::unusable(ledger, error)),
        };
        // Shared, so that two who look do not take each other for a sender.
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(unlockable(ledger, error)),
        }
    }
}

/// The rights to send to every service of a ledger: nobody sends while they are held.
#[derive(Debug)]
pub struct SenderLocks {
    _all: Vec<SenderLock>,
}

impl SenderLocks {
    /// Takes them all, or none; then returns a service that another process sends to.
    ///
    /// # Errors
    ///
    /// As [`SenderLock::try_take`], and where the ledger cannot be read.
    pub fn try_take(ledger: &Ledger) -> Result<Result<Self, ServiceId>, LedgerError> {
        let mut all = Vec::new();
        for service in ledger.services()? {
            match SenderLock::try_take(ledger.path(), service)? {
                Some(lock) => all.push(lock),
                None => return Ok(Err(service)),
            }
        }
        Ok(Ok(SenderLocks { _all: all }))
    }
}

/// Whether a run has ever sent by the ledger at this path, as the files beside it tell.
pub(super) fn has_been_used(ledger: &Path) -> bool {
    place(ledger, ServiceId(1)).is_ok_and(|place| place.exists())
}

fn open(ledger: &Path, service: ServiceId) -> Result<File, LedgerError> {
    let opened = place(ledger, service).and_then(|place| private_file::options().open(place));
    opened.map_err(|error| LedgerError::unusable(ledger, error))
}

/// Beside the file itself, so that those who come by a link meet the others.
fn place(ledger: &Path, service: ServiceId) -> io::Result<PathBuf> {
    let mut place: OsString = ledger.canonicalize()?.into();
    place.push(format!(".sender-{}", service.0));
    Ok(place.into())
}

fn unlockable(ledger: &Path, error: io::Error) -> LedgerError {
    match error.kind() {
        io::ErrorKind::Unsupported => LedgerError::NoLocks {
            path: ledger.to_owned(),
        },
        _ => LedgerError::unusable(ledger, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::testing::TestLedger;

    #[test]
    fn one_holds_the_lock_of_a_service_until_it_is_dropped() {
        let test = TestLedger::new();
        let path = test.ledger.path();
        let held = SenderLock::try_take(path, test.service).unwrap();
        assert!(held.is_some());
        let holder = SenderLock::holder(path, test.service);
        if cfg!(unix) {
            assert_eq!(holder.unwrap().process, std::process::id());
        }
        assert!(SenderLock::is_held(path, test.service).unwrap());
        assert!(SenderLock::try_take(path, test.service).unwrap().is_none());
        drop(held);
        assert!(!SenderLock::is_held(path, test.service).unwrap());
        SenderLock::take(path, test.service).unwrap();
    }

    #[test]
    fn services_are_sent_to_at_the_same_time() {
        let test = TestLedger::new();
        let path = test.ledger.path();
        let _held = SenderLock::take(path, test.service).unwrap();
        assert!(
            SenderLock::try_take(path, test.another_service())
                .unwrap()
                .is_some()
        );
    }

    #[test]
    fn looking_makes_no_file() {
        let test = TestLedger::new();
        let path = test.ledger.path();
        assert!(!SenderLock::is_held(path, test.service).unwrap());
        assert!(!place(path, test.service).unwrap().exists());
    }

    #[test]
    fn all_locks_are_to_be_had_only_while_nobody_sends() {
        let test = TestLedger::new();
        let other = test.another_service();
        let held = SenderLock::take(test.ledger.path(), other).unwrap();
        let refused = SenderLocks::try_take(&test.ledger).unwrap();
        assert_eq!(refused.err(), Some(other));
        drop(held);
        assert!(SenderLocks::try_take(&test.ledger).unwrap().is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn who_comes_by_a_link_meets_the_others() {
        let test = TestLedger::new();
        let link = test.ledger.path().with_file_name("link");
        std::os::unix::fs::symlink(test.ledger.path(), &link).unwrap();
        let _held = SenderLock::take(&link, test.service).unwrap();
        assert!(SenderLock::is_held(test.ledger.path(), test.service).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn the_lock_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let test = TestLedger::new();
        let _held = SenderLock::take(test.ledger.path(), test.service).unwrap();
        let place = place(test.ledger.path(), test.service).unwrap();
        let mode = place.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
