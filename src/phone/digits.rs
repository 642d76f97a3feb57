//! Finds the digits in a text.

/// Whether the text has nothing but digits, and is not empty.
pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the text has nothing but zeros.
pub(super) fn are_zeros(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'0')
}

/// The digits before and after the point or comma of a text that has nothing else.
pub(super) fn decimal(text: &str) -> Option<(&str, &str)> {
    let parts = text.split_once(['.', ','])?;
    (is_digits(parts.0) && is_digits(parts.1)).then_some(parts)
}

/// The digits of a text, without what is between them.
pub(super) fn of(text: &str) -> String {
    let mut digits = text.to_owned();
    digits.retain(|c| c.is_ascii_digit());
    digits
}

pub(super) fn count(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// The digits of a text in groups, whatever is between them.
pub(super) fn groups(text: &str) -> impl Iterator<Item = &str> {
    let groups = text.split(|c: char| !c.is_ascii_digit());
    groups.filter(|group| !group.is_empty())
}

/// Splits a text behind the characters of one kind at its beginning.
pub(super) fn split_behind(text: &str, is_of_kind: fn(char) -> bool) -> (&str, &str) {
    let rest = text.trim_start_matches(is_of_kind);
    text.split_at(text.len() - rest.len())
}
