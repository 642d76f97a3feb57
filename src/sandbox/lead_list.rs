//! The list of leads, in the forms in which services show it.
//!
//! Rule: pure. Every form was seen in public, or is what Laravel would send.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::{Value, json};

use super::config::SandboxConfig;
use super::store::ListedLead;

/// Laravel's own number of entries on a page, and the most that may be asked for.
const PER_PAGE: usize = 15;
const MOST_PER_PAGE: usize = 100;

const MONTH_S: i64 = 30 * 24 * 3600;

/// Which calls about existing leads are offered.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum LeadCalls {
    #[default]
    Both,
    List,
    None,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum ListForm {
    /// Laravel's pages: `data`, and `current_page`, `last_page`, `next_page_url` beside it.
    #[default]
    Pages,
    /// Those of Laravel's resources: `data`, `links` and `meta`.
    Meta,
    /// All at once in `data`.
    Data,
    /// All at once as an array.
    Bare,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum LeadIds {
    #[default]
    Text,
    Number,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum LeadTimes {
    /// `2026-03-02T09:00:00.123456Z`
    #[default]
    Microseconds,
    /// `2026-03-02T09:00:00Z`
    Seconds,
    /// `2026-03-02 09:00:00`
    Zoneless,
    /// No time at all.
    None,
}

impl LeadIds {
    pub(super) fn json(self, id: u64) -> Value {
        match self {
            LeadIds::Text => json!(id.to_string()),
            LeadIds::Number => json!(id),
        }
    }
}

/// What is asked for.
#[derive(Debug)]
pub(super) struct Query {
    campaign: Option<u64>,
    /// Part of the number, as in Laravel's `like`.
    phone: Option<String>,
    page: usize,
    per_page: usize,
    /// As it was sent, without the page.
    rest: String,
}

impl Query {
    pub(super) fn read(query: &str) -> Query {
        let parts = query.split('&').filter_map(|part| part.split_once('='));
        let find = |name: &str| {
            let found = parts.clone().find(|(key, _)| *key == name);
            found.map(|(_, value)| {
                // As in a form, a bare `+` is a space.
                let value = value.replace('+', " ");
                percent_decode_str(&value).decode_utf8_lossy().into_owned()
            })
        };
        let number = |name| find(name).and_then(|text| text.parse().ok());
        let rest = query.split('&').filter(|part| !part.starts_with("page="));
        Query {
            campaign: find("campaign_id").and_then(|text| text.parse().ok()),
            phone: find("phone_number"),
            page: number("page").unwrap_or(1).max(1),
            per_page: number("per_page")
                .unwrap_or(PER_PAGE)
                .clamp(1, MOST_PER_PAGE),
            rest: rest.collect::<Vec<_>>().join("&"),
        }
    }

    pub(super) fn takes(&self, lead: &ListedLead) -> bool {
        self.campaign
            .is_none_or(|campaign| campaign == lead.campaign)
            && self
                .phone
                .as_ref()
                .is_none_or(|part| lead.phone.contains(part.as_str()))
    }
}

/// A lead as it stands in the list.
pub(super) fn entry(lead: &ListedLead, config: &SandboxConfig, created: SystemTime) -> Value {
    let age_s = match lead.id <= config.old_leads {
        true => MONTH_S,
        false => 0,
    };
    let created = Timestamp::try_from(shifted(
        created,
        config.clock_ahead_s + config.lead_times_ahead_s - age_s,
    ))
    .unwrap_or_default();
    let created = match config.lead_times {
        LeadTimes::Microseconds => created
            .strftime("%Y-%m-%dT%H:%M:%S.%6fZ")
            .to_string()
            .into(),
        LeadTimes::Seconds => created.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into(),
        LeadTimes::Zoneless => created.strftime("%Y-%m-%d %H:%M:%S").to_string().into(),
        LeadTimes::None => Value::Null,
    };
    let phone = match config.hides_numbers {
        true => format!("{}***", &lead.phone[..lead.phone.len() - 3]),
        false if lead.id <= config.national_numbers => format!("0{}", &lead.phone[3..]),
        false => lead.phone.clone(),
    };
    json!({
        "id": config.lead_ids.json(lead.id),
        "campaign_id": lead.campaign,
        "phone_number": phone,
        "status": "created",
        "secondary_contacts": [],
        "created_at": created,
        "updated_at": created,
    })
}

/// The time by a clock that is this many seconds ahead.
pub(super) fn shifted(time: SystemTime, ahead_s: i64) -> SystemTime {
    let ahead = Duration::from_secs(ahead_s.unsigned_abs());
    if ahead_s < 0 {
        time - ahead
    } else {
        time + ahead
    }
}

/// A number for a text, the same in every version.
pub(super) fn digest(text: &str) -> u64 {
    // FNV-1a.
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// One page of the entries that are asked for, and all of them.
pub(super) struct Page<'a> {
    all: &'a [Value],
    shown: &'a [Value],
    number: usize,
    last: usize,
    query: &'a Query,
}

impl<'a> Page<'a> {
    pub(super) fn of(all: &'a [Value], query: &'a Query) -> Page<'a> {
        let mut pages = all.chunks(query.per_page);
        let last = pages.len().max(1);
        Page {
            all,
            shown: pages.nth(query.page - 1).unwrap_or_default(),
            number: query.page,
            last,
            query,
        }
    }

    pub(super) fn body(&self, form: ListForm) -> Value {
        let path = "/api/user/leads";
        let next = (self.number < self.last)
            .then(|| format!("{path}?{}&page={}", self.query.rest, self.number + 1));
        let (number, last) = (self.number, self.last);
        let (per_page, total) = (self.query.per_page, self.all.len());
        match form {
            ListForm::Bare => json!(self.all),
            ListForm::Data => json!({ "data": self.all }),
            ListForm::Pages => json!({
                "current_page": number,
                "data": self.shown,
                "last_page": last,
                "next_page_url": next,
                "path": path,
                "per_page": per_page,
                "total": total,
            }),
            ListForm::Meta => json!({
                "data": self.shown,
                "links": { "next": next },
                "meta": {
                    "current_page": number,
                    "last_page": last,
                    "path": path,
                    "per_page": per_page,
                    "total": total,
                },
            }),
        }
    }
}
