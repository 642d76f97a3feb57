//! What was typed: the command line and nothing else; and how it is explained, by help,
//! manual and what is said of mistakes.
//!
//! Rule: no default that depends on anything. What the flags mean together, and
//! with the environment, is decided in `settings`.

pub mod config;
mod help;
mod import;
mod man_page;
mod mistake;
pub mod runs;
pub mod sandbox;
mod typed;

pub use help::{command, manual};
pub use import::ImportArgs;
pub use man_page::man_page;
pub use mistake::{commands_in, mistake};
pub use typed::typed_anyway;

use clap::{Parser, Subcommand, ValueEnum};

use crate::options::{ConnectionOptions, LogOptions, ProfileOptions};

/// Sends contacts to a calling campaign, and tells what became of every row
#[derive(Debug, Parser)]
#[command(
    name = "leadload",
    bin_name = "leadload",
    version,
    propagate_version = true,
    max_term_width = 80,
    after_help = FIRST_STEPS,
    after_long_help = format!("{FIRST_STEPS}\n\n{ENVIRONMENT}\n\n{EXIT_CODES}")
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What stands below the commands.
const FIRST_STEPS: &str = "\
First steps:
  leadload check contacts.csv                            look at a list
  leadload import contacts.csv --sandbox --campaign 101  send it nowhere
  leadload config init                                   set up your service";

/// What is taken from the environment.
const ENVIRONMENT: &str = "\
Environment:
  LEADLOAD_BASE_URL    address of the service
  LEADLOAD_TOKEN       access token
  LEADLOAD_TOKEN_FILE  file with the access token
  LEADLOAD_LEDGER      ledger
  LEADLOAD_CONFIG      file of settings
  LEADLOAD_PROFILE     profile of that file
  HTTPS_PROXY          proxy, also HTTP_PROXY, ALL_PROXY and NO_PROXY
  NO_COLOR             if set to anything, no colours";

/// How a command says how it went.
const EXIT_CODES: &str = "\
Exit codes:
  0  complete
  1  complete, but some rows are invalid, rejected, failed or uncertain
  2  nothing was sent: a flag, the mapping or the list has to be mended
  3  stopped by the service; the same command goes on
  4  stopped by a signal or --max-duration; the same command goes on
  5  stopped by this machine; the same command goes on
  6  another run is at it";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Send leads from files of contacts
    Import(Box<ImportArgs>),
    /// Show what an import would do; sends nothing, needs no token
    #[command(after_long_help = "\
COL is a column's header, in any case, or its number, counted from 1.

All flags of `leadload import` but `--metrics-file` are taken, so that a checked
command line can be sent by changing one word. Those about sending change
nothing here, unless they change what would be sent. Results and rejects are
written only where they are named.

Examples:
  leadload check contacts.csv
  leadload check contacts.xlsx --region GB --campaign 101
  leadload check contacts.csv --region GB --rejects to-mend.csv --format json
  leadload check contacts.csv --skip-column notes --save-mapping default")]
    Check(Box<ImportArgs>),
    /// List the campaigns
    #[command(after_long_help = "\
Examples:
  leadload campaigns
  leadload campaigns --format csv > campaigns.csv")]
    Campaigns(Box<CampaignsArgs>),
    /// Show earlier runs; export, copy, prune or forget what is known of them
    Runs(Box<runs::RunsArgs>),
    /// Set up a profile, or show the settings in force
    Config(config::ConfigArgs),
    /// Start a local stand-in for the service, for trials and tests
    #[command(after_long_help = "\
Examples:
  leadload sandbox
  leadload sandbox --latency 50ms --rate-limit 100/min
  leadload sandbox --share-429 2% --drop-after 1% --seed 7")]
    Sandbox(Box<sandbox::SandboxArgs>),
    /// Print a script that completes commands and flags in a shell
    #[command(after_help = "\
Once in a shell's own file, such as ~/.bashrc:
  bash        source <(leadload completions bash)
  zsh         source <(leadload completions zsh)
  fish        leadload completions fish | source
  powershell  leadload completions powershell | Out-String | Invoke-Expression
  elvish      eval (leadload completions elvish | slurp)")]
    Completions(CompletionsArgs),
    /// Print the manual page
    #[command(after_help = "\
Examples:
  leadload man | man -l -
  leadload man --folder ~/.local/share/man/man1")]
    Man(ManArgs),
}

/// The flags of `leadload campaigns`.
#[derive(Debug, clap::Args)]
pub struct CampaignsArgs {
    /// Where settings are kept.
    #[command(flatten)]
    pub place: ProfileOptions,

    /// Where the service is.
    #[command(flatten)]
    pub connection: ConnectionOptions,

    /// Form of the list on standard output [default: text]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub format: Option<ListFormat>,

    /// What is said on standard error.
    #[command(flatten)]
    pub log: LogOptions,
}

/// The form of a list on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// A table
    Text,
    /// One JSON object
    Json,
    /// CSV with a header
    Csv,
}

/// The flags of `leadload completions`.
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// Shell that the script is for
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// The flags of `leadload man`.
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Write a page for every command into this folder
    #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    pub folder: Option<std::path::PathBuf>,
}
