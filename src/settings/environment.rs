//! The environment variables that say what options say, read once.

use std::env;
use std::ffi::OsString;
#[cfg(not(unix))]
use std::path::PathBuf;

use secrecy::SecretString;

use super::{Layer, Origin};
use crate::options::{Options, Said, TokenSource};

/// The token itself: no option has it, and no flag.
const LEADLOAD_TOKEN: &str = "LEADLOAD_TOKEN";

/// What they say, a layer for each; an empty variable counts as none.
pub fn environment() -> Vec<Layer> {
    from(env::var_os)
}

/// The same of variables that are looked up by `value`.
pub(super) fn from(value: impl Fn(&'static str) -> Option<OsString>) -> Vec<Layer> {
    let value = |name| value(name).filter(|value| !value.is_empty());
    let mut layers: Vec<Layer> = Vec::new();
    let mut add = |name, said: &dyn Fn(&mut Options)| {
        let mut options = Options::default();
        said(&mut options);
        layers.push(Layer::new(Origin::Environment(name), options));
    };
    for declared in Options::declared() {
        if let Some(token) = value(LEADLOAD_TOKEN).filter(|_| declared.is_secret) {
            // What is no text is no token; taken as far as it goes, it is refused as such.
            let token = SecretString::from(token.to_string_lossy().into_owned());
            let token = Said::told_as(TokenSource::Text(token), LEADLOAD_TOKEN);
            add(LEADLOAD_TOKEN, &|said| {
                said.connection.token_file = Some(token.clone())
            });
        }
        if let Some((name, text)) = declared
            .variable
            .and_then(|name| Some((name, value(name)?)))
        {
            // Each takes any text; what it means is looked into where it is used.
            add(name, &|said| {
                let _ = said
                    .field_mut(declared.key)
                    .map(|field| field.say(&[&text]));
            });
        }
    }
    layers
}

/// Where Windows keeps what holds for all users.
#[cfg(not(unix))]
pub(super) fn program_data() -> Option<PathBuf> {
    env::var_os("PROGRAMDATA").map(PathBuf::from)
}
