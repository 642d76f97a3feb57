//! `leadload config init`: asks for address and token, tries them out, and saves them.
//!
//! Nothing is written before the service has answered. Without a terminal, address and token
//! must be given, and nothing is replaced. At a terminal only a flag answers a question: what
//! the environment gives is offered as an answer, since it may be meant for something else.

use std::ffi::OsString;
use std::path::Path;

use anyhow::anyhow;

use crate::api::{BaseUrl, Limits, ListError, Token};
use crate::campaign::Campaign;
use crate::command_line::CommandLine;
use crate::commands::ask::{self, Cancelled, Terminal, note};
use crate::commands::directory::list_failure;
use crate::commands::service;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::options::{DefaultRegion, Value};
use crate::report::{Width, console, paragraph};
use crate::settings::{Connection, Layers, NewProfile, Preset, Service, TIMEOUT, WrittenProfile};
use crate::text::{counted, listed, printable, quoted_value};

/// The most campaigns that are named.
const MAX_NAMED: usize = 10;

/// The answer that removes a country.
const NONE: &str = "-";

/// Runs the command.
pub(super) fn run(layers: &Layers) -> Result<ExitCode, Failure> {
    service::block_on(async {
        let setup = Setup::new(layers, Terminal::open()?)?;
        let done = setup.run().await;
        done.map_err(|failure| match failure.stopped_by {
            StoppedBy::Signal => Failure::new(
                StoppedBy::Signal,
                anyhow!("stopped by a signal: nothing was written"),
            ),
            _ => failure,
        })
    })
}

struct Setup<'a> {
    new: NewProfile<'a>,
    terminal: Terminal,
    /// The name that is given.
    name: Option<String>,
    /// The token that is given; the address is read when the name is chosen, since the profile
    /// says whether it may be plain http.
    token: Option<Preset<Token>>,
    can_ask: bool,
    /// Whether to ask for what no flag gives.
    asks: bool,
    quiet: bool,
}

impl<'a> Setup<'a> {
    fn new(layers: &'a Layers, terminal: Terminal) -> Result<Setup<'a>, Failure> {
        let options = layers.options();
        if options.connection.sandbox == Some(true) {
            return refused(
                "the sandbox needs no profile: any command takes `--sandbox`\n\nhint: give the address of your service, or leave out `--sandbox` to be asked for it",
            );
        }
        let can_ask = ask::can_ask(options.log.format());
        let new = NewProfile::new(layers, can_ask).or_stopped(StoppedBy::Usage)?;
        let token = new.token().or_stopped(StoppedBy::Usage)?;
        if (options.connection.base_url.is_none() || token.is_none()) && !can_ask {
            return refused(
                "there is no terminal to ask for the service's address and the token\n\nhint: give both: `leadload config init --base-url URL --token-file FILE`; LEADLOAD_TOKEN works instead of the file",
            );
        }
        let typed = layers.typed().connection;
        let is_typed = typed.base_url.is_some() && typed.token_file.is_some();
        Ok(Setup {
            new,
            terminal,
            name: options.place.profile.as_deref().cloned(),
            token,
            can_ask,
            asks: can_ask && !is_typed,
            quiet: options.log.quiet == Some(true),
        })
    }

    async fn run(mut self) -> Result<ExitCode, Failure> {
        let name = self.choose_name().await?;
        let base_url = self.new.base_url().or_stopped(StoppedBy::Usage)?;
        self.confirm(&name).await?;
        let (connection, campaigns) = self.connect(base_url).await?;
        if !self.quiet {
            note(&found(&campaigns));
        }
        let region = if self.asks {
            self.ask_region().await?
        } else {
            None
        };
        let written = self.new.write(&name, &connection, region);
        let written = written.or_stopped(StoppedBy::Usage)?;
        let summary = summary(&written, &self.new, &name);
        console::print(&summary).or_stopped(StoppedBy::Disk)?;
        Ok(ExitCode::Complete)
    }

    async fn choose_name(&mut self) -> Result<String, Failure> {
        let default = NewProfile::default_name();
        let given = match &self.name {
            None if !self.asks => Some(default.to_owned()),
            given => given.clone(),
        };
        if let Some(name) = given {
            self.new.choose(&name).or_stopped(StoppedBy::Usage)?;
            return Ok(name);
        }
        loop {
            let name = self
                .line(&format!("Name of the profile [{default}]:"))
                .await?;
            let name = if name.is_empty() {
                default.to_owned()
            } else {
                name
            };
            match self.new.choose(&name) {
                Ok(()) => return Ok(name),
                Err(error) => console::error(&error.to_string()),
            }
        }
    }

    /// Asks before anything is replaced.
    async fn confirm(&mut self, name: &str) -> Result<(), Failure> {
        if !self.new.replaces {
            return Ok(());
        }
        let name = quoted_value(name);
        if !self.can_ask {
            let error = anyhow!(
                "there is a profile {name} in `{}`, and no terminal to ask whether to replace its address and token\n\nhint: choose another name with `--profile`, or remove that profile from the file",
                self.new.file.display()
            );
            return Err(Failure::new(StoppedBy::Usage, error));
        }
        let service = self.new.present_url().map(|url| format!(", for {url}"));
        let question = format!(
            "There is a profile {name}{}. Its other settings stay. Replace its address and token?",
            service.unwrap_or_default()
        );
        if self.terminal.yes(&question).await? {
            Ok(())
        } else {
            Err(Cancelled("written").into())
        }
    }

    /// Asks for address and token until the service lists its campaigns.
    async fn connect(
        &mut self,
        given_url: Option<Preset<BaseUrl>>,
    ) -> Result<(Connection, Vec<Campaign>), Failure> {
        let (fixed_url, fixed_token) = (self.fixed(&given_url), self.fixed(&self.token));
        let (mut base_url, mut token) = (fixed_url.clone(), fixed_token.clone());
        loop {
            let url = match base_url.take() {
                Some(url) => url,
                None => self.ask_address(given_url.clone()).await?,
            };
            let used = match token.take() {
                Some(token) => token,
                None => self.ask_token().await?,
            };
            let connection = self
                .new
                .connection(url, used)
                .or_stopped(StoppedBy::Usage)?;
            if !self.quiet {
                // It can take a while.
                let url = &connection.base_url;
                note(&format!("Asking {url} for its campaigns …"));
            }
            let listing = campaigns(&connection);
            let listed = service::or_interrupted(&mut self.terminal.interrupts, listing).await?;
            let failure = match listed {
                Ok(campaigns) => return Ok((connection, campaigns)),
                Err(error) => list_failure(error),
            };
            let is_token = failure.stopped_by == StoppedBy::Token;
            if is_token && fixed_token.is_some() || !is_token && fixed_url.is_some() {
                return Err(failure);
            }
            console::error(&failure.error.to_string());
            if is_token {
                base_url = Some(connection.base_url);
            } else {
                token = Some(connection.token);
            }
        }
    }

    /// The value that the user is not asked for.
    fn fixed<T: Clone>(&self, given: &Option<Preset<T>>) -> Option<T> {
        let given = given.as_ref();
        let fixed = given.filter(|given| !self.asks || given.variable.is_none());
        fixed.map(|given| given.value.clone())
    }

    /// Asks for the address; what the environment gives or the profile has is offered.
    async fn ask_address(&mut self, given: Option<Preset<BaseUrl>>) -> Result<BaseUrl, Failure> {
        let usable = |url: BaseUrl| self.new.address(&url.to_string()).ok();
        let mut offered = given.or_else(|| {
            let value = self.new.present_url().and_then(usable)?;
            let variable = None;
            Some(Preset { value, variable })
        });
        loop {
            let question = match &offered {
                None => "Address of the service, such as https://app.example.com:".to_owned(),
                Some(Preset { value, variable }) => {
                    let from = variable.map(|variable| format!(", from {variable}"));
                    let from = from.unwrap_or_default();
                    format!("Address of the service [{value}{from}]:")
                }
            };
            let text = self.line(&question).await?;
            match (&offered, text.is_empty()) {
                (Some(offered), true) => return Ok(offered.value.clone()),
                _ => match (self.new.address(&text), BaseUrl::with_https(&text)) {
                    (Ok(url), _) => return Ok(url),
                    (Err(_), Some(value)) => {
                        let variable = None;
                        offered = Some(Preset { value, variable });
                    }
                    (Err(error), None) => console::error(&error.to_string()),
                },
            }
        }
    }

    /// Asks for the token, which is not shown; what the environment gives is offered.
    async fn ask_token(&mut self) -> Result<Token, Failure> {
        let offered = self.token.clone();
        let question = match offered.as_ref().and_then(|offered| offered.variable) {
            None => "Access token (it is not shown; paste it and press Enter):".to_owned(),
            Some(variable) => format!("Access token (it is not shown) [the one in {variable}]:"),
        };
        loop {
            let text = self.terminal.hidden_line(&question).await?;
            let text = text.ok_or(Cancelled("written"))?;
            match (&offered, text.is_empty()) {
                (Some(offered), true) => return Ok(offered.value.clone()),
                _ => match Token::from_text(&text, "what was typed") {
                    Ok(token) => return Ok(token),
                    Err(error) => console::error(&error.to_string()),
                },
            }
        }
    }

    /// Asks for the country of national numbers; `None` if the profile's is to stay.
    async fn ask_region(&mut self) -> Result<Option<DefaultRegion>, Failure> {
        let present = self.new.region();
        let question = "Country of numbers written without `+`";
        let question = match present.and_then(DefaultRegion::country) {
            None => format!("{question}, such as GB (Enter if there are none):"),
            Some(region) => format!("{question} [{region}; `{NONE}` for none]:"),
        };
        loop {
            let text = self.line(&question).await?;
            match text.as_str() {
                "" => return Ok(None),
                NONE => return Ok(present.map(|_| DefaultRegion::None)),
                _ => {}
            }
            match DefaultRegion::parse(&text) {
                Ok(region) => return Ok(Some(region)),
                Err(error) => console::error(&format!(
                    "{} cannot be used as a country\n\nhint: {error}",
                    quoted_value(&text)
                )),
            }
        }
    }

    async fn line(&mut self, question: &str) -> Result<String, Failure> {
        let line = self.terminal.line(question).await?;
        Ok(line.ok_or(Cancelled("written"))?)
    }
}

fn refused<T>(text: &'static str) -> Result<T, Failure> {
    Err(Failure::new(StoppedBy::Usage, anyhow!(text)))
}

async fn campaigns(connection: &Connection) -> Result<Result<Vec<Campaign>, ListError>, Failure> {
    let service = Service::At(connection.clone());
    let reached = service::reach(&service, Limits::within(TIMEOUT)).await?;
    Ok(reached.client.campaigns().await)
}

/// The campaigns that the token can see.
fn found(campaigns: &[Campaign]) -> String {
    let names = campaigns.iter().map(|campaign| campaign.name.as_str());
    let names: Vec<&str> = names.collect();
    let shown = listed(&names[..names.len().min(MAX_NAMED)]);
    match names.len() {
        0 => "The service accepts the token. It has no campaigns yet.".into(),
        count @ 1..=MAX_NAMED => format!(
            "The token sees {}: {shown}.",
            counted(count as u64, "campaign")
        ),
        count => format!("The token sees {count} campaigns, among them {shown}."),
    }
}

/// What was written, and what comes next.
fn summary(written: &WrittenProfile, new: &NewProfile<'_>, name: &str) -> String {
    let shown = |path: &Path| printable(&path.display().to_string()).into_owned();
    let mut lines = vec![format!(
        "Wrote the token to {}, which only you can read, and the profile `{name}` to {}.",
        shown(&written.token_file),
        shown(&new.file),
    )];
    lines.extend(written.unused_token_file.as_ref().map(|unused| {
        format!(
            "The profile no longer uses its earlier token file {}, which is still there.",
            shown(unused)
        )
    }));
    let variables = new.variables();
    if !variables.is_empty() {
        lines.push(format!(
            "The environment overrides the profile: remove {} from it to use the profile.",
            variables.join(" and ")
        ));
    }
    let width = Width::of_stdout();
    let lines: Vec<String> = lines.iter().map(|line| paragraph(line, width)).collect();
    let words: Vec<OsString> = vec!["leadload".into(), "campaigns".into()];
    let next = CommandLine::of(&[words, new.flags(name)].concat());
    let next = next.shown().unwrap_or("leadload campaigns");
    format!("{}\n\nNext:\n  {next}\n", lines.join("\n"))
}
