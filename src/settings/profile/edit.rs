//! Writes a profile. Comments, order and everything else in the file are kept.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use serde_json::Value as Json;
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use super::config_file::{ConfigFile, unwritable, usual_place};
use super::table::{PROFILES, check_name};
use crate::options::Options;
use crate::private_file;
use crate::text::printable;

/// The path of the file to write a profile to, and the file's
/// content if it exists. Checks that it can be written.
pub(super) fn file_to_edit(
    given: &Options,
    profile: &str,
) -> Result<(PathBuf, Option<ConfigFile>)> {
    check_name(profile)?;
    let path = match (given.place.config.as_deref(), usual_place()) {
        (Some(named), _) => std::path::absolute(named)?,
        (None, Some(usual)) => usual,
        (None, None) => bail!(terminal_message!(
            "there is no home folder to keep settings in",
            "name a settings file with `--config`"
        )),
    };
    let config = ConfigFile::read(&path)?;
    private_file::probe(&path).map_err(|error| unwritable(&path, &error))?;
    Ok((path, config))
}

/// Writes options into a profile, and removes the options with the `removed` keys. The file is
/// created if it does not exist. A reader sees the old file or the new one, never half of it.
pub(super) fn edit(path: &Path, profile: &str, options: &Options, removed: &[&str]) -> Result<()> {
    let mut document = match ConfigFile::read(path)? {
        Some(file) => file.document.into_mut(),
        None => DocumentMut::new(),
    };
    let table = table_to_edit(&mut document, profile)?;
    for key in removed {
        table.remove(key);
    }
    let fields = options.fields().into_iter();
    let values = fields.filter_map(|(declared, field)| Some((declared.key, field.json()?)));
    let mut values: Vec<_> = values.collect();
    // Long lists come last, so the short values are easy to see.
    values.sort_by_key(|(_, json)| json.is_array());
    for (key, json) in values {
        put(table, key, toml_of(&json));
    }
    // A link, such as one into a folder under version control, stays a link.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let permissions = fs::metadata(&path).map(|found| found.permissions());
    let text = document.to_string();
    let written = private_file::replace(&path, text.as_bytes(), permissions.ok());
    Ok(written.map_err(|error| unwritable(&path, &error))?)
}

/// The table of a profile, created if it does not exist.
fn table_to_edit<'d>(document: &'d mut DocumentMut, name: &str) -> Result<&'d mut dyn TableLike> {
    // Comments at the end of the file stay before a new profile.
    let profiles = document.get(PROFILES);
    let of_name = profiles.and_then(|profiles| profiles.get(name));
    let mut comments = String::new();
    if of_name.is_none() && profiles.is_none_or(Item::is_table) {
        document
            .trailing()
            .as_str()
            .unwrap_or_default()
            .clone_into(&mut comments);
        document.set_trailing("");
    }
    let tables = document.entry(PROFILES).or_insert_with(|| {
        let mut tables = Table::new();
        tables.set_implicit(true);
        Item::Table(tables)
    });
    let new = match tables {
        Item::Table(_) => {
            let mut table = Table::new();
            if !comments.is_empty() {
                table.decor_mut().set_prefix(comments + "\n");
            }
            Item::Table(table)
        }
        // The profiles are written as an inline table.
        _ => value(InlineTable::new()),
    };
    let tables = tables.as_table_like_mut();
    let table = tables.map(|tables| tables.entry(name).or_insert(new));
    let table = table.and_then(Item::as_table_like_mut);
    table.ok_or_else(|| anyhow!("`{PROFILES}.{}` is not a table", printable(name)))
}

/// Sets a key; comments around it stay.
fn put(table: &mut dyn TableLike, key: &str, mut value: Value) {
    if let Some(Item::Value(present)) = table.get_mut(key) {
        *value.decor_mut() = present.decor().clone();
        *present = value;
    } else {
        table.insert(key, Item::Value(value));
    }
}

/// A value in the form in which a settings file holds it.
pub(in crate::settings) fn toml_of(json: &Json) -> Value {
    match json {
        Json::Bool(value) => (*value).into(),
        Json::Number(number) => number.as_i64().unwrap_or(i64::MAX).into(),
        Json::String(text) => text.into(),
        Json::Array(list) => Value::Array(list.iter().map(toml_of).collect()),
        // No option has a value of another kind.
        other => other.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_region(toml: &str, region: Option<&str>) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, toml).unwrap();
        let mut options = Options::default();
        options.phones.region = region.map(|region| region.parse().unwrap());
        let removed: &[&str] = if region.is_none() { &["region"] } else { &[] };
        edit(&path, "crm", &options, removed).unwrap();
        fs::read_to_string(&path).unwrap()
    }

    #[test]
    fn a_profile_can_be_added_to_profiles_within_braces() {
        let toml = "profiles = { b = { region = 'GB' } }\n# The end.\n";
        let text = with_region(toml, Some("DE"));
        assert!(text.contains("crm = { region = \"DE\" }"), "{text}");
        assert!(text.ends_with("}\n# The end.\n"), "{text}");
    }

    #[test]
    fn comments_at_the_end_stay_before_a_new_profile() {
        let toml = "region = 'GB'\n# The end.\n";
        let text = with_region(toml, Some("DE"));
        let expected = format!("{toml}\n[profiles.crm]\nregion = \"DE\"\n");
        assert_eq!(text, expected);
    }

    #[test]
    fn comments_stay_when_a_setting_changes() {
        let toml =
            "# mine\n[profiles.crm]\n# Where\nregion = 'GB' # home\nrate = '5/s'\n\n[profiles.b]\n";
        let expected = toml.replace("'GB'", "\"DE\"");
        assert_eq!(with_region(toml, Some("DE")), expected);
    }

    #[test]
    fn a_setting_is_removed_however_it_is_written() {
        for toml in [
            "[profiles.crm]\nregion = 'GB'\nrate = '5/s'\n",
            "profiles.crm = { region = 'GB', rate = '5/s' }\n",
            "[profiles]\ncrm = {\n  region = 'GB', rate = '5/s',\n}\n",
        ] {
            let left = with_region(toml, None);
            assert!(left.contains("rate = '5/s'"), "{left}");
            assert!(!left.contains("region"), "{left}");
        }
    }
}
