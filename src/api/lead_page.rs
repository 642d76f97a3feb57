//! A page of the list of leads, in any of the forms that services use.
//!
//! Rule: pure. What cannot be read of a lead is left out, never guessed: whose lead it is, and how
//! old it is, decides what is deleted and who is called again.

use jiff::civil::DateTime;
use jiff::fmt::rfc2822;
use jiff::{SignedDuration, Timestamp};
use reqwest::Url;
use serde_json::Value;

use super::list_page::{NextPage, entries};
use crate::lead::CampaignId;
use crate::phone::{NumberKind, PhoneNumber, PhoneRules};

/// A number above this is a time in milliseconds since 1970: as seconds it would be far in the future.
const LEAST_MILLIS: i64 = 100_000_000_000;

/// Any number may end with fewer digits than these.
const FEWEST: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeadPage {
    pub leads: Vec<ListedLead>,
    pub next: Option<Url>,
}

/// A lead in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedLead {
    pub id: String,
    /// `None` if the list does not say it.
    pub campaign: Option<CampaignId>,
    /// Its number, and those that belong to it, as they are listed.
    phones: Vec<String>,
    /// When it was made; `None` if that is not known.
    pub made: Option<CreatedAt>,
}

/// When a lead was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreatedAt {
    /// By the clock of this computer.
    pub at: Timestamp,
    /// As the service says it.
    pub said: Timestamp,
    /// Whether the time has a zone. One without may be hours off.
    pub has_zone: bool,
}

impl CreatedAt {
    pub(crate) fn said(said: Timestamp, has_zone: bool) -> CreatedAt {
        CreatedAt {
            at: said,
            said,
            has_zone,
        }
    }

    /// This time by our clock, which the service's is ahead of by this much.
    pub fn with_clock(self, ahead: SignedDuration) -> CreatedAt {
        CreatedAt {
            at: by_our_clock(self.said, ahead),
            ..self
        }
    }
}

impl ListedLead {
    #[cfg(test)]
    pub(crate) fn made_at(id: &str, at: Timestamp) -> ListedLead {
        ListedLead {
            id: id.to_owned(),
            campaign: None,
            phones: Vec::new(),
            made: Some(CreatedAt::said(at, true)),
        }
    }

    /// Whether this is one of its numbers.
    pub fn has_number(&self, number: PhoneNumber) -> bool {
        self.phones.iter().any(|listed| is_number(listed, number))
    }

    /// Whether one of its numbers is this one, or may be.
    pub fn may_have_number(&self, number: PhoneNumber) -> bool {
        let mut phones = self.phones.iter();
        phones.any(|listed| is_number(listed, number) || may_be_number(listed, number))
    }

    /// Whether the list says which number it has.
    pub fn has_any_number(&self) -> bool {
        !self.phones.is_empty()
    }
}

impl LeadPage {
    /// Reads the page at the address `page`; `None` if it is no list of leads, or if its next page is not
    /// known by a number: without that page, a lead would count as not there. `linked` is the next page as
    /// the head of the answer has it, and `ahead` how far the service's clock is ahead.
    pub fn read(
        json: &Value,
        page: &Url,
        linked: Option<&str>,
        ahead: SignedDuration,
    ) -> Option<LeadPage> {
        let leads = entries(json, "leads")?.iter();
        let next = match NextPage::of(page, json, linked) {
            Some(next) => Some(next.numbered(page)?),
            None => None,
        };
        let leads = leads.filter_map(|lead| read_lead(lead, ahead)).collect();
        Some(LeadPage { leads, next })
    }
}

fn read_lead(lead: &Value, ahead: SignedDuration) -> Option<ListedLead> {
    let id = text(lead.get("id").or(lead.get("lead_id"))?)?;
    let campaign = lead.get("campaign_id").or(lead.pointer("/campaign/id"));
    let others = lead.get("secondary_contacts").and_then(Value::as_array);
    let phones = others.into_iter().flatten().chain([lead]);
    let phones = phones.filter_map(|of| {
        let phone = text(of.get("phone_number").or(of.get("phone"))?)?;
        Some(phone).filter(|phone| !digits(phone).is_empty() && !is_masked(phone))
    });
    let made = lead.get("created_at").and_then(read_time);
    Some(ListedLead {
        id,
        campaign: campaign
            .and_then(text)
            .and_then(|id| id.parse().ok())
            .map(CampaignId),
        phones: phones.collect(),
        made: made.map(|made| made.with_clock(ahead)),
    })
}

/// Whether this is how a number is listed, with its calling code.
fn is_number(listed: &str, number: PhoneNumber) -> bool {
    let is_international = || {
        let region = NumberKind::of(number).country;
        let rules = PhoneRules::default().for_lists();
        let has_extension = listed.contains(|c: char| c.is_alphabetic() || "#*,;".contains(c));
        let begins = listed.starts_with("00") || listed.starts_with('+');
        begins && !has_extension && rules.read(listed, region) == Ok(number)
    };
    digits(listed) == digits(&number.to_string()) || is_international()
}

/// Whether this may be how a number is listed: it ends like it, but its country is not known.
fn may_be_number(listed: &str, number: PhoneNumber) -> bool {
    let digits = digits(listed);
    let end = digits.trim_start_matches('0');
    !listed.starts_with('+') && end.len() >= FEWEST && number.to_string().ends_with(end)
}

/// Whether the service hides digits of a number. One with an extension (`x4`, `ext. 4`, `;ext=4`) shows
/// them all, and is another number than the one without: leads are sent without extensions.
fn is_masked(phone: &str) -> bool {
    let phone = phone.to_ascii_lowercase();
    let hides = |(_, rest): (&str, &str)| rest.contains('x') || digits(rest).is_empty();
    phone.contains(['*', '•', '…']) || phone.split_once('x').is_some_and(hides)
}

/// A time of the service by the clock of this computer. If the other one is ahead or behind, that is
/// known to a second, and the earliest time counts; less than about two seconds count as the same.
fn by_our_clock(time: Timestamp, ahead: SignedDuration) -> Timestamp {
    let doubt = match ahead.is_zero() {
        true => SignedDuration::ZERO,
        false => SignedDuration::from_secs(1),
    };
    time.saturating_sub(ahead + doubt).unwrap_or(time)
}

/// A text or a whole number, as text.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// Reads a time in any form that was seen, or is usual.
fn read_time(value: &Value) -> Option<CreatedAt> {
    if let Some(number) = value.as_i64() {
        let at = match number {
            LEAST_MILLIS.. => Timestamp::from_millisecond(number),
            _ => Timestamp::from_second(number),
        };
        return Some(CreatedAt::said(at.ok()?, true));
    }
    let text = value.as_str()?.trim();
    let in_mail = || rfc2822::parse(text).map(|zoned| zoned.timestamp());
    if let Ok(at) = text.parse().or_else(|_: jiff::Error| in_mail()) {
        return Some(CreatedAt::said(at, true));
    }
    let named = text.strip_suffix(" UTC");
    let at: DateTime = named.unwrap_or(text).parse().ok()?;
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    let has_zone = named.is_some();
    Some(CreatedAt::said(at, has_zone))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn address() -> Url {
        Url::parse("https://a.example/api/user/leads?campaign_id=7&phone_number=%2B447911000001")
            .unwrap()
    }

    fn read(json: &Value) -> LeadPage {
        LeadPage::read(json, &address(), None, SignedDuration::ZERO).unwrap()
    }

    fn number(text: &str) -> PhoneNumber {
        PhoneNumber::from_e164(text).unwrap()
    }

    #[test]
    fn every_form_of_the_list_is_read() {
        let one = json!({ "id": "17", "campaign_id": 7, "phone_number": "+447911000001" });
        let two = json!({ "id": 18, "campaign": { "id": "7" }, "phone_number": "+44 7911 000002" });
        let list = json!([one, two, { "name": "no id" }]);
        for json in [
            list.clone(),
            json!({ "data": list }),
            json!({ "leads": list }),
            json!({ "data": { "data": list } }),
        ] {
            let page = read(&json);
            let ids: Vec<&str> = page.leads.iter().map(|lead| lead.id.as_str()).collect();
            assert_eq!(ids, ["17", "18"], "{json}");
            assert!(
                page.leads
                    .iter()
                    .all(|lead| lead.campaign == Some(CampaignId(7)))
            );
            assert!(page.leads[0].has_number(number("+447911000001")));
            assert!(page.leads[1].has_number(number("+447911000002")));
            assert!(!page.leads[1].has_number(number("+447911000001")));
            assert_eq!(page.next, None);
        }
        for json in [json!({ "message": "no" }), json!({ "data": 1 }), json!("x")] {
            let read = LeadPage::read(&json, &address(), None, SignedDuration::ZERO);
            assert_eq!(read, None);
        }
    }

    #[test]
    fn a_number_is_found_among_the_secondary_contacts() {
        let page = read(&json!([{
            "id": 1,
            "phone_number": "+447911000009",
            "secondary_contacts": [{ "phone_number": "+447911000001", "variables": {} }],
        }]));
        assert!(page.leads[0].has_number(number("+447911000001")));
        assert!(page.leads[0].has_number(number("+447911000009")));
        assert!(!read(&json!([{ "id": 1 }])).leads[0].has_any_number());
    }

    #[test]
    fn a_number_is_known_again_with_its_calling_code_and_may_be_meant_without() {
        let numbers = ["+447911000001", "+12125550123", "+33612345678"].map(number);
        let listed = |text: &str, means: fn(&ListedLead, PhoneNumber) -> bool| {
            let page = read(&json!([{ "id": 1, "phone_number": text }]));
            numbers.map(|number| means(&page.leads[0], number))
        };
        for (text, is, may_be) in [
            ("00447911000001", [true, false, false], [true, false, false]),
            (
                "+44 (0)7911 000001",
                [true, false, false],
                [true, false, false],
            ),
            ("447911000001", [true, false, false], [true, false, false]),
            ("07911 000001", [false; 3], [true, false, false]),
            ("7911000001", [false; 3], [true, false, false]),
            ("(212) 555-0123", [false; 3], [false, true, false]),
            ("06 12 34 56 78", [false; 3], [false, false, true]),
            // The Netherlands.
            ("+31612345678", [false; 3], [false; 3]),
            ("0001", [false; 3], [false; 3]),
        ] {
            assert_eq!(listed(text, ListedLead::has_number), is, "{text}");
            assert_eq!(listed(text, ListedLead::may_have_number), may_be, "{text}");
        }
    }

    #[test]
    fn a_number_with_an_extension_is_another_one_and_a_masked_one_is_none() {
        let listed = |phone: &str| {
            read(&json!([{ "id": 1, "phone_number": phone }]))
                .leads
                .remove(0)
        };
        for phone in [
            "+12025550123x4",
            "+1 202 555 0123 ext. 4",
            "+12025550123;ext=4",
        ] {
            let lead = listed(phone);
            assert!(lead.has_any_number(), "{phone}");
            assert!(!lead.has_number(number("+12025550123")), "{phone}");
        }
        for phone in [
            "+1202*****23",
            "+1202xxxxx23",
            "+1202555012X",
            "+1202…23",
            "•••23",
        ] {
            assert!(!listed(phone).has_any_number(), "{phone}");
        }
    }

    #[test]
    fn a_time_is_read_in_every_form_seen_and_by_our_clock() {
        let at: Timestamp = "2026-03-02T09:00:00.123456Z".parse().unwrap();
        let whole: Timestamp = "2026-03-02T09:00:00Z".parse().unwrap();
        for (said, made, has_zone) in [
            (json!("2026-03-02T09:00:00.123456Z"), at, true),
            (json!("2026-03-02T11:00:00+02:00"), whole, true),
            (json!("2026-03-02 09:00:00 UTC"), whole, true),
            (json!("Mon, 02 Mar 2026 09:00:00 GMT"), whole, true),
            (json!("2026-03-02 09:00:00"), whole, false),
            (json!("2026-03-02T09:00:00"), whole, false),
            (json!(whole.as_second()), whole, true),
            (json!(whole.as_millisecond()), whole, true),
        ] {
            let list = json!([{ "id": 1, "created_at": said }]);
            let ahead = SignedDuration::from_secs(60);
            let page = LeadPage::read(&list, &address(), None, ahead).unwrap();
            let listed = page.leads[0].made.unwrap();
            // Another second, since it is not known better.
            assert_eq!(listed.at, made - SignedDuration::from_secs(61), "{said}");
            assert_eq!((listed.said, listed.has_zone), (made, has_zone), "{said}");
        }
        for said in [json!(null), json!("yesterday"), json!({})] {
            let page = read(&json!([{ "id": 1, "created_at": said }]));
            assert_eq!(page.leads[0].made, None);
        }
    }

    #[test]
    fn the_next_page_keeps_what_was_asked_for_and_one_without_a_higher_number_is_no_end() {
        let read = |said: &str| {
            let json = json!({ "data": [], "next_page_url": said });
            let page = LeadPage::read(&json, &address(), None, SignedDuration::ZERO)?;
            Some(page.next.map(String::from))
        };
        let next =
            "https://a.example/api/user/leads?campaign_id=7&phone_number=%2B447911000001&page=2";
        assert_eq!(
            read("http://other.example/?page=2"),
            Some(Some(next.to_owned()))
        );
        assert_eq!(read(""), Some(None));
        assert_eq!(read("?cursor=eyJpZCI6MTV9"), None);
        assert_eq!(read("?page=1"), None);
    }
}
