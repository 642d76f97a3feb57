//! Which values of TOML a setting takes, by what the help calls the flag's value, and what
//! is said of others.
//!
//! Rule: what stands there is told by its kind and never quoted. It could be a token, or a
//! number of somebody.

use clap::Arg;
use toml_edit::{Item, Value};

/// What a setting takes, or each value of one that takes several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    /// Both, such as a column by its header or by its number.
    TextOrNumber,
}

impl Kind {
    fn of(flag: &Arg) -> Kind {
        match value_name(flag) {
            "N" => Kind::Number,
            "N|auto" | "ID_OR_NAME" | "COL" | "[NAME=]COL" => Kind::TextOrNumber,
            _ => Kind::Text,
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Kind::Text => "a text",
            Kind::Number => "a whole number",
            Kind::TextOrNumber => "a text or a whole number",
        }
    }
}

/// The value as it would be typed, or what is wrong with it and what to write instead.
pub(super) fn typed(flag: &Arg, value: &Value) -> Result<String, String> {
    let kind = Kind::of(flag);
    match value {
        Value::String(text) if kind != Kind::Number => match is_empty(flag, text.value()) {
            true => Err(format!(
                "is an empty text\n\nhint: {}, or leave the line out",
                instead(flag)
            )),
            false => Ok(text.value().clone()),
        },
        Value::Integer(number) if kind != Kind::Text => Ok(number.value().to_string()),
        other => Err(not(kind.expected(), found(other), &instead(flag))),
    }
}

/// What stands behind a name in a table, where nothing at all is a value too.
pub(super) fn named(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.value().clone()),
        Value::Integer(number) => Ok(number.value().to_string()),
        other => Err(not(
            Kind::TextOrNumber.expected(),
            found(other),
            "write each line as a name and a text, such as `source = \"fair\"`",
        )),
    }
}

/// That another kind of thing stands there.
pub(super) fn refusal(flag: &Arg, item: &Item) -> String {
    not(Kind::of(flag).expected(), found_in(item), &instead(flag))
}

/// What is wrong, where `expected` has to stand.
pub(super) fn not(expected: &str, found: &str, instead: &str) -> String {
    format!("takes {expected}, and {found} stands there\n\nhint: {instead}")
}

/// What stands there, in words.
pub(super) fn found_in(item: &Item) -> &'static str {
    match item {
        Item::Value(value) => found(value),
        Item::ArrayOfTables(_) => "a list of tables",
        Item::Table(_) | Item::None => "a table",
    }
}

fn found(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a text",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number with a point",
        Value::Boolean(said) if *said.value() => "`true`",
        Value::Boolean(_) => "`false`",
        Value::Datetime(_) => "a date or a time",
        Value::Array(_) => "a list",
        Value::InlineTable(_) => "a table",
    }
}

/// Cells may have white space between them, and nothing else can be told by it.
fn is_empty(flag: &Arg, text: &str) -> bool {
    match value_name(flag) {
        "C" => text.is_empty(),
        _ => text.trim().is_empty(),
    }
}

fn value_name(flag: &Arg) -> &str {
    let names = flag.get_value_names().unwrap_or_default();
    names.first().map_or("", |name| name.as_str())
}

/// What to write.
fn instead(flag: &Arg) -> String {
    let words = flag.get_possible_values();
    let words: Vec<String> = words
        .iter()
        .map(|word| format!("`\"{}\"`", word.get_name()))
        .collect();
    if let Some((last, before)) = words.split_last() {
        return format!("write {} or {last}", before.join(", "));
    }
    match value_name(flag) {
        "FILE" => "write the name of a file, in quotes",
        "URL" => "write it in quotes, such as `\"https://app.example.com\"`",
        "RATE" => "write it in quotes, such as `\"100/min\"`",
        "DURATION" => "write a number and its unit in quotes, such as `\"60s\"`",
        "CC" | "CC,…" => "write an ISO code in quotes, such as `\"GB\"`",
        "C" => "write the character in quotes, such as `\";\"`",
        "N" => "write it without quotes, such as `100`",
        "N|auto" => "write a whole number, or `\"auto\"`",
        "ID_OR_NAME" => "write the campaign's id, or its name in quotes",
        "COL" | "[NAME=]COL" => "write the column's header in quotes, or its number",
        "NAME=VALUE" => "write `{ NAME = \"text\" }`",
        _ => "write it in quotes",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::profile::flags::{self, Takes};

    /// A new flag, or another name for its value in the help, has to be looked at here.
    #[test]
    fn every_setting_of_an_import_has_its_kind() {
        let import = flags::of_import();
        let kind = |flag: &Arg| match flags::takes(flag) {
            Takes::Nothing => "switch",
            Takes::Count => "count",
            Takes::One | Takes::Several => match Kind::of(flag) {
                Kind::Text => "text",
                Kind::Number => "number",
                Kind::TextOrNumber => "text or number",
            },
        };
        let mut found: Vec<(&str, &str)> = flags::settings(&import)
            .filter(|flag| flags::find(&import, flags::key_of(flag)).is_ok())
            .map(|flag| (flags::key_of(flag), kind(flag)))
            .collect();
        found.sort_unstable();
        assert_eq!(found, EXPECTED);
    }

    const EXPECTED: &[(&str, &str)] = &[
        ("allow_duplicates", "switch"),
        ("assume_plus", "switch"),
        ("base_url", "text"),
        ("ca_file", "text"),
        ("campaign", "text or number"),
        ("campaign_column", "text or number"),
        ("concurrency", "text or number"),
        ("countries", "text"),
        ("delimiter", "text"),
        ("empty", "text"),
        ("encoding", "text"),
        ("format", "text"),
        ("insecure_http", "switch"),
        ("keep", "text or number"),
        ("known_bad", "text"),
        ("ledger", "text"),
        ("limit", "number"),
        ("log_format", "text"),
        ("max_attempts", "number"),
        ("max_duration", "text"),
        ("max_new", "number"),
        ("max_outage", "text"),
        ("metrics_file", "text"),
        ("min_rows", "number"),
        ("no_header", "switch"),
        ("on_uncertain", "text"),
        ("once", "text"),
        ("phone_column", "text or number"),
        ("phone_rule", "text"),
        ("progress", "text"),
        ("quiet", "switch"),
        ("rate", "text"),
        ("region", "text"),
        ("region_column", "text or number"),
        ("rejects", "text"),
        ("report", "text"),
        ("results", "text"),
        ("set", "text"),
        ("sheet", "text"),
        ("skip_column", "text or number"),
        ("stop_after", "number"),
        ("suppress", "text"),
        ("timeout", "text"),
        ("token_file", "text"),
        ("var", "text or number"),
        ("var_names", "text"),
        ("variables_shape", "text"),
        ("verbose", "count"),
        ("wait", "switch"),
        ("yes", "switch"),
    ];
}
