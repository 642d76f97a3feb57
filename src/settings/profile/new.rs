//! A profile to be set up: an address, a token in a file of its own, and how to reach the service.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Profile;
use super::config_file::{self, ConfigFile};
use super::edit::{edit, file_to_edit};
use super::table::{DEFAULT_PROFILE, flags_for, tables};
use crate::api::{BaseUrl, Token};
use crate::message::Message;
use crate::options::{ConnectionOptions, Given, Options, TokenSource};
use crate::private_file;
use crate::settings::connection::{certificates, token};
use crate::settings::layers::token_file;
use crate::settings::{Connection, Layers, proxy_to};

pub struct NewProfile<'a> {
    layers: &'a Layers,
    pub name: String,
    pub file: PathBuf,
    /// How to reach the service: as typed, otherwise as in the profile.
    connection: ConnectionOptions,
    config: Option<ConfigFile>,
    /// The profile as it is now, if there is a settings file.
    present: Option<Profile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenProfile {
    pub token_file: PathBuf,
    /// The token file that the profile named before, if it is another file and still exists.
    pub unused_token_file: Option<PathBuf>,
}

impl<'a> NewProfile<'a> {
    /// The profile that is named, or the default one.
    pub fn new(layers: &'a Layers) -> Result<NewProfile<'a>> {
        let given = layers.given();
        let name = given.place.profile.as_deref();
        let name = name.map_or(DEFAULT_PROFILE, String::as_str).to_owned();
        // Checked before the user has to answer questions.
        let (file, config) = file_to_edit(&given, &name)?;
        let mut connection = layers.typed().connection;
        let present = config
            .as_ref()
            .map(|config| Profile::of(config, Some(&name)));
        let present = present.transpose()?;
        if let Some(present) = &present {
            connection.complete(&present.options().connection);
        }
        Ok(NewProfile {
            layers,
            name,
            file,
            connection,
            config,
            present,
        })
    }

    /// The address that a flag or a variable gives.
    pub fn base_url(&self) -> Result<Option<BaseUrl>, Message> {
        let given = self.layers.given().connection.base_url;
        given.map(|text| self.address(&text)).transpose()
    }

    /// The token that a flag or a variable gives.
    pub fn token(&self) -> Result<Option<Token>> {
        let given = self.layers.given().connection.token_file;
        given.map(|_| token(self.layers)).transpose()
    }

    /// An address that the user has typed.
    pub fn address(&self, text: &str) -> Result<BaseUrl, Message> {
        let allows_http = self.connection.insecure_http == Some(true);
        BaseUrl::parse(text, allows_http)
    }

    /// The connection that the profile would make.
    pub fn connection(&self, base_url: BaseUrl, token: Token) -> Result<Connection> {
        // An address that is typed next time would not help.
        proxy_to(&base_url)?;
        Ok(Connection {
            base_url,
            token,
            certificates: certificates(&self.connection)?,
        })
    }

    /// Whether the profile has an address or a token, which would be replaced.
    pub fn replaces(&self) -> bool {
        self.present.as_ref().is_some_and(|present| {
            let own = &present.own.connection;
            own.base_url.is_some() || own.token_file.is_some()
        })
    }

    /// The address in the profile, even one that may not be used.
    pub fn present_url(&self) -> Option<BaseUrl> {
        let url = self.present.as_ref()?.options().connection.base_url;
        BaseUrl::parse(&url?, true).ok()
    }

    /// Writes the token to a file of its own, then the profile. The profile's
    /// other settings are kept, and so is every file that something else names.
    ///
    /// The two files are not written at the same time: between the two
    /// writes no profile may send the new token to another address.
    pub fn write(&self, connection: &Connection) -> Result<WrittenProfile> {
        let name = self.name.as_str();
        let token = connection.token.expose().to_owned() + "\n";
        let place = self.place_of_token(connection, &token)?;
        let written = private_file::replace(&place, token.as_bytes(), None);
        written.map_err(|error| config_file::unwritable(&place, &error))?;
        edit(&self.file, name, &self.options(connection, &place)?, &[])?;
        let before = self
            .present
            .as_ref()
            .and_then(|present| token_file(&present.own));
        let before = before.filter(|path| path.exists() && !is_same(path, &place));
        Ok(WrittenProfile {
            unused_token_file: before.map(Path::to_owned),
            token_file: place,
        })
    }

    fn options(&self, connection: &Connection, token_file: &Path) -> Result<Options> {
        let typed = self.layers.typed().connection;
        let token_name = token_file.file_name().unwrap_or_default();
        let token = Given::new(TokenSource::File(token_file.into()), token_name);
        Ok(Options {
            connection: ConnectionOptions {
                base_url: Some(Given::text_of(&connection.base_url.to_string())),
                token_file: Some(token),
                ca_file: typed.ca_file.map(|path| path.absolute()).transpose()?,
                insecure_http: typed.insecure_http,
                sandbox: None,
            },
            ..Options::default()
        })
    }

    /// The file for the token: `NAME.token` next to the settings file, with a
    /// number if that is not free. A path is free if nothing exists there and
    /// no profile names it, if an earlier setup wrote this very token to it,
    /// or if it is the token file of this profile alone and the address stays.
    fn place_of_token(&self, connection: &Connection, token: &str) -> Result<PathBuf> {
        let name = self.name.as_str();
        let keeps_address = self.present_url().as_ref() == Some(&connection.base_url);
        let is_free = |place: &Path| -> Result<bool> {
            let config = self.config.as_ref();
            let users = config.map_or(Ok(Vec::new()), |config| users_of(config, place))?;
            let is_file = fs::symlink_metadata(place).map(|found| found.is_file());
            let is_own = keeps_address && users == [name];
            Ok(match is_file {
                Ok(true) if fs::read(place).is_ok_and(|found| found == token.as_bytes()) => true,
                Ok(_) => is_own,
                Err(_) => is_own || users.is_empty(),
            })
        };
        let mut place = self.file.with_file_name(format!("{name}.token"));
        let mut number = 2;
        while !is_free(&place)? {
            place.set_file_name(format!("{name}-{number}.token"));
            number += 1;
        }
        Ok(place)
    }

    /// The flags that select the profile.
    pub fn flags(&self) -> Vec<OsString> {
        flags_for(&self.file, &self.name, self.layers)
    }
}

/// The names of the profiles that take their token from this
/// file. An empty name stands for the settings for all profiles.
fn users_of(config: &ConfigFile, place: &Path) -> Result<Vec<String>> {
    let names_it = |options: &Options| token_file(options).is_some_and(|path| is_same(path, place));
    let mut users = Vec::new();
    for (name, _) in tables(config)? {
        if names_it(&Profile::of(config, Some(name))?.own) {
            users.push(name.to_owned());
        }
    }
    if names_it(&Profile::of(config, None)?.common) {
        users.push(String::new());
    }
    Ok(users)
}

fn is_same(one: &Path, other: &Path) -> bool {
    same_file::is_same_file(one, other).unwrap_or(one == other)
}
