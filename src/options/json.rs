//! Values as JSON, in which a file of settings, the ledger and a form hand them over.
//!
//! Rule: what stands there is told by its kind and never quoted. It could be a token, or a
//! number of somebody.

use serde::de::{Deserialize, IntoDeserializer};
use serde_json::Value as Json;
use toml_edit::{Item, Value};

/// The key by which `toml_edit` hands over a date.
const DATE: &str = "$__toml_private_datetime";

/// What stands in a file.
pub fn json_in(item: &Item) -> Json {
    let value = item.clone().into_value().ok();
    let json = value.and_then(|value| Json::deserialize(value.into_deserializer()).ok());
    json.unwrap_or_default()
}

/// The same as a file holds it.
pub fn toml_of(json: &Json) -> Value {
    match json {
        Json::Bool(said) => (*said).into(),
        Json::Number(number) => number.as_i64().unwrap_or(i64::MAX).into(),
        Json::String(text) => text.into(),
        Json::Array(list) => Value::Array(list.iter().map(toml_of).collect()),
        // No field hands over anything else.
        other => other.to_string().into(),
    }
}

/// What it is, in words.
pub(super) fn kind(json: &Json) -> &'static str {
    match json {
        Json::Bool(true) => "`true`",
        Json::Bool(false) => "`false`",
        Json::Number(number) if is_whole(number) => "a whole number",
        // JSON has no `inf` and no `nan`.
        Json::Number(_) | Json::Null => "a number with a point",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) if is_table(json) => "a table",
        Json::Object(_) => "a date or a time",
    }
}

/// Whether it is a table; a date is handed over as one.
pub(super) fn is_table(json: &Json) -> bool {
    let table = json.as_object();
    table.is_some_and(|table| !table.contains_key(DATE))
}

/// Whether it is a whole number.
pub(super) fn is_whole(number: &serde_json::Number) -> bool {
    number.is_i64() || number.is_u64()
}
