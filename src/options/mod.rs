//! The options of an import, each declared once, as data.
//!
//! An option has a flag, a key in a file of settings, perhaps a variable and a default. They
//! are declared together, in `connection`, `reading`, `delivery` and `output`. A command line,
//! the environment, a profile, the run that a rejects file names, a form of a page and a test
//! all fill the same [`Options`]; `settings` lays one over the other.
//!
//! Rule: an option that is new is declared here and used where it counts. What lists options
//! (the settings that are shown, what a profile holds, what rejects take along, what makes a
//! run another run) goes through the declarations.

mod connection;
mod declare;
mod delivery;
mod field;
mod json;
mod output;
mod reading;
mod said;
mod value;

pub use connection::{ConnectionOptions, LedgerOptions, ProfileOptions};
pub use declare::{Declaration, Declared, Group, Scope};
pub use delivery::DeliveryOptions;
pub use field::{Field, Wrong, resolved};
pub use json::{json_in, toml_of};
pub use output::{Format, LogFormat, LogOptions, OutputOptions, Progress};
pub use reading::{MappingOptions, PhoneOptions, ReadingOptions};
pub use said::Said;
pub use value::{
    Address, CampaignText, Column, Constant, DefaultRegion, Delimiter, Header, Name, NamedColumn,
    RateArg, TokenSource, Value, ValueError, unusable,
};

use std::ffi::OsString;
use std::path::Path;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::Map;

declare::groups! {
    /// All options, as far as they are said.
    pub struct Options {
        /// Where settings are kept.
        place: ProfileOptions,
        /// Where the service is.
        connection: ConnectionOptions,
        /// Where the ledger is.
        ledger: LedgerOptions,
        /// How files are read.
        reading: ReadingOptions,
        /// How rows become leads.
        mapping: MappingOptions,
        /// What makes a phone number.
        phones: PhoneOptions,
        /// How leads are sent.
        delivery: DeliveryOptions,
        /// What is written, and said on standard output.
        output: OutputOptions,
        /// What is said on standard error.
        log: LogOptions,
    }
}

impl Options {
    /// What holds where nobody says anything, and that depends on nothing.
    pub fn defaults() -> Options {
        let mut options = Options::default();
        for (declared, field) in options.fields_mut() {
            if let Some(text) = declared.default {
                // A test reads them all.
                let _ = field.say(&[text.as_ref()]);
            }
        }
        options
    }

    /// The declarations of all options.
    pub fn declared() -> Vec<&'static Declaration> {
        let options = Options::default();
        let fields = options.fields().into_iter();
        fields.map(|(declared, _)| declared).collect()
    }

    /// The option by this key.
    pub fn field(&self, key: &str) -> Option<&dyn Field> {
        let mut fields = self.fields().into_iter();
        fields.find_map(|(declared, field)| (declared.key == key).then_some(field))
    }

    /// The same, to be changed.
    pub fn field_mut(&mut self, key: &str) -> Option<&mut dyn Field> {
        let mut fields = self.fields_mut().into_iter();
        fields.find_map(|(declared, field)| (declared.key == key).then_some(field))
    }

    /// Whether anything is said of this option.
    pub fn says(&self, declared: &Declaration) -> bool {
        self.field(declared.key).is_some_and(Field::is_said)
    }

    /// Forgets those that are not meant.
    pub fn retain(&mut self, is_meant: impl Fn(&Declaration) -> bool) {
        for (declared, field) in self.fields_mut() {
            if !is_meant(declared) {
                field.clear();
            }
        }
    }

    /// As a command line says them, which cannot say `false`.
    pub fn as_typed(mut self) -> Options {
        for (_, field) in self.fields_mut() {
            if field.texts().is_empty() {
                field.clear();
            }
        }
        self
    }

    /// What would be typed to say those that are meant.
    pub fn words(&self, is_meant: impl Fn(&Declaration) -> bool) -> Vec<OsString> {
        let fields = self.fields().into_iter();
        let meant = fields.filter(|(declared, _)| declared.has_flag && is_meant(declared));
        meant
            .flat_map(|(declared, field)| field.words(&declared.flag()))
            .collect()
    }
}

impl Serialize for Options {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.fields().into_iter();
        let said = fields.filter_map(|(declared, field)| Some((declared.key, field.json()?)));
        serializer.collect_map(said)
    }
}

impl<'de> Deserialize<'de> for Options {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Options, D::Error> {
        let mut options = Options::default();
        for (key, json) in Map::deserialize(deserializer)? {
            let mut fields = options.fields_mut().into_iter();
            let Some((declared, field)) = fields.find(|(declared, _)| declared.key == key) else {
                return Err(de::Error::custom(format!("there is no option `{key}`")));
            };
            let read = field.read(&json, Path::new(""));
            let told = |wrong| de::Error::custom(declared.told(&wrong, &format!("`{key}`")));
            read.map_err(told)?;
        }
        Ok(options)
    }
}
