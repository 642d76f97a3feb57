//! The options that environment variables give, read once.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::Once;

use directories::BaseDirs;
use secrecy::SecretString;
use tracing::warn;

use super::{Layer, Origin};
use crate::api::{BaseUrl, Proxy};
use crate::ledger::ServerPlace;
use crate::message::Message;
use crate::options::{Form, Given, Options, TokenSource, in_home};
use crate::private_file::others_can;
use crate::text::nearest;

/// What the names of all variables begin with that only this program has.
const PREFIX: &str = "LEADLOAD_";

/// What the names of PostgreSQL's variables begin with.
const POSTGRES: &str = "PG";

/// The variable with the token itself; no flag and no settings file can give that.
const LEADLOAD_TOKEN: &str = "LEADLOAD_TOKEN";

const LEADLOAD_LEDGER: &str = "LEADLOAD_LEDGER";

/// The password of the ledger's database, as PostgreSQL's own programs take it.
const PGPASSWORD: &str = "PGPASSWORD";

/// The file with the passwords of databases, as PostgreSQL's own programs take it.
const PGPASSFILE: &str = "PGPASSFILE";

/// One layer for each variable. An empty variable counts as not set.
pub fn environment() -> Vec<Layer> {
    from(env::var_os)
}

/// One layer for each variable that `value` finds.
pub(super) fn from(value: impl Fn(&'static str) -> Option<OsString>) -> Vec<Layer> {
    let value = |name| value(name).filter(|value| !value.is_empty());
    let mut layers: Vec<Layer> = Vec::new();
    for declared in Options::declared() {
        if let Some(token) = value(LEADLOAD_TOKEN).filter(|_| declared.is_secret) {
            // Text that is not Unicode is not a token: what
            // is left after conversion is refused as one.
            let token = SecretString::from(token.to_string_lossy().into_owned());
            let token = Given::new(TokenSource::Text(token), LEADLOAD_TOKEN);
            let mut options = Options::default();
            options.connection.token_file = Some(token);
            layers.push(Layer::new(Origin::Environment(LEADLOAD_TOKEN), options));
        }
        let mut found = declared
            .variable
            .and_then(|name| Some((name, value(name)?)));
        if declared.variable == Some(LEADLOAD_LEDGER)
            && let Some((_, address)) = &mut found
        {
            // Only here an address may have a password in it, which is kept where nothing shows it.
            let (without, password) = ServerPlace::split_password(&address.to_string_lossy());
            if let Some(password) = password.filter(|_| ServerPlace::is_meant(&without)) {
                let mut options = Options::default();
                options.ledger.ledger_password = Some(Given::new(password, &without));
                layers.push(Layer::new(Origin::Environment(LEADLOAD_LEDGER), options));
                *address = without.into();
            }
        }
        let mut options = Options::default();
        if let (Some((name, text)), Some(field)) = (found, options.field_mut(declared.key)) {
            let path = text.to_str().filter(|_| field.form() == Form::File);
            let path = path.and_then(in_home).map(PathBuf::into_os_string);
            let text = path.unwrap_or(text);
            // These options accept any text and check it where it is used.
            let _ = field.set_texts(&[&text]);
            layers.push(Layer::new(Origin::Environment(name), options));
        }
    }
    if let Some(password) = value(PGPASSWORD) {
        let password = SecretString::from(password.to_string_lossy().into_owned());
        let mut options = Options::default();
        options.ledger.database_password = Some(Given::new(password, PGPASSWORD));
        layers.push(Layer::new(Origin::Environment(PGPASSWORD), options));
    }
    layers
}

/// What is in the password file. One that others can read is not used, as by PostgreSQL's own
/// programs, and warned of.
pub(super) fn password_file() -> Option<String> {
    // The page looks for the ledger with each request.
    static WARNED: Once = Once::new();
    let path = password_file_place()?;
    let content = fs::read(&path).ok()?;
    if let Some(what) = others_can(&path) {
        WARNED.call_once(|| {
            warn!(
                event = "warning",
                "others can {what} the password file {}, so it is not used; protect it with `chmod 600`",
                path.display()
            );
        });
        return None;
    }
    Some(String::from_utf8_lossy(&content).into_owned())
}

/// Where the password file is, if there is one.
pub(super) fn password_file_place() -> Option<PathBuf> {
    let named = env::var_os(PGPASSFILE).filter(|name| !name.is_empty());
    named.map(PathBuf::from).or_else(usual_password_file)
}

fn usual_password_file() -> Option<PathBuf> {
    let folders = BaseDirs::new()?;
    Some(if cfg!(windows) {
        folders.config_dir().join(r"postgresql\pgpass.conf")
    } else {
        folders.home_dir().join(".pgpass")
    })
}

/// Warns of variables that have almost the name of one that is read.
pub fn warn_of_misspelled() {
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if let Some(meant) = meant_by(&name) {
            warn!(
                event = "warning",
                "leadload does not read the variable {name}; did you mean {meant}?"
            );
        }
    }
}

/// The variable that is meant by this one, which is not read.
fn meant_by(name: &str) -> Option<String> {
    let rest = name.strip_prefix(PREFIX)?;
    let declared = Options::declared().into_iter();
    let read = declared.filter_map(|declared| declared.variable);
    let read = read.chain([LEADLOAD_TOKEN]);
    let read: Vec<&str> = read.filter_map(|name| name.strip_prefix(PREFIX)).collect();
    let meant = nearest(rest, &read).filter(|_| !read.contains(&rest))?;
    Some(format!("{PREFIX}{meant}"))
}

/// The variables that are set and meant for this program alone, with PostgreSQL's own: they may have
/// the token or a password in them, which no other program gets. Windows takes names in any case.
pub fn own_variables() -> impl Iterator<Item = OsString> {
    let is_own = |name: &OsString| {
        let name = name.to_string_lossy().to_uppercase();
        [PREFIX, POSTGRES].iter().any(|own| name.starts_with(own))
    };
    env::vars_os().map(|(name, _)| name).filter(is_own)
}

/// The proxy for this address, if variables name one.
pub fn proxy_to(url: &BaseUrl) -> Result<Option<Proxy>, Message> {
    Proxy::of_variables(url, env::var_os)
}

/// Whether a browser has a screen to open on. Only on Unix a variable says so.
pub fn has_display() -> bool {
    let says_so = cfg!(unix) && !cfg!(target_os = "macos");
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    !says_so || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_with_almost_the_name_of_another_is_meant_to_be_that_one() {
        for (name, meant) in [
            ("LEADLOAD_LEDGR", Some("LEADLOAD_LEDGER")),
            ("LEADLOAD_TOKENFILE", Some("LEADLOAD_TOKEN_FILE")),
            ("LEADLOAD_TOKENS", Some("LEADLOAD_TOKEN")),
            ("LEADLOAD_BASE_URI", Some("LEADLOAD_BASE_URL")),
            ("LEADLOAD_PROFIL", Some("LEADLOAD_PROFILE")),
            ("LEADLOAD_LEDGER", None),
            ("LEADLOAD_TOKEN", None),
            ("LEADLOAD_TOKEN_FILE", None),
            // Those of the tests and of the build.
            ("LEADLOAD_CRASH_ROUNDS", None),
            ("LEADLOAD_MODEL_ALL", None),
            ("LEADLOAD_SCREENSHOTS", None),
            ("LEADLOAD_COMMIT", None),
            ("LEADLOAD_TARGET", None),
            ("LEDGR", None),
        ] {
            assert_eq!(meant_by(name).as_deref(), meant, "{name}");
        }
    }
}
