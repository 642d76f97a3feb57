//! The beginning of an answer that was not understood, for the log at `-vv`.
//!
//! Rule: no personal data. Token, phone numbers and the values of the row that was sent are masked
//! before the text is cut.

use serde_json::Value;
use tracing::debug;

use crate::text::{one_line, shortened, without_numbers, without_words_of};

const MAX_SHOWN: usize = 300;

/// How many bytes are read: masking makes the text shorter.
const MAX_READ: usize = 64 * 1024;

/// Logs how the body begins. `values` are the values of the row that was sent.
pub(super) fn log(status: u16, body: &[u8], mask: impl Fn(&str) -> String, values: &[String]) {
    let answer = beginning(body, mask, values);
    let how = match answer.as_str() {
        "" => "it is empty".to_owned(),
        answer => format!("it begins: {answer}"),
    };
    debug!(
        event = "unreadable",
        http_status = status,
        answer,
        "an answer was not understood (HTTP {status}); {how}"
    );
}

fn beginning(body: &[u8], mask: impl Fn(&str) -> String, values: &[String]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(MAX_READ)]);
    // Parsing removes JSON escapes: an escaped word would not be found.
    let json = serde_json::from_str(&text).map(|json: Value| json.to_string());
    let masked = mask(&json.unwrap_or_else(|_| text.into_owned()));
    let masked = without_words_of(&masked, values.iter().map(String::as_str));
    shortened(&one_line(&without_numbers(&masked)), MAX_SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str) -> String {
        let mask = |text: &str| text.replace("s3cret", "[token]");
        beginning(
            body.as_bytes(),
            mask,
            &["Ada Müller".into(), "Leeds".into()],
        )
    }

    #[test]
    fn the_beginning_has_no_personal_data() {
        assert_eq!(
            shown("<html>\r\n\t<b>Welcome, ADA of Leeds</b>\u{1b}[2J +44 7911 123456 s3cret\n"),
            "<html> <b>Welcome, … of …</b>\u{FFFD}[2J +… [token]"
        );
        assert_eq!(
            shown(r#"{"name":"Ada M\u00fcller","phone":"\u002b447911123456"}"#),
            r#"{"name":"… …","phone":"+…"}"#
        );
        assert_eq!(shown(""), "");
    }

    #[test]
    fn what_is_masked_is_not_cut_before() {
        let text = format!("{}s3cret {}", "x".repeat(297), "y".repeat(2 * MAX_READ));
        let shown = shown(&text);
        assert_eq!(shown.chars().count(), MAX_SHOWN);
        assert!(shown.ends_with("x[t…"), "{shown}");
    }
}
