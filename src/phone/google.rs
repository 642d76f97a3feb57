//! Reads digits with Google's library.

use rlibphonenumber::{
    PHONE_NUMBER_UTIL, ParseError, PhoneNumberFormat, get_national_significant_number_owned,
};

use super::number::FEWEST_DIGITS;
use super::plan::CallingCode;
use super::problem::{Origin, Result};
use super::{PhoneNumber, PhoneProblem, Region};

/// More digits than this are never a number, whatever prefixes they have.
const MAX_DIALLED: usize = 30;

pub(super) fn read_international(digits: &str) -> Result<PhoneNumber> {
    let code = CallingCode::beginning(digits).ok_or(PhoneProblem::NoSuchCallingCode)?;
    read(&format!("+{digits}"), None, code.origin())
}

/// Reads digits as they are dialled within a region: with its prefix for
/// calls abroad, with its own calling code, or as a number of the region.
pub(super) fn read_within(digits: &str, region: Region) -> Result<PhoneNumber> {
    read(digits, Some(region), CallingCode::of(region).origin())
}

/// The number as it is written within its country; empty if no country has it.
pub(super) fn national_format(number: PhoneNumber) -> String {
    let number = PHONE_NUMBER_UTIL.parse(number.to_string(), None);
    let national = number.map(|number| number.format_as(PhoneNumberFormat::National).into_owned());
    national.unwrap_or_default()
}

fn read(text: &str, region: Option<Region>, origin: Origin) -> Result<PhoneNumber> {
    if text.len() > MAX_DIALLED {
        return Err(PhoneProblem::TooLong(origin));
    }
    let number = PHONE_NUMBER_UTIL
        .parse(text, region.map(|region| region.0))
        .map_err(|error| match error {
            ParseError::InvalidCountryCode => PhoneProblem::NoSuchCallingCode,
            ParseError::TooLongNsn => PhoneProblem::TooLong(origin),
            // Text that is only digits fails here only if it has hardly any digits.
            ParseError::NotANumber(_) | ParseError::TooShortNsn | ParseError::TooShortAfterIdd => {
                PhoneProblem::TooShort(origin)
            }
        })?;
    let national = get_national_significant_number_owned(&number);
    let digits = format!("{}{national}", number.country_code);
    PhoneNumber::from_digits(&digits).ok_or_else(|| too_short_or_long(&digits, origin))
}

/// The problem of digits that are too few or too many for a number.
pub(super) fn too_short_or_long(digits: &str, origin: Origin) -> PhoneProblem {
    if digits.len() < FEWEST_DIGITS {
        PhoneProblem::TooShort(origin)
    } else {
        PhoneProblem::TooLong(origin)
    }
}
