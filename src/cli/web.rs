//! The flags of `leadload web`.

use crate::options::{ConnectionOptions, LedgerOptions, LogOptions, Options, ProfileOptions};

#[derive(Debug, Clone, Default, clap::Args)]
pub struct WebArgs {
    /// Port of the page on this computer [default: that of last time, else any free one]
    #[arg(long, value_name = "N", help_heading = "Page", display_order = 0)]
    pub port: Option<u16>,

    /// Print the link and open no browser
    #[arg(long, help_heading = "Page", display_order = 1)]
    pub no_open: bool,

    #[command(flatten)]
    pub place: ProfileOptions,

    #[command(flatten)]
    pub connection: ConnectionOptions,

    #[command(flatten)]
    pub ledger: LedgerOptions,

    #[command(flatten)]
    pub log: LogOptions,
}

impl WebArgs {
    pub fn typed(&self) -> Options {
        Options {
            place: self.place.clone(),
            connection: self.connection.clone(),
            ledger: self.ledger.clone(),
            log: self.log.clone(),
            ..Options::default()
        }
    }
}
