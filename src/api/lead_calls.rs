//! The calls about leads that exist: their list, and the deletion of one.
//!
//! The interface document does not have them; both were seen in public (`docs/wrong-list.md`). So
//! a service may lack them, and everything that it answers is judged with care: a deletion counts as
//! done only if the service says so in an answer that can be read.

use std::time::Duration;

use reqwest::{Method, Request, Url};
use serde_json::Value;

use super::answer::Answer;
use super::body::Body;
use super::client::{Client, Received};
use super::lead_page::LeadPage;
use super::quota::Quota;
use super::verdict::{FatalCause, Verdict, naming};
use crate::lead::{CampaignId, ErrorCode};
use crate::phone::PhoneNumber;

/// The most entries of a page that services give.
const PER_PAGE: &str = "100";

/// The path of the list, below the address of the service.
const LEADS: &str = "user/leads";

/// Which leads to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeadQuery {
    pub campaign: CampaignId,
    /// Leads with this number; `None` for all.
    pub number: Option<PhoneNumber>,
}

/// The result of a call.
#[derive(Debug, Clone)]
pub struct CallResult<T> {
    /// The HTTP status, if the head of an answer arrived.
    pub http_status: Option<u16>,
    pub quota: Option<Quota>,
    pub result: Result<T, CallError>,
}

/// Why a call did not do what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// The service does not have this call.
    NotOffered { text: String },
    /// There is no such lead, as far as the service says; or it does not have this call.
    NotFound { text: String },
    /// To be tried again after a wait.
    Later {
        /// How long, where the service says so.
        wait: Option<Duration>,
        /// Whether it may be done: a gateway has not waited for the service.
        may_be_done: bool,
        code: ErrorCode,
        text: String,
    },
    /// There is no usable answer, so it may be done or not.
    NoAnswer {
        code: ErrorCode,
        text: String,
        /// Whether the request may have reached the service.
        was_sent: bool,
        /// Whether every further attempt fails for the same reason.
        is_lasting: bool,
    },
    /// The service refuses this one.
    Refused { code: ErrorCode, text: String },
    /// The service refuses every call like this.
    Fatal { cause: FatalCause, text: String },
}

impl CallError {
    /// What came is no answer to this call.
    pub fn unreadable(text: impl Into<String>) -> CallError {
        CallError::NoAnswer {
            code: ErrorCode::UnreadableAnswer,
            text: text.into(),
            was_sent: true,
            is_lasting: false,
        }
    }

    /// Whether the service may have done it all the same.
    pub fn may_be_done(&self) -> bool {
        match self {
            CallError::Later { may_be_done, .. } => *may_be_done,
            CallError::NoAnswer { was_sent, .. } => *was_sent,
            _ => false,
        }
    }

    /// What the service said, or why there is no answer.
    pub fn text(&self) -> &str {
        match self {
            CallError::NotOffered { text }
            | CallError::NotFound { text }
            | CallError::Later { text, .. }
            | CallError::NoAnswer { text, .. }
            | CallError::Refused { text, .. }
            | CallError::Fatal { text, .. } => text,
        }
    }
}

impl Client {
    /// The address of the first page of a list.
    pub fn lead_list(&self, query: LeadQuery) -> Url {
        let mut url = self.call(LEADS);
        {
            let mut pairs = url.query_pairs_mut();
            pairs.append_pair("campaign_id", &query.campaign.to_string());
            if let Some(number) = query.number {
                // The `+` is encoded: a bare one would be a space.
                pairs.append_pair("phone_number", &number.to_string());
            }
            pairs.append_pair("per_page", PER_PAGE);
        }
        url
    }

    /// One page of a list of leads. One attempt.
    pub async fn lead_page(&self, page: Url) -> CallResult<LeadPage> {
        let request = Request::new(Method::GET, page.clone());
        self.perform(request, |received| {
            let head = &received.head;
            let linked = head.next_page.as_deref();
            let read = received.json().ok();
            let read = read.and_then(|json| {
                LeadPage::read(&json, &page, linked, head.ahead.unwrap_or_default())
            });
            let mut read =
                read.ok_or_else(|| CallError::unreadable("the answer is not a list of leads"))?;
            // As the ids in the ledger are, which they are compared with.
            for lead in &mut read.leads {
                lead.id = self.presentable_text(&lead.id);
            }
            Ok(read)
        })
        .await
    }

    /// Deletes a lead. One attempt.
    pub async fn delete_lead(&self, lead_id: &str) -> CallResult<()> {
        let Some(url) = self.lead_url(lead_id) else {
            return CallResult {
                http_status: None,
                quota: None,
                result: Err(CallError::Refused {
                    code: ErrorCode::UnreadableAnswer,
                    text: "its id has characters that an address cannot safely have".to_owned(),
                }),
            };
        };
        let request = Request::new(Method::DELETE, url);
        self.perform(request, |received| {
            deleted(&received.body, |text| self.presentable_text(text))
        })
        .await
    }

    /// The address of a lead; `None` if the id is none that the address could end with. In an
    /// address, `..` is the list of all leads, and so is nothing.
    fn lead_url(&self, lead_id: &str) -> Option<Url> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let is_id = !lead_id.is_empty() && lead_id.bytes().all(is_plain);
        is_id.then(|| self.call(&format!("{LEADS}/{lead_id}")))
    }

    /// One attempt; `read` reads an answer that says that it was done.
    async fn perform<T>(
        &self,
        request: Request,
        read: impl FnOnce(&Received) -> Result<T, CallError>,
    ) -> CallResult<T> {
        let exchanged = self.exchange_once(request).await;
        let answer = self.answer(&exchanged);
        let result = match &exchanged {
            Ok(received) if received.head.is_success() => read(received),
            other => Err(not_done(&answer, other.as_ref().ok())),
        };
        CallResult {
            http_status: answer.http_status,
            quota: answer.quota,
            result,
        }
    }
}

/// Whether a 2xx says that the lead was deleted. A page of HTML may be that of a login.
fn deleted(body: &[u8], presentable: impl Fn(&str) -> String) -> Result<(), CallError> {
    let text = String::from_utf8_lossy(body);
    if text.trim().is_empty() {
        return Ok(());
    }
    if serde_json::from_str::<Value>(text.trim_start_matches('\u{FEFF}')).is_err() {
        return Err(CallError::unreadable("the answer is not JSON"));
    }
    let body = Body::read(&text);
    if body.denies_success() {
        let code = ErrorCode::Http(200);
        let text = presentable(&body.text(200));
        return Err(CallError::Refused { code, text });
    }
    Ok(())
}

/// What a refusal that no later call gets past means for this call.
fn fatal(
    cause: FatalCause,
    text: String,
    status: Option<u16>,
    is_missing_route: bool,
) -> CallError {
    match (cause, status) {
        (FatalCause::NotTheService, _) => CallError::NotOffered { text },
        (FatalCause::Campaign, Some(404)) if is_missing_route => CallError::NotOffered { text },
        (FatalCause::Campaign, Some(404)) => CallError::NotFound { text },
        (FatalCause::Token | FatalCause::Payment | FatalCause::Redirect, _) => {
            CallError::Fatal { cause, text }
        }
        (_, status) => CallError::Refused {
            code: ErrorCode::Http(status.unwrap_or_default()),
            text,
        },
    }
}

fn not_done(answer: &Answer, received: Option<&Received>) -> CallError {
    let mut verdict = answer.verdict.clone();
    if let Some(text) = verdict.refusal_mut() {
        *text = naming(text, answer.request_id.as_deref()).to_string();
    }
    match verdict {
        Verdict::Fatal { cause, text, .. } => {
            let is_missing_route = received.is_some_and(|received| names_a_route(&received.body));
            fatal(cause, text, answer.http_status, is_missing_route)
        }
        Verdict::RetryLater {
            wait,
            may_be_taken,
            code,
            text,
        } => CallError::Later {
            wait,
            may_be_done: may_be_taken,
            code,
            text,
        },
        Verdict::PerhapsTaken { text, .. } if answer.http_status == Some(501) => {
            CallError::NotOffered { text }
        }
        Verdict::PerhapsTaken { code, text } => CallError::NoAnswer {
            code,
            text,
            was_sent: true,
            is_lasting: false,
        },
        Verdict::NeverTaken { code, text, cure } => CallError::NoAnswer {
            code,
            text,
            was_sent: false,
            is_lasting: cure.is_some(),
        },
        Verdict::Rejected { text, .. } if answer.http_status == Some(410) => {
            CallError::NotFound { text }
        }
        Verdict::Rejected { code, text } => CallError::Refused { code, text },
        Verdict::Duplicate { text, .. } => CallError::Refused {
            code: ErrorCode::Http(answer.http_status.unwrap_or_default()),
            text,
        },
        // Only for requests that create a lead.
        Verdict::TokenReplaced | Verdict::Created { .. } => {
            CallError::unreadable("the answer is about something else")
        }
    }
}

/// Whether a 404 is about the address and not about the lead, as Laravel says it.
fn names_a_route(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body).to_lowercase();
    text.contains("route ") && text.contains("could not be found")
}
