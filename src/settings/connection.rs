//! Which service is talked to, and as whom.

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};
use tracing::warn;

use super::Environment;
use crate::api::{BaseUrl, Certificates, Token};
use crate::cli::{ConnectionArgs, operand};
use crate::command_line::CommandLine;
use crate::private_file::{self, Exposure};
use crate::text::{looks_secret, quoted_unless_secret};

/// The service that a command talks to.
#[derive(Debug, Clone)]
pub enum Service {
    /// The one inside this program.
    Sandbox,
    /// One at an address.
    At(Connection),
}

/// An address and the token for it.
#[derive(Debug, Clone)]
pub struct Connection {
    /// Where it is.
    pub base_url: BaseUrl,
    /// Who asks.
    pub token: Token,
    /// Certificates that are trusted besides the system's.
    pub certificates: Certificates,
}

/// The name by which the ledger knows the service inside this program, wherever it
/// listens.
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
    /// The name by which the ledger knows the service, where one is given: no token is
    /// needed to know it.
    pub fn name(args: &ConnectionArgs, environment: &Environment) -> Result<Option<String>> {
        if args.sandbox {
            return Ok(Some(SANDBOX.to_owned()));
        }
        let base_url = args.base_url.as_ref().or(environment.base_url.as_ref());
        let base_url = base_url.map(|url| BaseUrl::parse(url, args.insecure_http));
        Ok(base_url.transpose()?.map(|url| url.to_string()))
    }

    /// Flags over environment, and that over the profile, which has been put into the flags.
    pub fn from_cli(args: &ConnectionArgs, environment: &Environment) -> Result<Service> {
        if args.sandbox {
            return Ok(Service::Sandbox);
        }
        let Some(base_url) = args.base_url.as_ref().or(environment.base_url.as_ref()) else {
            bail!(
                "no service is given\n\nhint: name it with `--base-url` or LEADLOAD_BASE_URL, keep it in a profile by `leadload config init`, or try things out with `--sandbox`"
            );
        };
        let base_url = BaseUrl::parse(base_url, args.insecure_http)?;
        let token = token(args, environment)?;
        let certificates = match &args.ca_file {
            Some(path) => Certificates::from_file(path)?,
            None => Certificates::default(),
        };
        Ok(Service::At(Connection {
            base_url,
            token,
            certificates,
        }))
    }
}

/// `--token-file` over `LEADLOAD_TOKEN` over `LEADLOAD_TOKEN_FILE`; the profile's stands in
/// the flag where none of them is there.
pub(super) fn token(args: &ConnectionArgs, environment: &Environment) -> Result<Token> {
    if let Some(path) = &args.token_file {
        return token_in(path);
    }
    if let Some(text) = &environment.token {
        return Ok(Token::from_text(text, "LEADLOAD_TOKEN")?);
    }
    if let Some(path) = &environment.token_file {
        return token_in(path);
    }
    let profile = environment.profile.as_ref();
    let why = match profile.and_then(|profile| profile.no_token.as_ref()) {
        Some(why) => format!(": {why}"),
        None => String::new(),
    };
    bail!(
        "no access token is given{why}\n\nhint: put it into a file and name that with `--token-file`, set LEADLOAD_TOKEN, or keep it in a profile by `leadload config init`"
    )
}

/// The token in a file, which is nobody else's business.
fn token_in(path: &Path) -> Result<Token> {
    let token = Token::from_file(path)?;
    if let Some(exposure) = private_file::exposure(path) {
        let shown = path.display().to_string();
        let what = match exposure {
            Exposure::Readable => "read",
            Exposure::Writable => "change",
        };
        warn!(
            event = "warning",
            "others can {what} the token file {}: `{}` keeps it to yourself",
            quoted_unless_secret(&shown),
            chmod(path)
        );
    }
    Ok(token)
}

/// The command that takes a file from all others, as it can be pasted.
fn chmod(path: &Path) -> String {
    let line = CommandLine::of(&["chmod".into(), "600".into(), operand(path)]);
    let may_be_shown = !looks_secret(&path.display().to_string());
    let shown = line.shown().filter(|_| may_be_shown);
    shown.unwrap_or("chmod 600 FILE").to_owned()
}
