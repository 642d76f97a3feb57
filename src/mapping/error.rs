//! What is wrong between a header and the flags: what, in which file, and what to do next.

use std::fmt;

use super::spec::{PHONE_COLUMN, SKIP_COLUMN};
use crate::shell::quoted;
use crate::text::{grouped, listed, shown_name};

/// A mapping that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MappingError {
    /// A flag names a column that the header does not have.
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
    /// A flag names a header that several columns have.
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
    /// No column is known to hold the phone number.
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
    /// The first row should be the header and is a contact.
    HeaderIsData {
        /// The file.
        input: String,
        /// The line of that row.
        line: u64,
    },
    /// Several columns hold phone numbers.
    SeveralPhoneColumns {
        /// The columns, those with most numbers first.
        candidates: Vec<PhoneCandidate>,
        /// How many rows were looked at.
        rows: usize,
        /// The file.
        input: String,
    },
    /// The flag that is wrong is in a profile.
    Saved {
        /// What is wrong with it.
        error: Box<MappingError>,
        /// Where the mapping is, in words.
        place: String,
        /// What else to do.
        advice: String,
    },
    /// Two sources would fill one variable.
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
    SetTwice {
        /// The variable's name.
        name: String,
        /// The first of the two among all such flags, from 1.
        first: usize,
        /// The other.
        second: usize,
    },
    /// `--var COL` where the column's header gives no name.
    NoVariableName {
        /// The column's number, from 1.
        number: usize,
        /// The file.
        input: String,
    },
    /// `--keep` gives two columns one name.
    KeptTwice {
        /// The name.
        name: String,
    },
    /// A column is both sent and skipped.
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
    /// Its number and header.
    pub label: String,
    /// What means it to a flag.
    pub name: String,
    /// How many of the rows that were looked at have a number in it.
    pub numbers: usize,
}

impl std::error::Error for MappingError {}

impl fmt::Display for MappingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, hint) = self.what_and_hint();
        write!(f, "{what}\n\nhint: {hint}")
    }
}

impl MappingError {
    /// What is wrong, and what to do about it: a table.
    fn what_and_hint(&self) -> (String, String) {
        use MappingError as E;
        match self {
            E::NoSuchColumn { flag, column, nearest, headers, input } => (
                format!("`{flag} {}` names no column of `{input}`", shown_name(column)),
                match nearest {
                    Some(nearest) => format!("did you mean `{}`? ", shown_name(nearest)),
                    None => String::new(),
                } + &format!("its columns are {}", listed(headers)),
            ),
            E::SeveralColumns { flag, column, first, second, input } => (
                format!("`{flag} {}` fits columns {first} and {second} of `{input}`, which have the same name", shown_name(column)),
                format!("name the column by its number, such as `{flag} {first}`"),
            ),
            E::NoPhoneColumn { sheets, header_below, headers, input } => (
                format!("no column of `{input}` looks like a phone number"),
                match (&sheets[..], header_below) {
                    ([sheet], _) => format!("the sheet {} has one: `--sheet {}`", listed(sheets), quoted(sheet)),
                    ([first, ..], _) => format!("the sheets {} have one: choose one, such as `--sheet {}`", listed(sheets), quoted(first)),
                    ([], Some(line)) => format!("line {line} looks like the header: remove the lines above it"),
                    ([], None) => format!("name it with `--phone-column`; the columns are {}", listed(headers)),
                },
            ),
            E::HeaderIsData { input, line } => (
                format!("the first row of `{input}` (line {line}) looks like data, not like a header: it holds what a contact holds"),
                "if the file has no header, say so with `--no-header`; its columns are then called 1, 2, and so on".to_owned(),
            ),
            E::SeveralPhoneColumns { candidates, rows, input } => (
                format!("{} columns of `{input}` have phone numbers: {}", candidates.len(), candidates_listed(candidates, *rows)),
                format!("say which to call, in order: of each row the first usable number is taken. For all of them, {}", phone_column_flags(candidates)),
            ),
            E::Saved { error, place, advice } => {
                let (what, hint) = error.what_and_hint();
                (format!("{what}; the mapping is in {place}"), format!("{hint}; {advice}"))
            }
            E::TwoSources { name, first, second, skipped, input } => (
                format!("the variable `{}` would come from {first} and from {second} in `{input}`", shown_name(name)),
                format!("leave one out with `{}`, or give it another name with `--var NAME=COLUMN`", match skipped {
                    Some(column) => format!("{SKIP_COLUMN} {}", quoted(column)),
                    None => SKIP_COLUMN.to_owned(),
                }),
            ),
            E::SetTwice { name, first, second } => (
                format!("the variable `{}` would have two values: `--set` number {first} and `--set` number {second} both give it one", shown_name(name)),
                "drop one of the two".to_owned(),
            ),
            E::NoVariableName { number, input } => (
                format!("column {number} of `{input}` has no header that could name a variable"),
                format!("give it a name: `--var NAME={number}`"),
            ),
            E::KeptTwice { name } => (
                format!("`--keep` would give the results two columns called `{}`", shown_name(name)),
                "give one of them another name: `--keep NAME=COLUMN`".to_owned(),
            ),
            E::SkippedVariable { column, input } => (
                format!("column `{}` of `{input}` is named by both `--var` and `--skip-column`", shown_name(column)),
                "drop one of the two".to_owned(),
            ),
        }
    }
}

/// The columns, each with the number of rows that it fills.
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
    let flags = flags.map(|candidate| format!("{PHONE_COLUMN} {}", quoted(&candidate.name)));
    flags.collect::<Vec<_>>().join(" ")
}
