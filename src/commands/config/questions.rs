//! What `leadload config init` asks. Where there is an answer already it is shown in
//! brackets, and Enter alone takes it.

use std::io;
use std::path::Path;

use super::init::refused;
use crate::api::{BaseUrl, Token};
use crate::ask::{self, NoEcho};
use crate::commands::question;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::phone::Region;
use crate::report::console;
use crate::settings::{NewProfile, PresentRegion, RegionChoice, Stated};
use crate::signals::Interrupts;
use crate::text::printable;

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
        Ok(match typed.is_empty() {
            true => default.to_owned(),
            false => typed,
        })
    }

    /// Where the service is: offered is what the environment says, or what stands in the
    /// profile.
    pub(super) async fn address(&mut self, new: &NewProfile<'_>) -> Result<BaseUrl, Failure> {
        let offered = new.base_url.clone().or_else(|| new.present_address());
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
        loop {
            let text = self.line(asked.clone()).await?;
            match (&offered, text.is_empty()) {
                (Some(offered), true) => return Ok(offered.value.clone()),
                _ => match new.address(&text) {
                    Ok(url) => return Ok(url),
                    Err(error) => console::error(&error.to_string()),
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

    /// The country of national numbers, where the profile in `file` may have one already.
    pub(super) async fn region(
        &mut self,
        present: Option<PresentRegion>,
        file: &Path,
    ) -> Result<RegionChoice, Failure> {
        let asked = "Country of numbers written without `+`";
        let asked = match present {
            None => format!("{asked}, such as GB (Enter if there are none):"),
            Some(PresentRegion { region, is_common }) => match is_common {
                true => format!("{asked} [{region}, as for all profiles]:"),
                false => format!("{asked} [{region}; `{NONE}` for none]:"),
            },
        };
        loop {
            let text = self.line(asked.clone()).await?;
            match (text.as_str(), present) {
                ("", _) | (NONE, None) => return Ok(RegionChoice::Same),
                (NONE, Some(present)) if present.is_common => console::error(&format!(
                    "{} is the country for all profiles\n\nhint: name another for this profile, or take `region` out of the head of `{}` later",
                    present.region,
                    printable(&file.display().to_string())
                )),
                (NONE, Some(_)) => return Ok(RegionChoice::None),
                (text, _) => match Region::parse(text) {
                    Some(region) => return Ok(RegionChoice::Is(region)),
                    None => console::error(&no_country(text)),
                },
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

fn no_country(text: &str) -> String {
    let hint = match Region::nearest(text) {
        Some(name) => format!("did you mean {name}?"),
        None => "write a code such as GB, or an English name".to_owned(),
    };
    format!("no country has this ISO code or name\n\nhint: {hint}")
}
