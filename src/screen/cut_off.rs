//! Whether the last number of a list may have lost its end.
//!
//! A file that ends in the middle of a number, after a broken download or a full disk, still ends in
//! a number of several countries: a shorter one, of somebody else. Nothing but the other numbers of
//! the list shows it.

use crate::phone::PhoneNumber;

/// How many other numbers of the same calling code there must be.
const FEWEST_OTHERS: u64 = 5;

/// How long the numbers of a list are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lengths {
    /// By calling code. Few lists have more than a handful, and most rows repeat the last one.
    codes: Vec<(u16, Shortest)>,
    last: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shortest {
    numbers: u64,
    digits: u32,
    /// How many numbers have no more digits than that.
    with_it: u64,
}

impl Lengths {
    pub fn record(&mut self, number: PhoneNumber, calling_code: u16) {
        let one = Shortest {
            numbers: 1,
            digits: digits(number),
            with_it: 1,
        };
        self.add_to(calling_code, one);
    }

    pub fn add(&mut self, later: &Lengths) {
        for (code, shortest) in &later.codes {
            self.add_to(*code, *shortest);
        }
    }

    /// Whether all others are longer than the number in this cell, which was recorded too.
    pub fn show_cut(&self, number: PhoneNumber, cell: &str) -> bool {
        let code = number.calling_code();
        let found = self.codes.iter().find(|(of, _)| *of == code);
        // An area code that the library puts before a short number is not in the cell.
        let written = cell.bytes().filter(u8::is_ascii_digit).count();
        let has_plus = cell.trim_start().starts_with('+');
        found.is_some_and(|(_, shortest)| {
            let is_shortest = shortest.with_it == 1 && shortest.digits == digits(number);
            let is_written_shorter = has_plus && written < shortest.digits as usize;
            shortest.numbers > FEWEST_OTHERS && (is_shortest || is_written_shorter)
        })
    }

    fn add_to(&mut self, code: u16, more: Shortest) {
        let is_of = |(of, _): &(u16, Shortest)| *of == code;
        if !self.codes.get(self.last).is_some_and(is_of) {
            self.last = self
                .codes
                .iter()
                .position(is_of)
                .unwrap_or(self.codes.len());
        }
        let Some((_, shortest)) = self.codes.get_mut(self.last) else {
            self.codes.push((code, more));
            return;
        };
        shortest.numbers += more.numbers;
        if more.digits < shortest.digits {
            (shortest.digits, shortest.with_it) = (more.digits, more.with_it);
        } else if more.digits == shortest.digits {
            shortest.with_it += more.with_it;
        }
    }
}

fn digits(number: PhoneNumber) -> u32 {
    number.key().ilog10() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> PhoneNumber {
        PhoneNumber::from_e164(text).unwrap()
    }

    fn lengths(numbers: &[&str]) -> Lengths {
        let mut lengths = Lengths::default();
        for number in numbers.iter().map(|text| number(text)) {
            lengths.record(number, number.calling_code());
        }
        lengths
    }

    const FIVE: [&str; 5] = [
        "+491713920001",
        "+491713920002",
        "+491713920003",
        "+491713920004",
        "+491713920005",
    ];

    #[test]
    fn a_number_is_cut_if_five_others_of_its_country_are_all_longer() {
        let cut = "+4917139200";
        let with = |others: &[&str]| lengths(&[others, &[cut]].concat()).show_cut(number(cut), cut);
        assert!(with(&FIVE));
        assert!(!with(&FIVE[1..]));
        assert!(!with(&[&FIVE[..], &["+4930123456"]].concat()));
        assert!(with(&[&FIVE[..], &["+44201234567"]].concat()));
    }

    #[test]
    fn parts_of_a_list_add_up() {
        let numbers = [&FIVE[..], &["+442079460000", "+49171392", "+4917139"]].concat();
        for cut in 0..numbers.len() {
            let mut parts = lengths(&numbers[..cut]);
            parts.add(&lengths(&numbers[cut..]));
            assert!(parts.show_cut(number("+4917139"), "+4917139"));
            assert!(!parts.show_cut(number("+49171392"), "+49171392"));
        }
        // Of two that are equally short none is cut, whichever part has which.
        let numbers = [&["+4930139"], &FIVE[..], &["+4917139"]].concat();
        for cut in 0..numbers.len() {
            let mut parts = lengths(&numbers[..cut]);
            parts.add(&lengths(&numbers[cut..]));
            assert!(!parts.show_cut(number("+4917139"), "+4917139"));
        }
    }
}
