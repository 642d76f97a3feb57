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
mod given;
mod output;
mod reading;
mod said;
mod value;

pub use connection::{ConnectionOptions, LedgerOptions, ProfileOptions};
pub use declare::{Declaration, Group, Scope};
pub use delivery::DeliveryOptions;
pub use field::{Field, Wrong, resolved};
pub use given::Given;
pub use output::{Format, LogFormat, LogOptions, OutputOptions, Progress};
pub use reading::{MappingOptions, PhoneOptions, ReadingOptions};
pub use said::Said;
pub use value::{
    Address, CampaignText, Column, Constant, Delimiter, Form, Header, Name, NamedColumn, RateArg,
    TokenSource, Value, ValueError, unusable,
};

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

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
        options.each_mut(&mut |declared, field| {
            if let Some(text) = declared.default {
                // A test reads them all.
                let _ = field.read(&Given::of_text(text), Path::new(""));
            }
        });
        options
    }

    /// The declarations of all options.
    pub fn declared() -> Vec<&'static Declaration> {
        let mut all = Vec::new();
        Options::default().each(&mut |declared, _| all.push(declared));
        all
    }

    /// Takes a value as it stands in a file, whose paths start from `folder`; nothing where
    /// there is no option by this key.
    pub fn set(&mut self, key: &str, given: &Given, folder: &Path) -> Option<Result<(), Wrong>> {
        let mut done = None;
        self.each_mut(&mut |declared, field| {
            if declared.key == key {
                done = Some(field.read(given, folder));
            }
        });
        done
    }

    /// What is said of the option by this key, each value as it was written; none where
    /// nothing is.
    pub fn texts(&self, key: &str) -> Option<Vec<OsString>> {
        let mut texts = None;
        self.each(&mut |declared, field| {
            if declared.key == key && field.is_said() {
                texts = Some(field.texts());
            }
        });
        texts
    }

    /// Those that are meant; the others are not said.
    pub fn only(mut self, is_meant: impl Fn(&Declaration) -> bool) -> Options {
        self.each_mut(&mut |declared, field| {
            if !is_meant(declared) {
                field.clear();
            }
        });
        self
    }

    /// As a command line says them, which cannot say `false`.
    pub fn as_typed(mut self) -> Options {
        self.each_mut(&mut |_, field| {
            if matches!(field.given(), Some(Given::Switch(false) | Given::Number(0)))
                && field.texts().is_empty()
            {
                field.clear();
            }
        });
        self
    }

    /// What would be typed to say those that are meant.
    pub fn words(&self, is_meant: impl Fn(&Declaration) -> bool) -> Vec<OsString> {
        let mut words = Vec::new();
        self.each(&mut |declared, field| {
            if declared.has_flag && is_meant(declared) {
                words.extend(field.words(&declared.flag()));
            }
        });
        words
    }

    /// What would stand in a file to say them, by key.
    pub fn given(&self) -> Vec<(&'static Declaration, Given)> {
        let mut all = Vec::new();
        self.each(&mut |declared, field| all.extend(field.given().map(|given| (declared, given))));
        all
    }
}

impl Serialize for Options {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let given = self.given().into_iter();
        serializer.collect_map(given.map(|(declared, given)| (declared.key, given)))
    }
}

impl<'de> Deserialize<'de> for Options {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Options, D::Error> {
        let mut options = Options::default();
        for (key, given) in BTreeMap::<String, Given>::deserialize(deserializer)? {
            match options.set(&key, &given, Path::new("")) {
                Some(Ok(())) => {}
                Some(Err(_)) => return Err(de::Error::custom(format!("the value of `{key}`"))),
                None => return Err(de::Error::custom(format!("there is no option `{key}`"))),
            }
        }
        Ok(options)
    }
}
