//! What the service answers.

use std::time::{Duration, SystemTime};

use jiff::SignedDuration;
use leadload::api::verdict::{LONGEST_WAIT, Verdict, judge};
use leadload::api::{Head, LeadPage};
use leadload::phone::PhoneNumber;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::{assert_readable, split_line};

/// 2026-03-01T12:00:00Z.
fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_772_366_400)
}

/// The value of a header `Retry-After`, and in a second line that of `Date`, if there is one.
pub fn retry_after(input: &[u8]) -> bool {
    let (wait, date) = split_line(input);
    let mut headers = HeaderMap::new();
    for (name, value) in [("retry-after", wait), ("date", date)] {
        if let Ok(value) = HeaderValue::from_bytes(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    let mut is_understood = false;
    for status in [429, 503] {
        let verdict = judge(&Head::read(status, &headers, now()), b"");
        let is_asked = headers.contains_key("retry-after");
        match verdict {
            Verdict::RetryLater {
                wait, may_be_taken, ..
            } => {
                assert!(!may_be_taken);
                assert!(wait.is_none_or(|wait| !wait.is_zero() && wait <= LONGEST_WAIT));
                is_understood |= wait.is_some();
            }
            other => assert!(status == 503 && !is_asked, "{other:?}"),
        }
    }
    is_understood
}

/// A status, a line for each header, an empty line, and a body.
pub fn answer(input: &[u8]) -> bool {
    let (status, mut rest) = split_line(input);
    let status = str::from_utf8(status)
        .ok()
        .and_then(|text| text.trim().parse().ok());
    let status: u16 = status.unwrap_or(200);
    let mut headers = HeaderMap::new();
    loop {
        let (line, after) = split_line(rest);
        rest = after;
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            break;
        };
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    let head = Head::read(status, &headers, now());
    let verdict = judge(&head, rest);
    assert_fits(status, &verdict, headers.contains_key("retry-after"));
    let shown = verdict.clone().presentable(str::to_owned);
    if let Some(text) = shown.refusal() {
        assert_readable(text);
        assert!(text.chars().count() <= 301, "{text}");
    }
    if let Verdict::Created { lead_id, .. } = &shown {
        assert_readable(lead_id);
    }
    // What comes behind a whole body changes nothing.
    let spaced = [rest, b" \r\n"].concat();
    if rest.first() == Some(&b'{') {
        assert_eq!(
            std::mem::discriminant(&judge(&head, &spaced)),
            std::mem::discriminant(&verdict)
        );
    }
    !matches!(verdict, Verdict::PerhapsTaken { .. })
}

/// What a status may mean at all, whatever else the answer says.
fn assert_fits(status: u16, verdict: &Verdict, has_wait: bool) {
    let fits = match verdict {
        Verdict::Created { lead_id, .. } => {
            (200..300).contains(&status) && !lead_id.trim().is_empty()
        }
        Verdict::Duplicate { .. } => matches!(status, 200..=299 | 400 | 409 | 422),
        Verdict::Rejected { .. } => {
            matches!(status, 200..=299 | 400..=499) && !matches!(status, 401 | 402 | 408 | 429)
        }
        Verdict::RetryLater {
            wait, may_be_taken, ..
        } => {
            let is_server = matches!(status, 408 | 500..=502 | 504..);
            (200..=599).contains(&status)
                && *may_be_taken == is_server
                && wait.is_none_or(|wait| !wait.is_zero() && wait <= LONGEST_WAIT)
        }
        Verdict::NeverTaken { .. } => matches!(status, 407 | 425) && !has_wait,
        Verdict::PerhapsTaken { .. } => matches!(status, 0..=299 | 408 | 500..),
        Verdict::Fatal { .. } => (300..=499).contains(&status),
        Verdict::TokenReplaced => false,
    };
    assert!(fits, "{status}: {verdict:?}");
}

/// The page of a list of leads, as JSON.
pub fn lead_page(input: &[u8]) -> bool {
    let Ok(json) = serde_json::from_slice(input) else {
        return false;
    };
    let page =
        Url::parse("https://dialler.example.com/api/user/leads?campaign_id=101&page=3").unwrap();
    let Some(read) = LeadPage::read(&json, &page, None, SignedDuration::ZERO) else {
        return false;
    };
    if let Some(next) = &read.next {
        // The token goes nowhere else, and a walk through the pages ends.
        assert_eq!(next.origin(), page.origin());
        let number = next.query_pairs().find(|(name, _)| name == "page");
        assert!(number.is_some_and(|(_, number)| number.parse::<u64>().unwrap() > 3));
    }
    let number = PhoneNumber::from_e164("+447911123456").unwrap();
    for lead in &read.leads {
        assert!(!lead.id.is_empty());
        assert!(!lead.has_number(number) || lead.may_have_number(number));
        assert!(!lead.may_have_number(number) || lead.has_any_number());
        let ahead = SignedDuration::from_secs(7);
        if let Some(made) = lead.made {
            assert_eq!(made.with_clock(ahead).said, made.said);
        }
    }
    !read.leads.is_empty()
}
