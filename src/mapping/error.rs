//! A mismatch between a header and the flags: what is wrong, in which file, and what to do next.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::mark::NamedMark;
use super::spec::PHONE_COLUMN;
use crate::exit::{Failure, StoppedBy};
use crate::message::Message;
use crate::shell::quoted;
use crate::text::{counted, grouped, listed, nearest, quoted_value, shown_name};

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
        header_below: Option<String>,
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
    pub label: String,
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
    pub(super) fn other(what: String, hint: impl Into<String>) -> MappingError {
        MappingError::Other {
            flag: None,
            message: Message::new(what, hint),
        }
    }

    /// The same with words for the page.
    pub(super) fn on_page(self, what: String, hint: &str) -> MappingError {
        match self {
            MappingError::Other { flag, message } => MappingError::Other {
                flag,
                message: message.on_page(what, hint),
            },
            other => other,
        }
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
            } => Message::new(
                format!(
                    "`{flag} {}` names no column of `{input}`",
                    shown_name(column)
                ),
                match nearest(column, headers) {
                    Some(nearest) => format!("did you mean `{}`? ", shown_name(nearest)),
                    None => String::new(),
                } + &format!("its columns are {}", listed(headers)),
            )
            .on_page(
                format!(
                    "`{input}` has no column `{}`, which was chosen before",
                    shown_name(column)
                ),
                "Choose the columns again, or go back and choose the list that has it.",
            ),
            E::NoPhoneColumn {
                sheets,
                header_below,
                headers,
                input,
            } => Message::new(
                format!("no column of `{input}` looks like a phone number"),
                match (&sheets[..], header_below) {
                    ([sheet], _) => format!(
                        "the sheet {} has one: `--sheet {}`",
                        listed(sheets),
                        quoted(sheet)
                    ),
                    ([first, ..], _) => format!(
                        "the sheets {} have one: choose one, such as `--sheet {}`",
                        listed(sheets),
                        quoted(first)
                    ),
                    ([], Some(advice)) => advice.clone(),
                    ([], None) => format!(
                        "name it with `--phone-column`; the columns are {}",
                        listed(headers)
                    ),
                },
            ),
            E::SeveralPhoneColumns {
                candidates,
                rows,
                input,
            } => Message::new(
                format!(
                    "{} columns of `{input}` have phone numbers: {}",
                    candidates.len(),
                    candidates_listed(candidates, *rows)
                ),
                format!(
                    "choose one with `--phone-column`, or several in order of preference: each row uses its first usable number. For all of them: {}",
                    phone_column_flags(candidates)
                ),
            ),
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

fn several_sheets(sheets: &[SheetRows], input: &str) -> Message {
    let listed = sheets.iter().map(|sheet| {
        let rows = counted(sheet.rows, "row");
        format!("`{}` ({rows})", shown_name(&sheet.name))
    });
    let listed = listed.collect::<Vec<_>>().join(", ");
    let first = sheets.first().map_or("", |sheet| &sheet.name);
    let names: Vec<String> = sheets.iter().map(|sheet| sheet.name.clone()).collect();
    let message = Message::new(
        format!(
            "{} sheets of `{input}` have phone numbers: {listed}",
            sheets.len()
        ),
        format!("choose one, such as `--sheet {}`", quoted(first)),
    );
    message.asks_for_sheet(&names)
}

fn hidden_rows(rows: u64, hidden: u64, first: u64, input: &str) -> Message {
    let of = counted(rows, "row");
    let are = if hidden == 1 { "is" } else { "are" };
    let what = format!(
        "{} of {of} of `{input}` {are} hidden, by a filter or by hand (the first in line {first})",
        grouped(hidden)
    );
    Message::new(
        what,
        "leave hidden rows out with `--hidden-rows skip`, or send them too with `--hidden-rows send`",
    )
    .hint_on_page("Choose whether they are left out or sent too.")
}

fn unknown_marks(column: &NamedMark, words: &[UnknownMark]) -> Message {
    let words = words.iter().map(|word| {
        let (text, rows) = (quoted_value(&word.text), counted(word.rows, "row"));
        format!("{text} ({rows}, the first in line {})", word.line)
    });
    let words = words.collect::<Vec<_>>().join(", ");
    let NamedMark { name, kind, .. } = column;
    let what = format!(
        "{}, but leadload does not know these words: {words}",
        column.says()
    );
    let hint = format!(
        "write yes or no there; or choose the rows to send with `--only {}`; if the column says something else, use `{} none`",
        quoted(&format!("{name}=…")),
        kind.flag()
    );
    Message::new(what, hint).hint_on_page("Choose whether these people are left out.")
}

fn most_marked(columns: &[NamedMark], marked: u64, rows: u64) -> Message {
    let says: Vec<String> = columns.iter().map(NamedMark::says).collect();
    let (marked, rows, says) = (grouped(marked), counted(rows, "row"), says.join(", and "));
    let what = format!("{marked} of {rows} would be left out, because {says}; nothing was sent");
    let flags = columns.iter().map(|column| column.kind.flag());
    let (hint, on_page) = match columns {
        [NamedMark { kind, name, .. }] => {
            let (flag, name) = (kind.flag(), quoted(name));
            let hint = format!(
                "if it does, use `{flag} {name}`; if the column says something else, `{flag} none`"
            );
            (hint, "Choose what the column says.")
        }
        _ => (
            format!(
                "if they do, put what they say into one column and name it with `{}`; a flag with `none` uses no such column",
                flags
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .collect::<Vec<_>>()
                    .join("` or `")
            ),
            "Put what they say into one column, and choose the list again.",
        ),
    };
    Message::new(what, hint).hint_on_page(on_page)
}

fn candidates_listed(candidates: &[PhoneCandidate], rows: usize) -> String {
    let candidates = candidates.iter();
    let listed = candidates.map(|PhoneCandidate { label, numbers, .. }| match rows {
        0 => label.clone(),
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
