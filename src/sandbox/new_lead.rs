//! A lead that a request asks for.

use serde_json::{Map, Value};

/// A request for a lead that has nothing wrong with it.
pub(super) struct NewLead {
    /// The digits after the `+`; they begin with 1 to 9, so none is lost in a number.
    pub(super) phone: u64,
    pub(super) campaign: u64,
    /// Names and string values.
    pub(super) variables: Option<Map<String, Value>>,
    pub(super) allow_duplicate: bool,
}

/// The digits of an E.164 number: `+`, a first digit of 1 to 9, 7 to 15 digits in all.
pub(super) fn phone_digits(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('+')?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    if !plain || digits.starts_with('0') || !(7..=15).contains(&digits.len()) {
        return None;
    }
    digits.parse().ok()
}
