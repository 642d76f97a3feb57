//! What the headers of an answer say about the service's rate limit.

use std::num::NonZeroU32;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::HeaderMap;

/// The values of `X-RateLimit-Limit`, `-Remaining` and `-Reset` that an answer
/// has and that make sense.
///
/// The service's document mentions none of them. A vendor's guide says that they are sent: a limit
/// per minute, and an epoch time. They are often missing or odd, which is no error: the others are
/// read all the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quota {
    pub limit: Option<NonZeroU32>,
    /// How many requests are left: at most `limit`, if that is known.
    pub remaining: Option<u32>,
    /// How long until more requests are allowed: more than zero and at most a month.
    pub reset: Option<Duration>,
}

/// The longest period that a limit may be for: a month. A reset further away than that is ignored.
const LONGEST_SPAN: Duration = Duration::from_secs(31 * 24 * 3600);

/// From this value on, a number is a time in seconds since 1970, not a count of
/// seconds. This one is in 2001.
const FIRST_EPOCH_SECOND: f64 = 1e9;

impl Quota {
    /// Epoch times are compared with `now`.
    ///
    /// If an `X-RateLimit-…` header is missing, the name without `X-` is tried:
    /// the IETF's draft-ietf-httpapi-ratelimit-headers used those names up to
    /// -06, before one field replaced the three.
    pub(super) fn read(headers: &HeaderMap, now: SystemTime) -> Option<Quota> {
        let number = |name: &str| {
            let value = headers.get(name).or_else(|| headers.get(&name[2..]))?;
            // In the drafts, the periods may follow the number: `100, 100;w=60`.
            value.to_str().ok()?.split([',', ';']).next().map(str::trim)
        };
        let limit = number("x-ratelimit-limit").and_then(|text| text.parse::<NonZeroU32>().ok());
        let remaining = number("x-ratelimit-remaining").and_then(|text| text.parse::<u32>().ok());
        // More left than allowed: that is not what these numbers mean.
        let is_odd = limit.is_some_and(|limit| remaining > Some(limit.get()));
        let reset = number("x-ratelimit-reset").and_then(|text| time_until(text, now));
        let quota = Quota {
            limit: limit.filter(|_| !is_odd),
            remaining: remaining.filter(|_| !is_odd),
            reset,
        };
        (quota != Quota::default()).then_some(quota)
    }
}

/// The time left until `text`: seconds from `now`, or seconds since 1970 (as in GitHub's headers
/// and the vendor's guide).
fn time_until(text: &str, now: SystemTime) -> Option<Duration> {
    let number: f64 = text.parse().ok()?;
    let seconds = if number < FIRST_EPOCH_SECOND {
        number
    } else {
        number - now.duration_since(UNIX_EPOCH).ok()?.as_secs_f64()
    };
    // A reset that is now or past does not say when more requests are allowed.
    let is_sensible = seconds > 0.0 && seconds <= LONGEST_SPAN.as_secs_f64();
    let time = is_sensible.then(|| Duration::from_secs_f64(seconds))?;
    (!time.is_zero()).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use reqwest::header::{HeaderName, HeaderValue};

    /// 2026-11-21T00:00:00Z.
    const NOW_S: u64 = 1_795_219_200;

    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(NOW_S)
    }

    fn headers(headers: &[(&'static str, &str)]) -> HeaderMap {
        let named = headers.iter().filter_map(|(name, value)| {
            let value = HeaderValue::from_str(value).ok()?;
            Some((HeaderName::from_static(name), value))
        });
        named.collect()
    }

    fn read(all: &[(&'static str, &str)]) -> Option<Quota> {
        Quota::read(&headers(all), now())
    }

    fn limit(text: &str) -> Option<u32> {
        Some(read(&[("x-ratelimit-limit", text)])?.limit?.get())
    }

    fn reset(text: &str) -> Option<Duration> {
        read(&[("x-ratelimit-reset", text)])?.reset
    }

    #[test]
    fn all_three_are_read() {
        let epoch = (NOW_S + 30).to_string();
        let quota = Quota {
            limit: NonZeroU32::new(100),
            remaining: Some(99),
            reset: Some(Duration::from_secs(30)),
        };
        assert_eq!(
            read(&[
                ("x-ratelimit-limit", "100"),
                ("x-ratelimit-remaining", "99"),
                ("x-ratelimit-reset", &epoch),
            ]),
            Some(quota)
        );
        assert_eq!(
            read(&[
                ("ratelimit-limit", "100"),
                ("ratelimit-remaining", "99"),
                ("ratelimit-reset", "30"),
                ("x-ratelimit-limit", "100, 100;w=60"),
            ]),
            Some(quota)
        );
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn the_first_number_of_a_limit_counts() {
        for (text, number) in [
            ("100", Some(100)),
            (" 100 ", Some(100)),
            ("100, 100;w=60, 20;w=10", Some(100)),
            ("100;w=60", Some(100)),
            ("0", None),
            ("-1", None),
            ("1.5", None),
            ("4294967296", None),
            ("many", None),
            ("", None),
        ] {
            assert_eq!(limit(text), number, "{text}");
        }
    }

    #[test]
    fn a_limit_that_is_less_than_what_is_left_is_none() {
        let quota = read(&[
            ("x-ratelimit-limit", "100"),
            ("x-ratelimit-remaining", "101"),
            ("x-ratelimit-reset", "5"),
        ]);
        assert_eq!(
            quota,
            Some(Quota {
                limit: None,
                remaining: None,
                reset: Some(Duration::from_secs(5)),
            })
        );
    }

    #[test]
    fn a_reset_is_in_seconds_or_a_time_since_1970() {
        let seconds = Duration::from_secs;
        for (text, time) in [
            ("30".to_owned(), Some(seconds(30))),
            ("0.5".to_owned(), Some(Duration::from_millis(500))),
            ("86400".to_owned(), Some(Duration::from_secs(86_400))),
            ((NOW_S + 30).to_string(), Some(seconds(30))),
            (format!("{}", (NOW_S + 30) * 1000), None),
            (
                (NOW_S + 86400).to_string(),
                Some(Duration::from_secs(86_400)),
            ),
            (NOW_S.to_string(), None),
            ((NOW_S - 1).to_string(), None),
            ((NOW_S + 366 * 86400).to_string(), None),
            ("31536000".to_owned(), None),
            ("0".to_owned(), None),
            ("-30".to_owned(), None),
            ("NaN".to_owned(), None),
            ("inf".to_owned(), None),
            ("1e300".to_owned(), None),
            ("1e-300".to_owned(), None),
            ("soon".to_owned(), None),
        ] {
            assert_eq!(reset(&text), time, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_or_give_impossible_values(
            limit in ".*|[0-9.eE+-]{1,12}",
            remaining in ".*|[0-9.eE+-]{1,12}",
            reset in ".*|[0-9.eE+-]{1,20}",
            before_1970 in any::<bool>(),
        ) {
            let headers = headers(&[
                ("x-ratelimit-limit", &limit),
                ("x-ratelimit-remaining", &remaining),
                ("x-ratelimit-reset", &reset),
            ]);
            let now = if before_1970 { UNIX_EPOCH - Duration::from_secs(1) } else { now() };
            if let Some(quota) = Quota::read(&headers, now) {
                prop_assert!(quota.reset.is_none_or(|r| !r.is_zero() && r <= LONGEST_SPAN));
                if let (Some(limit), Some(remaining)) = (quota.limit, quota.remaining) {
                    prop_assert!(remaining <= limit.get());
                }
            }
        }
    }
}
