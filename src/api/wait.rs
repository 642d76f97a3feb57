//! How long an answer asks the client to wait before the next request.

use std::time::{Duration, SystemTime};

use serde_json::Value;

/// The longest wait that is believed, one day: no service asks for more than that.
pub const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// The wait if the service asks for more than [`LONGEST_WAIT`]. The next request
/// after it may get the same answer.
const WAIT_INSTEAD: Duration = Duration::from_secs(3600);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// No wait, or "now". A client that follows "now" is refused again, at full speed, so it is
    /// treated as no hint. A date in the past means "now" too.
    Unsaid,
    /// This long: more than zero and at most [`LONGEST_WAIT`].
    Said(Duration),
    /// Longer than [`LONGEST_WAIT`]: replaced by an hour.
    Bounded,
    /// A value that is not a time: a negative number, a word.
    Senseless,
}

impl Wait {
    /// How long to wait; `None` if the answer does not say so in a way that makes sense.
    pub fn time(self) -> Option<Duration> {
        match self {
            Wait::Said(time) => Some(time),
            Wait::Bounded => Some(WAIT_INSTEAD),
            Wait::Unsaid | Wait::Senseless => None,
        }
    }

    /// Reads a `Retry-After` header: seconds or an HTTP date (RFC 9110, 10.2.3), which is compared
    /// with `now`. Fractions are common, although the standard does not allow them.
    pub(super) fn of_header(text: &str, now: SystemTime) -> Wait {
        let text = text.trim();
        match text.parse() {
            Ok(seconds) => Wait::of_seconds(seconds),
            Err(_) => match httpdate::parse_http_date(text) {
                Ok(until) => Wait::of_duration(until.duration_since(now).unwrap_or_default()),
                Err(_) => Wait::Senseless,
            },
        }
    }

    /// Reads a field of a body: seconds, as a number or as text.
    pub(super) fn of_field(value: &Value) -> Wait {
        let seconds = match value {
            Value::Null => return Wait::Unsaid,
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        seconds.map_or(Wait::Senseless, Wait::of_seconds)
    }

    /// A wait of `time` from now.
    pub(super) fn of_duration(time: Duration) -> Wait {
        if time.is_zero() {
            Wait::Unsaid
        } else if time > LONGEST_WAIT {
            Wait::Bounded
        } else {
            Wait::Said(time)
        }
    }

    fn of_seconds(seconds: f64) -> Wait {
        if !seconds.is_finite() || seconds < 0.0 {
            Wait::Senseless
        } else if seconds > LONGEST_WAIT.as_secs_f64() {
            Wait::Bounded
        } else {
            Wait::of_duration(Duration::from_secs_f64(seconds))
        }
    }

    /// This wait, or `other` if this one is of no use.
    pub(super) fn or(self, other: Wait) -> Wait {
        match (self, other) {
            (Wait::Said(_) | Wait::Bounded, _) => self,
            (Wait::Senseless, Wait::Unsaid) => Wait::Senseless,
            _ => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1970-01-01T00:01:00Z.
    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(60)
    }

    fn said(seconds: u64) -> Wait {
        Wait::Said(Duration::from_secs(seconds))
    }

    #[test]
    fn a_header_says_seconds_or_a_date() {
        for (text, wait) in [
            ("37", said(37)),
            (" 37 ", said(37)),
            ("0.5", Wait::Said(Duration::from_millis(500))),
            ("86400", said(86_400)),
            ("86401", Wait::Bounded),
            ("1e300", Wait::Bounded),
            ("Thu, 01 Jan 1970 00:02:30 GMT", said(90)),
            ("Fri, 31 Dec 1999 23:59:59 GMT", Wait::Bounded),
            ("Thu, 01 Jan 1970 00:01:00 GMT", Wait::Unsaid),
            ("Thu, 01 Jan 1970 00:00:59 GMT", Wait::Unsaid),
            // Before 1970.
            ("Wed, 31 Dec 1969 23:59:59 GMT", Wait::Senseless),
            ("0", Wait::Unsaid),
            ("-0", Wait::Unsaid),
            ("-5", Wait::Senseless),
            ("NaN", Wait::Senseless),
            ("inf", Wait::Senseless),
            ("soon", Wait::Senseless),
            ("", Wait::Senseless),
        ] {
            assert_eq!(Wait::of_header(text, now()), wait, "{text}");
        }
    }

    #[test]
    fn sensible_values_are_preferred_to_nonsense() {
        for (one, other, wait) in [
            (said(1), said(2), said(1)),
            (Wait::Bounded, said(2), Wait::Bounded),
            (Wait::Unsaid, said(2), said(2)),
            (Wait::Senseless, said(2), said(2)),
            (Wait::Senseless, Wait::Unsaid, Wait::Senseless),
            (Wait::Unsaid, Wait::Senseless, Wait::Senseless),
            (Wait::Unsaid, Wait::Unsaid, Wait::Unsaid),
        ] {
            assert_eq!(one.or(other), wait, "{one:?} or {other:?}");
        }
    }

    #[test]
    fn no_wait_is_longer_than_the_longest() {
        assert_eq!(Wait::Bounded.time(), Some(WAIT_INSTEAD));
        assert_eq!(said(5).time(), Some(Duration::from_secs(5)));
        assert_eq!(Wait::Senseless.time(), None);
        assert_eq!(Wait::Unsaid.time(), None);
    }
}
