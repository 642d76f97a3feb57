//! What the user asked for, before any header has been seen.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::SavedMapping;

/// How a header becomes a variable's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VarNames {
    /// `Customer Name` → `customer_name`.
    #[default]
    Snake,
    /// As it stands.
    AsIs,
}

impl VarNames {
    /// The variable's name for a column called `header`; none where nothing
    /// that could be a name is left.
    pub fn name(self, header: &str) -> Option<String> {
        let name = match self {
            VarNames::Snake => snake(header),
            VarNames::AsIs => header.to_owned(),
        };
        (!name.trim().is_empty()).then_some(name)
    }
}

/// What becomes of an empty cell (or one of white space).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EmptyCells {
    /// The variable is left out.
    #[default]
    Omit,
    /// The variable is an empty string.
    Send,
}

/// Where the country of each row's number stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RegionColumns {
    /// In every column whose header and cells say so.
    #[default]
    Auto,
    /// Nowhere.
    None,
    /// In this column, by its header or its number.
    Named(String),
}

/// The mapping flags of one command. Columns are named by header or by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MappingSpec {
    /// `--phone-column`, in the order given; detected when empty.
    pub phone_columns: Vec<String>,
    /// `--campaign-column`.
    pub campaign_column: Option<String>,
    /// `--region-column`.
    pub region_columns: RegionColumns,
    /// `--var`, `COL` or `NAME=COL`: which of the two depends on the header, since a
    /// column's name may hold an `=`. When any is given, only these are sent.
    pub variables: Vec<String>,
    /// No column is sent, although none is named above.
    pub no_variables: bool,
    /// `--skip-column`.
    pub skipped: Vec<String>,
    /// `--set`: name and value.
    pub constants: Vec<(String, String)>,
    /// `--only`, `COL=VALUE`.
    pub only: Vec<String>,
    /// `--keep`, `COL` or `NAME=COL`: columns that are copied into the results.
    pub kept: Vec<String>,
    /// `--var-names`.
    pub var_names: VarNames,
    /// `--empty`.
    pub empty_cells: EmptyCells,
    /// What of this comes from a profile.
    pub saved: Option<SavedMapping>,
}

impl MappingSpec {
    /// Whether what this flag says comes from a profile.
    pub(super) fn is_saved(&self, flag: &str) -> bool {
        let saved = self.saved.as_ref();
        saved.is_some_and(|saved| saved.brings(flag))
    }
}

/// Lower case, each run of other than letters and digits one `_`, trimmed. The marks that
/// some scripts, and files from a Mac, write behind their letters belong to these.
pub(super) fn snake(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    for c in text.nfc() {
        let is_mark = is_combining_mark(c) && !name.is_empty() && !name.ends_with('_');
        if c.is_alphanumeric() || is_mark {
            name.extend(c.to_lowercase());
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    name.truncate(name.trim_end_matches('_').len());
    name
}

/// The words of a header, with `_` between them, also where it is written `MobilePhone`.
pub(super) fn words(header: &str) -> String {
    let mut spaced = String::with_capacity(header.len());
    let mut follows_small = false;
    for c in header.chars() {
        if follows_small && c.is_uppercase() {
            spaced.push(' ');
        }
        follows_small = c.is_lowercase();
        spaced.push(c);
    }
    snake(&spaced)
}

/// Whether a name in its snake form is one of the words. Marks that some scripts put on
/// letters are no letters to [`snake`], so that words are compared in that form too.
pub(super) fn is_one_of(name: &str, words: &[&str]) -> bool {
    words.iter().any(|word| snake(word) == name)
}

/// Whether one of the parts of a name in its snake form is one of the words.
pub(super) fn has_any(name: &str, words: &[&str]) -> bool {
    name.split('_').any(|part| is_one_of(part, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snake_names_keep_letters_and_digits_of_every_script() {
        for (header, name) in [
            ("Customer Name", "customer_name"),
            ("  E-Mail (work) ", "e_mail_work"),
            ("Größe", "größe"),
            ("ГОРОД", "город"),
            ("x__y", "x_y"),
            ("2nd line", "2nd_line"),
            ("pre\u{301}nom", "pr\u{e9}nom"),
            ("ชื่อ ลูกค้า", "ชื่อ_ลูกค้า"),
            ("###", ""),
        ] {
            assert_eq!(snake(header), name, "{header}");
        }
    }

    #[test]
    fn a_header_without_letters_gives_no_name() {
        assert_eq!(VarNames::Snake.name("--"), None);
        assert_eq!(VarNames::AsIs.name("--"), Some("--".into()));
        assert_eq!(VarNames::AsIs.name("  "), None);
    }
}
