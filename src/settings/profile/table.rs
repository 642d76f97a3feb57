//! The tables of profiles in a settings file, below `profiles`.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Result, bail};
use toml_edit::TableLike;

use super::config_file::{self, ConfigFile};
use crate::message::{Message, Text};
use crate::settings::Layers;
use crate::text::quoted_value;

/// The profile that is used if none is named.
pub(in crate::settings) const DEFAULT_PROFILE: &str = "default";

pub(in crate::settings) const PROFILES: &str = "profiles";

/// The longest name of a profile, in bytes. The name is also part of a file name.
const MAX_NAME: usize = 64;

pub(in crate::settings) fn tables(file: &ConfigFile) -> Result<Vec<(&str, &dyn TableLike)>> {
    let Some(profiles) = file.document.get(PROFILES) else {
        return Ok(Vec::new());
    };
    let tables = profiles.as_table_like();
    let tables = tables.ok_or_else(|| no_profile(file, PROFILES))?;
    let mut found = Vec::new();
    for (name, item) in tables.iter() {
        let table = item.as_table_like();
        let table = table.ok_or_else(|| no_profile(file, &format!("{PROFILES}.{name}")))?;
        found.push((name, table));
    }
    Ok(found)
}

fn no_profile(file: &ConfigFile, key: &str) -> Message {
    let (key, file) = (quoted_value(key), file.path.display());
    Message::new(
        Text::terminal(format!("{key} in `{file}` is not a profile")),
        terminal_text!(
            "a profile begins with a line such as `[profiles.crm]`, and its settings follow below"
        ),
    )
}

pub(in crate::settings) fn table_of<'f>(
    file: &'f ConfigFile,
    name: &str,
) -> Option<&'f dyn TableLike> {
    let mut tables = tables(file).ok()?.into_iter();
    tables.find_map(|(found, table)| (found == name).then_some(table))
}

/// Checks the name of a profile, which is also part of the name of its token file.
pub(in crate::settings) fn check_name(name: &str) -> Result<()> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_short = (1..=MAX_NAME).contains(&name.len());
    if !is_short || name.starts_with('.') || !name.chars().all(is_plain) {
        bail!(Message::new(
            Text::terminal(format!(
                "{} cannot be the name of a profile",
                quoted_value(name)
            )),
            terminal_text!(
                "write a short name of letters, digits, `-`, `_` and `.`, such as `crm`"
            )
        ));
    }
    Ok(())
}

/// The flags that select a profile in the environment
/// of `layers`; empty if it is selected without flags.
pub(in crate::settings) fn flags_for(file: &Path, profile: &str, layers: &Layers) -> Vec<OsString> {
    let mut flags = flags_for_file(file, layers);
    let unnamed = layers.of_environment().place.profile;
    let unnamed = unnamed.as_deref().map_or(DEFAULT_PROFILE, String::as_str);
    if profile != unnamed {
        flags.extend(["--profile".into(), profile.into()]);
    }
    flags
}

/// The flags that select the settings file; empty if it is selected without flags.
pub(in crate::settings) fn flags_for_file(file: &Path, layers: &Layers) -> Vec<OsString> {
    let in_use = match layers.of_environment().place.config.as_deref() {
        Some(named) => std::path::absolute(named).ok(),
        None => config_file::usual_place(),
    };
    if in_use.as_deref() == Some(file) {
        Vec::new()
    } else {
        vec!["--config".into(), file.into()]
    }
}
