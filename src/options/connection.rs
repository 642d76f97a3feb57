//! Where the service is, where settings and the ledger are.

use std::path::PathBuf;

use clap::ValueHint;

use super::Said;
use super::declare::options;
use super::value::{Address, Name, TokenSource};

options! {
    /// Which file and which profile of it stand in for flags that are not given.
    #[command(next_help_heading = "Service")]
    pub struct ProfileOptions {
        /// File of settings [default: in your configuration folder] [env: LEADLOAD_CONFIG]
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, global = true)]
        config: Said<PathBuf> => Command {
            variable: Some("LEADLOAD_CONFIG"),
            is_repeated_after_import: true
        };

        /// Profile of that file to take settings from [default: `default`] [env: LEADLOAD_PROFILE]
        #[arg(long, value_name = "NAME", global = true)]
        profile: Said<Name> => Command {
            variable: Some("LEADLOAD_PROFILE"),
            is_repeated_after_import: true
        };
    }
}

options! {
    /// Where the service is and who asks.
    #[command(next_help_heading = "Service")]
    pub struct ConnectionOptions {
        /// Address of the service [env: LEADLOAD_BASE_URL]
        ///
        /// With or without a `/` or `/api` at the end; plain http only to this computer.
        #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
        base_url: Said<Address> => Service { variable: Some("LEADLOAD_BASE_URL") };

        /// File with the access token [env: LEADLOAD_TOKEN_FILE]
        ///
        /// LEADLOAD_TOKEN may hold the token itself, and comes before LEADLOAD_TOKEN_FILE. No flag
        /// takes it: command lines can be read by others.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        token_file: Said<TokenSource> => Service { variable: Some("LEADLOAD_TOKEN_FILE"), is_secret: true };

        /// Try it out: nothing leaves this computer
        ///
        /// The service is one inside this program. Needs neither address nor token, and is
        /// forgotten when the command ends.
        #[arg(
            long,
            action = clap::ArgAction::SetTrue,
            conflicts_with_all = ["base_url", "token_file"]
        )]
        sandbox: bool => Command {
            is_repeated_after_import: true,
            is_repeated_after_check: true
        };

        /// PEM file of certificates to trust besides those of the system
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        ca_file: Said<PathBuf> => Connection;

        /// Allow plain http to other computers
        #[arg(long, action = clap::ArgAction::SetTrue)]
        insecure_http: bool => Connection;
    }
}

options! {
    /// Where it is written down who was sent.
    #[command(next_help_heading = "Service")]
    pub struct LedgerOptions {
        /// Record of every lead sent, by which a run goes on and no lead is made twice; `none`
        /// keeps none [default: in your state folder] [env: LEADLOAD_LEDGER]
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        ledger: Said<PathBuf> => Service { variable: Some("LEADLOAD_LEDGER") };
    }
}
