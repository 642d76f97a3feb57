//! Where settings are kept, and the flags of `leadload config`.

use std::path::PathBuf;

use clap::ValueHint;

use super::{ConnectionArgs, Format, ImportArgs, OutputArgs};

/// Which file and which profile of it stand in for flags that are not given.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Service")]
pub struct ProfileArgs {
    /// File of settings [default: in your configuration folder] [env: LEADLOAD_CONFIG]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, global = true)]
    pub config: Option<PathBuf>,

    /// Profile of that file to take settings from [default: `default`] [env: LEADLOAD_PROFILE]
    #[arg(long, value_name = "NAME", global = true)]
    pub profile: Option<String>,
}

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
    Init(ConfigInitArgs),
    /// Show the settings in force, and where each comes from
    Show(Box<ConfigShowArgs>),
}

/// The flags of `leadload config init`.
#[derive(Debug, Clone, clap::Args)]
pub struct ConfigInitArgs {
    /// Where the service is, for those who do not want to be asked.
    #[command(flatten)]
    pub connection: ConnectionArgs,

    /// What is said on standard error.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The flags of `leadload config show`: those of an import, without inputs.
#[derive(Debug, Clone, clap::Args)]
pub struct ConfigShowArgs {
    /// The import whose settings are shown.
    #[command(flatten)]
    pub import: ImportArgs,
}

impl ConfigShowArgs {
    /// The form of what is shown.
    pub fn format(&self) -> Format {
        self.import.format
    }
}

impl ConfigArgs {
    /// The form of what is shown.
    pub fn format(&self) -> Format {
        match &self.command {
            ConfigCommand::Init(_) => Format::Text,
            ConfigCommand::Show(show) => show.format(),
        }
    }

    /// What is said on standard error.
    pub fn output(&self) -> &OutputArgs {
        match &self.command {
            ConfigCommand::Init(init) => &init.output,
            ConfigCommand::Show(show) => &show.import.output,
        }
    }
}
