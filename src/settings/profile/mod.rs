//! A profile: flags that are kept in the file of settings under a name.
//!
//! Keys at the head of the file are common to all profiles; a profile's own come before
//! them. Every key and every value is looked at when the profile is read, whichever command
//! it is for: what is wrong is told with file, line, profile and key.

pub(in crate::settings) mod config_file;
pub(in crate::settings) mod flags;
pub(in crate::settings) mod in_force;
mod kind;
mod mapping_to_save;
mod new;
mod origins;
pub(in crate::settings) mod saved_mapping;
mod setting;
pub(in crate::settings) mod table;

pub use in_force::ProfileInForce;
pub use mapping_to_save::MappingToSave;
pub use new::{
    EnvironmentWord, NewProfile, PresentRegion, RegionChoice, Replaced, Said, WrittenProfile,
};
pub use origins::{Origin, SettingInForce, settings_in_force};

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};
use clap::{Arg, Command, FromArgMatches};
use toml_edit::{Item, TableLike};

use self::config_file::ConfigFile;
use self::setting::Setting;
use self::table::{DEFAULT_PROFILE, tables};
use super::import::rate;
use crate::api::BaseUrl;
use crate::campaign::CampaignChoice;
use crate::cli::ImportArgs;
use crate::text::{looks_secret, nearest, printable, quoted_value};

/// The one key that is no flag: the columns that a list had when its mapping was kept.
pub(in crate::settings) const COLUMNS: &str = "columns";

/// The settings that stand in for flags that are not given.
#[derive(Debug, Clone)]
pub struct Profile {
    /// Its name; none where only the keys that are common to all profiles are in force.
    pub name: Option<String>,
    /// The file it stands in.
    pub file: PathBuf,
    pub(in crate::settings) settings: Vec<Setting>,
    pub(in crate::settings) columns: Option<Vec<String>>,
}

impl Profile {
    /// The profile of this name, or else the one called `default`, or else none, over what
    /// is common to all.
    pub(in crate::settings) fn of(file: &ConfigFile, name: Option<&str>) -> Result<Profile> {
        let tables = tables(file)?;
        let table = table_of(&tables, name.unwrap_or(DEFAULT_PROFILE));
        if let (Some(name), None) = (name, table) {
            return Err(unknown(file, name, &tables));
        }
        let mut profile = Profile {
            name: table.map(|(name, _)| name.to_owned()),
            file: file.path.clone(),
            settings: Vec::new(),
            columns: None,
        };
        let import = flags::of_import();
        if let Some((_, table)) = table {
            profile.columns = columns(file, &profile, table)?;
            let own = table.iter().filter(|(key, _)| *key != COLUMNS);
            profile.settings = profile.read(file, &import, table, own, false)?;
        }
        let head = file.document.as_table();
        let common = head
            .iter()
            .filter(|(key, _)| !table::PROFILE_TABLES.contains(key));
        let common = profile.read(file, &import, head, common, true)?;
        profile.take_common(&import, common);
        profile.refuse_nonsense(&import)?;
        Ok(profile)
    }

    /// What stands under a key, if it is set.
    pub(in crate::settings) fn setting(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key == key)
    }

    /// The profile and where it stands, in words.
    pub fn place(&self) -> String {
        let file = printable(&self.file.display().to_string()).into_owned();
        match &self.name {
            Some(name) => format!("profile {} of `{file}`", quoted_value(name)),
            None => format!("`{file}`"),
        }
    }

    /// A key and where it stands, in words.
    fn place_of(&self, key: &str, line: usize, is_common: bool) -> String {
        let place = match is_common {
            true => format!("`{}`", printable(&self.file.display().to_string())),
            false => self.place(),
        };
        // Somebody may have written the token in the place of a key.
        format!("{} in {place} (line {line})", quoted_value(key))
    }

    /// The service that the profile's token is for: that of the same place in the file, or,
    /// of a profile without one, that of all profiles.
    pub(in crate::settings) fn home_of_token(&self) -> Option<BaseUrl> {
        let token = self.setting("token_file")?;
        let base_url = self.base_url(token.is_common)?;
        BaseUrl::parse(base_url, true).ok()
    }

    /// The address in the profile; one of its own is not for what is common to all.
    fn base_url(&self, is_common: bool) -> Option<&str> {
        let base_url = self.setting("base_url")?;
        let is_meant = base_url.is_common || !is_common;
        is_meant.then(|| base_url.text())?
    }

    fn read<'a>(
        &self,
        file: &ConfigFile,
        import: &Command,
        table: &dyn TableLike,
        entries: impl Iterator<Item = (&'a str, &'a Item)>,
        is_common: bool,
    ) -> Result<Vec<Setting>> {
        let mut settings: Vec<Setting> = Vec::new();
        for (key, item) in entries {
            let line = file.line_of(table.key(key).and_then(toml_edit::Key::span));
            let place = self.place_of(key, line, is_common);
            let is_table = item.is_table() || item.is_array_of_tables();
            let flag = flags::find(import, key).map_err(|text| match is_common && is_table {
                true => anyhow!("{place} is a table\n\nhint: {}", table::hint(key, item)),
                false => anyhow!("{place} {text}"),
            })?;
            let value = setting::value(flag, item, file.folder())
                .map_err(|text| anyhow!("{place} {text}"))?;
            let setting = Setting {
                key: flags::key_of(flag).to_owned(),
                value,
                line,
                is_common,
            };
            if let Some(other) = settings.iter().find(|other| other.key == setting.key) {
                bail!(
                    "{place} is set in line {} too\n\nhint: drop one of the two",
                    other.line
                );
            }
            if let Err(error) = flags::read(import, &setting.words()) {
                bail!("{place}: {}", flags::complaint(&error));
            }
            settings.push(setting);
        }
        self.refuse_contradictions(import, &settings)?;
        Ok(settings)
    }

    fn refuse_contradictions(&self, import: &Command, settings: &[Setting]) -> Result<()> {
        for (at, one) in settings.iter().enumerate() {
            for other in &settings[at + 1..] {
                if contradict(import, one, other) {
                    let place = self.place_of(&one.key, one.line, one.is_common);
                    bail!(
                        "{place} contradicts `{}` (line {})\n\nhint: drop one of the two",
                        other.key,
                        other.line
                    );
                }
            }
        }
        Ok(())
    }

    /// Takes what is common to all profiles, where this one says nothing else.
    fn take_common(&mut self, import: &Command, common: Vec<Setting>) {
        let own = self.settings.len();
        for setting in common {
            let stands_against =
                |other: &Setting| other.key == setting.key || contradict(import, other, &setting);
            if !self.settings[..own].iter().any(stands_against) {
                self.settings.push(setting);
            }
        }
    }

    /// What cannot be wrong by itself, but is together, or that clap does not look at.
    fn refuse_nonsense(&self, import: &Command) -> Result<()> {
        let words: Vec<OsString> = self.settings.iter().flat_map(Setting::words).collect();
        let matches = flags::read(import, &words)
            .map_err(|error| anyhow!("{}: {}", self.place(), flags::complaint(&error)))?;
        let args = ImportArgs::from_arg_matches(&matches)?;
        let said = |key: &str, found: Result<()>| {
            found.map_err(|error| match self.setting(key) {
                Some(Setting {
                    line, is_common, ..
                }) => {
                    anyhow!("{}: {error}", self.place_of(key, *line, *is_common))
                }
                None => error,
            })
        };
        said("rate", rate(&args.delivery.rate, false).map(drop))?;
        let campaign = args.mapping.campaign.unwrap_or_default();
        said(
            "campaign",
            CampaignChoice::parse(&campaign)
                .map(drop)
                .map_err(Into::into),
        )?;
        if let Some(url) = &args.connection.base_url {
            said(
                "base_url",
                BaseUrl::parse(url, true).map(drop).map_err(Into::into),
            )?;
        }
        Ok(())
    }
}

/// A profile as it stands in the file.
type NamedTable<'f> = (&'f str, &'f dyn TableLike);

fn table_of<'f>(tables: &[NamedTable<'f>], name: &str) -> Option<NamedTable<'f>> {
    tables.iter().find(|(found, _)| *found == name).copied()
}

fn contradict(import: &Command, one: &Setting, other: &Setting) -> bool {
    let flag = |setting: &Setting| -> Option<&Arg> {
        let mut flags = import.get_arguments();
        flags.find(|flag| setting.is_said() && flags::key_of(flag) == setting.key)
    };
    match (flag(one), flag(other)) {
        (Some(one), Some(other)) => flags::conflict(import, one, other),
        _ => false,
    }
}

fn unknown(file: &ConfigFile, name: &str, tables: &[NamedTable<'_>]) -> anyhow::Error {
    let names: Vec<&str> = tables.iter().map(|(name, _)| *name).collect();
    let hint = match nearest(name, &names) {
        Some(nearest) => format!("did you mean {}? ", quoted_value(nearest)),
        None => String::new(),
    };
    let shown = |name: &&str| match looks_secret(name) {
        true => "one whose name looks like a token".to_owned(),
        false => quoted_value(name),
    };
    let shown: Vec<String> = names.iter().map(shown).collect();
    let hint = match shown.as_slice() {
        [] => format!("{hint}there are none; `leadload config init` makes one"),
        [one] => format!("{hint}there is {one}"),
        several => format!("{hint}there are {}", several.join(", ")),
    };
    anyhow!(
        "there is no profile {} in `{}`\n\nhint: {hint}",
        quoted_value(name),
        file.path.display()
    )
}

/// Where there is no file of settings at all, there is no profile either.
pub(in crate::settings) fn without_file(name: &str) -> anyhow::Error {
    let init = match table::check_name(name) {
        Ok(()) if quoted_value(name).contains(name) => format!("config init --profile {name}"),
        _ => "config init".to_owned(),
    };
    anyhow!(
        "there is no profile {}, since there is no file of settings yet\n\nhint: make it with `leadload {init}`, or name the file with `--config`",
        quoted_value(name)
    )
}

/// The columns that the list had when the profile's mapping was kept.
fn columns(
    file: &ConfigFile,
    profile: &Profile,
    table: &dyn TableLike,
) -> Result<Option<Vec<String>>> {
    let Some(item) = table.get(COLUMNS) else {
        return Ok(None);
    };
    let texts = item
        .as_array()
        .map(|array| array.iter().map(|text| text.as_str()));
    let columns: Option<Vec<String>> = texts
        .and_then(Iterator::collect::<Option<Vec<&str>>>)
        .map(|texts| texts.into_iter().map(str::to_owned).collect());
    match columns {
        Some(columns) => Ok(Some(columns)),
        None => {
            let line = file.line_of(table.key(COLUMNS).and_then(toml_edit::Key::span));
            bail!(
                "{} is no list of texts\n\nhint: write one, such as `[\"Phone\", \"City\"]`, or let `leadload check FILE --save-mapping PROFILE` write it",
                profile.place_of(COLUMNS, line, false)
            )
        }
    }
}
