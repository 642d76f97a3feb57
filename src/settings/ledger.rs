//! Which ledger is used.

use std::path::{Path, PathBuf};

use super::environment::password_file;
use super::state::state_folder;
use crate::ledger::{LedgerPlace, ServerPlace};
use crate::message::{Message, Text};
use crate::options::Options;
use crate::text::shown_name;

const NAME_A_FILE: &str =
    "name a file with `--ledger` or LEADLOAD_LEDGER, or write `none` for no ledger";

const NAME_EITHER: &str =
    "name a file, or write an address like `postgresql://user@host:5432/database`";

/// The ledger that the options name, or else the user's own; the sandbox has none unless one
/// is named. Without one, earlier runs are unknown.
pub fn ledger_place(options: &Options) -> Result<Option<LedgerPlace>, Message> {
    let file = match (options.ledger.ledger.as_deref(), options.connection.sandbox) {
        (Some(named), _) if named == Path::new("none") => return Ok(None),
        (Some(named), _) => named.clone(),
        (None, Some(true)) => return Ok(None),
        (None, _) => default_file()?,
    };
    place_of(&file, options).map(Some)
}

/// The ledger that a text names: a file, or an address with the password from elsewhere.
pub fn place_of(file: &Path, options: &Options) -> Result<LedgerPlace, Message> {
    let text = file.to_string_lossy();
    if ServerPlace::is_meant(&text) {
        let of_address = options.ledger.ledger_password.as_ref();
        let of_address = of_address.filter(|given| given.text() == file.as_os_str());
        let password = of_address.or(options.ledger.database_password.as_ref());
        let password = password.map(|given| (**given).clone());
        let mut server = ServerPlace::parse(&text, password)?;
        server.find_password(password_file);
        return Ok(LedgerPlace::Server(Box::new(server)));
    }
    let text = text.to_lowercase();
    if text.contains("://") || is_mistyped_address(&text) {
        // Not quoted: there may be a password in it.
        let what = "the ledger is neither a file nor an address that begins with `postgresql://`";
        return Err(Message::new(
            Text::terminal(what),
            Text::terminal(NAME_EITHER),
        ));
    }
    // To SQLite these are not files, and a ledger in memory would be lost.
    if text.trim().is_empty() || text == ":memory:" || text.starts_with("file:") {
        let shown = shown_name(&file.to_string_lossy());
        let what = format!("the ledger cannot be `{shown}`, which names no file");
        return Err(Message::new(
            Text::terminal(what),
            Text::terminal(NAME_A_FILE),
        ));
    }
    Ok(LedgerPlace::file(file))
}

/// Whether a text is a mistyped address and not a file: it begins like an address, has a
/// password in it, or is in the form of other programs.
fn is_mistyped_address(text: &str) -> bool {
    let after_scheme = text.trim_start().strip_prefix("postgres");
    let after_scheme = after_scheme.map(|rest| rest.strip_prefix("ql").unwrap_or(rest));
    let begins_like_one =
        after_scheme.is_some_and(|rest| rest.starts_with(':') || rest.starts_with("//"));
    let has_password = text.split(['/', '\\']).any(|part| {
        part.rsplit_once('@')
            .is_some_and(|(before, _)| before.contains(':'))
    });
    let is_of_libpq = ["dbname=", "password="]
        .iter()
        .any(|name| text.contains(name));
    begins_like_one || has_password || is_of_libpq
}

fn default_file() -> Result<PathBuf, Message> {
    let folder = state_folder().ok_or_else(|| {
        terminal_message!(
            "there is no home folder to keep the ledger in",
            "name a file for it with `--ledger` or LEADLOAD_LEDGER"
        )
    })?;
    Ok(folder.join("ledger.sqlite3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(said: Option<&str>, sandbox: bool) -> Result<Option<LedgerPlace>, Message> {
        let mut options = Options::default();
        options.ledger.ledger = said.map(|said| said.parse().unwrap());
        options.connection.sandbox = sandbox.then_some(true);
        ledger_place(&options)
    }

    fn file(path: &str) -> Option<LedgerPlace> {
        Some(LedgerPlace::file(path))
    }

    #[test]
    fn none_is_no_file_of_that_name() {
        assert_eq!(choice(Some("none"), false).unwrap(), None);
        assert_eq!(choice(Some("./none"), false).unwrap(), file("./none"));
    }

    #[test]
    fn a_refused_address_is_shown_without_its_password() {
        for (url, said) in [
            ("postgresql://me:secret@host/db", "password"),
            ("mysql://me:secret@host/db", "neither"),
            ("postgresql//me:secret@host/db", "neither"),
            ("Postgres:me-secret/db", "neither"),
            ("me:secret@host:5432/db", "neither"),
            ("//me:secret@host/db", "neither"),
            ("me@org:secret@host/db", "neither"),
            ("host=db password=secret", "neither"),
        ] {
            let error = choice(Some(url), false).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn what_only_looks_a_little_like_an_address_is_a_file() {
        for path in [
            "postgres/ledger",
            "postgresql.sqlite3",
            "me@home/ledger",
            r"C:\me@home\ledger",
        ] {
            assert_eq!(choice(Some(path), false).unwrap(), file(path));
        }
    }

    #[test]
    fn a_trial_has_a_ledger_only_where_one_is_named() {
        assert_eq!(choice(None, true).unwrap(), None);
        assert_eq!(choice(Some("a"), true).unwrap(), file("a"));
    }

    #[test]
    fn a_ledger_that_is_not_a_file_name_is_refused() {
        for said in [
            ":memory:",
            "file::memory:?cache=shared",
            "file:ledger.sqlite3",
            "",
            " ",
        ] {
            let error = choice(Some(said), false).unwrap_err().to_string();
            assert!(error.contains(&format!("`{said}`")), "{error}");
        }
        let path = "./:memory:";
        assert_eq!(choice(Some(path), false).unwrap(), file(path));
    }

    #[test]
    fn a_file_of_the_users_own_is_taken_where_nothing_is_said() {
        let path = default_file().unwrap();
        assert_eq!(
            choice(None, false).unwrap(),
            Some(LedgerPlace::file(path.clone()))
        );
        assert!(path.is_absolute());
        assert_eq!(path.file_name(), Some("ledger.sqlite3".as_ref()));
    }
}
