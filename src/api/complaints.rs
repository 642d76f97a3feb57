//! What an answer complains about: sentences, each with the field that it is about, where
//! one is named.
//!
//! Rule: pure. Shapes that are read: `errors` by field (Laravel), as a list of texts or of
//! objects that name their field (RFC 9457, JSON:API), or as one text; `detail` as a list of
//! objects with `loc` and `msg` (FastAPI); and the like in place of a message.

use serde_json::{Map, Value};

#[derive(Debug, Default)]
pub(super) struct Complaints {
    /// About one field each.
    pub(super) of_fields: Vec<Complaint>,
    /// About none in particular.
    pub(super) general: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    /// The field's name, in lower case.
    field: String,
    pub(super) text: String,
}

/// What may precede a field's own name.
const WRAPPERS: &[&str] = &["body", "data", "attributes", "request", "payload", "query"];

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
                    field: own_name(field),
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
        let Some((fields, field)) = item.as_object().and_then(|f| Some((f, field(f)?))) else {
            return self.general.push(text);
        };
        let text = if fields.contains_key("loc") {
            with_name(&field, text)
        } else {
            text
        };
        self.of_fields.push(Complaint { field, text });
    }
}

impl Complaint {
    /// Whether it is about the lead's number, or about the lead itself.
    pub(super) fn is_about_number(&self) -> bool {
        const OF_LEAD: [&str; 3] = ["phone", "lead", "contact"];
        const OF_OTHERS: [&str; 4] = ["variable", "mail", "name", "campaign"];
        let names = |words: &[&str]| words.iter().any(|word| self.field.contains(word));
        names(&OF_LEAD) && !names(&OF_OTHERS)
    }

    pub(super) fn is_about_campaign(&self) -> bool {
        self.field.starts_with("campaign")
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

fn field(fields: &Map<String, Value>) -> Option<String> {
    let named = FIELD_KEYS.iter().find_map(|key| fields.get(*key))?;
    let name = match named {
        Value::String(name) => own_name(name),
        Value::Array(path) => {
            let part = |part: &Value| {
                part.as_str()
                    .map_or_else(|| part.to_string(), str::to_owned)
            };
            own_name(&path.iter().map(part).collect::<Vec<_>>().join("."))
        }
        Value::Object(source) => return field(source),
        _ => return None,
    };
    (!name.is_empty() && !WRAPPERS.contains(&name.as_str())).then_some(name)
}

/// A field's name without the objects around it: `body.phone_number`,
/// `/data/attributes/phone_number`.
fn own_name(path: &str) -> String {
    let path = path.to_lowercase();
    let parts = path.split(['.', '/', '#']).filter(|part| !part.is_empty());
    let parts: Vec<&str> = parts.collect();
    let outer = parts.iter().take_while(|part| WRAPPERS.contains(part));
    let outer = outer.count().min(parts.len().saturating_sub(1));
    parts[outer..].join(".")
}

/// A sentence with its field, where it does not name it itself, as in FastAPI.
fn with_name(field: &str, text: String) -> String {
    let words = field.split(|c: char| !c.is_alphabetic());
    let mut words = words.filter(|word| !word.is_empty());
    let said = text.to_lowercase();
    if text.is_empty() || words.any(|word| said.contains(word)) {
        text
    } else {
        format!("{field}: {text}")
    }
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
pub(super) fn joined<'t>(said: impl Iterator<Item = &'t str>, between: &str) -> String {
    let mut text = String::new();
    for sentence in said.filter(|sentence| !sentence.is_empty()) {
        let is_ended = text.ends_with(['.', '!', '?', ':', ';']);
        if !text.is_empty() {
            text.push_str(if is_ended { " " } else { between });
        }
        text.push_str(sentence);
    }
    text
}
