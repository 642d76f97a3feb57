//! `leadload config show`: every setting in force, and where it comes from.

use clap::ArgMatches;

use crate::cli::Format;
use crate::cli::config::ConfigShowArgs;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::report::{console, settings_json, settings_text};
use crate::settings::{Environment, settings_in_force};

/// Runs the command, which clap has read as `matches`.
pub(super) fn run(
    args: &ConfigShowArgs,
    matches: &ArgMatches,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let mut own = matches;
    while let Some((_, matches)) = own.subcommand() {
        own = matches;
    }
    let settings =
        settings_in_force(&args.import, own, environment).or_stopped(StoppedBy::Usage)?;
    let in_force = environment.profile.as_ref();
    let profile = in_force.map(|in_force| &in_force.profile);
    let text = match args.format() {
        Format::Text => settings_text(&settings, profile),
        Format::Json => settings_json(&settings, profile),
    };
    console::print(&text).or_stopped(StoppedBy::Disk)?;
    Ok(ExitCode::Complete)
}
