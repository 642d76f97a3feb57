//! What a field of the options can be, so that all of them can be gone through without a list
//! of their names.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use directories::BaseDirs;
use serde_json::Value as Json;

use super::json::{is_table, is_whole, kind};
use super::said::Said;
use super::value::{Form, Value, ValueError, instead};
use crate::text::{looks_secret, quoted_unless_secret};

/// A field: nothing, or what was said.
pub trait Field {
    /// What was said, as a file of settings and the ledger hold it.
    fn json(&self) -> Option<Json>;

    /// Each value as it was written; nothing of what is switched off.
    fn texts(&self) -> Vec<OsString>;

    /// What would be typed to say the same.
    fn words(&self, flag: &str) -> Vec<OsString> {
        let texts = self.texts().into_iter();
        texts.flat_map(|text| with_value(flag, text)).collect()
    }

    /// Takes what stands in a file, whose paths start from `folder`.
    ///
    /// # Errors
    ///
    /// What is wrong with it; the field is as it was then.
    fn read(&mut self, json: &Json, folder: &Path) -> Result<(), Wrong>;

    /// Takes texts: what would be typed behind the flag, each time that it is. None says
    /// nothing; of an option that has one value the last counts.
    ///
    /// # Errors
    ///
    /// What is wrong with one of them; the field is as it was then.
    fn say(&mut self, texts: &[&OsStr]) -> Result<(), Wrong>;

    /// Says nothing any more.
    fn clear(&mut self);

    /// Whether anything was said, be it `false` or no value at all.
    fn is_said(&self) -> bool {
        self.json().is_some()
    }
}

/// What is wrong with something that stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// It is a value of the right kind, and cannot be used.
    Value(String, ValueError),
    /// Anything else: what is wrong, said of the key, and what to write instead.
    Form(String),
}

impl Wrong {
    /// Another kind of thing stands there.
    fn kind(expected: &str, found: &Json, instead: &str) -> Wrong {
        Wrong::Form(format!(
            "takes {expected}, and {} stands there\n\nhint: {instead}",
            kind(found)
        ))
    }
}

/// A flag with its value as two words, or as one where the value looks like a flag.
fn with_value(flag: &str, text: OsString) -> Vec<OsString> {
    if !text.as_encoded_bytes().starts_with(b"-") {
        return vec![flag.into(), text];
    }
    let mut joined = OsString::from(format!("{flag}="));
    joined.push(text);
    vec![joined]
}

/// A switch. Only a file can say `false`: a profile that undoes what holds for all of them.
impl Field for Option<bool> {
    fn json(&self) -> Option<Json> {
        self.map(Json::from)
    }

    fn texts(&self) -> Vec<OsString> {
        vec!["true".into(); usize::from(*self == Some(true))]
    }

    fn words(&self, flag: &str) -> Vec<OsString> {
        vec![flag.into(); usize::from(*self == Some(true))]
    }

    fn read(&mut self, json: &Json, _: &Path) -> Result<(), Wrong> {
        let instead = "write one of the two, without quotes";
        let wrong = || Wrong::kind("`true` or `false`", json, instead);
        *self = Some(json.as_bool().ok_or_else(wrong)?);
        Ok(())
    }

    fn say(&mut self, texts: &[&OsStr]) -> Result<(), Wrong> {
        *self = last(texts, "write `true` or `false`")?;
        Ok(())
    }

    fn clear(&mut self) {
        *self = None;
    }
}

/// How often a switch is said.
impl Field for Option<u8> {
    fn json(&self) -> Option<Json> {
        self.map(Json::from)
    }

    fn texts(&self) -> Vec<OsString> {
        let times = self.filter(|times| *times > 0);
        times
            .map(|times| times.to_string().into())
            .into_iter()
            .collect()
    }

    fn words(&self, flag: &str) -> Vec<OsString> {
        vec![flag.into(); usize::from(self.unwrap_or(0))]
    }

    fn read(&mut self, json: &Json, _: &Path) -> Result<(), Wrong> {
        let times = match json {
            Json::Bool(said) => u64::from(*said),
            Json::Number(times) if is_whole(times) => times.as_u64().unwrap_or(u64::MAX),
            other => {
                let instead = "write how often it is said, `1` or `2`, without quotes";
                return Err(Wrong::kind("a whole number", other, instead));
            }
        };
        let times = u8::try_from(times).ok().filter(|times| *times <= 9);
        *self = Some(times.ok_or_else(|| {
            Wrong::Form(
                "cannot be said so often\n\nhint: write how often it is said, `1` or `2`".into(),
            )
        })?);
        Ok(())
    }

    fn say(&mut self, texts: &[&OsStr]) -> Result<(), Wrong> {
        *self = last(texts, "write how often it is said")?;
        Ok(())
    }

    fn clear(&mut self) {
        *self = None;
    }
}

/// An option with one value.
impl<T: Value> Field for Option<Said<T>> {
    fn json(&self) -> Option<Json> {
        self.as_ref().map(json)
    }

    fn texts(&self) -> Vec<OsString> {
        self.iter().map(|said| said.text().to_owned()).collect()
    }

    fn read(&mut self, json: &Json, folder: &Path) -> Result<(), Wrong> {
        if json.is_array() {
            let instead = "write the value alone, without `[` and `]`";
            return Err(Wrong::kind("one value", json, instead));
        }
        *self = Some(value(&text::<T>(json, folder)?, folder)?);
        Ok(())
    }

    fn say(&mut self, texts: &[&OsStr]) -> Result<(), Wrong> {
        let said = texts.last().map(|text| parsed(text));
        *self = said.transpose()?;
        Ok(())
    }

    fn clear(&mut self) {
        *self = None;
    }
}

/// An option that can be said several times.
impl<T: Value> Field for Option<Vec<Said<T>>> {
    fn json(&self) -> Option<Json> {
        self.as_ref().map(|list| list.iter().map(json).collect())
    }

    fn texts(&self) -> Vec<OsString> {
        let list = self.iter().flatten();
        list.map(|said| said.text().to_owned()).collect()
    }

    fn read(&mut self, json: &Json, folder: &Path) -> Result<(), Wrong> {
        let texts = match json {
            Json::Array(list) => {
                let texts = list.iter().map(|json| text::<T>(json, folder));
                texts.collect::<Result<Vec<_>, _>>()?
            }
            Json::Object(table) if T::FORM.takes_table() && is_table(json) => {
                let lines = table.iter().map(|(name, json)| pair(name, json));
                lines.collect::<Result<Vec<_>, _>>()?
            }
            one => vec![text::<T>(one, folder)?],
        };
        let texts = texts.iter().flat_map(|text| split::<T>(text));
        let said = texts.map(|text| value(text, folder));
        *self = Some(said.collect::<Result<_, _>>()?);
        Ok(())
    }

    fn say(&mut self, texts: &[&OsStr]) -> Result<(), Wrong> {
        let texts = texts.iter().flat_map(|text| match text.to_str() {
            Some(text) => split::<T>(text).into_iter().map(OsStr::new).collect(),
            None => vec![*text],
        });
        let said = texts.map(parsed).collect::<Result<Vec<_>, _>>()?;
        *self = Some(said).filter(|said| !said.is_empty());
        Ok(())
    }

    fn clear(&mut self) {
        *self = None;
    }
}

/// The last of these texts, which is what this type reads.
fn last<T: FromStr>(texts: &[&OsStr], instead: &str) -> Result<Option<T>, Wrong> {
    let read = |text: &&OsStr| {
        let value = text.to_str().and_then(|text| text.parse().ok());
        let text = text.to_string_lossy().into_owned();
        value.ok_or_else(|| Wrong::Value(text, instead.into()))
    };
    texts.last().map(read).transpose()
}

/// The values in one text.
fn split<T: Value>(text: &str) -> Vec<&str> {
    match T::SEPARATOR {
        Some(separator) => text.split(separator).collect(),
        None => vec![text],
    }
}

fn parsed<T: Value>(text: &OsStr) -> Result<Said<T>, Wrong> {
    let wrong = |error| Wrong::Value(text.to_string_lossy().into_owned(), error);
    Said::read(text).map_err(wrong)
}

fn json<T: Value>(said: &Said<T>) -> Json {
    let text = said.text().to_string_lossy();
    match (T::FORM, text.parse::<u64>()) {
        (Form::Number, Ok(number)) => number.into(),
        _ => text.into(),
    }
}

/// The value as it would be typed. In a file of somebody's an empty text is a slip; what was
/// kept, and belongs to no folder, may have been typed so.
fn text<T: Value>(json: &Json, folder: &Path) -> Result<String, Wrong> {
    match json {
        Json::String(text) if T::FORM != Form::Number => {
            let is_empty = match T::FORM {
                _ if folder.as_os_str().is_empty() => false,
                Form::AnyText => false,
                Form::Character => text.is_empty(),
                _ => text.trim().is_empty(),
            };
            if is_empty {
                Err(Wrong::Form(format!(
                    "is an empty text\n\nhint: {}, or leave the line out",
                    instead::<T>()
                )))
            } else {
                Ok(text.clone())
            }
        }
        Json::Number(number) if is_whole(number) && T::FORM.takes_number() => {
            Ok(number.to_string())
        }
        other => Err(Wrong::kind(T::FORM.expected(), other, &instead::<T>())),
    }
}

/// `NAME=VALUE` of a line of a table, where nothing at all is a value too.
fn pair(name: &str, json: &Json) -> Result<String, Wrong> {
    let line = "write each line as a name and a text, such as `source = \"fair\"`";
    if name.contains('=') {
        return Err(Wrong::Form(
            "has a name with a `=`, which no name can have\n\nhint: write each line as `name = \"text\"`".into(),
        ));
    }
    match json {
        Json::String(text) => Ok(format!("{name}={text}")),
        Json::Number(number) if is_whole(number) => Ok(format!("{name}={number}")),
        other => Err(Wrong::kind("a text or a whole number", other, line)),
    }
}

/// The value of a text. A file's name as it is written in another file starts from that one's
/// folder; a token that was put there instead is not made part of a path, which would be
/// shown.
fn value<T: Value>(text: &str, folder: &Path) -> Result<Said<T>, Wrong> {
    let said = if T::FORM == Form::File && !is_no_path(text) {
        let path = resolved(folder, text);
        if looks_secret(text) && !folder.as_os_str().is_empty() && !path.exists() {
            return Err(Wrong::Form(format!(
                "names no file: {}\n\nhint: put the token into a file, and write that file's name here",
                quoted_unless_secret(text)
            )));
        }
        path.into_os_string()
    } else {
        text.into()
    };
    Said::read(&said).map_err(|error| Wrong::Value(text.to_owned(), error))
}

/// A path as somebody has written it into a file of this folder: `~/` is the home folder.
pub fn resolved(folder: &Path, text: &str) -> PathBuf {
    let rest = text.strip_prefix("~/").or_else(|| {
        let rest = text.strip_prefix("~\\");
        rest.filter(|_| cfg!(windows))
    });
    match (rest, BaseDirs::new()) {
        (Some(rest), Some(folders)) => folders.home_dir().join(rest),
        _ => folder.join(text),
    }
}

/// Whether it is a word in the place of a file, or something else than a file to SQLite.
fn is_no_path(text: &str) -> bool {
    let lower = text.to_lowercase();
    matches!(text, "none" | "-") || lower == ":memory:" || lower.starts_with("file:")
}
