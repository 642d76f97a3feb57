//! The flags of `leadload import`, which `leadload check` takes too.

use std::path::PathBuf;

use clap::ValueHint;

use super::EXIT_CODES;
use crate::options::Options;

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
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_long_help = format!("{BELOW}\n\n{EXIT_CODES}"))]
pub struct ImportArgs {
    /// How it is done.
    #[command(flatten)]
    pub options: Options,

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
}
