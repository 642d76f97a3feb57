//! A profile that is set up: an address, a token in a file of its own, and what goes with
//! them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use toml_edit::{Item, value};
use tracing::warn;

use super::config_file::{self, ConfigFile};
use super::table::{
    DEFAULT_PROFILE, check_name_in, common_item_in, flags_for, item_in, own_item_in, put,
    table_to_edit, tables,
};
use crate::api::{BaseUrl, Certificates, Token};
use crate::cli::ConnectionArgs;
use crate::phone::Region;
use crate::private_file;
use crate::settings::connection::token;
use crate::settings::environment::LEADLOAD_BASE_URL;
use crate::settings::{Connection, Environment};

/// The settings that it consists of.
const BASE_URL: &str = "base_url";
const TOKEN_FILE: &str = "token_file";
const REGION: &str = "region";

/// What was said of a new profile on the command line, or by the environment.
pub struct NewProfile<'a> {
    args: &'a ConnectionArgs,
    /// What stands behind the command line.
    pub environment: &'a Environment,
    /// Certificates that are trusted besides the system's.
    ca_file: Option<PathBuf>,
    insecure_http: bool,
    /// The file of settings that it goes into.
    pub file: PathBuf,
    /// Its name, if one was said.
    pub name: Option<String>,
    /// The service's address, if one was said.
    pub base_url: Option<Said<BaseUrl>>,
    /// The token, if one was said.
    pub token: Option<Said<Token>>,
    word: EnvironmentWord,
}

/// What the environment's word is worth where no flag says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvironmentWord {
    /// It is taken: nobody can be asked.
    Taken,
    /// It is offered to somebody who may answer otherwise. What cannot be used is not.
    Offered,
}

/// What was said before anybody is asked.
#[derive(Debug, Clone)]
pub struct Said<T> {
    /// It.
    pub value: T,
    /// The variable that says it, where no flag does.
    pub variable: Option<&'static str>,
}

/// What is there already of what would be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The address, if it is one: what stands there may hold a password.
    pub base_url: Option<BaseUrl>,
}

/// The country of national numbers in a profile that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresentRegion {
    /// The country.
    pub region: Region,
    /// Whether it is that of all profiles, which is not this one's to take out.
    pub is_common: bool,
}

/// What becomes of the country of national numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegionChoice {
    /// It is as it was.
    Same,
    /// There is none any more.
    None,
    /// It is this one.
    Is(Region),
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenProfile {
    /// The file with the token.
    pub token_file: PathBuf,
    /// The one that the profile named before, if that is another and still there.
    pub unused_token_file: Option<PathBuf>,
    /// A file of settings that is not read any more, since this one comes before it.
    pub hidden: Option<PathBuf>,
}

impl<'a> NewProfile<'a> {
    /// What was said.
    ///
    /// # Errors
    ///
    /// Where something of it cannot be used, or the file of settings cannot be written.
    pub fn from_cli(
        args: &'a ConnectionArgs,
        environment: &'a Environment,
        word: EnvironmentWord,
    ) -> Result<NewProfile<'a>> {
        let named = args.profile.config.as_ref().or(environment.config.as_ref());
        let file = config_file::place_to_write(named.map(PathBuf::as_path))?;
        config_file::probe(&file, |_| Ok(()))?;
        if let Some(file) = ConfigFile::read(&file)? {
            tables(&file)?;
        }
        let name = args.profile.profile.as_ref();
        let name = name.or(environment.profile_name.as_ref()).cloned();
        let url_variable = args.base_url.is_none().then_some(LEADLOAD_BASE_URL);
        let said_url = args.base_url.as_ref().or(environment.base_url.as_ref());
        // Whether it may be plain http depends on the profile's name too.
        let base_url = said_url.map(|url| Ok(BaseUrl::parse(url, true)?));
        let has_token = args.token_file.is_some() || environment.has_token();
        let token = has_token.then(|| token(args, environment));
        let token_variable = match args.token_file {
            Some(_) => None,
            None => environment.token_variable(),
        };
        let said_of = |url| said(url, url_variable, word);
        let base_url = base_url.map(said_of).transpose()?.flatten();
        let token = token.map(|token| said(token, token_variable, word));
        let token = token.transpose()?.flatten();
        Ok(NewProfile {
            args,
            environment,
            ca_file: args.ca_file.clone(),
            insecure_http: args.insecure_http,
            file,
            name,
            base_url,
            token,
            word,
        })
    }

    /// Takes up what already stands in the profile of this name, or for all profiles, and
    /// says how the service is reached.
    ///
    /// # Errors
    ///
    /// Where no profile can have that name, or the file cannot be read.
    pub fn choose(&mut self, name: &str) -> Result<()> {
        let file = ConfigFile::read(&self.file)?;
        check_name_in(file.as_ref(), name)?;
        if let Some(file) = &file {
            let stands = |key| item_in(file, Some(name), key);
            if self.args.ca_file.is_none() {
                let path = stands("ca_file").and_then(Item::as_str);
                self.ca_file = path.map(|path| config_file::resolved(file.folder(), path));
            }
            let is_allowed = stands("insecure_http").and_then(Item::as_bool) == Some(true);
            self.insecure_http = self.args.insecure_http || is_allowed;
        }
        Ok(())
    }

    /// Looks once more at the address that was said, now that the profile is chosen, which
    /// may allow plain http or not.
    ///
    /// # Errors
    ///
    /// Where it is not to be used; what is only offered is dropped then.
    pub fn check_address(&mut self) -> Result<()> {
        if let Some(Said { value, variable }) = self.base_url.take() {
            let url = self.address(&value.to_string());
            self.base_url = said(url, variable, self.word)?;
        }
        Ok(())
    }

    /// An address as somebody has typed it.
    ///
    /// # Errors
    ///
    /// Where it is none.
    pub fn address(&self, text: &str) -> Result<BaseUrl> {
        Ok(BaseUrl::parse(text, self.insecure_http)?)
    }

    /// The connection that the profile would make.
    ///
    /// # Errors
    ///
    /// Where the certificates to trust cannot be read.
    pub fn connection(&self, base_url: BaseUrl, token: Token) -> Result<Connection> {
        let certificates = match &self.ca_file {
            Some(path) => Certificates::from_file(path)?,
            None => Certificates::default(),
        };
        Ok(Connection {
            base_url,
            token,
            certificates,
        })
    }

    /// What a profile of this name has already of what would be replaced.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read.
    pub fn replaces(&self, name: &str) -> Result<Option<Replaced>> {
        let Some(file) = ConfigFile::read(&self.file)? else {
            return Ok(None);
        };
        let own = |key| own_item_in(&file, name, key).and_then(Item::as_str);
        let is_there = own(BASE_URL).or_else(|| own(TOKEN_FILE)).is_some();
        let base_url = own(BASE_URL).and_then(|url| BaseUrl::parse(url, true).ok());
        Ok(is_there.then_some(Replaced { base_url }))
    }

    /// The address in a profile of this name, if it is one.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read.
    pub fn present_address(&self, name: &str) -> Result<Option<Said<BaseUrl>>> {
        let file = ConfigFile::read(&self.file)?;
        let text = file.and_then(|file| {
            let own = own_item_in(&file, name, BASE_URL);
            own.and_then(Item::as_str).map(str::to_owned)
        });
        let url = text.and_then(|text| self.address(&text).ok());
        Ok(url.map(|value| Said {
            value,
            variable: None,
        }))
    }

    /// The country of national numbers in a profile of this name.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read.
    pub fn region(&self, name: &str) -> Result<Option<PresentRegion>> {
        let file = ConfigFile::read(&self.file)?;
        Ok(file.and_then(|file| {
            let is_common = own_item_in(&file, name, REGION).is_none();
            let text = item_in(&file, Some(name), REGION)?.as_str()?;
            let region = Region::parse(text)?;
            Some(PresentRegion { region, is_common })
        }))
    }

    /// Writes the token into a file of its own, and the profile. What else stands in a
    /// profile of that name is kept, and so is every file that something else names.
    ///
    /// The two are not written at once: between them the new token must not stand where a
    /// profile sends it to another address.
    ///
    /// # Errors
    ///
    /// Where one of the two cannot be written.
    pub fn write(
        &self,
        name: &str,
        connection: &Connection,
        region: RegionChoice,
    ) -> Result<WrittenProfile> {
        let hidden = config_file::hidden_by(&self.file);
        let present = ConfigFile::read(&self.file)?;
        let token = connection.token.expose().to_owned() + "\n";
        let token_file = self.place_of_token(present.as_ref(), name, connection, &token);
        let written = private_file::replace(&token_file, token.as_bytes(), None);
        written.map_err(|error| config_file::unwritable(&token_file, &error))?;
        let before = present
            .as_ref()
            .and_then(|file| token_file_of(file, own_item_in(file, name, TOKEN_FILE)));
        self.write_profile(name, connection, &token_file, region)?;
        Ok(WrittenProfile {
            unused_token_file: before.filter(|path| path.exists() && !is_same(path, &token_file)),
            token_file,
            hidden,
        })
    }

    fn write_profile(
        &self,
        name: &str,
        connection: &Connection,
        token_file: &Path,
        region: RegionChoice,
    ) -> Result<()> {
        let ca_file = self.args.ca_file.as_deref().map(std::path::absolute);
        let ca_file = ca_file.transpose()?;
        let token_name = token_file.file_name().unwrap_or_default();
        let token_name = token_name.to_string_lossy().into_owned();
        config_file::edit(&self.file, |document| {
            let table = table_to_edit(document, name)?;
            put(
                table,
                BASE_URL,
                Some(value(connection.base_url.to_string())),
            );
            put(table, TOKEN_FILE, Some(value(token_name)));
            if let Some(path) = ca_file {
                put(table, "ca_file", Some(value(path.display().to_string())));
            }
            if self.args.insecure_http {
                put(table, "insecure_http", Some(value(true)));
            }
            match region {
                RegionChoice::Same => {}
                RegionChoice::None => put(table, REGION, None),
                RegionChoice::Is(region) => put(table, REGION, Some(value(region.to_string()))),
            }
            Ok(())
        })
    }

    /// Where the token goes: into the file that is called after the profile, unless
    /// something else than this profile as it will be may take what stands there.
    fn place_of_token(
        &self,
        present: Option<&ConfigFile>,
        name: &str,
        connection: &Connection,
        token: &str,
    ) -> PathBuf {
        let mut place = self.file.with_file_name(format!("{name}.token"));
        let stays_there = present.is_some_and(|file| {
            let url = item_in(file, Some(name), BASE_URL).and_then(Item::as_str);
            let url = url.and_then(|url| BaseUrl::parse(url, true).ok());
            url.as_ref() == Some(&connection.base_url)
        });
        let is_free = |place: &Path| {
            let found = fs::symlink_metadata(place);
            // Perhaps an earlier setup has written it, and nothing else.
            let holds_it = || fs::read(place).is_ok_and(|found| found == token.as_bytes());
            if found.as_ref().is_ok_and(fs::Metadata::is_file) && holds_it() {
                return true;
            }
            match present.map_or(Use::None, |file| use_of(file, name, place)) {
                Use::None => found.is_err(),
                Use::OfThis => stays_there,
                Use::OfOthers => false,
            }
        };
        let mut number = 2;
        while !is_free(&place) {
            place.set_file_name(format!("{name}-{number}.token"));
            number += 1;
        }
        place
    }

    /// The name that a profile has where nobody chooses one.
    pub fn default_name() -> &'static str {
        DEFAULT_PROFILE
    }

    /// The flags by which a command takes the profile of this name.
    pub fn flags(&self, name: &str) -> Vec<OsString> {
        flags_for(&self.file, name, self.environment)
    }
}

/// What was said, if it can be used. What is only offered is dropped if it cannot.
fn said<T>(
    found: Result<T>,
    variable: Option<&'static str>,
    word: EnvironmentWord,
) -> Result<Option<Said<T>>> {
    match (found, variable, word) {
        (Ok(value), ..) => Ok(Some(Said { value, variable })),
        (Err(error), Some(variable), EnvironmentWord::Offered) => {
            let text = error.to_string();
            let (what, _) = text.split_once("\n\nhint: ").unwrap_or((&text, ""));
            warn!("{variable} is not offered: {what}");
            Ok(None)
        }
        (Err(error), ..) => Err(error),
    }
}

/// Which profiles take their token from a file.
enum Use {
    None,
    /// This one alone.
    OfThis,
    OfOthers,
}

fn use_of(file: &ConfigFile, name: &str, place: &Path) -> Use {
    let names = |item: Option<&Item>| {
        let path = token_file_of(file, item);
        path.is_some_and(|path| is_same(&path, place))
    };
    let own = own_item_in(file, name, TOKEN_FILE);
    let tables = tables(file).unwrap_or_default();
    let mut others = tables.iter().filter(|(other, _)| *other != name);
    let by_others = others.any(|(other, _)| names(own_item_in(file, other, TOKEN_FILE)));
    match by_others || names(common_item_in(file, TOKEN_FILE)) {
        true => Use::OfOthers,
        false if names(own) => Use::OfThis,
        false => Use::None,
    }
}

fn token_file_of(file: &ConfigFile, item: Option<&Item>) -> Option<PathBuf> {
    let text = item.and_then(Item::as_str)?;
    Some(config_file::resolved(file.folder(), text))
}

fn is_same(one: &Path, other: &Path) -> bool {
    same_file::is_same_file(one, other).unwrap_or(one == other)
}
