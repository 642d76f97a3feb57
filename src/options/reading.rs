//! How a list is read, and how its rows become leads.

use std::path::PathBuf;

use clap::ValueHint;

use super::Given;
use super::declare::options;
use super::value::{Bound, Constant, Delimiter, Value};
use crate::mapping::{ColumnChoice, EmptyCells, HiddenRows, Unclear, VarNames};
use crate::phone::{KindChoice, PhoneRule, Region};
use crate::source::Encoding;

options! {
    #[command(next_help_heading = "Reading")]
    pub struct ReadingOptions {
        /// What separates cells: a character, or `tab` [default: detected: `,` `;` tab or `|`]
        #[arg(long, value_name = "C")]
        delimiter: Given<Delimiter> => Reading;

        /// Encoding, such as utf-8 or windows-1252 [default: detected]
        #[arg(long, value_name = "NAME")]
        encoding: Given<Encoding> => Reading;

        /// The first row is a contact; columns are then called 1, 2, and so on
        #[arg(long, action = clap::ArgAction::SetTrue)]
        no_header: bool => Reading;

        /// Sheet of a spreadsheet file [default: the only one with phone numbers]
        #[arg(long, value_name = "NAME")]
        sheet: Given<String> => Reading;

        /// What to do with rows that a filter or a person has hidden in a spreadsheet file
        #[arg(long, value_name = "WHAT")]
        hidden_rows: Given<HiddenRows> => Reading;

        /// Read only the first N data rows
        #[arg(long, value_name = "N")]
        limit: Given<u64> => List { is_identity: true };

        /// Send nothing if the input has fewer data rows; does not apply to rejects
        ///
        /// P%: of the rows of the last complete run of the list at this path.
        #[arg(long, value_name = "N|P%")]
        min_rows: Given<Bound> => List;

        /// Send nothing if more rows are invalid
        ///
        /// P%: of the rows of the input. Rows that --known-bad skips do not count.
        #[arg(long, value_name = "N|P%")]
        max_invalid: Given<Bound> => List;
    }
}

options! {
    #[command(next_help_heading = "Mapping")]
    pub struct MappingOptions {
        /// Campaign: its id, or its name if that is unique
        #[arg(long, value_name = "ID_OR_NAME")]
        campaign: Given<String> => Mapping {
            is_kept_with_mapping: false,
            is_repeated_after_check: true
        };

        /// Column with each row's campaign; rows with an empty cell use --campaign
        #[arg(long, value_name = "COL")]
        campaign_column: Given<String> => Mapping { names_columns: true };

        /// Column with the phone number [default: detected]
        ///
        /// Repeatable: each row uses the first column with a usable number.
        ///
        /// A+B: the cells of two columns, area code and number, are one number.
        #[arg(long, value_name = "COL")]
        phone_column: Vec<Given<String>> => Mapping { names_columns: true };

        /// Send this column as a variable; columns not named are not sent [default: all]
        ///
        /// Under NAME, if one is given. Repeatable. By default, all columns that have a header are
        /// sent, except phone, campaign and region.
        #[arg(long, value_name = "[NAME=]COL")]
        var: Vec<Given<String>> => Mapping { names_columns: true };

        /// Do not send this column. Repeatable
        #[arg(long, value_name = "COL")]
        skip_column: Vec<Given<String>> => Mapping { names_columns: true };

        /// Send the same variable with every row. Repeatable
        #[arg(long, value_name = "NAME=VALUE")]
        set: Vec<Given<Constant>> => Mapping { is_personal: true };

        /// Send only rows with this value in this column; the others are `excluded`. Repeatable
        ///
        /// In upper or lower case, spaces trimmed. Several columns must all match; several values
        /// for one column are alternatives. COL>=2025-01-31 and COL<=2025-12-31 compare dates.
        #[arg(long, value_name = "COL=VALUE")]
        only: Vec<Given<Constant>> => Mapping { is_identity: true, names_columns: true };

        /// Column that says who must not be called, `auto` or `none` [default: auto]
        ///
        /// A number that any row marks is `suppressed` in all its rows. `auto` uses columns whose
        /// header says do not call, opt-out, blocked and the like, and names no other channel.
        #[arg(long, value_name = "COL")]
        do_not_call_column: Given<ColumnChoice> => Mapping { names_columns: true, default: Some("auto") };

        /// Column that says who agrees to be called, `auto` or `none` [default: auto]
        ///
        /// Where it says no, the number is `suppressed` in all its rows. `auto` uses columns whose
        /// header says consent or opt-in, and names no other channel.
        #[arg(long, value_name = "COL")]
        consent_column: Given<ColumnChoice> => Mapping { names_columns: true, default: Some("auto") };

        /// What becomes of rows with words in these columns that are not known, as somebody has
        /// answered.
        #[arg(skip)]
        unclear_marks: Given<Unclear> => Mapping { has_flag: false };

        /// What becomes of rows without anything in a consent column, as somebody has answered.
        #[arg(skip)]
        empty_consent: Given<Unclear> => Mapping { has_flag: false };

        /// How headers become names of variables [default: snake]
        #[arg(long, value_name = "FORM")]
        var_names: Given<VarNames> => Mapping { default: Some("snake") };

        /// What to do with empty cells [default: omit]
        #[arg(long, value_name = "WHAT")]
        empty: Given<EmptyCells> => Mapping { default: Some("omit"), is_identity: true };

        /// Copy this column into the results, under its header or NAME. Repeatable
        #[arg(long, value_name = "[NAME=]COL")]
        keep: Vec<Given<String>> => Mapping;

        /// Save the mapping in this profile (`check` only): later no other column is sent
        #[arg(long, value_name = "PROFILE")]
        save_mapping: Given<String> => Command;

        /// The columns that the list had when its mapping was saved: those that the mapping does
        /// not name were left out on purpose.
        #[arg(skip)]
        columns: Vec<Given<String>> => Mapping { has_flag: false };
    }
}

options! {
    #[command(next_help_heading = "Phone numbers")]
    pub struct PhoneOptions {
        /// Country of numbers without one, such as GB, or `none`
        #[arg(long, value_name = "CC")]
        region: Given<Option<Region>> => Mapping { is_identity: true };

        /// Column with each row's country, `auto` or `none`; rows with an empty cell use --region [default: auto]
        ///
        /// A country is an ISO code, its name in English or in its own language, or a calling
        /// code such as +49. `auto` uses columns whose header means country and whose cells are
        /// mostly countries; they are still sent as variables.
        #[arg(long, value_name = "COL")]
        region_column: Given<ColumnChoice> => Mapping { names_columns: true, default: Some("auto") };

        /// Read digits without + and without a country as international numbers
        #[arg(long, action = clap::ArgAction::SetTrue)]
        assume_plus: bool => Mapping { is_identity: true };

        /// How strictly numbers are checked [default: possible]
        #[arg(long, value_name = "RULE")]
        phone_rule: Given<PhoneRule> => Mapping { default: Some("possible"), is_identity: true };

        /// Send only to numbers of these countries
        #[arg(long, value_name = "CC,…", value_delimiter = <Region as Value>::SEPARATOR)]
        countries: Vec<Given<Region>> => Mapping { is_identity: true };

        /// Kinds of numbers that are sent [default: all but premium, pager and satellite]
        ///
        /// fixed, mobile, fixed_or_mobile, voip, personal, toll_free, shared_cost, uan, voicemail,
        /// premium, pager, satellite, unknown; `fixed` and `mobile` include `fixed_or_mobile`. With a
        /// plus, as in +premium, a kind is added to the default; `all` is all of them.
        #[arg(long, value_name = "KIND,…", value_delimiter = <KindChoice as Value>::SEPARATOR)]
        phone_kinds: Vec<Given<KindChoice>> => Mapping { is_identity: true };

        /// Do-not-call list: its numbers are not sent (or `none`)
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        suppress: Vec<Given<PathBuf>> => Mapping;
    }
}
