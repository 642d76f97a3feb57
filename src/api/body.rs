//! The body of an answer, read as far as it can be.
//!
//! Rule: pure. An answer may hold all of the row's variables beside what matters. So its fields
//! stay as they came until they are needed, and what is wrong inside one of the others does
//! not matter.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::complaints::{Complaint, Complaints, are_complaints, joined, sentences};
use super::sentence::{About, Presence, duplicate, is_about_balance, presence};
use super::wait::Wait;

pub(super) struct Body<'a> {
    /// The object that it is, or that it holds as the only item of a list.
    json: Option<Object<'a>>,
    /// The value of its field `data`.
    data: Option<Object<'a>>,
    /// A body that is neither JSON nor a page: a sentence, perhaps.
    plain: Option<&'a str>,
    complaints: Complaints,
}

const LONGEST_SENTENCE: usize = 1000;

/// Fields with a general sentence, the most telling first.
const HEADINGS: [&str; 3] = ["message", "error", "title"];
const DETAIL: &str = "detail";
const ERROR_CODE: &str = "error_code";

/// The fields of an object, each as it came; of two with one name the last.
#[derive(Default, Deserialize)]
struct Object<'a>(#[serde(borrow)] BTreeMap<String, &'a RawValue>);

impl<'a> Object<'a> {
    fn read(json: &'a str) -> Option<Object<'a>> {
        serde_json::from_str(json).ok()
    }

    fn get(&self, field: &str) -> Option<&'a RawValue> {
        self.0.get(field).copied()
    }

    /// The object in the field, or first in the list there: one without a field where the
    /// field holds something else.
    fn object(&self, field: &str) -> Option<Object<'a>> {
        let value = self.get(field)?.get();
        let holder = match items(value) {
            Some(items) => items.first()?.get(),
            None => value,
        };
        Some(Object::read(holder).unwrap_or_default())
    }

    /// The id in the field: a whole number or a text, as it is written.
    fn id(&self, field: &str) -> Option<String> {
        let value = self.get(field)?;
        let digits = value.get().strip_prefix('-').unwrap_or(value.get());
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(value.get().to_owned());
        }
        let text = text(value)?;
        let id = text.trim();
        (!id.is_empty()).then(|| id.to_owned())
    }

    fn is(&self, field: &str, json: &str) -> bool {
        let value = self.get(field);
        value.is_some_and(|value| value.get().eq_ignore_ascii_case(json))
    }
}

fn items(json: &str) -> Option<Vec<&RawValue>> {
    serde_json::from_str(json).ok()
}

fn text(value: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    let text: Option<Text<'_>> = serde_json::from_str(value.get()).ok();
    text.map(|Text(text)| text)
}

fn value(value: &RawValue) -> Option<Value> {
    serde_json::from_str(value.get()).ok()
}

impl<'a> Body<'a> {
    /// Reads what arrived, as text: bytes that are not text are replaced.
    pub(super) fn read(text: &'a str) -> Body<'a> {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let json = Object::read(text).or_else(|| match *items(text)? {
            // Some deployments wrap the answer in an array of one.
            [only] => Object::read(only.get()),
            _ => None,
        });
        let field = |field| json.as_ref().and_then(|json| json.get(field));
        let others = ["message", "error", DETAIL].into_iter().filter_map(field);
        let others = others.filter(|value| !value.get().starts_with('"'));
        let complaints =
            Complaints::read(field("errors").and_then(value), others.filter_map(value));
        Body {
            complaints,
            data: json.as_ref().and_then(|json| json.object("data")),
            plain: if json.is_none() { sentence(text) } else { None },
            json,
        }
    }

    pub(super) fn is_object(&self) -> bool {
        self.json.is_some()
    }

    fn field(&self, field: &str) -> Option<&'a RawValue> {
        self.json.as_ref()?.get(field)
    }

    /// The id of the lead, in any of the places where services put it. Beside `data` or `lead`
    /// a mere `id` may be the request's.
    pub(super) fn lead_id(&self) -> Option<String> {
        let in_data = self.data.as_ref().and_then(|data| {
            let own = data.id("id").or_else(|| data.id("lead_id"));
            own.or_else(|| data.object("lead")?.id("id"))
        });
        in_data.or_else(|| {
            let json = self.json.as_ref()?;
            let lead = json.object("lead");
            let is_lead = self.data.is_none() && lead.is_none();
            lead.and_then(|lead| lead.id("id"))
                .or_else(|| json.id("lead_id"))
                .or_else(|| json.id("id").filter(|_| is_lead))
        })
    }

    /// The wait in the field `retry_after`, which may also be inside `error` or `data`.
    pub(super) fn retry_after(&self) -> Wait {
        let error = self.field("error");
        let error = error.and_then(|error| Object::read(error.get()));
        let places = [&self.json, &error, &self.data];
        places
            .into_iter()
            .flatten()
            .filter_map(|place| value(place.get("retry_after")?))
            .map(|value| Wait::of_field(&value))
            .fold(Wait::Unsaid, Wait::or)
    }

    /// Whether it says that the request failed, whatever its status.
    pub(super) fn denies_success(&self) -> bool {
        let json = self.json.as_ref();
        json.is_some_and(|json| json.is("success", "false") || json.is("status", "false"))
    }

    /// What the user should know about a lead that was made.
    pub(super) fn remark(&self) -> Option<String> {
        let is_blacklisted = |place: &Object<'_>| place.is("status", r#""blacklisted""#);
        let mut places = [&self.data, &self.json].into_iter().flatten();
        let has_it = places.any(|place| {
            let lead = place.object("lead");
            is_blacklisted(place) || lead.as_ref().is_some_and(is_blacklisted)
        });
        has_it.then(|| "the service lists this number as blacklisted: it will not be called".into())
    }

    /// The sentences in a field that is about nothing in particular.
    fn general(&self, field: &str) -> Option<Cow<'a, str>> {
        let raw = self.field(field)?;
        text(raw).or_else(|| {
            let value = value(raw)?;
            (!are_complaints(&value)).then(|| Cow::Owned(sentences(&value)))
        })
    }

    /// The general sentence: the first that there is, and what it says in detail.
    fn message(&self) -> String {
        let first = |fields: &[&str]| {
            let texts = fields.iter().filter_map(|field| self.general(field));
            let mut texts = texts.map(|text| text.trim().to_owned());
            texts.find(|text| !text.is_empty())
        };
        match (first(&HEADINGS), first(&[DETAIL])) {
            (Some(heading), Some(detail)) => with_detail(heading, &detail),
            (Some(text), None) | (None, Some(text)) => text,
            (None, None) => first(&[ERROR_CODE]).unwrap_or_else(|| {
                let mut general = self.complaints.general.iter().map(String::as_str);
                let general = general.find(|text| !text.is_empty()).or(self.plain);
                general.unwrap_or_default().trim().to_owned()
            }),
        }
    }

    /// All general sentences, in lower case.
    fn general_text(&self) -> String {
        let fields = HEADINGS.into_iter().chain([DETAIL, ERROR_CODE]);
        let in_fields = fields.filter_map(|field| self.general(field));
        let complaints = self.complaints.general.iter().map(String::as_str);
        let others = complaints.chain(self.plain).map(Cow::Borrowed);
        let texts: Vec<Cow<'_, str>> = in_fields.chain(others).collect();
        texts.join("\n").to_lowercase()
    }

    /// Whether sentences about the lead say that it exists. Where single fields are complained about,
    /// those on the others are not about the lead, unless they say so: another field may have
    /// "already been taken" too.
    fn find_out(&self, what: impl Fn(&str, About) -> Option<Presence>) -> Option<Presence> {
        let of_fields = &self.complaints.of_fields;
        if of_fields.is_empty() {
            return what(&self.general_text(), About::Anything);
        }
        let places = of_fields.iter().filter_map(|complaint| {
            let about = if complaint.is_about_number() {
                About::Lead
            } else if complaint.is_about_campaign() {
                About::Other
            } else {
                return None;
            };
            what(&complaint.text.to_lowercase(), about)
        });
        places.min()
    }

    /// Whether it says that the lead is there already, and where.
    pub(super) fn presence(&self) -> Option<Presence> {
        self.find_out(presence)
    }

    /// The same, or just that it is a duplicate.
    pub(super) fn duplicate(&self) -> Option<Presence> {
        self.find_out(|text, about| presence(text, about).or_else(|| duplicate(text, about)))
    }

    /// Whether the campaign is refused, rather than a lead that is in another one.
    pub(super) fn is_about_campaign(&self) -> bool {
        let of_fields = &self.complaints.of_fields;
        let names_campaign = if of_fields.is_empty() {
            let text = self.general_text();
            let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
            has(&["campaign", "kampagne"]) && !has(&["phone", "number", "telefon", "nummer"])
        } else {
            of_fields.iter().any(Complaint::is_about_campaign)
        };
        names_campaign && self.presence().is_none()
    }

    /// Whether the account has reached a limit.
    pub(super) fn is_about_balance(&self) -> bool {
        self.complaints.of_fields.is_empty() && is_about_balance(&self.general_text())
    }

    /// What the service said, for people; not masked yet.
    pub(super) fn text(&self, status: u16) -> String {
        let message = self.message();
        let of_fields = self.complaints.of_fields.iter().map(|of| of.text.as_str());
        let details = of_fields.chain(self.complaints.general.iter().map(String::as_str));
        let details = joined(details.filter(|text| !message.contains(text)), "; ");
        match joined([message.as_str(), &details].into_iter(), ": ").as_str() {
            "" => format!("HTTP {status}"),
            said => format!("HTTP {status}: {said}"),
        }
    }
}

/// What is wrong in general, and then in detail (RFC 9457: `title`, `detail`).
fn with_detail(heading: String, detail: &str) -> String {
    if heading.contains(detail) {
        heading
    } else if detail.contains(heading.as_str()) {
        detail.to_owned()
    } else {
        joined([heading.as_str(), detail].into_iter(), ": ")
    }
}

/// The body as a sentence; none where it is a page, or JSON of any kind.
fn sentence(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_sentence = text.len() <= LONGEST_SENTENCE
        && !text.starts_with(['<', '{', '['])
        && serde_json::from_str::<IgnoredAny>(text).is_err();
    is_sentence.then_some(text)
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
