//! The service and the token.

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};
use secrecy::ExposeSecret;
use tracing::warn;

use super::{Layers, proxy_to};
use crate::api::{BaseUrl, Certificates, Token};
use crate::message::Message;
use crate::options::{ConnectionOptions, Options, TokenSource};
use crate::private_file;
use crate::shell::quoted;
use crate::text::{listed, quoted_unless_secret};

#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "a command has one")]
pub enum Service {
    Sandbox,
    At(Connection),
}

#[derive(Debug, Clone)]
pub struct Connection {
    pub base_url: BaseUrl,
    pub token: Token,
    /// Certificates that are trusted in addition to the system's.
    pub certificates: Certificates,
}

/// The sandbox's name in the ledger, whatever address it listens on.
const SANDBOX: &str = "sandbox";

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Service::Sandbox => f.write_str(SANDBOX),
            Service::At(connection) => connection.base_url.fmt(f),
        }
    }
}

impl Service {
    /// The name of the service in the ledger, if a service is given. It needs no token.
    pub fn name(options: &Options) -> Result<Option<String>> {
        if options.connection.sandbox == Some(true) {
            return Ok(Some(SANDBOX.to_owned()));
        }
        Ok(base_url(options)?.map(|url| url.to_string()))
    }

    pub fn new(layers: &Layers) -> Result<Service> {
        let options = layers.options();
        if options.connection.sandbox == Some(true) {
            return Ok(Service::Sandbox);
        }
        let Some(base_url) = base_url(&options)? else {
            let hint = where_to_find_one(layers);
            bail!(message!(
                "no {service is given|calling service is set up}",
                "{{hint}|give its address and the access token under {--base-url}}",
                hint
            ));
        };
        let token = token(layers)?;
        Ok(Service::At(Connection {
            base_url,
            token,
            certificates: certificates(&options.connection)?,
        }))
    }
}

/// The hint at the terminal if no service is given. There may be profiles, but no default one.
fn where_to_find_one(layers: &Layers) -> String {
    let profile = layers
        .profile
        .as_ref()
        .filter(|profile| profile.name.is_none());
    let names = profile.map_or(&[][..], |profile| &profile.names);
    match names {
        [] => "set it up once with `leadload config init`, which asks for its address and your access token; or name it with `--base-url` or LEADLOAD_BASE_URL; to try things out without a service, use `--sandbox`".to_owned(),
        [first, ..] => format!(
            "choose a profile, for example `--profile {}`; there are {}",
            quoted(first),
            listed(names)
        ),
    }
}

/// Refuses a proxy variable that cannot be read, if it is known where requests go.
pub fn refuse_unreadable_proxy(layers: &Layers) -> Result<(), Message> {
    let url = base_url(&layers.options()).ok().flatten();
    url.map_or(Ok(()), |url| proxy_to(&url).map(drop))
}

pub(super) fn certificates(connection: &ConnectionOptions) -> Result<Certificates> {
    Ok(match connection.ca_file.as_deref() {
        Some(path) => Certificates::from_file(path)?,
        None => Certificates::default(),
    })
}

pub(super) fn base_url(options: &Options) -> Result<Option<BaseUrl>, Message> {
    let connection = &options.connection;
    let allows_http = connection.insecure_http == Some(true);
    let url = connection.base_url.as_ref();
    url.map(|url| BaseUrl::parse(url, allows_http)).transpose()
}

pub(super) fn token(layers: &Layers) -> Result<Token> {
    match layers.given().connection.token_file.as_deref() {
        Some(TokenSource::File(path)) => return token_in(path),
        Some(TokenSource::Text(text)) => {
            return Token::from_text(text.expose_secret(), "LEADLOAD_TOKEN");
        }
        None => {}
    }
    let why = layers.withheld.as_ref();
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    bail!(message!(
        "no access token is {given{why}|stored for this address}",
        "{run `leadload config init` once; in scripts set LEADLOAD_TOKEN, or name a file with `--token-file`|paste it under {--token-file}}",
        why
    ))
}

/// The token in a file. Warns if other users have access to the file.
fn token_in(path: &Path) -> Result<Token> {
    let token = Token::from_file(path)?;
    if let Some(what) = private_file::others_can(path) {
        let shown = path.display().to_string();
        warn!(
            event = "warning",
            "others can {what} the token file {}; protect it with `chmod 600`",
            quoted_unless_secret(&shown)
        );
    }
    Ok(token)
}
