//! Where a ledger is, and which files belong to it: only this module knows their names.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf, absolute};

use super::ServiceId;
use super::network::network_file_system;
use crate::paths::{folder_of, is_same_place, known_place};

/// What SQLite appends to the name of a database for the files next to it.
const LOG: &str = "-wal";
const OF_SQLITE: [&str; 4] = ["", LOG, "-shm", "-journal"];

/// What we append for the files that are locked while something is being sent.
const LOCK: &str = ".sender-";

/// As many symlinks as a system follows.
const MOST_LINKS: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    file: PathBuf,
    /// Whether this process changes no file there.
    pub(super) is_only_read: bool,
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.display().fmt(f)
    }
}

impl FilePlace {
    pub fn file(path: impl Into<PathBuf>) -> FilePlace {
        FilePlace {
            file: path.into(),
            is_only_read: false,
        }
    }

    pub fn for_reading(self) -> FilePlace {
        FilePlace {
            is_only_read: true,
            ..self
        }
    }

    /// Its path, wherever the program is started.
    pub fn absolute(&self) -> PathBuf {
        absolute(&self.file).unwrap_or_else(|_| self.file.clone())
    }

    /// Whether the ledger's file exists; `true` if the file system cannot tell.
    pub fn exists(&self) -> bool {
        self.file.try_exists().unwrap_or(true)
    }

    /// Whether a path is that of the ledger's file or of one of
    /// the files next to it, even if that does not exist yet.
    pub fn owns(&self, path: &Path) -> bool {
        let is_beside = |ledger: &Path| {
            let (Ok(path), Ok(ledger)) = (known_place(path), known_place(ledger)) else {
                return false;
            };
            let [path, ledger] = [&path, &ledger].map(|path| path.as_os_str().as_encoded_bytes());
            path.strip_prefix(ledger).is_some_and(is_ending)
        };
        is_same_place(&self.file, path) || is_beside(&self.file) || is_beside(&self.real())
    }

    /// The name of the network file system that holds the
    /// ledger; `None` if it is a local one or not known.
    pub fn network_file_system(&self) -> Option<&'static str> {
        network_file_system(&self.file)
    }

    pub(super) fn path(&self) -> &Path {
        &self.file
    }

    /// The file that the path leads to through symlinks, even if it does not exist yet. SQLite names
    /// the files next to it after this one.
    pub(super) fn real(&self) -> PathBuf {
        let mut real = self.file.clone();
        for _ in 0..MOST_LINKS {
            match fs::read_link(&real) {
                Ok(target) => real = folder_of(&real).join(target),
                Err(_) => break,
            }
        }
        real
    }

    /// The ledger's file, its log, the log's index and a journal, whether they exist or not.
    pub(super) fn of_sqlite(&self) -> [PathBuf; 4] {
        let real = self.real();
        OF_SQLITE.map(|ending| beside(&real, ending))
    }

    pub(super) fn log(&self) -> PathBuf {
        beside(&self.real(), LOG)
    }

    /// The name under which the log is kept when another file has taken the ledger's place.
    pub(super) fn log_apart(&self, stamp: &str) -> PathBuf {
        beside(&self.real(), &format!("{LOG}.{stamp}"))
    }

    /// The file that a process locks while it sends to the service. It is next to the ledger's
    /// real file, so that processes that open the ledger by a link use the same lock.
    pub(super) fn lock_file(&self, service: ServiceId) -> PathBuf {
        beside(&self.real(), &format!("{LOCK}{}", service.0))
    }

    /// All such files that there are.
    pub(super) fn lock_files(&self) -> Vec<PathBuf> {
        let begin = beside(&self.real(), LOCK);
        let Ok(entries) = folder_of(&begin).read_dir() else {
            return Vec::new();
        };
        let files = entries.flatten().map(|entry| entry.path());
        let is_lock = |file: &PathBuf| {
            let names = [file, &begin].map(|file| file.file_name().unwrap_or_default());
            let [name, begin] = names.map(|name| name.as_encoded_bytes());
            name.starts_with(begin)
        };
        files.filter(is_lock).collect()
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
