//! Whole numbers.

use std::fmt;
use std::num::{IntErrorKind, NonZeroU32, NonZeroUsize, ParseIntError};
use std::str::FromStr;

use super::{Form, Value, ValueError};
use crate::pipeline::ConcurrencyChoice;

/// Each request in flight takes a file descriptor, and systems give a process no more than
/// a thousand or so of them unasked.
const MAX_IN_FLIGHT: usize = 1000;

/// How many requests may be in flight: a number, or `auto`.
impl Value for ConcurrencyChoice {
    const FORM: Form = Form::TextOrNumber;
    const INSTEAD: &'static str = "write a whole number, or `\"auto\"`";

    fn parse(text: &str) -> Result<ConcurrencyChoice, ValueError> {
        if text.trim() == "auto" {
            return Ok(ConcurrencyChoice::Auto);
        }
        let most: Option<NonZeroUsize> = text.trim().parse().ok();
        most.filter(|most| most.get() <= MAX_IN_FLIGHT)
            .map(ConcurrencyChoice::Fixed)
            .ok_or_else(|| {
                ValueError(format!(
                    "write a number from 1 to {MAX_IN_FLIGHT}, or `auto`"
                ))
            })
    }
}

const NUMBER: &str = "write it without quotes, such as `100`";

/// A whole number from 1 on.
impl Value for NonZeroU32 {
    const FORM: Form = Form::Number;
    const INSTEAD: &'static str = NUMBER;

    fn parse(text: &str) -> Result<NonZeroU32, ValueError> {
        whole_number(text, 1, u32::MAX)
    }
}

/// A whole number.
impl Value for u64 {
    const FORM: Form = Form::Number;
    const INSTEAD: &'static str = NUMBER;

    fn usual_form(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn parse(text: &str) -> Result<u64, ValueError> {
        whole_number(text, 0, u64::MAX)
    }
}

fn whole_number<T>(text: &str, least: u8, most: impl fmt::Display) -> Result<T, ValueError>
where
    T: FromStr<Err = ParseIntError>,
{
    text.trim().parse().map_err(|error: ParseIntError| {
        let up_to = match error.kind() {
            IntErrorKind::PosOverflow => format!("to {most}"),
            _ => "on".to_owned(),
        };
        ValueError(format!("write a whole number from {least} {up_to}"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::refuses;
    use super::*;

    #[test]
    fn requests_in_flight_are_a_number_or_left_to_the_program() {
        let fixed = |most| Ok(ConcurrencyChoice::Fixed(NonZeroUsize::new(most).unwrap()));
        assert_eq!(Value::parse("auto"), Ok(ConcurrencyChoice::Auto));
        assert_eq!(Value::parse("1"), fixed(1));
        assert_eq!(Value::parse("1000"), fixed(1000));
        refuses::<ConcurrencyChoice>(&["", "0", "-1", "1001", "many", "1.5"]);
    }

    #[test]
    fn a_number_that_is_too_large_is_told_how_large_it_may_be() {
        let said = |text| NonZeroU32::parse(text).unwrap_err().to_string();
        assert_eq!(said("0"), "write a whole number from 1 on");
        assert_eq!(said("1.5"), "write a whole number from 1 on");
        assert_eq!(
            said("4294967296"),
            "write a whole number from 1 to 4294967295"
        );
        assert!(NonZeroU32::parse("4294967295").is_ok());
    }
}
