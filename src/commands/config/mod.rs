//! `leadload config`: set up a profile, or show the settings in force.

mod init;
mod questions;
mod show;

use clap::ArgMatches;

use crate::cli::config::{ConfigArgs, ConfigCommand};
use crate::exit::{ExitCode, Failure};
use crate::settings::Environment;

/// Runs the command.
pub fn run(
    args: &ConfigArgs,
    matches: &ArgMatches,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    match &args.command {
        ConfigCommand::Init(args) => init::run(args, environment),
        ConfigCommand::Show(args) => show::run(args, matches, environment),
    }
}
