//! `leadload config`: set up a profile, or show the settings in use.

mod init;
mod questions;
mod show;

use crate::cli::config::{ConfigArgs, ConfigCommand};
use crate::exit::{ExitCode, Failure};
use crate::settings::Layers;

/// Runs the command.
pub fn run(args: &ConfigArgs, layers: &Layers) -> Result<ExitCode, Failure> {
    match &args.command {
        ConfigCommand::Init(_) => init::run(layers),
        ConfigCommand::Show(_) => show::run(layers),
    }
}
