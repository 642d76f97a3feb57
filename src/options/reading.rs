//! In what form a list is, and how leads are made of its rows.

use std::path::PathBuf;

use clap::ValueHint;

use super::Said;
use super::declare::options;
use super::value::{
    CampaignText, Column, Constant, DefaultRegion, Delimiter, Header, Name, NamedColumn, Value,
};
use crate::mapping::{EmptyCells, RegionColumns, VarNames};
use crate::phone::{PhoneRule, Region};
use crate::source::Encoding;

options! {
    /// In what form the files are; whatever is not said is found out.
    #[command(next_help_heading = "Reading")]
    pub struct ReadingOptions {
        /// What stands between cells: a character, or `tab` [default: found out, `,` `;` tab or `|`]
        #[arg(long, value_name = "C")]
        delimiter: Said<Delimiter> => Reading;

        /// Encoding, such as utf-8 or windows-1252 [default: found out]
        #[arg(long, value_name = "NAME")]
        encoding: Said<Encoding> => Reading;

        /// The first row is a contact already; columns are then called 1, 2, and so on
        #[arg(long, action = clap::ArgAction::SetTrue)]
        no_header: bool => Reading;

        /// Sheet of a spreadsheet file [default: the first]
        #[arg(long, value_name = "NAME")]
        sheet: Said<Name> => Reading;

        /// Only the first N data rows
        #[arg(long, value_name = "N")]
        limit: Said<u64> => List { is_identity: true };

        /// Send nothing if the input has fewer data rows; rejects aside
        #[arg(long, value_name = "N")]
        min_rows: Said<u64> => List;
    }
}

options! {
    /// How rows become leads. COL is a header's text, in any case, or a column's number.
    #[command(next_help_heading = "Mapping")]
    pub struct MappingOptions {
        /// Campaign: its id, or the name of exactly one
        #[arg(long, value_name = "ID_OR_NAME")]
        campaign: Said<CampaignText> => Mapping {
            is_kept_with_mapping: false,
            is_repeated_after_check: true
        };

        /// Column with each row's campaign; an empty cell takes --campaign
        #[arg(long, value_name = "COL")]
        campaign_column: Said<Column> => Mapping { names_columns: true };

        /// Column with the phone number [default: found out]
        ///
        /// Given several times, the first column with a usable number is taken.
        #[arg(long, value_name = "COL")]
        phone_column: Vec<Said<Column>> => Mapping { names_columns: true };

        /// Send only this column as a variable [default: all]
        ///
        /// Under the name that stands before the `=`, if one does. Repeatable. Where nothing is
        /// said, all columns that have a header are sent, but for phone, campaign and region.
        #[arg(long, value_name = "[NAME=]COL")]
        var: Vec<Said<NamedColumn>> => Mapping { names_columns: true };

        /// Do not send this column. Repeatable
        #[arg(long, value_name = "COL")]
        skip_column: Vec<Said<Column>> => Mapping { names_columns: true };

        /// Send the same variable with every row. Repeatable
        #[arg(long, value_name = "NAME=VALUE")]
        set: Vec<Said<Constant>> => Mapping { is_personal: true };

        /// Send only rows with this value in this column; the others are `excluded`. Repeatable
        ///
        /// Any case, spaces trimmed. Several columns must all fit; several values for one column
        /// are alternatives.
        #[arg(long, value_name = "COL=VALUE")]
        only: Vec<Said<Constant>> => Mapping { is_identity: true, names_columns: true };

        /// How headers become names of variables [default: snake]
        #[arg(long, value_name = "FORM")]
        var_names: Said<VarNames> => Mapping { default: Some("snake") };

        /// What becomes of empty cells [default: omit]
        #[arg(long, value_name = "WHAT")]
        empty: Said<EmptyCells> => Mapping { default: Some("omit"), is_identity: true };

        /// Copy this column into the results, under its header or NAME. Repeatable
        #[arg(long, value_name = "[NAME=]COL")]
        keep: Vec<Said<NamedColumn>> => Mapping;

        /// Keep the mapping in this profile (`check` only): later no other column is sent
        #[arg(long, value_name = "PROFILE")]
        save_mapping: Said<Name> => Command;

        /// The columns that the list had when its mapping was saved: what it does not name of
        /// them was left out on purpose.
        #[arg(skip)]
        columns: Vec<Said<Header>> => Mapping { has_flag: false };
    }
}

options! {
    /// What makes a phone number, and who is not called.
    #[command(next_help_heading = "Phone numbers")]
    pub struct PhoneOptions {
        /// Country of numbers without +, such as GB, or `none`
        #[arg(long, value_name = "CC")]
        region: Said<DefaultRegion> => Mapping { is_identity: true };

        /// Column with each row's country, `auto` or `none`; an empty cell takes --region [default: auto]
        ///
        /// A country is an ISO code, its name in English or in its own language, or a calling
        /// code such as +49. With `auto`, columns whose header means country and whose cells are
        /// mostly countries are used, and stay variables.
        #[arg(long, value_name = "COL")]
        region_column: Said<RegionColumns> => Mapping { names_columns: true, default: Some("auto") };

        /// Take digits without + and without a country for international numbers
        #[arg(long, action = clap::ArgAction::SetTrue)]
        assume_plus: bool => Mapping { is_identity: true };

        /// What a number must be [default: possible]
        #[arg(long, value_name = "RULE")]
        phone_rule: Said<PhoneRule> => Mapping { default: Some("possible"), is_identity: true };

        /// Only numbers of these countries
        #[arg(long, value_name = "CC,…", value_delimiter = <Region as Value>::SEPARATOR)]
        countries: Vec<Said<Region>> => Mapping { is_identity: true };

        /// Do-not-call list: nobody on it is sent. Repeatable
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        suppress: Vec<Said<PathBuf>> => Mapping;
    }
}
