//! Where the service is.

use std::path::PathBuf;

/// The flags that say where the service is and who asks.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Service")]
pub struct ConnectionArgs {
    /// Address of the service [environment: LEADLOAD_BASE_URL]
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,

    /// File that holds the access token [environment: LEADLOAD_TOKEN, the token itself, or
    /// LEADLOAD_TOKEN_FILE]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,

    /// Try it out on a service inside this program: nothing leaves this computer
    #[arg(long, conflicts_with_all = ["base_url", "token_file"])]
    pub sandbox: bool,

    /// PEM file of certificates to trust besides the system's, one or several
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,

    /// Allow plain http to other computers
    #[arg(long)]
    pub insecure_http: bool,
}
