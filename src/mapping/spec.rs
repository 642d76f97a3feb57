//! What the user asked for, before any header has been read.

use super::header_words::snake;

pub(super) const VAR: &str = "--var";
pub(super) const PHONE_COLUMN: &str = "--phone-column";
pub(super) const REGION_COLUMN: &str = "--region-column";
pub(super) const KEEP: &str = "--keep";
pub(super) const SKIP_COLUMN: &str = "--skip-column";
pub(super) const ONLY: &str = "--only";
pub(super) const DO_NOT_CALL_COLUMN: &str = "--do-not-call-column";
pub(super) const CONSENT_COLUMN: &str = "--consent-column";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VarNames {
    /// `Customer Name` → `customer_name`.
    #[default]
    Snake,
    AsIs,
}

impl VarNames {
    /// The variable's name for a column called `header`; `None` if no letter or
    /// digit remains for a name.
    pub fn name(self, header: &str) -> Option<String> {
        let name = match self {
            VarNames::Snake => snake(header),
            VarNames::AsIs => header.to_owned(),
        };
        (!name.trim().is_empty()).then_some(name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EmptyCells {
    #[default]
    Omit,
    Send,
}

/// Which columns are used for what only some lists have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ColumnChoice {
    /// Every column whose header, and perhaps its cells, mean that.
    #[default]
    Auto,
    None,
    Named(String),
}

/// What becomes of people about whom the list says nothing that is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unclear {
    LeaveOut,
    Call,
}

/// What becomes of rows that are hidden in a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HiddenRows {
    Send,
    Skip,
}

/// The mapping flags of one command. Columns are named by header or by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MappingSpec {
    /// `--phone-column`, in the order given; detected if empty.
    pub phone_columns: Vec<String>,
    pub campaign_column: Option<String>,
    pub region_columns: ColumnChoice,
    /// Who must not be called, as the list itself says.
    pub do_not_call: ColumnChoice,
    /// Who agrees to be called, as the list itself says.
    pub consent: ColumnChoice,
    /// What becomes of words in these columns that are not known; `None` if nobody has said it.
    pub unclear_marks: Option<Unclear>,
    /// What becomes of empty cells of a consent column; `None` if nobody has said it.
    pub empty_consent: Option<Unclear>,
    /// `--var`, `COL` or `NAME=COL`. Which of the two it is depends on the header, because a
    /// column's name may contain `=`. If any is given, only these columns are sent.
    pub variables: Vec<String>,
    /// If `variables` is empty, no column is sent (and not every column).
    pub no_variables: bool,
    pub skipped: Vec<String>,
    pub constants: Vec<(String, String)>,
    /// `--only`, `COL=VALUE`, or `COL>=DATE` and `COL<=DATE`.
    pub only: Vec<String>,
    /// What becomes of rows that are hidden in a sheet; `None` if nobody has said it.
    pub hidden_rows: Option<HiddenRows>,
    /// `--keep`, `COL` or `NAME=COL`: columns that are copied into the results.
    pub kept: Vec<String>,
    pub var_names: VarNames,
    pub empty_cells: EmptyCells,
    pub saved: Option<SavedMapping>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedMapping {
    pub place: String,
    pub save_command: String,
    pub flags: Vec<String>,
    /// The columns that the list had when the mapping was saved, if that is known.
    pub columns: Option<Vec<String>>,
    /// Whether the mapping is about to be saved again: it then loses the columns that are no longer
    /// in the list. Otherwise a missing column means that this is another list.
    pub is_saved_again: bool,
}

impl SavedMapping {
    pub(super) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|saved| saved == flag)
    }

    /// The headers of the list when the mapping was saved, if the flag comes from the profile. A
    /// number in the profile means the column that had this number then.
    pub(super) fn columns_for(&self, flag: &str) -> Option<&[String]> {
        self.has(flag).then_some(self.columns.as_deref())?
    }

    /// Whether the mapping continues without the column that this flag names if
    /// it is missing. This is not so for the number, the campaign or the region:
    /// they decide who is called and for what.
    pub(super) fn can_lose(&self, flag: &str) -> bool {
        let is_optional = [VAR, SKIP_COLUMN].contains(&flag);
        is_optional && self.is_saved_again && self.has(flag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_without_letters_gives_no_name() {
        assert_eq!(VarNames::Snake.name("--"), None);
        assert_eq!(VarNames::AsIs.name("--"), Some("--".into()));
        assert_eq!(VarNames::AsIs.name("  "), None);
    }
}
