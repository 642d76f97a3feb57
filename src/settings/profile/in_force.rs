//! Which settings of a profile take effect beside a command line.
//!
//! A setting stands in for its flag, unless the flag was typed, or another that cannot
//! stand beside it, or the environment says the same. It takes effect by being put into
//! the command line, which is then read again: whatever a flag means, and whatever is wrong
//! with it, is the same wherever it was said.
//!
//! What a profile switches on (`assume_plus = true`) no flag switches off: for that there
//! are profiles without it.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use super::setting::Setting;
use super::{Profile, flags};
use crate::api::BaseUrl;
use crate::cli::ImportArgs;
use crate::settings::Environment;

/// What the sandbox takes the place of.
const OF_A_SERVICE: [&str; 3] = ["base_url", "token_file", "ledger"];

/// A profile, as far as it stands behind a command line.
#[derive(Debug, Clone)]
pub struct ProfileInForce {
    /// The profile.
    pub profile: Profile,
    /// The flags that it stands in for.
    pub(in crate::settings) stands_in_for: Vec<String>,
    /// Why its token is not used although no other is given.
    pub(in crate::settings) no_token: Option<String>,
    /// The flags of an import as they were typed, without the profile.
    pub typed: Option<Box<ImportArgs>>,
}

impl ProfileInForce {
    /// Whether the value of this flag comes from the profile.
    pub fn gives(&self, flag: &str) -> bool {
        self.stands_in_for.iter().any(|key| key == flag)
    }
}

/// A command line as it was typed, and what stands behind it.
pub(in crate::settings) struct Typed<'a> {
    /// The command, with its flags.
    pub(in crate::settings) command: &'a Command,
    pub(in crate::settings) matches: &'a ArgMatches,
    pub(in crate::settings) environment: &'a Environment,
}

impl Typed<'_> {
    /// The words that say what the profile does, and the flags that they are for.
    pub(in crate::settings) fn completed_by(
        &self,
        profile: &Profile,
    ) -> (Vec<OsString>, Vec<String>) {
        let settings = profile.settings.iter();
        let taken = settings.filter(|setting| self.takes(profile, setting));
        let (words, keys): (Vec<_>, Vec<_>) = taken
            .map(|setting| (setting.words(), setting.key.clone()))
            .unzip();
        (words.concat(), keys)
    }

    fn takes(&self, profile: &Profile, setting: &Setting) -> bool {
        let key = setting.key.as_str();
        let mut flags = self.command.get_arguments();
        let Some(flag) = flags.find(|flag| flags::key_of(flag) == key) else {
            return false;
        };
        let is_trial = OF_A_SERVICE.contains(&key) && self.is_typed("sandbox");
        // What an import has written is not replaced by what a check or a trial would have.
        let is_no_import = self.command.get_name() == "check"
            || self.is_typed("dry_run")
            || self.is_typed("sandbox");
        let is_of_import = flags::OUTPUTS.contains(&key) && is_no_import;
        // A column of the profile could otherwise be named by both.
        let is_narrowed = key == "skip_column" && self.is_typed("var");
        // An empty list of columns to send is a choice.
        (setting.is_said() || key == "var")
            && !self.is_typed(key)
            && !self.is_typed_against(flag)
            && !self.is_in_environment(key)
            && !is_trial
            && !is_of_import
            && !is_narrowed
            && (key != "token_file" || self.is_at_home(profile))
    }

    fn is_typed(&self, key: &str) -> bool {
        let mut flags = self.command.get_arguments();
        flags.any(|flag| flags::key_of(flag) == key)
            && self.matches.value_source(key) == Some(ValueSource::CommandLine)
    }

    fn is_typed_against(&self, flag: &Arg) -> bool {
        let others = self.command.get_arguments();
        let mut typed = others.filter(|other| self.is_typed(flags::key_of(other)));
        typed.any(|other| flags::conflict(self.command, flag, other))
    }

    fn is_in_environment(&self, key: &str) -> bool {
        match key {
            "base_url" => self.environment.base_url.is_some(),
            "token_file" => self.environment.has_token(),
            "ledger" => self.environment.ledger.is_some(),
            _ => false,
        }
    }

    /// A profile's token goes only to that profile's service.
    fn is_at_home(&self, profile: &Profile) -> bool {
        let home = profile.home_of_token();
        let elsewhere = match self.is_typed("base_url") {
            true => self.matches.get_one::<String>("base_url"),
            false => self.environment.base_url.as_ref(),
        };
        match elsewhere {
            None => home.is_some(),
            Some(url) => home.is_some() && BaseUrl::parse(url, true).ok() == home,
        }
    }

    /// Why the profile's token is not used, where that has to do with the service.
    pub(in crate::settings) fn no_token(&self, profile: &Profile) -> Option<String> {
        profile.setting("token_file")?;
        let place = profile.place();
        match profile.home_of_token() {
            _ if self.is_at_home(profile) => None,
            Some(home) => Some(format!("the token of {place} is for `{home}` alone")),
            None => Some(format!(
                "the token of {place} is sent nowhere, since no `base_url` beside it says whom it is for"
            )),
        }
    }
}
