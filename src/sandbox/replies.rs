//! The answers: a status, a body, and how the exchange ends.
//!
//! The rule: every body here has been seen in public or is what Laravel would send; the words
//! are the sandbox's own.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::config::{
    Campaign, DuplicateStyle, IdType, ListIdType, ListShape, OutageStyle, SandboxConfig,
    UnknownCampaign,
};
use super::faults::Fault;
use super::rate_limit::RateLimitHint;
use super::rule::{ScriptedReply, Then};
use super::store::NewLead;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With the answer.
    Answer,
    /// The connection is closed, and not a byte is sent.
    Drop,
    /// Not at all, until the caller or the sandbox gives up.
    Hang,
    /// The connection is closed in the middle of the body.
    Truncate,
}

pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    /// Further headers; a `content-type` here replaces the one above.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Cow<'static, str>,
    pub(super) delay: Duration,
    pub(super) ending: Ending,
}

impl Reply {
    fn new(status: u16, content_type: &'static str, body: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            content_type,
            headers: Vec::new(),
            body: body.into(),
            delay: Duration::ZERO,
            ending: Ending::Answer,
        }
    }

    /// The status, when a caller sees it and it is a refusal.
    pub(super) fn refused_with(&self) -> Option<u16> {
        let seen = matches!(self.ending, Ending::Answer | Ending::Truncate);
        (seen && self.status >= 400).then_some(self.status)
    }

    fn with_header(mut self, name: &str, value: impl ToString) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    /// Nothing is ever sent: the status is never seen.
    fn silent(ending: Ending) -> Self {
        Self {
            ending,
            ..html(500, "No answer")
        }
    }
}

/// JSON of any shape.
pub(super) fn json_text(status: u16, body: impl Into<Cow<'static, str>>) -> Reply {
    Reply::new(status, "application/json", body)
}

fn json(status: u16, body: &Value) -> Reply {
    json_text(status, body.to_string())
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

pub(super) fn unauthenticated() -> Reply {
    message(401, "Unauthenticated.")
}

pub(super) fn out_of_balance() -> Reply {
    let body = json!({
        "error": "INSUFFICIENT_BALANCE",
        "message": "Insufficient balance. Please top up your account.",
    });
    json(402, &body)
}

fn invalid_field(field: &str, text: &str) -> Reply {
    json(
        422,
        &json!({ "message": text, "errors": { field: [text] } }),
    )
}

pub(super) fn unknown_campaign(style: UnknownCampaign) -> Reply {
    match style {
        UnknownCampaign::NotFound => message(404, "Campaign not found"),
        UnknownCampaign::Unprocessable => {
            invalid_field("campaign_id", "The selected campaign id is invalid.")
        }
    }
}

pub(super) fn duplicate(style: DuplicateStyle) -> Reply {
    const EXISTS: &str = "A lead with this phone number already exists in this campaign.";
    match style {
        DuplicateStyle::UnprocessableErrors => {
            invalid_field("phone_number", "The phone number has already been taken.")
        }
        DuplicateStyle::UnprocessableMessage => message(422, EXISTS),
        DuplicateStyle::BadRequest => message(400, EXISTS),
        DuplicateStyle::Conflict => json(409, &json!({ "error": EXISTS })),
        DuplicateStyle::OkWithoutId => {
            message(200, "Duplicate lead: nothing was added to this campaign.")
        }
        DuplicateStyle::SuccessFalse => {
            let body = json!({
                "success": false,
                "message": EXISTS,
                "error_code": "LEAD_ALREADY_EXISTS",
            });
            json(200, &body)
        }
        DuplicateStyle::German => {
            invalid_field("phone_number", "Die Telefonnummer ist bereits vergeben.")
        }
        DuplicateStyle::StatusFalse => json(422, &json!({ "status": false, "error": EXISTS })),
    }
}

pub(super) fn created(config: &SandboxConfig, lead: &NewLead, id: u64) -> Reply {
    const TEXT: &str = "Lead created successfully";
    let body = match config.id_type {
        IdType::String => format!(r#"{{"message":"{TEXT}","data":{{"id":"{id}"}}}}"#),
        IdType::Integer => format!(r#"{{"message":"{TEXT}","data":{{"id":{id}}}}}"#),
        IdType::Wrapped => format!(r#"[{{"message":"{TEXT}","data":{{"id":"{id}"}}}}]"#),
        IdType::IntegerFull => json!({ "message": TEXT, "data": whole_lead(lead, id) }).to_string(),
    };
    json_text(config.created_status.unwrap_or(200), body)
}

fn whole_lead(lead: &NewLead, id: u64) -> Value {
    let now = jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
        .to_string();
    json!({
        "id": id,
        "campaign_id": lead.campaign,
        "phone_number": format!("+{}", lead.phone),
        "variables": lead.variables,
        "status": "created",
        "created_at": now,
        "updated_at": now,
    })
}

/// Come again in `wait_s` seconds from `now`.
pub(super) fn too_many(hint: RateLimitHint, wait_s: u64, now: SystemTime) -> Reply {
    let plain = message(429, "Too Many Attempts.");
    match hint {
        RateLimitHint::RetryAfter => plain.with_header("retry-after", wait_s),
        RateLimitHint::HttpDate => {
            // A date has whole seconds: one more, so that it is never too early.
            let then = now + Duration::from_secs(wait_s + 1);
            plain.with_header("retry-after", httpdate::fmt_http_date(then))
        }
        RateLimitHint::Body => {
            let body = json!({ "message": "Too Many Attempts.", "retry_after": wait_s });
            json(429, &body)
        }
        RateLimitHint::None => plain,
    }
}

pub(super) fn outage(style: OutageStyle) -> Reply {
    match style {
        OutageStyle::Close => Reply::silent(Ending::Drop),
        OutageStyle::Unavailable => html(503, "503 Service Unavailable"),
        OutageStyle::BadGateway => html(502, "502 Bad Gateway"),
    }
}

/// What a fault makes of the answer that would have been sent.
pub(super) fn faulty(
    fault: Fault,
    config: &SandboxConfig,
    usual: Option<Reply>,
    now: SystemTime,
) -> Reply {
    let wait_s = config.retry_after_s.unwrap_or(1).into();
    match fault {
        Fault::Status429 => too_many(config.rate_limit_hint, wait_s, now),
        Fault::Status500Before | Fault::Status500After => message(500, "Server Error"),
        Fault::Status502 => html(502, "502 Bad Gateway"),
        Fault::Status503 => message(503, "Service Unavailable").with_header("retry-after", wait_s),
        Fault::Status503Html => html(503, "503 Service Unavailable"),
        Fault::DropBefore | Fault::DropAfter => Reply::silent(Ending::Drop),
        Fault::HangBefore | Fault::HangAfter => Reply::silent(Ending::Hang),
        Fault::Unreadable => html(200, "Welcome"),
        Fault::Truncated => Reply {
            ending: Ending::Truncate,
            ..usual.unwrap_or_else(|| message(500, "Server Error"))
        },
    }
}

/// What a rule says; `id` is that of the lead it has just stored.
pub(super) fn scripted(reply: &ScriptedReply, id: Option<u64>) -> Reply {
    let body = match id {
        Some(id) => reply.body.replace("{id}", &id.to_string()),
        None => reply.body.clone(),
    };
    Reply {
        headers: reply.headers.clone().into_iter().collect(),
        ending: match reply.then {
            Then::Answer | Then::Usual => Ending::Answer,
            Then::Drop => Ending::Drop,
            Then::Hang => Ending::Hang,
            Then::Truncate => Ending::Truncate,
        },
        ..json_text(reply.status, body)
    }
}

/// The list's body. `page` counts from 1, `url` is the list's own, without a query; both are of
/// use to the paginated form alone.
pub(super) fn campaign_list(config: &SandboxConfig, page: usize, url: &str) -> Value {
    let all = &config.campaigns.0;
    match config.list_shape {
        ListShape::Campaigns => json!({ "campaigns": entries(config, all) }),
        ListShape::Bare => json!(entries(config, all)),
        ListShape::Data => json!({ "data": entries(config, all) }),
        ListShape::Paginated => one_page(config, page, url),
    }
}

fn entries(config: &SandboxConfig, campaigns: &[Campaign]) -> Vec<Value> {
    let entry = |campaign: &Campaign| {
        let id = match config.list_id_type {
            ListIdType::String => json!(campaign.id.to_string()),
            ListIdType::Integer => json!(campaign.id),
        };
        json!({
            "id": id,
            "name": campaign.name,
            "created_at": campaign.created_at,
            "updated_at": campaign.updated_at,
            "status": campaign.status,
        })
    };
    campaigns.iter().map(entry).collect()
}

/// Half of the list, rounded up, so that even the examples have two pages.
fn one_page(config: &SandboxConfig, page: usize, url: &str) -> Value {
    let size = config.campaigns.0.len().div_ceil(2).max(1);
    let mut pages = config.campaigns.0.chunks(size);
    let last = pages.len().max(1);
    let shown = page.checked_sub(1).and_then(|index| pages.nth(index));
    let link = |number: usize| format!("{url}?page={number}");
    json!({
        "current_page": page,
        "data": entries(config, shown.unwrap_or_default()),
        "last_page": last,
        "next_page_url": (page < last).then(|| link(page + 1)),
        "per_page": size,
        "prev_page_url": (page > 1).then(|| link(page - 1)),
        "total": config.campaigns.0.len(),
    })
}
