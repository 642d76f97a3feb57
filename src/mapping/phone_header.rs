//! Which headers mean a phone number that can be called.

use super::phone_words::{LAST_RESORTS, NOT_TO_CALL, PARTS, WHOLE_NAMES, WORDS};
use super::spec::{has_any, is_one_of, snake, words};

/// The ways in which a header may mean it, the surest first.
pub(super) const TIERS: [fn(&str) -> bool; 3] = [is_phone, has_phone, may_be_phone];

/// Whether the header as a whole means a phone number.
pub(super) fn is_phone(header: &str) -> bool {
    is_one_of(&words(header), WHOLE_NAMES)
}

/// Whether a word in it does.
pub(super) fn has_phone(header: &str) -> bool {
    let name = words(header);
    let has_part = || PARTS.iter().any(|part| name.contains(&snake(part)));
    !has_any(&name, NOT_TO_CALL) && (has_any(&name, WORDS) || has_part())
}

/// Whether it may, where nothing else does.
fn may_be_phone(header: &str) -> bool {
    is_one_of(&words(header), LAST_RESORTS)
}

/// Whether it means something else that is written like a phone number, such as a fax.
pub(super) fn is_not_to_call(header: &str) -> bool {
    has_any(&words(header), NOT_TO_CALL)
}
