//! The flags of `leadload sandbox`, which are those of [`SandboxConfig`].

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use crate::sandbox::SandboxConfig;

/// The flags as they were typed. They are kept until
/// the scenario has been read, which they override.
#[derive(Clone, Debug)]
pub struct SandboxArgs(ArgMatches);

impl SandboxArgs {
    pub fn override_in(&self, config: &mut SandboxConfig) -> Result<(), Error> {
        config.update_from_arg_matches(&self.0)
    }
}

impl FromArgMatches for SandboxArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0 = matches.clone();
        Ok(())
    }
}

impl Args for SandboxArgs {
    fn augment_args(command: Command) -> Command {
        Self::augment_args_for_update(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        SandboxConfig::augment_args_for_update(command)
    }
}
