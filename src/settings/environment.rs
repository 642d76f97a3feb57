//! The environment variables that say what options say, read once.

use std::env;
use std::ffi::{OsStr, OsString};
#[cfg(not(unix))]
use std::path::PathBuf;

use secrecy::SecretString;

use super::{Layer, Origin};
use crate::options::{Group, Options, Said, TokenSource};

/// The token itself: no option has it, and no flag.
const LEADLOAD_TOKEN: &str = "LEADLOAD_TOKEN";

/// What they say, a layer for each; an empty variable counts as none.
pub fn environment() -> Vec<Layer> {
    from(env::var_os)
}

/// The same of variables that are looked up by `value`.
pub(super) fn from(value: impl Fn(&'static str) -> Option<OsString>) -> Vec<Layer> {
    let value = |name| value(name).filter(|value| !value.is_empty());
    let mut layers: Vec<Layer> = value(LEADLOAD_TOKEN)
        .map(|token| token_layer(&token))
        .into_iter()
        .collect();
    for declared in Options::declared() {
        let Some((name, value)) = declared
            .variable
            .and_then(|name| Some((name, value(name)?)))
        else {
            continue;
        };
        let mut options = Options::default();
        options.each_mut(&mut |other, field| {
            if other.key == declared.key {
                field.read_variable(&value);
            }
        });
        layers.push(Layer {
            origin: Origin::Environment(name),
            options,
        });
    }
    layers
}

fn token_layer(token: &OsStr) -> Layer {
    // What is no text is no token; taken as far as it goes, it is refused as such.
    let token = SecretString::from(token.to_string_lossy().into_owned());
    let mut options = Options::default();
    let said = Said::told_as(TokenSource::Text(token), LEADLOAD_TOKEN);
    options.connection.token_file = Some(said);
    Layer {
        origin: Origin::Environment(LEADLOAD_TOKEN),
        options,
    }
}

/// Where Windows keeps what holds for all users.
#[cfg(not(unix))]
pub(super) fn program_data() -> Option<PathBuf> {
    env::var_os("PROGRAMDATA").map(PathBuf::from)
}
