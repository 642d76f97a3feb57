//! Values of flags that are neither words nor plain numbers.

use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::Duration;

use jiff::{SignedDuration, Span, SpanRelativeTo};

use crate::phone::{PhoneNumber, Region};
use crate::pipeline::ConcurrencyChoice;
use crate::rate::{Rate, RateError};
use crate::source::{Encoding, EncodingError};

/// Each request in flight takes a file descriptor, and systems give a process no more than
/// a thousand or so of them unasked.
const MOST_IN_FLIGHT: usize = 1000;

/// The value of `--rate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateArg {
    /// `auto`: what the service is found to allow.
    Auto,
    /// `none`: no limit of our own.
    Unlimited,
    /// A limit.
    Limit(Rate),
}

impl FromStr for RateArg {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "auto" => Ok(RateArg::Auto),
            "none" => Ok(RateArg::Unlimited),
            text => text.parse().map(RateArg::Limit),
        }
    }
}

/// A duration such as `500ms`, `60s`, `1h30m` or `2d`; not zero. A day has 24 hours.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    span(text)
        .and_then(|duration| Duration::try_from(duration).ok())
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| {
            "write a number and its unit, such as `500ms`, `60s`, `5min`, `1h` or `2d`".into()
        })
}

/// An age such as `90d`, `2w` or `12h`; a day has 24 hours.
pub(super) fn age(text: &str) -> Result<SignedDuration, String> {
    span(text)
        .filter(|age| !age.is_negative())
        .ok_or_else(|| "write a number and its unit, such as `90d`, `2w` or `12h`".into())
}

fn span(text: &str) -> Option<SignedDuration> {
    let span: Span = text.trim().parse().ok()?;
    span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()
}

/// How many requests may be in flight: a number, or `auto`.
pub(super) fn concurrency(text: &str) -> Result<ConcurrencyChoice, String> {
    if text.trim() == "auto" {
        return Ok(ConcurrencyChoice::Auto);
    }
    let most: Option<NonZeroUsize> = text.trim().parse().ok();
    most.filter(|most| most.get() <= MOST_IN_FLIGHT)
        .map(ConcurrencyChoice::Fixed)
        .ok_or_else(|| format!("write a number from 1 to {MOST_IN_FLIGHT}, or `auto`"))
}

/// A phone number as it was sent.
pub(super) fn e164(text: &str) -> Result<PhoneNumber, String> {
    PhoneNumber::from_e164(text)
        .map_err(|_| "write it as it stands in the results, such as `+447911123456`".into())
}

/// One character that is not part of a cell's form, or its name.
pub(super) fn delimiter(text: &str) -> Result<u8, String> {
    match text.to_lowercase().as_str() {
        "tab" | "\\t" | "\t" => Ok(b'\t'),
        "comma" => Ok(b','),
        "semicolon" => Ok(b';'),
        "pipe" => Ok(b'|'),
        other => match other.as_bytes() {
            [byte] if byte.is_ascii_punctuation() && *byte != b'"' || *byte == b' ' => Ok(*byte),
            _ => Err("write one character, such as `;`, or `tab`".into()),
        },
    }
}

/// The name of an encoding.
pub(super) fn encoding(text: &str) -> Result<Encoding, String> {
    text.parse()
        .map_err(|error: EncodingError| error.to_string())
}

/// A country.
pub(super) fn region(text: &str) -> Result<Region, String> {
    Region::parse(text).ok_or_else(|| {
        let hint = match Region::nearest(text) {
            Some(nearest) => format!("; did you mean {nearest}?"),
            None => String::new(),
        };
        format!("no country has this ISO code or name{hint}")
    })
}

/// `NAME=VALUE`.
pub(super) fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.to_owned()))
        }
        _ => Err("write NAME=VALUE".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_unit_and_are_not_zero() {
        assert_eq!(duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("5min"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("90m"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3600)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("2d"), Ok(Duration::from_secs(2 * 86_400)));
        for text in ["", "60", "-5s", "0s", "soon", "1mo", "99999999999999999h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_longest_duration_can_be_added_to_any_time() {
        let longest = duration("7304484d").unwrap();
        assert!(std::time::Instant::now().checked_add(longest).is_some());
    }

    #[test]
    fn requests_in_flight_are_a_number_or_left_to_the_program() {
        let fixed = |most| ConcurrencyChoice::Fixed(NonZeroUsize::new(most).unwrap());
        assert_eq!(concurrency("auto"), Ok(ConcurrencyChoice::Auto));
        assert_eq!(concurrency("1"), Ok(fixed(1)));
        assert_eq!(concurrency("1000"), Ok(fixed(1000)));
        for text in ["", "0", "-1", "1001", "many", "1.5"] {
            assert!(concurrency(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_rate_is_a_limit_or_one_of_two_words() {
        assert_eq!("auto".parse(), Ok(RateArg::Auto));
        assert_eq!(" none ".parse(), Ok(RateArg::Unlimited));
        assert_eq!("5/s".parse(), Ok(RateArg::Limit(Rate::per_second(5))));
        for text in ["fast", "Auto", ""] {
            let error = text.parse::<RateArg>().unwrap_err().to_string();
            assert!(
                error.contains("`auto`") && error.contains("`none`"),
                "{error}"
            );
        }
    }

    #[test]
    fn ages_may_be_days_and_weeks_and_nothing_at_all() {
        assert_eq!(age("90d"), Ok(SignedDuration::from_hours(90 * 24)));
        assert_eq!(age("2w"), Ok(SignedDuration::from_hours(14 * 24)));
        assert_eq!(age("12h"), Ok(SignedDuration::from_hours(12)));
        assert_eq!(age("0s"), Ok(SignedDuration::ZERO));
        for text in ["", "90", "-1d", "3mo", "1y", "old"] {
            assert!(age(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_constant_is_split_at_the_first_equals_sign() {
        assert_eq!(
            name_and_value("greeting=a=b"),
            Ok(("greeting".into(), "a=b".into()))
        );
        assert_eq!(name_and_value("x="), Ok(("x".into(), String::new())));
        assert!(name_and_value("=x").is_err());
        assert!(name_and_value("x").is_err());
    }
}
