//! The settings of a sandbox: each is stated once, with its key in a scenario file and, where it
//! has one, its flag.
//!
//! The rule: an empty scenario is the service of the interface document, without faults. The
//! text above a setting that is a flag is the flag's help.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::ensure;
use serde::{Deserialize, Serialize};

use super::faults::{Fault, FaultFlags, Faults, share};
use super::lead_list::{LeadCalls, LeadIds, LeadTimes, ListForm};
use super::packing::Packing;
use super::rate_limit::RateLimit;
use super::replies::RateLimitHint;
use super::rule::Rule;
use crate::api::wire::VariablesShape;
use crate::options::{Given, Value};

/// The token accepted when none is configured.
const DEFAULT_TOKEN: &str = "sandbox-token";

const LONG_AGO: &str = "2026-03-02T09:00:00.000000Z";

/// A scenario. There is no `Debug`, because a token may be in it. What serde skips is for the
/// command alone, which reads it before it starts a sandbox.
#[derive(Clone, Default, Deserialize, clap::Args)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxConfig {
    /// Where to listen [default: 127.0.0.1:8088]
    ///
    /// An address of this computer and a port; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub listen: Option<SocketAddr>,
    /// Accept only the token in this file [default: any token]
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    #[serde(skip)]
    pub token_file: Option<Given<PathBuf>>,
    /// TOML file of settings, faults and scripted answers; flags override it
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    #[serde(skip)]
    pub scenario: Option<Given<PathBuf>>,
    /// The one token accepted; `sandbox-token` when not given.
    #[arg(skip)]
    pub token: Option<String>,
    /// Accept any token that is not empty.
    #[arg(skip)]
    pub any_token: bool,
    /// Decides which requests fail and how; the same seed gives the same faults
    #[arg(long, value_name = "N", value_parser = <u64 as Value>::parse)]
    pub seed: u64,
    #[arg(skip)]
    #[serde(rename = "campaign")]
    pub campaigns: Campaigns,
    /// The bodies of the campaign list, page by page; made of the campaigns when not given.
    #[arg(skip)]
    pub campaign_pages: Vec<String>,
    #[arg(skip)]
    pub variables_shape: VariablesShape,
    /// Compress the bodies of all answers; not when not given.
    #[arg(skip)]
    pub pack: Option<Packing>,
    /// Time until an answer, such as `50ms` or `2s`
    #[arg(id = "latency", long, value_name = "DURATION", value_parser = milliseconds)]
    pub latency_ms: u64,
    /// This many milliseconds more with each minute since the start.
    #[arg(skip)]
    pub latency_growth_ms: u64,
    /// Up to this many milliseconds more, as the seed and the request decide.
    #[arg(skip)]
    pub latency_jitter_ms: u64,
    /// Requests for leads worked on at once; the others queue. No cap when not given.
    #[arg(skip)]
    pub max_concurrent: Option<usize>,
    /// Refuse more requests for leads than `100/min`
    ///
    /// `N/PERIOD` or `SHAPE:N/PERIOD[:BURST]`, such as `20/10s` or `leaky:20/s:5`. SHAPE is how
    /// requests are counted: `sliding`, the default, in any span of this length; `fixed` in windows
    /// that open with a request (as in Laravel); `leaky` at an even pace, and BURST (0 if not
    /// given) more at once (`limit_req` of nginx with `nodelay`); `token` from a bucket of BURST (N
    /// if not given) tokens that is refilled evenly. Repeatable: all limits apply.
    #[arg(id = "rate-limit", long = "limit", alias = "rate-limit", value_name = "LIMIT", value_parser = RateLimit::parse)]
    #[serde(rename = "rate_limit")]
    pub rate_limits: Vec<RateLimit>,
    /// How a 429 says when to try again.
    #[arg(skip)]
    pub rate_limit_hint: RateLimitHint,
    /// Send `X-RateLimit-Limit`, `-Remaining` and `-Reset` with every answer about a lead, except
    /// about limits of the shape `leaky`: nginx does not state them.
    #[arg(skip)]
    pub rate_limit_headers: bool,
    /// Seconds to wait that the faults 429 and 503 state; 1 when not given.
    #[arg(skip)]
    pub retry_after_s: Option<u32>,
    #[arg(skip)]
    pub faults: Faults,
    #[command(flatten)]
    #[serde(skip)]
    pub fault_flags: FaultFlags,
    /// Go down after this many requests for leads: connections are closed without an answer
    #[arg(id = "outage-after", long, value_name = "N", value_parser = outage)]
    pub outage: Option<Outage>,
    /// How long to stay down [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = <Duration as Value>::parse, requires = "outage-after")]
    #[serde(skip)]
    pub outage_for: Option<Duration>,
    /// Refuse the token after this many requests for leads
    #[arg(long, value_name = "N", value_parser = <u64 as Value>::parse)]
    pub token_revoked_after: Option<u64>,
    /// After this many leads the account is out of money (402).
    #[arg(skip)]
    pub balance_after: Option<u64>,
    /// Scripted answers; the first that matches wins, before any fault (`[[rule]]`).
    #[arg(skip)]
    #[serde(rename = "rule")]
    pub rules: Vec<Rule>,
    /// Offer the calls about leads that exist: `both` of them, the `list` alone, or `none`
    /// [default: both]
    #[arg(long, value_name = "CALLS", value_enum)]
    pub lead_calls: LeadCalls,
    /// The status with which a call that is not offered is answered; 404 when not given.
    #[arg(skip)]
    pub not_offered_status: Option<u16>,
    /// The form of the list of leads: `pages`, `meta`, `data` or `bare` [default: pages]
    #[arg(long, value_name = "FORM", value_enum)]
    pub lead_list: ListForm,
    #[arg(skip)]
    pub lead_ids: LeadIds,
    /// How the list of leads writes the time at which each was made.
    #[arg(skip)]
    pub lead_times: LeadTimes,
    /// Time until a new lead appears in the list of leads, such as `5s`
    #[arg(id = "list-delay", long, value_name = "DURATION", value_parser = milliseconds)]
    pub list_delay_ms: u64,
    /// Share of leads that cannot be deleted, since a call is under way
    #[arg(id = "share-in-call", long, value_name = "P", value_parser = share)]
    pub in_call: f64,
    /// Shares of calls about leads that exist which meet each fault; as `faults` when not given.
    #[arg(skip)]
    pub call_faults: Option<Faults>,
    /// Each token has an account of its own, with the same campaigns and its own leads.
    #[arg(skip)]
    pub accounts_by_token: bool,
    /// How far the service's clock is ahead, in seconds.
    #[arg(skip)]
    pub clock_ahead_s: i64,
    /// How far the times of leads are ahead of its clock, in seconds, as those of a service are that
    /// labels local times as UTC.
    #[arg(skip)]
    pub lead_times_ahead_s: i64,
    /// The first so many leads of each account are listed as a month older than they are.
    #[arg(skip)]
    pub old_leads: u64,
    /// The first so many leads of each account are listed without the plus and the two digits of their
    /// calling code, and with a zero.
    #[arg(skip)]
    pub national_numbers: u64,
    /// The list of leads hides the last digits of each number.
    #[arg(skip)]
    pub hides_numbers: bool,
    /// Take duplicates too, as a service without that check does.
    #[arg(skip)]
    pub takes_duplicates: bool,
    /// Keep the variables of each lead, as when not given.
    #[arg(skip)]
    pub keep_variables: Option<bool>,
    /// Keep headers and bodies of all requests for leads.
    #[arg(skip)]
    pub keep_bodies: bool,
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    let hint = "write an address of this computer and a port, such as `127.0.0.1:8088`";
    text.parse().map_err(|_| hint)
}

fn outage(text: &str) -> Result<Outage, String> {
    Ok(Outage {
        after_requests: <u64 as Value>::parse(text)?,
        for_s: 10.0,
        style: close(),
    })
}

fn milliseconds(text: &str) -> Result<u64, String> {
    let time = Duration::parse(text)?;
    u64::try_from(time.as_millis()).map_err(|error| error.to_string())
}

impl SandboxConfig {
    pub fn token(&self) -> &str {
        self.token.as_deref().unwrap_or(DEFAULT_TOKEN)
    }

    /// How long answers take `now` microseconds after the start, without jitter.
    pub(super) fn latency(&self, now: u64) -> Duration {
        let growth = self.latency_growth_ms as f64 * now as f64 / 60e6;
        Duration::from_millis(self.latency_ms) + Duration::from_secs_f64(growth / 1e3)
    }

    /// Finds contradictions; a sandbox does so when it starts.
    pub fn validate(&self) -> anyhow::Result<()> {
        // Other machines must not reach the numbers kept here.
        ensure!(
            self.listen.is_none_or(|addr| addr.ip().is_loopback()),
            "the sandbox listens on loopback addresses only, such as 127.0.0.1:8088"
        );
        ensure!(
            self.max_concurrent != Some(0),
            "`max_concurrent` must be at least 1"
        );
        ensure!(!self.token().trim().is_empty(), "`token` must not be empty");
        let outage_s = self.outage.map_or(0.0, |outage| outage.for_s);
        ensure!(
            outage_s >= 0.0 && outage_s.is_finite(),
            "`outage.for_s` must be a number of seconds"
        );
        self.faults.check()?;
        self.call_faults.as_ref().map_or(Ok(()), Faults::check)?;
        ensure!(
            (0.0..=1.0).contains(&self.in_call),
            "`in_call` must be between 0 and 1"
        );
        self.rate_limits.iter().try_for_each(RateLimit::check)?;
        self.rules.iter().try_for_each(Rule::check)
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    pub id: u64,
    /// Its name; names need not be unique.
    pub name: String,
    #[serde(default = "long_ago")]
    pub created_at: String,
    #[serde(default = "long_ago")]
    pub updated_at: String,
    /// Free text.
    #[serde(default = "in_progress")]
    pub status: String,
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
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// It begins with the request for a lead that follows this many.
    pub after_requests: u64,
    pub for_s: f64,
    /// What becomes of requests: `close`, `503` or `502`, or the name of a fault.
    #[serde(default = "close")]
    pub style: Fault,
}

fn close() -> Fault {
    Fault::DropBefore
}
