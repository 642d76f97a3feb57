//! What an answer complains about: sentences, each with the field that it is
//! about, if it names one.
//!
//! Rule: pure. These shapes are read: `errors` as an object with a list for each
//! field (Laravel), as a list of texts or of objects that name their field (RFC
//! 9457, JSON:API), or as one text; `detail` as a list of objects with `loc` and
//! `msg` (FastAPI); and the same shapes in place of a message.

use serde_json::{Map, Value};

use super::sentence::{CAMPAIGN, LEAD};

#[derive(Debug, Default)]
pub(super) struct Complaints {
    /// Each about one field.
    pub(super) of_fields: Vec<Complaint>,
    /// About no field in particular.
    pub(super) general: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    /// The field with its path, such as `variables.city` or `/data/phone_number`.
    field: String,
    pub(super) text: String,
}

/// The keys in which an object names the field that it is about.
#[rustfmt::skip]
const FIELD_KEYS: &[&str] = &[
    "loc", "field", "path", "pointer", "parameter", "param", "property", "attribute", "source",
];

/// The keys in which an object has its sentence, the one that says most first.
const TEXT_KEYS: &[&str] = &["message", "msg", "detail", "description", "error", "title"];

impl Complaints {
    /// Reads the value of the field `errors`, and those of `others` that hold complaints.
    pub(super) fn read(errors: Option<Value>, others: impl Iterator<Item = Value>) -> Complaints {
        let mut complaints = Complaints::default();
        if let Some(errors) = errors {
            complaints.take(&errors);
        }
        for mut other in others.filter(are_complaints) {
            if let Value::Object(fields) = &mut other {
                // Other values may be an echo of the request.
                fields.retain(|_, said| said.is_array());
            }
            complaints.take(&other);
        }
        complaints
    }

    fn take(&mut self, holder: &Value) {
        match holder {
            Value::Object(by_field) => {
                let of_fields = by_field.iter().map(|(field, said)| Complaint {
                    field: field.clone(),
                    text: sentences(said),
                });
                self.of_fields.extend(of_fields);
            }
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            said => self.general.push(sentences(said)),
        }
    }

    fn add(&mut self, item: &Value) {
        let text = sentences(item);
        match item.as_object().and_then(field) {
            // FastAPI's sentences do not name their field.
            Some(field) if item.get("loc").is_some() => {
                let text = format!("{field}: {text}");
                self.of_fields.push(Complaint { field, text });
            }
            Some(field) => self.of_fields.push(Complaint { field, text }),
            None => self.general.push(text),
        }
    }
}

impl Complaint {
    /// What the field stands for, `LEAD` or `CAMPAIGN`; `None` for a field that says nothing about
    /// either.
    pub(super) fn about(&self) -> Option<&'static str> {
        let field = self.field.to_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| field.contains(word));
        let own_name = field.rsplit(['.', '/']).next().unwrap_or_default();
        if names(&["variable"]) {
            None
        } else if own_name.starts_with("campaign") {
            Some(CAMPAIGN)
        } else if names(&["phone", "lead", "contact"]) && !names(&["mail", "name", "campaign"]) {
            Some(LEAD)
        } else {
            None
        }
    }
}

/// Whether a value that may hold a sentence holds complaints about fields instead: a list with
/// objects, or lists by field.
pub(super) fn are_complaints(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(Value::is_object),
        Value::Object(fields) => {
            !TEXT_KEYS.iter().any(|key| fields.contains_key(*key))
                && fields.values().any(Value::is_array)
        }
        _ => false,
    }
}

/// The field that an object names; `None` if it names the whole body.
fn field(fields: &Map<String, Value>) -> Option<String> {
    let name = match FIELD_KEYS.iter().find_map(|key| fields.get(*key))? {
        Value::String(name) => name.clone(),
        Value::Array(path) => {
            let names = path.iter().filter_map(Value::as_str);
            let names: Vec<&str> = names.filter(|name| *name != "body").collect();
            names.join(".")
        }
        Value::Object(source) => return field(source),
        _ => return None,
    };
    (!name.is_empty()).then_some(name)
}

/// The sentences in a value: the text itself, all items of a list, or, of an object, the field for
/// sentences or else all lists.
pub(super) fn sentences(value: &Value) -> String {
    let said: Vec<String> = match value {
        Value::String(text) => return text.trim().to_owned(),
        Value::Array(items) => items.iter().map(sentences).collect(),
        Value::Object(fields) => {
            let texts = TEXT_KEYS.iter().filter_map(|key| fields.get(*key));
            let mut texts = texts.map(sentences).filter(|text| !text.is_empty());
            match texts.next() {
                Some(text) => return text,
                // Other values may be an echo of the request.
                None => fields
                    .values()
                    .filter(|value| value.is_array())
                    .map(sentences)
                    .collect(),
            }
        }
        _ => Vec::new(),
    };
    joined(said.iter().map(String::as_str), "; ")
}

/// Joins sentences. `between` follows a sentence that does not end with punctuation.
pub(super) fn joined<'t>(said: impl IntoIterator<Item = &'t str>, between: &str) -> String {
    let mut text = String::new();
    for sentence in said.into_iter().filter(|sentence| !sentence.is_empty()) {
        let is_ended = text.ends_with(['.', '!', '?', ':', ';']);
        if !text.is_empty() {
            text.push_str(if is_ended { " " } else { between });
        }
        text.push_str(sentence);
    }
    text
}
