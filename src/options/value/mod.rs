//! The values that options take: how each is written and what is said of one that is wrong.
//!
//! Rule: one reader for each kind of value, wherever it was written: typed, in a variable, in
//! a file of settings or in a form.

mod numbers;
mod reading;
mod texts;
mod times;
mod words;

pub use reading::{DefaultRegion, Delimiter};
pub use texts::{Address, CampaignText, Column, Constant, Header, Name, NamedColumn, TokenSource};
pub use times::RateArg;

use std::ffi::OsStr;
use std::fmt;

use clap::builder::PossibleValue;
use thiserror::Error;

use crate::text::{alternatives, quoted_value};

/// The value of an option.
pub trait Value: Clone + fmt::Debug + Send + Sync + 'static {
    /// What a file of settings may hold for it.
    const FORM: Form;

    /// What to write there instead of something else.
    const INSTEAD: &'static str = "";

    /// What stands between several of them in one text.
    const SEPARATOR: Option<char> = None;

    /// Reads it.
    ///
    /// # Errors
    ///
    /// What to write instead.
    fn parse(text: &str) -> Result<Self, ValueError>;

    /// Reads it from what need not be Unicode, as names of files.
    ///
    /// # Errors
    ///
    /// What to write instead.
    fn parse_os(text: &OsStr) -> Result<Self, ValueError> {
        Self::parse(&text.to_string_lossy())
    }

    /// Its usual form, where one value can be written in several ways.
    fn usual_form(&self) -> Option<String> {
        None
    }

    /// The words that it can be, where it can be no other.
    fn words() -> Vec<PossibleValue> {
        Vec::new()
    }
}

/// What a file of settings may hold for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A text.
    Text,
    /// A text, which may be white space.
    Character,
    /// A text, be it empty.
    AnyText,
    /// The name of a file, from the folder of the settings.
    File,
    /// A whole number.
    Number,
    /// A text or a whole number.
    TextOrNumber,
    /// The same, or a table of names and texts.
    Named,
    /// `NAME=VALUE`, or a table of them.
    Pair,
}

impl Form {
    /// Whether a whole number is right.
    pub(super) fn takes_number(self) -> bool {
        matches!(self, Form::Number | Form::TextOrNumber | Form::Named)
    }

    /// Whether a table of names and texts is right.
    pub(super) fn takes_table(self) -> bool {
        matches!(self, Form::Named | Form::Pair)
    }

    /// What has to stand there.
    pub(super) fn expected(self) -> &'static str {
        match self {
            Form::Number => "a whole number",
            _ if self.takes_number() => "a text or a whole number",
            _ => "a text",
        }
    }
}

/// What to write in a file of settings.
pub(super) fn instead<T: Value>() -> String {
    let words = T::words();
    if words.is_empty() {
        return T::INSTEAD.to_owned();
    }
    let quoted = words.iter().map(|word| format!("\"{}\"", word.get_name()));
    format!("write {}", alternatives(&quoted.collect::<Vec<_>>()))
}

/// Why a value is not taken: what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ValueError(pub String);

impl From<&str> for ValueError {
    fn from(instead: &str) -> ValueError {
        ValueError(instead.to_owned())
    }
}

/// That a value cannot be used which was written for `name`, a flag or what the help calls
/// it. What is personal is not shown, and neither is what could be a token or a number of
/// somebody: what is said may end in a log.
pub fn unusable(value: &str, name: &str, is_personal: bool) -> String {
    if value.is_empty() {
        format!("`{name}` has no value")
    } else if is_personal || is_long_number(value) {
        format!("the value of `{name}` cannot be used")
    } else if name.starts_with('-') {
        format!("{} cannot be used for `{name}`", quoted_value(value))
    } else {
        format!("{} cannot be used as {name}", quoted_value(value))
    }
}

/// Whether it is a number, perhaps with a unit, that would be taken for a token or for a number
/// of somebody.
fn is_long_number(value: &str) -> bool {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_lowercase());
    digits.len() > 15 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Refuses each of these texts.
#[cfg(test)]
fn refuses<T: Value>(texts: &[&str]) {
    for text in texts {
        assert!(T::parse(text).is_err(), "{text}");
    }
}
