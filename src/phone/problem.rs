//! Why a cell does not give a phone number.

use thiserror::Error;

use super::{LineKind, Region};
use crate::lead::ErrorCode;

pub(super) type Result<T> = std::result::Result<T, PhoneProblem>;

/// Why a cell does not give a phone number that may be called, and what to do about it.
///
/// It is displayed as a sentence for the results file. The sentence never quotes the cell,
/// which is in the same row of that file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PhoneProblem {
    #[error("the phone number is missing")]
    Missing,
    /// Not `+` and 7 to 15 digits, where nothing else is accepted.
    #[error("the phone number is not `+` and 7 to 15 digits, of which the first is not 0")]
    NotE164,
    #[error("the phone cell has too much text to be a phone number")]
    TooMuchText,
    #[error("there is no phone number in this cell")]
    NoDigits,
    #[error("the phone number has letters in it: write it with digits only")]
    Letters,
    #[error("the phone number has `{}` in it, which no phone number is written with", .0.escape_debug())]
    Symbol(char),
    #[error("the phone number has a 0 where the country code belongs")]
    LeadingZero,
    #[error(
        "the phone number has no country: write it with `+` and the country code, or name its country with --region{}",
        if *.has_code { " (or --assume-plus, if the country code is there and only the `+` is missing)" } else { "" }
    )]
    NoCountry {
        /// Whether the digits would be a valid number with a plus before them.
        has_code: bool,
    },
    /// An extension: without it another phone would ring.
    #[error("the phone number has an extension, which cannot be dialled: give the direct number")]
    Extension,
    #[error(
        "a spreadsheet has damaged the phone number: type it in again, or export the list again and open it with the phone column as text"
    )]
    Damaged,
    #[error("the phone cell holds more than one number: keep the one to call")]
    Several,
    /// What is before the last slash or the brackets at the end is a number by itself.
    #[error(
        "the phone number has two endings, or a slash or bracket too many: keep the one to call"
    )]
    TwoEndings,
    /// The country code seems to be there twice, or a 0 after it that does not belong there.
    #[error(
        "the phone number may have its country code twice, or a 0 too many after it: write it with `+` and the country code once"
    )]
    CodeTwice,
    /// It is a number in use in two ways: `00` and a longer prefix of its country both make one of
    /// it, or a plus behind it and its region.
    #[error("the phone number may be one of two countries: write it with `+` and the country code")]
    TwoCountries,
    #[error("some digits of the phone number are hidden: write it in full")]
    Masked,
    #[error("the phone cell looks like a date or a time, not like a phone number")]
    Date,
    #[error("the phone cell looks like an amount, not like a phone number")]
    Amount,
    /// A local number: what it reaches depends on where it is dialled.
    #[error(
        "the phone number has no area code: write it into its column, or the whole number into the phone cell"
    )]
    NoAreaCode,
    /// It is a number in use with its area code before it, and another one without.
    #[error(
        "the phone number and its area code can be read in two ways: write the whole number with + and the country code into the phone cell"
    )]
    AreaCodeTwice,
    #[error("the phone number begins with a country code that no country has")]
    NoSuchCallingCode,
    #[error("the phone number is too short for a number {}", .0)]
    TooShort(Origin),
    #[error("the phone number is too long for a number {}", .0)]
    TooLong(Origin),
    #[error("the phone number is too long for a number {}: leave out the 1 behind the country code, which is no longer dialled", .0)]
    OldPrefix(Origin),
    /// The number of digits lies between two possible numbers of digits.
    #[error("the phone number has too few or too many digits for a number {}", .0)]
    WrongLength(Origin),
    #[error("the phone number is not in use: there are no such numbers {}", .0)]
    NotInUse(Origin),
    #[error("the phone number is one {}, which is not among the countries that --countries allows", .0)]
    CountryNotAllowed(Origin),
    #[error("the phone number is {}, a kind that is not among those that --phone-kinds allows", .0.in_sentence())]
    KindNotAllowed(LineKind),
}

impl PhoneProblem {
    /// Why a number that stands in no list cannot be called: without advice about the rows of one.
    pub fn of_typed(&self) -> String {
        match self {
            PhoneProblem::NoDigits => "it has no digits".to_owned(),
            PhoneProblem::NoCountry { .. } => "it has no country".to_owned(),
            other => other.to_string(),
        }
    }

    pub fn code(&self) -> ErrorCode {
        use PhoneProblem as P;
        match self {
            P::Missing => ErrorCode::PhoneMissing,
            P::NotE164 | P::TooMuchText | P::NoDigits | P::Letters | P::Symbol(_) => {
                ErrorCode::PhoneNotE164
            }
            P::LeadingZero | P::NoCountry { .. } | P::NoAreaCode | P::Extension => {
                ErrorCode::PhoneNotE164
            }
            P::Masked | P::Date | P::Amount => ErrorCode::PhoneNotE164,
            P::Damaged => ErrorCode::PhoneDamaged,
            P::Several | P::TwoEndings | P::CodeTwice | P::TwoCountries | P::AreaCodeTwice => {
                ErrorCode::PhoneAmbiguous
            }
            P::NoSuchCallingCode | P::TooShort(_) | P::TooLong(_) => ErrorCode::PhoneImpossible,
            P::OldPrefix(_) | P::WrongLength(_) => ErrorCode::PhoneImpossible,
            P::NotInUse(_) => ErrorCode::PhoneInvalid,
            P::CountryNotAllowed(_) => ErrorCode::CountryNotAllowed,
            P::KindNotAllowed(_) => ErrorCode::PhoneKind,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Origin {
    /// The country, or the main one if several share the calling code.
    pub country: Option<Region>,
    /// Whether other countries have the same calling code.
    pub is_shared: bool,
    /// The calling code; 0 if there is none.
    pub calling_code: u16,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let others = if self.is_shared { " and others" } else { "" };
        match (self.country.map(Region::name), self.calling_code) {
            (_, 0) => f.write_str("of no known country"),
            (None, code) => write!(f, "with +{code}"),
            (Some(country), code) => write!(f, "with +{code} ({country}{others})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn britain() -> Origin {
        Origin {
            country: Region::parse("GB"),
            is_shared: false,
            calling_code: 44,
        }
    }

    #[test]
    fn a_problem_says_what_is_wrong_and_what_helps() {
        assert_eq!(
            PhoneProblem::TooShort(britain()).to_string(),
            "the phone number is too short for a number with +44 (United Kingdom)"
        );
        let hint = PhoneProblem::NoCountry { has_code: true }.to_string();
        assert!(
            hint.contains("--region") && hint.contains("--assume-plus"),
            "{hint}"
        );
        let hint = PhoneProblem::NoCountry { has_code: false }.to_string();
        assert!(
            hint.contains("--region") && !hint.contains("--assume-plus"),
            "{hint}"
        );
    }

    #[test]
    fn a_shared_calling_code_is_said_to_be_shared() {
        let america = Origin {
            country: Region::parse("US"),
            is_shared: true,
            calling_code: 1,
        };
        assert_eq!(
            PhoneProblem::NotInUse(america).to_string(),
            "the phone number is not in use: there are no such numbers with +1 (United States and others)"
        );
    }

    #[test]
    fn a_control_character_is_not_shown_as_it_is() {
        let text = PhoneProblem::Symbol('\u{1b}').to_string();
        assert!(
            !text.contains('\u{1b}') && text.contains("\\u{1b}"),
            "{text}"
        );
    }
}
