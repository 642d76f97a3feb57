//! What went wrong, what to do about it here, and what the page asks for.

use crate::exit::{Failure, StoppedBy};
use crate::import::SentBefore;
use crate::mapping::{MappingError, MarkKind, NamedMark, PhoneCandidate};
use crate::message::Message;
use crate::report::DoubtError;
use crate::source::ChooseSheet;

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
        Trouble {
            question: Question::of(&failure.error),
            ..Trouble::of_message(failure.stopped_by, &failure.message())
        }
    }

    pub fn of_mapping(error: &MappingError) -> Trouble {
        Trouble {
            question: Question::of_mapping(error),
            ..Trouble::of_message(StoppedBy::Usage, &error.message())
        }
    }

    /// There is always something to do, also where a message has words for the terminal alone.
    pub fn of_message(by: StoppedBy, message: &Message) -> Trouble {
        let (what, hint) = match message.is_for_page() {
            true => message.on_page(),
            false => (UNUSABLE_SETTINGS.to_owned(), Some(ASK.to_owned())),
        };
        Trouble {
            what,
            hint: hint.or_else(|| Some(what_helps(by).to_owned())),
            by,
            question: None,
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

    /// Many numbers have no country.
    pub fn without_country(numbers: u64) -> Trouble {
        let what = text!(
            "{numbers:number} {numbers?has:have} no + and country code",
            numbers
        );
        let hint = text!(
            "which country are they from? Choose it, or the column that names it. Without a country these rows can't be sent"
        );
        Trouble {
            question: Some(Question::Country),
            ..Trouble::of_message(StoppedBy::Usage, &Message::new(what, hint))
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
}

impl Question {
    /// What an answer to an error would be; `None` if none helps.
    fn of(error: &anyhow::Error) -> Option<Question> {
        if let Some(error) = error.downcast_ref::<MappingError>() {
            return Question::of_mapping(error);
        }
        if let Some(ChooseSheet(sheets)) = error.downcast_ref() {
            return Some(Question::Sheet(SheetChoice::named(sheets)));
        }
        let is_of_country = error.downcast_ref::<DoubtError>().is_some();
        let was_sent = error.downcast_ref::<SentBefore>().is_some();
        match (is_of_country, was_sent) {
            (true, _) => Some(Question::Country),
            (_, true) => Some(Question::Again),
            _ => None,
        }
    }

    fn of_mapping(error: &MappingError) -> Option<Question> {
        use MappingError as E;
        Some(match error {
            E::NoPhoneColumn { sheets, .. } if sheets.is_empty() => Question::PhoneColumn,
            E::NoPhoneColumn { sheets, .. } => Question::Sheet(SheetChoice::named(sheets)),
            E::SeveralSheets { sheets, .. } => Question::Sheet(
                sheets
                    .iter()
                    .map(|sheet| SheetChoice {
                        name: sheet.name.clone(),
                        rows: Some(sheet.rows),
                    })
                    .collect(),
            ),
            E::HiddenRows { hidden, .. } => Question::HiddenRows(*hidden),
            E::SeveralPhoneColumns { candidates, .. } => Question::PhoneColumns(candidates.clone()),
            E::MostMarked { columns, .. } => match &columns[..] {
                [NamedMark { kind, name, .. }] => Question::MostMarked(*kind, name.clone()),
                _ => return None,
            },
            E::UnknownMarks { .. } => Question::UnknownMarks,
            E::NoSuchColumn { .. } | E::Other { .. } => Question::Columns,
        })
    }
}

const UNUSABLE_SETTINGS: &str = "leadload's settings on this computer can't be used.";

const ASK: &str = "Ask the person who set up leadload on this computer.";

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

#[cfg(test)]
#[path = "trouble_tests.rs"]
mod tests;
