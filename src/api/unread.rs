//! What there is of an answer that was not understood, for the log at `-vv`: its head, and how its
//! body begins, or why there is none. Of a head that cannot be read the HTTP library shows nothing.
//!
//! Rule: no personal data. Token, cookies, phone numbers and the values of the row that was sent
//! are masked before the text is cut.

use reqwest::header::HeaderMap;
use serde_json::Value;
use tracing::debug;

use super::Head;
use super::verdict::TransportError;
use crate::text::{one_line, shortened, without_numbers, without_words_of};

const MAX_SHOWN: usize = 300;

const MAX_HEAD: usize = 2000;

/// How many bytes are read: masking makes the text shorter.
const MAX_READ: usize = 64 * 1024;

/// Logs the head, and how the body begins. `values` are the values of the row that was sent.
pub(super) fn log(
    head: Option<&Head>,
    body: Result<&[u8], TransportError>,
    mask: impl Fn(&str) -> String,
    values: &[String],
) {
    let status = head.map(|head| head.status);
    let whose = status.map_or_else(String::new, |status| format!(" (HTTP {status})"));
    if let Some(head) = head {
        let head = presentable(&lines(&head.lines), &mask, values, MAX_HEAD);
        debug!(
            event = "unreadable_head",
            http_status = status,
            head,
            "the head of an answer that was not understood{whose}: {head}"
        );
    }
    let answer = body.map(|body| beginning(body, mask, values));
    let how = match &answer {
        Ok(answer) if answer.is_empty() => "it is empty".to_owned(),
        Ok(answer) => format!("it begins: {answer}"),
        Err(lost) => lost.to_string(),
    };
    let answer = answer.ok();
    debug!(
        event = "unreadable",
        http_status = status,
        answer,
        "an answer was not understood{whose}; {how}"
    );
}

fn lines(head: &HeaderMap) -> String {
    let lines = head.iter().map(|(name, value)| match name.as_str() {
        "set-cookie" => format!("{name}: …"),
        _ => format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())),
    });
    lines.collect::<Vec<_>>().join("; ")
}

fn beginning(body: &[u8], mask: impl Fn(&str) -> String, values: &[String]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(MAX_READ)]);
    // Parsing removes JSON escapes: an escaped word would not be found.
    let json = serde_json::from_str(&text).map(|json: Value| json.to_string());
    let text = json.unwrap_or_else(|_| text.into_owned());
    presentable(&text, mask, values, MAX_SHOWN)
}

fn presentable(
    text: &str,
    mask: impl Fn(&str) -> String,
    values: &[String],
    most: usize,
) -> String {
    let masked = without_words_of(&mask(text), values.iter().map(String::as_str));
    shortened(&one_line(&without_numbers(&masked)), most)
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
    fn a_head_is_shown_without_cookies() {
        let mut head = HeaderMap::new();
        for (name, value) in [("server", "nginx"), ("set-cookie", "session=abc")] {
            head.append(name, value.parse().unwrap());
        }
        assert_eq!(lines(&head), "server: nginx; set-cookie: …");
    }

    #[test]
    fn what_is_masked_is_not_cut_before() {
        let text = format!("{}s3cret {}", "x".repeat(297), "y".repeat(2 * MAX_READ));
        let shown = shown(&text);
        assert_eq!(shown.chars().count(), MAX_SHOWN);
        assert!(shown.ends_with("x[t…"), "{shown}");
    }
}
