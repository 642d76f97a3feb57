//! A value as it stands in a file of settings, or as it is kept: whatever TOML and JSON have
//! in common.
//!
//! Rule: what stands there is told by its kind and never quoted. It could be a token, or a
//! number of somebody.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use toml_edit::{Array, Item};

/// The key by which `toml_edit` hands over a date.
const DATE: &str = "$__toml_private_datetime";

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// `true` or `false`.
    Switch(bool),
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
    /// Several of them.
    List(Vec<Given>),
    /// Several with names.
    Table(Vec<(String, Given)>),
    /// What no option takes, in words.
    Other(&'static str),
}

impl Given {
    /// What it is, in words.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Given::Switch(true) => "`true`",
            Given::Switch(false) => "`false`",
            Given::Number(_) => "a whole number",
            Given::Text(_) => "a text",
            Given::List(_) => "a list",
            Given::Table(_) => "a table",
            Given::Other(kind) => kind,
        }
    }

    /// A text, or the whole number that it is.
    pub(super) fn of_text(text: &str) -> Given {
        text.parse()
            .map_or_else(|_| Given::Text(text.to_owned()), Given::Number)
    }

    /// What stands in a file.
    pub fn in_file(item: &Item) -> Given {
        if item.is_array_of_tables() {
            return Given::Other("a list of tables");
        }
        let Ok(value) = item.clone().into_value() else {
            return Given::Other("nothing");
        };
        Given::deserialize(value.into_deserializer()).unwrap_or(Given::Other("something else"))
    }
}

impl From<&Given> for toml_edit::Value {
    fn from(given: &Given) -> toml_edit::Value {
        match given {
            Given::Switch(said) => (*said).into(),
            Given::Number(number) => (*number).into(),
            Given::Text(text) => text.into(),
            Given::List(list) => list.iter().collect::<Array>().into(),
            Given::Table(table) => {
                let pairs = table.iter().map(|(name, given)| (name, given));
                pairs.collect::<toml_edit::InlineTable>().into()
            }
            Given::Other(kind) => (*kind).into(),
        }
    }
}

impl Serialize for Given {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Given::Switch(said) => said.serialize(serializer),
            Given::Number(number) => number.serialize(serializer),
            Given::Text(text) => text.serialize(serializer),
            Given::List(list) => list.serialize(serializer),
            Given::Table(table) => serializer.collect_map(table.iter().map(|(k, v)| (k, v))),
            Given::Other(kind) => kind.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Given, D::Error> {
        deserializer.deserialize_any(Visit)
    }
}

struct Visit;

impl<'de> Visitor<'de> for Visit {
    type Value = Given;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: de::Error>(self, said: bool) -> Result<Given, E> {
        Ok(Given::Switch(said))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Given, E> {
        Ok(Given::Number(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Given, E> {
        let number = i64::try_from(number);
        Ok(number.map_or(
            Given::Other("a larger number than there can be"),
            Given::Number,
        ))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Given, E> {
        Ok(Given::Other("a number with a point"))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Given, E> {
        Ok(Given::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Given, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Given::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Given, A::Error> {
        let mut table: Vec<(String, Given)> = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            table.push(entry);
        }
        let is_date = table.first().is_some_and(|(name, _)| name == DATE);
        Ok(if is_date {
            Given::Other("a date or a time")
        } else {
            Given::Table(table)
        })
    }
}
