//! A value with its source text, so it can be shown and written again as the user wrote it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Deref;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{
    PathBufValueParser, PossibleValuesParser, StringValueParser, TypedValueParser, ValueParser,
    ValueParserFactory,
};

use super::value::{Form, Value};
use crate::text::is_quoted;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given<T> {
    value: T,
    text: OsString,
}

impl<T> Given<T> {
    pub fn new(value: T, text: impl Into<OsString>) -> Given<T> {
        Given {
            value,
            text: text.into(),
        }
    }

    pub fn text(&self) -> &OsStr {
        &self.text
    }
}

impl<T: Value> Given<T> {
    /// Parses a value; a file name need not be Unicode.
    pub fn read(text: &OsStr) -> Result<Given<T>, String> {
        let value = T::parse_os(text)?;
        let usual = value.usual_form().map(OsString::from);
        let text = usual.unwrap_or_else(|| text.to_owned());
        Ok(Given { value, text })
    }
}

impl Given<String> {
    pub fn text_of(text: &str) -> Given<String> {
        Given::new(text.to_owned(), text)
    }

    pub fn list_of(texts: &[String]) -> Vec<Given<String>> {
        texts.iter().map(|text| Given::text_of(text)).collect()
    }
}

impl Given<PathBuf> {
    /// The absolute path. A link is not resolved, since it may point to another file tomorrow.
    pub fn absolute(&self) -> io::Result<Given<PathBuf>> {
        let path = std::path::absolute(&self.value)?;
        Ok(Given::new(path.clone(), path))
    }
}

impl<T> Deref for Given<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Value> FromStr for Given<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Given<T>, String> {
        Given::read(text.as_ref())
    }
}

impl<T: Value> ValueParserFactory for Given<T> {
    type Parser = ValueParser;

    fn value_parser() -> ValueParser {
        let words = T::words();
        if !words.is_empty() {
            let parser = PossibleValuesParser::new(words);
            ValueParser::new(parser.try_map(|text| text.parse::<Given<T>>()))
        } else if T::FORM == Form::File {
            let parser = PathBufValueParser::new();
            ValueParser::new(
                parser.try_map(|path| match is_quoted(&path.to_string_lossy()) {
                    true => Err("leave the quotation marks out".to_owned()),
                    false => Given::<T>::read(path.as_os_str()),
                }),
            )
        } else {
            let parser = StringValueParser::new();
            ValueParser::new(parser.try_map(|text| text.parse::<Given<T>>()))
        }
    }
}

pub fn texts<T>(list: &Option<Vec<Given<T>>>) -> Vec<String> {
    let list = list.iter().flatten();
    list.map(|given| given.text().to_string_lossy().into_owned())
        .collect()
}
