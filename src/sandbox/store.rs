//! The leads of an account, and which numbers each campaign has seen.
//!
//! Rule: compact. The sandbox may share a process with an import of millions of
//! rows, so, without details, a lead takes 24 bytes and a number in a campaign 16.

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
    is_deleted: bool,
}

#[derive(Default)]
struct Seen {
    attempts: u16,
    /// How many of its leads the campaign has.
    leads: u16,
}

struct Details {
    /// The variables as one JSON object.
    variables: Option<Box<str>>,
    /// In microseconds from the start.
    created_us: u64,
}

/// A lead as the service lists it.
pub(super) struct ListedLead {
    pub(super) id: u64,
    pub(super) campaign: u64,
    pub(super) phone: String,
    pub(super) created_us: u64,
}

pub(super) struct Store {
    leads: Vec<Lead>,
    /// With the same indexes as `leads`; `None` if details are not kept.
    details: Option<Vec<Details>>,
    /// The numbers that were requested, for each campaign.
    seen: BTreeMap<u64, HashMap<u64, Seen>>,
}

impl Store {
    pub(super) fn new(keeps_details: bool) -> Self {
        Self {
            leads: Vec::new(),
            details: keeps_details.then(Vec::new),
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
        now: u64,
    ) -> Option<u64> {
        let seen = self.seen(lead);
        if seen.leads > 0 && !lead.allow_duplicate && !takes_duplicates {
            return None;
        }
        seen.leads = seen.leads.saturating_add(1);
        self.leads.push(Lead {
            phone: lead.phone,
            campaign: lead.campaign,
            attempt,
            allow_duplicate: lead.allow_duplicate,
            is_deleted: false,
        });
        if let Some(kept) = &mut self.details {
            let texts = lead.variables.as_ref().map(Variables::texts);
            kept.push(Details {
                variables: texts.and_then(|v| serde_json::to_string(v).ok().map(Into::into)),
                created_us: now,
            });
        }
        Some(self.leads.len() as u64)
    }

    /// The campaign and the number of a lead that is there.
    pub(super) fn lead(&self, id: u64) -> Option<(u64, u64)> {
        let lead = self.leads.get(usize::try_from(id.checked_sub(1)?).ok()?)?;
        (!lead.is_deleted).then_some((lead.campaign, lead.phone))
    }

    /// Deletes a lead that is there.
    pub(super) fn delete(&mut self, id: u64) {
        let Some((campaign, phone)) = self.lead(id) else {
            return;
        };
        self.leads[id as usize - 1].is_deleted = true;
        let numbers = self.seen.entry(campaign).or_default();
        let seen = numbers.entry(phone).or_default();
        seen.leads = seen.leads.saturating_sub(1);
    }

    /// The leads that are there, in the order of creation.
    pub(super) fn listed(&self) -> impl Iterator<Item = ListedLead> {
        let leads = self.leads.iter().enumerate();
        leads
            .filter(|(_, lead)| !lead.is_deleted)
            .map(|(index, lead)| {
                let kept = self.details.as_ref().and_then(|all| all.get(index));
                ListedLead {
                    id: index as u64 + 1,
                    campaign: lead.campaign,
                    phone: format!("+{}", lead.phone),
                    created_us: kept.map_or(0, |details| details.created_us),
                }
            })
    }

    /// The leads that are there, in the order of creation.
    pub(super) fn leads(&self) -> impl Iterator<Item = StoredLead> {
        let leads = self.leads.iter().enumerate();
        let leads = leads.filter(|(_, lead)| !lead.is_deleted);
        leads.map(|(index, lead)| {
            let kept = self.details.as_ref().and_then(|all| all.get(index));
            let text = kept.and_then(|details| details.variables.as_deref());
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
