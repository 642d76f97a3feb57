//! What went wrong, in the words of the page: no flags, no commands, and what to do here.

use super::words::names;
use crate::exit::{Failure, StoppedBy};
use crate::mapping::{MappingError, PhoneCandidate};
use crate::message::Message;
use crate::report::DoubtError;
use crate::screen::Doubt;
use crate::text::{counted, shown_name};

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
    /// Another sheet has the phone numbers.
    Sheet(Vec<String>),
    /// The phone column is not known.
    PhoneColumn,
    /// The numbers may be of another country.
    Country,
    /// A column that was chosen is not in the list.
    Columns,
}

impl Trouble {
    pub fn of(failure: &Failure) -> Trouble {
        let error = &failure.error;
        if let Some(error) = error.downcast_ref::<MappingError>() {
            return Trouble::of_mapping(error);
        }
        let message = failure.message();
        let doubt = error.downcast_ref::<DoubtError>();
        let hint = match doubt {
            Some(_) => Some(
                "Choose the country, or the column that names it. If the numbers are right as they are, say so."
                    .to_owned(),
            ),
            None => message.hint.as_deref().and_then(without_flags),
        };
        Trouble {
            what: sentence(&message.what),
            hint,
            by: failure.stopped_by,
            question: doubt.map(|_| Question::Country),
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
            hint: Some(
                "Choose the country, or the column that names it. If the numbers are right as they are, tick that below.".to_owned(),
            ),
            by: StoppedBy::Usage,
            question: Some(Question::Country),
        }
    }

    /// Many numbers have no country.
    pub fn without_country() -> Trouble {
        Trouble {
            question: Some(Question::Country),
            ..Trouble::new(
                "Many numbers have no + and country code.",
                "Which country are they from? Choose it, or the column that names it. Without a country these rows can't be sent.",
            )
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

    /// The trouble of a run that has stopped.
    pub fn of_stop(by: StoppedBy, message: &Message) -> Trouble {
        Trouble {
            what: sentence(&message.what),
            hint: message.hint.as_deref().and_then(without_flags),
            by,
            question: None,
        }
    }

    fn of_mapping(error: &MappingError) -> Trouble {
        let (what, hint, question) = match error {
            MappingError::NoSuchColumn { column, input, .. } => (
                format!(
                    "The list {} has no column “{}”, which was chosen before.",
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
                Question::Sheet(sheets.clone()),
            ),
            MappingError::SeveralPhoneColumns { candidates, .. } => (
                "Several columns have phone numbers.".to_owned(),
                "Choose which one is called. If it is empty in a row, another one can be used.".to_owned(),
                Question::PhoneColumns(candidates.clone()),
            ),
            MappingError::Other { message, .. } => {
                let hint = message.hint.as_deref().and_then(without_flags);
                return Trouble {
                    what: sentence(&message.what),
                    hint,
                    by: StoppedBy::Usage,
                    question: Some(Question::Columns),
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

fn quoted(name: &str) -> String {
    format!("“{}”", shown_name(name))
}

/// A message as a sentence of the page, without the marks of what is typed at a terminal.
pub fn sentence(text: &str) -> String {
    let text = text.replace('`', "");
    let mut letters = text.chars();
    let Some(first) = letters.next() else {
        return text;
    };
    // A file's name keeps its first letter.
    let is_name = text
        .split(' ')
        .next()
        .is_some_and(|word| word.contains('.'));
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

/// The parts of a hint that are for people without a terminal; `None` if there are none.
pub fn without_flags(hint: &str) -> Option<String> {
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
