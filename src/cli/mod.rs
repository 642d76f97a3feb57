//! The command line: its flags, its help, and its error messages.
//!
//! Rule: only what was typed. Defaults, the environment
//! and what flags mean together are decided in `settings`.

pub mod runs;
pub mod sandbox;
pub mod suppress;
mod version;
pub mod web;

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, ValueHint};

use crate::exit::ExitCode;
use crate::message::{Message, Text};
use crate::options::{
    ConnectionOptions, Declaration, DeliveryOptions, Format, Given, LedgerOptions, LogOptions,
    Options, OutputOptions, ProfileOptions,
};
use crate::text::{alternatives, is_quoted, nearest, one_line, quoted_value};

pub use version::version;

/// Sends contacts to a calling campaign and reports what happened to every row
#[derive(Debug, Parser)]
#[command(
    name = "leadload",
    bin_name = "leadload",
    version,
    propagate_version = true,
    max_term_width = 80,
    // Without a line of usage, so that all commands fit on a screen.
    help_template = "{about-with-newline}\n{all-args}{after-help}",
    after_help = FIRST_STEPS
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const FIRST_STEPS: &str = "\
First steps:
  leadload check contacts.csv                            look at a list
  leadload import contacts.csv --sandbox --campaign 101  try it: nothing is sent
  leadload config init                                   set up your service";

/// The environment variables that are read, for the help and the manual.
pub const VARIABLES: [(&str, &str); 10] = [
    ("LEADLOAD_BASE_URL", "address of the service"),
    ("LEADLOAD_TOKEN", "access token"),
    ("LEADLOAD_TOKEN_FILE", "file with the access token"),
    (
        "LEADLOAD_LEDGER",
        "file or database that records what was sent",
    ),
    ("PGPASSWORD", "password of that database"),
    ("PGPASSFILE", "file with that password [default: ~/.pgpass]"),
    ("LEADLOAD_CONFIG", "settings file"),
    ("LEADLOAD_PROFILE", "profile in that file"),
    (
        "HTTPS_PROXY",
        "proxy, also HTTP_PROXY, ALL_PROXY and NO_PROXY",
    ),
    ("NO_COLOR", "if set to anything, no colors"),
];

fn variables() -> String {
    let lines = VARIABLES.map(|(name, meaning)| format!("  {name:<19}  {meaning}"));
    format!("Environment:\n{}", lines.join("\n"))
}

fn exit_codes() -> String {
    let lines = ExitCode::MEANINGS.map(|(code, meaning)| format!("  {}  {meaning}", code as u8));
    format!("Exit codes:\n{}", lines.join("\n"))
}

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
`leadload check` takes the flags of `leadload import`, so you can send what you
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
    #[command(after_long_help = format!("{COLUMNS}\n\n{IMPORT_EXAMPLES}"))]
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
    /// Send leads from a page in your browser
    #[command(after_long_help = "\
The page is on this computer alone, for you alone. If it is open already, this
opens it again. Keep the window open while leads are being sent.

Examples:
  leadload web
  leadload web --sandbox
  leadload web --no-open --port 8471")]
    Web(Box<web::WebArgs>),
    /// Show earlier runs; undo, export, copy, prune or forget them
    #[command(disable_help_subcommand = true)]
    Runs(Box<runs::RunsArgs>),
    /// Keep a do-not-call list: numbers that no import calls
    #[command(disable_help_subcommand = true)]
    Suppress(Box<suppress::SuppressArgs>),
    /// Set up a profile, or show the settings in use
    #[command(subcommand, disable_help_subcommand = true)]
    Config(ConfigCommand),
    /// Start a local stand-in for the service, for trials and tests
    #[command(after_long_help = "\
Examples:
  leadload sandbox
  leadload sandbox --latency 50ms --limit 100/min
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

impl ListFormat {
    /// The format of what is not the list, such as an error.
    fn in_settings(self) -> Given<Format> {
        match self {
            ListFormat::Json => Given::new(Format::Json, "json"),
            ListFormat::Text | ListFormat::Csv => Given::new(Format::Text, "text"),
        }
    }
}

#[derive(Debug, Clone, Subcommand)]
pub enum ConfigCommand {
    /// Set up a profile: asks for address and token, and tries them out
    Init(Box<ConfigInitArgs>),
    /// Show the settings in use, and where each comes from
    #[command(after_long_help = "\
Add any other flag of `leadload import` that is a setting, to see which settings
an import with it would use.

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
    pub folder: Option<Given<PathBuf>>,
}

/// The flags that `-h` shows, for commands with more flags than fit on a screen.
#[rustfmt::skip]
const IN_SHORT_HELP: &[&str] = &[
    "base_url", "token_file", "sandbox", "campaign", "phone_column", "region", "suppress", "rate",
    "test_to", "last", "files", "number", "reason", "port", "no_open", "listen", "scenario", "latency", "rate-limit", "share_429", "drop_after",
];

/// If a command has at most this many flags, or flags without a heading, `-h` shows all of them.
const MAX_SHORT_HELP: usize = 5;

/// The flags of `import` that another command with the same options does not accept.
const NOT_TAKEN: [(&str, &[&str]); 3] = [
    // A check sends nothing.
    ("check", &["metrics_file", "new_ledger", "test_to"]),
    // These are not settings.
    (
        "show",
        &["again", "dry_run", "new_ledger", "save_mapping", "test_to"],
    ),
    // A sandbox ends with its command, and its leads with it.
    ("undo", &["sandbox"]),
];

/// The headings of the flags that the help of `config show` lists.
const HEADINGS_OF_SHOW: [&str; 2] = ["Service", "Output"];

/// The command line, with the flags hidden that a command accepts but need not show.
pub fn command() -> clap::Command {
    Cli::command().mut_subcommands(offered)
}

fn offered(command: clap::Command) -> clap::Command {
    let command = command.mut_subcommands(offered);
    let name = command.get_name().to_owned();
    command.mut_args(|arg| {
        let id = arg.get_id().as_str();
        let is_other = |heading: &str| !HEADINGS_OF_SHOW.contains(&heading);
        let is_hidden = arg.is_hide_set()
            || is_not_taken(&name, id)
            || name == "show" && arg.get_help_heading().is_some_and(is_other)
            || matches!(name.as_str(), "init" | "undo" | "reconcile") && id == "sandbox";
        let takes_value = arg.get_action().takes_values() && !arg.is_positional();
        // So that a negative number is refused with a hint about the allowed values.
        arg.hide(is_hidden).allow_negative_numbers(takes_value)
    })
}

fn with_short_help(command: clap::Command) -> clap::Command {
    let command = command.mut_subcommands(with_short_help);
    if command.get_arguments().count() <= MAX_SHORT_HELP {
        return command;
    }
    let is_of_command = |arg: &clap::Arg| arg.get_help_heading().is_none();
    let own = command.get_arguments().filter(|arg| is_of_command(arg));
    let shows_own = own.count() <= MAX_SHORT_HELP;
    command.mut_args(|arg| {
        let is_shown =
            shows_own && is_of_command(&arg) || IN_SHORT_HELP.iter().any(|id| arg.get_id() == id);
        arg.hide_short_help(!is_shown)
    })
}

/// The manual has sections for what is in these tables.
fn with_tables(command: clap::Command) -> clap::Command {
    let (variables, codes) = (variables(), exit_codes());
    command
        .after_long_help(format!("{FIRST_STEPS}\n\n{variables}\n\n{codes}"))
        .mut_subcommand("import", |import| {
            import.after_long_help(format!("{COLUMNS}\n\n{IMPORT_EXAMPLES}\n\n{codes}"))
        })
}

fn is_not_taken(command: &str, key: &str) -> bool {
    let mut not_taken = NOT_TAKEN.iter();
    not_taken.any(|(name, keys)| *name == command && keys.contains(&key))
}

/// Parses a command line, which begins with the program's
/// name. Help that was asked for is returned as an error too.
pub fn parse(args: &[OsString]) -> Result<Command, clap::Error> {
    let command = with_tables(command().mut_subcommands(with_short_help));
    let matches = command.try_get_matches_from(args)?;
    let command = Cli::from_arg_matches(&matches)?.command;
    let name = match &command {
        Command::Check(_) => "check",
        Command::Config(ConfigCommand::Show(_)) => "show",
        Command::Runs(args) if args.calls().is_some() => "undo",
        _ => return Ok(command),
    };
    let typed = command.typed();
    let mut declared = Options::declared().into_iter();
    match declared.find(|declared| is_not_taken(name, declared.key) && typed.has(declared)) {
        Some(declared) => Err(unknown_flag(declared)),
        None => Ok(command),
    }
}

fn unknown_flag(declared: &Declaration) -> clap::Error {
    let mut error = clap::Error::new(ErrorKind::UnknownArgument);
    error.insert(
        ContextKind::InvalidArg,
        ContextValue::String(declared.flag()),
    );
    error
}

/// What is wrong with a command line, and what to do about it: without what could be a token, a
/// phone number or a variable, since it may end up in a log.
pub fn explained(error: &clap::Error) -> Message {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        Some(ContextValue::Strings(texts)) => texts.first().map(String::as_str),
        _ => None,
    };
    let arg = text(ContextKind::InvalidArg).unwrap_or_default();
    let flag = word(arg);
    let options = Options::declared();
    let option = options.iter().find(|declared| declared.flag() == flag);
    let what = match (error.kind(), text(ContextKind::InvalidValue)) {
        (ErrorKind::MissingRequiredArgument, _) if arg == FILES => "the list is missing".to_owned(),
        (ErrorKind::MissingRequiredArgument, _) if arg == NUMBERS => {
            "the numbers are missing".to_owned()
        }
        (ErrorKind::MissingRequiredArgument, _) => format!("`{arg}` is missing"),
        (ErrorKind::ArgumentConflict, _) => match text(ContextKind::PriorArg).map_or(flag, word) {
            prior if prior == flag => format!("`{flag}` can be given only once"),
            prior => format!("`{flag}` cannot be used with `{prior}`"),
        },
        (_, Some("")) => format!("`{flag}` needs a value"),
        // Not quoted: there may be a password in it.
        (_, Some(value)) if is_quoted(value) => {
            format!("the value of `{flag}` is in quotation marks")
        }
        (_, Some(_)) if flag == "--number" || option.is_some_and(|option| option.is_personal) => {
            format!("the value of `{flag}` cannot be used")
        }
        (_, Some(value)) => format!("{} cannot be used for `{flag}`", quoted_value(value)),
        (ErrorKind::InvalidSubcommand, _) => {
            let command = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            format!("there is no command {}", quoted_value(command))
        }
        // The word may be a token.
        (ErrorKind::UnknownArgument, _) if !flag.starts_with('-') => {
            "there is one word too many".to_owned()
        }
        (ErrorKind::UnknownArgument, _) if option.is_some() => {
            format!("`{flag}` is not a flag of this command")
        }
        (ErrorKind::UnknownArgument, _) => format!("there is no flag {}", quoted_value(flag)),
        _ => {
            let rendered = error.render().to_string();
            let what = rendered.trim_start_matches("error: ").split("\n\n").next();
            one_line(what.unwrap_or_default()).replace('\'', "`")
        }
    };
    Message::new(
        Text::terminal(what),
        Text::terminal(hint(error, option.is_some())),
    )
}

const FILES: &str = "<FILE>...";
/// Lists of `leadload suppress`, which takes single numbers too.
const NUMBERS: &str = "<LIST>...";

/// A flag, without its value, or the name of a value.
fn word(arg: &str) -> &str {
    let flag = arg.split([' ', '=']).next().unwrap_or_default();
    flag.trim_matches(['[', ']', '.'])
}

/// Whether a word that is not a command is a list, or looks like the name of one.
fn is_list(word: &str) -> bool {
    const ENDINGS: [&str; 6] = ["csv", "xlsx", "ods", "xls", "gz", "zst"];
    let path = Path::new(word);
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    ENDINGS.iter().any(|list| ending == *list) || path.is_file()
}

/// The command that has this one, such as `runs` for `undo`.
fn group_of(command: &str) -> Option<String> {
    let program = Cli::command();
    let mut groups = program.get_subcommands();
    let group = groups.find(|group| group.find_subcommand(command).is_some())?;
    Some(group.get_name().to_owned())
}

fn hint(error: &clap::Error, is_option: bool) -> String {
    let list = |kind| match error.get(kind) {
        Some(ContextValue::Strings(words)) => words.clone(),
        Some(ContextValue::String(word)) => vec![word.clone()],
        _ => Vec::new(),
    };
    let arg = list(ContextKind::InvalidArg).concat();
    let command = list(ContextKind::InvalidSubcommand).concat();
    let mut suggested = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand]
        .map(list)
        .concat();
    // clap also suggests what has a few letters in common.
    let typed = format!("{arg}{command}");
    let bare = |word: &str| word.trim_start_matches('-').to_owned();
    suggested.retain(|word| nearest(&bare(&typed), &[bare(word)]).is_some());
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    // clap shows the usage with the flag that it suggested in its place.
    let has_unknown_flag = is_unknown && arg.starts_with('-');
    if is_list(&command) {
        return "`leadload import FILE` sends a list, and `leadload check FILE` looks at it".into();
    }
    if let Some(group) = group_of(&command) {
        return format!("did you mean `leadload {group} {command}`?");
    }
    match (error.source(), list(ContextKind::ValidValue).as_slice()) {
        (Some(why), _) => why.to_string(),
        _ if arg == FILES => "name it, for example: `leadload check contacts.csv`".to_owned(),
        _ if arg == NUMBERS => "name a list of numbers, or one number with `--number`".to_owned(),
        _ if error.kind() == ErrorKind::ArgumentConflict => "leave one of them out".to_owned(),
        (None, words @ [_, ..]) => format!("write {}", alternatives(words)),
        _ if !suggested.is_empty() => format!("did you mean {}?", alternatives(&suggested)),
        _ if is_unknown && is_option => "`leadload import` has it; leave it out here".to_owned(),
        _ if is_unknown && arg.len() == 2 => {
            "flags follow the command, and begin with two dashes, such as `--region`".to_owned()
        }
        _ => match error.get(ContextKind::Usage) {
            Some(ContextValue::StyledStr(usage)) if !has_unknown_flag => {
                let usage = usage.to_string();
                let usage = usage.trim_start_matches("Usage: ");
                format!("write `{usage}`; `--help` explains it")
            }
            _ => "add `--help` to see commands and flags".to_owned(),
        },
    }
}

impl Command {
    /// The options that were typed. Commands other than `import` have some of them.
    pub fn typed(&self) -> Options {
        let mut options = match self {
            Command::Import(args) | Command::Check(args) => args.options.clone(),
            Command::Config(ConfigCommand::Show(args)) => args.options.clone(),
            Command::Campaigns(args) => Options {
                place: args.place.clone(),
                connection: args.connection.clone(),
                output: output(args.format.map(ListFormat::in_settings)),
                log: args.log.clone(),
                ..Options::default()
            },
            Command::Runs(args) => Options {
                place: args.place.clone(),
                connection: args
                    .calls()
                    .map(|calls| calls.connection.clone())
                    .unwrap_or_default(),
                delivery: delivery(args.calls()),
                ledger: LedgerOptions {
                    ledger: args.ledger.clone(),
                    ..LedgerOptions::default()
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
            Command::Suppress(args) => args.typed(),
            Command::Web(args) => args.typed(),
            Command::Sandbox(_) | Command::Completions(_) | Command::Man(_) => Options::default(),
        };
        options.clear_switched_off();
        options
    }
}

fn delivery(calls: Option<&runs::CallArgs>) -> DeliveryOptions {
    let Some(calls) = calls else {
        return DeliveryOptions::default();
    };
    DeliveryOptions {
        rate: (!calls.rate.is_empty()).then(|| calls.rate.clone()),
        timeout: calls.timeout.clone(),
        ..DeliveryOptions::default()
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
