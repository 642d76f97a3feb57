//! Where the ledger is.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use directories::ProjectDirs;

use super::Environment;
use crate::cli::ImportArgs;
use crate::text::shown_name;

/// The word for no ledger at all.
const NONE: &str = "none";

/// Which ledger is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerChoice {
    /// None: nothing is known of earlier runs.
    None,
    /// This file.
    File(PathBuf),
}

impl LedgerChoice {
    /// `--ledger` over `LEADLOAD_LEDGER` over a file of the user's own.
    ///
    /// # Errors
    ///
    /// Where nothing is said and the user has no home folder, and where what is said names
    /// no file that would still be there for the next run.
    pub fn from_cli(flag: Option<&PathBuf>, environment: &Environment) -> Result<LedgerChoice> {
        let Some(said) = flag.or(environment.ledger.as_ref()) else {
            return default_file().map(LedgerChoice::File);
        };
        if said == Path::new(NONE) {
            return Ok(LedgerChoice::None);
        }
        refuse_no_file(said)?;
        Ok(LedgerChoice::File(said.clone()))
    }

    /// The same for a command that reads contacts: what is tried out on the sandbox is
    /// forgotten, unless a ledger is named for it.
    ///
    /// # Errors
    ///
    /// As [`LedgerChoice::from_cli`].
    pub fn for_rows(args: &ImportArgs, environment: &Environment) -> Result<LedgerChoice> {
        match &args.ledger {
            None if args.connection.sandbox => Ok(LedgerChoice::None),
            flag => LedgerChoice::from_cli(flag.as_ref(), environment),
        }
    }

    /// The file, where there is to be one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            LedgerChoice::None => None,
            LedgerChoice::File(path) => Some(path),
        }
    }
}

/// Whether it is something else than a file to SQLite, and perhaps to who wrote it.
pub(super) fn names_no_file(said: &str) -> bool {
    let said = said.to_lowercase();
    said == ":memory:" || said.starts_with("file:")
}

/// What names no file to SQLite is not made one: whoever writes `:memory:` expects either
/// nothing to be kept, or something to be remembered, and a file of that name in the
/// current folder is neither.
fn refuse_no_file(said: &Path) -> Result<()> {
    const HINT: &str =
        "name a file with `--ledger` or LEADLOAD_LEDGER, or say `none` to keep no ledger at all";
    let text = said.to_string_lossy().to_lowercase();
    if text.trim().is_empty() {
        bail!("the name of the ledger is empty\n\nhint: {HINT}");
    }
    if !names_no_file(&text) {
        return Ok(());
    }
    if text.contains(":memory:") || text.contains("mode=memory") {
        bail!(
            "the ledger cannot be `{}`: one in memory is forgotten when the command ends\n\nhint: {HINT}",
            shown_name(&said.to_string_lossy())
        );
    }
    bail!("the ledger cannot be an address that begins with `file:`\n\nhint: name the file itself")
}

/// Where programs keep what they remember: on Linux the state folder, elsewhere the
/// folder for data that stays on this computer.
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

    fn choice(flag: Option<&str>, variable: Option<&str>) -> LedgerChoice {
        let environment = Environment {
            ledger: variable.map(PathBuf::from),
            ..Environment::default()
        };
        LedgerChoice::from_cli(flag.map(PathBuf::from).as_ref(), &environment).unwrap()
    }

    fn file(path: &str) -> LedgerChoice {
        LedgerChoice::File(path.into())
    }

    #[test]
    fn the_flag_comes_before_the_environment() {
        assert_eq!(choice(Some("a"), Some("b")), file("a"));
        assert_eq!(choice(None, Some("b")), file("b"));
        assert_eq!(choice(Some("a"), Some("none")), file("a"));
    }

    #[test]
    fn none_is_no_file_of_that_name() {
        assert_eq!(choice(Some("none"), Some("b")), LedgerChoice::None);
        assert_eq!(choice(None, Some("none")), LedgerChoice::None);
        assert_eq!(choice(Some("./none"), None), file("./none"));
    }

    #[test]
    fn what_names_no_file_is_refused() {
        for (said, wrong) in [
            (":memory:", "cannot be `:memory:`"),
            ("file::memory:?cache=shared", "one in memory is forgotten"),
            ("file:a?mode=memory", "one in memory is forgotten"),
            ("file:ledger.sqlite3", "begins with `file:`"),
            ("", "is empty"),
            (" ", "is empty"),
        ] {
            let flag = PathBuf::from(said);
            let refused = LedgerChoice::from_cli(Some(&flag), &Environment::default());
            let error = refused.unwrap_err().to_string();
            assert!(error.contains(wrong), "{said}: {error}");
            let is_address = said == "file:ledger.sqlite3";
            assert_eq!(error.contains("or say `none`"), !is_address, "{error}");
        }
        assert_eq!(choice(Some("./:memory:"), None), file("./:memory:"));
    }

    #[test]
    fn a_file_of_the_users_own_is_taken_where_nothing_is_said() {
        let LedgerChoice::File(path) = choice(None, None) else {
            panic!("a file");
        };
        assert!(path.is_absolute());
        assert_eq!(path.file_name(), Some("ledger.sqlite3".as_ref()));
    }
}
