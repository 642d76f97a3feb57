//! Where profiles stand in a file of settings: tables below `profiles`, or below `profile`.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use super::config_file::{self, ConfigFile};
use crate::options::{Group, Options, toml_of};
use crate::settings::Layers;
use crate::text::{printable, quoted_value};

/// The profile that is taken where none is named.
pub(in crate::settings) const DEFAULT_PROFILE: &str = "default";

/// The tables that hold profiles: both spellings are one.
pub(in crate::settings) const PROFILE_TABLES: [&str; 2] = ["profiles", "profile"];

/// How long a line of the file gets, in characters, before a list takes several.
const WIDTH: usize = 80;

/// The longest name of a profile, which names a file too.
const LONGEST_NAME: usize = 64;

/// All profiles of the file, by name.
pub(in crate::settings) fn tables(file: &ConfigFile) -> Result<Vec<(&str, &dyn TableLike)>> {
    let mut found: Vec<(&str, &dyn TableLike)> = Vec::new();
    let head = file.document.as_table();
    for (key, item) in head.iter().filter(|(key, _)| PROFILE_TABLES.contains(key)) {
        let tables = item.as_table_like().map(TableLike::iter);
        for (name, item) in tables.ok_or_else(|| no_table(file, key))? {
            let table = item.as_table_like();
            let table = table.ok_or_else(|| no_table(file, &format!("{key}.{name}")))?;
            if found.iter().any(|(other, _)| *other == name) {
                bail!(
                    "the profile {} stands twice in `{}`, under `profile` and under `profiles`\n\nhint: make one of the two",
                    quoted_value(name),
                    file.path.display()
                );
            }
            found.push((name, table));
        }
    }
    Ok(found)
}

fn no_table(file: &ConfigFile, key: &str) -> anyhow::Error {
    anyhow!(
        "{} in `{}` is no profile\n\nhint: a profile begins with a line such as `[profiles.crm]`, and its settings follow below",
        quoted_value(key),
        file.path.display()
    )
}

/// Whether there is a profile of this name.
pub(in crate::settings) fn has(file: &ConfigFile, name: &str) -> bool {
    tables(file).is_ok_and(|all| all.iter().any(|(found, _)| *found == name))
}

/// What to write instead of a table at the head of the file that holds no profiles.
pub(super) fn hint(key: &str, item: &Item) -> String {
    let may_be_shown = |name: &str| check_name(name).is_ok() && quoted_value(name).contains(name);
    if PROFILE_TABLES.contains(&key.to_lowercase().as_str()) {
        let tables = item.as_table_like();
        let mut names = tables.into_iter().flat_map(|tables| tables.iter());
        let name = names.next().map(|(name, _)| name);
        let name = name.filter(|name| may_be_shown(name)).unwrap_or("crm");
        return format!("write it in small letters: a profile begins with `[profiles.{name}]`");
    }
    let name = Some(key).filter(|key| may_be_shown(key)).unwrap_or("crm");
    format!("a profile begins with a line such as `[profiles.{name}]`")
}

/// Whether a profile of this file, if it is there yet, can have this name. It names the
/// file of its token too, and not every file system tells `crm` from `CRM`.
///
/// # Errors
///
/// What to write instead.
pub(in crate::settings) fn check_name_in(file: Option<&ConfigFile>, name: &str) -> Result<()> {
    check_name(name)?;
    let tables = file.map(tables).transpose()?.unwrap_or_default();
    let is_like_it = |other: &&str| *other != name && other.to_lowercase() == name.to_lowercase();
    if let Some(other) = tables.iter().map(|(other, _)| *other).find(is_like_it) {
        bail!(
            "{name} cannot be the name of a profile beside {other}, from which it differs in capitals only\n\nhint: write {other}, or choose another name",
            name = quoted_value(name),
            other = quoted_value(other)
        );
    }
    Ok(())
}

pub(super) fn check_name(name: &str) -> Result<()> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_short = (1..=LONGEST_NAME).contains(&name.len());
    if !is_short || name.starts_with('.') || !name.chars().all(is_plain) {
        bail!(
            "{} cannot be the name of a profile\n\nhint: write a short name of letters, digits, `-`, `_` and `.`, such as `crm`",
            quoted_value(name)
        );
    }
    Ok(())
}

/// The flags by which a command in the environment of `layers` takes a profile; none for what
/// it takes anyway.
pub(in crate::settings) fn flags_for(file: &Path, profile: &str, layers: &Layers) -> Vec<OsString> {
    let mut flags = flags_for_file(file, layers);
    let unnamed = layers.of_environment().place.profile;
    let unnamed = unnamed.as_ref().map(|name| name.0.as_str());
    if profile != unnamed.unwrap_or(DEFAULT_PROFILE) {
        flags.extend(["--profile".into(), profile.into()]);
    }
    flags
}

/// The flags by which it takes the file.
pub(in crate::settings) fn flags_for_file(file: &Path, layers: &Layers) -> Vec<OsString> {
    let is_taken_anyway = match layers.of_environment().place.config.as_deref() {
        Some(named) => std::path::absolute(named).is_ok_and(|named| named == file),
        None => config_file::is_found_unnamed(file),
    };
    match is_taken_anyway {
        true => Vec::new(),
        false => vec!["--config".into(), file.into()],
    }
}

/// The settings of a profile in a document that is about to be changed; made where they are
/// missing.
pub(in crate::settings) fn table_to_edit<'d>(
    document: &'d mut DocumentMut,
    name: &str,
) -> Result<&'d mut dyn TableLike> {
    let [usual, other] = PROFILE_TABLES;
    let key = match holds(document, other, name) {
        true => other,
        false => usual,
    };
    let is_new = !holds(document, key, name);
    // A list of profiles within braces stands before the comments at the end anyway.
    let begins_at_end = is_new && document.get(key).is_none_or(Item::is_table);
    // Comments at the end of the file belong to what stands before them.
    let comments = match begins_at_end {
        true => take_trailing(document),
        false => String::new(),
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

/// Sets the keys of all that is said.
pub(in crate::settings) fn put_options(table: &mut dyn TableLike, options: &Options) {
    for (declared, field) in options.fields() {
        if let Some(json) = field.json() {
            put(
                table,
                declared.key,
                Some(Item::Value(wrapped(toml_of(&json), declared.key))),
            );
        }
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

/// Sets a key, or takes it out; it may be written with `-` instead of `_`. Comments above
/// it stay, and where it is only changed those behind it too.
pub(in crate::settings) fn put(table: &mut dyn TableLike, key: &str, item: Option<Item>) {
    let other = key.replace('_', "-");
    let key = match other != key && table.contains_key(&other) {
        true => &other,
        false => key,
    };
    match item {
        Some(item) => set(table, key, item),
        None => take_out(table, key),
    }
}

fn set(table: &mut dyn TableLike, key: &str, item: Item) {
    if let (Some(Item::Value(there)), Item::Value(value)) = (table.get_mut(key), &item) {
        let decor = there.decor().clone();
        *there = value.clone();
        *there.decor_mut() = decor;
        return;
    }
    table.insert(key, item);
}

/// Takes a key out. The comments above it come to stand above the next line, or below the
/// one before it, or where no line is left above a table that stands for itself.
fn take_out(table: &mut dyn TableLike, key: &str) {
    let above = table.key(key).and_then(|key| key.leaf_decor().prefix());
    let above = above.and_then(|above| above.as_str()).unwrap_or_default();
    let comments = above.to_owned();
    let keys = keys_of(table);
    table.remove(key);
    let Some(at) = keys.iter().position(|other| other == key) else {
        return;
    };
    if !comments.contains('#') {
        return;
    }
    let (before, after) = (&keys[..at], &keys[at + 1..]);
    let is_kept = after.iter().any(|next| put_above(table, next, &comments))
        || before
            .iter()
            .rev()
            .any(|before| put_below(table, before, &comments));
    let mut others = after.iter().chain(before);
    if let (false, Some(other)) = (is_kept, others.next()) {
        prefix(table, other, &comments);
    }
}

fn keys_of(table: &dyn TableLike) -> Vec<String> {
    table.iter().map(|(key, _)| key.to_owned()).collect()
}

/// Puts comments above the first line of what stands under the key; says whether it has
/// lines here. A table with a head of its own may stand anywhere in the file.
fn put_above(table: &mut dyn TableLike, key: &str, comments: &str) -> bool {
    match table.get_mut(key) {
        Some(Item::Value(_)) => prefix(table, key, comments),
        // `key.name = …`: of its comments only those of the last name are written.
        Some(Item::Table(lines)) if lines.is_dotted() => keys_of(lines)
            .iter()
            .any(|line| put_above(lines, line, comments)),
        _ => false,
    }
}

fn prefix(table: &mut dyn TableLike, key: &str, comments: &str) -> bool {
    let Some(mut key) = table.key_mut(key) else {
        return false;
    };
    let decor = key.leaf_decor_mut();
    let own = decor.prefix().and_then(|own| own.as_str());
    let both = format!("{comments}{}", own.unwrap_or_default());
    decor.set_prefix(both);
    true
}

/// Puts comments below the last line of what stands under the key; says whether it has
/// lines here.
fn put_below(table: &mut dyn TableLike, key: &str, comments: &str) -> bool {
    match table.get_mut(key) {
        Some(Item::Value(value)) => {
            let decor = value.decor_mut();
            let own = decor.suffix().and_then(|own| own.as_str());
            let both = format!("{}\n{}", own.unwrap_or_default(), comments.trim_end());
            decor.set_suffix(both);
            true
        }
        Some(Item::Table(lines)) if lines.is_dotted() => keys_of(lines)
            .iter()
            .rev()
            .any(|line| put_below(lines, line, comments)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(toml: &str, change: impl FnOnce(&mut dyn TableLike)) -> String {
        let mut document: DocumentMut = toml.parse().unwrap();
        change(table_to_edit(&mut document, "crm").unwrap());
        document.to_string()
    }

    #[test]
    fn comments_at_the_end_stay_where_profiles_stand_within_braces() {
        let toml = "profiles = { b = { region = 'GB' } }\n# The end.\n";
        let text = edited(toml, |crm| put(crm, "region", Some(value("DE"))));
        assert!(text.contains("crm = { region = \"DE\" }"), "{text}");
        assert!(text.ends_with("}\n# The end.\n"), "{text}");
    }

    #[test]
    fn comments_at_the_end_stand_before_a_new_profile() {
        let toml = "region = 'GB'\n# The end.\n";
        let text = edited(toml, |crm| put(crm, "region", Some(value("DE"))));
        let expected = format!("{toml}\n[profiles.crm]\nregion = \"DE\"\n");
        assert_eq!(text, expected);
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
            let text = edited(toml, |crm| put(crm, "region", None));
            assert_eq!(text, toml.replace(LINE, "# Where\n"));
        }
    }
}
