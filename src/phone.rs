//! A cell to a [`PhoneNumber`], or the reason why not.
//!
//! Rule: pure, and the only place where a `PhoneNumber` can be made, so that
//! nobody has to check one twice.

use std::fmt;

/// A number in E.164 form: `+`, then 7 to 15 digits of which the first is not 0.
///
/// Kept as the value of its digits: the first one is never 0, so nothing is
/// lost, and eight bytes suffice where tens of millions are remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhoneNumber(u64);

/// Why a cell gave no number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhoneProblem {
    /// Nothing but white space.
    Missing,
    /// Something, but not E.164.
    NotE164,
}

/// The most digits that ITU-T E.164 allows, country code included.
const MOST_DIGITS: usize = 15;

/// E.164 states no minimum. Seven is the shortest that is in use for
/// international numbers; a service that takes calls has no use for less.
const FEWEST_DIGITS: usize = 7;

impl PhoneNumber {
    /// Reads a cell that holds a number in E.164 form, white space around it aside.
    pub fn from_e164(cell: &str) -> Result<PhoneNumber, PhoneProblem> {
        let text = cell.trim();
        if text.is_empty() {
            return Err(PhoneProblem::Missing);
        }
        let digits = text.strip_prefix('+').ok_or(PhoneProblem::NotE164)?;
        let well_formed = (FEWEST_DIGITS..=MOST_DIGITS).contains(&digits.len())
            && digits.bytes().all(|b| b.is_ascii_digit())
            && !digits.starts_with('0');
        if !well_formed {
            return Err(PhoneProblem::NotE164);
        }
        digits
            .parse()
            .map(PhoneNumber)
            .map_err(|_| PhoneProblem::NotE164)
    }

    /// The value of the digits: a key that is the same for the same number only.
    pub fn key(self) -> u64 {
        self.0
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
    use proptest::prelude::*;

    #[test]
    fn white_space_around_a_number_does_no_harm() {
        let number = PhoneNumber::from_e164(" +447911123456\t");
        assert_eq!(number.map(|n| n.to_string()), Ok("+447911123456".into()));
    }

    #[test]
    fn an_empty_cell_is_missing_rather_than_wrong() {
        assert_eq!(PhoneNumber::from_e164(" \t "), Err(PhoneProblem::Missing));
    }

    #[test]
    fn whatever_is_not_plus_and_seven_to_fifteen_digits_is_refused() {
        for cell in [
            "447911123456",
            "07911 123456",
            "+44 7911 123456",
            "+0447911123456",
            "+123456",
            "+1234567890123456",
            "+44791112345x",
            "+",
            "++447911123456",
            "+٤٤٧٩١١١٢٣٤٥٦",
            "4.47912E+11",
        ] {
            assert_eq!(
                PhoneNumber::from_e164(cell),
                Err(PhoneProblem::NotE164),
                "{cell}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_number_reads_back_as_it_was_written(text in "\\+[1-9][0-9]{6,14}") {
            prop_assert_eq!(PhoneNumber::from_e164(&text).map(|n| n.to_string()), Ok(text));
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in any::<String>()) {
            let _ = PhoneNumber::from_e164(&text);
        }
    }
}
