//! The service, the settings file and the ledger.

use std::path::PathBuf;

use clap::ValueHint;
use secrecy::SecretString;

use super::Given;
use super::declare::options;
use super::value::TokenSource;

options! {
    #[command(next_help_heading = "Service")]
    pub struct ProfileOptions {
        /// Settings file [default: in your configuration folder] [env: LEADLOAD_CONFIG]
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, global = true)]
        config: Given<PathBuf> => Command {
            variable: Some("LEADLOAD_CONFIG"),
            is_repeated_after_import: true
        };

        /// Profile in that file [default: `default`] [env: LEADLOAD_PROFILE]
        #[arg(long, value_name = "NAME", global = true)]
        profile: Given<String> => Command {
            variable: Some("LEADLOAD_PROFILE"),
            is_repeated_after_import: true
        };
    }
}

options! {
    #[command(next_help_heading = "Service")]
    pub struct ConnectionOptions {
        /// Address of the service [env: LEADLOAD_BASE_URL]
        ///
        /// With or without `/` or `/api` at the end; plain http only to this computer.
        #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
        base_url: Given<String> => Service { variable: Some("LEADLOAD_BASE_URL") };

        /// File with the access token [env: LEADLOAD_TOKEN_FILE]
        ///
        /// LEADLOAD_TOKEN may hold the token itself, and overrides LEADLOAD_TOKEN_FILE. No flag
        /// takes it, since others can read command lines.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        token_file: Given<TokenSource> => Service { variable: Some("LEADLOAD_TOKEN_FILE"), is_secret: true };

        /// Try it out: nothing leaves this computer
        ///
        /// The service is one inside this program. It needs neither address nor token, and ends
        /// with the command.
        #[arg(
            long,
            action = clap::ArgAction::SetTrue,
            conflicts_with_all = ["base_url", "token_file"]
        )]
        sandbox: bool => Command {
            is_repeated_after_import: true,
            is_repeated_after_check: true
        };

        /// PEM file of certificates to trust in addition to the system's
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        ca_file: Given<PathBuf> => Connection;

        /// Allow plain http to other computers
        #[arg(long, action = clap::ArgAction::SetTrue)]
        insecure_http: bool => Connection;
    }
}

options! {
    #[command(next_help_heading = "Service")]
    pub struct LedgerOptions {
        /// Record of every lead sent, so that a run can continue and no lead is sent twice; `none`
        /// for none [default: in your state folder] [env: LEADLOAD_LEDGER]
        ///
        /// A file, or a database for several computers: `postgresql://user@host/database`, with the
        /// password in PGPASSWORD.
        #[arg(long, value_name = "FILE|URL", value_hint = ValueHint::FilePath)]
        ledger: Given<PathBuf> => Service { variable: Some("LEADLOAD_LEDGER") };

        /// The password that LEADLOAD_LEDGER has in it. Its text is the address without it: it is
        /// for no other one.
        #[arg(skip)]
        ledger_password: Given<SecretString> => Command { has_flag: false };

        /// What PGPASSWORD says, for whichever database is the ledger.
        #[arg(skip)]
        database_password: Given<SecretString> => Command { has_flag: false };
    }
}
