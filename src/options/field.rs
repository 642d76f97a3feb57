//! The types that an option can have, so that code can go through all options without a list
//! of their names.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use directories::BaseDirs;
use serde_json::Value as Json;

use super::given::Given;
use super::value::{Form, Value, ValueError};
use crate::text::{looks_secret, quoted_unless_secret};

/// An option's value; `None` if it is not given.
pub trait Field {
    /// The value as a settings file and the ledger hold it.
    fn json(&self) -> Option<Json>;

    /// The source text of each value; none of a switch that is off.
    fn texts(&self) -> Vec<OsString>;

    /// The command line arguments that give this value.
    fn args(&self, flag: &str) -> Vec<OsString> {
        let texts = self.texts().into_iter();
        texts.flat_map(|text| with_value(flag, text)).collect()
    }

    /// Sets it to a value of a file, whose relative paths start in `folder`.
    fn set_json(&mut self, json: &Json, folder: &Path) -> Result<(), Wrong>;

    /// Sets it to the texts that follow the flag, one for each time that the flag is given.
    /// Without texts it is not given; of an option with one value the last text counts.
    fn set_texts(&mut self, texts: &[&OsStr]) -> Result<(), Wrong>;

    fn clear(&mut self);

    /// Whether it is given, be it as `false` or as an empty list.
    fn is_given(&self) -> bool {
        self.json().is_some()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// This text is no value of the option.
    Value(String, ValueError),
    /// A file has something else where the value belongs.
    Form { what: String, hint: &'static str },
}

impl Wrong {
    fn form(expected: &str, hint: &'static str) -> Wrong {
        let what = format!("takes {expected}");
        Wrong::Form { what, hint }
    }
}

/// A flag and its value as two arguments, or as one if the value looks like a flag.
fn with_value(flag: &str, text: OsString) -> Vec<OsString> {
    if !text.as_encoded_bytes().starts_with(b"-") {
        return vec![flag.into(), text];
    }
    let mut joined = OsString::from(format!("{flag}="));
    joined.push(text);
    vec![joined]
}

/// A flag without a value.
pub trait Switch: Copy + FromStr + ToString + Into<Json> {
    /// What a file can hold.
    const EXPECTED: &'static str;

    /// Its value in a file.
    fn from_json(json: &Json) -> Option<Self>;

    /// How often the flag is given.
    fn times(self) -> usize;
}

/// Only a file can say `false`: in a profile that overrides the settings for all profiles.
impl Switch for bool {
    const EXPECTED: &'static str = "`true` or `false`";

    fn from_json(json: &Json) -> Option<bool> {
        json.as_bool()
    }

    fn times(self) -> usize {
        self.into()
    }
}

impl Switch for u8 {
    const EXPECTED: &'static str = "a whole number from 0 to 9";

    fn from_json(json: &Json) -> Option<u8> {
        let times = u8::try_from(json.as_u64()?).ok();
        times.filter(|times| *times <= 9)
    }

    fn times(self) -> usize {
        self.into()
    }
}

impl<S: Switch> Field for Option<S> {
    fn json(&self) -> Option<Json> {
        self.map(Into::into)
    }

    fn texts(&self) -> Vec<OsString> {
        let on = self.filter(|switch| switch.times() > 0);
        on.map(|switch| switch.to_string().into())
            .into_iter()
            .collect()
    }

    fn args(&self, flag: &str) -> Vec<OsString> {
        vec![flag.into(); self.map_or(0, Switch::times)]
    }

    fn set_json(&mut self, json: &Json, _: &Path) -> Result<(), Wrong> {
        let value = S::from_json(json);
        *self = Some(value.ok_or_else(|| Wrong::form(S::EXPECTED, "write it without quotes"))?);
        Ok(())
    }

    fn set_texts(&mut self, texts: &[&OsStr]) -> Result<(), Wrong> {
        let parse = |text: &&OsStr| {
            let value = text.to_str().and_then(|text| text.parse().ok());
            value.ok_or_else(|| {
                let hint = format!("write {}", S::EXPECTED);
                Wrong::Value(text.to_string_lossy().into_owned(), ValueError(hint))
            })
        };
        *self = texts.last().map(parse).transpose()?;
        Ok(())
    }

    fn clear(&mut self) {
        *self = None;
    }
}

/// An option with one value.
impl<T: Value> Field for Option<Given<T>> {
    fn json(&self) -> Option<Json> {
        self.as_ref().map(json)
    }

    fn texts(&self) -> Vec<OsString> {
        self.iter().map(|given| given.text().to_owned()).collect()
    }

    fn set_json(&mut self, json: &Json, folder: &Path) -> Result<(), Wrong> {
        *self = Some(parse(&text::<T>(json, folder)?)?);
        Ok(())
    }

    fn set_texts(&mut self, texts: &[&OsStr]) -> Result<(), Wrong> {
        *self = texts.last().map(|text| parse(text)).transpose()?;
        Ok(())
    }

    fn clear(&mut self) {
        *self = None;
    }
}

/// An option that can be given several times. A file has a list, one value, or a table of
/// names and values.
impl<T: Value> Field for Option<Vec<Given<T>>> {
    fn json(&self) -> Option<Json> {
        self.as_ref().map(|list| list.iter().map(json).collect())
    }

    fn texts(&self) -> Vec<OsString> {
        let list = self.iter().flatten();
        list.map(|given| given.text().to_owned()).collect()
    }

    fn set_json(&mut self, json: &Json, folder: &Path) -> Result<(), Wrong> {
        let texts: Vec<OsString> = match json {
            Json::Array(list) => {
                let texts = list.iter().map(|json| text::<T>(json, folder));
                texts.collect::<Result<_, _>>()?
            }
            Json::Object(table) => {
                let pairs = table.iter().map(|(name, json)| pair(name, json));
                pairs.collect::<Result<_, _>>()?
            }
            one => vec![text::<T>(one, folder)?],
        };
        *self = Some(parse_all(texts.iter().map(OsString::as_os_str))?);
        Ok(())
    }

    fn set_texts(&mut self, texts: &[&OsStr]) -> Result<(), Wrong> {
        let list = parse_all(texts.iter().copied())?;
        *self = (!list.is_empty()).then_some(list);
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

fn parse<T: Value>(text: &OsStr) -> Result<Given<T>, Wrong> {
    Given::read(text).map_err(|error| Wrong::Value(text.to_string_lossy().into_owned(), error))
}

/// The values of several texts, each of which may hold several.
fn parse_all<'t, T: Value>(texts: impl Iterator<Item = &'t OsStr>) -> Result<Vec<Given<T>>, Wrong> {
    let split = |text: &'t OsStr| match (T::SEPARATOR, text.to_str()) {
        (Some(separator), Some(text)) => text.split(separator).map(OsStr::new).collect(),
        _ => vec![text],
    };
    texts.flat_map(split).map(parse).collect()
}

/// A value of a file as it would be typed. A relative path starts in `folder`, and `~/` in the
/// home folder. A token written instead of a path is refused here, before it becomes part of
/// a path that is shown.
fn text<T: Value>(json: &Json, folder: &Path) -> Result<OsString, Wrong> {
    match json {
        Json::String(text) if T::FORM == Form::File && !is_no_path(text) => {
            let path = resolve(folder, text);
            if looks_secret(text) && !folder.as_os_str().is_empty() && !path.exists() {
                return Err(Wrong::Form {
                    what: format!("names no file: {}", quoted_unless_secret(text)),
                    hint: "put the token into a file, and write that file's name here",
                });
            }
            Ok(path.into())
        }
        Json::String(text) if T::FORM != Form::Number => Ok(text.into()),
        Json::Number(number) if T::FORM != Form::File && !number.is_f64() => {
            Ok(number.to_string().into())
        }
        _ if T::FORM == Form::Number => Err(Wrong::form(
            "a whole number",
            "write it without quotes, such as `100`",
        )),
        _ => Err(Wrong::form("one text", "write it in quotes")),
    }
}

/// `NAME=VALUE` of an entry of a table.
fn pair(name: &str, json: &Json) -> Result<OsString, Wrong> {
    match json {
        Json::String(text) if !name.contains('=') => Ok(format!("{name}={text}").into()),
        Json::Number(number) if !name.contains('=') => Ok(format!("{name}={number}").into()),
        _ => Err(Wrong::form(
            "names without `=` and texts",
            "write each entry like `source = \"fair\"`",
        )),
    }
}

/// A path written in a file of this folder.
fn resolve(folder: &Path, text: &str) -> PathBuf {
    let rest = text.strip_prefix("~/").or_else(|| {
        let rest = text.strip_prefix("~\\");
        rest.filter(|_| cfg!(windows))
    });
    match (rest, BaseDirs::new()) {
        (Some(rest), Some(folders)) => folders.home_dir().join(rest),
        _ => folder.join(text),
    }
}

/// Whether it is a word instead of a path, or no file to SQLite.
fn is_no_path(text: &str) -> bool {
    let lower = text.to_lowercase();
    matches!(text, "none" | "-") || lower == ":memory:" || lower.starts_with("file:")
}
