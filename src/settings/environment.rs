//! What stands behind a command line: the environment variables that matter, read once,
//! and the profile.

use std::env;
use std::path::PathBuf;

use super::ProfileInForce;
use crate::cli::ImportArgs;

pub(super) const LEADLOAD_BASE_URL: &str = "LEADLOAD_BASE_URL";
const LEADLOAD_TOKEN: &str = "LEADLOAD_TOKEN";
const LEADLOAD_TOKEN_FILE: &str = "LEADLOAD_TOKEN_FILE";

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
    /// `LEADLOAD_CONFIG`.
    pub(super) config: Option<PathBuf>,
    /// `LEADLOAD_PROFILE`.
    pub(super) profile_name: Option<String>,
    /// The profile that stands behind the command line, where one does.
    pub profile: Option<ProfileInForce>,
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
            base_url: text(LEADLOAD_BASE_URL),
            token: text(LEADLOAD_TOKEN),
            token_file: path(LEADLOAD_TOKEN_FILE),
            ledger: path("LEADLOAD_LEDGER"),
            config: path("LEADLOAD_CONFIG"),
            profile_name: text("LEADLOAD_PROFILE"),
            profile: None,
        }
    }

    /// The profile that gives this flag, in words, where one does.
    pub fn profile_giving(&self, flag: &str) -> Option<String> {
        let profile = self.profile.as_ref().filter(|profile| profile.gives(flag));
        profile.map(|in_force| in_force.profile.place())
    }

    /// The flags of an import as they were typed, without the profile's.
    pub(super) fn typed<'a>(&'a self, args: &'a ImportArgs) -> &'a ImportArgs {
        let profile = self.profile.as_ref();
        let typed = profile.and_then(|profile| profile.typed.as_deref());
        typed.unwrap_or(args)
    }

    /// The variables that come before what a profile says of the service.
    pub fn before_a_profile(&self) -> Vec<&'static str> {
        let base_url = self.base_url.as_ref().map(|_| LEADLOAD_BASE_URL);
        base_url.into_iter().chain(self.token_variable()).collect()
    }

    /// Whether it says who asks.
    pub(super) fn has_token(&self) -> bool {
        self.token_variable().is_some()
    }

    /// The variable that says who asks.
    pub(super) fn token_variable(&self) -> Option<&'static str> {
        match (&self.token, &self.token_file) {
            (Some(_), _) => Some(LEADLOAD_TOKEN),
            (None, Some(_)) => Some(LEADLOAD_TOKEN_FILE),
            (None, None) => None,
        }
    }
}

/// Where Windows keeps what holds for all users.
#[cfg(not(unix))]
pub(super) fn program_data() -> Option<PathBuf> {
    env::var_os("PROGRAMDATA").map(PathBuf::from)
}
