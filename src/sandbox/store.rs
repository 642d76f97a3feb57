//! The leads created, and which numbers each campaign has seen.
//!
//! Rule: compact. The sandbox may share a process with an import of millions of
//! rows, so, without variables, a lead takes 24 bytes and a number in a campaign 16.

use std::collections::{BTreeMap, HashMap};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// The body of a request for a lead.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewLead {
    /// The digits after the `+`. The first is 1 to 9, so an integer keeps them all.
    #[serde(rename = "phone_number", deserialize_with = "e164")]
    pub(super) phone: u64,
    #[serde(rename = "campaign_id")]
    pub(super) campaign: u64,
    pub(super) variables: Option<Variables>,
    #[serde(rename = "allow_dupplicate")]
    pub(super) allow_duplicate: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Variables {
    Array([BTreeMap<String, String>; 1]),
    Object(BTreeMap<String, String>),
}

impl Variables {
    pub(super) fn texts(&self) -> &BTreeMap<String, String> {
        match self {
            Variables::Array([texts]) | Variables::Object(texts) => texts,
        }
    }
}

fn e164<'a, D: Deserializer<'a>>(from: D) -> Result<u64, D::Error> {
    let digits = phone_digits(&String::deserialize(from)?);
    digits.ok_or_else(|| D::Error::custom("the phone_number must be in E.164 format"))
}

/// The digits of an E.164 number: `+`, a first digit of 1 to 9, 7 to 15 digits in all.
pub(super) fn phone_digits(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('+')?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    if !plain || digits.starts_with('0') || !(7..=15).contains(&digits.len()) {
        return None;
    }
    digits.parse().ok()
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredLead {
    pub id: String,
    pub campaign_id: u64,
    pub phone_number: String,
    /// The variables; empty if none were sent or if they are not kept.
    pub variables: BTreeMap<String, String>,
    /// The value in the request.
    pub allow_dupplicate: bool,
    /// The attempt that created it, counted from 1 for each number in a campaign.
    pub attempt: u16,
}

struct Lead {
    phone: u64,
    campaign: u64,
    attempt: u16,
    allow_duplicate: bool,
}

#[derive(Default)]
struct Seen {
    attempts: u16,
    stored: bool,
}

pub(super) struct Store {
    leads: Vec<Lead>,
    /// One JSON object for each lead, with the same indexes as `leads`;
    /// `None` if variables are not kept.
    variables: Option<Vec<Option<Box<str>>>>,
    /// The numbers that were requested, for each campaign.
    seen: BTreeMap<u64, HashMap<u64, Seen>>,
}

impl Store {
    pub(super) fn new(keeps_variables: bool) -> Self {
        Self {
            leads: Vec::new(),
            variables: keeps_variables.then(Vec::new),
            seen: BTreeMap::new(),
        }
    }

    fn seen(&mut self, lead: &NewLead) -> &mut Seen {
        let numbers = self.seen.entry(lead.campaign).or_default();
        numbers.entry(lead.phone).or_default()
    }

    /// Counts an attempt for this number in this campaign. The first attempt is 1.
    pub(super) fn next_attempt(&mut self, lead: &NewLead) -> u16 {
        let seen = self.seen(lead);
        seen.attempts = seen.attempts.saturating_add(1);
        seen.attempts
    }

    /// Stores the lead and returns its id; `None` if it would be a duplicate that is not allowed.
    pub(super) fn insert(
        &mut self,
        lead: &NewLead,
        attempt: u16,
        takes_duplicates: bool,
    ) -> Option<u64> {
        let seen = self.seen(lead);
        if seen.stored && !lead.allow_duplicate && !takes_duplicates {
            return None;
        }
        seen.stored = true;
        self.leads.push(Lead {
            phone: lead.phone,
            campaign: lead.campaign,
            attempt,
            allow_duplicate: lead.allow_duplicate,
        });
        if let Some(kept) = &mut self.variables {
            let texts = lead.variables.as_ref().map(Variables::texts);
            kept.push(texts.and_then(|v| serde_json::to_string(v).ok().map(Into::into)));
        }
        Some(self.leads.len() as u64)
    }

    /// The leads in the order of creation.
    pub(super) fn leads(&self) -> impl Iterator<Item = StoredLead> {
        self.leads.iter().enumerate().map(|(index, lead)| {
            let kept = self.variables.as_ref().and_then(|all| all.get(index));
            let text = kept.and_then(Option::as_deref);
            StoredLead {
                id: (index + 1).to_string(),
                campaign_id: lead.campaign,
                phone_number: format!("+{}", lead.phone),
                variables: text
                    .and_then(|text| serde_json::from_str(text).ok())
                    .unwrap_or_default(),
                allow_dupplicate: lead.allow_duplicate,
                attempt: lead.attempt,
            }
        })
    }
}
