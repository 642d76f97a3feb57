//! Times, and how many requests there may be in one.

use std::time::Duration;

use jiff::{SignedDuration, Span, SpanRelativeTo};

use super::{Form, Value, ValueError};
use crate::rate::{Rate, RateError};

/// The longest time, some 20 000 years: every unit alone goes up to it.
const LONGEST: SignedDuration = SignedDuration::from_hours(24 * 7_304_484);

/// A limit of requests, or a word in the place of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateArg {
    /// `auto`: what the service is found to allow.
    Auto,
    /// `none`: no limit of our own.
    Unlimited,
    /// A limit.
    Limit(Rate),
}

impl Value for RateArg {
    const FORM: Form = Form::Text;
    const INSTEAD: &'static str = Rate::INSTEAD;

    fn parse(text: &str) -> Result<RateArg, ValueError> {
        match text.trim() {
            "auto" => Ok(RateArg::Auto),
            "none" => Ok(RateArg::Unlimited),
            _ => Rate::parse(text)
                .map(RateArg::Limit)
                .map_err(|instead| ValueError(format!("{instead}; or `auto` or `none`"))),
        }
    }
}

impl Value for Rate {
    const FORM: Form = Form::Text;
    const INSTEAD: &'static str = "write it in quotes, such as `\"100/min\"`";

    fn parse(text: &str) -> Result<Rate, ValueError> {
        text.parse()
            .map_err(|error: RateError| ValueError(error.to_string()))
    }
}

/// A time such as `500ms`, `60s`, `1h30m` or `2d`; not zero. A day has 24 hours.
impl Value for Duration {
    const FORM: Form = Form::Text;
    const INSTEAD: &'static str = "write a number and its unit in quotes, such as `\"60s\"`";

    fn parse(text: &str) -> Result<Duration, ValueError> {
        let time = span(text).and_then(|time| Duration::try_from(time).ok());
        let instead = "write a number and its unit, such as `500ms`, `60s`, `5min`, `1h` or `2d`";
        let time = time.filter(|time| !time.is_zero());
        time.ok_or(instead.into())
    }
}

/// An age such as `90d`, `2w` or `12h`; a day has 24 hours.
impl Value for SignedDuration {
    const FORM: Form = Form::Text;
    const INSTEAD: &'static str = Duration::INSTEAD;

    fn parse(text: &str) -> Result<SignedDuration, ValueError> {
        let instead = "write a number and its unit, such as `90d`, `2w` or `12h`";
        let age = span(text).filter(|age| !age.is_negative());
        age.ok_or(instead.into())
    }
}

fn span(text: &str) -> Option<SignedDuration> {
    let span: Span = text.trim().parse().ok()?;
    let span = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    // Several units together could be more than can be added to a time.
    (span <= LONGEST).then_some(span)
}

#[cfg(test)]
mod tests {
    use super::super::refuses;
    use super::*;

    #[test]
    fn durations_need_a_unit_and_are_not_zero() {
        for (text, millis) in [
            ("60s", 60_000),
            ("500ms", 500),
            ("5min", 300_000),
            ("90m", 5_400_000),
            ("1h", 3_600_000),
            ("1h30m", 5_400_000),
            ("2d", 2 * 86_400_000),
        ] {
            assert_eq!(
                Value::parse(text),
                Ok(Duration::from_millis(millis)),
                "{text}"
            );
        }
        refuses::<Duration>(&["", "60", "-5s", "0s", "soon", "1mo", "99999999999999999h"]);
    }

    #[test]
    fn the_longest_duration_can_be_added_to_any_time() {
        let longest: Duration = Value::parse("7304484d").unwrap();
        assert!(std::time::Instant::now().checked_add(longest).is_some());
        refuses::<Duration>(&["7304485d", "7304484d1s"]);
    }

    #[test]
    fn ages_may_be_days_and_weeks_and_nothing_at_all() {
        for (text, hours) in [("90d", 90 * 24), ("2w", 14 * 24), ("12h", 12), ("0s", 0)] {
            assert_eq!(
                Value::parse(text),
                Ok(SignedDuration::from_hours(hours)),
                "{text}"
            );
        }
        refuses::<SignedDuration>(&["", "90", "-1d", "3mo", "1y", "old"]);
    }

    #[test]
    fn a_rate_is_a_limit_or_one_of_two_words() {
        assert_eq!(Value::parse("auto"), Ok(RateArg::Auto));
        assert_eq!(Value::parse(" none "), Ok(RateArg::Unlimited));
        assert_eq!(Value::parse("5/s"), Ok(RateArg::Limit(Rate::per_second(5))));
        for text in ["fast", "Auto", ""] {
            let error = RateArg::parse(text).unwrap_err().to_string();
            assert!(error.ends_with("; or `auto` or `none`"), "{error}");
        }
    }
}
