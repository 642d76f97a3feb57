//! The flags of `leadload runs`.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueHint;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::SignedDuration;

use crate::lead::{RunId, RunName, Status};
use crate::options::{ConnectionOptions, Format, Given, LogOptions, ProfileOptions, Value};
use crate::phone::PhoneNumber;
use crate::rate::RateChoice;

#[derive(Debug, Clone, clap::Args)]
#[command(after_long_help = "\
RUN is the number of a run, or `last`.

Examples:
  leadload runs --last 10
  leadload runs show last
  leadload runs export 12 --status rejected,failed --results problems.csv
  leadload runs undo last --dry-run
  leadload runs reconcile last
  leadload runs copy --to backup.sqlite3
  leadload runs prune --older-than 90d")]
pub struct RunsArgs {
    #[command(subcommand)]
    pub command: Option<RunsCommand>,

    /// List only the latest N
    #[arg(long, value_name = "N", value_parser = <NonZeroU32 as Value>::parse)]
    pub last: Option<NonZeroU32>,

    #[command(flatten)]
    pub place: ProfileOptions,

    /// Ledger to read [default: in your state folder] [env: LEADLOAD_LEDGER]
    #[arg(
        long,
        value_name = "FILE|URL",
        value_hint = ValueHint::FilePath,
        global = true,
        help_heading = "Service"
    )]
    pub ledger: Option<Given<PathBuf>>,

    /// Format of standard output [default: text]
    #[arg(long, value_name = "FORMAT", global = true, help_heading = "Output")]
    pub format: Option<Given<Format>>,

    #[command(flatten)]
    pub log: LogOptions,
}

#[derive(Debug, Clone, clap::Subcommand)]
pub enum RunsCommand {
    /// List the runs, the latest last
    List(ListArgs),
    /// Show a run: when it ran, inputs, outputs, options
    Show(ShowArgs),
    /// Write a results file of the rows that were sent or found invalid
    Export(ExportArgs),
    /// Make a backup of the ledger, also during a run
    ///
    /// Do not copy the ledger's own file instead: the last entries of a killed run may be in the
    /// files beside it.
    Copy(CopyArgs),
    /// Remove cells, error messages and file names of old runs
    ///
    /// Numbers, campaigns and lead ids stay, so no lead is sent twice.
    Prune(PruneArgs),
    /// Remove the leads of a run from the service again
    ///
    /// Those that the run created, and nothing else. Calls already made stay made. Killed, the same
    /// command goes on. Exit code 1: some leads are kept or unknown.
    Undo(Box<UndoArgs>),
    /// Look the uncertain rows of a run up at the service
    ///
    /// Not every service has a list of leads to look them up in.
    Reconcile(Box<ReconcileArgs>),
    /// Remove everything about a run, a number or a campaign
    ///
    /// Its leads count as new afterwards. For leads that are gone at the service.
    Forget(ForgetArgs),
}

#[derive(Debug, Clone, clap::Args)]
pub struct ListArgs {
    /// Only the latest N
    #[arg(long, value_name = "N", value_parser = <NonZeroU32 as Value>::parse)]
    pub last: Option<NonZeroU32>,
}

#[derive(Debug, Clone, clap::Args)]
pub struct ShowArgs {
    /// The number of a run, or `last` [default: last]
    #[arg(value_name = "RUN", default_value = "last", hide_default_value = true)]
    pub run: RunArg,
}

#[derive(Debug, Clone, clap::Args)]
pub struct ExportArgs {
    /// Numbers of runs, or `last` [default: all]
    #[arg(value_name = "RUN")]
    pub runs: Vec<RunArg>,

    /// Only rows for this campaign: its id, or a name that a run was started with
    #[arg(long, value_name = "ID_OR_NAME")]
    pub campaign: Option<String>,

    /// Only rows with this status
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = status())]
    pub status: Vec<Status>,

    /// File to write; `-` is standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub results: Given<PathBuf>,
}

impl ExportArgs {
    pub fn is_printed(&self) -> bool {
        self.results.as_os_str() == "-"
    }
}

#[derive(Debug, Clone, clap::Args)]
pub struct CopyArgs {
    /// Ledger to copy, to move it: nothing may be sent meanwhile [default: the one in use, as a
    /// backup]
    #[arg(long, value_name = "FILE|URL", value_hint = ValueHint::FilePath)]
    pub from: Option<Given<PathBuf>>,

    /// File to create, or a database for several computers
    ///
    /// A file that exists is not replaced. A database (`postgresql://user@host/database`, with the
    /// password in PGPASSWORD) must not have a ledger with runs in it.
    #[arg(long, value_name = "FILE|URL", value_hint = ValueHint::FilePath)]
    pub to: Given<PathBuf>,
}

#[derive(Debug, Clone, clap::Args)]
pub struct PruneArgs {
    /// Only runs that ended at least this long ago, such as `90d`, `2w` or `12h`
    #[arg(long, value_name = "AGE", value_parser = <SignedDuration as Value>::parse)]
    pub older_than: SignedDuration,

    /// Also remove their results and rejects, if unchanged
    #[arg(long)]
    pub files: bool,

    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Clone, clap::Args)]
pub struct ForgetArgs {
    #[command(flatten)]
    pub what: ForgetWhat,

    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Clone, clap::Args)]
pub struct UndoArgs {
    /// The number of a run, or `last`: the last one that you have started on this computer
    #[arg(value_name = "RUN")]
    pub run: RunArg,

    /// Show what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Do not ask
    #[arg(long)]
    pub yes: bool,

    /// File that says what became of each lead [default: NAME.undo.csv beside the list]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub results: Option<Given<PathBuf>>,

    #[command(flatten)]
    pub calls: CallArgs,
}

#[derive(Debug, Clone, clap::Args)]
pub struct ReconcileArgs {
    /// The number of a run, or `last`
    #[arg(value_name = "RUN")]
    pub run: RunArg,

    #[command(flatten)]
    pub calls: CallArgs,
}

/// How the service is called.
#[derive(Debug, Clone, clap::Args)]
pub struct CallArgs {
    #[command(flatten)]
    pub connection: ConnectionOptions,

    /// At most this many requests, such as `20/s` or `100/min`; `auto` or `none`. Repeatable [default: auto]
    #[arg(long, value_name = "N/UNIT", help_heading = "Delivery")]
    pub rate: Vec<Given<RateChoice>>,

    /// Time limit for each request [default: 60s]
    #[arg(long, value_name = "TIME", help_heading = "Delivery")]
    pub timeout: Option<Given<Duration>>,
}

impl RunsArgs {
    /// How the service is called, if the command calls it.
    pub fn calls(&self) -> Option<&CallArgs> {
        match self.command.as_ref()? {
            RunsCommand::Undo(undo) => Some(&undo.calls),
            RunsCommand::Reconcile(reconcile) => Some(&reconcile.calls),
            _ => None,
        }
    }
}

/// The run, the number or the campaign to forget: exactly one.
#[derive(Debug, Clone, clap::Args)]
#[group(required = true, multiple = false)]
pub struct ForgetWhat {
    /// The number of a run, or `last`
    #[arg(value_name = "RUN")]
    pub run: Option<RunArg>,

    /// A phone number, in every campaign of every service
    #[arg(long, value_name = "NUMBER", value_parser = e164)]
    pub number: Option<PhoneNumber>,

    /// A campaign of the service, by its id or its name
    #[arg(long, value_name = "NAME")]
    pub campaign: Option<String>,
}

const NO_RUN: &str = "write the number of a run, or `last`";

/// A higher number is a phone number rather than a run.
const HIGHEST: RunId = RunId(999_999);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunArg {
    /// By its number, or by the name that its rejects have for it.
    Named(RunName),
    Last,
}

impl FromStr for RunArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<RunArg, &'static str> {
        match text.trim() {
            "last" => Ok(RunArg::Last),
            name => match name.parse::<RunName>() {
                Ok(name) if name.run <= HIGHEST => Ok(RunArg::Named(name)),
                _ => Err(NO_RUN),
            },
        }
    }
}

fn e164(text: &str) -> Result<PhoneNumber, String> {
    PhoneNumber::from_e164(text).map_err(|_| {
        "write it whole, with `+` and the calling code, such as `+447911123456`".into()
    })
}

/// The statuses of rows that were sent or found invalid.
fn status() -> impl TypedValueParser<Value = Status> {
    let words = [
        Status::Created,
        Status::Duplicate,
        Status::Invalid,
        Status::Rejected,
        Status::Failed,
        Status::Uncertain,
    ];
    PossibleValuesParser::new(words.map(Status::as_str)).try_map(|word| word.parse())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_by_its_number_or_as_the_last() {
        for text in ["7", "7-bcdfg"] {
            assert_eq!(
                text.parse(),
                text.parse().map(RunArg::Named).map_err(|_| NO_RUN)
            );
        }
        assert_eq!("last".parse(), Ok(RunArg::Last));
        for text in ["", "-1", "+1", "1.5", "first", "447911000001"] {
            assert!(text.parse::<RunArg>().is_err(), "{text}");
        }
    }
}
