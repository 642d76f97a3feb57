//! The environment variables that matter, read once.

use std::env;
use std::path::PathBuf;

/// Their values; an empty variable counts as none.
#[derive(Default)]
pub struct Environment {
    /// `LEADLOAD_BASE_URL`.
    pub base_url: Option<String>,
    /// `LEADLOAD_TOKEN`: the token itself.
    pub(super) token: Option<String>,
    /// `LEADLOAD_TOKEN_FILE`.
    pub token_file: Option<PathBuf>,
    /// `LEADLOAD_LEDGER`.
    pub ledger: Option<PathBuf>,
}

impl Environment {
    /// Reads them.
    pub fn read() -> Environment {
        // A value that is no text cannot be a URL or a token; taken as far as it
        // goes, it is refused as such.
        let text = |name| {
            env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(|value| value.to_string_lossy().into_owned())
        };
        let path = |name| {
            env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        Environment {
            base_url: text("LEADLOAD_BASE_URL"),
            token: text("LEADLOAD_TOKEN"),
            token_file: path("LEADLOAD_TOKEN_FILE"),
            ledger: path("LEADLOAD_LEDGER"),
        }
    }
}
