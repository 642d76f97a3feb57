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
    if let Some(token) = value(LEADLOAD_TOKEN) {
        // What is no text is no token; taken as far as it goes, it is refused as such.
        let token = SecretString::from(token.to_string_lossy().into_owned());
        let said = Said::told_as(TokenSource::Text(token), LEADLOAD_TOKEN);
        let mut options = Options::default();
        options.connection.token_file = Some(said);
        layers.push(Layer::new(Origin::Environment(LEADLOAD_TOKEN), options));
    }
    for declared in Options::declared() {
        let said = declared
            .variable
            .and_then(|name| Some((name, value(name)?)));
        let mut options = Options::default();
        if let (Some((name, text)), Some(field)) = (said, options.field_mut(declared.key)) {
            // Each takes any text; what it means is looked into where it is used.
            let _ = field.say(&[&text]);
            layers.push(Layer::new(Origin::Environment(name), options));
        }
    }
    layers
}

/// Where Windows keeps what holds for all users.
#[cfg(not(unix))]
pub(super) fn program_data() -> Option<PathBuf> {
    env::var_os("PROGRAMDATA").map(PathBuf::from)
}
