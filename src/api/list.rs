//! Listing the campaigns.

use std::collections::HashSet;
use std::time::Duration;

use reqwest::Url;
use tokio::time::Instant;
use tracing::warn;

use super::client::{Client, Received};
use super::list_page::NextPage;
use super::verdict::{FatalCause, Verdict};
use super::wire;
use crate::backoff;
use crate::campaign::Campaign;
use crate::clock;
use crate::lead::ErrorCode;
use crate::message::{Message, Template};
use crate::text::without_numbers;

/// How often a page is requested at most if the user waits for it. Listing changes nothing, so any
/// failure may be retried.
const ATTEMPTS: u32 = 5;

/// How long a user waits for a page of a service that does not answer, or asks to wait.
const SOON: Duration = Duration::from_secs(5);

/// Shorter pauses are reported once.
const SHORT_PAUSE: Duration = Duration::from_secs(10);

/// The longest time for the whole list, with all pages, attempts and pauses. The user waits for it,
/// and a service may send pages slowly without end.
const LONGEST: Duration = Duration::from_secs(5 * 60);

/// More pages than any account has: a list that never ends is an error.
const MAX_PAGES: usize = 1000;

/// More bytes than the whole list of any account: all pages are held in memory.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Why there is no whole list. `Incomplete` has what is listed, which will do where no name is looked
/// up, and why pages are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListError {
    Refused {
        cause: FatalCause,
        text: String,
    },
    NoAnswer {
        text: String,
        /// What cures it, if no waiting does.
        cure: Option<Template>,
    },
    /// The service asks to wait for longer than the list is waited for.
    NotNow(String),
    Unreadable(String),
    Incomplete(Vec<Campaign>, &'static str),
}

const ELSEWHERE: &str =
    "the list of campaigns goes on at another address, where the token is not sent";
const IN_A_CIRCLE: &str = "the list of campaigns goes on with a page that was read already";

impl ListError {
    /// What is listed, with a warning if that is not all.
    pub fn tolerated(self) -> Result<Vec<Campaign>, ListError> {
        match self {
            ListError::Incomplete(listed, why) => {
                warn!(event = "warning", "{why}: some campaigns may be missing");
                Ok(listed)
            }
            other => Err(other),
        }
    }

    fn no_answer(text: String) -> ListError {
        ListError::NoAnswer { text, cure: None }
    }

    /// What happened, without the hint about what to do.
    pub fn reason(&self) -> &str {
        match self {
            ListError::Refused { text, .. }
            | ListError::NoAnswer { text, .. }
            | ListError::NotNow(text)
            | ListError::Unreadable(text) => text,
            ListError::Incomplete(_, why) => why,
        }
    }

    pub fn message(&self) -> Message {
        let check = || text!("check {the address of the service|its address under {--base-url}}");
        match self {
            ListError::Refused { cause, text } => {
                let (on_page, hint) = match cause {
                    FatalCause::Token => (
                        template!("the service does not accept the access token"),
                        text!(
                            "check the token; if it no longer works, {get a new one from your service and run `leadload config init`, then run the same command again|ask for a new one and paste it under {--token-file}}"
                        ),
                    ),
                    FatalCause::Forbidden => (
                        template!(
                            "the service does not allow this access token to see its campaigns"
                        ),
                        text!(
                            "check {the token, and that it belongs to this service|that the token belongs to this service, or ask the person who manages it}"
                        ),
                    ),
                    FatalCause::Payment | FatalCause::Balance => (
                        template!("the service refuses because of the account's balance or plan"),
                        text!(
                            "{check the account's balance|ask the person who manages the service}"
                        ),
                    ),
                    _ => (
                        template!("this address does not seem to be the calling service"),
                        check(),
                    ),
                };
                let what = text!(
                    "{the service refuses to list the campaigns|{on_page}; it says}: {said}",
                    on_page,
                    said = text
                );
                Message::new(what, hint)
            }
            ListError::NoAnswer { text, cure } => Message::new(
                text!(
                    "the {campaigns cannot be listed|service does not list its campaigns}: {why}",
                    why = text
                ),
                match cure {
                    Some(cure) => text!("{cure}; when that is fixed, {again}", cure = *cure),
                    None => text!(
                        "check {the address of the service and the connection|its address under {--base-url} and your internet connection}, then {again}"
                    ),
                },
            ),
            ListError::NotNow(text) => message!(
                "the {campaigns cannot be listed for now|service does not list its campaigns for now}: {why}",
                "{again} after that",
                why = text
            ),
            ListError::Unreadable(text) => Message::new(
                text!(
                    "the answer of the service is not a list of campaigns ({why})",
                    why = text
                ),
                check(),
            ),
            ListError::Incomplete(_, why) => message!(
                "{{why}|the service does not list all of its campaigns}, so a campaign {cannot|can't} be known by its name",
                "{give its id instead; `leadload campaigns` shows the campaigns that are listed|choose the campaign under {--campaign}, or put ids in place of names into that column}",
                why = *why
            ),
        }
    }
}

impl Client {
    /// All campaigns that the token can see, from all pages.
    ///
    /// A user at a screen has no patience: the list comes soon or fails. With `patience` a service that
    /// is away, or asks to wait, is asked again until it has not answered for that long.
    pub async fn campaigns(&self, patience: Option<Duration>) -> Result<Vec<Campaign>, ListError> {
        let longest = LONGEST.saturating_add(patience.unwrap_or_default());
        self.campaigns_within(longest, patience).await
    }

    pub async fn campaigns_within(
        &self,
        longest: Duration,
        patience: Option<Duration>,
    ) -> Result<Vec<Campaign>, ListError> {
        let listing = tokio::time::timeout(longest, self.all_campaigns(patience));
        listing.await.unwrap_or_else(|_| {
            let text = format!("the list was not complete after {} s", longest.as_secs());
            Err(ListError::no_answer(text))
        })
    }

    /// Whether the service answers when it is asked for its campaigns once, if only with a refusal.
    pub async fn lists_campaigns(&self) -> bool {
        let received = self.get(self.campaigns_url().clone()).await;
        match &received {
            Ok(page) if page.head.is_success() => read_page(page, self.campaigns_url()).is_ok(),
            _ => self.answer(&received).verdict.is_about_row(),
        }
    }

    async fn all_campaigns(&self, patience: Option<Duration>) -> Result<Vec<Campaign>, ListError> {
        let mut campaigns = Vec::new();
        let mut listed = HashSet::new();
        let mut bytes = 0;
        let mut url = self.campaigns_url().clone();
        let mut read = HashSet::from([url.clone()]);
        for _ in 0..MAX_PAGES {
            let received = self.campaign_page(&url, patience).await?;
            bytes += received.body.len();
            if bytes > MAX_BYTES {
                return Err(ListError::Unreadable("it is too long".into()));
            }
            let page = read_page(&received, &url);
            let (page, next) = page.inspect_err(|_| self.log_unread(Ok(&received), &[]))?;
            for campaign in page {
                // A list that changes while it is read repeats entries.
                if listed.insert(campaign.id.clone()) {
                    campaigns.push(self.masked(campaign));
                }
            }
            let Some(next) = next else {
                return Ok(campaigns);
            };
            url = match next.address(&url) {
                Some(next) if read.insert(next.clone()) => next,
                Some(_) => return Err(ListError::Incomplete(campaigns, IN_A_CIRCLE)),
                None => return Err(ListError::Incomplete(campaigns, ELSEWHERE)),
            };
        }
        Err(ListError::Unreadable("it has no last page".into()))
    }

    fn masked(&self, campaign: Campaign) -> Campaign {
        let mask = |text: String| self.mask(&text);
        Campaign {
            id: mask(campaign.id),
            name: mask(campaign.name),
            status: mask(campaign.status),
            created_at: mask(campaign.created_at),
            updated_at: mask(campaign.updated_at),
        }
    }

    async fn campaign_page(
        &self,
        url: &Url,
        patience: Option<Duration>,
    ) -> Result<Received, ListError> {
        let (began, mut failures) = (Instant::now(), 0);
        loop {
            let received = match self.get(url.clone()).await {
                Ok(received) if received.head.is_success() => return Ok(received),
                other => other,
            };
            // Judged like the answer to a lead request: the refusals are the same.
            let (text, asked) = for_now(self.answer(&received).verdict)?;
            failures += 1;
            let left = patience.unwrap_or(SOON).saturating_sub(began.elapsed());
            let chance = fastrand::f64();
            let pause = asked.unwrap_or_else(|| match patience {
                None => backoff::delay(failures, chance),
                Some(_) => backoff::long_delay(failures, chance).min(left),
            });
            let seconds = pause.as_secs_f64().ceil();
            if asked.is_some() && pause > left {
                let text = format!("{text}; it asks to wait {seconds:.0} s");
                return Err(ListError::NotNow(text));
            }
            if patience.is_some() && left.is_zero() {
                let text = format!("{text}; `--max-outage` is over");
                return Err(ListError::no_answer(text));
            }
            if patience.is_none() && (failures == ATTEMPTS || pause > left) {
                return Err(ListError::no_answer(text));
            }
            if patience.is_some() && (failures == 1 || pause > SHORT_PAUSE) {
                warn!(
                    event = "waiting",
                    "the service does not list its campaigns yet ({}); trying again in {seconds:.0} s",
                    without_numbers(&text)
                );
            }
            clock::wait(pause).await;
        }
    }
}

/// What a refusal says that may end by itself, and how long it asks to wait.
fn for_now(verdict: Verdict) -> Result<(String, Option<Duration>), ListError> {
    match verdict {
        Verdict::Fatal { cause, text, .. } => Err(ListError::Refused { cause, text }),
        // The same request would get the same answer.
        Verdict::Rejected { text, .. } | Verdict::Duplicate { text, .. } => {
            Err(ListError::no_answer(text))
        }
        Verdict::NeverTaken {
            text,
            cure: cure @ Some(_),
            ..
        } => Err(ListError::NoAnswer { text, cure }),
        Verdict::PerhapsTaken {
            code: ErrorCode::UnreadableAnswer,
            text,
        } => Err(ListError::Unreadable(text)),
        Verdict::RetryLater { wait, text, .. } => Ok((text, wait)),
        other => Ok((other.refusal().unwrap_or_default().to_owned(), None)),
    }
}

fn read_page(
    received: &Received,
    url: &Url,
) -> Result<(Vec<Campaign>, Option<NextPage>), ListError> {
    let json = received.json().map_err(|error| {
        // The error itself may quote what the service said.
        let place = format!("line {}, column {}", error.line(), error.column());
        ListError::Unreadable(format!("it cannot be read at {place}"))
    })?;
    let campaigns = wire::campaigns(&json)
        .ok_or_else(|| ListError::Unreadable("it has no field `campaigns`".into()))?;
    let linked = received.head.next_page.as_deref();
    Ok((campaigns, NextPage::of(url, &json, linked)))
}
