//! The parts of an answer's head that matter.
//!
//! Rule: pure. An address that is shown contains no secret.

use std::time::{Duration, SystemTime};

use jiff::SignedDuration;
use reqwest::Url;
use reqwest::header::{DATE, HeaderMap, HeaderValue, LINK, RETRY_AFTER};

use super::Quota;
use super::list_page::linked;
use crate::text::looks_secret;

#[derive(Clone)]
pub struct Head {
    pub(super) status: u16,
    pub(super) retry_after: Option<String>,
    pub(super) quota: Option<Quota>,
    pub(super) redirects_to: Option<String>,
    /// The next page of a list, as `Link` names it.
    pub(super) next_page: Option<String>,
    /// The current time, by the clock to which the times in the head refer.
    pub(super) now: SystemTime,
    /// How far that clock is ahead of this computer's; `None` if the answer does not say the time.
    pub(super) ahead: Option<SignedDuration>,
    /// What the service calls the request.
    pub(super) request_id: Option<String>,
    /// All lines, for the log of an answer that cannot be read. They may hold secrets.
    pub(super) lines: HeaderMap,
}

impl Head {
    /// `now` is the time by the local clock.
    pub fn read(status: u16, headers: &HeaderMap, now: SystemTime) -> Head {
        let date = headers.get(DATE).and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| httpdate::parse_http_date(date.trim()).ok());
        let ours = now;
        let now = service_time(date, ours);
        // Lossy, because even a value that cannot be read matters: the header is there.
        let retry_after = headers.get(RETRY_AFTER);
        let retry_after =
            retry_after.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        Head {
            status,
            retry_after,
            quota: Quota::read(headers, now),
            redirects_to: None,
            next_page: headers
                .get_all(LINK)
                .iter()
                .find_map(|link| linked(&String::from_utf8_lossy(link.as_bytes()))),
            now,
            ahead: date.and_then(|_| SignedDuration::system_until(ours, now).ok()),
            request_id: REQUEST_IDS
                .iter()
                .find_map(|name| request_id(headers.get(*name)?)),
            lines: HeaderMap::new(),
        }
    }

    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Where services and the machines before them name a request.
const REQUEST_IDS: [&str; 3] = ["x-request-id", "request-id", "x-correlation-id"];

const MAX_REQUEST_ID: usize = 128;

/// The most digits of a phone number (E.164).
const MAX_PHONE_DIGITS: usize = 15;

/// An id that may be shown, also in the log: one word, and no phone number.
fn request_id(value: &HeaderValue) -> Option<String> {
    let id = value.to_str().ok()?.trim();
    let is_word =
        (1..=MAX_REQUEST_ID).contains(&id.len()) && id.chars().all(|c| c.is_ascii_graphic());
    let digits = id.bytes().filter(u8::is_ascii_digit).count();
    let is_number = !id.contains(|c: char| c.is_ascii_alphabetic()) && digits <= MAX_PHONE_DIGITS;
    (is_word && !is_number).then(|| id.to_owned())
}

/// A `Date` has whole seconds, and the answer takes time to arrive: a difference
/// up to this is ignored.
const SAME_TIME: Duration = Duration::from_secs(2);

/// The time by the service's clock, if the answer has a `Date` (RFC 9110, 6.6.1) that differs from
/// the local clock: the times that the service states are by its own clock.
fn service_time(date: Option<SystemTime>, ours: SystemTime) -> SystemTime {
    let difference = |theirs: SystemTime| match theirs.duration_since(ours) {
        Ok(ahead) => ahead,
        Err(behind) => behind.duration(),
    };
    date.filter(|date| difference(*date) > SAME_TIME)
        .unwrap_or(ours)
}

const MAX_LOCATION: usize = 4096;

/// The address that `location` names in an answer to a request to `asked`, in a form that may be
/// shown. User names, queries and fragments may hold secrets and are left out. A part of the path
/// that is a long word may be a secret too, and is replaced by `…`.
pub(super) fn target(asked: &Url, location: &HeaderValue) -> Option<String> {
    let location = std::str::from_utf8(location.as_bytes()).ok()?;
    if location.len() > MAX_LOCATION {
        return None;
    }
    let url = asked.join(location.trim()).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let shown = |part| if looks_secret(part) { "…" } else { part };
    let path: Vec<&str> = url.path().split('/').map(shown).collect();
    Some(url.origin().ascii_serialization() + &path.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(bytes: &[u8]) -> HeaderValue {
        HeaderValue::from_bytes(bytes).unwrap()
    }

    #[test]
    fn without_a_date_that_can_be_read_our_clock_counts() {
        let ours = SystemTime::now();
        for date in [None, Some(""), Some("today")] {
            let headers = date.map(|date| (DATE, value(date.as_bytes())));
            let head = Head::read(200, &headers.into_iter().collect(), ours);
            assert_eq!((head.now, head.ahead), (ours, None));
        }
    }

    #[test]
    fn a_request_id_is_one_word_that_is_no_phone_number() {
        let id = |text: &str| request_id(&value(text.as_bytes()));
        for shown in ["7f3a-81bc", "req_1", "12345678901234567890"] {
            assert_eq!(id(shown).as_deref(), Some(shown));
        }
        assert_eq!(id(" abc "), Some("abc".into()));
        let long = "a".repeat(MAX_REQUEST_ID + 1);
        let numbers = ["+447911000001", "447911000001", "(+44)-7911-000-001"];
        for none in ["", "a b", "é", &long].into_iter().chain(numbers) {
            assert_eq!(id(none), None, "{none}");
        }
    }

    #[test]
    fn the_address_is_shown_without_what_may_be_secret() {
        let asked = Url::parse("https://app.example.com:8443/api/user/lead").unwrap();
        for (location, shown) in [
            (
                "https://new.example.com/login",
                "https://new.example.com/login",
            ),
            (" /login ", "https://app.example.com:8443/login"),
            ("login", "https://app.example.com:8443/api/user/login"),
            ("//other.example", "https://other.example/"),
            (
                "http://app.example.com/api/user/lead",
                "http://app.example.com/api/user/lead",
            ),
            (
                "https://me:secret@new.example.com/a?token=secret#secret",
                "https://new.example.com/a",
            ),
            (
                "/reset/eyJhbGciOiJIUzI1NiJ9abcdef/now",
                "https://app.example.com:8443/reset/…/now",
            ),
            ("/17|secret", "https://app.example.com:8443/…"),
            ("/a\tb", "https://app.example.com:8443/ab"),
        ] {
            assert_eq!(
                target(&asked, &value(location.as_bytes())).as_deref(),
                Some(shown)
            );
        }
        let long = format!("/{}", "a/".repeat(MAX_LOCATION));
        for none in [
            "mailto:me@example.com",
            "javascript:alert(1)",
            "https://",
            &long,
        ] {
            assert_eq!(target(&asked, &value(none.as_bytes())), None, "{none}");
        }
        assert_eq!(target(&asked, &value(b"\xFF")), None);
    }
}
