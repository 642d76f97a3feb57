//! A profile that is set up: an address, a token in a file of its own, and what goes with
//! them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use tracing::warn;

use super::Profile;
use super::config_file::{self, ConfigFile};
use super::edit::{edit, lines};
use super::table::{DEFAULT_PROFILE, check_name_in, flags_for, table_of, tables};
use crate::api::{BaseUrl, Token};
use crate::options::{
    Address, ConnectionOptions, DefaultRegion, Group, Options, Said, TokenSource, Value,
};
use crate::private_file;
use crate::settings::connection::{certificates, token};
use crate::settings::layers::token_path;
use crate::settings::{Connection, Layers, Origin};

/// What was said of a new profile on the command line, or by the environment.
pub struct NewProfile<'a> {
    /// The command line, and the environment behind it.
    layers: &'a Layers,
    /// The file of settings that it goes into.
    pub file: PathBuf,
    /// Its name, if one was said.
    pub name: Option<String>,
    /// The service's address, if one was said.
    pub base_url: Option<Stated<BaseUrl>>,
    /// The token, if one was said.
    pub token: Option<Stated<Token>>,
    /// Whether what the environment says is offered to somebody who may answer otherwise: what
    /// of it cannot be used is not.
    is_offered: bool,
    /// How the service is reached: what was typed, over what stands in the profile.
    connection: ConnectionOptions,
    /// The profile as it is, where there is a file already.
    present: Option<Profile>,
    /// The keys that stand in it, be their values right or not.
    keys: Vec<String>,
}

/// What was said before anybody is asked.
#[derive(Debug, Clone)]
pub struct Stated<T> {
    /// What was said.
    pub value: T,
    /// The variable that says it, where no flag does.
    pub variable: Option<&'static str>,
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
    /// What was said; of what the environment says in the place of a flag, only what can be
    /// used where it `is_offered`.
    ///
    /// # Errors
    ///
    /// Where something of it cannot be used, or the file of settings cannot be written.
    pub fn new(layers: &'a Layers, is_offered: bool) -> Result<NewProfile<'a>> {
        let said = layers.said();
        let file = config_file::place_to_write(&said.place)?;
        if let Some(file) = ConfigFile::read(&file)? {
            tables(&file)?;
        }
        config_file::probe(&file)?;
        let variable = |is_said: fn(&Options) -> bool| match layers.origin(is_said) {
            Origin::Environment(name) => Some(name),
            _ => None,
        };
        let url_variable = variable(|said| said.connection.base_url.is_some());
        let token_variable = variable(|said| said.connection.token_file.is_some());
        // Whether it may be plain http depends on the profile's name too.
        let base_url = said.connection.base_url.as_ref();
        let base_url = base_url.map(|url| {
            let url = BaseUrl::parse(&url.0, true).map_err(Into::into);
            stated(url, url_variable, is_offered)
        });
        let source = said.connection.token_file.as_ref();
        let token = source.map(|_| stated(token(layers), token_variable, is_offered));
        Ok(NewProfile {
            layers,
            file,
            name: said.place.profile.as_ref().map(|name| name.0.clone()),
            base_url: base_url.transpose()?.flatten(),
            token: token.transpose()?.flatten(),
            is_offered,
            connection: layers.typed().connection,
            present: None,
            keys: Vec::new(),
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
        let own = file.as_ref().and_then(|file| table_of(file, name));
        let keys = own.into_iter().flat_map(|own| own.iter());
        self.keys = keys.map(|(key, _)| key.replace('-', "_")).collect();
        let present = file.map(|file| Profile::of(&file, Some(name)));
        self.present = present.transpose()?;
        self.connection = self.layers.typed().connection;
        if let Some(present) = &self.present {
            self.connection.complete(&present.options().connection);
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
            self.base_url = stated(url, variable, self.is_offered)?;
        }
        Ok(())
    }

    /// An address as somebody has typed it.
    ///
    /// # Errors
    ///
    /// Where it is none.
    pub fn address(&self, text: &str) -> Result<BaseUrl> {
        let allows_http = self.connection.insecure_http == Some(true);
        Ok(BaseUrl::parse(text, allows_http)?)
    }

    /// The connection that the profile would make.
    ///
    /// # Errors
    ///
    /// Where the certificates to trust cannot be read.
    pub fn connection(&self, base_url: BaseUrl, token: Token) -> Result<Connection> {
        Ok(Connection {
            base_url,
            token,
            certificates: certificates(&self.connection)?,
        })
    }

    /// Whether the profile has an address or a token, which would be replaced.
    pub fn replaces(&self) -> bool {
        self.has("base_url") || self.has("token_file")
    }

    fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|there| there == key)
    }

    /// The address in the profile, if it is one.
    pub fn present_url(&self) -> Option<BaseUrl> {
        let own = &self.present.as_ref()?.own;
        BaseUrl::parse(&own.connection.base_url.as_ref()?.0, true).ok()
    }

    /// The same, if it may be used.
    pub fn present_address(&self) -> Option<Stated<BaseUrl>> {
        Some(Stated {
            value: self.address(&self.present_url()?.to_string()).ok()?,
            variable: None,
        })
    }

    /// The country of national numbers in the profile, or for all of them.
    pub fn region(&self) -> Option<DefaultRegion> {
        let present = self.present.as_ref()?;
        present.options().phones.region.as_deref().copied()
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
        region: Option<DefaultRegion>,
    ) -> Result<WrittenProfile> {
        let hidden = config_file::hidden_by(&self.file);
        let present = ConfigFile::read(&self.file)?;
        let token = connection.token.expose().to_owned() + "\n";
        let token_file = self.place_of_token(present.as_ref(), name, connection, &token);
        let written = private_file::replace(&token_file, token.as_bytes(), None);
        written.map_err(|error| config_file::unwritable(&token_file, &error))?;
        let before = present.map(|file| Profile::of(&file, Some(name)));
        let before = before.transpose()?;
        let before = before.and_then(|profile| token_file_of(&profile.own));
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
        region: Option<DefaultRegion>,
    ) -> Result<()> {
        let typed = self.layers.typed().connection;
        let token_name = token_file.file_name().unwrap_or_default();
        let token = Said::told_as(TokenSource::File(token_file.into()), token_name);
        let mut options = Options {
            connection: ConnectionOptions {
                base_url: Some(Address::said(&connection.base_url.to_string())),
                token_file: Some(token),
                ca_file: typed.ca_file.map(|path| path.absolute()).transpose()?,
                insecure_http: typed.insecure_http,
                sandbox: None,
            },
            ..Options::default()
        };
        options.phones.region = region.map(|region| {
            let text = region.usual_form().unwrap_or_default();
            Said::told_as(region, text)
        });
        edit(&self.file, name, lines(&options), &[])
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
            let profile = Profile::of(file, Some(name)).ok();
            let url = profile.and_then(|profile| profile.options().connection.base_url);
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
        self.layers.variables_saying(|said| {
            said.connection.base_url.is_some() || said.connection.token_file.is_some()
        })
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
    is_offered: bool,
) -> Result<Option<Stated<T>>> {
    match (found, variable) {
        (Ok(value), _) => Ok(Some(Stated { value, variable })),
        (Err(error), Some(variable)) if is_offered => {
            let text = error.to_string();
            let (what, _) = text.split_once("\n\nhint: ").unwrap_or((&text, ""));
            warn!("{variable} is not offered: {what}");
            Ok(None)
        }
        (Err(error), _) => Err(error),
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
    let read = |name: &str| Profile::of(file, Some(name)).ok();
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
