//! Which ledger is used.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use directories::ProjectDirs;

use crate::ledger::LedgerPlace;
use crate::options::Options;
use crate::text::shown_name;

/// The word for no ledger at all.
const NONE: &str = "none";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerChoice {
    /// None: earlier runs are unknown.
    None,
    At(LedgerPlace),
}

impl LedgerChoice {
    /// The ledger that the options name, or else the user's own; the sandbox has none unless one
    /// is named.
    pub fn new(options: &Options) -> Result<LedgerChoice> {
        let Some(named) = options.ledger.ledger.as_deref() else {
            return match options.connection.sandbox {
                Some(true) => Ok(LedgerChoice::None),
                _ => default_file().map(LedgerChoice::at),
            };
        };
        if named == Path::new(NONE) {
            return Ok(LedgerChoice::None);
        }
        // SQLite does not take these for a file, and a ledger in memory is forgotten.
        let text = named.to_string_lossy().to_lowercase();
        if text.trim().is_empty() || text == ":memory:" || text.starts_with("file:") {
            bail!(
                "the ledger cannot be `{}`, which names no file\n\nhint: name a file with `--ledger` or LEADLOAD_LEDGER, or write `none` for no ledger",
                shown_name(&named.to_string_lossy())
            );
        }
        Ok(LedgerChoice::at(named.clone()))
    }

    fn at(file: PathBuf) -> LedgerChoice {
        LedgerChoice::At(LedgerPlace::file(file))
    }

    pub fn place(&self) -> Option<&LedgerPlace> {
        match self {
            LedgerChoice::None => None,
            LedgerChoice::At(place) => Some(place),
        }
    }
}

/// On Linux in the user's state folder, elsewhere in the folder for local data.
fn default_file() -> Result<PathBuf> {
    let folders = ProjectDirs::from("", "", "leadload").ok_or_else(|| {
        anyhow!("there is no home folder to keep the ledger in\n\nhint: name a file for it with `--ledger` or LEADLOAD_LEDGER")
    })?;
    let folder = folders
        .state_dir()
        .unwrap_or_else(|| folders.data_local_dir());
    Ok(folder.join("ledger.sqlite3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(said: Option<&str>, sandbox: bool) -> Result<LedgerChoice> {
        let mut options = Options::default();
        options.ledger.ledger = said.map(|said| said.parse().unwrap());
        options.connection.sandbox = sandbox.then_some(true);
        LedgerChoice::new(&options)
    }

    fn file(path: &str) -> LedgerChoice {
        LedgerChoice::at(path.into())
    }

    #[test]
    fn none_is_no_file_of_that_name() {
        assert_eq!(choice(Some("none"), false).unwrap(), LedgerChoice::None);
        assert_eq!(choice(Some("./none"), false).unwrap(), file("./none"));
    }

    #[test]
    fn a_trial_has_a_ledger_only_where_one_is_named() {
        assert_eq!(choice(None, true).unwrap(), LedgerChoice::None);
        assert_eq!(choice(Some("a"), true).unwrap(), file("a"));
    }

    #[test]
    fn what_names_no_file_is_refused() {
        for said in [
            ":memory:",
            "file::memory:?cache=shared",
            "file:ledger.sqlite3",
            "",
            " ",
        ] {
            let error = choice(Some(said), false).unwrap_err().to_string();
            let wrong = format!("the ledger cannot be `{said}`, which names no file");
            assert!(error.starts_with(&wrong), "{error}");
        }
        let path = "./:memory:";
        assert_eq!(choice(Some(path), false).unwrap(), file(path));
    }

    #[test]
    fn a_file_of_the_users_own_is_taken_where_nothing_is_said() {
        let path = default_file().unwrap();
        assert_eq!(choice(None, false).unwrap(), LedgerChoice::at(path.clone()));
        assert!(path.is_absolute());
        assert_eq!(path.file_name(), Some("ledger.sqlite3".as_ref()));
    }
}
