//! A value together with how it was written, so that it can be told, and written again, as
//! whoever wrote it knows it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{
    PathBufValueParser, PossibleValue, StringValueParser, TypedValueParser, ValueParserFactory,
};
use clap::{Arg, Command};

use super::value::{Form, Value, ValueError};

/// A value and how it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said<T> {
    value: T,
    text: OsString,
}

impl<T> Said<T> {
    /// A value that is told by this text.
    pub fn told_as(value: T, text: impl Into<OsString>) -> Said<T> {
        Said {
            value,
            text: text.into(),
        }
    }

    /// How it was written.
    pub fn text(&self) -> &OsStr {
        &self.text
    }
}

impl<T: Value> Said<T> {
    /// Reads it from what need not be Unicode.
    ///
    /// # Errors
    ///
    /// What to write instead.
    pub fn read(text: &OsStr) -> Result<Said<T>, ValueError> {
        let value = T::parse_os(text)?;
        let usual = value.usual_form().map(OsString::from);
        let text = usual.unwrap_or_else(|| text.to_owned());
        Ok(Said { value, text })
    }
}

impl Said<PathBuf> {
    /// The same file from any folder. A link stays one, since it may lead to another file
    /// tomorrow.
    ///
    /// # Errors
    ///
    /// Where there is no current folder any more, or the name is empty.
    pub fn absolute(&self) -> io::Result<Said<PathBuf>> {
        let path = std::path::absolute(&self.value)?;
        Ok(Said::told_as(path.clone(), path))
    }
}

impl<T> Deref for Said<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Value> FromStr for Said<T> {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Said<T>, ValueError> {
        Said::read(text.as_ref())
    }
}

impl<T: Value> ValueParserFactory for Said<T> {
    type Parser = SaidParser<T>;

    fn value_parser() -> SaidParser<T> {
        SaidParser(PhantomData)
    }
}

/// Reads a value from a command line.
#[derive(Debug, Clone)]
pub struct SaidParser<T>(PhantomData<T>);

impl<T: Value> TypedValueParser for SaidParser<T> {
    type Value = Said<T>;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        text: &OsStr,
    ) -> Result<Said<T>, clap::Error> {
        if T::FORM == Form::File {
            let parser = PathBufValueParser::new().try_map(|path| Said::read(path.as_os_str()));
            return parser.parse_ref(command, arg, text);
        }
        let parser = StringValueParser::new().try_map(|text| text.parse());
        parser.parse_ref(command, arg, text)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words = T::words();
        let iterator: Box<dyn Iterator<Item = PossibleValue>> = Box::new(words.clone().into_iter());
        (!words.is_empty()).then_some(iterator)
    }
}
