//! Why a cell does not give a phone number.

use super::{LineKind, Region};
use crate::lead::ErrorCode;
use crate::message::Text;

pub(super) type Result<T> = std::result::Result<T, PhoneProblem>;

/// Why a cell does not give a phone number that may be called. Each reason has its code and its words here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhoneProblem {
    Missing,
    /// Not `+` and 7 to 15 digits, where nothing else is accepted.
    NotE164,
    TooMuchText,
    NoDigits,
    Letters,
    Symbol(char),
    LeadingZero,
    NoCountry {
        /// Whether the digits would be a valid number with a plus before them.
        has_code: bool,
    },
    /// An extension: without it another phone would ring.
    Extension,
    Damaged,
    Several,
    /// What is before the last slash or the brackets at the end is a number by itself.
    TwoEndings,
    /// The country code seems to be there twice, or a 0 after it that does not belong there.
    CodeTwice,
    /// It is a number in use in two ways: `00` and a longer prefix of its country both make one of
    /// it, or a plus behind it and its region.
    TwoCountries,
    Masked,
    Date,
    Amount,
    /// A local number: what it reaches depends on where it is dialled.
    NoAreaCode,
    /// It is a number in use with its area code before it, and another one without.
    AreaCodeTwice,
    NoSuchCallingCode,
    TooShort(Origin),
    TooLong(Origin),
    OldPrefix(Origin),
    /// The number of digits lies between two possible numbers of digits.
    WrongLength(Origin),
    NotInUse(Origin),
    CountryNotAllowed(Origin),
    KindNotAllowed(LineKind),
}

impl PhoneProblem {
    pub fn code(self) -> ErrorCode {
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

    /// The reason, and what to do about it, in a sentence that never quotes the cell: results have that in
    /// the same row.
    pub fn text(self) -> Text {
        use PhoneProblem as P;
        match self {
            P::Missing => text!("the phone number is missing"),
            P::NotE164 => {
                text!("the phone number is not `+` and 7 to 15 digits, of which the first is not 0")
            }
            P::TooMuchText => text!("the phone cell has too much text to be a phone number"),
            P::NoDigits => text!("there is no phone number in this cell"),
            P::Letters => text!("the phone number has letters in it: write it with digits only"),
            P::Symbol(c) => text!(
                "the phone number has `{c}` in it, which no phone number is written with",
                c = c.escape_debug().to_string()
            ),
            P::LeadingZero => text!("the phone number has a 0 where the country code belongs"),
            P::NoCountry { has_code: false } => text!(
                "the phone number has no country: write it with `+` and the country code, or {name its country with --region|choose its country under {--region}}"
            ),
            P::NoCountry { has_code: true } => text!(
                "the phone number has no country: write it with `+` and the country code, or {name its country with --region (or --assume-plus, if the country code is there and only the `+` is missing)|choose its country under {--region}}"
            ),
            P::Extension => text!(
                "the phone number has an extension, which cannot be dialled: give the direct number"
            ),
            P::Damaged => text!(
                "a spreadsheet has damaged the phone number: type it in again, or export the list again and open it with the phone column as text"
            ),
            P::Several => text!("the phone cell holds more than one number: keep the one to call"),
            P::TwoEndings => text!(
                "the phone number has two endings, or a slash or bracket too many: keep the one to call"
            ),
            P::CodeTwice => text!(
                "the phone number may have its country code twice, or a 0 too many after it: write it with `+` and the country code once"
            ),
            P::TwoCountries => text!(
                "the phone number may be one of two countries: write it with `+` and the country code"
            ),
            P::AreaCodeTwice => text!(
                "the phone number and its area code can be read in two ways: write the whole number with + and the country code into the phone cell"
            ),
            P::Masked => text!("some digits of the phone number are hidden: write it in full"),
            P::Date => text!("the phone cell looks like a date or a time, not like a phone number"),
            P::Amount => text!("the phone cell looks like an amount, not like a phone number"),
            P::NoAreaCode => text!(
                "the phone number has no area code: write it into its column, or the whole number into the phone cell"
            ),
            P::NoSuchCallingCode => {
                text!("the phone number begins with a country code that no country has")
            }
            P::TooShort(origin) => text!(
                "the phone number is too short for a number {origin}",
                origin = origin.text()
            ),
            P::TooLong(origin) => text!(
                "the phone number is too long for a number {origin}",
                origin = origin.text()
            ),
            P::OldPrefix(origin) => text!(
                "the phone number is too long for a number {origin}: leave out the 1 behind the country code, which is no longer dialled",
                origin = origin.text()
            ),
            P::WrongLength(origin) => text!(
                "the phone number has too few or too many digits for a number {origin}",
                origin = origin.text()
            ),
            P::NotInUse(origin) => text!(
                "the phone number is not in use: there are no such numbers {origin}",
                origin = origin.text()
            ),
            P::CountryNotAllowed(origin) => text!(
                "the phone number is one {origin}, {which is not among the countries that --countries allows|and numbers of that country are not allowed on this computer}",
                origin = origin.text()
            ),
            P::KindNotAllowed(line) => text!(
                "the phone number is {kind}, {a kind that is not among those that --phone-kinds allows|a kind that is not called from this computer}",
                kind = line.in_sentence()
            ),
        }
    }

    /// Why a number that stands in no list cannot be called: without advice about the rows of one.
    pub fn of_typed(self) -> Text {
        match self {
            PhoneProblem::NoDigits => text!("it has no digits"),
            PhoneProblem::NoCountry { .. } => text!("it has no country"),
            other => other.text(),
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

impl Origin {
    fn text(self) -> Text {
        let code = u32::from(self.calling_code);
        match (self.country.map(Region::name), self.is_shared) {
            _ if code == 0 => text!("of no known country"),
            (None, _) => text!("with +{code}", code),
            (Some(country), false) => text!("with +{code} ({country})", code, country),
            (Some(country), true) => text!("with +{code} ({country} and others)", code, country),
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
        let text = PhoneProblem::TooShort(britain()).text().to_string();
        assert!(text.ends_with("+44 (United Kingdom)"), "{text}");
        let hint = PhoneProblem::NoCountry { has_code: true }
            .text()
            .to_string();
        assert!(
            hint.contains("--region") && hint.contains("--assume-plus"),
            "{hint}"
        );
        let hint = PhoneProblem::NoCountry { has_code: false }
            .text()
            .to_string();
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
        let text = PhoneProblem::NotInUse(america).text().to_string();
        assert!(text.ends_with("+1 (United States and others)"), "{text}");
    }

    #[test]
    fn a_control_character_is_not_shown_as_it_is() {
        let text = PhoneProblem::Symbol('\u{1b}').text().to_string();
        assert!(
            !text.contains('\u{1b}') && text.contains("\\u{1b}"),
            "{text}"
        );
    }
}
