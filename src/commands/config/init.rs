//! `leadload config init`: takes the address and the token or
//! asks for them, tries them out, and saves them as a profile.
//!
//! It does not ask for what a flag or the environment gives. Nothing is written
//! before the service has answered, and nothing is replaced without a question.

use std::ffi::OsString;
use std::path::Path;

use crate::api::{BaseUrl, Token};
use crate::campaign::Campaign;
use crate::command_line::CommandLine;
use crate::commands::ask::{self, Cancelled, Terminal, note};
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::import::campaign_list::listed_by;
use crate::message::{Message, Text};
use crate::report::{Width, console, paragraph};
use crate::settings::{Connection, Layers, NewProfile, Service, WrittenProfile};
use crate::text::{counted, printable, quoted_value};

pub(super) async fn init(layers: &Layers, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let options = layers.options();
    if options.connection.sandbox == Some(true) {
        return Err(Failure::usage(terminal_message!(
            "the sandbox needs no profile: any command takes `--sandbox`",
            "give the address of your service, or leave out `--sandbox` to be asked for it"
        )));
    }
    let mut setup = Setup {
        new: NewProfile::new(layers).stopped_by(StoppedBy::Usage)?,
        terminal,
        can_ask: ask::can_ask(options.log.format()),
        quiet: options.log.is_quiet(),
    };
    let (connection, campaigns) = setup.connect().await?;
    if !setup.quiet {
        let sees = counted(campaigns.len() as u64, "campaign");
        note(&format!("It works: the token sees {sees}."));
    }
    let written = setup.new.write(&connection).stopped_by(StoppedBy::Usage)?;
    console::print(&summary(&written, &setup.new)).stopped_by(StoppedBy::Disk)?;
    Ok(ExitCode::Complete)
}

const ADDRESS_AGAIN: &str = "type the address again, such as `https://app.example.com`";

struct Setup<'a> {
    new: NewProfile<'a>,
    terminal: &'a Terminal,
    can_ask: bool,
    quiet: bool,
}

impl Setup<'_> {
    /// Asks for whatever is missing, until the service lists its campaigns.
    async fn connect(&mut self) -> Result<(Connection, Vec<Campaign>), Failure> {
        let given_url = self.new.base_url().stopped_by(StoppedBy::Usage)?;
        let given_token = self.new.token().stopped_by(StoppedBy::Usage)?;
        if (given_url.is_none() || given_token.is_none()) && !self.can_ask {
            return Err(Failure::usage(terminal_message!(
                "there is no terminal to ask for the service's address and the token",
                "give both: `leadload config init --base-url URL --token-file FILE`; LEADLOAD_TOKEN works instead of the file"
            )));
        }
        self.confirm().await?;
        let (mut base_url, mut token) = (given_url.clone(), given_token.clone());
        loop {
            let url = match base_url.take() {
                Some(url) => url,
                None => self.ask_address().await?,
            };
            let used = match token.take() {
                Some(token) => token,
                None => self.ask_token().await?,
            };
            let connection = self.new.connection(url, used);
            let connection = connection.stopped_by(StoppedBy::Usage)?;
            if !self.quiet {
                // The request can take a while.
                let url = &connection.base_url;
                note(&format!("Asking {url} for its campaigns …"));
            }
            let service = Service::At(connection.clone());
            let failure = match listed_by(&service).await {
                Ok(campaigns) => return Ok((connection, campaigns)),
                Err(failure) => failure,
            };
            let is_token = failure.stopped_by == StoppedBy::Token;
            let is_given = if is_token {
                given_token.is_some()
            } else {
                given_url.is_some()
            };
            if is_given {
                return Err(failure);
            }
            let what = failure.message().what;
            if is_token {
                let hint = "paste the token again, or get a new one from your service";
                console::error(&Message::new(what, Text::terminal(hint)));
                base_url = Some(connection.base_url);
            } else {
                console::error(&Message::new(what, Text::terminal(ADDRESS_AGAIN)));
                token = Some(connection.token);
            }
        }
    }

    async fn confirm(&mut self) -> Result<(), Failure> {
        if !self.new.replaces() {
            return Ok(());
        }
        let name = quoted_value(&self.new.name);
        if !self.can_ask {
            let file = self.new.file.display();
            return Err(Failure::usage(Message::new(
                Text::terminal(format!(
                    "there is already a profile {name} in `{file}`, and no terminal to ask whether to replace its address and token"
                )),
                terminal_text!(
                    "choose another name with `--profile`, or remove that profile from the file"
                ),
            )));
        }
        let service = self.new.present_url().map(|url| format!(", for {url}"));
        let question = format!(
            "leadload already has a profile {name}{}. Its other settings stay. Replace its address and token?",
            service.unwrap_or_default()
        );
        if self.terminal.yes(&question).await? {
            Ok(())
        } else {
            Err(Cancelled("saved").into())
        }
    }

    /// Asks for the address, and offers the profile's own. If `https://` is missing, it is added.
    async fn ask_address(&mut self) -> Result<BaseUrl, Failure> {
        let offered = self.new.present_url().map(|url| url.to_string());
        let question = match &offered {
            None => "Address of the service, such as https://app.example.com:".to_owned(),
            Some(url) => format!("Address of the service [{url}]:"),
        };
        loop {
            let typed = self.terminal.line(&question).await?;
            let typed = typed.ok_or(Cancelled("saved"))?;
            let text = match &offered {
                Some(url) if typed.is_empty() => url,
                _ => &typed,
            };
            match (self.new.address(text), BaseUrl::with_https(text)) {
                (Ok(url), _) | (Err(_), Some(url)) => return Ok(url),
                (Err(error), None) => {
                    console::error(&Message::new(error.what, Text::terminal(ADDRESS_AGAIN)))
                }
            }
        }
    }

    async fn ask_token(&mut self) -> Result<Token, Failure> {
        let question = "Access token (it is not shown; paste it and press Enter):";
        loop {
            let text = self.terminal.hidden_line(question).await?;
            let text = text.ok_or(Cancelled("saved"))?;
            let why = match Token::from_text(&text, "what you typed") {
                Ok(token) => return Ok(token),
                Err(_) if text.is_empty() => terminal_text!("nothing was typed"),
                Err(error) => Message::of(&error).what,
            };
            console::error(&Message::new(
                why,
                terminal_text!("paste the token and press Enter"),
            ));
        }
    }
}

/// What was written, and the command to run next.
fn summary(written: &WrittenProfile, new: &NewProfile<'_>) -> String {
    let shown = |path: &Path| printable(&path.display().to_string()).into_owned();
    let mut lines = vec![format!(
        "Wrote the token to {}, which only you can read, and the profile `{}` to {}.",
        shown(&written.token_file),
        new.name,
        shown(&new.file),
    )];
    lines.extend(written.unused_token_file.as_ref().map(|unused| {
        format!(
            "The profile no longer uses its earlier token file {}, which is still there.",
            shown(unused)
        )
    }));
    let width = Width::of_stdout();
    let lines: Vec<String> = lines.iter().map(|line| paragraph(line, width)).collect();
    let words: Vec<OsString> = vec!["leadload".into(), "campaigns".into()];
    let next = CommandLine::of(&[words, new.flags()].concat());
    let next = next.shown().unwrap_or("leadload campaigns");
    format!("{}\n\nNext:\n  {next}\n", lines.join("\n"))
}
