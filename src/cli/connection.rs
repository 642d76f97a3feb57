//! Where the service is.

use std::path::PathBuf;

use clap::ValueHint;

use super::config::ProfileArgs;

/// The flags that say where the service is and who asks.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Service")]
pub struct ConnectionArgs {
    /// Where settings are kept.
    #[command(flatten)]
    pub profile: ProfileArgs,

    /// Address of the service [env: LEADLOAD_BASE_URL]
    ///
    /// With or without a `/` or `/api` at the end; plain http only to this computer.
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub base_url: Option<String>,

    /// File with the access token [env: LEADLOAD_TOKEN_FILE]
    ///
    /// LEADLOAD_TOKEN may hold the token itself, and comes before LEADLOAD_TOKEN_FILE. No flag
    /// takes it: command lines can be read by others.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,

    /// Try it out: nothing leaves this computer
    ///
    /// The service is one inside this program. Needs neither address nor token, and is forgotten
    /// when the command ends.
    #[arg(long, conflicts_with_all = ["base_url", "token_file"])]
    pub sandbox: bool,

    /// PEM file of certificates to trust besides those of the system
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub ca_file: Option<PathBuf>,

    /// Allow plain http to other computers
    #[arg(long)]
    pub insecure_http: bool,
}
