//! The flags of `leadload config`.

use super::ImportArgs;
use crate::options::{ConnectionOptions, LogOptions, ProfileOptions};

/// The command line of `leadload config`.
#[derive(Debug, Clone, clap::Args)]
pub struct ConfigArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ConfigCommand,
}

/// What to do with settings.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum ConfigCommand {
    /// Set up a profile: asks for address and token, and tries them out
    Init(Box<ConfigInitArgs>),
    /// Show the settings in force, and where each comes from
    Show(Box<ImportArgs>),
}

/// The flags of `leadload config init`.
#[derive(Debug, Clone, clap::Args)]
pub struct ConfigInitArgs {
    /// Which file the profile goes into, and its name.
    #[command(flatten)]
    pub place: ProfileOptions,

    /// Where the service is, for those who do not want to be asked.
    #[command(flatten)]
    pub connection: ConnectionOptions,

    /// What is said on standard error.
    #[command(flatten)]
    pub log: LogOptions,
}
