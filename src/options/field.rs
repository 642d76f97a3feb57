//! The interface of an option's value, so that code can
//! go through all options without a list of their names.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use directories::BaseDirs;
use serde_json::Value as Json;

use super::given::Given;
use super::value::{Form, Value};
use crate::message::{self, Message, Text};
use crate::text::{is_quoted, looks_secret};

/// An option's value; `None` if it is not given.
pub trait Field {
    fn form(&self) -> Form;

    /// Whether it can be given several times. In a settings file it is
    /// then a list, a single value, or a table of names and values.
    fn is_list(&self) -> bool {
        false
    }

    /// The value in the form that the settings file and the ledger hold.
    fn json(&self) -> Option<Json>;

    /// The source text of each value; empty for a switch that is off.
    fn texts(&self) -> Vec<OsString>;

    /// The command line arguments that give this value.
    fn args(&self, flag: &str) -> Vec<OsString> {
        let texts = self.texts().into_iter();
        texts.flat_map(|text| with_value(flag, text)).collect()
    }

    /// Sets it to a value from a settings file, whose relative paths start in `folder`.
    fn set_json(&mut self, json: &Json, folder: &Path) -> Result<(), InvalidValue> {
        let form = self.form();
        let texts: Result<Vec<OsString>, InvalidValue> = match json {
            Json::Array(list) if self.is_list() => {
                list.iter().map(|json| text(form, json, folder)).collect()
            }
            Json::Object(table) if self.is_list() => {
                table.iter().map(|(name, json)| pair(name, json)).collect()
            }
            one => text(form, one, folder).map(|text| vec![text]),
        };
        let texts = texts?;
        let texts: Vec<&OsStr> = texts.iter().map(OsString::as_os_str).collect();
        self.set_texts(&texts)
    }

    /// Sets it to the texts that follow the flag, one for each time the flag is given.
    /// For an option with a single value the last text counts; a list may be empty.
    fn set_texts(&mut self, texts: &[&OsStr]) -> Result<(), InvalidValue>;

    fn clear(&mut self);

    /// Whether it is given, even as `false` or as an empty list.
    fn is_given(&self) -> bool {
        self.json().is_some()
    }
}

/// Why a value is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidValue {
    /// The option does not accept this text; what follows is the hint.
    Value(String, Text),
    /// A file has something else where the value belongs; to be shown behind its place.
    Form(Message),
}

impl InvalidValue {
    fn form(expected: &str, hint: &str) -> InvalidValue {
        InvalidValue::Form(Message::new(
            Text::terminal(format!("takes {expected}")),
            Text::terminal(hint),
        ))
    }
}

/// A flag and its value as two arguments, or as one argument if the value looks like a flag.
fn with_value(flag: &str, text: OsString) -> Vec<OsString> {
    if !text.as_encoded_bytes().starts_with(b"-") {
        return vec![flag.into(), text];
    }
    let mut joined = OsString::from(format!("{flag}="));
    joined.push(text);
    vec![joined]
}

/// A flag without a value; its number is how often it is given. Only a settings
/// file can say `false`: in a profile that overrides the settings for all profiles.
pub trait Switch: Value + Copy + ToString + Into<u8> + Into<Json> {}

impl Switch for bool {}

impl Switch for u8 {}

impl<S: Switch> Field for Option<S> {
    fn form(&self) -> Form {
        S::FORM
    }

    fn json(&self) -> Option<Json> {
        self.map(Into::into)
    }

    fn texts(&self) -> Vec<OsString> {
        let on = self.iter().filter(|switch| Into::<u8>::into(**switch) > 0);
        on.map(|switch| switch.to_string().into()).collect()
    }

    fn args(&self, flag: &str) -> Vec<OsString> {
        let times: u8 = self.map_or(0, Into::into);
        vec![flag.into(); times.into()]
    }

    fn set_texts(&mut self, texts: &[&OsStr]) -> Result<(), InvalidValue> {
        *self = parse_all(texts)?.pop().map(|given| *given);
        Ok(())
    }

    fn clear(&mut self) {
        *self = None;
    }
}

impl<T: Value> Field for Option<Given<T>> {
    fn form(&self) -> Form {
        T::FORM
    }

    fn json(&self) -> Option<Json> {
        self.as_ref().map(json)
    }

    fn texts(&self) -> Vec<OsString> {
        self.iter().map(|given| given.text().to_owned()).collect()
    }

    fn set_texts(&mut self, texts: &[&OsStr]) -> Result<(), InvalidValue> {
        *self = parse_all(texts)?.pop();
        Ok(())
    }

    fn clear(&mut self) {
        *self = None;
    }
}

impl<T: Value> Field for Option<Vec<Given<T>>> {
    fn form(&self) -> Form {
        T::FORM
    }

    fn is_list(&self) -> bool {
        true
    }

    fn json(&self) -> Option<Json> {
        self.as_ref().map(|list| list.iter().map(json).collect())
    }

    fn texts(&self) -> Vec<OsString> {
        let list = self.iter().flatten();
        list.map(|given| given.text().to_owned()).collect()
    }

    fn set_texts(&mut self, texts: &[&OsStr]) -> Result<(), InvalidValue> {
        *self = Some(parse_all(texts)?);
        Ok(())
    }

    fn clear(&mut self) {
        *self = None;
    }
}

fn json<T: Value>(given: &Given<T>) -> Json {
    let text = given.text().to_string_lossy();
    match (T::FORM, text.parse::<u64>()) {
        (Form::Number, Ok(number)) => number.into(),
        _ => text.into(),
    }
}

/// Parses the values of several texts, each of which may hold several values.
fn parse_all<T: Value>(texts: &[&OsStr]) -> Result<Vec<Given<T>>, InvalidValue> {
    let texts = texts
        .iter()
        .flat_map(|text| match (T::SEPARATOR, text.to_str()) {
            (Some(separator), Some(text)) => text.split(separator).map(OsStr::new).collect(),
            _ => vec![*text],
        });
    let parse = |text: &OsStr| {
        Given::read(text).map_err(|hint| {
            InvalidValue::Value(text.to_string_lossy().into_owned(), Text::terminal(hint))
        })
    };
    texts.map(parse).collect()
}

/// A value from a settings file as it would be typed. A relative path starts
/// in `folder`, and `~/` in the home folder. A token written instead of a
/// path is refused here, before it becomes part of a path that is shown.
fn text(form: Form, json: &Json, folder: &Path) -> Result<OsString, InvalidValue> {
    match (form, json) {
        (Form::File, Json::String(text)) if !is_no_path(text) => {
            let path = resolve(folder, text);
            if looks_secret(text) && !folder.as_os_str().is_empty() && !path.exists() {
                return Err(InvalidValue::Form(terminal_message!(
                    "names no file: {text}",
                    "put the token into a file, and write that file's name here",
                    text = message::Value::Place(text.clone())
                )));
            }
            Ok(path.into())
        }
        (Form::File | Form::Text, Json::String(text)) => Ok(text.into()),
        (Form::Number | Form::Text, Json::Number(number)) if !number.is_f64() => {
            Ok(number.to_string().into())
        }
        (Form::Switch, Json::Bool(value)) => Ok(value.to_string().into()),
        (Form::Number, _) => Err(InvalidValue::form(
            "a whole number",
            "write it without quotes, such as `100`",
        )),
        (Form::Switch, _) => Err(InvalidValue::form(
            "`true` or `false`",
            "write it without quotes",
        )),
        (Form::File | Form::Text, _) => Err(InvalidValue::form(
            "a single value",
            "write one number, or one text in quotes",
        )),
    }
}

/// An entry of a table as `NAME=VALUE`.
fn pair(name: &str, json: &Json) -> Result<OsString, InvalidValue> {
    match json {
        Json::String(text) if !name.contains('=') => Ok(format!("{name}={text}").into()),
        // A fraction is not kept as it is written.
        Json::Number(number) if !name.contains('=') && !number.is_f64() => {
            Ok(format!("{name}={number}").into())
        }
        _ => Err(InvalidValue::form(
            "a table of texts, with names without `=`",
            "write each entry like `source = \"fair\"`",
        )),
    }
}

/// The path that a settings file in `folder` means by `text`.
fn resolve(folder: &Path, text: &str) -> PathBuf {
    in_home(text).unwrap_or_else(|| folder.join(text))
}

/// The path in the home folder, if the text begins with `~/`. A shell has replaced that where it
/// read the text.
pub fn in_home(text: &str) -> Option<PathBuf> {
    let rest = text.strip_prefix("~/")?;
    Some(BaseDirs::new()?.home_dir().join(rest))
}

/// Whether it is a word or an address instead of a path, means no file to SQLite, or is in
/// quotation marks, which are refused where they can still be seen.
fn is_no_path(text: &str) -> bool {
    let lower = text.to_lowercase();
    matches!(text, "none" | "-")
        || lower == ":memory:"
        || lower.starts_with("file:")
        || lower.contains("://")
        || is_quoted(text)
}
