//! What one answer to a lead request means, judged on its own.
//!
//! Rule: pure. `pipeline::stops` decides what a series of answers means (for example, that the
//! token has expired and not just one row is refused).
//!
//! The service's document lists no error codes or bodies: what is known was seen
//! in public. If a status or a field says something, the text is not used for it.
//! Two questions matter more than all others:
//!
//! - **Was the lead created?** Only a 2xx with an id says so for certain.
//! - **Can it have been created?** After a refused connection, a 4xx or a 503
//!   with `Retry-After`: no, and it is safe to send again. After a timeout, a
//!   broken connection, a 408 or another 5xx: perhaps, and a second attempt may be a
//!   second call to the same person unless the service refuses duplicates.

use std::time::Duration;

use super::Head;
use super::body::Body;
use super::sentence::Presence;
use super::transport_error::GIVE_LOGIN;
pub use super::transport_error::TransportError;
use super::wait;
pub use super::wait::LONGEST_WAIT;
use crate::exit::StoppedBy;
use crate::lead::ErrorCode;
use crate::message::{Template, Text};
use crate::text::{printable, shortened};

const MAX_TEXT: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Created {
        lead_id: String,
        /// What else the service says about the lead, if it matters.
        remark: Option<String>,
    },
    /// The service already has the number.
    Duplicate {
        /// The existing lead's id, if the answer has it.
        lead_id: Option<String>,
        text: String,
    },
    /// The service refuses this row.
    Rejected { code: ErrorCode, text: String },
    /// Refused for now: send again after a wait.
    RetryLater {
        /// How long, where the service says so in a way that makes sense.
        wait: Option<Duration>,
        /// Whether the service may have taken it all the same.
        may_be_taken: bool,
        code: ErrorCode,
        text: String,
    },
    /// The service cannot have taken it: sending again is safe.
    NeverTaken {
        code: ErrorCode,
        text: String,
        /// What cures it, if every further attempt, with any row, fails for the same reason until then.
        cure: Option<Template>,
    },
    /// The service may have taken it.
    PerhapsTaken { code: ErrorCode, text: String },
    /// The service refused the token, and the token has been replaced meanwhile: send again with
    /// the new one. This does not count as an attempt.
    TokenReplaced,
    /// Refused for a reason that is likely to hold for every row.
    Fatal {
        cause: FatalCause,
        /// The reason in one word, in case it turns out to concern only this row.
        code: ErrorCode,
        text: String,
    },
}

/// Why every row is likely to be refused in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FatalCause {
    /// 401: the token is not accepted. Certain with the first answer.
    Token,
    /// 402: no money. Certain with the first answer.
    Payment,
    /// 403: the token is not allowed to do this, or a firewall intervenes.
    Forbidden,
    /// 404, which may also mean a wrong address, or a 422 about the campaign.
    Campaign,
    /// A 422 about balance, credit, plan or limit.
    Balance,
    /// 3xx: the service has moved, or demands a login.
    Redirect,
    /// 405: this is not the service's address.
    NotTheService,
}

impl From<FatalCause> for StoppedBy {
    fn from(cause: FatalCause) -> Self {
        match cause {
            FatalCause::Token | FatalCause::Forbidden => StoppedBy::Token,
            FatalCause::Payment | FatalCause::Balance => StoppedBy::Balance,
            FatalCause::Campaign => StoppedBy::Campaign,
            FatalCause::Redirect => StoppedBy::Redirect,
            FatalCause::NotTheService => StoppedBy::Unreadable,
        }
    }
}

impl FatalCause {
    /// Whether one such answer is enough to stop.
    pub fn is_certain(self) -> bool {
        matches!(self, FatalCause::Token | FatalCause::Payment)
    }
}

/// Judges an answer whose head and body arrived (the body up to a bound).
pub fn judge(head: &Head, body: &[u8]) -> Verdict {
    let text = String::from_utf8_lossy(body);
    let body = if head.is_success() {
        Body::of_success(&text)
    } else {
        Body::read(&text)
    };
    let status = head.status;
    let code = ErrorCode::Http(status);
    // A closure, because most answers create a lead and do not need the text.
    let text = || body.text(status);
    let fatal = |cause| Verdict::Fatal {
        cause,
        code,
        text: text(),
    };
    match status {
        200..=299 => judge_success(head, &body),
        300..=399 => Verdict::Fatal {
            cause: FatalCause::Redirect,
            code,
            text: match &head.redirects_to {
                Some(place) => format!("HTTP {status} to {place}"),
                None => text(),
            },
        },
        400 | 409 | 422 if body.duplicate() == Some(Presence::Here) => Verdict::Duplicate {
            lead_id: body.lead_id(),
            text: text(),
        },
        401 => fatal(FatalCause::Token),
        402 => fatal(FatalCause::Payment),
        400..=599 if says_when(head, &body) => {
            retry_later(head, &body, matches!(status, 408 | 500..=502 | 504..))
        }
        403 => fatal(FatalCause::Forbidden),
        404 => fatal(FatalCause::Campaign),
        405 => fatal(FatalCause::NotTheService),
        422 if body.is_about_campaign() => fatal(FatalCause::Campaign),
        422 if body.is_about_balance() => fatal(FatalCause::Balance),
        // 407: a proxy answered and did not pass the request on (RFC 9110, 15.5.8): it wants a name
        // and password. 425: the server does not want to process it yet (RFC 8470, 5.2).
        407 | 425 => Verdict::NeverTaken {
            code,
            text: text(),
            cure: (status == 407).then_some(GIVE_LOGIN),
        },
        429 => retry_later(head, &body, false),
        400..=407 | 409..=499 => Verdict::Rejected { code, text: text() },
        // 5xx, and statuses that no service should send. A 500 may come after the lead was stored,
        // and a 408 from a gateway that waited in vain for the service behind it.
        _ => Verdict::PerhapsTaken { code, text: text() },
    }
}

/// What it means that the answer did not arrive, or only in part.
pub fn judge_lost(lost: TransportError) -> Verdict {
    let text = lost.to_string();
    let code = match lost {
        TransportError::NotSent { cure, .. } => {
            return Verdict::NeverTaken {
                code: ErrorCode::Connection,
                text,
                cure,
            };
        }
        TransportError::TimedOut => ErrorCode::Timeout,
        TransportError::NotHttp(_) | TransportError::Packed(_) => ErrorCode::UnreadableAnswer,
        TransportError::Broken => ErrorCode::Connection,
    };
    Verdict::PerhapsTaken { code, text }
}

fn judge_success(head: &Head, body: &Body<'_>) -> Verdict {
    let text = || body.text(head.status);
    let lead_id = body.lead_id();
    let is_denied = body.denies_success();
    // In a success the word "duplicate" alone may be from "no duplicate found". A lead in
    // another campaign does not speak against a new one in this campaign.
    let presence = match lead_id {
        Some(_) if !is_denied => body.presence(),
        _ => body.duplicate(),
    };
    match lead_id {
        lead_id if presence == Some(Presence::Here) => Verdict::Duplicate {
            lead_id,
            text: text(),
        },
        Some(lead_id) => {
            let denial = || {
                format!(
                    "the service gave a lead id and also says that it failed: {}",
                    text()
                )
            };
            let remark = body.remark();
            Verdict::Created {
                lead_id,
                remark: remark.or_else(|| is_denied.then(denial)),
            }
        }
        None if is_denied && says_when(head, body) => retry_later(head, body, false),
        None if is_denied => Verdict::Rejected {
            code: ErrorCode::Http(head.status),
            text: text(),
        },
        None => Verdict::PerhapsTaken {
            code: ErrorCode::UnreadableAnswer,
            text: if body.is_object() {
                format!("no lead id in the answer: {}", text())
            } else {
                "the answer is not JSON".into()
            },
        },
    }
}

fn retry_later(head: &Head, body: &Body<'_>, may_be_taken: bool) -> Verdict {
    Verdict::RetryLater {
        wait: wait_hint(head, body),
        may_be_taken,
        code: ErrorCode::Http(head.status),
        text: body.text(head.status),
    }
}

/// Whether the answer says when to try again.
fn says_when(head: &Head, body: &Body<'_>) -> bool {
    head.retry_after.is_some() || body.retry_after().is_some()
}

/// How long the service wants the client to wait: by `Retry-After`, else by `retry_after` in the body,
/// else until the time at which it allows more.
fn wait_hint(head: &Head, body: &Body<'_>) -> Option<Duration> {
    let from_header = head.retry_after.as_ref();
    let from_header = from_header.and_then(|text| wait::of_header(text, head.now));
    // Where some are left, it is another limit that was hit.
    let quota = head.quota.filter(|quota| quota.remaining.unwrap_or(0) == 0);
    let reset = quota.and_then(|quota| quota.reset);
    let from_quota = reset.and_then(wait::bounded);
    from_header.or(body.retry_after()).or(from_quota)
}

/// A text of the service with the id of the request, by which the service finds it in its logs.
pub fn naming(said: &str, request_id: Option<&str>) -> Text {
    match request_id {
        Some(id) => text!("{said} (request id {id})", said, id),
        None => Text::said(said),
    }
}

/// What the service said, without the id, which differs from row to row.
pub fn without_request_id(named: &Text) -> String {
    match named.words_at("said") {
        Some(said) => said.to_owned(),
        None => named.to_string(),
    }
}

impl Verdict {
    /// Whether the service decided about the request. Any other verdict says nothing about the row,
    /// which needs another attempt.
    pub fn is_about_row(&self) -> bool {
        matches!(
            self,
            Verdict::Created { .. }
                | Verdict::Duplicate { .. }
                | Verdict::Rejected { .. }
                | Verdict::Fatal { .. }
        )
    }

    /// What the service said, or why there is no answer; `None` if the lead exists at the service
    /// or the token was replaced.
    pub fn refusal(&self) -> Option<&str> {
        match self {
            Verdict::Created { .. } | Verdict::Duplicate { .. } | Verdict::TokenReplaced => None,
            Verdict::Rejected { text, .. }
            | Verdict::RetryLater { text, .. }
            | Verdict::NeverTaken { text, .. }
            | Verdict::PerhapsTaken { text, .. }
            | Verdict::Fatal { text, .. } => Some(text),
        }
    }

    pub(super) fn refusal_mut(&mut self) -> Option<&mut String> {
        match self {
            Verdict::Created { .. } | Verdict::Duplicate { .. } | Verdict::TokenReplaced => None,
            Verdict::Rejected { text, .. }
            | Verdict::RetryLater { text, .. }
            | Verdict::NeverTaken { text, .. }
            | Verdict::PerhapsTaken { text, .. }
            | Verdict::Fatal { text, .. } => Some(text),
        }
    }

    /// The verdict with its texts masked by `mask` and made fit to be shown. They are shortened
    /// only after masking: a cut must not leave half a secret.
    pub fn presentable(mut self, mask: impl Fn(&str) -> String) -> Verdict {
        let texts = match &mut self {
            Verdict::Created { lead_id, remark } => [Some(lead_id), remark.as_mut()],
            Verdict::Duplicate { lead_id, text } => [lead_id.as_mut(), Some(text)],
            refusal => [refusal.refusal_mut(), None],
        };
        for text in texts.into_iter().flatten() {
            *text = presentable(&mask(text));
        }
        self
    }
}

/// A text of the service, which is masked already, fit to be shown.
pub(super) fn presentable(masked: &str) -> String {
    shortened(&printable(masked), MAX_TEXT)
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
