//! Scripted answers. With these a test can play any exchange.
//!
//! Rule: a rule only sees requests that a strict service would accept. A
//! field that is not given matches everything.

use std::collections::BTreeMap;

use anyhow::ensure;
use axum::http::{HeaderName, HeaderValue};
use serde::Deserialize;

use super::store::{NewLead, phone_digits};

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// Only this number (E.164).
    pub phone_number: Option<String>,
    pub campaign_id: Option<u64>,
    /// Only these attempts, counted from 1 for each number in a campaign.
    pub attempts: Option<Vec<u16>>,
    pub reply: ScriptedReply,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptedReply {
    /// 200 if not given.
    pub status: Option<u16>,
    /// `Content-Type` is `application/json` unless it is given here.
    pub headers: BTreeMap<String, String>,
    /// Each `{id}` in the body is replaced with the id of the lead that was just stored.
    pub body: String,
    /// Store the lead, unless the campaign has it and duplicates are not allowed.
    pub store: bool,
    /// Milliseconds until the answer, in addition to the latency.
    pub delay_ms: u64,
    pub then: Then,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    #[default]
    Answer,
    /// Close the connection without an answer.
    Drop,
    /// Send nothing, and keep the connection open.
    Hang,
    /// After the delay, as if there were no rule.
    Usual,
}

impl Rule {
    pub(super) fn matches(&self, lead: &NewLead, attempt: u16) -> bool {
        let phone = self.phone_number.as_deref();
        phone.is_none_or(|text| phone_digits(text) == Some(lead.phone))
            && self.campaign_id.is_none_or(|id| id == lead.campaign)
            && self
                .attempts
                .as_ref()
                .is_none_or(|list| list.contains(&attempt))
    }

    /// Refuses mistakes: a mistyped rule would never match, or would answer something else.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let phone = self.phone_number.as_deref();
        ensure!(
            phone.is_none_or(|text| phone_digits(text).is_some()),
            "a rule's `phone_number` must be E.164, such as +14155550123"
        );
        let status = self.reply.status.unwrap_or(200);
        ensure!(
            (200..=599).contains(&status),
            "a rule's `status` must be between 200 and 599 (not {status})"
        );
        for (name, value) in &self.reply.headers {
            let is_valid =
                name.parse::<HeaderName>().is_ok() && value.parse::<HeaderValue>().is_ok();
            ensure!(is_valid, "a rule's header `{name}` is not a valid one");
        }
        Ok(())
    }
}
