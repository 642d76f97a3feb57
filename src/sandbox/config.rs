//! The settings of a sandbox: every field with its default; TOML is its written form.
//!
//! The rule: an empty scenario is the service of the interface document, without faults.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use clap::ValueEnum;
use serde::Deserialize;

use super::faults::Faults;
use super::packing::Packing;
use super::rate_limit::{RateLimit, RateLimitHint};
use super::rule::Rule;

/// The token accepted when none is configured.
const DEFAULT_TOKEN: &str = "sandbox-token";

const LONG_AGO: &str = "2026-03-02T09:00:00.000000Z";

/// A scenario. There is no `Debug`, because a token may be in it.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxConfig {
    /// Loopback address to listen on; a free port of 127.0.0.1 when not given.
    pub listen: Option<SocketAddr>,
    /// The one token accepted; `sandbox-token` when not given.
    pub token: Option<String>,
    /// Accept any token that is not empty.
    pub any_token: bool,
    /// Decides, with the request, which faults occur and how long answers take.
    pub seed: u64,
    /// The id of the first lead, 1 when not given; the following count up from it.
    pub first_id: Option<u32>,
    #[serde(rename = "campaign")]
    pub campaigns: Campaigns,
    pub list_shape: ListShape,
    pub list_id_type: ListIdType,
    pub variables_shape: VariablesShape,
    pub unknown_campaign: UnknownCampaign,
    pub duplicate_style: DuplicateStyle,
    pub id_type: IdType,
    /// The status of a lead that was made, 200 to 299; 200 when not given.
    pub created_status: Option<u16>,
    /// Compress the bodies of all answers; not when not given.
    pub pack: Option<Packing>,
    /// Time until an answer, in milliseconds.
    pub latency_ms: u64,
    /// This many milliseconds more with each minute since the start.
    pub latency_growth_ms: u64,
    /// Up to this many milliseconds more, as the seed and the request decide.
    pub latency_jitter_ms: u64,
    /// Requests for leads worked on at once; the others queue. No cap when not given.
    pub max_concurrent: Option<usize>,
    /// Limits that all must admit a request for a lead (`[[rate_limit]]`).
    #[serde(rename = "rate_limit")]
    pub rate_limits: Vec<RateLimit>,
    /// How a 429 says when to come again.
    pub rate_limit_hint: RateLimitHint,
    /// Send `X-RateLimit-Limit`, `-Remaining` and `-Reset` with every answer about a lead.
    pub rate_limit_headers: bool,
    /// Seconds to wait that the faults 429 and 503 state; 1 when not given.
    pub retry_after_s: Option<u32>,
    pub faults: Faults,
    pub outage: Option<Outage>,
    /// After this many requests for leads the token is no longer accepted.
    pub token_revoked_after: Option<u64>,
    /// After this many leads the account is out of money (402).
    pub balance_after: Option<u64>,
    /// Scripted answers; the first that matches wins, before any fault (`[[rule]]`).
    #[serde(rename = "rule")]
    pub rules: Vec<Rule>,
    /// Keep the variables of each lead, as when not given.
    pub keep_variables: Option<bool>,
    /// Keep headers and bodies of all requests for leads.
    pub keep_bodies: bool,
}

impl SandboxConfig {
    pub fn token(&self) -> &str {
        self.token.as_deref().unwrap_or(DEFAULT_TOKEN)
    }

    /// How long answers take `now` microseconds after the start, jitter aside.
    pub(super) fn latency(&self, now: u64) -> Duration {
        let growth = self.latency_growth_ms as f64 * now as f64 / 60e6;
        Duration::from_millis(self.latency_ms) + Duration::from_secs_f64(growth / 1e3)
    }

    /// Finds contradictions; a sandbox does so when it starts.
    pub fn validate(&self) -> io::Result<()> {
        self.check()
            .map_err(|text| io::Error::new(io::ErrorKind::InvalidInput, text))
    }

    fn check(&self) -> Result<(), String> {
        if (self.created_status).is_some_and(|status| !(200..=299).contains(&status)) {
            return Err("`created_status` must be between 200 and 299".to_owned());
        }
        if self.max_concurrent == Some(0) {
            return Err("`max_concurrent` must be at least 1".to_owned());
        }
        if self.token().trim().is_empty() {
            return Err("`token` must not be empty".to_owned());
        }
        if let Some(outage) = &self.outage
            && !(outage.for_s >= 0.0 && outage.for_s.is_finite())
        {
            return Err("`outage.for_s` must be a number of seconds".to_owned());
        }
        self.faults.check()?;
        self.rate_limits.iter().try_for_each(RateLimit::check)?;
        self.rules.iter().try_for_each(Rule::check)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    pub id: u64,
    /// Its name; names need not be unique.
    pub name: String,
    /// Free text.
    #[serde(default = "in_progress")]
    pub status: String,
    #[serde(default = "long_ago")]
    pub created_at: String,
    #[serde(default = "long_ago")]
    pub updated_at: String,
}

/// The campaigns of the account: examples when not given, none when given as `[]`.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Campaigns(pub Vec<Campaign>);

impl Default for Campaigns {
    /// Campaigns in every state, two of one name, and times in each form seen.
    fn default() -> Self {
        let examples = [
            (101, "Spring promo", "in-progress", LONG_AGO),
            (102, "Autumn survey", "stopped", "2026-03-02T09:00:00Z"),
            (103, "Welcome call", "draft", "2026-03-02 09:00:00"),
            (104, "Newsletter", "in-progress", "2026-03-02T09:00:00Z"),
            (105, "Newsletter", "in-progress", "2026-05-11T09:00:00Z"),
        ];
        let examples = examples.map(|(id, name, status, time)| Campaign {
            id,
            name: name.to_owned(),
            status: status.to_owned(),
            created_at: time.to_owned(),
            updated_at: time.to_owned(),
        });
        Campaigns(examples.into())
    }
}

fn in_progress() -> String {
    "in-progress".to_owned()
}

fn long_ago() -> String {
    LONG_AGO.to_owned()
}

/// A time without service, counted from the first request that meets it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// It begins with the request for a lead that follows this many.
    pub after_requests: u64,
    pub for_s: f64,
    #[serde(default)]
    pub style: OutageStyle,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
pub enum OutageStyle {
    /// Connections are closed without an answer.
    #[default]
    #[serde(rename = "close")]
    Close,
    /// 503, an HTML page without `Retry-After`.
    #[serde(rename = "503")]
    Unavailable,
    /// 502, an HTML page.
    #[serde(rename = "502")]
    BadGateway,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum ListShape {
    /// `{"campaigns":[…]}`, as the interface document has it.
    #[default]
    Campaigns,
    /// `[…]`
    Bare,
    /// `{"data":[…]}`
    Data,
    /// `{"data":[…],"next_page_url":…}`, two pages or more.
    Paginated,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ListIdType {
    /// `"101"`
    #[default]
    String,
    /// `101`
    Integer,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum VariablesShape {
    /// `[{"name":"value"}]`
    #[default]
    Array,
    /// `{"name":"value"}`
    Object,
    /// One or the other.
    Either,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum UnknownCampaign {
    /// 404 `{"message":"Campaign not found"}`
    #[default]
    NotFound,
    /// 422 with `errors.campaign_id`
    Unprocessable,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum DuplicateStyle {
    /// 422, `errors.phone_number`: "… has already been taken."
    #[default]
    UnprocessableErrors,
    /// 422, a message alone.
    UnprocessableMessage,
    /// 400, a message alone.
    BadRequest,
    /// 409 `{"error":"… already exists"}`
    Conflict,
    /// 200, a message that says duplicate, and no id.
    OkWithoutId,
    /// 200 `{"success":false,…}`
    SuccessFalse,
    /// 422, `errors.phone_number`: "… ist bereits vergeben."
    German,
    /// 422 `{"status":false,"error":…}`
    StatusFalse,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum IdType {
    /// `{"message":…,"data":{"id":"1"}}`, as the interface document has it.
    #[default]
    String,
    /// `{"message":…,"data":{"id":1}}`
    Integer,
    /// `[{"message":…,"data":{"id":"1"}}]`
    Wrapped,
    /// The whole lead as `data`, with an integer id.
    IntegerFull,
}
