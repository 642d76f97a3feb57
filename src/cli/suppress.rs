//! The flags of `leadload suppress`.

use std::path::PathBuf;

use clap::ValueHint;

use super::ListFormat;
use crate::options::{
    Format, Given, LedgerOptions, LogOptions, Options, OutputOptions, PhoneOptions, ProfileOptions,
};
use crate::phone::{PhoneRule, Region};

#[derive(Debug, Clone, clap::Args)]
#[command(after_long_help = "\
Examples:
  leadload suppress add --number +447700900201 --reason \"asked us to stop\"
  leadload suppress add blocked.xlsx --region GB
  leadload suppress list --format csv > blocked.csv
  leadload suppress remove --number +447700900201")]
pub struct SuppressArgs {
    #[command(subcommand)]
    pub command: SuppressCommand,

    #[command(flatten)]
    pub place: ProfileOptions,

    /// Ledger that keeps the list [default: in your state folder] [env: LEADLOAD_LEDGER]
    #[arg(
        long,
        value_name = "FILE|URL",
        value_hint = ValueHint::FilePath,
        global = true,
        help_heading = "Service"
    )]
    pub ledger: Option<Given<PathBuf>>,

    #[command(flatten)]
    pub log: LogOptions,
}

#[derive(Debug, Clone, clap::Subcommand)]
pub enum SuppressCommand {
    /// Put numbers on the list: no import calls them, whatever its flags say
    ///
    /// Also says which of these people are leads already, and in which campaigns. An import that
    /// is being sent leaves them out from now on.
    Add(AddArgs),
    /// Take numbers off the list: imports call these people again
    Remove(RemoveArgs),
    /// Print the list
    List(ListArgs),
}

#[derive(Debug, Clone, clap::Args)]
pub struct AddArgs {
    #[command(flatten)]
    pub numbers: NumbersArgs,

    /// Why, for those who read the list later
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,

    /// Format of standard output [default: text]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub format: Option<Given<Format>>,
}

#[derive(Debug, Clone, clap::Args)]
pub struct RemoveArgs {
    #[command(flatten)]
    pub numbers: NumbersArgs,

    /// Format of standard output [default: text]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub format: Option<Given<Format>>,
}

#[derive(Debug, Clone, clap::Args)]
pub struct ListArgs {
    /// Format of the list on standard output [default: text]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub format: Option<ListFormat>,
}

/// Numbers: one by one, or in files that are read as do-not-call lists of an import are.
#[derive(Debug, Clone, clap::Args)]
pub struct NumbersArgs {
    /// CSV, .xlsx, .xls or .ods, also compressed by gzip or zstd
    #[arg(
        value_name = "LIST",
        value_hint = ValueHint::FilePath,
        required_unless_present = "number"
    )]
    pub files: Vec<PathBuf>,

    /// A phone number. Repeatable
    #[arg(long, value_name = "NUMBER")]
    pub number: Vec<String>,

    /// Country of numbers without one, such as GB, or `none`
    #[arg(long, value_name = "CC", help_heading = "Phone numbers")]
    pub region: Option<Given<Option<Region>>>,

    /// Read digits without + and without a country as international numbers
    #[arg(long, action = clap::ArgAction::SetTrue, help_heading = "Phone numbers")]
    pub assume_plus: Option<bool>,

    /// How strictly numbers are checked [default: possible]
    #[arg(long, value_name = "RULE", help_heading = "Phone numbers")]
    pub phone_rule: Option<Given<PhoneRule>>,
}

impl SuppressArgs {
    pub fn typed(&self) -> Options {
        let (phones, format) = match &self.command {
            SuppressCommand::Add(add) => (add.numbers.phones(), add.format.clone()),
            SuppressCommand::Remove(remove) => (remove.numbers.phones(), remove.format.clone()),
            SuppressCommand::List(list) => {
                let format = list.format.map(ListFormat::in_settings);
                (PhoneOptions::default(), format)
            }
        };
        Options {
            place: self.place.clone(),
            ledger: LedgerOptions {
                ledger: self.ledger.clone(),
                ..LedgerOptions::default()
            },
            phones,
            output: OutputOptions {
                format,
                ..OutputOptions::default()
            },
            log: self.log.clone(),
            ..Options::default()
        }
    }
}

impl NumbersArgs {
    fn phones(&self) -> PhoneOptions {
        PhoneOptions {
            region: self.region.clone(),
            assume_plus: self.assume_plus,
            phone_rule: self.phone_rule.clone(),
            ..PhoneOptions::default()
        }
    }
}
