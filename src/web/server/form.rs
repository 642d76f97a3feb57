//! The fields of a form without a file.

use url::form_urlencoded;

use super::limits::Limits;

/// The name of the hidden field that proves that a form is one of ours.
pub const FORM_TOKEN: &str = "form_token";

/// The fields in the order of the form, without the form token, which has been checked: an
/// extension of every request that changes something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormFields(pub Vec<(String, String)>);

impl FormFields {
    /// The first value of this field.
    pub fn get(&self, name: &str) -> Option<&str> {
        let first = self.0.iter().find(|(field, _)| field == name);
        first.map(|(_, value)| value.as_str())
    }

    /// Every value of this field, such as those of several checkboxes.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let same = self.0.iter().filter(move |(field, _)| field == name);
        same.map(|(_, value)| value.as_str())
    }

    /// The version of the list that the form was made from; 0, which no list has, if it has none.
    pub fn version(&self) -> u64 {
        let version = self.get("version").and_then(|version| version.parse().ok());
        version.unwrap_or(0)
    }
}

/// The form tokens and all other fields of a body; `None` if it has too many.
pub(super) fn read(body: &[u8], limits: &Limits) -> Option<(Vec<String>, FormFields)> {
    let mut tokens = Vec::new();
    let mut fields = Vec::new();
    for (name, value) in form_urlencoded::parse(body) {
        if tokens.len() + fields.len() == limits.form_fields {
            return None;
        }
        if name == FORM_TOKEN {
            tokens.push(value.into_owned());
        } else {
            fields.push((name.into_owned(), value.into_owned()));
        }
    }
    Some((tokens, FormFields(fields)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_in_the_order_of_the_form_and_apart_from_its_token() {
        let body = b"send=City&form_token=t&send=Gr%C3%B6%C3%9Fe+%26+more&empty=";
        let (tokens, fields) = read(body, &Limits::default()).unwrap();
        assert_eq!(tokens, ["t"]);
        let sent: Vec<&str> = fields.all("send").collect();
        assert_eq!(sent, ["City", "Größe & more"]);
        assert_eq!(fields.get("send"), Some("City"));
        assert_eq!(fields.get("empty"), Some(""));
        assert_eq!(fields.get("other"), None);
        assert_eq!(fields.get(FORM_TOKEN), None);
    }

    #[test]
    fn a_form_of_too_many_fields_is_refused() {
        let limits = Limits {
            form_fields: 2,
            ..Limits::default()
        };
        assert!(read(b"a=1&b=2", &limits).is_some());
        assert!(read(b"a=1&b=2&c", &limits).is_none());
    }
}
