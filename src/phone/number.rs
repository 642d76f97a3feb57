//! A phone number in international form.
//!
//! Promise: a [`PhoneNumber`] has 7 to 15 digits and no leading zero. So its digits
//! can be stored as an integer, and two ways of writing the same number are equal.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::PhoneProblem;
use super::plan::National;
use super::problem::Result;

/// The fewest digits of a number, calling code included. This is the
/// minimum of the service, and no international number is shorter.
pub(super) const FEWEST_DIGITS: usize = 7;

/// The most digits of a number, calling code included (ITU-T E.164, 6.2).
pub(super) const MAX_DIGITS: usize = 15;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PhoneNumber(u64);

impl PhoneNumber {
    /// Reads a number that is written exactly as [`PhoneNumber`] displays
    /// it. White space around it is ignored.
    pub fn from_e164(text: &str) -> Result<PhoneNumber> {
        let text = text.trim();
        match text.strip_prefix('+').and_then(PhoneNumber::from_digits) {
            Some(number) => Ok(number),
            None if text.is_empty() => Err(PhoneProblem::Missing),
            None => Err(PhoneProblem::NotE164),
        }
    }

    /// The digits as an integer, which is different for every phone number.
    pub fn key(self) -> u64 {
        self.0
    }

    /// The calling code at the beginning of the number; 0 if no country has it.
    pub fn calling_code(self) -> u16 {
        National::of(self).plan.code
    }

    /// The number with this [`key`](Self::key); `None` if no number has it.
    pub fn from_key(key: u64) -> Option<PhoneNumber> {
        let fewest = 10_u64.pow(FEWEST_DIGITS as u32 - 1);
        let most = 10_u64.pow(MAX_DIGITS as u32) - 1;
        (fewest..=most).contains(&key).then_some(PhoneNumber(key))
    }

    /// The number with these digits: 7 to 15 ASCII digits, the first not 0.
    pub(super) fn from_digits(digits: &str) -> Option<PhoneNumber> {
        // A sign and zeros before the digits would also be parsed.
        let is_plain = digits.starts_with(|c| matches!(c, '1'..='9'));
        let key = digits.parse().ok().filter(|_| is_plain)?;
        PhoneNumber::from_key(key)
    }
}

impl fmt::Display for PhoneNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_shown_as_it_was_read() {
        for text in ["+1234567", "+447911123456", "+999999999999999"] {
            assert_eq!(PhoneNumber::from_e164(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn white_space_around_a_number_is_left_out() {
        let number = PhoneNumber::from_e164("\u{a0} +447911123456\n").unwrap();
        assert_eq!(number.key(), 447_911_123_456);
    }

    #[test]
    fn a_number_is_known_again_by_its_key() {
        for text in ["+1000000", "+999999999999999"] {
            let number = PhoneNumber::from_e164(text).unwrap();
            assert_eq!(PhoneNumber::from_key(number.key()), Some(number));
        }
        for key in [0, 999_999, 1_000_000_000_000_000] {
            assert_eq!(PhoneNumber::from_key(key), None, "{key}");
        }
    }

    #[test]
    fn anything_but_a_plus_and_seven_to_fifteen_digits_is_refused() {
        for text in [
            "447911123456",
            "+0447911123456",
            "+123456",
            "+1234567890123456",
            "+44 7911 123456",
            "++447911123456",
            "+4479111234a6",
            "+٤٤٧٩١١١٢٣٤٥٦",
        ] {
            assert_eq!(
                PhoneNumber::from_e164(text),
                Err(PhoneProblem::NotE164),
                "{text}"
            );
        }
        assert_eq!(PhoneNumber::from_e164(" \t"), Err(PhoneProblem::Missing));
    }
}
