//! What went wrong, in the words of the page: no flags, no commands, and what to do here.

use super::words::names;
use crate::exit::{Failure, StoppedBy};
use crate::import::SentBefore;
use crate::mapping::{MappingError, MarkKind, NamedMark, PhoneCandidate};
use crate::message::Message;
use crate::report::DoubtError;
use crate::screen::Doubt;
use crate::text::{counted, file_name, grouped, shown_name};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub what: String,
    pub hint: Option<String>,
    pub by: StoppedBy,
    /// What the page asks for, if an answer helps.
    pub question: Option<Question>,
}

/// What the terminal asks too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// Several columns have phone numbers.
    PhoneColumns(Vec<PhoneCandidate>),
    /// One of these sheets is to be chosen.
    Sheet(Vec<SheetChoice>),
    /// So many rows are hidden in the sheet.
    HiddenRows(u64),
    /// A column that says who must not be called has words that are not known.
    UnknownMarks,
    /// A column that was found, by its name, seems to say that most people must not be called.
    MostMarked(MarkKind, String),
    /// The phone column is not known.
    PhoneColumn,
    /// The numbers may be of another country.
    Country,
    /// A column that was chosen is not in the list.
    Columns,
    /// The list was sent before: its leads were removed again, or its campaign is another one now.
    Again,
}

/// A sheet, and how many rows it has, if that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetChoice {
    pub name: String,
    pub rows: Option<u64>,
}

impl SheetChoice {
    fn named(names: &[String]) -> Vec<SheetChoice> {
        let names = names.iter().cloned();
        names.map(|name| SheetChoice { name, rows: None }).collect()
    }
}

impl Trouble {
    pub fn of(failure: &Failure) -> Trouble {
        let error = &failure.error;
        if let Some(error) = error.downcast_ref::<MappingError>() {
            return Trouble::of_mapping(error);
        }
        if error.downcast_ref::<DoubtError>().is_some() {
            return Trouble {
                question: Some(Question::Country),
                ..Trouble::new("Many numbers may be in the wrong country.", WRONG_COUNTRY)
            };
        }
        let trouble = Trouble::of_message(failure.stopped_by, &failure.message());
        match error.downcast_ref::<SentBefore>() {
            Some(SentBefore) => Trouble {
                question: Some(Question::Again),
                ..trouble
            },
            None => trouble,
        }
    }

    /// What a message says in the words of the page. There is always something to do.
    pub fn of_message(by: StoppedBy, message: &Message) -> Trouble {
        let (what, hint) = message.for_page();
        let hint = match message.has_words_for_page() {
            true => hint.map(sentences),
            false => hint.and_then(without_flags),
        };
        Trouble {
            what: sentence(what),
            hint: hint.or_else(|| Some(what_helps(by).to_owned())),
            by,
            question: match message.sheets() {
                [] => None,
                sheets => Some(Question::Sheet(SheetChoice::named(sheets))),
            },
        }
    }

    /// The numbers may be of another country than the one that was chosen.
    pub fn of_doubt(doubt: &Doubt) -> Trouble {
        let first = doubt.lists.iter().map(|list| &list.first);
        let first = first
            .flat_map(|first| first.cells.iter().zip(&first.lines))
            .next();
        let country = doubt.region.in_sentence();
        let like = match doubt.likely() {
            Some(likely) => format!("looks like a number of {}", likely.in_sentence()),
            None => "does not look like one of its numbers".to_owned(),
        };
        let example = first.map_or_else(String::new, |(cell, line)| {
            format!(" {cell} in line {line} {like} but would be dialled as a number of {country}.")
        });
        let numbers = counted(doubt.doubtful(), "number");
        Trouble {
            what: format!("{numbers} may be in the wrong country.{example}"),
            hint: Some(match doubt.likely() {
                Some(likely) => {
                    format!("Most of them fit {}. {WRONG_COUNTRY}", likely.in_sentence())
                }
                None => WRONG_COUNTRY.to_owned(),
            }),
            by: StoppedBy::Usage,
            question: Some(Question::Country),
        }
    }

    /// Many numbers have no country.
    pub fn without_country(numbers: u64) -> Trouble {
        let numbers = counted(numbers, "number");
        Trouble {
            question: Some(Question::Country),
            ..Trouble::new(
                format!("{numbers} have no + and country code."),
                "Which country are they from? Choose it, or the column that names it. Without a country these rows can't be sent.",
            )
        }
    }

    /// The sheets of which one is to be chosen.
    pub fn sheets(&self) -> Option<&[SheetChoice]> {
        match &self.question {
            Some(Question::Sheet(sheets)) => Some(sheets),
            _ => None,
        }
    }

    /// What happened and what to do, in one paragraph.
    pub fn text(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{} {hint}", self.what),
            None => self.what.clone(),
        }
    }

    /// Something that the page itself has found.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Trouble {
        Trouble {
            what: what.into(),
            hint: Some(hint.into()),
            by: StoppedBy::Usage,
            question: None,
        }
    }

    pub fn of_mapping(error: &MappingError) -> Trouble {
        let (what, hint, question) = match error {
            MappingError::NoSuchColumn { column, input, .. } => (
                format!(
                    "{} has no column “{}”, which was chosen before.",
                    quoted(input),
                    shown_name(column)
                ),
                "Choose the columns again, or go back and choose the list that has it.".to_owned(),
                Question::Columns,
            ),
            MappingError::NoPhoneColumn { sheets, input, .. } if sheets.is_empty() => (
                format!("No column of {} looks like a phone number.", quoted(input)),
                "Choose the column with the phone numbers. If the columns look wrong, open “Does this look wrong?”.".to_owned(),
                Question::PhoneColumn,
            ),
            MappingError::NoPhoneColumn { sheets, .. } => (
                "This sheet has no column with phone numbers.".to_owned(),
                format!("Another sheet has one: {}. Choose it.", names(sheets)),
                Question::Sheet(SheetChoice::named(sheets)),
            ),
            MappingError::SeveralSheets { sheets, .. } => (
                "Several sheets have phone numbers.".to_owned(),
                "Choose the one whose people are meant. The others are not sent.".to_owned(),
                Question::Sheet(sheets.iter().map(|sheet| SheetChoice {
                    name: sheet.name.clone(),
                    rows: Some(sheet.rows),
                }).collect()),
            ),
            MappingError::HiddenRows { rows, hidden, first, .. } => (
                format!(
                    "{} of {} {} hidden in the sheet, by a filter or by hand. The first is row {first} of the sheet.",
                    grouped(*hidden),
                    counted(*rows, "row"),
                    if *hidden == 1 { "is" } else { "are" },
                ),
                "Choose whether these people are left out.".to_owned(),
                Question::HiddenRows(*hidden),
            ),
            MappingError::SeveralPhoneColumns { candidates, .. } => (
                "Several columns have phone numbers.".to_owned(),
                "Choose which one is called. If it is empty in a row, another one can be used.".to_owned(),
                Question::PhoneColumns(candidates.clone()),
            ),
            MappingError::UnknownMarks { .. } | MappingError::MostMarked { .. } => {
                let trouble = Trouble::of_message(StoppedBy::Usage, &error.message());
                let question = match error {
                    MappingError::MostMarked { columns, .. } => match &columns[..] {
                        [NamedMark { kind, name, .. }] => {
                            Some(Question::MostMarked(*kind, name.clone()))
                        }
                        _ => None,
                    },
                    _ => Some(Question::UnknownMarks),
                };
                return Trouble {
                    question,
                    ..trouble
                };
            }
            MappingError::Other { message, .. } => {
                return Trouble {
                    question: Some(Question::Columns),
                    ..Trouble::of_message(StoppedBy::Usage, message)
                };
            }
        };
        Trouble {
            what,
            hint: Some(hint),
            by: StoppedBy::Usage,
            question: Some(question),
        }
    }
}

fn quoted(file: &str) -> String {
    format!("“{}”", shown_name(file_name(file)))
}

const WRONG_COUNTRY: &str = "Choose the country, or the column that names it. If the numbers are right as they are, tick that below “Country”.";

/// What helps where nothing better is known.
fn what_helps(by: StoppedBy) -> &'static str {
    match by {
        StoppedBy::Disk => "Free some space on this computer's disk, then try again.",
        StoppedBy::Busy => "Wait until the other list is sent, then try again.",
        StoppedBy::Token => "Paste a new access token under “Service”.",
        StoppedBy::Redirect | StoppedBy::Outage | StoppedBy::Unreadable => {
            "Check the address under “Service” and your internet connection, then try again."
        }
        _ => "Try again. If it happens again, start leadload again.",
    }
}

/// A text as the page shows it. What stands between backquotes is quoted as in a letter, and a file
/// is called by its name alone: the page names no path of the computer.
pub fn plain(text: &str) -> String {
    let text = without_os_errors(text);
    if !text.matches('`').count().is_multiple_of(2) {
        return text.replace('`', "");
    }
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        0 => part.to_owned(),
        _ => format!("“{}”", file_name(part)),
    });
    parts.collect()
}

/// `No space left on device (os error 28)` without the number, which helps nobody here.
fn without_os_errors(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_once(')').unwrap_or_default();
        match number.parse::<i32>() {
            Ok(_) => whole.push_str(rest),
            Err(_) => whole = format!("{whole} (os error {part}"),
        }
    }
    whole
}

/// A text as a sentence of the page.
pub fn sentence(text: &str) -> String {
    let text = plain(text);
    let mut letters = text.chars();
    let Some(first) = letters.next() else {
        return text;
    };
    // A file's name keeps its first letter, and so does that of this program.
    let is_name = text
        .split(' ')
        .next()
        .is_some_and(|word| word.contains('.') || word.starts_with("leadload"));
    let first: String = match is_name {
        true => first.to_string(),
        false => first.to_uppercase().collect(),
    };
    let end = if text.ends_with(['.', '?', '!', ':']) {
        ""
    } else {
        "."
    };
    format!("{first}{}{end}", letters.as_str())
}

/// What the words of the page say to do: several sentences stay as they are.
fn sentences(hint: &str) -> String {
    let parts = hint.split("; ").map(sentence);
    parts.collect::<Vec<_>>().join(" ")
}

/// The parts of a hint that are for people without a terminal; `None` if there are none. For
/// messages that have no words for the page.
fn without_flags(hint: &str) -> Option<String> {
    let is_typed = |part: &str| {
        part.contains("--")
            || part.contains("leadload ")
            || part.contains("LEADLOAD_")
            || part.contains("command")
            || part.contains("profile")
    };
    let parts = hint.split("; ").flat_map(|part| part.split(". "));
    let kept: Vec<String> = parts
        .map(str::trim)
        .filter(|part| !part.is_empty() && !is_typed(part))
        .map(sentence)
        .collect();
    (!kept.is_empty()).then(|| kept.join(" "))
}

#[cfg(test)]
#[path = "trouble_tests.rs"]
mod tests;
