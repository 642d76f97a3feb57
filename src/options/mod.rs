//! The options of an import, each declared once, as data.
//!
//! An option has a flag, a key in the settings file, and possibly an environment variable
//! and a default. Options are declared in `connection`, `reading`, `delivery` and `output`.
//! A command line, the environment, a profile, the run that a rejects file names, a form of
//! a page and a test all fill the same [`Options`]; `settings` combines them.
//!
//! Rule: a new option is declared here and used where it matters. Everything
//! that lists options (the settings that are shown, profiles, the options
//! that rejects inherit, the identity of a run) uses the declarations.

mod connection;
mod declare;
mod delivery;
mod field;
mod given;
mod output;
mod reading;
mod value;

pub use connection::{ConnectionOptions, LedgerOptions, ProfileOptions};
pub use declare::{Declaration, Declared, Scope};
pub use delivery::DeliveryOptions;
pub use field::{Field, InvalidValue, in_home};
pub use given::{Given, texts};
pub use output::{LogOptions, OutputOptions};
pub use reading::{MappingOptions, PhoneOptions, ReadingOptions};
pub use value::{
    Bound, Constant, Delimiter, Form, Format, LogFormat, Progress, TokenSource, Value,
};

use std::ffi::OsString;
use std::path::Path;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value as Json};

use crate::message::{Message, Text};

declare::groups! {
    /// All options, as far as they are given.
    pub struct Options {
        place: ProfileOptions,
        connection: ConnectionOptions,
        ledger: LedgerOptions,
        reading: ReadingOptions,
        mapping: MappingOptions,
        phones: PhoneOptions,
        delivery: DeliveryOptions,
        output: OutputOptions,
        log: LogOptions,
    }
}

impl Options {
    /// The defaults that depend on nothing.
    pub fn defaults() -> Options {
        let mut options = Options::default();
        for (declared, field) in options.fields_mut() {
            if let Some(text) = declared.default {
                // A test parses all defaults, so this cannot fail.
                let _ = field.set_texts(&[text.as_ref()]);
            }
        }
        options
    }

    pub fn declared() -> Vec<&'static Declaration> {
        let options = Options::default();
        let fields = options.fields().into_iter();
        fields.map(|(declared, _)| declared).collect()
    }

    pub fn field(&self, key: &str) -> Option<&dyn Field> {
        let mut fields = self.fields().into_iter();
        fields.find_map(|(declared, field)| (declared.key == key).then_some(field))
    }

    pub fn field_mut(&mut self, key: &str) -> Option<&mut dyn Field> {
        let mut fields = self.fields_mut().into_iter();
        fields.find_map(|(declared, field)| (declared.key == key).then_some(field))
    }

    pub fn has(&self, declared: &Declaration) -> bool {
        self.field(declared.key).is_some_and(Field::is_given)
    }

    pub fn retain(&mut self, keep: impl Fn(&Declaration) -> bool) {
        for (declared, field) in self.fields_mut() {
            if !keep(declared) {
                field.clear();
            }
        }
    }

    /// Clears switches that are off: clap reports them although they were not typed.
    pub fn clear_switched_off(&mut self) {
        for (_, field) in self.fields_mut() {
            if field.texts().is_empty() {
                field.clear();
            }
        }
    }

    /// Reads options that a ledger holds, and keeps those that `is_passed_on`: nothing else reads
    /// options out of a ledger.
    ///
    /// Others may have changed a ledger: colleagues share it, and it may be a copy that somebody has
    /// left. So it does not decide where data or the token goes, how often people are called, or
    /// which files are written. Values are parsed as if they were typed.
    ///
    /// # Errors
    ///
    /// If there is no such option, since a newer version may have left out rows by it; or a value
    /// that is passed on cannot be used.
    pub fn of_ledger(
        stored: &Map<String, Json>,
        is_passed_on: impl Fn(&Declaration) -> bool,
    ) -> Result<Options, Message> {
        let mut options = Options::default();
        for (key, json) in stored {
            let mut fields = options.fields_mut().into_iter();
            let Some((declared, field)) = fields.find(|(declared, _)| declared.key == key) else {
                let hint = "use the version of leadload that wrote it, or a newer one";
                return Err(Message::new(
                    Text::terminal(format!("there is no option `{key}`")),
                    Text::terminal(hint),
                ));
            };
            if is_passed_on(declared) {
                let set = field.set_json(json, Path::new(""));
                set.map_err(|invalid| declared.explain(invalid, &format!("`{key}`")))?;
            }
        }
        Ok(options)
    }

    /// The command line arguments that give these options.
    pub fn args(&self, keep: impl Fn(&Declaration) -> bool) -> Vec<OsString> {
        let fields = self.fields().into_iter();
        let kept = fields.filter(|(declared, _)| declared.has_flag && keep(declared));
        kept.flat_map(|(declared, field)| field.args(&declared.flag()))
            .collect()
    }
}

impl Serialize for Options {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.fields().into_iter();
        let given = fields.filter_map(|(declared, field)| Some((declared.key, field.json()?)));
        serializer.collect_map(given)
    }
}

impl<'de> Deserialize<'de> for Options {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Options, D::Error> {
        let stored = Map::deserialize(deserializer)?;
        Options::of_ledger(&stored, |_| true).map_err(de::Error::custom)
    }
}
