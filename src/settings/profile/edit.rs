//! A profile as it is written: comments, order and whatever else stands in the file are kept.

use std::fs;
use std::path::Path;

use anyhow::{Result, anyhow};
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use super::config_file::{ConfigFile, place_of, unwritable};
use super::table::PROFILE_TABLES;
use crate::options::{Declared, Field, Group, Options, toml_of};
use crate::private_file;
use crate::text::printable;

/// How long a line of the file gets, in characters, before a list takes several.
const WIDTH: usize = 80;

/// What options say, by key, as it is written.
pub(super) fn lines(said: &Options) -> Vec<(&'static str, Value)> {
    let fields = said.fields().into_iter();
    let line = |(declared, field): Declared<&dyn Field>| {
        Some((declared.key, wrapped(toml_of(&field.json()?), declared.key)))
    };
    fields.filter_map(line).collect()
}

/// Writes lines into a profile, and takes these keys out of it. The file is made if it is not
/// there yet; a reader meets the old file or the new one, never half of it.
///
/// # Errors
///
/// Where the file cannot be written, or is none of settings.
pub(super) fn edit(
    path: &Path,
    profile: &str,
    mut lines: Vec<(&'static str, Value)>,
    taken_out: &[&str],
) -> Result<()> {
    // A long list hides what stands below it.
    lines.sort_by_key(|(_, value)| value.is_array());
    let mut document = match ConfigFile::read(path)? {
        Some(file) => without(&file, profile, taken_out).parse()?,
        None => DocumentMut::new(),
    };
    let table = table_to_edit(&mut document, profile)?;
    for key in taken_out {
        // What is left of it stands within braces, or has a head of its own.
        table.remove(key);
        table.remove(&key.replace('_', "-"));
    }
    for (key, value) in lines {
        put(table, key, value);
    }
    let path = place_of(path);
    let permissions = fs::metadata(&path).map(|found| found.permissions());
    let text = document.to_string();
    let written = private_file::replace(&path, text.as_bytes(), permissions.ok());
    written.map_err(|error| unwritable(&path, &error))
}

/// The text of the file without the lines of these keys. What stands around a line stays where
/// it is. Within braces there are no lines.
fn without(file: &ConfigFile, profile: &str, keys: &[&str]) -> String {
    let mut text = file.document.raw().to_owned();
    let head = file.document.as_table();
    let tables = PROFILE_TABLES.iter();
    let mut tables = tables.filter_map(|key| head.get(key)?.as_table()?.get(profile)?.as_table());
    let mut spans = Vec::new();
    for (key, item) in tables.next().into_iter().flatten() {
        if item.is_value() && keys.contains(&&*key.replace('-', "_")) {
            spans.extend(item.span());
        }
    }
    spans.sort_by_key(|span| span.start);
    for span in spans.into_iter().rev() {
        let begin = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[span.end..].find('\n');
        let end = end.map_or(text.len(), |at| span.end + at + 1);
        text.replace_range(begin..end, "");
    }
    text
}

/// The settings of a profile in a document that is about to be changed; made where they are
/// missing.
fn table_to_edit<'d>(document: &'d mut DocumentMut, name: &str) -> Result<&'d mut dyn TableLike> {
    let [usual, other] = PROFILE_TABLES;
    let key = if holds(document, other, name) {
        other
    } else {
        usual
    };
    let is_new = !holds(document, key, name);
    // A list of profiles within braces stands before the comments at the end anyway.
    let begins_at_end = is_new && document.get(key).is_none_or(Item::is_table);
    // Comments at the end of the file belong to what stands before them.
    let comments = if begins_at_end {
        take_trailing(document)
    } else {
        String::new()
    };
    let tables = document.entry(key).or_insert_with(|| {
        let mut tables = Table::new();
        tables.set_implicit(true);
        Item::Table(tables)
    });
    let new = match tables {
        Item::Table(_) => Item::Table(new_table(comments)),
        _ => value(InlineTable::new()),
    };
    let tables = tables.as_table_like_mut();
    let table = tables.map(|tables| tables.entry(name).or_insert(new));
    let table = table.and_then(Item::as_table_like_mut);
    table.ok_or_else(|| anyhow!("`{key}.{}` is no table", printable(name)))
}

fn holds(document: &DocumentMut, key: &str, name: &str) -> bool {
    let tables = document.get(key).and_then(Item::as_table_like);
    tables.is_some_and(|tables| tables.contains_key(name))
}

fn take_trailing(document: &mut DocumentMut) -> String {
    let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
    document.set_trailing("");
    trailing
}

/// A table that begins behind these comments, and behind a blank line if anything stands
/// before it.
fn new_table(comments: String) -> Table {
    let mut table = Table::new();
    if !comments.is_empty() {
        table.decor_mut().set_prefix(comments + "\n");
    }
    table
}

/// Sets a key, which may be written with `-` instead of `_`; comments above and behind it stay.
fn put(table: &mut dyn TableLike, key: &str, mut value: Value) {
    let other = key.replace('_', "-");
    let key = if table.contains_key(&other) {
        &other
    } else {
        key
    };
    if let Some(Item::Value(there)) = table.get_mut(key) {
        *value.decor_mut() = there.decor().clone();
        *there = value;
    } else {
        table.insert(key, Item::Value(value));
    }
}

/// A value, its list on lines of their own where they do not fit beside its key.
fn wrapped(mut value: Value, key: &str) -> Value {
    let is_long = value.to_string().chars().count() + key.len() + 3 > WIDTH;
    if let Value::Array(array) = &mut value
        && is_long
    {
        for text in array.iter_mut() {
            text.decor_mut().set_prefix("\n    ");
        }
        array.set_trailing("\n");
        array.set_trailing_comma(true);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a file says when the region of `crm` is this one, or none any more.
    fn with_region(toml: &str, region: Option<&str>) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, toml).unwrap();
        let mut options = Options::default();
        options.phones.region = region.map(|region| region.parse().unwrap());
        let taken_out: &[&str] = if region.is_none() { &["region"] } else { &[] };
        edit(&path, "crm", lines(&options), taken_out).unwrap();
        fs::read_to_string(&path).unwrap()
    }

    #[test]
    fn comments_at_the_end_stay_where_profiles_stand_within_braces() {
        let toml = "profiles = { b = { region = 'GB' } }\n# The end.\n";
        let text = with_region(toml, Some("DE"));
        assert!(text.contains("crm = { region = \"DE\" }"), "{text}");
        assert!(text.ends_with("}\n# The end.\n"), "{text}");
    }

    #[test]
    fn comments_at_the_end_stand_before_a_new_profile() {
        let toml = "region = 'GB'\n# The end.\n";
        let text = with_region(toml, Some("DE"));
        let expected = format!("{toml}\n[profiles.crm]\nregion = \"DE\"\n");
        assert_eq!(text, expected);
    }

    #[test]
    fn what_stands_beside_a_setting_stays_when_it_changes() {
        let toml =
            "# mine\n[profiles.crm]\n# Where\nregion = 'GB' # home\nrate = '5/s'\n\n[profiles.b]\n";
        let expected = toml.replace("'GB'", "\"DE\"");
        assert_eq!(with_region(toml, Some("DE")), expected);
        for within in [
            "profiles.crm = { region = 'GB', rate = '5/s' }\n",
            "[profiles]\ncrm = {\n  region = 'GB', rate = '5/s',\n}\n",
        ] {
            let left = with_region(within, None);
            assert!(left.contains("{ rate = '5/s'"), "{left}");
            assert!(!left.contains("region"), "{left}");
        }
    }

    #[test]
    fn the_comment_above_a_line_that_is_taken_out_stays_whatever_stands_beside_it() {
        const LINE: &str = "# Where\nregion = 'GB'\n";
        for toml in [
            "[profiles.crm]\n# Where\nregion = 'GB'\n\n[profiles.crm.set]\na = 'b'\n",
            "[profiles.crm]\nrate = '5/s'\n# Where\nregion = 'GB'\n\n[profiles.crm.set]\na = 'b'\n",
            "[profiles.crm.set]\na = 'b'\n[profiles.crm]\nrate = '5/s'\n# Where\nregion = 'GB'\n",
            "[profiles.crm]\n# Where\nregion = 'GB'\nset.a = 'b'\n",
            "[profiles.crm]\nset.a = 'b'\n# Where\nregion = 'GB'\n",
            "[profiles.crm]\n# Where\nregion = 'GB'\nrate = '5/s'\n[profiles.crm.set]\na = 'b'\n",
        ] {
            assert!(toml.contains(LINE));
            let text = with_region(toml, None);
            assert_eq!(text, toml.replace(LINE, "# Where\n"));
        }
    }
}
