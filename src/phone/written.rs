//! The form in which a number was written, and what it shows about the country.

use super::dialled::Dialled;
use super::digits::{self, is_digits};
use super::plan::{CallingCode, National};
use super::rules::is_valid;
use super::{LineKind, NumberKind, PhoneNumber, Region, google};

/// The calling codes of Turkey, Vietnam, China, India, Argentina, Lithuania and Syria: the prefix
/// for calls within these countries is a zero, and Google's metadata says that it may be left out.
pub(super) const ZERO_IS_OPTIONAL: [u16; 7] = [90, 84, 86, 91, 54, 370, 963];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// With its calling code, after a plus or a prefix for calls abroad.
    International,
    /// With the calling code of the region and nothing before it: only with
    /// this region is it this number.
    WithCode,
    /// As it is dialled within its country. Digits alone count too, because
    /// a spreadsheet drops the zero before them.
    National,
    /// Not as its country writes numbers: with signs between the digits,
    /// but without the zero that should come first.
    Foreign,
}

impl Written {
    /// The form of a number that was read from this text. `region` is where
    /// it was dialled from, if it has no calling code.
    pub(super) fn of(
        text: &str,
        dialled: &Dialled,
        number: PhoneNumber,
        region: Option<Region>,
    ) -> Written {
        let Some(region) = region.filter(|_| !dialled.has_plus) else {
            return Written::International;
        };
        let digits = number.key().to_string();
        let lacks_zero = || {
            let code = CallingCode::of(region).code;
            let is_usual = dialled.digits.starts_with('0') || ZERO_IS_OPTIONAL.contains(&code);
            // A spreadsheet that drops the zero leaves only digits, no signs.
            let is_bare = is_digits(text.trim());
            let has_other_code = dialled.digits.len() >= FEWEST_WITH_CODE
                && PhoneNumber::from_digits(&dialled.digits).is_some_and(is_valid);
            !is_usual && (!is_bare || has_other_code) && is_written_with_zero(number)
        };
        match dialled.digits.strip_suffix(&digits) {
            Some("") => Written::WithCode,
            Some(_) => Written::International,
            // The prefix for calls within the country is between the code and the number.
            None if has_own_code(&dialled.digits, &digits, number) => Written::WithCode,
            None if lacks_zero() || is_american(text, number) => Written::Foreign,
            None => Written::National,
        }
    }
}

fn has_own_code(dialled: &str, digits: &str, number: PhoneNumber) -> bool {
    let plan = National::of(number).plan;
    let behind = plan.behind(dialled).zip(plan.behind(digits));
    behind.is_some_and(|(rest, national)| rest.starts_with('0') && rest.ends_with(national))
}

/// At least this many digits alone, which would be a number in use with a plus before them,
/// have lost the plus: in countries that write a zero first, no national number is this long.
const FEWEST_WITH_CODE: usize = 11;

fn is_written_with_zero(number: PhoneNumber) -> bool {
    let national = google::national_format(number);
    national.trim_start_matches('(').starts_with('0')
}

/// Whether a number of another country is written as in North America,
/// `(203) 555-0130` or `203-555-0130`. Elsewhere mobile numbers have no
/// brackets, and landlines have groups of other sizes.
pub(super) fn is_american(text: &str, number: PhoneNumber) -> bool {
    let in_brackets = text.trim_start().starts_with('(');
    number.calling_code() != AMERICA
        && american_groups(text)
        && !has_american_groups(&google::national_format(number))
        && (in_brackets || NumberKind::of(number).line != LineKind::Mobile)
}

/// Whether the digits are in groups as in North America: the first group in
/// brackets, or dashes or dots between the groups.
pub(super) fn american_groups(text: &str) -> bool {
    has_american_groups(text) && (text.trim_start().starts_with('(') || text.contains(['-', '.']))
}

fn has_american_groups(text: &str) -> bool {
    digits::groups(text).map(str::len).eq([3, 3, 4])
}

const AMERICA: u16 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phone::PhoneRules;

    fn written(cell: &str, region: &str) -> Written {
        let reader = PhoneRules::default();
        let region = Region::parse(region);
        reader.read_as(cell, region).unwrap().written
    }

    #[test]
    fn an_american_number_is_not_written_as_a_british_or_german_one_is() {
        for cell in [
            "(203) 555-0130",
            "203-555-0130",
            "203.555.0130",
            "203 555 0130",
            "203/5550130",
        ] {
            assert_eq!(written(cell, "GB"), Written::Foreign, "{cell}");
            assert_eq!(written(cell, "DE"), Written::Foreign, "{cell}");
            assert_eq!(written(cell, "US"), Written::National, "{cell}");
        }
    }

    #[test]
    fn a_number_that_lost_its_zero_in_a_spreadsheet_is_not_foreign() {
        for cell in [
            "7911123456",
            "07911 123456",
            "(020) 7946-0958",
            "020.7946.0958",
        ] {
            assert_eq!(written(cell, "GB"), Written::National, "{cell}");
        }
        assert_eq!(written("2035550130", "GB"), Written::National);
        assert_eq!(written("1713920012", "DE"), Written::National);
        // A spreadsheet that drops the zero leaves no space.
        for (cell, region) in [
            ("7911 123456", "GB"),
            ("171 3920012", "DE"),
            ("611 02 23 52", "DE"),
            ("515 416 065", "FR"),
        ] {
            assert_eq!(written(cell, region), Written::Foreign, "{cell}");
        }
    }

    #[test]
    fn where_the_zero_may_be_left_out_it_is_no_evidence() {
        for (cell, region) in [
            ("98765-43210", "IN"),
            ("(11) 96123-4567", "BR"),
            ("139-1234-5678", "CN"),
            ("612-345-678", "ES"),
            ("20.12.34.56", "DK"),
            ("333-123-4567", "IT"),
        ] {
            assert_eq!(written(cell, region), Written::National, "{cell}");
        }
    }

    #[test]
    fn digits_that_have_lost_the_plus_of_another_country_are_foreign() {
        assert_eq!(written("447478811541", "DE"), Written::Foreign);
        assert_eq!(written("12015574088", "AT"), Written::Foreign);
        assert_eq!(written("4930901820", "DE"), Written::WithCode);
    }

    #[test]
    fn where_no_zero_is_written_an_american_number_is_known_by_its_groups() {
        for (cell, region, expected) in [
            ("(212) 555-0130", "IN", Written::Foreign),
            ("212-555-0130", "IN", Written::Foreign),
            ("987-654-3210", "IN", Written::National),
            ("(222) 123-4567", "MX", Written::National),
        ] {
            assert_eq!(written(cell, region), expected, "{cell} {region}");
        }
    }

    #[test]
    fn a_number_with_its_calling_code_is_international() {
        for cell in [
            "+44 7911 123456",
            "0044 7911-123456",
            "00 44 (0) 7911 123456",
            "+1 (203) 555-0130",
            "447911123456+",
            "966 501234567+",
        ] {
            assert_eq!(written(cell, "GB"), Written::International, "{cell}");
        }
        for (cell, region) in [
            ("447911123456", "GB"),
            ("44 7911-123-456", "GB"),
            ("1-203-555-0130", "US"),
            ("13812345600", "US"),
        ] {
            assert_eq!(written(cell, region), Written::WithCode, "{cell}");
        }
    }
}
