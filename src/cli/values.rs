//! Values of flags that are neither words nor plain numbers.

use std::num::{NonZeroU32, NonZeroUsize};
use std::str::FromStr;
use std::time::Duration;

use jiff::{SignedDuration, Span, SpanRelativeTo};
use thiserror::Error;

use crate::phone::{PhoneNumber, Region};
use crate::pipeline::ConcurrencyChoice;
use crate::rate::{Rate, RateError};
use crate::source::{Encoding, EncodingError};

/// Each request in flight takes a file descriptor, and systems give a process no more than
/// a thousand or so of them unasked.
const MOST_IN_FLIGHT: usize = 1000;

/// The longest time in days, some 20 000 years: every unit alone goes up to it.
const MOST_DAYS: u32 = 7_304_484;

/// Why a number or a time is not taken: what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum ValueError {
    /// It is none, or not of this kind.
    #[error("{0}")]
    Wrong(String),
    /// It is one, and beyond what is meant.
    #[error("{0}")]
    TooLarge(String),
}

impl ValueError {
    /// What is wrong with a text: that its numbers are too large, where it `fits` with
    /// small ones; then `largest` says how large they may be.
    fn of(
        text: &str,
        fits: impl Fn(&str) -> bool,
        instead: impl Into<String>,
        largest: impl Into<String>,
    ) -> ValueError {
        match has_large_number(text) && fits(&with_small_numbers(text)) {
            true => ValueError::TooLarge(largest.into()),
            false => ValueError::Wrong(instead.into()),
        }
    }
}

/// Whether a number in it has more than two digits, and none is nought.
fn has_large_number(text: &str) -> bool {
    let numbers = text.split(|c: char| !c.is_ascii_digit());
    let digits = numbers.filter(|number| !number.is_empty());
    let digits: Vec<usize> = digits
        .map(|number| number.trim_start_matches('0').len())
        .collect();
    digits.iter().all(|digits| *digits > 0) && digits.iter().any(|digits| *digits > 2)
}

/// The text with 1 for every number.
fn with_small_numbers(text: &str) -> String {
    let mut small = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_ascii_digit() {
            false => small.push(c),
            true if small.ends_with('1') => {}
            true => small.push('1'),
        }
    }
    small
}

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

/// The value of `--rate`.
pub(super) fn rate(text: &str) -> Result<RateArg, ValueError> {
    let or_word = |said: String| format!("{said}; or `auto` or `none`");
    text.parse().map_err(|error: RateError| {
        let (instead, largest) = (error.to_string(), Rate::largest());
        ValueError::of(text, is_rate, or_word(instead), or_word(largest))
    })
}

/// A limit.
pub(super) fn limit(text: &str) -> Result<Rate, ValueError> {
    text.parse().map_err(|error: RateError| {
        ValueError::of(text, is_rate, error.to_string(), Rate::largest())
    })
}

fn is_rate(text: &str) -> bool {
    text.parse::<Rate>().is_ok()
}

/// A duration such as `500ms`, `60s`, `1h30m` or `2d`; not zero. A day has 24 hours.
pub(super) fn duration(text: &str) -> Result<Duration, ValueError> {
    let instead = "write a number and its unit, such as `500ms`, `60s`, `5min`, `1h` or `2d`";
    let fits = |text: &str| time(text).is_some();
    time(text).ok_or_else(|| ValueError::of(text, fits, instead, up_to_longest(instead)))
}

fn time(text: &str) -> Option<Duration> {
    let time = span(text).and_then(|time| Duration::try_from(time).ok());
    time.filter(|time| !time.is_zero())
}

/// An age such as `90d`, `2w` or `12h`; a day has 24 hours.
pub(super) fn age(text: &str) -> Result<SignedDuration, ValueError> {
    let instead = "write a number and its unit, such as `90d`, `2w` or `12h`";
    let age = |text: &str| span(text).filter(|age| !age.is_negative());
    let fits = |text: &str| age(text).is_some();
    age(text).ok_or_else(|| ValueError::of(text, fits, instead, up_to_longest(instead)))
}

fn up_to_longest(instead: &str) -> String {
    format!("{instead}; the longest is `{MOST_DAYS}d`")
}

fn span(text: &str) -> Option<SignedDuration> {
    let span: Span = text.trim().parse().ok()?;
    let span = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    // Several units together could be more.
    let longest = SignedDuration::from_hours(24 * i64::from(MOST_DAYS));
    (span <= longest).then_some(span)
}

/// How many requests may be in flight: a number, or `auto`.
pub(super) fn concurrency(text: &str) -> Result<ConcurrencyChoice, ValueError> {
    if text.trim() == "auto" {
        return Ok(ConcurrencyChoice::Auto);
    }
    let most: Option<NonZeroUsize> = text.trim().parse().ok();
    most.filter(|most| most.get() <= MOST_IN_FLIGHT)
        .map(ConcurrencyChoice::Fixed)
        .ok_or_else(|| {
            let instead = format!("write a number from 1 to {MOST_IN_FLIGHT}, or `auto`");
            ValueError::of(text, is_number, &instead, &instead)
        })
}

/// A whole number from 1 on.
pub(super) fn from_one(text: &str) -> Result<NonZeroU32, ValueError> {
    let instead = "write a whole number from 1 on";
    let largest = format!("write a whole number from 1 to {}", u32::MAX);
    text.trim()
        .parse()
        .map_err(|_| ValueError::of(text, is_number, instead, largest))
}

/// A whole number.
pub(super) fn whole(text: &str) -> Result<u64, ValueError> {
    let instead = "write a whole number from 0 on";
    let largest = format!("write a whole number from 0 to {}", u64::MAX);
    text.trim()
        .parse()
        .map_err(|_| ValueError::of(text, is_number, instead, largest))
}

fn is_number(text: &str) -> bool {
    text.trim().parse::<u64>().is_ok()
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
    text.parse().map_err(|error| match error {
        EncodingError::Unknown {
            nearest: Some(nearest),
            ..
        } => format!("did you mean `{nearest}`?"),
        EncodingError::Unknown { nearest: None, .. } => {
            "write its usual name, such as `UTF-8`, `windows-1252` or `Shift_JIS`".into()
        }
        EncodingError::Unsupported { .. } => {
            "it is not read by anybody any more: convert the file to UTF-8".into()
        }
    })
}

/// A country.
pub(super) fn region(text: &str) -> Result<Region, String> {
    Region::parse(text).ok_or_else(|| {
        let hint = match Region::nearest(text) {
            Some(nearest) => format!("; did you mean {nearest}?"),
            None => String::new(),
        };
        format!("write an ISO code such as DE, or an English name{hint}")
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
    fn what_is_too_large_is_told_from_what_is_no_number() {
        let is_too_large = |found: Option<ValueError>| match found {
            Some(ValueError::TooLarge(_)) => true,
            Some(ValueError::Wrong(_)) => false,
            None => panic!("it is taken"),
        };
        let nines = "9".repeat(20);
        for (text, expected) in [(&*nines, true), ("1.5", false), ("-1", false), ("", false)] {
            assert_eq!(is_too_large(whole(text).err()), expected, "{text}");
            assert_eq!(is_too_large(from_one(text).err()), expected, "{text}");
            assert_eq!(is_too_large(concurrency(text).err()), expected, "{text}");
        }
        assert!(!is_too_large(from_one("0").err()));
        for unit in ["h", "d"] {
            let text = format!("{nines}{unit}");
            assert!(is_too_large(duration(&text).err()), "{text}");
            assert!(is_too_large(age(&text).err()), "{text}");
            assert!(is_too_large(rate(&format!("{nines}/{unit}")).err()));
            assert!(is_too_large(limit(&format!("5/{text}")).err()));
        }
        for text in ["999", "999mo", "-999s", "0s"] {
            assert!(!is_too_large(duration(text).err()), "{text}");
        }
        for text in ["0/s", "999/0s", "999/fortnight", "999"] {
            assert!(!is_too_large(rate(text).err()), "{text}");
        }
    }

    #[test]
    fn what_is_too_large_is_told_with_the_largest_value_which_is_taken() {
        fn said<T: std::fmt::Debug>(found: Result<T, ValueError>) -> String {
            found.unwrap_err().to_string()
        }
        let nines = "9".repeat(20);
        let most = u32::MAX.to_string();
        assert!(from_one(&most).is_ok() && said(from_one(&nines)).contains(&most));
        let most = u64::MAX.to_string();
        assert!(whole(&most).is_ok() && said(whole(&nines)).contains(&most));
        for text in [format!("{nines}s"), "7304485d".into(), "7304484d1s".into()] {
            let longest = "; the longest is `7304484d`";
            assert!(said(duration(&text)).ends_with(longest), "{text}");
            assert!(said(age(&text)).ends_with(longest), "{text}");
        }
        assert!(duration("7304484d").is_ok() && age("175307616h").is_ok());
        for text in ["1000001/s", "5/999d"] {
            assert!(
                said(limit(text)).contains("; up to 1000000 requests in up to a day"),
                "{text}"
            );
        }
        assert!(said(rate("1000001/s")).ends_with("; or `auto` or `none`"));
        assert!(rate("1000000/d").is_ok());
    }

    #[test]
    fn a_rate_is_a_limit_or_one_of_two_words() {
        assert_eq!("auto".parse(), Ok(RateArg::Auto));
        assert_eq!(" none ".parse(), Ok(RateArg::Unlimited));
        assert_eq!("5/s".parse(), Ok(RateArg::Limit(Rate::per_second(5))));
        for text in ["fast", "Auto", ""] {
            let error = rate(text).unwrap_err().to_string();
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
