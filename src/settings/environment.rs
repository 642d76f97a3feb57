//! The environment variables that say what options say, read once.

use std::env;
use std::ffi::{OsStr, OsString};
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
    for declared in Options::declared() {
        if let Some(token) = value(LEADLOAD_TOKEN).filter(|_| declared.is_secret) {
            layers.push(token_layer(&token));
        }
        let said = declared
            .variable
            .and_then(|name| Some((name, value(name)?)));
        let mut options = Options::default();
        if let (Some((name, text)), Some(field)) = (said, options.field_mut(declared.key)) {
            // Any text is right here; what it means is checked where it is used.
            let _ = field.say(&[&text]);
            layers.push(Layer::new(Origin::Environment(name), options));
        }
    }
    layers
}

fn token_layer(token: &OsStr) -> Layer {
    // What is not Unicode is no token; its readable part is refused as one.
    let token = SecretString::from(token.to_string_lossy().into_owned());
    let mut options = Options::default();
    let said = Said::told_as(TokenSource::Text(token), LEADLOAD_TOKEN);
    options.connection.token_file = Some(said);
    Layer::new(Origin::Environment(LEADLOAD_TOKEN), options)
}

/// Where Windows keeps what holds for all users.
#[cfg(not(unix))]
pub(super) fn program_data() -> Option<PathBuf> {
    env::var_os("PROGRAMDATA").map(PathBuf::from)
}
