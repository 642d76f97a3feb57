//! Counts numbers that a spreadsheet may have rounded.

use super::PhoneNumber;

/// Counts phone numbers, and those of them that end in `00000`: a
/// spreadsheet that has lost digits writes zeros instead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RoundNumbers {
    pub numbers: u64,
    pub round: u64,
}

impl RoundNumbers {
    pub fn record(&mut self, number: PhoneNumber) {
        self.numbers += 1;
        self.round += u64::from(number.key().is_multiple_of(100_000));
    }

    /// Whether more than 1 % are round. By chance one in a hundred thousand is.
    pub fn are_suspicious(&self) -> bool {
        self.round * 100 > self.numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_one_in_a_hundred_round_numbers_is_not_chance() {
        let mut numbers = RoundNumbers::default();
        assert!(!numbers.are_suspicious());
        for last in 0..200 {
            let text = format!("+44791112{last:04}");
            numbers.record(PhoneNumber::from_e164(&text).unwrap());
        }
        assert!(!numbers.are_suspicious());
        for text in ["+447911100000", "+447911200000"] {
            numbers.record(PhoneNumber::from_e164(text).unwrap());
        }
        assert!(!numbers.are_suspicious(), "2 of 202");
        numbers.record(PhoneNumber::from_e164("+447911300000").unwrap());
        assert!(numbers.are_suspicious(), "3 of 203");
    }
}
