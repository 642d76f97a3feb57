//! The flags of `leadload import`, which `leadload check` takes too.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueHint;

use super::values::{RateArg, concurrency, duration, from_one, rate, whole};
use super::{
    ConnectionArgs, EXIT_CODES, Format, MappingArgs, OutputArgs, PhoneArgs, Progress, ReadingArgs,
};
use crate::api::wire::VariablesShape;
use crate::intake::OnUncertain;
use crate::intake::{KnownBad, Once};
use crate::pipeline::ConcurrencyChoice;

/// What stands below the flags.
const BELOW: &str = "\
COL is a column's header, in any case, or its number, counted from 1.

The same command again goes on where a run was stopped, and sends nobody twice.

Examples:
  leadload import contacts.csv --sandbox --campaign \"Spring promo\"
  leadload import contacts.csv --campaign 101 --rate 100/min --skip-column notes
  leadload import kunden.xlsx --campaign 101 --region DE --suppress blocked.csv
  leadload import contacts.rejects.csv";

/// The command line of `leadload import` and `leadload check`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_long_help = format!("{BELOW}\n\n{EXIT_CODES}"))]
pub struct ImportArgs {
    /// Where the service is.
    #[command(flatten)]
    pub connection: ConnectionArgs,

    /// Record of every lead sent, by which a run goes on and no lead is made twice; `none` keeps
    /// none [default: in your state folder] [env: LEADLOAD_LEDGER]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Service")]
    pub ledger: Option<PathBuf>,

    /// CSV in any usual form, .xlsx, .xls or .ods, also packed by gzip or zstd; `-` for standard
    /// input
    #[arg(
        required = true,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        help_heading = "Reading",
        display_order = 0
    )]
    pub inputs: Vec<PathBuf>,

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

    /// Results file, a line for every row; `none` writes none [default: NAME.results.csv]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub results: Option<PathBuf>,

    /// Rows to mend and send again; `none` writes none [default: NAME.rejects.csv]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub rejects: Option<PathBuf>,

    /// Write a report for people: one HTML page with charts that needs nothing else
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Output",
        value_hint = ValueHint::FilePath
    )]
    pub report: Option<PathBuf>,

    /// Write figures of the run into this file all the while, in the text form of Prometheus
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Output",
        value_hint = ValueHint::FilePath
    )]
    pub metrics_file: Option<PathBuf>,

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

    /// Requests in a time, at most, such as `100/min` [default: auto]
    ///
    /// `20/s`, `100/min`, `20/10s` and `0.5/s` bound the requests in any span of that length;
    /// given several times, all of them hold. `auto` finds out what the service allows, `none`
    /// sets no limit. With --sandbox the default is 50/s.
    #[arg(long, value_name = "RATE", value_parser = rate, allow_hyphen_values = true)]
    pub rate: Vec<RateArg>,

    /// Requests in flight, at most; `auto` finds out how many the service carries
    /// [default: auto]
    #[arg(long, value_name = "N|auto", value_parser = concurrency)]
    pub concurrency: Option<ConcurrencyChoice>,

    /// Attempts for each row, at most; refusals that ask to come back later do not count
    /// [default: 8]
    #[arg(long, value_name = "N", value_parser = from_one)]
    pub max_attempts: Option<NonZeroU32>,

    /// Time for each request [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub timeout: Option<Duration>,

    /// Send nothing if more than N rows would be sent
    #[arg(long, value_name = "N", value_parser = whole)]
    pub max_new: Option<u64>,

    /// Send one lead to this number, and nothing else
    ///
    /// It has the first ready row's variables. For a call to oneself before thousands are called.
    #[arg(long, value_name = "NUMBER")]
    pub test_to: Option<String>,

    /// Ask nothing before sending
    #[arg(long)]
    pub yes: bool,

    /// Stop cleanly after this long [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub max_duration: Option<Duration>,

    /// Stop when no answer about any row has come for this long [default: 1h]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub max_outage: Option<Duration>,

    /// Stop when so many rows in a row were rejected for the same reason [default: 50]
    #[arg(long, value_name = "N", value_parser = from_one)]
    pub stop_after: Option<NonZeroU32>,

    /// Let the service make a second lead for a number that a campaign has, and send numbers that
    /// repeat in the input
    #[arg(long)]
    pub allow_duplicates: bool,

    /// What to do about an attempt that may have been taken [default: resend; hold with
    /// --allow-duplicates]
    #[arg(long, value_name = "WHAT")]
    pub on_uncertain: Option<OnUncertain>,

    /// How often a number is sent
    #[arg(long, value_name = "SCOPE", default_value = "campaign")]
    pub once: Once,

    /// What to do about rows that were invalid or rejected before and have the same cells
    #[arg(long, value_name = "WHAT", default_value = "retry")]
    pub known_bad: KnownBad,

    /// Form in which variables are sent [default: array]
    #[arg(long, value_name = "SHAPE")]
    pub variables_shape: Option<VariablesShape>,

    /// With --allow-duplicates: send a list that an earlier run has sent
    #[arg(long)]
    pub again: bool,

    /// Wait while another run is at it, instead of ending with exit code 6
    #[arg(long)]
    pub wait: bool,
}
