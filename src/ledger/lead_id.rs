//! Lead ids as they are stored.
//!
//! The service's ids are text to us, but most are whole numbers or UUIDs, which take a
//! quarter to a half of the room in a form of their own. What is read is always, to the
//! letter, what was written: a text that its short form would not give back stays text.

use std::fmt::Write as _;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, Value, ValueRef};
use serde::{Deserialize, Serialize};

/// Where the hyphens of a UUID stand.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// A lead id that was read from the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredLeadId(pub(super) String);

/// A lead id in the shortest form that gives it back. `T` is text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ShortLeadId<T> {
    Number(i64),
    Uuid([u8; 16]),
    Text(T),
}

impl<'a> ShortLeadId<&'a str> {
    pub(super) fn of(lead_id: &'a str) -> Self {
        if let Some(number) = number(lead_id) {
            return ShortLeadId::Number(number);
        }
        uuid(lead_id).map_or(ShortLeadId::Text(lead_id), ShortLeadId::Uuid)
    }
}

impl From<ShortLeadId<&str>> for Value {
    fn from(lead_id: ShortLeadId<&str>) -> Value {
        match lead_id {
            ShortLeadId::Number(number) => Value::Integer(number),
            ShortLeadId::Uuid(bytes) => Value::Blob(bytes.to_vec()),
            ShortLeadId::Text(text) => Value::Text(text.to_owned()),
        }
    }
}

impl FromSql for StoredLeadId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<StoredLeadId> {
        let text = match value {
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Blob(bytes) => uuid_text(bytes).ok_or(FromSqlError::InvalidType)?,
            text => text.as_str()?.to_owned(),
        };
        Ok(StoredLeadId(text))
    }
}

/// The whole number that is written exactly so.
fn number(text: &str) -> Option<i64> {
    let is_canonical = text == "0" || !text.starts_with('0');
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if is_canonical && is_digits {
        // None where it is too long, or empty.
        return text.parse().ok();
    }
    None
}

/// The bytes of a UUID that is written in lower case, with hyphens.
fn uuid(text: &str) -> Option<[u8; 16]> {
    if text.len() != 36 {
        return None;
    }
    let mut bytes = [0; 16];
    let mut digits = 0;
    for (at, byte) in text.bytes().enumerate() {
        if HYPHENS.contains(&at) {
            if byte != b'-' {
                return None;
            }
            continue;
        }
        let half = &mut bytes[digits / 2];
        *half = *half << 4 | hex_digit(byte)?;
        digits += 1;
    }
    Some(bytes)
}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

/// None where they are not sixteen.
fn uuid_text(bytes: &[u8]) -> Option<String> {
    if bytes.len() != 16 {
        return None;
    }
    let mut text = String::with_capacity(36);
    for byte in bytes {
        if HYPHENS.contains(&text.len()) {
            text.push('-');
        }
        write!(text, "{byte:02x}").ok()?;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::Connection;

    use super::*;

    /// The kind of value it is stored as, and what is read again.
    fn stored(text: &str) -> (String, String) {
        let db = Connection::open_in_memory().unwrap();
        let row = db.query_row(
            "SELECT typeof(?1), ?1",
            [Value::from(ShortLeadId::of(text))],
            |row| Ok((row.get(0)?, row.get::<_, StoredLeadId>(1)?.0)),
        );
        row.unwrap()
    }

    fn is_stored_as(text: &str, kind: &str) {
        assert_eq!(stored(text), (kind.to_owned(), text.to_owned()));
    }

    #[test]
    fn a_whole_number_is_stored_as_one() {
        for text in ["0", "7", "48211", "9223372036854775807"] {
            is_stored_as(text, "integer");
        }
    }

    #[test]
    fn a_lower_case_uuid_is_stored_in_sixteen_bytes() {
        is_stored_as("0b9c3f1e-7d52-4c5e-9a61-2f0e8d7c6b5a", "blob");
    }

    #[test]
    fn what_a_short_form_would_not_give_back_stays_text() {
        for text in [
            "",
            "007",
            "-1",
            "+1",
            "1.0",
            "9223372036854775808",
            "٤٢",
            "0B9C3F1E-7D52-4C5E-9A61-2F0E8D7C6B5A",
            "0b9c3f1e7d524c5e9a612f0e8d7c6b5a",
            "0b9c3f1e-7d52-4c5e-9a61-2f0e8d7c6b5",
            "0b9c3f1e07d5204c5e09a6102f0e8d7c6b5a",
            "lead_17",
        ] {
            is_stored_as(text, "text");
        }
    }

    proptest! {
        #[test]
        fn any_id_reads_back_as_it_was_written(
            text in prop_oneof![
                any::<String>(),
                "-?[0-9]{1,20}",
                "[0-9a-fA-F]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            ],
        ) {
            prop_assert_eq!(stored(&text).1, text);
        }
    }
}
