//! What a field of the options can be, so that all of them can be gone through without a list
//! of their names.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use directories::BaseDirs;

use super::given::Given;
use super::said::Said;
use super::value::{Form, Value, ValueError, instead};
use crate::text::{looks_secret, quoted_unless_secret};

/// A field: nothing, or what was said.
pub trait Field {
    /// Whether anything was said, be it `false` or no value at all.
    fn is_said(&self) -> bool;

    /// Says nothing any more.
    fn clear(&mut self);

    /// What was said, each value as it was written; nothing of what is switched off.
    fn texts(&self) -> Vec<OsString>;

    /// What would be typed to say the same.
    fn words(&self, flag: &str) -> Vec<OsString>;

    /// What would stand in a file to say the same.
    fn given(&self) -> Option<Given>;

    /// Takes what stands in a file, whose paths start from `folder`.
    ///
    /// # Errors
    ///
    /// What is wrong with it; the field is as it was then.
    fn read(&mut self, given: &Given, folder: &Path) -> Result<(), Wrong>;

    /// Takes the value of a variable, where it is one that any text is right for; what it
    /// means is looked into where it is used.
    fn read_variable(&mut self, text: &OsStr);
}

impl<S: Spoken> Field for Option<S> {
    fn is_said(&self) -> bool {
        self.is_some()
    }

    fn clear(&mut self) {
        *self = None;
    }

    fn texts(&self) -> Vec<OsString> {
        self.as_ref().map(S::texts).unwrap_or_default()
    }

    fn words(&self, flag: &str) -> Vec<OsString> {
        let said = self.as_ref();
        said.map(|said| said.words(flag)).unwrap_or_default()
    }

    fn given(&self) -> Option<Given> {
        self.as_ref().map(S::given)
    }

    fn read(&mut self, given: &Given, folder: &Path) -> Result<(), Wrong> {
        *self = Some(S::read(given, folder)?);
        Ok(())
    }

    fn read_variable(&mut self, text: &OsStr) {
        *self = S::of_variable(text);
    }
}

/// What can be said of an option: a switch, how often it is said, a value, or several.
pub trait Spoken: Sized {
    /// Each value as it was written.
    fn texts(&self) -> Vec<OsString>;

    /// What would be typed.
    fn words(&self, flag: &str) -> Vec<OsString> {
        let texts = self.texts().into_iter();
        texts.flat_map(|text| with_value(flag, text)).collect()
    }

    /// What would stand in a file.
    fn given(&self) -> Given;

    /// Reads what stands in a file.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn read(given: &Given, folder: &Path) -> Result<Self, Wrong>;

    /// Reads the value of a variable.
    fn of_variable(_: &OsStr) -> Option<Self> {
        None
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
    fn kind(expected: &str, found: &str, instead: &str) -> Wrong {
        Wrong::Form(format!(
            "takes {expected}, and {found} stands there\n\nhint: {instead}"
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

/// A switch; `false` is said in a file alone, to have what is common to all profiles otherwise.
impl Spoken for bool {
    fn texts(&self) -> Vec<OsString> {
        vec!["true".into(); usize::from(*self)]
    }

    fn words(&self, flag: &str) -> Vec<OsString> {
        vec![flag.into(); usize::from(*self)]
    }

    fn given(&self) -> Given {
        Given::Switch(*self)
    }

    fn read(given: &Given, _: &Path) -> Result<bool, Wrong> {
        match given {
            Given::Switch(said) => Ok(*said),
            other => {
                let instead = "write one of the two, without quotes";
                Err(Wrong::kind("`true` or `false`", other.kind(), instead))
            }
        }
    }
}

/// How often a switch is said.
impl Spoken for u8 {
    fn texts(&self) -> Vec<OsString> {
        let times = Some(self.to_string().into());
        times.filter(|_| *self > 0).into_iter().collect()
    }

    fn words(&self, flag: &str) -> Vec<OsString> {
        vec![flag.into(); usize::from(*self)]
    }

    fn given(&self) -> Given {
        Given::Number((*self).into())
    }

    fn read(given: &Given, _: &Path) -> Result<u8, Wrong> {
        match given {
            Given::Switch(said) => Ok((*said).into()),
            Given::Number(times @ 0..=9) => Ok(*times as u8),
            Given::Number(_) => Err(Wrong::Form(
                "cannot be said so often\n\nhint: write how often it is said, `1` or `2`".into(),
            )),
            other => {
                let instead = "write how often it is said, `1` or `2`, without quotes";
                Err(Wrong::kind("a whole number", other.kind(), instead))
            }
        }
    }
}

impl<T: Value> Spoken for Said<T> {
    fn texts(&self) -> Vec<OsString> {
        vec![self.text().to_owned()]
    }

    fn given(&self) -> Given {
        let text = self.text().to_string_lossy();
        match (T::FORM, text.parse()) {
            (Form::Number, Ok(number)) => Given::Number(number),
            _ => Given::Text(text.into_owned()),
        }
    }

    fn read(given: &Given, folder: &Path) -> Result<Said<T>, Wrong> {
        if let Given::List(_) = given {
            let instead = "write the value alone, without `[` and `]`";
            return Err(Wrong::kind("one value", "a list", instead));
        }
        value(&text::<T>(given, folder)?, folder)
    }

    fn of_variable(text: &OsStr) -> Option<Said<T>> {
        Said::read(text).ok()
    }
}

impl<T: Value> Spoken for Vec<Said<T>> {
    fn texts(&self) -> Vec<OsString> {
        self.iter().map(|said| said.text().to_owned()).collect()
    }

    fn given(&self) -> Given {
        Given::List(self.iter().map(Spoken::given).collect())
    }

    fn read(given: &Given, folder: &Path) -> Result<Vec<Said<T>>, Wrong> {
        let texts = match given {
            Given::List(list) => {
                let texts = list.iter().map(|given| text::<T>(given, folder));
                texts.collect::<Result<Vec<_>, _>>()?
            }
            Given::Table(table) if T::FORM.takes_table() => pairs(table)?,
            one => vec![text::<T>(one, folder)?],
        };
        let texts = texts.iter().flat_map(|text| match T::SEPARATOR {
            Some(separator) => text.split(separator).collect(),
            None => vec![text.as_str()],
        });
        texts.map(|text| value(text, folder)).collect()
    }
}

/// The value as it would be typed. In a file of somebody's an empty text is a slip; what was
/// kept, and belongs to no folder, may have been typed so.
fn text<T: Value>(given: &Given, folder: &Path) -> Result<String, Wrong> {
    let form = T::FORM;
    match given {
        Given::Text(text) if form.takes_text() => {
            let is_empty = match form {
                _ if folder.as_os_str().is_empty() => false,
                Form::AnyText(_) => false,
                Form::Character(_) => text.is_empty(),
                _ => text.trim().is_empty(),
            };
            match is_empty {
                true => Err(Wrong::Form(format!(
                    "is an empty text\n\nhint: {}, or leave the line out",
                    instead::<T>()
                ))),
                false => Ok(text.clone()),
            }
        }
        Given::Number(number) if form.takes_number() => Ok(number.to_string()),
        other => Err(Wrong::kind(form.expected(), other.kind(), &instead::<T>())),
    }
}

/// `NAME=VALUE` for each line of a table, where nothing at all is a value too.
fn pairs(table: &[(String, Given)]) -> Result<Vec<String>, Wrong> {
    let line = "write each line as a name and a text, such as `source = \"fair\"`";
    let pair = |(name, given): &(String, Given)| {
        if name.contains('=') {
            return Err(Wrong::Form(
                "has a name with a `=`, which no name can have\n\nhint: write each line as `name = \"text\"`".into(),
            ));
        }
        match given {
            Given::Text(text) => Ok(format!("{name}={text}")),
            Given::Number(number) => Ok(format!("{name}={number}")),
            Given::Table(_) => Err(Wrong::Form(format!("holds a table\n\nhint: {line}"))),
            other => Err(Wrong::kind("a text or a whole number", other.kind(), line)),
        }
    };
    table.iter().map(pair).collect()
}

/// The value of a text. A file's name as it is written in another file starts from that one's
/// folder; a token that was put there instead is not made part of a path, which would be
/// shown.
fn value<T: Value>(text: &str, folder: &Path) -> Result<Said<T>, Wrong> {
    let is_path = T::FORM == Form::File && !is_no_path(text);
    let path = is_path.then(|| resolved(folder, text));
    let may_be_token = is_path && looks_secret(text) && !folder.as_os_str().is_empty();
    if path
        .as_ref()
        .is_some_and(|path| may_be_token && !path.exists())
    {
        return Err(Wrong::Form(format!(
            "names no file: {}\n\nhint: put the token into a file, and write that file's name here",
            quoted_unless_secret(text)
        )));
    }
    let said = path.as_deref().map_or(OsStr::new(text), Path::as_os_str);
    Said::read(said).map_err(|error| Wrong::Value(text.to_owned(), error))
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
