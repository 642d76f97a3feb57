//! A profile: options in the settings file under a name.
//!
//! Keys at the top of the file apply to all profiles; a profile's own keys
//! override them. Every key and value is checked when the profile is read,
//! whichever command uses it. An error names the file, line, profile and key.

pub(in crate::settings) mod config_file;
pub(in crate::settings) mod edit;
mod mapping_to_save;
mod new;
pub(in crate::settings) mod saved_mapping;
mod table;

pub use mapping_to_save::MappingToSave;
pub use new::{NewProfile, WrittenProfile};

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde_json::Value as Json;
use toml_edit::{Item, Key, TableLike, Value};

use self::config_file::ConfigFile;
use self::table::{DEFAULT_PROFILE, PROFILES, check_name, table_of, tables};
use super::layers::files_to_connect;
use super::{Layer, Origin, check_alone};
use crate::api::BaseUrl;
use crate::message::{Message, Text};
use crate::options::{Declaration, Given, Options};
use crate::text::{looks_secret, nearest, printable, quoted_value};

#[derive(Debug)]
pub struct Profile {
    /// Its name; `None` if only the settings for all profiles are in use.
    pub name: Option<String>,
    pub file: PathBuf,
    pub names: Vec<String>,
    /// The token files and certificates that any profile of the file names.
    pub(in crate::settings) files_to_connect: Vec<PathBuf>,
    /// Its own options, those that can be read.
    pub(in crate::settings) own: Options,
    /// The options for all profiles.
    pub(in crate::settings) common: Options,
    /// What is wrong with the others.
    pub(in crate::settings) wrong: Option<Message>,
}

impl Profile {
    /// The profile that is named, or the default one; `None` without a settings file.
    ///
    /// `--save-mapping` selects its profile too, if that exists: a mapping that is saved again
    /// starts from the saved one. If that profile does not exist yet, the mapping starts from
    /// the profile that would be in use anyway, and the file need not exist either.
    pub(super) fn in_use(typed: &Options, environment: &Options) -> Result<Option<Profile>> {
        let save_in = typed.mapping.save_mapping.as_ref();
        let config = typed.place.config.as_ref();
        let config = config.or(environment.place.config.as_ref());
        let config = config.map(|config| config.as_path());
        let file = match (config, save_in) {
            (Some(path), Some(_)) => ConfigFile::read(path)?,
            (config, _) => ConfigFile::find(config)?,
        };
        let exists = |name: &&Given<String>| {
            let file = file.as_ref();
            file.is_some_and(|file| table_of(file, name).is_some())
        };
        let is_meant = |name: &&Given<String>| Some(*name) != save_in || exists(name);
        let typed = typed.place.profile.as_ref().filter(is_meant);
        let of_environment = environment.place.profile.as_ref().filter(is_meant);
        let named = typed.or(save_in.filter(exists)).or(of_environment);
        match (&file, named) {
            (Some(file), name) => Profile::of(file, name.map(|name| name.as_str())).map(Some),
            (None, Some(name)) => Err(without_file(name).into()),
            (None, None) => Ok(None),
        }
    }

    /// The profile with this name; without a name, the one called
    /// `default`, if it exists. The settings for all profiles are read
    /// too. If no profile has the name, that is recorded in `wrong`.
    pub(super) fn of(file: &ConfigFile, name: Option<&str>) -> Result<Profile> {
        let tables = tables(file)?;
        let meant = name.unwrap_or(DEFAULT_PROFILE);
        let table = tables.iter().find(|(found, _)| *found == meant);
        let mut profile = Profile {
            name: table.map(|(name, _)| (*name).to_owned()),
            file: file.path.clone(),
            names: tables.iter().map(|(name, _)| (*name).to_owned()).collect(),
            files_to_connect: Vec::new(),
            own: Options::default(),
            common: Options::default(),
            wrong: None,
        };
        if let Some((_, table)) = table {
            let place = profile.place();
            (profile.own, profile.wrong) = read(file, &place, *table, false);
        } else if let Some(name) = name {
            profile.wrong = Some(unknown(file, name, &profile.names));
        }
        let place = format!("`{}`", printable(&file.path.display().to_string()));
        let head = file.document.as_table();
        let (common, wrong) = read(file, &place, head, true);
        // What is wrong with another profile does not matter here.
        let all = tables
            .iter()
            .map(|(_, table)| read(file, "", *table, false).0);
        let named = all
            .chain([common.clone()])
            .flat_map(|all| files_to_connect(&all));
        profile.files_to_connect = named.collect();
        profile.common = common;
        profile.wrong = profile.wrong.or(wrong);
        Ok(profile)
    }

    /// Its own options, completed by those for all profiles.
    pub(super) fn options(&self) -> Options {
        let mut options = self.own.clone();
        options.complete(&self.common);
        options
    }

    pub(super) fn layers(&self) -> Vec<Layer> {
        let own = self.name.clone().map(Origin::Profile);
        let own = own.map(|origin| Layer::new(origin, self.own.clone()));
        let common = Layer::new(Origin::AllProfiles, self.common.clone());
        own.into_iter().chain([common]).collect()
    }

    pub fn place(&self) -> String {
        let file = printable(&self.file.display().to_string()).into_owned();
        match &self.name {
            Some(name) => format!("profile {} of `{file}`", quoted_value(name)),
            None => format!("`{file}`"),
        }
    }
}

/// Reads a table of options, which may be the one for all profiles. Reading continues
/// after an error, since some of the other options apply to the message about it.
fn read(
    file: &ConfigFile,
    place: &str,
    table: &dyn TableLike,
    is_common: bool,
) -> (Options, Option<Message>) {
    let place_of = |key: &str| {
        let line = file.line_of(table.key(key).and_then(Key::span));
        format!("{} in {place} (line {line})", quoted_value(key))
    };
    let mut options = Options::default();
    let mut wrong = None;
    for (key, item) in table.iter() {
        if is_common && key == PROFILES {
            continue;
        }
        let set = set(
            &mut options,
            key,
            item,
            is_common,
            file.folder(),
            &place_of(key),
        );
        wrong = wrong.or(set.err());
    }
    let wrong = wrong.or_else(|| {
        let (key, error) = contradiction(&options)?;
        Some(error.behind(format!("{}:", place_of(key))))
    });
    (options, wrong)
}

fn set(
    options: &mut Options,
    key: &str,
    item: &Item,
    is_common: bool,
    folder: &Path,
    place: &str,
) -> Result<(), Message> {
    let declared = match declared(key, is_common) {
        Err(_) if is_common && (item.is_table() || item.is_array_of_tables()) => {
            Err(terminal_message!(
                "is a table, but not a profile",
                "a profile begins with a line such as `[profiles.crm]`"
            ))
        }
        found => found,
    };
    let declared = declared.map_err(|message| message.behind(place))?;
    let field = options.field_mut(declared.key);
    let set = field.map(|field| field.set_json(&json_of(item), folder));
    set.unwrap_or(Ok(()))
        .map_err(|invalid| declared.explain(invalid, place))
}

/// An error that shows only once a table was read, with the option's key.
fn contradiction(options: &Options) -> Option<(&'static str, Message)> {
    let url = options.connection.base_url.as_ref();
    let url = url.map_or(Ok(()), |url| BaseUrl::parse(url, true).map(drop));
    let url = url.map_err(|error| ("base_url", error));
    url.and_then(|()| check_alone(options)).err()
}

/// The value of a key; null for dates, which no option takes.
fn json_of(item: &Item) -> Json {
    match item.clone().into_value() {
        Ok(Value::Datetime(_)) | Err(_) => Json::Null,
        Ok(value) => Json::deserialize(value.into_deserializer()).unwrap_or_default(),
    }
}

/// The option with a key, or why it cannot be in this table, to be shown behind its place. An
/// option without a flag is about one list, and so in one profile.
fn declared(key: &str, is_common: bool) -> Result<&'static Declaration, Message> {
    let mut options = Options::declared();
    options.retain(|declared| declared.has_flag || !is_common);
    match options.iter().find(|declared| declared.key == key) {
        Some(declared) if declared.may_be_in_profile() => Ok(declared),
        Some(declared) => Err(Message::new(
            terminal_text!("is for one command only"),
            Text::terminal(format!(
                "remove it here, and type `{}` when you need it",
                declared.flag()
            )),
        )),
        None if key == "token" => Err(terminal_message!(
            "is not a setting: the token belongs in a file of its own, which only you can read",
            "put it into one, remove it here, and name that file: `token_file = \"…\"`"
        )),
        None => {
            options.retain(|declared| declared.has_flag && declared.may_be_in_profile());
            let keys: Vec<&str> = options.iter().map(|declared| declared.key).collect();
            let hint = match nearest(&key.replace('-', "_"), &keys) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "settings have the names of the flags that `leadload import --help` lists, such as `region` or `token_file`".into(),
            };
            Err(Message::new(
                terminal_text!("is not a setting"),
                Text::terminal(hint),
            ))
        }
    }
}

fn unknown(file: &ConfigFile, name: &str, names: &[String]) -> Message {
    let suggestion = match nearest(name, names) {
        Some(nearest) => format!("did you mean {}? ", quoted_value(nearest)),
        None => String::new(),
    };
    let names = names.iter().filter(|name| !looks_secret(name));
    let names: Vec<String> = names.map(|name| quoted_value(name)).collect();
    let others = match names.as_slice() {
        [] => "there are none; `leadload config init` makes one".to_owned(),
        names => format!("the file has {}", names.join(", ")),
    };
    let (name, file) = (quoted_value(name), file.path.display());
    let what = format!("there is no profile {name} in `{file}`");
    Message::new(Text::terminal(what), Text::terminal(suggestion + &others))
}

fn without_file(name: &str) -> Message {
    let init = match check_name(name) {
        Ok(()) if quoted_value(name).contains(name) => format!("config init --profile {name}"),
        _ => "config init".to_owned(),
    };
    let name = quoted_value(name);
    Message::new(
        Text::terminal(format!(
            "there is no profile {name}, since there is no settings file yet"
        )),
        Text::terminal(format!(
            "create it with `leadload {init}`, or name the file with `--config`"
        )),
    )
}
