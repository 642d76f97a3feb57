//! Detects more than one number in a cell.

use super::dialled::bracketed_zero;
use super::digits::{self, split_behind};
use super::number::MAX_DIGITS;
use super::plan::CallingCode;
use super::{Region, extension, words};

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

/// The text before the last digits, if these may be another ending of the number before them: one
/// to three digits behind a slash, in brackets or behind one, or behind a point that stands alone.
/// `0461/1234/35` may be two numbers. Digits with a word beside them are an extension.
pub(super) fn before_other_ending(text: &str) -> Option<&str> {
    let closed = text.trim_end_matches([')', ']', ' ']);
    let is_closed = text.ends_with([')', ']']);
    let splits = [
        text.rsplit_once(['/', '\\']),
        closed.rsplit_once(['(', '[', ')', ']']),
        closed.rsplit_once(" . "),
        closed.rsplit_once(' ').filter(|_| is_closed),
    ];
    let is_ending = |ending: &str| {
        let is_short = (1..=MOST_OF_ENDING).contains(&digits::count(ending));
        is_short && !ending.contains(char::is_alphabetic)
    };
    let mut splits = splits.into_iter().flatten();
    Some(splits.find(|(_, ending)| is_ending(ending))?.0)
}

/// The text behind the number of an item, as in a list that was pasted: `1. `, `12) `; also `(1) `,
/// `1 - ` and the like before a zero, if the text begins with no code or prefix of its region.
pub(super) fn behind_item(text: &str, region: Option<Region>) -> Option<&str> {
    let (item, rest) = split_behind(text.trim_start_matches(['(', '[']), |c| c.is_ascii_digit());
    if !(1..=2).contains(&item.len()) || item.starts_with('0') {
        return None;
    }
    let behind = rest.trim_start_matches(['.', ')', ']', '-', '/', ' ']);
    let has_code_or_prefix = |plan: &CallingCode| {
        let all = digits::of(text);
        plan.behind(&all).is_some() || plan.without_prefix(&all).is_some()
    };
    let has_zero = behind.len() < rest.len() && behind.trim_start_matches('(').starts_with('0');
    let is_listed = rest.starts_with(". ") || rest.starts_with(") ") && text.starts_with(item);
    (is_listed
        || has_zero && region.is_some_and(|region| !has_code_or_prefix(CallingCode::of(region))))
    .then_some(behind)
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
