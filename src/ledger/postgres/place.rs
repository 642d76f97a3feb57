//! Where a ledger on a PostgreSQL server is: the address, and what may be in it.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use secrecy::{ExposeSecret, SecretString};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use url::{Host, Url};

use super::password_file::password_for;
use crate::ledger::place::Use;
use crate::message::Message;
use crate::options::Value;
use crate::paths::is_same_place;

const SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];

const PORT: u16 = 5432;

/// A placeholder host for the parser, in an address without one.
const NO_HOST: &str = "_";

/// How long a lease lasts if the address does not say it.
const LEASE: Duration = Duration::from_secs(10);
const SHORTEST_LEASE: Duration = Duration::from_secs(2);
const LONGEST_LEASE: Duration = Duration::from_secs(300);

/// Where others know it from: `pg_stat_activity` shows this name.
const APPLICATION: &str = "leadload";

#[derive(Clone)]
pub struct ServerPlace {
    pub(super) host: ServerHost,
    pub(super) port: u16,
    user: String,
    database: String,
    password: Option<SecretString>,
    /// `None`: the connection is not encrypted.
    pub(super) tls: Option<Trust>,
    /// How long a sender may go on without the server.
    pub(super) lease: Duration,
    /// What the address says of TLS and the lease, as it is written there.
    settings: Vec<String>,
    pub(in crate::ledger) usage: Use,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServerHost {
    Name(String),
    /// The folder of a Unix socket.
    Socket(PathBuf),
}

/// Which certificates of a server are trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trust {
    System,
    /// Those in this file.
    File(PathBuf),
}

impl fmt::Debug for ServerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The address without the password and without what does not tell ledgers apart.
impl fmt::Display for ServerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ServerPlace {
            host,
            port,
            user,
            database,
            ..
        } = self;
        match host {
            ServerHost::Name(name) => {
                let name = in_brackets(name);
                write!(f, "postgresql://{user}@{name}:{port}/{database}")
            }
            ServerHost::Socket(folder) => write!(
                f,
                "postgresql://{user}@/{database}?host={}&port={port}",
                folder.display()
            ),
        }
    }
}

impl PartialEq for ServerPlace {
    fn eq(&self, other: &ServerPlace) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for ServerPlace {}

/// What is wrong with an address. It never shows the address, which may have a password in it.
fn wrong(what: &str, hint: &str) -> Message {
    message!(
        "the address of {ledger} {{what}|cannot be used}",
        "{{hint}|{ask_setup}}",
        what,
        hint
    )
}

const FORM: &str = "write it like `postgresql://user@host:5432/database`, with one host";

impl ServerPlace {
    /// Whether a text is meant to be such an address.
    pub fn is_meant(text: &str) -> bool {
        let start = text.trim_start().to_ascii_lowercase();
        SCHEMES.iter().any(|scheme| start.starts_with(scheme))
    }

    /// Takes the password out of an address, if it has one.
    pub fn split_password(text: &str) -> (String, Option<SecretString>) {
        let Ok(mut url) = read(text) else {
            return (text.to_owned(), None);
        };
        let in_url = url.password().filter(|password| !password.is_empty());
        let mut password = in_url.map(decoded);
        let _ = url.set_password(None);
        let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        if pairs.iter().any(|(name, _)| name == "password") {
            url.query_pairs_mut().clear();
            for (name, value) in pairs {
                if name == "password" {
                    password.get_or_insert(value);
                } else {
                    url.query_pairs_mut().append_pair(&name, &value);
                }
            }
        }
        (url.into(), password.map(SecretString::from))
    }

    /// Reads an address without a password, which comes from elsewhere. A relative
    /// `sslrootcert` starts in the current folder.
    pub fn parse(text: &str, password: Option<SecretString>) -> Result<ServerPlace, Message> {
        let url = read(text).map_err(|_| wrong("cannot be read", FORM))?;
        let mut host = host_of(&url);
        let mut port = url.port();
        if port == Some(0) {
            return Err(wrong_port());
        }
        let mut user = Some(decoded(url.username())).filter(|user| !user.is_empty());
        let path = decoded(url.path().trim_start_matches('/'));
        let mut database = Some(path).filter(|name| !name.is_empty());
        let (mut mode, mut root, mut lease) = (None, None, LEASE);
        let mut settings = Vec::new();
        for (name, value) in url.query_pairs() {
            let value = value.into_owned();
            if matches!(&*name, "sslmode" | "sslrootcert" | "lease") {
                settings.push(format!("{name}={value}"));
            }
            match &*name {
                "host" | "user" | "dbname" if value.is_empty() => {}
                "host" => host = Some(server_host(value)),
                "port" => port = Some(number(&value)?),
                "user" => user = Some(value),
                "dbname" => database = Some(value),
                "sslmode" => mode = Some(TlsMode::from_str(&value)?),
                "sslrootcert" => root = Some(value),
                "lease" => lease = lease_of(&value)?,
                "password" => return Err(password_in_address()),
                // What libpq has beside these does not matter here.
                "application_name" | "connect_timeout" | "target_session_attrs" => {}
                // Not quoted: it may be part of a password.
                _ => {
                    return Err(wrong(
                        "has a setting that is not known",
                        "it may have sslmode, sslrootcert, lease, host, port, user and dbname",
                    ));
                }
            }
        }
        if url.password().is_some_and(|password| !password.is_empty()) {
            return Err(password_in_address());
        }
        let host = one_host(host)?;
        let user = user.ok_or_else(|| wrong("names no user", FORM))?;
        let tls = trust(&host, mode, root)?;
        Ok(ServerPlace {
            port: port.unwrap_or(PORT),
            database: database.unwrap_or_else(|| user.clone()),
            host,
            user,
            password,
            tls,
            lease,
            settings,
            usage: Use::Anything,
        })
    }

    /// The whole address, but for the password.
    pub fn address(&self) -> String {
        let mut address = self.to_string();
        for setting in &self.settings {
            address.push(if address.contains('?') { '&' } else { '?' });
            address.push_str(setting);
        }
        address
    }

    /// Whether a path is that of the certificates that the server is known by.
    pub fn owns(&self, path: &Path) -> bool {
        matches!(&self.tls, Some(Trust::File(root)) if is_same_place(root, path))
    }

    /// Takes the password that a password file has for this server, unless there is one already.
    pub fn find_password(&mut self, file: impl FnOnce() -> Option<String>) {
        if self.has_password() {
            return;
        }
        let host = match &self.host {
            ServerHost::Name(name) => name.as_str(),
            // As PostgreSQL's own programs call it.
            ServerHost::Socket(_) => "localhost",
        };
        let port = self.port.to_string();
        let connection: [&str; 4] = [host, &port, &self.database, &self.user];
        let password = file().and_then(|file| password_for(connection, &file));
        self.password = password.map(SecretString::from);
    }

    /// How to connect. A connection that is not encrypted needs none of what is said of the network.
    pub(super) fn config(&self) -> Config {
        let mut config = Config::new();
        if let ServerHost::Name(name) = &self.host {
            config.host(name);
        }
        config
            .port(self.port)
            .user(&self.user)
            .dbname(&self.database)
            .application_name(APPLICATION)
            .connect_timeout(Duration::from_secs(10))
            // A connection that is cut without a word is noticed within about ten seconds.
            .keepalives_idle(Duration::from_secs(5))
            .keepalives_interval(Duration::from_secs(2))
            .keepalives_retries(3)
            .tcp_user_timeout(Duration::from_secs(10))
            .ssl_mode(match self.tls {
                Some(_) => SslMode::Require,
                None => SslMode::Disable,
            });
        if let Some(password) = &self.password {
            config.password(password.expose_secret());
        }
        config
    }

    pub(super) fn has_password(&self) -> bool {
        self.password.is_some()
    }

    /// A text of the server, or about it, in which the password is not shown.
    pub(super) fn mask(&self, text: &str) -> String {
        match self.password.as_ref().map(ExposeSecret::expose_secret) {
            Some(password) if !password.is_empty() => text.replace(password, "[password]"),
            _ => text.to_owned(),
        }
    }

    /// The host and the port, for messages.
    pub(super) fn server(&self) -> String {
        match &self.host {
            ServerHost::Name(name) => format!("{}:{}", in_brackets(name), self.port),
            ServerHost::Socket(folder) => format!("{} (port {})", folder.display(), self.port),
        }
    }

    pub(super) fn database(&self) -> &str {
        &self.database
    }

    pub(super) fn user(&self) -> &str {
        &self.user
    }
}

/// Reads an address. One with a user and no host, as for a socket, is none to the parser.
fn read(text: &str) -> Result<Url, url::ParseError> {
    let (scheme, rest) = text.trim().split_once("://").unwrap_or_default();
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (who, what) = rest.split_at(end);
    let no_host = if who.is_empty() || who.ends_with('@') {
        NO_HOST
    } else {
        ""
    };
    Url::parse(&format!("{scheme}://{who}{no_host}{what}"))
}

fn host_of(url: &Url) -> Option<ServerHost> {
    match url.host()? {
        Host::Domain(NO_HOST) => None,
        // In a scheme that the parser does not know, an IP address is a name too.
        Host::Domain(name) => Some(server_host(decoded(name))),
        Host::Ipv4(address) => Some(ServerHost::Name(address.to_string())),
        Host::Ipv6(address) => Some(ServerHost::Name(address.to_string())),
    }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn server_host(text: String) -> ServerHost {
    if text.starts_with('/') {
        return ServerHost::Socket(text.into());
    }
    let name = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    ServerHost::Name(name.map_or_else(|| text.clone(), str::to_owned))
}

/// A host as it stands before a port.
fn in_brackets(name: &str) -> String {
    match name.contains(':') {
        true => format!("[{name}]"),
        false => name.to_owned(),
    }
}

fn number(text: &str) -> Result<u16, Message> {
    let port = text.parse().ok().filter(|port| *port > 0);
    port.ok_or_else(wrong_port)
}

fn one_host(host: Option<ServerHost>) -> Result<ServerHost, Message> {
    match host.ok_or_else(|| wrong("names no host", FORM))? {
        ServerHost::Name(name) if name.contains(',') => Err(wrong(
            "names several hosts",
            "name one that always leads to the server that takes changes",
        )),
        host => Ok(host),
    }
}

fn wrong_port() -> Message {
    wrong("has a port that is none", "a port is a number up to 65535")
}

fn lease_of(text: &str) -> Result<Duration, Message> {
    let lease = <Duration as Value>::parse(text).ok();
    let is_allowed = |lease: &Duration| (SHORTEST_LEASE..=LONGEST_LEASE).contains(lease);
    lease.filter(is_allowed).ok_or_else(|| {
        wrong(
            "has a `lease` that cannot be used",
            "write a time from 2s to 5min, such as `lease=10s`",
        )
    })
}

/// Where a password may be.
pub(super) const GIVE_PASSWORD: &str = "give the password in the variable PGPASSWORD, in PostgreSQL's password file (`~/.pgpass`), or with the whole address in LEADLOAD_LEDGER";

fn password_in_address() -> Message {
    wrong(
        "has a password in it, which others can read on the command line and in the settings file",
        GIVE_PASSWORD,
    )
}

/// libpq's words, of which off this computer only those count that verify the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TlsMode {
    Off,
    IfPossible,
    On,
}

impl FromStr for TlsMode {
    type Err = Message;

    fn from_str(text: &str) -> Result<TlsMode, Message> {
        match text {
            "disable" => Ok(TlsMode::Off),
            "allow" | "prefer" => Ok(TlsMode::IfPossible),
            "require" | "verify-ca" | "verify-full" => Ok(TlsMode::On),
            _ => Err(wrong(
                "has an `sslmode` that is none",
                "write `sslmode=verify-full`, or leave it out",
            )),
        }
    }
}

/// Whether the connection is encrypted, and whom it trusts. Off this computer it always is, and
/// the server's name and certificate are verified with every `sslmode`.
fn trust(
    host: &ServerHost,
    mode: Option<TlsMode>,
    root: Option<String>,
) -> Result<Option<Trust>, Message> {
    let trusted = match root.as_deref() {
        None | Some("system") => Trust::System,
        Some(file) => Trust::File(file.into()),
    };
    let is_local = match host {
        ServerHost::Socket(_) => return Ok(None),
        ServerHost::Name(name) => is_loopback(name),
    };
    match mode {
        Some(TlsMode::On) => Ok(Some(trusted)),
        None if is_local && root.is_some() => Ok(Some(trusted)),
        _ if is_local => Ok(None),
        Some(TlsMode::Off) => Err(wrong(
            "has `sslmode=disable`, but the server is on another computer",
            "leave `sslmode` out: everything about your leads would be readable on the way",
        )),
        Some(TlsMode::IfPossible) | None => Ok(Some(trusted)),
    }
}

fn is_loopback(name: &str) -> bool {
    name == "localhost"
        || name
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ServerPlace, String> {
        ServerPlace::parse(text, None).map_err(|message| message.to_string())
    }

    #[test]
    fn an_address_is_shown_without_what_does_not_tell_ledgers_apart() {
        for (text, shown) in [
            (
                "postgres://ada@db.example/leads?sslmode=require",
                "postgresql://ada@db.example:5432/leads",
            ),
            (
                "postgresql://ada@127.0.0.1:5433?lease=5s",
                "postgresql://ada@127.0.0.1:5433/ada",
            ),
            (
                "postgresql://ada@[::1]/leads",
                "postgresql://ada@[::1]:5432/leads",
            ),
            (
                "postgresql://ada@/leads?host=/run/pg&port=5433",
                "postgresql://ada@/leads?host=/run/pg&port=5433",
            ),
            (
                "postgresql://ada@%2Frun%2Fpg/leads",
                "postgresql://ada@/leads?host=/run/pg&port=5432",
            ),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), shown, "{text}");
        }
    }

    #[test]
    fn the_whole_address_has_the_settings_too() {
        for (text, shown) in [
            (
                "postgres://ada@db.example/leads?sslmode=require&lease=5s",
                "postgresql://ada@db.example:5432/leads?sslmode=require&lease=5s",
            ),
            (
                "postgresql://ada@/leads?host=/run/pg&lease=5s",
                "postgresql://ada@/leads?host=/run/pg&port=5432&lease=5s",
            ),
            (
                "postgresql://ada@db/leads",
                "postgresql://ada@db:5432/leads",
            ),
        ] {
            assert_eq!(parse(text).unwrap().address(), shown);
        }
    }

    #[test]
    fn a_connection_is_verified_except_on_this_computer() {
        let tls = |text: &str| parse(text).map(|place| place.tls);
        for local in [
            "127.0.0.1",
            "localhost",
            "[::1]",
            "%2Frun%2Fpg",
            "127.9.9.9",
        ] {
            let url = format!("postgresql://ada@{local}/leads");
            assert_eq!(tls(&url), Ok(None), "{local}");
            assert_eq!(tls(&format!("{url}?sslmode=disable")), Ok(None), "{local}");
        }
        for mode in [
            "",
            "?sslmode=prefer",
            "?sslmode=require",
            "?sslmode=verify-ca",
        ] {
            let url = format!("postgresql://ada@db.example/leads{mode}");
            assert_eq!(tls(&url), Ok(Some(Trust::System)), "{mode}");
        }
        let named = "postgresql://ada@localhost/leads?sslrootcert=/ca.pem";
        assert_eq!(tls(named), Ok(Some(Trust::File("/ca.pem".into()))));
        let refused = tls("postgresql://ada@db.example/leads?sslmode=disable").unwrap_err();
        assert!(refused.contains("on another computer"), "{refused}");
    }

    #[test]
    fn a_password_is_taken_out_and_never_shown() {
        for text in [
            "postgresql://ada:s%40cret@db.example/leads",
            "postgresql://ada@db.example/leads?password=s%40cret&sslmode=require",
        ] {
            let (without, password) = ServerPlace::split_password(text);
            let password = password.unwrap();
            assert_eq!(password.expose_secret(), "s@cret");
            assert!(!without.contains("cret"), "{without}");
            let place = ServerPlace::parse(&without, Some(password)).unwrap();
            assert!(!format!("{place} {place:?}").contains("cret"));
            let refused = parse(text).unwrap_err();
            assert!(refused.contains("a password"), "{refused}");
            assert!(!refused.contains("cret"), "{refused}");
        }
    }

    #[test]
    fn what_is_wrong_with_an_address_is_said_without_showing_it() {
        for (text, said) in [
            ("postgresql://db.example/leads", "names no user"),
            ("postgresql://ada@/leads", "names no host"),
            ("postgresql://ada@/leads?host=", "names no host"),
            ("postgresql://ada@h:0/leads", "a port"),
            ("postgresql://ada@h:70000/leads", "cannot be read"),
            ("postgresql://ada@h/leads?sslmode=on", "`sslmode`"),
            ("postgresql://ada@h/leads?lease=1ms", "`lease`"),
            ("postgresql://ada@h/leads?port=0", "port"),
            ("postgresql://ada@h,i/leads", "names several hosts"),
            ("postgresql://ada@/leads?host=h,i", "names several hosts"),
            ("postgresql://ada@h:5432,i:5432/leads", "with one host"),
            ("postgresql://ada@h/leads?sslkey=a", "not known"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn a_password_file_gives_the_password_that_nothing_else_gives() {
        let found = |address: &str, given: Option<&str>| {
            let given = given.map(|given| SecretString::from(given.to_owned()));
            let mut place = ServerPlace::parse(address, given).unwrap();
            let file = "db.example:5432:ada:ada:of a name\nlocalhost:5433:leads:ada:of a socket\n";
            place.find_password(|| Some(file.to_owned()));
            place.password.map(|found| found.expose_secret().to_owned())
        };
        let (name, socket) = (
            "postgresql://ada@db.example",
            "postgresql://ada@%2Frun%2Fpg/leads?port=5433",
        );
        assert_eq!(found(name, None).as_deref(), Some("of a name"));
        assert_eq!(found(socket, None).as_deref(), Some("of a socket"));
        assert_eq!(found(name, Some("given")).as_deref(), Some("given"));
        assert_eq!(found("postgresql://bob@db.example", None), None);
    }
}
