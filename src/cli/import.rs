//! The flags of `leadload import`, which `leadload check` takes too.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use super::values::{RateArg, concurrency, duration};
use super::{ConnectionArgs, Format, MappingArgs, OutputArgs, PhoneArgs, Progress, ReadingArgs};
use crate::api::wire::VariablesShape;
use crate::intake::OnUncertain;
use crate::intake::{KnownBad, Once};
use crate::pipeline::ConcurrencyChoice;

/// The command line of `leadload import` and `leadload check`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
COL is a column's header, in any case, or its number, counted from 1.

Examples:
  leadload import contacts.csv --sandbox --campaign \"Spring promo\"
  leadload check contacts.csv
  leadload import contacts.csv --campaign 101 --rate 100/min --skip-column notes")]
pub struct ImportArgs {
    /// Files of contacts: CSV in any usual form, also packed by gzip or zstd, or .xlsx, .xls, .ods;
    /// `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,

    /// Where the service is.
    #[command(flatten)]
    pub connection: ConnectionArgs,

    /// Record of every lead sent, by which a run goes on and no lead is made twice; `none` keeps
    /// none [default: in your state folder] [env: LEADLOAD_LEDGER]
    #[arg(long, value_name = "FILE", help_heading = "Connection")]
    pub ledger: Option<PathBuf>,

    /// How files are read.
    #[command(flatten)]
    pub reading: ReadingArgs,

    /// How rows become leads.
    #[command(flatten)]
    pub mapping: MappingArgs,

    /// What makes a phone number.
    #[command(flatten)]
    pub phones: PhoneArgs,

    /// How leads are sent.
    #[command(flatten)]
    pub delivery: DeliveryArgs,

    /// Results file [default: NAME.results.csv beside the input]; `none` writes none
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub results: Option<PathBuf>,

    /// File of rows to mend and send again [default: NAME.rejects.csv beside the input]; `none`
    /// writes none
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub rejects: Option<PathBuf>,

    /// Form of the summary on standard output
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Output"
    )]
    pub format: Format,

    /// Progress bar on standard error
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Output"
    )]
    pub progress: Progress,

    /// What is said on standard error.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// How leads are sent.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Delivery")]
pub struct DeliveryArgs {
    /// The same as `leadload check`: send nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Requests in any span of time, at most: `20/s`, `100/min`, `20/10s`, `0.5/s`, repeatable;
    /// `none`; or `auto`, which finds out what the service allows [default: auto; 50/s with
    /// --sandbox]
    #[arg(long, value_name = "N/UNIT|auto|none")]
    pub rate: Vec<RateArg>,

    /// Requests in flight, at most; `auto` finds out how many the service carries
    /// [default: auto]
    #[arg(long, value_name = "N|auto", value_parser = concurrency)]
    pub concurrency: Option<ConcurrencyChoice>,

    /// Attempts for each row, at most; refusals that ask to come back later do not count
    /// [default: 8]
    #[arg(long, value_name = "N")]
    pub max_attempts: Option<NonZeroU32>,

    /// Time for each request [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub timeout: Option<Duration>,

    /// Stop cleanly after this long [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub max_duration: Option<Duration>,

    /// Stop when no answer about any row has come for this long [default: 1h]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub max_outage: Option<Duration>,

    /// Stop when so many rows in a row were rejected for the same reason [default: 50]
    #[arg(long, value_name = "N")]
    pub stop_after: Option<NonZeroU32>,

    /// Let the service make a second lead for a number that a campaign has, and send numbers that
    /// repeat in the input
    #[arg(long)]
    pub allow_duplicates: bool,

    /// An attempt that may have been taken: send it again, or leave the row `uncertain`
    /// [default: resend; hold with --allow-duplicates]
    #[arg(long, value_name = "WHAT")]
    pub on_uncertain: Option<OnUncertain>,

    /// How often a number is sent: once to each campaign, or once whatever the campaign
    #[arg(long, value_name = "SCOPE", default_value = "campaign")]
    pub once: Once,

    /// Rows that were invalid or rejected in an earlier run, and have the same cells: try them
    /// again, or leave them alone
    #[arg(long, value_name = "WHAT", default_value = "retry")]
    pub known_bad: KnownBad,

    /// Form of the variables: `[{…}]`, or `{…}` as newer deployments document it [default: array]
    #[arg(long, value_name = "SHAPE")]
    pub variables_shape: Option<VariablesShape>,

    /// With --allow-duplicates: send an input that an earlier run has sent
    #[arg(long, requires = "allow_duplicates")]
    pub again: bool,

    /// When another run is at it, wait for it to end
    #[arg(long)]
    pub wait: bool,
}
