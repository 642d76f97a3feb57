//! A mismatch between a header and the flags: what is wrong, in which file, and what to do next.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::mark::NamedMark;
use super::spec::PHONE_COLUMN;
use crate::exit::{Failure, StoppedBy};
use crate::message::{Message, Text, Value};
use crate::shell::quoted;
use crate::text::{counted, grouped, nearest, shown_name};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MappingError {
    NoSuchColumn {
        flag: &'static str,
        /// The name as typed.
        column: String,
        headers: Arc<[String]>,
        input: String,
    },
    NoPhoneColumn {
        /// Other sheets of the workbook that have a phone column.
        sheets: Vec<String>,
        /// What to do about a row further down that looks like the header, if there is one.
        header_below: Option<Text>,
        headers: Vec<String>,
        input: String,
    },
    SeveralPhoneColumns {
        /// The columns with the most numbers first.
        candidates: Vec<PhoneCandidate>,
        /// How many rows were examined.
        rows: usize,
        input: String,
    },
    /// Several visible sheets have phone numbers, and nobody has said which one is meant.
    SeveralSheets {
        sheets: Vec<SheetRows>,
        input: String,
    },
    /// Rows are hidden in the sheet, and nobody has said what becomes of them.
    HiddenRows {
        rows: u64,
        hidden: u64,
        /// The line of the first of them.
        first: u64,
        input: String,
    },
    /// A column that says who must not be called has words that are not known.
    UnknownMarks {
        column: NamedMark,
        words: Vec<UnknownMark>,
    },
    /// Columns that nobody has named say that most people must not be called.
    MostMarked {
        columns: Vec<NamedMark>,
        marked: u64,
        rows: u64,
    },
    /// Anything else, and what to do about it.
    Other {
        /// The flag that is wrong, if it is a single one.
        flag: Option<&'static str>,
        message: Message,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhoneCandidate {
    pub label: Text,
    /// How a flag names the column.
    pub name: String,
    /// How many of the examined rows have a number in this column.
    pub numbers: usize,
}

/// A word that says neither yes nor no, and the line where it is first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownMark {
    pub text: String,
    pub rows: u64,
    pub line: u64,
}

/// A sheet with phone numbers, and how many data rows it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetRows {
    pub name: String,
    pub rows: u64,
}

impl std::error::Error for MappingError {}

impl fmt::Display for MappingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl From<MappingError> for Failure {
    fn from(error: MappingError) -> Failure {
        let message = error.message();
        Failure::new(StoppedBy::Usage, anyhow::Error::new(error).context(message))
    }
}

impl MappingError {
    pub(super) fn other(message: Message) -> MappingError {
        let flag = None;
        MappingError::Other { flag, message }
    }

    /// Names all headers of the input, also those that cannot be of the phone column.
    pub(super) fn with_headers(mut self, all: Vec<String>) -> MappingError {
        if let MappingError::NoPhoneColumn { headers, .. } = &mut self {
            *headers = all;
        }
        self
    }

    pub fn message(&self) -> Message {
        use MappingError as E;
        match self {
            E::NoSuchColumn {
                flag,
                column,
                headers,
                input,
            } => no_such_column(flag, column, headers, input),
            E::NoPhoneColumn {
                sheets,
                header_below,
                headers,
                input,
            } => no_phone_column(sheets, header_below.as_ref(), headers, input),
            E::SeveralPhoneColumns {
                candidates,
                rows,
                input,
            } => several_phone_columns(candidates, *rows, input),
            E::SeveralSheets { sheets, input } => several_sheets(sheets, input),
            E::HiddenRows {
                rows,
                hidden,
                first,
                input,
            } => hidden_rows(*rows, *hidden, *first, input),
            E::UnknownMarks { column, words } => unknown_marks(column, words),
            E::MostMarked {
                columns,
                marked,
                rows,
            } => most_marked(columns, *marked, *rows),
            E::Other { message, .. } => message.clone(),
        }
    }
}

fn no_such_column(flag: &str, column: &str, headers: &[String], input: &str) -> Message {
    let meant = match nearest(column, headers) {
        Some(nearest) => text!("did you mean `{name}`? ", name = shown_name(nearest)),
        None => Text::default(),
    };
    message!(
        "{`{flag} {name}` names no column of `{input}`|`{input}` has no column `{name}`, which was chosen before}",
        "{{meant}its columns are {headers}|choose the columns again, or go back and choose the list that has it}",
        flag,
        name = shown_name(column),
        input,
        meant,
        headers = headers.to_vec()
    )
}

fn no_phone_column(
    sheets: &[String],
    header_below: Option<&Text>,
    headers: &[String],
    input: &str,
) -> Message {
    let what = match sheets {
        [] => text!("no column of `{input}` looks like a phone number", input),
        _ => text!(
            "{no column of `{input}` looks like a phone number|this sheet has no column with phone numbers}",
            input
        ),
    };
    let hint = match (sheets, header_below) {
        ([sheet], _) => text!(
            "the sheet {sheets} has one{: `--sheet {name}`|; choose it}",
            sheets = sheets.to_vec(),
            name = quoted(sheet)
        ),
        ([first, ..], _) => text!(
            "the sheets {sheets} have one{: choose one, such as `--sheet {name}`|; choose one of them}",
            sheets = sheets.to_vec(),
            name = quoted(first)
        ),
        ([], Some(advice)) => advice.clone(),
        ([], None) => text!(
            "{name it with {--phone-column}; the columns are {headers}|choose the column with the phone numbers; if the columns look wrong, open {--no-header}}",
            headers = headers.to_vec()
        ),
    };
    Message::new(what, hint)
}

fn several_phone_columns(candidates: &[PhoneCandidate], rows: usize, input: &str) -> Message {
    message!(
        "{{number} columns of `{input}` have phone numbers: {listed}|several columns have phone numbers}",
        "{choose one with {--phone-column}, or several in order of preference: each row uses its first usable number. For all of them: {flags}|choose which one is called; if it is empty in a row, another one can be used}",
        number = candidates.len(),
        input,
        listed = candidates_listed(candidates, rows),
        flags = phone_column_flags(candidates)
    )
}

fn several_sheets(sheets: &[SheetRows], input: &str) -> Message {
    let listed = sheets.iter().map(|sheet| {
        let rows = counted(sheet.rows, "row");
        format!("`{}` ({rows})", shown_name(&sheet.name))
    });
    let first = sheets.first().map_or("", |sheet| &sheet.name);
    message!(
        "{{number} sheets of `{input}` have phone numbers: {listed}|several sheets have phone numbers}",
        "choose {one, such as `--sheet {first}`|the one whose people are meant; the others are not sent}",
        number = sheets.len(),
        input,
        listed = listed.collect::<Vec<_>>().join(", "),
        first = quoted(first)
    )
}

fn hidden_rows(rows: u64, hidden: u64, first: u64, input: &str) -> Message {
    message!(
        "{hidden} of {rows:row}{ of `{input}`|} {hidden?is:are} hidden{| in the sheet}, by a filter or by hand{ (the first in line {first})|; the first is row {first} of the sheet}",
        "{leave hidden rows out with `--hidden-rows skip`, or send them too with `--hidden-rows send`|choose whether these people are left out}",
        hidden,
        rows,
        input,
        first = first.to_string()
    )
}

fn unknown_marks(column: &NamedMark, words: &[UnknownMark]) -> Message {
    let words = words.iter().map(|UnknownMark { text, rows, line }| {
        text!(
            "{word} ({rows:row}, the first in line {line})",
            word = Value::Typed(text.clone()),
            rows = *rows,
            line = line.to_string()
        )
    });
    let words = words.reduce(|words, next| text!("{words}, {next}", words, next));
    message!(
        "{says}, but leadload does not know these words: {words}",
        "{write yes or no there; or choose the rows to send with `--only {rule}`; if the column says something else, use `{flag} none`|choose whether these people are left out}",
        says = column.says(),
        words = words.unwrap_or_else(Text::default),
        rule = quoted(&format!("{}=…", column.name)),
        flag = column.kind.flag()
    )
}

fn most_marked(columns: &[NamedMark], marked: u64, rows: u64) -> Message {
    let says = columns.iter().map(NamedMark::says);
    let says = says.reduce(|says, next| text!("{says}, and {next}", says, next));
    let hint = match columns {
        [NamedMark { kind, name, .. }] => text!(
            "{if it does, use `{flag} {name}`; if the column says something else, `{flag} none`|choose what the column says}",
            flag = kind.flag(),
            name = quoted(name)
        ),
        _ => {
            let flags: BTreeSet<_> = columns.iter().map(|column| column.kind.flag()).collect();
            text!(
                "{if they do, put what they say into one column and name it with `{flags}`; a flag with `none` uses no such column|put what they say into one column, and choose the list again}",
                flags = flags.into_iter().collect::<Vec<_>>().join("` or `")
            )
        }
    };
    Message::new(
        text!(
            "{marked} of {rows:row} would be left out, because {says}; nothing was sent",
            marked,
            rows,
            says = says.unwrap_or_else(Text::default)
        ),
        hint,
    )
}

fn candidates_listed(candidates: &[PhoneCandidate], rows: usize) -> String {
    let candidates = candidates.iter();
    let listed = candidates.map(|PhoneCandidate { label, numbers, .. }| match rows {
        0 => label.to_string(),
        _ => format!("{label} in {}", counted(*numbers as u64, "row")),
    });
    let listed = listed.collect::<Vec<_>>().join(", ");
    match rows {
        0 | 1 => listed,
        _ => format!("{listed}, of the first {}", grouped(rows as u64)),
    }
}

fn phone_column_flags(candidates: &[PhoneCandidate]) -> String {
    let flags = candidates.iter();
    let flags = flags.map(|candidate| format!("{PHONE_COLUMN} {}", quoted(&candidate.name)));
    flags.collect::<Vec<_>>().join(" ")
}
