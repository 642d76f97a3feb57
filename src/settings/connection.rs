//! Which service is talked to, and as whom.

use std::fmt;

use anyhow::{Result, bail};

use super::Environment;
use crate::api::{BaseUrl, Certificates, Token};
use crate::cli::ConnectionArgs;

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

    /// Flags over environment.
    pub fn from_cli(args: &ConnectionArgs, environment: &Environment) -> Result<Service> {
        if args.sandbox {
            return Ok(Service::Sandbox);
        }
        let Some(base_url) = args.base_url.as_ref().or(environment.base_url.as_ref()) else {
            bail!(
                "no service is given\n\nhint: name it with `--base-url` or LEADLOAD_BASE_URL, or try things out with `--sandbox`"
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

/// `--token-file` over `LEADLOAD_TOKEN` over `LEADLOAD_TOKEN_FILE`.
fn token(args: &ConnectionArgs, environment: &Environment) -> Result<Token> {
    let token = if let Some(path) = &args.token_file {
        Token::from_file(path)?
    } else if let Some(text) = &environment.token {
        Token::from_text(text, "LEADLOAD_TOKEN")?
    } else if let Some(path) = &environment.token_file {
        Token::from_file(path)?
    } else {
        bail!(
            "no access token is given\n\nhint: put it into a file and name that with `--token-file`, or set LEADLOAD_TOKEN"
        );
    };
    Ok(token)
}
