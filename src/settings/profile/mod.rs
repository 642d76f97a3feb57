//! A profile: options that are kept in the file of settings under a name.
//!
//! Keys at the head of the file are common to all profiles; a profile's own come before
//! them. Every key and every value is looked at when the profile is read, whichever command
//! it is for: what is wrong is told with file, line, profile and key.

pub(in crate::settings) mod config_file;
mod edit;
mod mapping_to_save;
mod new;
pub(in crate::settings) mod saved_mapping;
pub(in crate::settings) mod table;

pub use mapping_to_save::MappingToSave;
pub use new::{NewProfile, Stated, WrittenProfile};

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use toml_edit::{Item, Key, TableLike};

use self::config_file::ConfigFile;
use self::table::{DEFAULT_PROFILE, tables};
use super::{Layer, Origin, check_alone};
use crate::api::BaseUrl;
use crate::options::{Declaration, Group, Options, json_in};
use crate::text::{looks_secret, nearest, printable, quoted_value};

/// The options that hold where no flag is given.
#[derive(Debug)]
pub struct Profile {
    /// Its name; none where only the keys that are common to all profiles are in use.
    pub name: Option<String>,
    /// The file it stands in.
    pub file: PathBuf,
    /// The names of all profiles there.
    pub names: Vec<String>,
    /// What it says itself, as far as that can be read.
    pub(in crate::settings) own: Options,
    /// What holds for all profiles.
    pub(in crate::settings) common: Options,
    /// What is wrong with the rest.
    pub(in crate::settings) wrong: Option<anyhow::Error>,
}

impl Profile {
    /// The profile of this name, or else the one called `default`, or else none, over what
    /// is common to all. That there is none of that name is one of the things that can be wrong.
    ///
    /// # Errors
    ///
    /// Where the file holds something else than profiles where they have to stand.
    pub(in crate::settings) fn of(file: &ConfigFile, name: Option<&str>) -> Result<Profile> {
        let tables = tables(file)?;
        let meant = name.unwrap_or(DEFAULT_PROFILE);
        let table = tables.iter().find(|(found, _)| *found == meant);
        let mut profile = Profile {
            name: table.map(|(name, _)| (*name).to_owned()),
            file: file.path.clone(),
            names: tables.iter().map(|(name, _)| (*name).to_owned()).collect(),
            own: Options::default(),
            common: Options::default(),
            wrong: None,
        };
        if let Some((_, table)) = table {
            let place = profile.place();
            (profile.own, profile.wrong) = Reading::new(file, place, false).all(*table);
        } else if let Some(name) = name {
            profile.wrong = Some(unknown(file, name, &tables));
        }
        let place = format!("`{}`", printable(&file.path.display().to_string()));
        let (common, wrong) = Reading::new(file, place, true).all(file.document.as_table());
        profile.common = common;
        profile.wrong = profile.wrong.or(wrong);
        Ok(profile)
    }

    /// What it says, over what holds for all.
    pub(in crate::settings) fn options(&self) -> Options {
        let mut options = self.own.clone();
        options.complete(&self.common);
        options
    }

    /// What it says, and what holds for all.
    pub(in crate::settings) fn layers(&self) -> Vec<Layer> {
        vec![
            Layer::new(Origin::Profile, self.own.clone()),
            Layer::new(Origin::AllProfiles, self.common.clone()),
        ]
    }

    /// The profile and where it stands, in words.
    pub fn place(&self) -> String {
        let file = printable(&self.file.display().to_string()).into_owned();
        match &self.name {
            Some(name) => format!("profile {} of `{file}`", quoted_value(name)),
            None => format!("`{file}`"),
        }
    }
}

/// A table of options that is read: it is gone on after a mistake, so that what else it says
/// is known where the mistake is told.
struct Reading<'f> {
    file: &'f ConfigFile,
    /// Where it stands, in words.
    place: String,
    /// Whether it is common to all profiles, and holds those tables too.
    is_common: bool,
    options: Options,
    /// The keys that were read, with their lines.
    read: Vec<(&'static str, usize)>,
}

impl<'f> Reading<'f> {
    fn new(file: &'f ConfigFile, place: String, is_common: bool) -> Reading<'f> {
        Reading {
            file,
            place,
            is_common,
            options: Options::default(),
            read: Vec::new(),
        }
    }

    fn all(mut self, table: &dyn TableLike) -> (Options, Option<anyhow::Error>) {
        let is_profiles = |key: &str| self.is_common && table::PROFILE_TABLES.contains(&key);
        let entries: Vec<_> = table.iter().filter(|(key, _)| !is_profiles(key)).collect();
        let mut wrong = None;
        for (key, item) in entries {
            let line = self.file.line_of(table.key(key).and_then(Key::span));
            wrong = wrong.or(self.one(key, item, line).err());
        }
        let wrong = wrong.or_else(|| self.contradiction());
        (self.options, wrong)
    }

    /// A key and where it stands, in words. Somebody may have written the token in the place
    /// of a key.
    fn place_of(&self, key: &str, line: usize) -> String {
        format!("{} in {} (line {line})", quoted_value(key), self.place)
    }

    fn one(&mut self, key: &str, item: &Item, line: usize) -> Result<()> {
        let place = self.place_of(key, line);
        let is_table = item.is_table() || item.is_array_of_tables();
        let declared = declared(key, self.is_common).map_err(|text| {
            if self.is_common && is_table {
                anyhow!("{place} is a table\n\nhint: {}", table::hint(key, item))
            } else {
                anyhow!("{place} {text}")
            }
        })?;
        let key = declared.key;
        if let Some((_, other)) = self.read.iter().find(|(other, _)| *other == key) {
            return Err(anyhow!(
                "{place} is set in line {other} too\n\nhint: drop one of the two"
            ));
        }
        self.read.push((key, line));
        let field = self.options.field_mut(key);
        let read = field.map(|field| field.read(&json_in(item), self.file.folder()));
        read.unwrap_or(Ok(()))
            .map_err(|wrong| anyhow!(declared.told(&wrong, &place)))
    }

    /// What cannot be wrong by itself, but is together.
    fn contradiction(&self) -> Option<anyhow::Error> {
        let url = self.options.connection.base_url.as_ref();
        let url = url.map_or(Ok(()), |url| BaseUrl::parse(&url.0, true).map(drop));
        let url = url.map_err(|error| ("base_url", error.into()));
        let (key, error) = url.and_then(|()| check_alone(&self.options)).err()?;
        let (key, line) = self.read.iter().find(|(read, _)| *read == key)?;
        Some(anyhow!("{}: {error}", self.place_of(key, *line)))
    }
}

/// The option that a key means, or why it can stand in no profile. What has no flag belongs to
/// the mapping of one list, and so to one profile.
fn declared(key: &str, is_common: bool) -> Result<&'static Declaration, String> {
    let name = key.replace('-', "_");
    let all = Options::declared();
    let mut meant = all
        .iter()
        .filter(|declared| declared.has_flag || !is_common);
    match meant.find(|declared| declared.key == name) {
        Some(declared) if declared.may_stand_in_profile() => Ok(declared),
        Some(declared) => Err(format!(
            "is said for one command only\n\nhint: leave it out here, and type `{}` where it is meant",
            declared.flag()
        )),
        None if name == "token" => Err(
            "is no setting: a token stands in a file of its own, which only you can read\n\nhint: put it into one, take it out here, and name that file: `token_file = \"…\"`".into(),
        ),
        None => {
            let keys = all.iter().filter(|declared| declared.has_flag && declared.may_stand_in_profile());
            let keys: Vec<&str> = keys.map(|declared| declared.key).collect();
            let hint = match nearest(&name, &keys) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "settings have the names of the flags that `leadload import --help` lists, such as `region` or `token_file`".into(),
            };
            Err(format!("is no setting\n\nhint: {hint}"))
        }
    }
}

fn unknown(file: &ConfigFile, name: &str, tables: &[(&str, &dyn TableLike)]) -> anyhow::Error {
    let names: Vec<&str> = tables.iter().map(|(name, _)| *name).collect();
    let hint = match nearest(name, &names) {
        Some(nearest) => format!("did you mean {}? ", quoted_value(nearest)),
        None => String::new(),
    };
    let shown = |name: &&str| {
        if looks_secret(name) {
            "one whose name looks like a token".to_owned()
        } else {
            quoted_value(name)
        }
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
