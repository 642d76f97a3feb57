//! The answers: a status, a body, and how the exchange ends.
//!
//! Rule: every body here has been seen in public or is what Laravel would
//! send. The words are the sandbox's own.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue, Response, StatusCode};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::config::SandboxConfig;
use super::faults::Fault;
use super::rate_limit::Quota;
use super::rule::{ScriptedReply, Then};

const JSON: &str = "application/json";

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum RateLimitHint {
    /// `Retry-After` in seconds.
    #[default]
    RetryAfter,
    /// `Retry-After` as a date.
    HttpDate,
    /// `retry_after` in the body.
    Body,
    /// No hint.
    None,
}

pub(super) struct Reply {
    pub(super) response: Response<Bytes>,
    pub(super) delay: Duration,
    pub(super) ending: Then,
}

impl Reply {
    fn new(status: u16, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let mut response = Response::new(body.into());
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
        let content_type = HeaderValue::from_static(content_type);
        response.headers_mut().insert(CONTENT_TYPE, content_type);
        Self {
            response,
            delay: Duration::ZERO,
            ending: Then::Answer,
        }
    }

    /// The status, if it is a refusal that the caller sees.
    pub(super) fn refused_with(&self) -> Option<u16> {
        let is_seen = !matches!(self.ending, Then::Drop | Then::Hang);
        let status = self.response.status().as_u16();
        (is_seen && status >= 400).then_some(status)
    }

    /// Invalid headers are ignored: the headers of a scenario are checked at its start.
    pub(super) fn with_header(mut self, name: &str, value: &str) -> Self {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
            self.response.headers_mut().insert(name, value);
        }
        self
    }

    fn ending(self, ending: Then) -> Self {
        Self { ending, ..self }
    }

    /// Sets the headers for this quota. A scripted answer keeps the headers that it already has.
    pub(super) fn state(&mut self, quota: Quota, reset: SystemTime) {
        let reset = reset.duration_since(UNIX_EPOCH).unwrap_or_default();
        let reset_s = reset.as_secs() + u64::from(reset.subsec_nanos() > 0);
        for (name, value) in [
            ("x-ratelimit-limit", quota.limit as u64),
            ("x-ratelimit-remaining", quota.remaining as u64),
            ("x-ratelimit-reset", reset_s),
        ] {
            let headers = self.response.headers_mut();
            headers.entry(name).or_insert(value.into());
        }
    }
}

pub(super) fn json(status: u16, body: &impl Serialize) -> Reply {
    // Only texts and numbers, so writing them to memory does not fail.
    let text = serde_json::to_vec(body).unwrap_or_default();
    Reply::new(status, JSON, text)
}

pub(super) fn message(status: u16, text: &str) -> Reply {
    json(status, &json!({ "message": text }))
}

/// A page as proxies and firewalls show it.
fn html(status: u16, title: &str) -> Reply {
    let page = format!(
        "<!DOCTYPE html>\n<html><head><title>{title}</title></head>\
         <body><h1>{title}</h1></body></html>\n"
    );
    Reply::new(status, "text/html; charset=UTF-8", page)
}

pub(super) const UNAUTHENTICATED: &str = "Unauthenticated.";

pub(super) fn out_of_balance() -> Reply {
    let text = "Insufficient balance. Please top up your account.";
    json(
        402,
        &json!({ "error": "INSUFFICIENT_BALANCE", "message": text }),
    )
}

pub(super) fn unknown_campaign() -> Reply {
    message(404, "Campaign not found")
}

pub(super) fn duplicate() -> Reply {
    const TEXT: &str = "The phone number has already been taken.";
    json(
        422,
        &json!({ "message": TEXT, "errors": { "phone_number": [TEXT] } }),
    )
}

pub(super) fn created(id: &Value) -> Reply {
    let data = json!({ "id": id });
    json(
        200,
        &json!({ "message": "Lead created successfully", "data": data }),
    )
}

pub(super) fn deleted() -> Reply {
    message(200, "Lead deleted successfully")
}

pub(super) fn unknown_lead() -> Reply {
    message(404, "Lead not found")
}

pub(super) fn in_call() -> Reply {
    message(409, "A call to this lead is under way.")
}

/// A path that the service does not have; 405 if it has it for other methods.
pub(super) fn not_offered(status: u16, method: &str, path: &str) -> Reply {
    match status {
        405 => message(
            405,
            &format!("The {method} method is not supported for route {path}."),
        ),
        status => message(status, &format!("The route {path} could not be found.")),
    }
}

/// Tells the caller to retry `wait_s` seconds after `now`.
pub(super) fn too_many(hint: RateLimitHint, wait_s: u64, now: SystemTime) -> Reply {
    const TEXT: &str = "Too Many Attempts.";
    let wait = match hint {
        RateLimitHint::RetryAfter => wait_s.to_string(),
        // A date has whole seconds. One more second, so that the date is never too early.
        RateLimitHint::HttpDate => httpdate::fmt_http_date(now + Duration::from_secs(wait_s + 1)),
        RateLimitHint::Body => {
            return json(429, &json!({ "message": TEXT, "retry_after": wait_s }));
        }
        RateLimitHint::None => return message(429, TEXT),
    };
    message(429, TEXT).with_header("retry-after", &wait)
}

pub(super) fn server_error() -> Reply {
    message(500, "Server Error")
}

/// Turns the answer that would have been sent into what the fault sends instead.
pub(super) fn faulty(fault: Fault, config: &SandboxConfig, usual: Reply, now: SystemTime) -> Reply {
    let wait_s = config.retry_after_s.unwrap_or(1).into();
    match fault {
        Fault::Status429 => too_many(config.rate_limit_hint, wait_s, now),
        Fault::Status500Before | Fault::Status500After => server_error(),
        Fault::Status502 => html(502, "502 Bad Gateway"),
        Fault::Status503 => {
            message(503, "Service Unavailable").with_header("retry-after", &wait_s.to_string())
        }
        Fault::Status503Html => html(503, "503 Service Unavailable"),
        Fault::DropBefore | Fault::DropAfter => usual.ending(Then::Drop),
        Fault::HangBefore | Fault::HangAfter => usual.ending(Then::Hang),
        Fault::Unreadable => html(200, "Welcome"),
    }
}

/// The answer of a rule. `id` is the lead that the rule has just stored, if any.
pub(super) fn scripted(reply: &ScriptedReply, id: Option<u64>) -> Reply {
    let body = match id {
        Some(id) => reply.body.replace("{id}", &id.to_string()),
        None => reply.body.clone(),
    };
    let plain = Reply::new(reply.status.unwrap_or(200), JSON, body).ending(reply.then);
    let headers = reply.headers.iter();
    headers.fold(plain, |made, (name, value)| made.with_header(name, value))
}

/// The scripted page of this number, counted from 1, or all campaigns.
pub(super) fn campaign_list(config: &SandboxConfig, page: usize) -> Reply {
    let scripted = page.checked_sub(1);
    if let Some(body) = scripted.and_then(|index| config.campaign_pages.get(index)) {
        return Reply::new(200, JSON, body.clone());
    }
    let entries = config.campaigns.0.iter().map(|campaign| {
        let mut entry = json!(campaign);
        entry["id"] = json!(campaign.id.to_string());
        entry
    });
    json(200, &json!({ "campaigns": entries.collect::<Vec<_>>() }))
}
