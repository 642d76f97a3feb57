//! `leadload config init`: asks for address and token, tries them out, and keeps them.
//!
//! Nothing is written before the service has answered. Where nobody can be asked, address
//! and token have to be given, and nothing that is there is replaced. Where somebody can,
//! only a flag keeps a question away: what the environment says is offered as its answer,
//! since it may be meant for something else.

use std::ffi::OsString;
use std::path::Path;

use anyhow::anyhow;

use super::questions::Questions;
use crate::api::{Limits, ListError};
use crate::ask;
use crate::campaign::Campaign;
use crate::command_line::CommandLine;
use crate::commands::directory::list_failure;
use crate::commands::service;
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::report::{Width, console, hides, paragraph};
use crate::settings::{Connection, Layers, NewProfile, Service, Stated, TIMEOUT, WrittenProfile};
use crate::signals;
use crate::text::{counted, listed, printable, quoted_value};

/// How many campaigns are named.
const MAX_NAMED: usize = 10;

/// Runs the command.
pub(super) fn run(layers: &Layers) -> Result<ExitCode, Failure> {
    service::block_on(async {
        let mut interrupts = signals::listen().or_stopped(StoppedBy::Usage)?;
        let mut questions = Questions::new(&mut interrupts);
        let done = init(layers, &mut questions).await;
        done.map_err(|failure| match failure.stopped_by {
            StoppedBy::Signal => Failure::new(
                StoppedBy::Signal,
                anyhow!("stopped by a signal: nothing was written"),
            ),
            _ => failure,
        })
    })
}

async fn init(layers: &Layers, questions: &mut Questions<'_>) -> Result<ExitCode, Failure> {
    let options = layers.options();
    if options.connection.sandbox == Some(true) {
        return refused(
            "the sandbox needs no profile: any command takes `--sandbox`\n\nhint: give the address of your service, or nothing to be asked for it",
        );
    }
    let is_possible = ask::may_ask(options.log.form());
    let new = NewProfile::new(layers, is_possible);
    let mut new = new.or_stopped(StoppedBy::Usage)?;
    if (new.base_url.is_none() || new.token.is_none()) && !is_possible {
        return refused(
            "nobody is there to be asked for the service's address and for the token\n\nhint: give both: `leadload config init --base-url URL --token-file FILE`; LEADLOAD_TOKEN takes the place of the file",
        );
    }
    let asks = is_possible && !(is_typed(&new.base_url) && is_typed(&new.token));
    let name = name(&mut new, asks, questions).await?;
    new.check_address().or_stopped(StoppedBy::Usage)?;
    confirm(&new, &name, is_possible, questions).await?;
    let quiet = options.log.quiet == Some(true);
    let trial = Trial {
        new: &new,
        asks,
        quiet,
    };
    let (connection, campaigns) = trial.until_listed(questions).await?;
    if !quiet {
        note(&found(&campaigns));
    }
    let region = if asks {
        questions.region(new.region()).await?
    } else {
        None
    };
    let written = new.write(&name, &connection, region);
    let written = written.or_stopped(StoppedBy::Usage)?;
    console::print(&told(&written, &new, &name)).or_stopped(StoppedBy::Disk)?;
    Ok(ExitCode::Complete)
}

/// Says something on standard error.
fn note(text: &str) {
    console::note(&format!("{}\n", paragraph(text, Width::of_stderr())));
}

pub(super) fn refused<T>(text: &'static str) -> Result<T, Failure> {
    Err(Failure::new(StoppedBy::Usage, anyhow!(text)))
}

/// Whether a flag says it.
fn is_typed<T>(said: &Option<Stated<T>>) -> bool {
    said.as_ref().is_some_and(|said| said.variable.is_none())
}

/// What the profile is to be called.
async fn name(
    new: &mut NewProfile<'_>,
    asks: bool,
    questions: &mut Questions<'_>,
) -> Result<String, Failure> {
    let default = NewProfile::default_name();
    let said = match &new.name {
        None if !asks => Some(default.to_owned()),
        said => said.clone(),
    };
    if let Some(name) = said {
        new.choose(&name).or_stopped(StoppedBy::Usage)?;
        return Ok(name);
    }
    loop {
        let name = questions.name(default).await?;
        match new.choose(&name) {
            Ok(()) => return Ok(name),
            Err(error) => console::error(&error.to_string()),
        }
    }
}

/// What is there is replaced only if somebody says so.
async fn confirm(
    new: &NewProfile<'_>,
    name: &str,
    is_possible: bool,
    questions: &mut Questions<'_>,
) -> Result<(), Failure> {
    if !new.replaces() {
        return Ok(());
    }
    let name = quoted_value(name);
    if !is_possible {
        let error = anyhow!(
            "there is a profile {name} in `{}`, and nobody is there to be asked whether its address and token are to be replaced\n\nhint: choose another name with `--profile`, or take that one out of the file",
            new.file.display()
        );
        return Err(Failure::new(StoppedBy::Usage, error));
    }
    let service = new.present_url().map(|url| format!(", for {url}"));
    let service = service.unwrap_or_default();
    let asked = format!(
        "There is a profile {name}{service}. Its other settings stay. Replace its address and token?"
    );
    if questions.yes(asked).await? {
        Ok(())
    } else {
        refused("nothing was written")
    }
}

/// Address and token, until the service lists its campaigns.
struct Trial<'a> {
    new: &'a NewProfile<'a>,
    /// Whether what no flag says is asked for.
    asks: bool,
    quiet: bool,
}

impl Trial<'_> {
    async fn until_listed(
        &self,
        questions: &mut Questions<'_>,
    ) -> Result<(Connection, Vec<Campaign>), Failure> {
        let new = self.new;
        let (mut base_url, mut token) = (self.settled(&new.base_url), self.settled(&new.token));
        loop {
            let url = match base_url.take() {
                Some(url) => url,
                None => questions.address(new).await?,
            };
            let used = match token.take() {
                Some(token) => token,
                None => questions.token(new.token.as_ref()).await?,
            };
            let connection = new.connection(url, used).or_stopped(StoppedBy::Usage)?;
            if !self.quiet {
                // It may be tried for a while before it is given up.
                let url = &connection.base_url;
                note(&format!("Asking {url} for its campaigns …"));
            }
            let listed =
                service::or_interrupted(questions.interrupts, campaigns(&connection)).await?;
            let failure = match listed {
                Ok(campaigns) => return Ok((connection, campaigns)),
                Err(error) => list_failure(error),
            };
            let is_refused = failure.stopped_by == StoppedBy::Token;
            let is_settled = if is_refused {
                self.settled(&new.token).is_some()
            } else {
                self.settled(&new.base_url).is_some()
            };
            if is_settled {
                return Err(failure);
            }
            console::error(&failure.error.to_string());
            if is_refused {
                base_url = Some(connection.base_url)
            } else {
                token = Some(connection.token)
            }
        }
    }

    /// What is not asked for.
    fn settled<T: Clone>(&self, said: &Option<Stated<T>>) -> Option<T> {
        let said = said.as_ref();
        let said = said.filter(|said| !self.asks || said.variable.is_none());
        said.map(|said| said.value.clone())
    }
}

async fn campaigns(connection: &Connection) -> Result<Result<Vec<Campaign>, ListError>, Failure> {
    let service = Service::At(connection.clone());
    let reached = service::reach(&service, Limits::within(TIMEOUT)).await?;
    Ok(reached.client.campaigns().await)
}

/// What the token can see.
fn found(campaigns: &[Campaign]) -> String {
    let names: Vec<&str> = campaigns
        .iter()
        .map(|campaign| campaign.name.as_str())
        .collect();
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
fn told(written: &WrittenProfile, new: &NewProfile<'_>, name: &str) -> String {
    let shown = |path: &Path| printable(&path.display().to_string()).into_owned();
    let mut said = vec![format!(
        "Wrote the token into {}, which only you can read, and the profile `{name}` into {}.",
        shown(&written.token_file),
        shown(&new.file),
    )];
    said.extend(written.unused_token_file.as_ref().map(|unused| {
        format!(
            "The token file that it named before, {}, is where it was. The profile does not use it any more.",
            shown(unused)
        )
    }));
    said.extend(written.hidden.as_ref().map(|hidden| hides(hidden)));
    let before = new.variables();
    if !before.is_empty() {
        said.push(format!(
            "What stands in {} comes before the profile: take it out of the environment where the profile is to be used.",
            before.join(" and ")
        ));
    }
    let width = Width::of_stdout();
    let said: Vec<String> = said.iter().map(|said| paragraph(said, width)).collect();
    format!("{}\n\nNext:\n  {}\n", said.join("\n"), next(new, name))
}

/// The command that shows that all is well.
fn next(new: &NewProfile<'_>, name: &str) -> String {
    let words: Vec<OsString> = vec!["leadload".into(), "campaigns".into()];
    let line = CommandLine::of(&[words, new.flags(name)].concat());
    line.shown().unwrap_or("leadload campaigns").to_owned()
}
