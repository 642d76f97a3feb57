//! A profile that is set up: an address, a token in a file of its own, and what goes with
//! them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use toml_edit::value;
use tracing::warn;

use super::Profile;
use super::config_file::{self, ConfigFile};
use super::table::{DEFAULT_PROFILE, check_name_in, flags_for, put, table_to_edit, tables};
use crate::api::{BaseUrl, Certificates, Token};
use crate::options::{ConnectionOptions, Options};
use crate::phone::Region;
use crate::private_file;
use crate::settings::connection::token;
use crate::settings::layers::token_path;
use crate::settings::{Connection, Layers, Origin};

/// What was said of a new profile on the command line, or by the environment.
pub struct NewProfile<'a> {
    /// What was typed of how the service is reached.
    typed: ConnectionOptions,
    /// The command line, and the environment behind it.
    pub layers: &'a Layers,
    /// Certificates that are trusted besides the system's.
    ca_file: Option<PathBuf>,
    insecure_http: bool,
    /// The file of settings that it goes into.
    pub file: PathBuf,
    /// Its name, if one was said.
    pub name: Option<String>,
    /// The service's address, if one was said.
    pub base_url: Option<Stated<BaseUrl>>,
    /// The token, if one was said.
    pub token: Option<Stated<Token>>,
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
pub struct Stated<T> {
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
    pub fn new(layers: &'a Layers, word: EnvironmentWord) -> Result<NewProfile<'a>> {
        let said = layers.said();
        let named = said.place.config.as_deref().map(PathBuf::as_path);
        let file = config_file::place_to_write(named)?;
        config_file::probe(&file, |_| Ok(()))?;
        if let Some(file) = ConfigFile::read(&file)? {
            tables(&file)?;
        }
        let variable = |is_said: fn(&Options) -> bool| match layers.origin(is_said) {
            Origin::Environment(name) => Some(name),
            _ => None,
        };
        let url_variable = variable(|said| said.connection.base_url.is_some());
        // Whether it may be plain http depends on the profile's name too.
        let base_url = said.connection.base_url.as_ref();
        let base_url = base_url.map(|url| {
            let url = BaseUrl::parse(&url.0, true).map_err(Into::into);
            stated(url, url_variable, word)
        });
        let token_variable = variable(|said| said.connection.token_file.is_some());
        let source = said.connection.token_file.as_ref();
        let token = source.map(|_| stated(token(layers), token_variable, word));
        let typed = layers.typed().connection;
        Ok(NewProfile {
            ca_file: typed.ca_file.as_deref().cloned(),
            insecure_http: typed.insecure_http == Some(true),
            typed,
            layers,
            file,
            name: said.place.profile.as_ref().map(|name| name.0.clone()),
            base_url: base_url.transpose()?.flatten(),
            token: token.transpose()?.flatten(),
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
            let present = Profile::of(file, Some(name))?.profile.options().connection;
            if self.typed.ca_file.is_none() {
                self.ca_file = present.ca_file.as_deref().cloned();
            }
            let is_allowed = present.insecure_http == Some(true);
            self.insecure_http = self.typed.insecure_http == Some(true) || is_allowed;
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
        if let Some(Stated { value, variable }) = self.base_url.take() {
            let url = self.address(&value.to_string());
            self.base_url = stated(url, variable, self.word)?;
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
        let own = self.present(name)?.map(|present| present.own.connection);
        let own = own.filter(|own| own.base_url.is_some() || own.token_file.is_some());
        Ok(own.map(|own| Replaced {
            base_url: own
                .base_url
                .and_then(|url| BaseUrl::parse(&url.0, true).ok()),
        }))
    }

    /// The profile of this name as it is, where there is a file already.
    fn present(&self, name: &str) -> Result<Option<Profile>> {
        let file = ConfigFile::read(&self.file)?;
        let read = file
            .map(|file| Profile::of(&file, Some(name)))
            .transpose()?;
        Ok(read.map(|read| read.profile))
    }

    /// The address in a profile of this name, if it is one.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read.
    pub fn present_address(&self, name: &str) -> Result<Option<Stated<BaseUrl>>> {
        let present = self.present(name)?;
        let url = present.and_then(|present| present.own.connection.base_url);
        let url = url.and_then(|url| self.address(&url.0).ok());
        Ok(url.map(|value| Stated {
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
        let present = self.present(name)?;
        Ok(present.and_then(|present| {
            let is_common = present.own.phones.region.is_none();
            let region = *present.options().phones.region?;
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
            .map(|file| Profile::of(file, Some(name)))
            .transpose()?
            .and_then(|read| token_file_of(&read.profile.own));
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
        let ca_file = self.typed.ca_file.as_deref().map(std::path::absolute);
        let ca_file = ca_file.transpose()?;
        let token_name = token_file.file_name().unwrap_or_default();
        let token_name = token_name.to_string_lossy().into_owned();
        config_file::edit(&self.file, |document| {
            let table = table_to_edit(document, name)?;
            let url = connection.base_url.to_string();
            put(table, "base_url", Some(value(url)));
            put(table, "token_file", Some(value(token_name)));
            if let Some(path) = ca_file {
                put(table, "ca_file", Some(value(path.display().to_string())));
            }
            if self.typed.insecure_http == Some(true) {
                put(table, "insecure_http", Some(value(true)));
            }
            match region {
                RegionChoice::Same => {}
                RegionChoice::None => put(table, "region", None),
                RegionChoice::Is(region) => {
                    put(table, "region", Some(value(region.to_string())));
                }
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
            let read = Profile::of(file, Some(name)).ok();
            let url = read.and_then(|read| read.profile.options().connection.base_url);
            let url = url.and_then(|url| BaseUrl::parse(&url.0, true).ok());
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

    /// The variables that come before what a profile says of the service.
    pub fn variables(&self) -> Vec<&'static str> {
        let environment = self.layers.variables();
        let is_of_service = |options: &Options| {
            options.connection.base_url.is_some() || options.connection.token_file.is_some()
        };
        let layers = environment.filter(|(_, options)| is_of_service(options));
        layers.map(|(name, _)| name).collect()
    }

    /// The name that a profile has where nobody chooses one.
    pub fn default_name() -> &'static str {
        DEFAULT_PROFILE
    }

    /// The flags by which a command takes the profile of this name.
    pub fn flags(&self, name: &str) -> Vec<OsString> {
        flags_for(&self.file, name, self.layers)
    }
}

/// What was said, if it can be used. What is only offered is dropped if it cannot.
fn stated<T>(
    found: Result<T>,
    variable: Option<&'static str>,
    word: EnvironmentWord,
) -> Result<Option<Stated<T>>> {
    match (found, variable, word) {
        (Ok(value), ..) => Ok(Some(Stated { value, variable })),
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
    let names = |options: &Options| {
        let path = token_file_of(options);
        path.is_some_and(|path| is_same(&path, place))
    };
    let read = |name: &str| Profile::of(file, Some(name)).ok().map(|read| read.profile);
    let tables = tables(file).unwrap_or_default();
    let others = tables.iter().filter(|(other, _)| *other != name);
    let others = others.filter_map(|(other, _)| read(other));
    let own = read(name);
    let by_all = own.as_ref().is_some_and(|own| names(&own.common));
    if by_all || others.into_iter().any(|other| names(&other.own)) {
        Use::OfOthers
    } else if own.is_some_and(|own| names(&own.own)) {
        Use::OfThis
    } else {
        Use::None
    }
}

fn token_file_of(options: &Options) -> Option<PathBuf> {
    let source = options.connection.token_file.as_deref()?;
    token_path(source).map(Path::to_owned)
}

fn is_same(one: &Path, other: &Path) -> bool {
    same_file::is_same_file(one, other).unwrap_or(one == other)
}
