//! Detects more than one number in a cell.

use super::dialled::bracketed_zero;
use super::digits::{self, is_digits, split_behind};
use super::number::MAX_DIGITS;
use super::{extension, words};

/// The fewest digits that may be a number of their own.
const FEWEST: usize = 7;

/// As they are dialled in Australia, in North America, in Russia and nearly everywhere.
const PREFIXES_ABROAD: [&str; 4] = ["0011", "011", "810", "00"];

/// Splits a text that holds more than one number into the first number and
/// the text after it. `None` if the text is one number.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    // The digits of a prefix for calls abroad and a zero in brackets do not count.
    let start = text.len() - text.trim_start_matches('(').len();
    let prefixes = PREFIXES_ABROAD.iter();
    let mut prefixes = prefixes.filter(|prefix| text[start..].starts_with(**prefix));
    let prefix = prefixes.next().map_or(0, |prefix| start + prefix.len());
    let zero = bracketed_zero(text).unwrap_or_default();
    let is_counted =
        |(at, c): &(usize, char)| c.is_ascii_digit() && *at >= prefix && !zero.contains(at);
    let total = text.char_indices().filter(is_counted).count();
    let mut seen = 0;
    let mut in_group = 0;
    for (at, c) in text.char_indices() {
        let digits = usize::from(is_counted(&(at, c)));
        seen += digits;
        in_group += digits;
        let is_full = seen >= FEWEST;
        let rest = &text[at..];
        let separates = match c {
            '+' => seen > 0,
            ';' | ',' => is_full && !extension::begins_with_label(&rest[1..]),
            // Google Contacts writes three colons between the numbers of a contact.
            '|' | '&' | '\n' | '~' | ':' => is_full,
            // `0475/12/34/56` is one number; `089 1234567/68` is one number and the end of another.
            '/' | '\\' => in_group >= FEWEST,
            ' ' => is_full && total > MAX_DIGITS && total - seen >= FEWEST,
            c if is_full && c.is_alphabetic() => is_word_between(text, at),
            _ => false,
        };
        if separates && digits::count(rest) > 0 {
            let is_between = |c: char| c.is_alphabetic() || " ;,|&\n/\\~:".contains(c);
            return Some((&text[..at], rest.trim_start_matches(is_between)));
        }
        if matches!(c, '/' | '\\') {
            in_group = 0;
        }
    }
    None
}

/// The text before the last group of digits, if that group may be another ending of the number
/// before it: one to three digits behind a slash or in brackets. `0461/1234/35` may be two numbers.
pub(super) fn before_other_ending(text: &str) -> Option<&str> {
    let bracketed = text
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once('('));
    let bracketed = bracketed.filter(|(_, ending)| is_digits(ending.trim()));
    let (before, ending) = bracketed.or_else(|| text.rsplit_once(['/', '\\']))?;
    let is_ending = (1..=MOST_OF_ENDING).contains(&digits::count(ending));
    is_ending.then_some(before)
}

/// The text behind the number of an item, as in a list that was pasted: `1. `, `12) `.
pub(super) fn behind_item(text: &str) -> Option<&str> {
    let (item, rest) = text.split_once(['.', ')'])?;
    let is_item = item.len() <= 2 && is_digits(item) && !item.starts_with('0');
    (is_item && rest.starts_with(' ')).then_some(rest)
}

/// The most digits by which two numbers of one office differ.
const MOST_OF_ENDING: usize = 3;

fn is_word_between(text: &str, at: usize) -> bool {
    let begins_here = !text[..at].ends_with(char::is_alphabetic);
    let (word, _) = split_behind(&text[at..], char::is_alphabetic);
    begins_here && words::has("between numbers", word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_are_split_at_what_is_between_them() {
        for text in [
            "089 1234567;0171 7654321",
            "089 1234567, 0171 7654321",
            "089 1234567|1",
            "089 1234567 ::: 0171 7654321",
            "+44 7911 123456 ::: +44 7911 123457",
            "089 1234567 & 1",
            "089 1234567\n0171 7654321",
            "089 1234567 or 0171 7654321",
            "089 1234567 Oder 0171 7654321",
            "089 1234567 e 0171 7654321",
            "089 1234567/68",
            "089 1234567 \\ 68",
            "+44 7911 123456 +44 7911 123457",
            "07911 123456 07911 123457",
        ] {
            let (first, second) = split(text).expect(text);
            let digits = |text: &str| text.chars().filter(char::is_ascii_digit).count();
            assert!(digits(first) >= 7 && text.ends_with(second), "{text}");
            assert_eq!(digits(first) + digits(second), digits(text), "{text}");
        }
    }

    #[test]
    fn one_number_in_several_parts_is_not_taken_apart() {
        for text in [
            "0171/1234567",
            "0049/171/1234567",
            "0475/12/34/56",
            "0664/123/4567",
            "(0818)/123/456",
            "+49/171/1234567",
            "+44 (0) 7911 123456",
            "0049 (0) 171 12345678",
            "089 1234567/",
            "089 1234567 or",
            "089 1234567, ext. 12",
            "089 1234567; x12",
            "+44\n7911 123456",
            "+49 1234 5678 9012 3",
            "1 2 3 4 5 6 7 8 9 0 1 2 3 4 5",
        ] {
            assert_eq!(split(text), None, "{text}");
        }
    }
}
