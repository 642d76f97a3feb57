//! One setting of a profile, and the words that say the same on a command line.

use std::ffi::OsString;
use std::path::Path;

use clap::Arg;
use toml_edit::{Item, TableLike, Value};

use super::config_file::resolved;
use super::flags::{self, Takes};
use super::kind;
use crate::settings::ledger::names_no_file;
use crate::text::{looks_secret, quoted_unless_secret};

/// The settings that may be tables, each line of which is one value: `NAME = VALUE`.
const OF_NAMED_VALUES: [&str; 2] = ["set", "var"];

/// A setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::settings) struct Setting {
    /// Its name: that of the flag, with `_`.
    pub(in crate::settings) key: String,
    pub(in crate::settings) value: SettingValue,
    /// Where it stands in the file.
    pub(in crate::settings) line: usize,
    /// Whether it is common to all profiles.
    pub(in crate::settings) is_common: bool,
}

/// What it is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::settings) enum SettingValue {
    /// A flag that takes no value, said so often.
    Times(u8),
    /// The values of a flag that takes one or several.
    Values(Vec<OsString>),
}

impl Setting {
    /// What would be typed to say the same.
    pub(in crate::settings) fn words(&self) -> Vec<OsString> {
        let flag = format!("--{}", self.key.replace('_', "-"));
        match &self.value {
            SettingValue::Times(times) => vec![OsString::from(flag); usize::from(*times)],
            SettingValue::Values(values) => {
                let word = |value: &OsString| {
                    let mut word = OsString::from(&flag);
                    word.push("=");
                    word.push(value);
                    word
                };
                values.iter().map(word).collect()
            }
        }
    }

    /// Whether it says anything: `false` and `[]` do not.
    pub(in crate::settings) fn is_said(&self) -> bool {
        match &self.value {
            SettingValue::Times(times) => *times > 0,
            SettingValue::Values(values) => !values.is_empty(),
        }
    }

    /// Its values, as text; there are none of a flag that takes none.
    pub(in crate::settings) fn texts(&self) -> Vec<&str> {
        match &self.value {
            SettingValue::Times(_) => Vec::new(),
            SettingValue::Values(values) => values.iter().filter_map(|v| v.to_str()).collect(),
        }
    }

    /// Its only value, as text.
    pub(in crate::settings) fn text(&self) -> Option<&str> {
        self.texts().first().copied()
    }
}

/// What the file has for a flag, or what is wrong with it and what to write instead. Paths
/// start from `folder`.
pub(in crate::settings) fn value(
    flag: &Arg,
    item: &Item,
    folder: &Path,
) -> Result<SettingValue, String> {
    match flags::takes(flag) {
        Takes::Nothing => match item.as_bool() {
            Some(said) => Ok(SettingValue::Times(said.into())),
            None => Err(kind::not(
                "`true` or `false`",
                kind::found_in(item),
                "write one of the two, without quotes",
            )),
        },
        Takes::Count => match (item.as_bool(), item.as_integer()) {
            (Some(said), _) => Ok(SettingValue::Times(said.into())),
            (_, Some(times @ 0..=9)) => Ok(SettingValue::Times(times as u8)),
            (_, Some(_)) => Err(
                "cannot be said so often\n\nhint: write how often it is said, `1` or `2`".into(),
            ),
            _ => Err(kind::not(
                "a whole number",
                kind::found_in(item),
                "write how often it is said, `1` or `2`, without quotes",
            )),
        },
        Takes::One | Takes::Several => {
            let texts = texts(flag, item)?;
            let values = texts.into_iter().map(|text| match flags::is_file(flag) {
                true => file(&text, folder),
                false => Ok(text.into()),
            });
            values.collect::<Result<_, _>>().map(SettingValue::Values)
        }
    }
}

fn texts(flag: &Arg, item: &Item) -> Result<Vec<String>, String> {
    let key = flags::key_of(flag);
    if let (Some(table), true) = (item.as_table_like(), OF_NAMED_VALUES.contains(&key)) {
        return pairs(table);
    }
    let several = flags::takes(flag) == Takes::Several;
    match item.as_value() {
        Some(Value::Array(array)) if several => {
            array.iter().map(|value| kind::typed(flag, value)).collect()
        }
        Some(Value::Array(_)) => Err(kind::not(
            "one value",
            "a list",
            "write the value alone, without `[` and `]`",
        )),
        Some(value) => kind::typed(flag, value).map(|text| vec![text]),
        None => Err(kind::refusal(flag, item)),
    }
}

/// `NAME=VALUE` for each line of a table.
fn pairs(table: &dyn TableLike) -> Result<Vec<String>, String> {
    table.iter().map(pair).collect()
}

fn pair((name, item): (&str, &Item)) -> Result<String, String> {
    let refused = |what: &str, instead: &str| {
        let line = "write each line as";
        Err(format!("{what}\n\nhint: {line} {instead}"))
    };
    if name.contains('=') {
        return refused(
            "has a name with a `=`, which no name can have",
            "`name = \"text\"`",
        );
    }
    match item.as_value() {
        Some(value) => kind::named(value).map(|value| format!("{name}={value}")),
        None => refused(
            "holds a table",
            "a name and a text, such as `source = \"fair\"`",
        ),
    }
}

/// A file's name as it is written in another file: there it starts from that one's folder.
/// A token that was put there instead is not made part of a path, which would be shown.
fn file(text: &str, folder: &Path) -> Result<OsString, String> {
    if matches!(text, "none" | "-") || names_no_file(text) {
        return Ok(text.into());
    }
    let path = resolved(folder, text);
    match looks_secret(text) && !path.exists() {
        true => Err(format!(
            "names no file: {}\n\nhint: put the token into a file, and write that file's name here",
            quoted_unless_secret(text)
        )),
        false => Ok(path.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::profile::flags;

    fn read(key: &str, toml: &str) -> Result<SettingValue, String> {
        let import = flags::of_import();
        let document: toml_edit::DocumentMut = format!("{key} = {toml}").parse().unwrap();
        let folder = Path::new("/etc/leadload");
        value(flags::find(&import, key).unwrap(), &document[key], folder)
    }

    fn values(texts: &[&str]) -> Result<SettingValue, String> {
        let values = texts.iter().map(OsString::from).collect();
        Ok(SettingValue::Values(values))
    }

    #[test]
    fn texts_numbers_and_lists_become_values() {
        assert_eq!(read("region", "'GB'"), values(&["GB"]));
        assert_eq!(read("campaign", "101"), values(&["101"]));
        assert_eq!(read("limit", "7"), values(&["7"]));
        assert_eq!(read("concurrency", "7"), values(&["7"]));
        assert_eq!(read("concurrency", "'auto'"), values(&["auto"]));
        assert_eq!(read("var", "['City', 2]"), values(&["City", "2"]));
        assert_eq!(read("delimiter", "' '"), values(&[" "]));
        assert_eq!(
            read("rate", "['5/s', '100/min']"),
            values(&["5/s", "100/min"])
        );
        assert_eq!(read("rate", "'5/s'"), values(&["5/s"]));
        assert_eq!(read("countries", "[]"), values(&[]));
        assert_eq!(
            read("set", "{ b = 'x=y', a = 1 }"),
            values(&["b=x=y", "a=1"])
        );
        assert_eq!(
            read("var", "{ first = 'First Name' }"),
            values(&["first=First Name"])
        );
    }

    #[test]
    fn switches_are_said_or_not() {
        assert_eq!(read("assume_plus", "true"), Ok(SettingValue::Times(1)));
        assert_eq!(read("assume_plus", "false"), Ok(SettingValue::Times(0)));
        assert_eq!(read("verbose", "2"), Ok(SettingValue::Times(2)));
        assert_eq!(read("verbose", "true"), Ok(SettingValue::Times(1)));
        for wrong in ["'yes'", "1", "[]"] {
            assert!(read("assume_plus", wrong).is_err(), "{wrong}");
        }
        assert!(read("verbose", "-1").is_err());
    }

    #[test]
    fn other_types_are_refused_by_what_they_are_and_without_what_they_say() {
        for (key, wrong, said) in [
            ("ledger", "5", "a text, and a whole number stands there"),
            (
                "token_file",
                "-1",
                "a text, and a whole number stands there",
            ),
            ("ca_file", "['a']", "one value, and a list stands there"),
            ("results", "true", "a text, and `true` stands there"),
            ("sheet", "2026", "a text, and a whole number stands there"),
            (
                "campaign",
                "101.5",
                "a text or a whole number, and a number with a point",
            ),
            (
                "phone_column",
                "false",
                "a text or a whole number, and `false`",
            ),
            ("limit", "'7'", "a whole number, and a text stands there"),
            (
                "rate",
                "0.5",
                "a text, and a number with a point stands there",
            ),
            ("rate", "[['5/s']]", "a text, and a list stands there"),
            ("timeout", "60", "such as `\"60s\"`"),
            (
                "max_duration",
                "12:00:00",
                "a text, and a date or a time stands there",
            ),
            ("format", "1", "hint: write `\"text\"` or `\"json\"`"),
            ("region", "true", "a text, and `true` stands there"),
            ("region", "['GB']", "one value, and a list stands there"),
            ("region", "{ a = 1 }", "a text, and a table stands there"),
            ("set", "{ 'a=b' = 'c' }", "a name with a `=`"),
            (
                "set",
                "{ a = 1.50 }",
                "a text or a whole number, and a number with a point",
            ),
            (
                "assume_plus",
                "'s3cret'",
                "`true` or `false`, and a text stands there",
            ),
            (
                "verbose",
                "'s3cret'",
                "a whole number, and a text stands there",
            ),
            ("verbose", "-1", "cannot be said so often"),
        ] {
            let text = read(key, wrong).unwrap_err();
            assert!(text.contains(said), "{key}: {text}");
            assert_eq!(text.matches("\n\nhint: ").count(), 1, "{text}");
            assert!(!text.contains("s3cret"), "{text}");
        }
    }

    #[test]
    fn an_empty_text_says_nothing_but_as_the_value_of_a_variable() {
        for key in ["ledger", "token_file", "campaign", "region", "sheet", "var"] {
            for empty in ["''", "' '"] {
                let text = read(key, empty).unwrap_err();
                assert!(
                    text.starts_with("is an empty text\n\nhint: write "),
                    "{text}"
                );
                assert!(text.ends_with(", or leave the line out"), "{text}");
            }
        }
        assert!(read("delimiter", "''").is_err());
        assert_eq!(read("set", "{ a = '' }"), values(&["a="]));
    }

    #[cfg(unix)]
    #[test]
    fn files_start_from_the_folder_of_the_settings() {
        assert_eq!(
            read("token_file", "'crm.token'"),
            values(&["/etc/leadload/crm.token"])
        );
        assert_eq!(read("token_file", "'/run/token'"), values(&["/run/token"]));
        assert_eq!(read("ledger", "'none'"), values(&["none"]));
        // Refused later, as it was written.
        assert_eq!(read("ledger", "':MEMORY:'"), values(&[":MEMORY:"]));
        let home = directories::BaseDirs::new().unwrap();
        let inside = home.home_dir().join("a.token");
        assert_eq!(
            read("token_file", "'~/a.token'"),
            values(&[inside.to_str().unwrap()])
        );
    }

    #[test]
    fn a_token_in_the_place_of_its_file_is_not_shown() {
        let text = read("token_file", "'17|s3cretTokenOfTheCustomer'").unwrap_err();
        assert!(!text.contains("s3cret"), "{text}");
    }
}
