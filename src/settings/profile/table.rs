//! Where profiles stand in a file of settings: tables below `profiles`, or below `profile`.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use toml_edit::{Item, TableLike};

use super::config_file::{self, ConfigFile};
use crate::settings::Layers;
use crate::text::quoted_value;

/// The profile that is taken where none is named.
pub(in crate::settings) const DEFAULT_PROFILE: &str = "default";

/// The tables that hold profiles: both spellings are one.
pub(in crate::settings) const PROFILE_TABLES: [&str; 2] = ["profiles", "profile"];

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

/// The profile of this name, if there is one.
pub(in crate::settings) fn table_of<'f>(
    file: &'f ConfigFile,
    name: &str,
) -> Option<&'f dyn TableLike> {
    let tables = tables(file).ok()?.into_iter();
    tables
        .into_iter()
        .find_map(|(found, table)| (found == name).then_some(table))
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
    if is_taken_anyway {
        Vec::new()
    } else {
        vec!["--config".into(), file.into()]
    }
}
