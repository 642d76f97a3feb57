//! Reads as much of an answer's body as possible.
//!
//! Rule: pure. Besides the fields that matter here, an answer may echo all variables of the row. So
//! fields stay unparsed until they are needed, and an error inside any other field does no harm.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Deserializer, Value};

use super::complaints::{Complaints, are_complaints, joined, sentences};
use super::sentence::{CAMPAIGN, Presence, duplicate, is_about_balance, presence};
use super::wait;

pub(super) struct Body<'a> {
    /// The body's object. It may also be the only item of a list.
    json: Option<Object<'a>>,
    /// The object in its field `data`.
    data: Option<Object<'a>>,
    /// A body that is neither JSON nor an HTML page: perhaps a sentence.
    plain: Option<&'a str>,
    complaints: Complaints,
}

const LONGEST_SENTENCE: usize = 1000;

/// Fields with a general sentence, the one that says most first.
const HEADINGS: [&str; 4] = ["message", "msg", "error", "title"];
const DETAIL: &str = "detail";
const ERROR_CODE: &str = "error_code";

/// Fields that say whether it went well, whatever they are in.
const FLAGS: [&str; 2] = ["success", "ok"];

/// Fields that may say how it went; in `data` they may be the lead's own.
const STATUSES: [&str; 4] = ["status", "code", "status_code", "statusCode"];

/// Fields for errors.
const ERRORS: [&str; 3] = ["error", "errors", ERROR_CODE];

const FAILURES: [&str; 10] = [
    "false", "no", "error", "fail", "failed", "failure", "rejected", "refused", "denied", "invalid",
];

/// What a field for errors says if there is none.
const NO_ERRORS: [&str; 8] = ["", "0", "false", "no", "none", "null", "ok", "success"];

/// The unparsed fields of an object. If a name occurs twice, the last one counts.
#[derive(Default, Deserialize)]
struct Object<'a>(#[serde(borrow)] BTreeMap<Name<'a>, &'a RawValue>);

/// A field's name, copied only if it has escapes.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl Borrow<str> for Name<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl<'a> Object<'a> {
    fn read(json: &'a str) -> Option<Object<'a>> {
        serde_json::from_str(json).ok()
    }

    fn get(&self, field: &str) -> Option<&'a RawValue> {
        self.0.get(field).copied()
    }

    /// The object in the field, or the first one of a list in the field. If the field holds
    /// something else, the result is an object without fields.
    fn object(&self, field: &str) -> Option<Object<'a>> {
        let value = self.get(field)?.get();
        let holder = match items(value) {
            Some(items) => items.first()?.get(),
            None => value,
        };
        Some(Object::read(holder).unwrap_or_default())
    }

    /// The id in the field: a whole number or a text, exactly as written.
    fn id(&self, field: &str) -> Option<String> {
        let raw = self.get(field)?;
        let digits = raw.get().strip_prefix('-').unwrap_or(raw.get());
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(raw.get().to_owned());
        }
        let id = value(raw)?.as_str()?.trim().to_owned();
        (!id.is_empty()).then_some(id)
    }

    fn is(&self, field: &str, json: &str) -> bool {
        let value = self.get(field);
        value.is_some_and(|value| value.get().eq_ignore_ascii_case(json))
    }

    /// Whether a flag, a field for errors or, `with_status`, one of the statuses says that the request
    /// failed.
    fn denies(&self, with_status: bool) -> bool {
        self.0.iter().any(|(Name(field), raw)| {
            let field: &str = field;
            let is_outcome = FLAGS.contains(&field) || with_status && STATUSES.contains(&field);
            if !is_outcome && !ERRORS.contains(&field) {
                return false;
            }
            value(raw).is_some_and(|value| match is_outcome {
                true => is_failure(field, &value),
                false => is_error(&value),
            })
        })
    }
}

fn is_failure(field: &str, value: &Value) -> bool {
    let number = match value {
        Value::Bool(is_good) => return !is_good,
        Value::Number(number) => number.as_i64(),
        Value::String(text) => {
            let text = text.trim().to_lowercase();
            if FAILURES.contains(&text.as_str()) {
                return true;
            }
            text.parse().ok()
        }
        _ => None,
    };
    // A status is one of HTTP: to some services 0 and 20000 are successes.
    let failures = if FLAGS.contains(&field) {
        0..1
    } else {
        400..1000
    };
    number.is_some_and(|number| failures.contains(&number))
}

fn is_error(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_error) => *is_error,
        Value::Number(number) => number.as_i64() != Some(0),
        Value::String(text) => !NO_ERRORS.contains(&text.trim().to_lowercase().as_str()),
        Value::Array(items) => items.iter().any(is_error),
        Value::Object(fields) => fields.values().any(is_error),
    }
}

/// The items of a JSON list; `None` if `json` is not a list. Most are not, and serde's error about
/// that would cost more than reading the list.
fn items(json: &str) -> Option<Vec<&RawValue>> {
    let is_list = json.trim_start().starts_with('[');
    is_list.then(|| serde_json::from_str(json).ok())?
}

fn value(raw: &RawValue) -> Option<Value> {
    serde_json::from_str(raw.get()).ok()
}

/// Where an object with fields begins, or the list whose first item it is. A brace alone may be
/// one of CSS or of code.
fn beginning(text: &str) -> Option<usize> {
    let mut braces = text.match_indices('{').map(|(at, _)| at);
    let object = braces.find(|at| text[at + 1..].trim_start().starts_with('"'))?;
    let before = text[..object].trim_end();
    let list = before.ends_with('[').then(|| before.len() - 1);
    Some(list.unwrap_or(object))
}

/// Whether what follows is inside a tag or a script of a page: then it is part of the page, no answer.
fn is_in_markup(before: &str) -> bool {
    let before = before.to_ascii_lowercase();
    before.rfind('<') > before.rfind('>') || before.rfind("<script") > before.rfind("</script")
}

impl<'a> Body<'a> {
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
        // Neither an HTML page nor JSON.
        let plain = text.trim();
        let is_sentence =
            plain.len() <= LONGEST_SENTENCE && !plain.starts_with(['<', '{', '[', '"']);
        Body {
            complaints,
            data: json.as_ref().and_then(|json| json.object("data")),
            plain: (json.is_none() && is_sentence).then_some(plain),
            json,
        }
    }

    /// Reads the body of a 2xx, where an answer with an id may also stand in other text.
    pub(super) fn of_success(text: &'a str) -> Body<'a> {
        let body = Body::read(text);
        if body.json.is_some() {
            return body;
        }
        Body::within(text).unwrap_or(body)
    }

    /// The first whole answer with an id in a text that is no JSON: after warnings of PHP, for
    /// example, or before a line of a log. Anything broken ends the search: an object in it would
    /// be a part of it, and its id not the lead's. This also keeps the work within bounds.
    fn within(text: &'a str) -> Option<Body<'a>> {
        if serde_json::from_str::<IgnoredAny>(text).is_ok() {
            return None;
        }
        let mut from = 0;
        loop {
            let at = from + beginning(&text[from..])?;
            let mut values = Deserializer::from_str(&text[at..]).into_iter::<&RawValue>();
            let body = Body::read(values.next()?.ok()?.get());
            if body.lead_id().is_some() {
                return (!is_in_markup(&text[..at])).then_some(body);
            }
            if body.denies_success() {
                return None;
            }
            from = at + values.byte_offset();
        }
    }

    /// Whether the body is a JSON object, as answers of the service are.
    pub(super) fn is_object(&self) -> bool {
        self.json.is_some()
    }

    /// The lead's id, from any of the places where services put it. If there is a field `data` or
    /// `lead`, a top-level `id` may be the request's.
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
    pub(super) fn retry_after(&self) -> Option<Duration> {
        let error = self.json.as_ref().and_then(|json| json.object("error"));
        [&self.json, &error, &self.data]
            .into_iter()
            .flatten()
            .filter_map(|place| value(place.get("retry_after")?))
            .find_map(|value| wait::of_field(&value))
    }

    /// Whether the body says that the request failed, regardless of the status.
    pub(super) fn denies_success(&self) -> bool {
        let (json, data) = (self.json.as_ref(), self.data.as_ref());
        json.is_some_and(|json| json.denies(true)) || data.is_some_and(|data| data.denies(false))
    }

    /// What the user should know about a lead that was created.
    pub(super) fn remark(&self) -> Option<String> {
        let is_blacklisted = |place: &Object<'_>| place.is("status", r#""blacklisted""#);
        let mut places = [&self.data, &self.json].into_iter().flatten();
        let has_it = places.any(|place| {
            let lead = place.object("lead");
            is_blacklisted(place) || lead.as_ref().is_some_and(is_blacklisted)
        });
        has_it.then(|| "the service lists this number as blacklisted: it will not be called".into())
    }

    /// The sentences in `fields` that are not about single fields of the request.
    fn general(&self, fields: &[&str]) -> impl Iterator<Item = String> {
        // Unless it holds the refusal, `data` is the lead.
        let data = self.data.iter().filter(move |_| self.denies_success());
        let places = self.json.iter().chain(data);
        let fields =
            places.flat_map(move |place| fields.iter().filter_map(move |field| place.get(field)));
        let values = fields.filter_map(value);
        let values = values.filter(|value| !are_complaints(value));
        values
            .map(|value| sentences(&value))
            .filter(|text| !text.is_empty())
    }

    /// All general sentences, in lower case.
    fn general_text(&self) -> String {
        let mut texts: Vec<String> = self.general(&HEADINGS).collect();
        texts.extend(self.general(&[DETAIL, ERROR_CODE]));
        texts.extend(self.complaints.general.iter().cloned());
        texts.extend(self.plain.map(str::to_owned));
        texts.join("\n").to_lowercase()
    }

    /// Applies `what` to the sentences about the lead. If the service complains about single
    /// fields, only the sentences on fields of the lead or the campaign are used: another field may
    /// have "already been taken" too.
    fn find_out(&self, what: impl Fn(&str, &str) -> Option<Presence>) -> Option<Presence> {
        let of_fields = &self.complaints.of_fields;
        if of_fields.is_empty() {
            return what(&self.general_text(), "");
        }
        let said = of_fields.iter();
        said.filter_map(|said| what(&said.text.to_lowercase(), said.about()?))
            .min()
    }

    /// Whether the body says that the lead exists already, and where.
    pub(super) fn presence(&self) -> Option<Presence> {
        self.find_out(presence)
    }

    /// Like [`presence`](Self::presence), but a text that only says "duplicate" counts too.
    pub(super) fn duplicate(&self) -> Option<Presence> {
        self.find_out(|text, about| presence(text, about).or_else(|| duplicate(text, about)))
    }

    /// Whether the campaign is refused. A lead that exists in another campaign does not count.
    pub(super) fn is_about_campaign(&self) -> bool {
        let of_fields = &self.complaints.of_fields;
        let names_campaign = if of_fields.is_empty() {
            let text = self.general_text();
            let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
            has(&["campaign", "kampagne"]) && !has(&["phone", "number", "telefon", "nummer"])
        } else {
            let mut said = of_fields.iter();
            said.any(|said| said.about() == Some(CAMPAIGN))
        };
        names_campaign && self.presence().is_none()
    }

    /// Whether the account has reached a limit.
    pub(super) fn is_about_balance(&self) -> bool {
        self.complaints.of_fields.is_empty() && is_about_balance(&self.general_text())
    }

    /// What the service said, for people: first the general sentence, then the
    /// details. Tokens are not masked yet.
    pub(super) fn text(&self, status: u16) -> String {
        let first = |fields: &[&str]| self.general(fields).next().unwrap_or_default();
        let (heading, detail) = (first(&HEADINGS), first(&[DETAIL]));
        let of_fields = self.complaints.of_fields.iter().map(|of| of.text.as_str());
        let details = of_fields.chain(self.complaints.general.iter().map(String::as_str));
        let details = [detail.as_str()].into_iter().chain(details);
        let details = joined(details.filter(|text| !heading.contains(text)), "; ");
        let said = joined([heading.as_str(), &details], ": ");
        let rest = || {
            self.general(&[ERROR_CODE])
                .next()
                .or(self.plain.map(str::to_owned))
        };
        match Some(said).filter(|said| !said.is_empty()).or_else(rest) {
            Some(said) if !said.is_empty() => format!("HTTP {status}: {said}"),
            _ => format!("HTTP {status}"),
        }
    }
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
