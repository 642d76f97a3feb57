//! What an answer complains about: sentences, each with the field that it is about, where
//! one is named.
//!
//! Rule: pure. Shapes that are read: `errors` by field (Laravel), as a list of texts or of
//! objects that name their field (RFC 9457, JSON:API), or as one text; `detail` as a list of
//! objects with `loc` and `msg` (FastAPI); and the like in place of a message.

use serde_json::{Map, Value};

use super::sentence::Noun;

#[derive(Debug, Default)]
pub(super) struct Complaints {
    /// About one field each.
    pub(super) of_fields: Vec<Complaint>,
    /// About none in particular.
    pub(super) general: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    /// With the objects around it, as `variables.city` or `/data/phone_number`.
    field: String,
    pub(super) text: String,
}

/// Where an object names the field that it is about.
#[rustfmt::skip]
const FIELD_KEYS: &[&str] = &[
    "loc", "field", "path", "pointer", "parameter", "param", "property", "attribute", "source",
];

/// Where an object has its sentence, the most telling first.
const TEXT_KEYS: &[&str] = &["message", "msg", "detail", "description", "error", "title"];

impl Complaints {
    /// Reads what the field `errors` holds, and what others hold if that is of this kind.
    pub(super) fn read(errors: Option<Value>, others: impl Iterator<Item = Value>) -> Complaints {
        let mut complaints = Complaints::default();
        if let Some(errors) = errors {
            complaints.take(&errors);
        }
        for mut other in others.filter(are_complaints) {
            if let Value::Object(fields) = &mut other {
                // Anything else may be the request, sent back.
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
    /// What the field is: the lead or its number, the campaign, or something that says
    /// nothing about either.
    pub(super) fn about(&self) -> Option<Noun> {
        let field = self.field.to_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| field.contains(word));
        let own_name = field.rsplit(['.', '/']).next().unwrap_or_default();
        if names(&["variable"]) {
            None
        } else if own_name.starts_with("campaign") {
            Some(Noun::Other)
        } else if names(&["phone", "lead", "contact"]) && !names(&["mail", "name", "campaign"]) {
            Some(Noun::Lead)
        } else {
            None
        }
    }
}

/// Whether something that may hold a sentence holds complaints about fields: objects in a
/// list, or lists by field.
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

/// The field that an object names, unless that is the whole body.
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

/// The sentences that a value is, has in a list, or has in the field for them or else in any
/// list.
pub(super) fn sentences(value: &Value) -> String {
    let said: Vec<String> = match value {
        Value::String(text) => return text.trim().to_owned(),
        Value::Array(items) => items.iter().map(sentences).collect(),
        Value::Object(fields) => {
            let texts = TEXT_KEYS.iter().filter_map(|key| fields.get(*key));
            let mut texts = texts.map(sentences).filter(|text| !text.is_empty());
            match texts.next() {
                Some(text) => return text,
                // Anything else may be the request, sent back.
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

/// Sentences one after another, with `between` behind one that has no punctuation.
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
