//! Where a ledger is.

use std::fmt;
use std::path::{Path, PathBuf};

use super::postgres::ServerPlace;
use super::sqlite::FilePlace;
use crate::message::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerPlace {
    /// A file on this computer.
    File(FilePlace),
    /// A schema on a PostgreSQL server.
    Server(Box<ServerPlace>),
}

/// What a command does with a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Anything,
    Reading,
    Checking,
}

impl fmt::Display for LedgerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LedgerPlace::File(file) => file.fmt(f),
            LedgerPlace::Server(server) => server.fmt(f),
        }
    }
}

/// The ledger there, as a text calls it: only the terminal names the place.
macro_rules! named_in_texts {
    ($($place:ty),*) => {$(
        impl From<&$place> for Value {
            fn from(place: &$place) -> Value {
                let place = place.to_string();
                text!("{the ledger `{place}`|{ledger}}", place).into()
            }
        }
    )*};
}

named_in_texts!(FilePlace, ServerPlace);

impl LedgerPlace {
    pub fn file(path: impl Into<PathBuf>) -> LedgerPlace {
        LedgerPlace::File(FilePlace::file(path))
    }

    /// For a command that only reads: nothing is changed there, not even the format of tables.
    pub fn for_reading(self) -> LedgerPlace {
        self.used_for(Use::Reading)
    }

    /// For a check, which changes nothing and goes on where earlier runs cannot be read.
    pub fn for_checking(self) -> LedgerPlace {
        self.used_for(Use::Checking)
    }

    fn used_for(self, usage: Use) -> LedgerPlace {
        match self {
            LedgerPlace::File(file) => LedgerPlace::File(file.for_reading()),
            LedgerPlace::Server(mut server) => {
                server.usage = usage;
                LedgerPlace::Server(server)
            }
        }
    }

    /// Its name, the same wherever the program is started.
    pub fn absolute(&self) -> PathBuf {
        match self {
            LedgerPlace::File(file) => file.absolute(),
            LedgerPlace::Server(server) => server.to_string().into(),
        }
    }

    /// Where it is and how it is reached; never a password.
    pub fn address(&self) -> String {
        match self {
            LedgerPlace::File(file) => file.to_string(),
            LedgerPlace::Server(server) => server.address(),
        }
    }

    /// Whether there may be a ledger.
    pub fn exists(&self) -> bool {
        match self {
            LedgerPlace::File(file) => file.exists(),
            LedgerPlace::Server(_) => true,
        }
    }

    /// Whether a path is that of the ledger's file or of one of the files next to it, even if that
    /// does not exist yet; or that of the certificates that its server is known by.
    pub fn owns(&self, path: &Path) -> bool {
        match self {
            LedgerPlace::File(file) => file.owns(path),
            LedgerPlace::Server(server) => server.owns(path),
        }
    }

    /// The name of the network file system that holds the
    /// ledger; `None` if it is a local one or not known.
    pub fn network_file_system(&self) -> Option<&'static str> {
        match self {
            LedgerPlace::File(file) => file.network_file_system(),
            LedgerPlace::Server(_) => None,
        }
    }
}
