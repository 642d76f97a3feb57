//! What one answer to a lead request means, judged by itself.
//!
//! Rule: pure. What a series of answers means (that the token is dead rather
//! than one row refused, say) is decided in `pipeline::stops`.
//!
//! The service's document states no error codes or bodies. What is known was
//! seen in public, and no text of the service is relied on where a status or a
//! field says the same. Two questions matter before all others:
//!
//! - **Was the lead made?** Only a 2xx with an id says so for certain.
//! - **Can it have been made?** After a refused connection, a 429 or a 503 with
//!   `Retry-After`: no, and it is safe to send again. After a timeout, a broken
//!   connection or a 5xx: perhaps, and a second attempt may be a second call to
//!   the same person unless the service refuses duplicates.

use std::time::SystemTime;

use serde_json::Value;

use super::Quota;
pub use super::lost::{Lost, NotSent};
pub use super::wait::{LONGEST_WAIT, Wait};
use crate::exit::StoppedBy;
use crate::lead::ErrorCode;
use crate::text::{printable, shortened};

/// The most characters that are kept of what the service says.
const MOST_TEXT: usize = 300;

/// An answer whose head and body have arrived (the body up to a bound).
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The header `Retry-After`, if there is one.
    pub retry_after: Option<&'a str>,
    /// What its head says of the limit.
    pub quota: Option<Quota>,
    /// The body.
    pub body: &'a [u8],
}

/// What becomes of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The service made the lead.
    Created {
        /// The lead's id.
        lead_id: String,
        /// What the service says of the lead besides, if that matters.
        remark: Option<String>,
    },
    /// The service has the number already.
    Duplicate {
        /// The existing lead's id, where it is said.
        lead_id: Option<String>,
        /// What the service said.
        text: String,
    },
    /// The service refuses this row.
    Rejected {
        /// The reason in one word.
        code: ErrorCode,
        /// What the service said.
        text: String,
    },
    /// Refused without being processed: send again, after a wait.
    RetryLater {
        /// How long, as the service says.
        wait: Wait,
        /// The reason in one word.
        code: ErrorCode,
        /// What the service said.
        text: String,
    },
    /// The service cannot have taken it: sending again is safe.
    NeverTaken {
        /// The reason in one word.
        code: ErrorCode,
        /// What happened.
        text: String,
        /// Whether the next attempt would come to the same, for any row.
        is_lasting: bool,
    },
    /// The service may have taken it.
    PerhapsTaken {
        /// The reason in one word.
        code: ErrorCode,
        /// What happened.
        text: String,
    },
    /// Refused for a reason that is likely to hold for every row.
    Fatal {
        /// What is wrong.
        cause: FatalCause,
        /// The reason in one word, should it turn out to be this row's alone.
        code: ErrorCode,
        /// What the service said.
        text: String,
    },
}

/// What is wrong when every row is likely to be refused alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FatalCause {
    /// 401: the token is not accepted. Certain with the first answer.
    Token,
    /// 402: no money. Certain with the first answer.
    Payment,
    /// 403: the token is not allowed to do this, or a firewall steps in.
    Forbidden,
    /// 404, which may also mean a wrong address, or a 422 about the campaign.
    Campaign,
    /// A 422 about balance, credit, plan or limit.
    Balance,
    /// 3xx: the service is elsewhere, or wants a login.
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

/// Judges an attempt. `now` is what a `Retry-After` date is compared with: the time that
/// the answer itself says it is, if it does.
pub fn judge(answer: Result<Reply<'_>, Lost>, now: SystemTime) -> Verdict {
    match answer {
        Ok(reply) => judge_reply(reply, now),
        Err(lost) => judge_lost(lost),
    }
}

fn judge_lost(lost: Lost) -> Verdict {
    let text = lost.to_string();
    let code = match lost {
        Lost::NotSent(_) => {
            return Verdict::NeverTaken {
                code: ErrorCode::Connection,
                text,
                is_lasting: lost.is_lasting(),
            };
        }
        Lost::TimedOut => ErrorCode::Timeout,
        Lost::NotHttp => ErrorCode::UnreadableAnswer,
        Lost::Broken => ErrorCode::Connection,
    };
    Verdict::PerhapsTaken { code, text }
}

fn judge_reply(reply: Reply<'_>, now: SystemTime) -> Verdict {
    let body = Body::read(reply.body);
    let code = ErrorCode::Http(reply.status);
    let text = body.text(reply.status);
    let fatal = |cause| Verdict::Fatal {
        cause,
        code,
        text: text.clone(),
    };
    match reply.status {
        200..=299 => judge_success(&body, code, text),
        300..=399 => fatal(FatalCause::Redirect),
        400 | 409 | 422 if body.says_duplicate() => Verdict::Duplicate {
            lead_id: body.lead_id(),
            text,
        },
        401 => fatal(FatalCause::Token),
        402 => fatal(FatalCause::Payment),
        403 => fatal(FatalCause::Forbidden),
        404 => fatal(FatalCause::Campaign),
        405 => fatal(FatalCause::NotTheService),
        422 if body.is_about_campaign() => fatal(FatalCause::Campaign),
        422 if body.is_about_balance() => fatal(FatalCause::Balance),
        // RFC 9110, 15.5.9: the request was not received in full. RFC 8470, 5.2:
        // the server is unwilling to process it yet.
        408 | 425 => Verdict::NeverTaken {
            code,
            text,
            is_lasting: false,
        },
        // RFC 9110, 15.5.8: a proxy says it, and has not passed the request on.
        407 => Verdict::NeverTaken {
            code,
            text,
            is_lasting: false,
        },
        429 => Verdict::RetryLater {
            wait: wait_hint(&reply, &body, now),
            code,
            text,
        },
        503 if reply.retry_after.is_some() || body.retry_after().time().is_some() => {
            Verdict::RetryLater {
                wait: wait_hint(&reply, &body, now),
                code,
                text,
            }
        }
        400..=499 => Verdict::Rejected { code, text },
        // 5xx, and what no service should send. A 500 may follow the insert.
        _ => Verdict::PerhapsTaken { code, text },
    }
}

fn judge_success(body: &Body, code: ErrorCode, text: String) -> Verdict {
    let lead_id = body.lead_id();
    // With an id, the mere word may stand in "no duplicate found".
    let is_duplicate = match lead_id {
        Some(_) => body.says_there_already(),
        None => body.says_duplicate(),
    };
    if is_duplicate {
        return Verdict::Duplicate { lead_id, text };
    }
    if body.denies_success() {
        return Verdict::Rejected { code, text };
    }
    match lead_id {
        Some(lead_id) => Verdict::Created {
            lead_id,
            remark: body.remark(),
        },
        None => Verdict::PerhapsTaken {
            code: ErrorCode::UnreadableAnswer,
            text: match body.json {
                Some(_) => format!("no lead id in the answer: {text}"),
                None => "the answer is not JSON".into(),
            },
        },
    }
}

/// How long the service asks to wait: by `Retry-After`, else by `retry_after` in the body,
/// else until the time at which it allows more.
fn wait_hint(reply: &Reply<'_>, body: &Body, now: SystemTime) -> Wait {
    let from_header = reply
        .retry_after
        .map_or(Wait::Unsaid, |text| Wait::of_header(text, now));
    // Where some are left, it is another limit that was hit.
    let quota = reply
        .quota
        .filter(|quota| quota.remaining.unwrap_or(0) == 0);
    let from_quota = quota
        .and_then(|quota| quota.reset)
        .map_or(Wait::Unsaid, Wait::of_duration);
    from_header.or(body.retry_after()).or(from_quota)
}

/// A body, read as far as it can be.
struct Body {
    json: Option<Value>,
    /// A body that is neither JSON nor a page: a sentence, perhaps.
    plain: Option<String>,
}

/// What is longer is no sentence.
const LONGEST_SENTENCE: usize = 1000;

impl Body {
    fn read(bytes: &[u8]) -> Body {
        let json = match serde_json::from_slice(bytes) {
            // Some deployments wrap the answer in an array of one.
            Ok(Value::Array(mut items)) if items.len() == 1 => items.pop(),
            Ok(Value::Array(_)) => None,
            other => other.ok(),
        };
        let plain = std::str::from_utf8(bytes)
            .ok()
            .map(str::trim)
            .filter(|text| json.is_none() && text.len() <= LONGEST_SENTENCE)
            .filter(|text| !text.starts_with(['<', '{', '[']));
        Body {
            plain: plain.map(str::to_owned),
            json: json.filter(Value::is_object),
        }
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.json.as_ref()?.get(name)
    }

    fn data(&self) -> Option<&Value> {
        match self.field("data")? {
            Value::Array(items) => items.first(),
            data => Some(data),
        }
    }

    fn lead_id(&self) -> Option<String> {
        let holder = self.data().or(self.json.as_ref())?;
        match holder.get("id")? {
            Value::String(id) if !id.trim().is_empty() => Some(id.trim().to_owned()),
            Value::Number(id) => Some(id.to_string()),
            _ => None,
        }
    }

    /// What the field `retry_after` says, which also stands within `error` or `data`.
    fn retry_after(&self) -> Wait {
        let places = [self.json.as_ref(), self.field("error"), self.data()];
        let fields = places.into_iter().flatten();
        fields
            .filter_map(|place| place.get("retry_after"))
            .map(Wait::of_field)
            .fold(Wait::Unsaid, Wait::or)
    }

    fn denies_success(&self) -> bool {
        ["success", "status"]
            .iter()
            .any(|name| self.field(name) == Some(&Value::Bool(false)))
    }

    /// What is to be known of a lead that was made.
    fn remark(&self) -> Option<String> {
        let status = self.data()?.get("status")?.as_str()?;
        status
            .eq_ignore_ascii_case("blacklisted")
            .then(|| "the service lists this number as blacklisted: it will not be called".into())
    }

    /// The fields that a validation error complains about, with its sentences.
    fn errors(&self) -> Vec<(String, String)> {
        let sentences = |value: &Value| match value {
            Value::String(text) => text.clone(),
            Value::Array(items) => items
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(" "),
            _ => String::new(),
        };
        match self.field("errors") {
            Some(Value::Object(errors)) => errors
                .iter()
                .map(|(field, value)| (field.to_lowercase(), sentences(value)))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The general sentence: `message`, `error`, or `error.message`.
    fn message(&self) -> &str {
        fn text(value: Option<&Value>) -> Option<&str> {
            value.and_then(Value::as_str).map(str::trim)
        }
        let error = self.field("error");
        [
            text(self.field("message")),
            text(error),
            text(error.and_then(|error| error.get("message"))),
            text(self.field("error_code")),
            self.plain.as_deref(),
        ]
        .into_iter()
        .flatten()
        .find(|text| !text.is_empty())
        .unwrap_or_default()
    }

    /// Everything that `message`, `error` and `error_code` say, in lower case.
    fn general_text(&self) -> String {
        if let Some(plain) = &self.plain {
            return plain.to_lowercase();
        }
        ["message", "error", "error_code"]
            .iter()
            .filter_map(|name| match self.field(name)? {
                Value::String(text) => Some(text.to_lowercase()),
                Value::Object(error) => Some(error.get("message")?.as_str()?.to_lowercase()),
                _ => None,
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// What is said of the number, in lower case. Where single fields are complained
    /// about, that is what is said of the number's: another field may have "already
    /// been taken" too.
    fn text_about_number(&self) -> String {
        let errors = self.errors();
        if errors.is_empty() {
            return self.general_text();
        }
        let is_of_number = |field: &str| {
            ["phone", "lead", "contact"]
                .iter()
                .any(|word| field.contains(word))
        };
        let of_number = errors.iter().filter(|(field, _)| is_of_number(field));
        let sentences: Vec<&str> = of_number.map(|(_, said)| said.as_str()).collect();
        sentences.join(" ").to_lowercase()
    }

    /// Whether it says that the number is there already.
    fn says_there_already(&self) -> bool {
        const PHRASES: &[&str] = &[
            "already exist",
            "already been taken",
            "already been added",
            "already added",
            "already present",
            "bereits vergeben",
            "bereits vorhanden",
            "existiert bereits",
        ];
        let text = self.text_about_number();
        PHRASES.iter().any(|phrase| text.contains(phrase))
    }

    /// The same, or just that it is a duplicate.
    fn says_duplicate(&self) -> bool {
        let text = self.text_about_number();
        let is_denied = ["no duplicate", "not a duplicate"]
            .iter()
            .any(|denial| text.contains(denial));
        self.says_there_already() || (text.contains("duplicate") && !is_denied)
    }

    fn is_about_campaign(&self) -> bool {
        let errors = self.errors();
        if !errors.is_empty() {
            return errors
                .iter()
                .any(|(field, _)| field.starts_with("campaign"));
        }
        let text = self.general_text();
        let is_about = |words: &[&str]| words.iter().any(|word| text.contains(word));
        is_about(&["campaign", "kampagne"]) && !is_about(&["phone", "number", "telefon", "nummer"])
    }

    fn is_about_balance(&self) -> bool {
        const WORDS: &[&str] = &[
            "balance",
            "credit",
            "credits",
            "plan",
            "limit",
            "quota",
            "guthaben",
            "kontingent",
        ];
        self.errors().is_empty()
            && self
                .general_text()
                .split(|c: char| !c.is_alphanumeric())
                .any(|word| WORDS.contains(&word))
    }

    /// What the service said, for people; not masked yet.
    fn text(&self, status: u16) -> String {
        let message = self.message();
        let details: Vec<String> = self
            .errors()
            .into_iter()
            .map(|(_, sentence)| sentence)
            .filter(|sentence| !sentence.is_empty() && !message.contains(sentence.as_str()))
            .collect();
        let said = match (message, details.join(" ")) {
            ("", details) => details,
            (message, details) if details.is_empty() => message.to_owned(),
            (message, details) => format!("{message} {details}"),
        };
        match said.as_str() {
            "" => format!("HTTP {status}"),
            said => format!("HTTP {status}: {said}"),
        }
    }
}

impl Verdict {
    /// Whether the service has dealt with the request, one way or the other. Everything
    /// else says nothing of the row, and asks for another attempt.
    pub fn is_about_row(&self) -> bool {
        matches!(
            self,
            Verdict::Created { .. }
                | Verdict::Duplicate { .. }
                | Verdict::Rejected { .. }
                | Verdict::Fatal { .. }
        )
    }

    /// What the service has said where it has not taken the lead, or not surely.
    pub fn refusal(&self) -> Option<&str> {
        match self {
            Verdict::Created { .. } | Verdict::Duplicate { .. } => None,
            Verdict::Rejected { text, .. }
            | Verdict::RetryLater { text, .. }
            | Verdict::NeverTaken { text, .. }
            | Verdict::PerhapsTaken { text, .. }
            | Verdict::Fatal { text, .. } => Some(text),
        }
    }

    /// The verdict with its texts put through `mask` and made fit to be shown.
    /// Masked first and shortened then: a cut must not leave half a secret.
    pub fn presentable(mut self, mask: impl Fn(&str) -> String) -> Verdict {
        let (first, second) = match &mut self {
            Verdict::Created { lead_id, remark } => (Some(lead_id), remark.as_mut()),
            Verdict::Duplicate { lead_id, text } => (lead_id.as_mut(), Some(text)),
            Verdict::Rejected { text, .. }
            | Verdict::RetryLater { text, .. }
            | Verdict::NeverTaken { text, .. }
            | Verdict::PerhapsTaken { text, .. }
            | Verdict::Fatal { text, .. } => (None, Some(text)),
        };
        for text in [first, second].into_iter().flatten() {
            *text = shortened(&printable(&mask(text)), MOST_TEXT);
        }
        self
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
