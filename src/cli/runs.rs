//! The flags of `leadload runs`.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueHint;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::SignedDuration;

use crate::lead::{RunId, Status};
use crate::options::{Format, LogOptions, ProfileOptions, Said, Value};
use crate::phone::PhoneNumber;

/// The command line of `leadload runs`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_long_help = "\
RUN is the number of a run, or `last`.

Examples:
  leadload runs --last 10
  leadload runs show last
  leadload runs export 12 --status rejected,failed --results problems.csv
  leadload runs copy --to backup.sqlite3
  leadload runs prune --older-than 90d")]
pub struct RunsArgs {
    /// What to do [default: list]
    #[command(subcommand)]
    pub command: Option<RunsCommand>,

    /// List only so many, the latest
    #[arg(long, value_name = "N", value_parser = <NonZeroU32 as Value>::parse)]
    pub last: Option<NonZeroU32>,

    /// Where settings are kept.
    #[command(flatten)]
    pub place: ProfileOptions,

    /// Ledger to look into [default: in your state folder] [env: LEADLOAD_LEDGER]
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        global = true,
        help_heading = "Service"
    )]
    pub ledger: Option<Said<PathBuf>>,

    /// Form of standard output [default: text]
    #[arg(long, value_name = "FORMAT", global = true, help_heading = "Output")]
    pub format: Option<Said<Format>>,

    /// What is said on standard error.
    #[command(flatten)]
    pub log: LogOptions,
}

/// What to do with runs.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum RunsCommand {
    /// List the runs, the latest last
    List(ListArgs),
    /// Show a run: starts, inputs, outputs, options
    Show(ShowArgs),
    /// Write a results file of what runs sent or refused
    Export(ExportArgs),
    /// Make a backup of the ledger, also while a run is being sent
    ///
    /// One file, which holds all that the ledger knows. Do not copy the ledger's own file: what
    /// a killed run has written down last may stand in the files beside it.
    Copy(CopyArgs),
    /// Remove cells, texts and file names of old runs
    ///
    /// Numbers, campaigns and lead ids stay, so that nobody is sent again.
    Prune(PruneArgs),
    /// Remove all that is known of a run or a number
    ///
    /// These people count as new then: for leads that were deleted at the service.
    Forget(ForgetArgs),
}

/// The flags of `leadload runs list`.
#[derive(Debug, Clone, clap::Args)]
pub struct ListArgs {
    /// Only so many, the latest
    #[arg(long, value_name = "N", value_parser = <NonZeroU32 as Value>::parse)]
    pub last: Option<NonZeroU32>,
}

/// The flags of `leadload runs show`.
#[derive(Debug, Clone, clap::Args)]
pub struct ShowArgs {
    /// The number of a run, or `last` [default: last]
    #[arg(value_name = "RUN", default_value = "last", hide_default_value = true)]
    pub run: RunArg,
}

/// The flags of `leadload runs export`.
#[derive(Debug, Clone, clap::Args)]
pub struct ExportArgs {
    /// Numbers of runs, or `last` [default: all]
    #[arg(value_name = "RUN")]
    pub runs: Vec<RunArg>,

    /// Only rows for this campaign: its id, or a name that a run was started with
    #[arg(long, value_name = "ID_OR_NAME")]
    pub campaign: Option<String>,

    /// Only rows that ended so
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = status())]
    pub status: Vec<Status>,

    /// The file that is written; `-` is standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub results: PathBuf,
}

/// The flags of `leadload runs copy`.
#[derive(Debug, Clone, clap::Args)]
pub struct CopyArgs {
    /// The file that is made; nothing is replaced
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub to: PathBuf,
}

/// The flags of `leadload runs prune`.
#[derive(Debug, Clone, clap::Args)]
pub struct PruneArgs {
    /// Only runs that ended so long ago, such as `90d`, `2w` or `12h`
    #[arg(long, value_name = "AGE", value_parser = <SignedDuration as Value>::parse)]
    pub older_than: SignedDuration,
}

/// The flags of `leadload runs forget`.
#[derive(Debug, Clone, clap::Args)]
pub struct ForgetArgs {
    /// What is forgotten.
    #[command(flatten)]
    pub what: ForgetWhat,

    /// Ask nothing
    #[arg(long)]
    pub yes: bool,
}

/// What is forgotten: one of the two.
#[derive(Debug, Clone, clap::Args)]
#[group(required = true, multiple = false)]
pub struct ForgetWhat {
    /// The number of a run, or `last`
    #[arg(value_name = "RUN")]
    pub run: Option<RunArg>,

    /// A phone number, in every campaign of every service
    #[arg(long, value_name = "NUMBER", value_parser = e164)]
    pub number: Option<PhoneNumber>,
}

/// What a run is named by.
const NO_RUN: &str = "write the number of a run, or `last`";

/// More than anybody has runs.
const MAX_DIGITS: usize = 6;

/// A run as it is named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunArg {
    /// By its number.
    Number(RunId),
    /// The latest that began.
    Last,
}

impl FromStr for RunArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<RunArg, &'static str> {
        match text.trim() {
            "last" => Ok(RunArg::Last),
            // Not so many digits as a phone number has, which would be shown as it is.
            number if number.len() <= MAX_DIGITS && number.bytes().all(|b| b.is_ascii_digit()) => {
                number
                    .parse()
                    .map(|number| RunArg::Number(RunId(number)))
                    .map_err(|_| NO_RUN)
            }
            _ => Err(NO_RUN),
        }
    }
}

/// A phone number as it was sent.
fn e164(text: &str) -> Result<PhoneNumber, String> {
    PhoneNumber::from_e164(text)
        .map_err(|_| "copy it from the results file, such as `+447911123456`".into())
}

/// What a row that was sent or refused can end in.
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
        assert_eq!("7".parse(), Ok(RunArg::Number(RunId(7))));
        assert_eq!("last".parse(), Ok(RunArg::Last));
        for text in ["", "-1", "+1", "1.5", "first", "447911000001"] {
            assert!(text.parse::<RunArg>().is_err(), "{text}");
        }
    }
}
