//! The body of an answer, read as far as it can be.
//!
//! Rule: pure. An answer may hold all of the row's variables beside what matters. So fields
//! that mean nothing here are passed over, and the others stay as they came until somebody
//! asks: most answers are of leads that were made, of which hardly more than the id is
//! looked at.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::balance::is_about_balance;
use super::complaints::{Complaint, Complaints, are_complaints, joined, sentences};
use super::presence::{About, Presence, duplicate, presence};
use super::wait::Wait;

/// A body, read as far as it can be.
pub(super) struct Body<'a> {
    json: Option<Object<'a>>,
    /// The value of its field `data`.
    data: Option<Object<'a>>,
    /// A body that is neither JSON nor a page: a sentence, perhaps.
    plain: Option<&'a str>,
    complaints: OnceCell<Complaints>,
}

/// What is longer is no sentence.
const LONGEST_SENTENCE: usize = 1000;

/// The fields that mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Field {
    Id,
    LeadId,
    Data,
    Lead,
    Success,
    Status,
    Message,
    Title,
    Detail,
    Error,
    ErrorCode,
    Errors,
    RetryAfter,
    #[serde(other)]
    Other,
}

/// What an object has in those fields, as it came.
#[derive(Debug, Default)]
struct Object<'a>(Vec<(Field, &'a RawValue)>);

impl<'a> Object<'a> {
    /// The object that this is; nothing where it is anything else.
    fn read(json: &'a str) -> Option<Object<'a>> {
        serde_json::from_str(json).ok()
    }

    /// What the field holds; where it is there twice, the last.
    fn get(&self, field: Field) -> Option<&'a RawValue> {
        let mut last_first = self.0.iter().rev();
        last_first.find(|(name, _)| *name == field).map(|of| of.1)
    }

    fn value(&self, field: Field) -> Option<Value> {
        serde_json::from_str(self.get(field)?.get()).ok()
    }

    /// The object in the field, or first in the list there: one without a field where that is
    /// something else.
    fn object(&self, field: Field) -> Option<Object<'a>> {
        let value = self.get(field)?.get();
        let holder = match items(value) {
            Some(items) => items.first()?.get(),
            None => value,
        };
        Some(Object::read(holder).unwrap_or_default())
    }

    /// The id in the field: a whole number or a text, as it is written.
    fn id(&self, field: Field) -> Option<String> {
        let value = self.get(field)?;
        let digits = value.get().strip_prefix('-').unwrap_or(value.get());
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(value.get().to_owned());
        }
        let text = text(value)?;
        let id = text.trim();
        (!id.is_empty()).then(|| id.to_owned())
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(name) = map.next_key()? {
            match name {
                Field::Other => drop(map.next_value::<IgnoredAny>()?),
                name => fields.push((name, map.next_value()?)),
            }
        }
        Ok(Object(fields))
    }
}

/// The items of a list; nothing where it is anything else.
fn items(json: &str) -> Option<Vec<&RawValue>> {
    serde_json::from_str(json).ok()
}

/// The text that the value is, if it is one.
fn text(value: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    let text: Option<Text<'_>> = serde_json::from_str(value.get()).ok();
    text.map(|Text(text)| text)
}

impl<'a> Body<'a> {
    /// Reads what arrived, as text: what was none in it is replaced.
    pub(super) fn read(text: &'a str) -> Body<'a> {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let json = Object::read(text).or_else(|| match *items(text)? {
            // Some deployments wrap the answer in an array of one.
            [only] => Object::read(only.get()),
            _ => None,
        });
        let data = json.as_ref().and_then(|json| json.object(Field::Data));
        let plain = match json {
            Some(_) => None,
            None => sentence(text),
        };
        Body {
            json,
            data,
            plain,
            complaints: OnceCell::new(),
        }
    }

    /// Whether it is JSON of the kind that answers are.
    pub(super) fn is_object(&self) -> bool {
        self.json.is_some()
    }

    fn field(&self, field: Field) -> Option<&'a RawValue> {
        self.json.as_ref()?.get(field)
    }

    /// The id of the lead, in any of the places where services put it. Beside `data` or `lead`
    /// a mere `id` may be the request's.
    pub(super) fn lead_id(&self) -> Option<String> {
        let in_data = self.data.as_ref().and_then(|data| {
            let own = data.id(Field::Id).or_else(|| data.id(Field::LeadId));
            own.or_else(|| data.object(Field::Lead)?.id(Field::Id))
        });
        in_data.or_else(|| {
            let json = self.json.as_ref()?;
            let lead = json.object(Field::Lead);
            let is_lead = self.data.is_none() && lead.is_none();
            lead.and_then(|lead| lead.id(Field::Id))
                .or_else(|| json.id(Field::LeadId))
                .or_else(|| json.id(Field::Id).filter(|_| is_lead))
        })
    }

    /// What the field `retry_after` says, which also stands within `error` or `data`.
    pub(super) fn retry_after(&self) -> Wait {
        let error = self.field(Field::Error);
        let error = error.and_then(|error| Object::read(error.get()));
        let places = [&self.json, &error, &self.data];
        places
            .into_iter()
            .flatten()
            .filter_map(|place| place.value(Field::RetryAfter))
            .map(|value| Wait::of_field(&value))
            .fold(Wait::Unsaid, Wait::or)
    }

    pub(super) fn denies_success(&self) -> bool {
        let is_false = |field| {
            self.field(field)
                .is_some_and(|value| value.get() == "false")
        };
        is_false(Field::Success) || is_false(Field::Status)
    }

    /// What is to be known of a lead that was made.
    pub(super) fn remark(&self) -> Option<String> {
        let is_blacklisted = |place: &Object<'_>| {
            let status = place.get(Field::Status);
            status.is_some_and(|status| status.get().eq_ignore_ascii_case(r#""blacklisted""#))
        };
        let mut places = [&self.data, &self.json].into_iter().flatten();
        let is_told = places.any(|place| {
            let lead = place.object(Field::Lead);
            is_blacklisted(place) || lead.as_ref().is_some_and(is_blacklisted)
        });
        is_told
            .then(|| "the service lists this number as blacklisted: it will not be called".into())
    }

    /// What it complains about. Read once it is wanted, which is hardly ever.
    fn complaints(&self) -> &Complaints {
        self.complaints.get_or_init(|| {
            let others = [Field::Message, Field::Error, Field::Detail];
            let others = others.into_iter().filter_map(|field| self.field(field));
            let others = others.filter(|value| !value.get().starts_with('"'));
            Complaints::read(self.field(Field::Errors), others)
        })
    }

    /// What a field says in general.
    fn said(&self, field: Field) -> Option<Cow<'a, str>> {
        let value = self.field(field)?;
        text(value).or_else(|| {
            let value = serde_json::from_str(value.get()).ok()?;
            (!are_complaints(&value)).then(|| Cow::Owned(sentences(&value)))
        })
    }

    /// The general sentence: the first that there is, and what it says in detail.
    fn message(&self) -> String {
        let first = |fields: &[Field]| {
            let said = fields.iter().filter_map(|field| self.said(*field));
            let mut said = said.map(|text| text.trim().to_owned());
            said.find(|text| !text.is_empty())
        };
        let heading = first(&[Field::Message, Field::Error, Field::Title]);
        match (heading, first(&[Field::Detail])) {
            (Some(heading), Some(detail)) => with_detail(heading, &detail),
            (Some(text), None) | (None, Some(text)) => text,
            (None, None) => first(&[Field::ErrorCode]).unwrap_or_else(|| {
                let mut general = self.complaints().general.iter().map(String::as_str);
                let general = general.find(|text| !text.is_empty()).or(self.plain);
                general.unwrap_or_default().trim().to_owned()
            }),
        }
    }

    /// Everything that is said in general, in lower case.
    fn general_text(&self) -> String {
        const FIELDS: [Field; 5] = [
            Field::Message,
            Field::Error,
            Field::Title,
            Field::Detail,
            Field::ErrorCode,
        ];
        let mut text = String::new();
        let mut add = |said: &str| {
            text.push_str(said);
            text.push('\n');
        };
        for field in FIELDS {
            self.said(field).into_iter().for_each(|said| add(&said));
        }
        let general = self.complaints().general.iter().map(String::as_str);
        general.chain(self.plain).for_each(add);
        text.to_lowercase()
    }

    /// What is found out about the lead by what is said of it. Where single fields are
    /// complained about, what is said of the others is not about the lead, unless it says so:
    /// another field may have "already been taken" too.
    fn find_out(&self, what: impl Fn(&str, About) -> Option<Presence>) -> Option<Presence> {
        let of_fields = &self.complaints().of_fields;
        if of_fields.is_empty() {
            return what(&self.general_text(), About::Anything);
        }
        let meant = of_fields
            .iter()
            .filter(|complaint| complaint.is_about_number() || complaint.is_about_campaign());
        let places = meant.filter_map(|complaint| {
            let about = if complaint.is_about_number() {
                About::Lead
            } else {
                About::Other
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

    /// Whether the campaign is refused, rather than a lead that another one has.
    pub(super) fn is_about_campaign(&self) -> bool {
        self.names_campaign() && self.presence().is_none()
    }

    fn names_campaign(&self) -> bool {
        let of_fields = &self.complaints().of_fields;
        if !of_fields.is_empty() {
            return of_fields.iter().any(Complaint::is_about_campaign);
        }
        let text = self.general_text();
        let is_about = |words: &[&str]| words.iter().any(|word| text.contains(word));
        is_about(&["campaign", "kampagne"]) && !is_about(&["phone", "number", "telefon", "nummer"])
    }

    /// Whether the account has come to its limit.
    pub(super) fn is_about_balance(&self) -> bool {
        self.complaints().of_fields.is_empty() && is_about_balance(&self.general_text())
    }

    /// What the service said, for people; not masked yet.
    pub(super) fn text(&self, status: u16) -> String {
        let message = self.message();
        let complaints = self.complaints();
        let of_fields = complaints.of_fields.iter().map(|of| of.text.as_str());
        let details = of_fields.chain(complaints.general.iter().map(String::as_str));
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

/// The body as a sentence; nothing where it is a page, or JSON of any kind.
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
