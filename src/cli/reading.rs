//! The flags for reading files and making leads of their rows.

use std::path::PathBuf;

use clap::ValueHint;

use super::values::{delimiter, encoding, name_and_value, region, whole};
use crate::mapping::{EmptyCells, VarNames};
use crate::phone::{PhoneRule, Region};
use crate::source::Encoding;

/// In what form the files are; whatever is not said is found out.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Reading")]
pub struct ReadingArgs {
    /// What stands between cells: a character, or `tab` [default: found out, `,` `;` tab or `|`]
    #[arg(long, value_name = "C", value_parser = delimiter)]
    pub delimiter: Option<u8>,

    /// Encoding, such as utf-8 or windows-1252 [default: found out]
    #[arg(long, value_name = "NAME", value_parser = encoding)]
    pub encoding: Option<Encoding>,

    /// The first row is a contact already; columns are then called 1, 2, and so on
    #[arg(long)]
    pub no_header: bool,

    /// Sheet of a spreadsheet file [default: the first]
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,

    /// Only the first N data rows
    #[arg(long, value_name = "N", value_parser = whole)]
    pub limit: Option<u64>,

    /// Send nothing if the input has fewer data rows; rejects aside
    #[arg(long, value_name = "N", value_parser = whole)]
    pub min_rows: Option<u64>,
}

/// What makes a phone number, and who is not called.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Phone numbers")]
pub struct PhoneArgs {
    /// Country of national numbers: GB for `07911 123456`
    #[arg(long, value_name = "CC", value_parser = region)]
    pub region: Option<Region>,

    /// Column with each row's country, as ISO code or English name; an empty cell takes --region
    #[arg(long, value_name = "COL")]
    pub region_column: Option<String>,

    /// Take digits without + and without a country for international numbers
    #[arg(long)]
    pub assume_plus: bool,

    /// What a number must be [default: possible]
    #[arg(long, value_name = "RULE")]
    pub phone_rule: Option<PhoneRule>,

    /// Only numbers of these countries
    #[arg(long, value_name = "CC,…", value_delimiter = ',', value_parser = region)]
    pub countries: Vec<Region>,

    /// Do-not-call list: nobody on it is sent. Repeatable
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub suppress: Vec<PathBuf>,
}

/// How rows become leads. COL is a header's text, in any case, or a column's number.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Mapping")]
pub struct MappingArgs {
    /// Campaign: its id, or the name of exactly one
    #[arg(long, value_name = "ID_OR_NAME")]
    pub campaign: Option<String>,

    /// Column with each row's campaign; an empty cell takes --campaign
    #[arg(long, value_name = "COL")]
    pub campaign_column: Option<String>,

    /// Column with the phone number [default: found out]
    ///
    /// Given several times, the first column with a usable number is taken.
    #[arg(long, value_name = "COL")]
    pub phone_column: Vec<String>,

    /// Send only this column as a variable [default: all]
    ///
    /// Under the name that stands before the `=`, if one does. Repeatable. Where nothing is said,
    /// all columns that have a header are sent, but for phone, campaign and region.
    #[arg(long, value_name = "[NAME=]COL")]
    pub var: Vec<String>,

    /// Do not send this column. Repeatable
    #[arg(long, value_name = "COL")]
    pub skip_column: Vec<String>,

    /// Send the same variable with every row. Repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub set: Vec<(String, String)>,

    /// How headers become names of variables [default: snake]
    #[arg(long, value_name = "FORM")]
    pub var_names: Option<VarNames>,

    /// What becomes of empty cells [default: omit]
    #[arg(long, value_name = "WHAT")]
    pub empty: Option<EmptyCells>,

    /// Copy this column into the results, under its header or NAME. Repeatable
    #[arg(long, value_name = "[NAME=]COL")]
    pub keep: Vec<String>,

    /// Keep the mapping in this profile (`check` only): later no other column is sent
    #[arg(long, value_name = "PROFILE")]
    pub save_mapping: Option<String>,

    /// Send no column: an empty list of them, which no flag says, but a profile does.
    #[arg(skip)]
    pub no_var: bool,
}
