//! Parses a request strictly: headers and body as in the interface document.
//!
//! Rule: what a careful client would not send is refused, even if a real service might accept it.

use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName};
use serde_json::Value;

use super::config::SandboxConfig;
use super::replies::UNAUTHENTICATED;
use super::store::{NewLead, Variables};
use crate::api::wire::VariablesShape;

const JSON: &str = "application/json";

/// The status and the text of an answer.
pub(super) type Refusal = (u16, String);

/// Checks what every request needs: the token, then `Accept`.
pub(super) fn check_caller(headers: &HeaderMap, config: &SandboxConfig) -> Result<(), Refusal> {
    let token = only(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    let known = token.is_some_and(|token| {
        if config.any_token {
            !token.trim().is_empty()
        } else {
            token == config.token()
        }
    });
    if !known {
        return Err((401, UNAUTHENTICATED.to_owned()));
    }
    if only(headers, &ACCEPT) != Some(JSON) {
        let text = "The Accept header must be application/json.";
        return Err((406, text.to_owned()));
    }
    Ok(())
}

/// Checks the head and the body of a request for a lead. `None` means that the body is too large.
pub(super) fn check_lead(
    headers: &HeaderMap,
    body: Option<&[u8]>,
    config: &SandboxConfig,
) -> Result<NewLead, Refusal> {
    let too_large = || (413, "The body is too large.".to_owned());
    let body = body.ok_or_else(too_large)?;
    check_caller(headers, config)?;
    if only(headers, &CONTENT_TYPE) != Some(JSON) {
        let text = "The Content-Type header must be application/json.";
        return Err((415, text.to_owned()));
    }
    let body: Value = serde_json::from_slice(body)
        .map_err(|error| (400, format!("The body is not valid JSON: {error}.")))?;
    if !body.is_object() {
        return Err((400, "The body must be a JSON object.".to_owned()));
    }
    let invalid = |what: &str| (422, format!("The body is not a lead: {what}."));
    let lead: NewLead =
        serde_json::from_value(body).map_err(|error| invalid(&error.to_string()))?;
    if !fits(lead.variables.as_ref(), config.variables_shape) {
        return Err(invalid("the variables are not as the service takes them"));
    }
    Ok(lead)
}

fn fits(variables: Option<&Variables>, shape: VariablesShape) -> bool {
    let texts = match (variables, shape) {
        (None, _) => return true,
        (Some(Variables::Array(_)), VariablesShape::Object) => return false,
        (Some(Variables::Object(_)), VariablesShape::Array) => return false,
        (Some(variables), _) => variables.texts(),
    };
    !texts.is_empty() && !texts.contains_key("")
}

/// The value of a header; `None` unless it occurs exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok();
    value.filter(|_| values.next().is_none())
}
