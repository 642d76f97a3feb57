//! What is wrong between a header and the flags. Each text says what, in which
//! file, and what to do next.

use thiserror::Error;

use super::columns::Columns;
use crate::shell::quoted;
use crate::text::{grouped, listed, shown_name};

/// A mapping that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MappingError {
    /// A flag names a column that the header does not have.
    #[error("`{flag} {}` names no column of `{input}`\n\nhint: {}", shown_name(column), match nearest {
        Some(nearest) => format!("did you mean `{}`? ", shown_name(nearest)),
        None => String::new(),
    } + &format!("its columns are {}", listed(headers)))]
    NoSuchColumn {
        /// The flag that named it.
        flag: &'static str,
        /// The name as typed.
        column: String,
        /// The header most like it, if any is.
        nearest: Option<String>,
        /// All headers.
        headers: Vec<String>,
        /// The file.
        input: String,
    },
    /// A flag names a header that several columns bear.
    #[error(
        "`{flag} {}` fits columns {first} and {second} of `{input}`, which are called the same\n\nhint: name the column by its number, such as `{flag} {first}`",
        shown_name(column)
    )]
    SeveralColumns {
        /// The flag that named it.
        flag: &'static str,
        /// The name as typed.
        column: String,
        /// The number of the first such column, from 1.
        first: usize,
        /// The number of the second.
        second: usize,
        /// The file.
        input: String,
    },
    /// No column is known for that of the phone number.
    #[error(
        "no column of `{input}` looks like a phone number\n\nhint: {}",
        match (&sheets[..], header_below) {
            ([sheet], _) => format!("the sheet {} has one: `--sheet {}`", listed(sheets), quoted(sheet)),
            ([first, ..], _) => format!("the sheets {} have one: say which with `--sheet {}`, for instance", listed(sheets), quoted(first)),
            ([], Some(line)) => format!("the header seems to stand in line {line}: take out what is above it"),
            ([], None) => format!("name it with `--phone-column`; the columns are {}", listed(headers)),
        }
    )]
    NoPhoneColumn {
        /// Other sheets of the workbook that have one.
        sheets: Vec<String>,
        /// The line further down that looks like the header, if one does.
        header_below: Option<u64>,
        /// All headers.
        headers: Vec<String>,
        /// The file.
        input: String,
    },
    /// What should be the header is a contact.
    #[error(
        "the first row of `{input}` (line {line}) looks like data, not like a header: it holds what a contact holds\n\nhint: if the file has no header, say so with `--no-header`; its columns are then called 1, 2, and so on"
    )]
    HeaderIsData {
        /// The file.
        input: String,
        /// Where that row stands.
        line: u64,
    },
    /// Several do.
    #[error(
        "{} columns of `{input}` have phone numbers: {}\n\nhint: say which are to be called, in order: of each row the first usable number is taken. For all of them, {}",
        candidates.len(), candidates_listed(candidates, *rows), phone_column_flags(candidates)
    )]
    SeveralPhoneColumns {
        /// The columns, those with most numbers first.
        candidates: Vec<PhoneCandidate>,
        /// How many rows have been looked at.
        rows: usize,
        /// The file.
        input: String,
    },
    /// The flag that is wrong stands in a profile.
    #[error("{}", of_profile(error, place, advice))]
    Saved {
        /// What is wrong with it.
        error: Box<MappingError>,
        /// Where it stands, in words.
        place: String,
        /// What else to do.
        advice: String,
    },
    /// Two sources would fill one variable.
    #[error(
        "the variable `{}` would come from {first} and from {second} in `{input}`\n\nhint: leave one out with `{}`, or give it another name with `--var NAME=COLUMN`",
        shown_name(name), match skipped {
            Some(column) => format!("--skip-column {}", quoted(column)),
            None => "--skip-column".to_owned(),
        }
    )]
    TwoSources {
        /// The variable's name.
        name: String,
        /// One source, in words.
        first: String,
        /// The other, in words.
        second: String,
        /// What means the other to a flag, if it is a column.
        skipped: Option<String>,
        /// The file.
        input: String,
    },
    /// `--set` gives one variable two values.
    #[error(
        "the variable `{}` would have two values: `--set` number {first} and `--set` number {second} both give it one\n\nhint: drop one of the two",
        shown_name(name)
    )]
    SetTwice {
        /// The variable's name.
        name: String,
        /// The first of the two among all such flags, from 1.
        first: usize,
        /// The other.
        second: usize,
    },
    /// `--var COL` where the column's header gives no name.
    #[error(
        "column {number} of `{input}` has no header that could name a variable\n\nhint: give it a name: `--var NAME={number}`"
    )]
    NoVariableName {
        /// The column's number, from 1.
        number: usize,
        /// The file.
        input: String,
    },
    /// `--keep` gives two columns one name.
    #[error(
        "`--keep` would give the results two columns called `{}`\n\nhint: give one of them another name: `--keep NAME=COLUMN`",
        shown_name(name)
    )]
    KeptTwice {
        /// The name.
        name: String,
    },
    /// A column is both to be sent and to be skipped.
    #[error(
        "column `{}` of `{input}` is named by both `--var` and `--skip-column`\n\nhint: drop one of the two",
        shown_name(column)
    )]
    SkippedVariable {
        /// The column's header.
        column: String,
        /// The file.
        input: String,
    },
}

/// A column that holds phone numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhoneCandidate {
    /// Where it stands and what it is called.
    pub label: String,
    /// What means it to a flag.
    pub name: String,
    /// In how many of the rows that have been looked at it has a number.
    pub numbers: usize,
}

/// The columns, each with how many rows it fills.
fn candidates_listed(candidates: &[PhoneCandidate], rows: usize) -> String {
    let candidates = candidates.iter();
    let listed = candidates.map(|PhoneCandidate { label, numbers, .. }| match rows {
        0 => label.clone(),
        _ => format!("{label} in {}", grouped(*numbers as u64)),
    });
    let listed = listed.collect::<Vec<_>>().join(", ");
    match rows {
        0 => listed,
        1 => format!("{listed} of the first row"),
        _ => format!("{listed} of the first {} rows", grouped(rows as u64)),
    }
}

/// The flags that take these columns in this order.
fn phone_column_flags(candidates: &[PhoneCandidate]) -> String {
    let flags = candidates.iter();
    let flags = flags.map(|candidate| format!("--phone-column {}", quoted(&candidate.name)));
    flags.collect::<Vec<_>>().join(" ")
}

impl MappingError {
    /// The same with all columns, also those among which no phone column was looked for.
    pub(super) fn about(mut self, columns: &Columns<'_>) -> MappingError {
        if let MappingError::NoPhoneColumn { headers, .. } = &mut self {
            *headers = columns.names();
        }
        self
    }
}

/// The same, and where the flag stands.
fn of_profile(error: &MappingError, place: &str, advice: &str) -> String {
    let text = error.to_string();
    let (what, hint) = text.split_once("\n\nhint: ").unwrap_or((&text, ""));
    format!("{what}; the mapping stands in {place}\n\nhint: {hint}; {advice}")
}
