//! What was typed: the command line and nothing else.
//!
//! Rule: no default that depends on anything. What the flags mean together, and
//! with the environment, is decided in `settings`.

mod connection;
mod import;
mod output;
mod reading;
pub mod runs;
pub mod sandbox;
mod values;

pub use connection::ConnectionArgs;
pub use import::{DeliveryArgs, ImportArgs};
pub use output::{Format, ListFormat, OutputArgs, Progress};
pub use reading::{MappingArgs, PhoneArgs, ReadingArgs};
pub use values::RateArg;

use clap::{Parser, Subcommand};

/// Sends files of contacts to a calling campaign, and tells what became of every row
#[derive(Debug, Parser)]
#[command(
    name = "leadload",
    version,
    propagate_version = true,
    max_term_width = 100
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Send leads from files of contacts
    Import(Box<ImportArgs>),
    /// Read files of contacts and show what an import would do; sends nothing, needs no token
    #[command(after_help = "\
All flags of `leadload import` are taken, so that a checked command line can be sent by
changing one word.

Examples:
  leadload check contacts.csv
  leadload check contacts.xlsx --region GB --campaign 101
  leadload check contacts.csv --region GB --rejects to-mend.csv --format json")]
    Check(Box<ImportArgs>),
    /// List the campaigns
    Campaigns(CampaignsArgs),
    /// Show what the ledger knows of earlier runs, and take things out of it
    Runs(Box<runs::RunsArgs>),
    /// Start a local stand-in for the service, for trials and tests
    Sandbox(Box<sandbox::SandboxArgs>),
}

/// The flags of `leadload campaigns`.
#[derive(Debug, clap::Args)]
pub struct CampaignsArgs {
    /// Where the service is.
    #[command(flatten)]
    pub connection: ConnectionArgs,

    /// Form of the list on standard output
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ListFormat,

    /// What is said on standard error.
    #[command(flatten)]
    pub output: OutputArgs,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_flag_of_every_command_has_a_help_text() {
        for command in Cli::command().get_subcommands() {
            has_help_texts(command);
        }
    }

    fn has_help_texts(command: &clap::Command) {
        assert!(command.get_about().is_some(), "{}", command.get_name());
        for flag in command.get_arguments() {
            assert!(
                flag.get_help().is_some(),
                "{} of {}",
                flag.get_id(),
                command.get_name()
            );
        }
        command.get_subcommands().for_each(has_help_texts);
    }
}
