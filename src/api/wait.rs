//! The wait before the next request that an answer demands.
//!
//! None where it says nothing, no time (a negative number, a word) or "now", which is no hint
//! either: a client that follows it is refused again, at full speed. A date in the past is
//! "now" too.

use std::time::{Duration, SystemTime};

use serde_json::Value;

/// The longest wait that is believed, one day: no service asks for more than that.
pub const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// The wait if the service asks for more than [`LONGEST_WAIT`]. The next request
/// after it may get the same answer.
const WAIT_INSTEAD: Duration = Duration::from_secs(3600);

/// What a header `Retry-After` says: seconds or an HTTP date (RFC 9110, 10.2.3), which
/// is compared with `now`. Fractions are outside the standard, and common.
pub(super) fn of_header(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return of_seconds(seconds);
    }
    let until = httpdate::parse_http_date(text).ok()?;
    bounded(until.duration_since(now).ok()?)
}

/// What a field of a body says: seconds, as a number or as text.
pub(super) fn of_field(value: &Value) -> Option<Duration> {
    of_seconds(match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    })
}

/// This long from now.
pub(super) fn bounded(time: Duration) -> Option<Duration> {
    let is_believed = time <= LONGEST_WAIT;
    (!time.is_zero()).then_some(if is_believed { time } else { WAIT_INSTEAD })
}

fn of_seconds(seconds: f64) -> Option<Duration> {
    if !seconds.is_finite() || seconds < 0.0 {
        return None;
    }
    bounded(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1970-01-01T00:01:00Z.
    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(60)
    }

    fn said(seconds: u64) -> Option<Duration> {
        Some(Duration::from_secs(seconds))
    }

    #[test]
    fn a_header_says_seconds_or_a_date() {
        for (text, wait) in [
            ("37", said(37)),
            (" 37 ", said(37)),
            ("0.5", Some(Duration::from_millis(500))),
            ("86400", said(86_400)),
            ("86401", Some(WAIT_INSTEAD)),
            ("1e300", Some(WAIT_INSTEAD)),
            ("Thu, 01 Jan 1970 00:02:30 GMT", said(90)),
            ("Fri, 31 Dec 1999 23:59:59 GMT", Some(WAIT_INSTEAD)),
            ("Thu, 01 Jan 1970 00:01:00 GMT", None),
            ("Thu, 01 Jan 1970 00:00:59 GMT", None),
            // No time of a computer.
            ("Wed, 31 Dec 1969 23:59:59 GMT", None),
            ("0", None),
            ("-0", None),
            ("-5", None),
            ("NaN", None),
            ("inf", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(of_header(text, now()), wait, "{text}");
        }
    }
}
