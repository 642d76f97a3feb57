//! Where a ledger is, and which files belong to it: nothing outside this module names them.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::ServiceId;
use super::network::network_file_system;
use crate::paths::{absolute_place, is_same_place};

/// What SQLite appends to the name of a database for the files beside it.
const LOG: &str = "-wal";
const OF_SQLITE: [&str; 4] = ["", LOG, "-shm", "-journal"];

/// What we append for the files that are locked while something is sent.
const LOCK: &str = ".sender-";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerPlace {
    file: PathBuf,
}

impl fmt::Display for LedgerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.display().fmt(f)
    }
}

impl LedgerPlace {
    pub fn file(path: impl Into<PathBuf>) -> LedgerPlace {
        LedgerPlace { file: path.into() }
    }

    /// Whether there is anything, as far as the file system says.
    pub fn exists(&self) -> bool {
        self.file.try_exists().unwrap_or(true)
    }

    /// Whether a file is the ledger's, or one of those beside it, be it there already or not.
    pub fn owns(&self, path: &Path) -> bool {
        let is_beside = |ledger: &Path| {
            let (Ok(path), Ok(ledger)) = (absolute_place(path), absolute_place(ledger)) else {
                return false;
            };
            let [path, ledger] = [&path, &ledger].map(|path| path.as_os_str().as_encoded_bytes());
            path.strip_prefix(ledger).is_some_and(is_ending)
        };
        let real = self.file.canonicalize();
        is_same_place(&self.file, path)
            || is_beside(&self.file)
            || real.is_ok_and(|real| is_beside(&real))
    }

    /// The name of the network file system that it is on; nothing on a local one, and where that
    /// is not known.
    pub fn network_file_system(&self) -> Option<&'static str> {
        network_file_system(&self.file)
    }

    pub(super) fn path(&self) -> &Path {
        &self.file
    }

    pub(super) fn log(&self) -> PathBuf {
        beside(&self.file, LOG)
    }

    /// The name under which the log is kept from another file that took the ledger's place.
    pub(super) fn log_apart(&self, stamp: &str) -> PathBuf {
        beside(&self.file, &format!("{LOG}.{stamp}"))
    }

    /// The file that is locked by the process that sends to the service. It is beside the file
    /// itself, so that a process that comes by a link meets the others.
    pub(super) fn lock_file(&self, service: ServiceId) -> io::Result<PathBuf> {
        let real = self.file.canonicalize()?;
        Ok(beside(&real, &format!("{LOCK}{}", service.0)))
    }
}

fn is_ending(rest: &[u8]) -> bool {
    OF_SQLITE.iter().any(|ending| rest == ending.as_bytes())
        || rest.starts_with(format!("{LOG}.").as_bytes())
        || rest.starts_with(LOCK.as_bytes())
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
