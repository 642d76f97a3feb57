//! The body of an answer, read as far as it can be.
//!
//! Rule: pure. An answer may hold all of the row's variables beside what matters. So fields
//! that mean nothing here are passed over, and the others stay as they came until somebody
//! asks: most answers are of leads that were made, of which hardly more than the id is
//! looked at.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::wait::Wait;

/// A body, read as far as it can be.
pub(super) struct Body<'a> {
    json: Option<Object<'a>>,
    /// What stands in its field `data`, or first in the list there: without a field where
    /// that is no object.
    data: Option<Object<'a>>,
    /// A body that is neither JSON nor a page: a sentence, perhaps.
    plain: Option<&'a str>,
}

/// What is longer is no sentence.
const LONGEST_SENTENCE: usize = 1000;

/// The fields that mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Field {
    Id,
    Data,
    Success,
    Status,
    Message,
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

    fn text(&self, field: Field) -> Option<Cow<'a, str>> {
        text(self.get(field)?)
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
        let data = json.as_ref().and_then(|json| {
            let data = json.get(Field::Data)?.get();
            let holder = match items(data) {
                Some(items) => items.first()?.get(),
                None => data,
            };
            Some(Object::read(holder).unwrap_or_default())
        });
        let plain = match json {
            Some(_) => None,
            None => sentence(text),
        };
        Body { json, data, plain }
    }

    /// Whether it is JSON of the kind that answers are.
    pub(super) fn is_object(&self) -> bool {
        self.json.is_some()
    }

    fn field(&self, field: Field) -> Option<&'a RawValue> {
        self.json.as_ref()?.get(field)
    }

    pub(super) fn lead_id(&self) -> Option<String> {
        let id = self.data.as_ref().or(self.json.as_ref())?.get(Field::Id)?;
        if id
            .get()
            .starts_with(|c: char| c == '-' || c.is_ascii_digit())
        {
            return Some(id.get().to_owned());
        }
        let text = text(id)?;
        let id = text.trim();
        (!id.is_empty()).then(|| id.to_owned())
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
        let status = self.data.as_ref()?.text(Field::Status)?;
        status
            .eq_ignore_ascii_case("blacklisted")
            .then(|| "the service lists this number as blacklisted: it will not be called".into())
    }

    /// The fields that a validation error complains about, with its sentences.
    fn errors(&self) -> Vec<(String, String)> {
        match self
            .json
            .as_ref()
            .and_then(|json| json.value(Field::Errors))
        {
            Some(Value::Object(errors)) => errors
                .iter()
                .map(|(field, value)| (field.to_lowercase(), sentences(value)))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// What is said of no field in particular.
    fn says(&self) -> impl Iterator<Item = Cow<'a, str>> {
        let fields = [
            Field::Message,
            Field::Error,
            Field::Detail,
            Field::ErrorCode,
        ];
        let said = fields.into_iter().filter_map(|field| {
            let value = self.field(field)?;
            text(value).or_else(|| sentences_in(value))
        });
        said.chain(self.listed_errors())
    }

    /// What `errors` says where it is a list, or a sentence.
    fn listed_errors(&self) -> Option<Cow<'a, str>> {
        let errors = self.field(Field::Errors)?;
        if errors.get().starts_with('{') {
            return None;
        }
        sentences_in(errors)
    }

    /// The general sentence: the first that there is.
    fn message(&self) -> String {
        let mut says = self.says().chain(self.plain.map(Cow::Borrowed));
        let sentence = says.find(|text| !text.trim().is_empty());
        sentence.map_or_else(String::new, |text| text.trim().to_owned())
    }

    /// Everything that is said in general, in lower case.
    fn general_text(&self) -> String {
        let says: Vec<_> = self.says().chain(self.plain.map(Cow::Borrowed)).collect();
        says.join(" ").to_lowercase()
    }

    /// What is said of the number, in lower case. Where single fields are complained
    /// about, that is what is said of the number's: another field may have "already
    /// been taken" too.
    fn text_about_number(&self) -> String {
        let errors = self.errors();
        if errors.is_empty() {
            return self.general_text();
        }
        let is_of_number = |field: &str| {
            ["phone", "lead", "contact"]
                .iter()
                .any(|word| field.contains(word))
        };
        let of_number = errors.iter().filter(|(field, _)| is_of_number(field));
        let sentences: Vec<&str> = of_number.map(|(_, said)| said.as_str()).collect();
        sentences.join(" ").to_lowercase()
    }

    /// Whether it says that the number is there already.
    pub(super) fn says_there_already(&self) -> bool {
        const PHRASES: &[&str] = &[
            "already exist",
            "already been taken",
            "already been added",
            "already added",
            "already present",
            "bereits vergeben",
            "bereits vorhanden",
            "existiert bereits",
        ];
        let text = self.text_about_number();
        PHRASES.iter().any(|phrase| text.contains(phrase))
    }

    /// The same, or just that it is a duplicate.
    pub(super) fn says_duplicate(&self) -> bool {
        let text = self.text_about_number();
        let is_denied = ["no duplicate", "not a duplicate"]
            .iter()
            .any(|denial| text.contains(denial));
        self.says_there_already() || (text.contains("duplicate") && !is_denied)
    }

    pub(super) fn is_about_campaign(&self) -> bool {
        let errors = self.errors();
        if !errors.is_empty() {
            return errors
                .iter()
                .any(|(field, _)| field.starts_with("campaign"));
        }
        let text = self.general_text();
        let is_about = |words: &[&str]| words.iter().any(|word| text.contains(word));
        is_about(&["campaign", "kampagne"]) && !is_about(&["phone", "number", "telefon", "nummer"])
    }

    pub(super) fn is_about_balance(&self) -> bool {
        const WORDS: &[&str] = &[
            "balance",
            "credit",
            "credits",
            "plan",
            "limit",
            "quota",
            "guthaben",
            "kontingent",
        ];
        self.errors().is_empty()
            && self
                .general_text()
                .split(|c: char| !c.is_alphanumeric())
                .any(|word| WORDS.contains(&word))
    }

    /// What the service said, for people; not masked yet.
    pub(super) fn text(&self, status: u16) -> String {
        let message = self.message();
        let details: Vec<String> = self
            .errors()
            .into_iter()
            .map(|(_, sentence)| sentence)
            .chain(self.listed_errors().map(Cow::into_owned))
            .filter(|sentence| !sentence.is_empty() && !message.contains(sentence.as_str()))
            .collect();
        let said = match (message.as_str(), details.join(" ")) {
            ("", details) => details,
            (message, details) if details.is_empty() => message.to_owned(),
            (message, details) => format!("{message} {details}"),
        };
        match said.as_str() {
            "" => format!("HTTP {status}"),
            said => format!("HTTP {status}: {said}"),
        }
    }
}

fn sentences_in(value: &RawValue) -> Option<Cow<'static, str>> {
    let value = serde_json::from_str(value.get()).ok()?;
    Some(Cow::Owned(sentences(&value)))
}

/// The sentences that a value is, has in a list, or has in its `message` or else in any list.
fn sentences(value: &Value) -> String {
    let said: Vec<String> = match value {
        Value::String(text) => return text.clone(),
        Value::Array(items) => items.iter().map(sentences).collect(),
        Value::Object(fields) => match fields.get("message") {
            Some(message) => return sentences(message),
            // Anything else may be the request, sent back.
            None => fields
                .values()
                .filter(|value| value.is_array())
                .map(sentences)
                .collect(),
        },
        _ => Vec::new(),
    };
    let said: Vec<&str> = said
        .iter()
        .map(|text| text.trim())
        .filter(|text| !text.is_empty())
        .collect();
    said.join(" ")
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
mod tests {
    use super::*;

    fn lead_id(body: &str) -> Option<String> {
        Body::read(body).lead_id()
    }

    #[test]
    fn what_means_nothing_may_be_anything() {
        let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        for other in [r#""\ud800""#, "1e999", &deep] {
            let body = format!(r#"{{"variables":{other},"data":{{"echo":{other},"id":7}}}}"#);
            assert_eq!(lead_id(&body).as_deref(), Some("7"), "{other}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_it() {
        assert_eq!(lead_id("\u{FEFF}{\"id\":7}").as_deref(), Some("7"));
    }

    #[test]
    fn an_id_is_told_as_it_is_written() {
        for (id, told) in [
            ("12345678901234567890123", "12345678901234567890123"),
            ("-1", "-1"),
            ("1.50", "1.50"),
            ("1E5", "1E5"),
            (r#"" a\u002fb ""#, "a/b"),
        ] {
            let body = format!(r#"{{"id":{id}}}"#);
            assert_eq!(lead_id(&body).as_deref(), Some(told));
        }
        for none in ["null", "true", r#""""#, r#"" ""#, "[7]", "{}"] {
            let body = format!(r#"{{"id":{none}}}"#);
            assert_eq!(lead_id(&body), None, "{none}");
        }
    }

    #[test]
    fn where_a_field_is_there_twice_the_last_counts() {
        let body = r#"{"id":1,"data":{"id":2,"id":3},"success":false,"success":true}"#;
        assert_eq!(lead_id(body).as_deref(), Some("3"));
        assert!(!Body::read(body).denies_success());
    }

    #[test]
    fn beside_data_an_id_may_be_the_request_s_and_is_none() {
        for data in ["null", r#""x""#, "7", "{}", "[{}]", "[7]"] {
            let body = format!(r#"{{"id":1,"data":{data}}}"#);
            assert_eq!(lead_id(&body), None, "{data}");
        }
        assert_eq!(lead_id(r#"{"id":1,"data":[]}"#).as_deref(), Some("1"));
    }

    #[test]
    fn what_is_said_may_stand_in_an_object() {
        for field in ["message", "error", "error_code"] {
            let body = format!(r#"{{"{field}":{{"message":"Already exists."}}}}"#);
            let body = Body::read(&body);
            assert!(body.says_there_already(), "{field}");
            assert_eq!(body.text(422), "HTTP 422: Already exists.");
        }
    }

    #[test]
    fn what_is_said_may_stand_in_lists_and_by_field() {
        for body in [
            r#"{"errors":["It already exists."]}"#,
            r#"{"errors":"It already exists."}"#,
            r#"{"errors":[{"field":"phone","message":"It already exists."}]}"#,
            r#"{"errors":{"phone":{"message":"It already exists."}}}"#,
            r#"{"errors":{"phone":[{"code":7,"message":"It already exists."}]}}"#,
            r#"{"error":["It already exists."]}"#,
            r#"{"error":{"phone":["It already exists."],"sent":{"name":"Ann"}}}"#,
            r#"{"message":[" It already exists. ",""]}"#,
            r#"{"detail":"It already exists."}"#,
        ] {
            let read = Body::read(body);
            assert_eq!(read.text(422), "HTTP 422: It already exists.", "{body}");
            assert!(read.says_there_already(), "{body}");
        }
        let both = Body::read(r#"{"message":"Invalid.","errors":["It is short.","It is old."]}"#);
        assert_eq!(both.text(422), "HTTP 422: Invalid. It is short. It is old.");
        let nothing = Body::read(r#"{"errors":[],"error":7,"message":null,"detail":{}}"#);
        assert_eq!(nothing.text(422), "HTTP 422");
    }
}
