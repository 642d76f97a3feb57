//! The storage form of lead ids.
//!
//! To us the service's ids are text, but most are whole numbers or UUIDs, which need a
//! quarter to half of the space in a form of their own: with plain text ten million
//! leads with UUIDs take more than 600 MiB. Reading always returns exactly the text
//! that was written: a text that its short form would not reproduce is stored as text.

use rusqlite::types::Value;

pub(super) fn stored(text: &str) -> Value {
    let number = text.parse().ok();
    if let Some(number) = number.filter(|number: &i64| number.to_string() == text) {
        return Value::Integer(number);
    }
    let uuid = (text.len() == 36).then(|| u128::from_str_radix(&text.replace('-', ""), 16));
    match uuid {
        Some(Ok(uuid)) if uuid_text(uuid) == text => Value::Blob(uuid.to_be_bytes().into()),
        _ => Value::Text(text.to_owned()),
    }
}

pub(in crate::ledger) fn uuid_text(uuid: u128) -> String {
    let hex = format!("{uuid:032x}");
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::Connection;

    use super::*;
    use crate::ledger::row::{LeadId, Row};

    /// The kind of value that it is stored as, and the text that is read back.
    fn written_and_read(text: &str) -> (String, String) {
        let db = Connection::open_in_memory().unwrap();
        let row = db.query_row("SELECT typeof(?1), ?1", [stored(text)], |row| {
            let LeadId(read) = Row::File(row).get(1).unwrap();
            Ok((row.get(0)?, read))
        });
        row.unwrap()
    }

    fn is_stored_as(text: &str, kind: &str) {
        assert_eq!(written_and_read(text), (kind.to_owned(), text.to_owned()));
    }

    #[test]
    fn a_whole_number_is_stored_as_one() {
        for text in ["0", "7", "-1", "48211", "9223372036854775807"] {
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
            prop_assert_eq!(written_and_read(&text).1, text);
        }
    }
}
