//! Decides whether a cell looks like a phone number, to find the phone column by its data.
//!
//! This is cheap, and does not guarantee that the cell can be read: a
//! column is judged by many of its cells.

use super::date::is_date;
use super::number::{FEWEST_DIGITS, MAX_DIGITS};
use super::{damage, digits, tidy};

/// Whether the cell looks like a phone number: 7 to 15 digits with the usual signs between
/// them, or a number that a spreadsheet has damaged. Dates and decimals do not look like one.
pub fn looks_like_number(cell: &str) -> bool {
    let plain = tidy::plain_characters(cell);
    let text = tidy::unwrapped(&plain);
    if is_damaged_number(text) {
        return true;
    }
    let text = damage::before_zeros(text).unwrap_or(text);
    let text = tidy::without_mark(text).unwrap_or(text);
    let prefix = if text.starts_with("00") { 2 } else { 0 };
    has_usual_signs(text)
        && (FEWEST_DIGITS + prefix..=MAX_DIGITS + prefix).contains(&digits::count(text))
        && !is_date(text)
        && !is_decimal(text)
}

/// Whether the cell is written in a way that is used for hardly anything but phone
/// numbers: with a plus or `00` first, or with a `0` first and 9 to 12 digits.
pub fn is_surely_number(cell: &str) -> bool {
    let plain = tidy::plain_characters(cell);
    let text = tidy::unwrapped(&plain);
    let start = text.trim_start_matches(['(', '[']);
    let begins_so = start.starts_with('+')
        || start.starts_with("00")
        || (start.starts_with('0') && (9..=12).contains(&digits::count(text)));
    begins_so && looks_like_number(cell)
}

/// Whether the text has digits, and only such signs as phone numbers usually have.
fn has_usual_signs(text: &str) -> bool {
    let is_between = |c| matches!(c, ' ' | '-' | '.' | '(' | ')' | '/' | '[' | ']');
    let is_before = |c| matches!(c, '+' | '(' | '[' | ' ');
    let number = text.trim_start_matches(is_before);
    number.starts_with(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_digit() || is_between(c))
}

/// `4.47912E+11`: scientific notation, with an exponent that fits the digits of a phone number. Or
/// a negative number with as many digits.
fn is_damaged_number(text: &str) -> bool {
    if damage::is_negative(text) {
        return (FEWEST_DIGITS..=MAX_DIGITS).contains(&digits::count(text));
    }
    let exponent = text.rsplit(['e', 'E', '+']).next().unwrap_or_default();
    !text.starts_with('#')
        && damage::is_damaged(text)
        && matches!(exponent.trim().parse(), Ok(7..15_usize))
}

/// `1234567.89` or `51.5073509`. A phone number with a single dot begins
/// with a plus or with a zero before other digits.
fn is_decimal(text: &str) -> bool {
    let whole = digits::decimal(text).map(|(whole, _)| whole);
    whole.is_some_and(|whole| whole == "0" || !whole.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_looks_like_one_in_its_usual_ways_of_writing() {
        for cell in [
            "+447911123456",
            "07911 123456",
            "(212) 555-0123",
            "212-555-0123",
            "212.555.0123",
            "0171/1234567",
            "+44 (0)7911 123456",
            "447911123456",
            "447911123456.0",
            "0044 7911 123456",
            "'07911123456",
            "=\"07911123456\"",
            "tel:+44-7911-123456",
            "4.47912E+11",
            "4,47912E+11",
            "1234567",
            "600.123.456",
            "07911\u{a0}123456",
            "0171.1234567",
            "+49 171‑1234567",
        ] {
            assert!(looks_like_number(cell), "{cell}");
        }
    }

    #[test]
    fn dates_decimals_and_words_do_not_look_like_numbers() {
        for cell in [
            "",
            "-",
            "2026-11-21",
            "21.11.2026",
            "11/21/2026",
            "2026-11-21 10:30",
            "2026-11-21T10:30:00Z",
            "21.11.2026 10:30",
            "2026-11-21 103000",
            "1234567.89",
            "51.5073509",
            "-51.5073509",
            "1.234.567,89",
            "123456",
            "1234567890123456",
            "4111 1111 1111 1111",
            "Ada Lovelace",
            "Flat 1234567",
            "n/a",
            "#REF!",
            "1.2E+03",
            "1E+20",
            "12%",
            "€1234567",
            "07911 123456 x2",
            "1234567;7654321",
        ] {
            assert!(!looks_like_number(cell), "{cell}");
        }
    }

    #[test]
    fn a_plus_or_a_zero_in_front_makes_it_surely_a_number() {
        for cell in [
            "+447911123456",
            "0044 7911 123456",
            "07911 123456",
            "(020) 7946 0000",
            "'+447911123456",
        ] {
            assert!(is_surely_number(cell), "{cell}");
        }
        for cell in [
            "447911123456",
            "1234567",
            "01234567",
            "0012",
            "2026-11-21",
            "01.02.2026",
            "4.47912E+11",
            "+n/a",
        ] {
            assert!(!is_surely_number(cell), "{cell}");
        }
    }
}
