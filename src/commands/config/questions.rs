//! What `leadload config init` asks. Where there is an answer already it is shown in
//! brackets, and Enter alone takes it.

use std::io;

use super::init::refused;
use crate::api::{BaseUrl, Token};
use crate::ask::{self, NoEcho};
use crate::commands::question;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::options::{DefaultRegion, Value};
use crate::report::console;
use crate::settings::{NewProfile, Stated};
use crate::signals::Interrupts;

/// What takes a country out.
const NONE: &str = "-";

/// Questions, each of which a signal can end.
pub(super) struct Questions<'a> {
    pub(super) interrupts: &'a mut Interrupts,
}

impl Questions<'_> {
    pub(super) fn new(interrupts: &mut Interrupts) -> Questions<'_> {
        Questions { interrupts }
    }

    /// A yes, or anything else.
    pub(super) async fn yes(&mut self, asked: String) -> Result<bool, Failure> {
        question::answered(self.interrupts, move || ask::yes(&asked)).await
    }

    /// What the profile is to be called.
    pub(super) async fn name(&mut self, default: &str) -> Result<String, Failure> {
        let typed = self
            .line(format!("Name of the profile [{default}]:"))
            .await?;
        Ok(if typed.is_empty() {
            default.to_owned()
        } else {
            typed
        })
    }

    /// Where the service is: offered is what the environment says, or what stands in the
    /// profile.
    pub(super) async fn address(&mut self, new: &NewProfile<'_>) -> Result<BaseUrl, Failure> {
        let mut offered = new.base_url.clone().or_else(|| new.present_address());
        loop {
            let asked = match &offered {
                None => "Address of the service, such as https://app.example.com:".to_owned(),
                Some(Stated { value, variable }) => {
                    let from = variable.map(|variable| format!(", from {variable}"));
                    format!(
                        "Address of the service [{value}{}]:",
                        from.unwrap_or_default()
                    )
                }
            };
            let text = self.line(asked).await?;
            match (&offered, text.is_empty()) {
                (Some(offered), true) => return Ok(offered.value.clone()),
                _ => match (new.address(&text), BaseUrl::with_https(&text)) {
                    (Ok(url), _) => return Ok(url),
                    // Enter alone takes it.
                    (Err(_), Some(value)) => {
                        let variable = None;
                        offered = Some(Stated { value, variable });
                    }
                    (Err(error), None) => console::error(&error.to_string()),
                },
            }
        }
    }

    /// The token, which is not shown; offered is what the environment says.
    pub(super) async fn token(
        &mut self,
        offered: Option<&Stated<Token>>,
    ) -> Result<Token, Failure> {
        let asked = match offered.and_then(|offered| offered.variable) {
            None => "Access token (it is not shown; paste it and press Enter):".to_owned(),
            Some(variable) => {
                format!("Access token (it is not shown) [the one in {variable}]:")
            }
        };
        loop {
            let text = {
                let _no_echo = NoEcho::begin().or_stopped(StoppedBy::Usage)?;
                let asked = asked.clone();
                self.answered(move || ask::hidden_line(&asked)).await?
            };
            match (offered, text.is_empty()) {
                (Some(offered), true) => return Ok(offered.value.clone()),
                _ => match Token::from_text(&text, "what was typed") {
                    Ok(token) => return Ok(token),
                    Err(error) => console::error(&error.to_string()),
                },
            }
        }
    }

    /// The country of national numbers, where the profile may have one already; none where it
    /// is to stay as it is.
    pub(super) async fn region(
        &mut self,
        present: Option<DefaultRegion>,
    ) -> Result<Option<DefaultRegion>, Failure> {
        let asked = "Country of numbers written without `+`";
        let asked = match present.and_then(DefaultRegion::country) {
            None => format!("{asked}, such as GB (Enter if there are none):"),
            Some(region) => format!("{asked} [{region}; `{NONE}` for none]:"),
        };
        loop {
            let text = self.line(asked.clone()).await?;
            if text.is_empty() {
                return Ok(None);
            }
            let said = match text.as_str() {
                NONE => Ok(DefaultRegion::None),
                text => DefaultRegion::parse(text),
            };
            match said {
                // There is nothing to take back.
                Ok(DefaultRegion::None) if present.is_none() => return Ok(None),
                Ok(region) => return Ok(Some(region)),
                Err(hint) => console::error(&format!(
                    "no country has this ISO code or name\n\nhint: {hint}"
                )),
            }
        }
    }

    /// A line that somebody has typed.
    async fn line(&mut self, asked: String) -> Result<String, Failure> {
        self.answered(move || ask::line(&asked)).await
    }

    /// Where no answer comes any more, nothing is done.
    async fn answered(
        &mut self,
        ask: impl FnOnce() -> io::Result<Option<String>> + Send + 'static,
    ) -> Result<String, Failure> {
        let answer = question::answered(self.interrupts, ask).await?;
        answer.map_or_else(|| refused("nothing was written"), Ok)
    }
}
