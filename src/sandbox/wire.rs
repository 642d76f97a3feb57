//! Strict reading of a request: headers and body as the interface document has them.
//!
//! The rule: what a careful client would not send is refused, with the field named, even
//! where a real service might accept it.

use std::collections::BTreeMap;

use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName};
use serde_json::{Map, Value};

use super::config::{SandboxConfig, VariablesShape};
use super::new_lead::{NewLead, phone_digits};
use super::replies::{self, Reply};

const JSON: &str = "application/json";

/// Checks what every request needs: the token, then `Accept`.
pub(super) fn check_caller(headers: &HeaderMap, config: &SandboxConfig) -> Result<(), Reply> {
    let token = only(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    let known = token.is_some_and(|token| {
        if config.any_token {
            !token.trim().is_empty()
        } else {
            token == config.token()
        }
    });
    if !known {
        return Err(replies::unauthenticated());
    }
    if only(headers, &ACCEPT) != Some(JSON) {
        let text = "The Accept header must be application/json.";
        return Err(replies::message(406, text));
    }
    Ok(())
}

/// Checks a request for a lead, head and body.
pub(super) fn check_lead(
    headers: &HeaderMap,
    body: &[u8],
    config: &SandboxConfig,
) -> Result<NewLead, Reply> {
    check_caller(headers, config)?;
    if only(headers, &CONTENT_TYPE) != Some(JSON) {
        let text = "The Content-Type header must be application/json.";
        return Err(replies::message(415, text));
    }
    let body = serde_json::from_slice(body)
        .map_err(|error| replies::message(400, &format!("The body is not valid JSON: {error}.")))?;
    let Value::Object(fields) = body else {
        return Err(replies::message(400, "The body must be a JSON object."));
    };
    read_fields(fields, config.variables_shape)
}

/// The value of a header that occurs once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok();
    value.filter(|_| values.next().is_none())
}

fn read_fields(mut fields: Map<String, Value>, shape: VariablesShape) -> Result<NewLead, Reply> {
    let mut errors = Errors::default();
    let phone = read_phone(fields.remove("phone_number"), &mut errors);
    let campaign = read_campaign(fields.remove("campaign_id"), &mut errors);
    let variables = fields
        .remove("variables")
        .and_then(|value| read_variables(value, shape, &mut errors));
    let allow_duplicate = match fields.remove("allow_dupplicate") {
        Some(Value::Bool(allow)) => Some(allow),
        Some(_) => errors.add("allow_dupplicate", "must be true or false"),
        None => errors.add("allow_dupplicate", "is required"),
    };
    for name in fields.keys() {
        errors.add::<()>(name, "is not known");
    }
    match (phone, campaign, allow_duplicate) {
        (Some(phone), Some(campaign), Some(allow_duplicate)) if errors.0.is_empty() => {
            Ok(NewLead {
                phone,
                campaign,
                variables,
                allow_duplicate,
            })
        }
        _ => Err(replies::invalid(&errors.0)),
    }
}

fn read_phone(value: Option<Value>, errors: &mut Errors) -> Option<u64> {
    match value {
        Some(Value::String(text)) => {
            let digits = phone_digits(&text);
            digits.or_else(|| errors.add("phone_number", "must be a phone number in E.164 format"))
        }
        Some(_) => errors.add("phone_number", "must be a string"),
        None => errors.add("phone_number", "is required"),
    }
}

fn read_campaign(value: Option<Value>, errors: &mut Errors) -> Option<u64> {
    match value {
        Some(value) => value
            .as_u64()
            .or_else(|| errors.add("campaign_id", "must be an integer")),
        None => errors.add("campaign_id", "is required"),
    }
}

fn read_variables(
    value: Value,
    shape: VariablesShape,
    errors: &mut Errors,
) -> Option<Map<String, Value>> {
    let array_allowed = shape != VariablesShape::Object;
    let object_allowed = shape != VariablesShape::Array;
    match value {
        Value::Object(object) if object_allowed => read_names(object, "variables", errors),
        Value::Array(items) if array_allowed => match <[Value; 1]>::try_from(items) {
            Ok([Value::Object(object)]) => read_names(object, "variables.0", errors),
            Ok(_) => errors.add("variables.0", "must be an object"),
            Err(_) => errors.add("variables", "must hold exactly one object"),
        },
        _ if array_allowed => errors.add("variables", "must be an array"),
        _ => errors.add("variables", "must be an object"),
    }
}

fn read_names(
    object: Map<String, Value>,
    path: &str,
    errors: &mut Errors,
) -> Option<Map<String, Value>> {
    if object.is_empty() {
        return errors.add(path, "must not be empty");
    }
    for (name, value) in &object {
        if name.is_empty() {
            errors.add::<()>(path, "must not have an empty name");
        }
        if !value.is_string() {
            errors.add::<()>(&format!("{path}.{name}"), "must be a string");
        }
    }
    Some(object)
}

#[derive(Default)]
struct Errors(BTreeMap<String, Vec<String>>);

impl Errors {
    /// Adds a problem and returns `None`, for the value that is missing.
    fn add<T>(&mut self, field: &str, problem: &str) -> Option<T> {
        let text = format!("The {field} field {problem}.");
        self.0.entry(field.to_owned()).or_default().push(text);
        None
    }
}
