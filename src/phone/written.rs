//! In what form a number was written, as far as that tells of which country it is.

use super::dialled::Dialled;
use super::{PhoneNumber, Region, google};

/// Where the optional prefix for calls within the country is a zero, and Google's metadata
/// says that people write it or leave it out.
const ZERO_IS_OPTIONAL: [&str; 7] = ["AR", "CN", "IN", "LT", "SY", "TR", "VN"];

/// In what form a number was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// With its calling code: after a plus or a prefix for calls abroad, or by itself.
    International,
    /// As it is dialled within its country. Digits alone are taken so too: a spreadsheet eats
    /// the zero in front.
    National,
    /// As its country does not write: with signs between the digits, and without the zero
    /// that belongs before them.
    Foreign,
}

impl Written {
    /// The form of a number that was read from this text, dialled from a region where it has
    /// no calling code.
    pub(super) fn of(
        text: &str,
        dialled: &Dialled,
        number: PhoneNumber,
        region: Option<Region>,
    ) -> Written {
        let ends_in_all = dialled.digits.ends_with(&number.key().to_string());
        let Some(region) = region.filter(|_| !dialled.has_plus && !ends_in_all) else {
            return Written::International;
        };
        let is_foreign = !dialled.digits.starts_with('0')
            && has_signs(text)
            && !ZERO_IS_OPTIONAL.contains(&&*region.to_string())
            && google::is_written_with_zero(number);
        match is_foreign {
            true => Written::Foreign,
            false => Written::National,
        }
    }
}

/// Whether somebody has written it by hand, and not a spreadsheet: with brackets, dashes,
/// points or slashes, or in groups as in North America.
fn has_signs(text: &str) -> bool {
    let text = text.trim();
    let groups = text.split(' ').map(str::len);
    text.contains(['(', ')', '-', '.', '/']) || groups.eq([3, 3, 4])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phone::{PhoneReader, PhoneRules};

    fn written(cell: &str, region: &str) -> Written {
        let reader = PhoneReader::new(PhoneRules::default());
        let region = Region::parse(region);
        reader.read_as(cell, region).unwrap().1
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
    fn what_a_spreadsheet_has_eaten_the_zero_of_is_not_foreign() {
        for cell in [
            "7911123456",
            "07911 123456",
            "(020) 7946-0958",
            "020.7946.0958",
        ] {
            assert_eq!(written(cell, "GB"), Written::National, "{cell}");
        }
        assert_eq!(written("7911 123456", "GB"), Written::National);
        assert_eq!(written("2035550130", "GB"), Written::National);
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
    fn a_number_with_its_calling_code_is_international() {
        for cell in [
            "+44 7911 123456",
            "0044 7911-123456",
            "00 44 (0) 7911 123456",
            "447911123456",
            "44 7911-123-456",
            "+1 (203) 555-0130",
        ] {
            assert_eq!(written(cell, "GB"), Written::International, "{cell}");
        }
        assert_eq!(written("1-203-555-0130", "US"), Written::International);
    }
}
