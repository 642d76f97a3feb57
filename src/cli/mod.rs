//! The command line: its flags, its help, and what it says about mistakes.
//!
//! Rule: only what was typed. Defaults, the environment and what flags mean together are
//! decided in `settings`.

pub mod runs;
pub mod sandbox;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint};

use crate::options::{
    ConnectionOptions, Format, Given, LedgerOptions, LogOptions, Options, OutputOptions,
    ProfileOptions,
};
use crate::text::{looks_secret, shown_name};

/// Sends contacts to a calling campaign and reports what happened to every row
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
    #[command(subcommand)]
    pub command: Command,
}

const FIRST_STEPS: &str = "\
First steps:
  leadload check contacts.csv                            look at a list
  leadload import contacts.csv --sandbox --campaign 101  send it nowhere
  leadload config init                                   set up your service";

const ENVIRONMENT: &str = "\
Environment:
  LEADLOAD_BASE_URL    address of the service
  LEADLOAD_TOKEN       access token
  LEADLOAD_TOKEN_FILE  file with the access token
  LEADLOAD_LEDGER      ledger
  LEADLOAD_CONFIG      settings file
  LEADLOAD_PROFILE     profile in that file
  HTTPS_PROXY          proxy, also HTTP_PROXY, ALL_PROXY and NO_PROXY
  NO_COLOR             if set to anything, no colors";

const EXIT_CODES: &str = "\
Exit codes:
  0  complete
  1  complete, but some rows are invalid, rejected, failed or uncertain
  2  nothing was sent: fix a flag, the mapping or the list
  3  stopped by the service; the same command continues
  4  stopped by a signal or --max-duration; the same command continues
  5  stopped by this computer; the same command continues
  6  another run is in progress";

const COLUMNS: &str =
    "COL is a column's header, in upper or lower case, or its number, counted from 1.";

const IMPORT_EXAMPLES: &str = "\
Running the same command again continues a stopped run and sends no lead twice.

Examples:
  leadload import contacts.csv --sandbox --campaign \"Spring promo\"
  leadload import contacts.csv --campaign 101 --rate 100/min --skip-column notes
  leadload import kunden.xlsx --campaign 101 --region DE --suppress blocked.csv
  leadload import contacts.rejects.csv";

const CHECK_EXAMPLES: &str = "\
`leadload check` takes all flags of `leadload import`, so you can send what you
checked by changing one word. Results and rejects are written only if you name
them.

Examples:
  leadload check contacts.csv
  leadload check contacts.xlsx --region GB --campaign 101
  leadload check contacts.csv --region GB --rejects to-fix.csv --format json
  leadload check contacts.csv --skip-column notes --save-mapping default";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Send leads from files of contacts
    #[command(after_long_help = format!("{COLUMNS}\n\n{IMPORT_EXAMPLES}\n\n{EXIT_CODES}"))]
    Import(Box<ImportArgs>),
    /// Show what an import would do; sends nothing, needs no token
    #[command(after_long_help = format!("{COLUMNS}\n\n{CHECK_EXAMPLES}"))]
    Check(Box<ImportArgs>),
    /// List the campaigns
    #[command(after_long_help = "\
Examples:
  leadload campaigns
  leadload campaigns --format csv > campaigns.csv")]
    Campaigns(Box<CampaignsArgs>),
    /// Show earlier runs; export, copy, prune or forget them
    #[command(disable_help_subcommand = true)]
    Runs(Box<runs::RunsArgs>),
    /// Set up a profile, or show the settings in use
    #[command(subcommand, disable_help_subcommand = true)]
    Config(ConfigCommand),
    /// Start a local stand-in for the service, for trials and tests
    #[command(after_long_help = "\
Examples:
  leadload sandbox
  leadload sandbox --latency 50ms --rate-limit 100/min
  leadload sandbox --share-429 2% --drop-after 1% --seed 7")]
    Sandbox(Box<sandbox::SandboxArgs>),
    /// Print a script that completes commands and flags in a shell
    #[command(after_help = "\
Add to your shell's startup file, such as ~/.bashrc:
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

#[derive(Debug, Clone, Default, clap::Args)]
pub struct ImportArgs {
    #[command(flatten)]
    pub options: Options,

    /// CSV, .xlsx, .xls or .ods, also compressed by gzip or zstd; `-` is standard input
    #[arg(
        required = true,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        help_heading = "Reading",
        display_order = 0
    )]
    pub inputs: Vec<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct CampaignsArgs {
    #[command(flatten)]
    pub place: ProfileOptions,

    #[command(flatten)]
    pub connection: ConnectionOptions,

    /// Format of the list on standard output [default: text]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub format: Option<ListFormat>,

    #[command(flatten)]
    pub log: LogOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// A table
    Text,
    /// One JSON object
    Json,
    /// CSV with a header
    Csv,
}

#[derive(Debug, Clone, Subcommand)]
pub enum ConfigCommand {
    /// Set up a profile: asks for address and token, and tries them out
    Init(Box<ConfigInitArgs>),
    /// Show the settings in use, and where each comes from
    #[command(after_long_help = "\
All flags of `leadload import` are accepted: this shows which settings an import
with them would use.

Examples:
  leadload config show
  leadload config show --profile crm
  leadload config show --profile crm --rate 20/s --format json")]
    Show(Box<ConfigShowArgs>),
}

#[derive(Debug, Clone, clap::Args)]
pub struct ConfigShowArgs {
    #[command(flatten)]
    pub options: Options,

    /// Lists, which are not read
    #[arg(value_name = "FILE", hide = true)]
    pub inputs: Vec<PathBuf>,
}

#[derive(Debug, Clone, clap::Args)]
pub struct ConfigInitArgs {
    #[command(flatten)]
    pub place: ProfileOptions,

    #[command(flatten)]
    pub connection: ConnectionOptions,

    #[command(flatten)]
    pub log: LogOptions,
}

#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// Shell that the script is for
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Write a page for every command into this folder
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

/// The flags that `-h` shows of commands that have more than fit on a screen.
#[rustfmt::skip]
const IN_SHORT_HELP: &[&str] = &[
    "base_url", "token_file", "sandbox", "campaign", "phone_column", "region", "suppress", "rate",
    "last", "listen", "scenario", "latency", "rate_limit", "share_429", "drop_after",
];

/// The most flags of which `-h` shows all.
const MAX_SHORT_HELP: usize = 6;

/// The command line with the short help that `-h` shows.
pub fn command() -> clap::Command {
    Cli::command().mut_subcommands(with_short_help)
}

fn with_short_help(command: clap::Command) -> clap::Command {
    let command = command.mut_subcommands(with_short_help);
    if command.get_arguments().count() <= MAX_SHORT_HELP {
        return command;
    }
    command.mut_args(|arg| {
        let is_shown = IN_SHORT_HELP.iter().any(|id| arg.get_id() == id);
        arg.hide_short_help(!is_shown)
    })
}

/// Parses a command line, the program's name first; help that was asked for is an error too.
pub fn parse(args: &[OsString]) -> Result<Command, clap::Error> {
    let matches = command().try_get_matches_from(args);
    let matches = matches.map_err(|error| redacted(with_command_for_file(error)))?;
    Ok(Cli::from_arg_matches(&matches)?.command)
}

/// The endings of names that lists have.
const LISTS: [&str; 6] = ["csv", "xlsx", "ods", "xls", "gz", "zst"];

/// The error, which names the commands that take a file if that stands in place of a command.
fn with_command_for_file(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let path = Path::new(typed);
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    if !LISTS.iter().any(|list| ending == *list) && !path.is_file() {
        return error;
    }
    let tips = ["import FILE` sends", "check FILE` looks at"];
    let tips = tips.map(|tip| format!("`leadload {tip} a list").into());
    error.insert(
        ContextKind::Suggested,
        ContextValue::StyledStrs(tips.into()),
    );
    error
}

/// The error without what could be a token, a phone number or a variable: it may end up in a
/// log.
fn redacted(mut error: clap::Error) -> clap::Error {
    let arg = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(arg)) => arg.clone(),
        _ => String::new(),
    };
    let flag = arg.split([' ', '=']).next().unwrap_or_default();
    let is_personal = flag == "--number"
        || Options::declared()
            .iter()
            .any(|declared| declared.is_personal && declared.flag() == flag);
    for kind in [
        ContextKind::InvalidArg,
        ContextKind::InvalidValue,
        ContextKind::InvalidSubcommand,
    ] {
        if let Some(ContextValue::String(text)) = error.get(kind) {
            let is_private = is_personal && kind == ContextKind::InvalidValue;
            // Such as `--concurrency <N|auto>`.
            let is_flag = text.starts_with('-') && text.ends_with('>');
            let shown = if is_private || looks_secret(text) && !is_flag {
                "…".to_owned()
            } else {
                shown_name(text)
            };
            if shown != *text {
                // The suggestions quote it.
                error.remove(ContextKind::Suggested);
            }
            error.insert(kind, ContextValue::String(shown));
        }
    }
    error
}

impl Command {
    /// The options that were typed; commands other than `import` have some of them.
    pub fn typed(&self) -> Options {
        let mut options = match self {
            Command::Import(args) | Command::Check(args) => args.options.clone(),
            Command::Config(ConfigCommand::Show(args)) => args.options.clone(),
            Command::Campaigns(args) => Options {
                place: args.place.clone(),
                connection: args.connection.clone(),
                output: output(args.format.map(|format| match format {
                    ListFormat::Json => Given::new(Format::Json, "json"),
                    ListFormat::Text | ListFormat::Csv => Given::new(Format::Text, "text"),
                })),
                log: args.log.clone(),
                ..Options::default()
            },
            Command::Runs(args) => Options {
                place: args.place.clone(),
                ledger: LedgerOptions {
                    ledger: args.ledger.clone(),
                },
                output: output(args.format.clone()),
                log: args.log.clone(),
                ..Options::default()
            },
            Command::Config(ConfigCommand::Init(args)) => Options {
                place: args.place.clone(),
                connection: args.connection.clone(),
                log: args.log.clone(),
                ..Options::default()
            },
            Command::Sandbox(_) | Command::Completions(_) | Command::Man(_) => Options::default(),
        };
        options.clear_switched_off();
        options
    }
}

fn output(format: Option<Given<Format>>) -> OutputOptions {
    OutputOptions {
        format,
        ..OutputOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn every_flag_of_every_command_has_a_help_text() {
        has_help_texts(&command());
    }

    fn has_help_texts(command: &clap::Command) {
        let name = command.get_name();
        assert!(command.get_about().is_some(), "{name}");
        for flag in command.get_arguments() {
            assert!(flag.get_help().is_some(), "{} of {name}", flag.get_id());
        }
        command.get_subcommands().for_each(has_help_texts);
    }
}
