//! Recognizes phone numbers that a spreadsheet has damaged.

use super::amount::has_thousands;
use super::digits::{self, are_zeros, decimal, is_digits};
use super::number::FEWEST_DIGITS;

/// Whether the text is what a spreadsheet shows instead of a number: an error, `####` for a column
/// that is too narrow, scientific notation, which has lost the last digits, or a negative number.
pub(super) fn is_damaged(text: &str) -> bool {
    is_error_value(text) || is_scientific(text) || is_negative(text)
}

/// `-491570252`: what a spreadsheet makes of `+61-491570313`, which it takes for a subtraction. In
/// other formats that is `491570252-`, `(491570252)` or `-491 570 252`. A dash and a space before a
/// number with groups or a zero are a bullet.
pub(super) fn is_negative(text: &str) -> bool {
    let signed = text.trim_start_matches('+');
    if !signed.starts_with(['-', '(', ' ']) && !text.ends_with(['-', ' ']) {
        return false;
    }
    let behind = signed.trim_start_matches(['-', '(', ' ']);
    let before = &signed[..signed.len() - behind.len()];
    let number = behind.trim_end_matches(['-', ')', ' ']);
    let after = &behind[number.len()..];
    let has_minus = before.contains('-');
    // Parts of numbers are written in brackets and before dashes, too.
    let is_marked = after.contains('-') || before.contains('(') && after.contains(')');
    let is_number = || signed.len() == text.len() && digits::count(number) >= FEWEST_DIGITS;
    if !(has_minus || is_marked && is_number()) {
        return false;
    }
    let is_bullet = before.ends_with(' ');
    if is_digits(before_zeros(number).unwrap_or(number)) {
        !number.starts_with('0') || has_minus && !is_bullet
    } else {
        !is_bullet && THOUSANDS.iter().any(|sign| has_thousands(number, *sign))
    }
}

/// What stands between thousands in spreadsheets. Those with commas are amounts.
const THOUSANDS: [char; 3] = [' ', '.', '\''];

/// `#REF!`, `#NAME?`, `#N/A`, `#DIV/0!`, `####`, and the same in other languages.
fn is_error_value(text: &str) -> bool {
    let Some(error) = text.strip_prefix('#') else {
        return false;
    };
    let is_narrow = !error.is_empty() && error.chars().all(|c| c == '#');
    let is_word = error.starts_with(|c: char| c.is_alphabetic() || c == '¡');
    let is_known = ["N/A", "NV", "ND", "NB", "NUL"].contains(&error.to_uppercase().as_str());
    is_narrow || is_word && (error.ends_with(['!', '?']) || is_known)
}

/// `4.47912E+11`; also with a comma, without a fraction, in lower case or with spaces.
fn is_scientific(text: &str) -> bool {
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else {
        return false;
    };
    let dense = |part: &str| part.replace(char::is_whitespace, "");
    let (mantissa, exponent) = (dense(mantissa), dense(exponent));
    let mantissa = mantissa.trim_start_matches(['+', '-']);
    let exponent = exponent.trim_start_matches(['+', '-']);
    let is_mantissa = is_digits(mantissa) || decimal(mantissa).is_some();
    is_mantissa && is_digits(exponent) && exponent.len() <= 3
}

/// The digits before the zeros of a number that was stored as a decimal, `491713920003.000`; `None`
/// if the text is none.
///
/// A single zero counts behind other signs too: programs put a country code before a number that
/// they have stored as a decimal, `+49 1713920003.0`.
pub(super) fn before_zeros(text: &str) -> Option<&str> {
    if let Some(number) = text.strip_suffix(".0").or(text.strip_suffix(",0"))
        && number.trim_end().ends_with(|c: char| c.is_ascii_digit())
        && !number.contains(['.', ','])
    {
        return Some(number.trim_end());
    }
    let (_, zeros) = decimal(text.strip_prefix('+').unwrap_or(text))?;
    let whole = text.strip_suffix(zeros)?.strip_suffix(['.', ','])?;
    are_zeros(zeros).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_spreadsheet_are_damage() {
        for text in [
            "#REF!", "#VALUE!", "#N/A", "#n/a", "#NAME?", "#NUM!", "#DIV/0!", "#####", "#WERT!",
            "#NV",
        ] {
            assert!(is_damaged(text), "{text}");
        }
        for text in ["#", "#12", "#hello", "*123#", ""] {
            assert!(!is_damaged(text), "{text}");
        }
    }

    #[test]
    fn scientific_notation_is_damage_even_where_every_digit_seems_there() {
        for text in [
            "4.47912E+11",
            "4,47912E+11",
            "4E+11",
            "4e11",
            "+4.4 E + 11",
            "447911123456E+00",
        ] {
            assert!(is_damaged(text), "{text}");
        }
        for text in ["E11", "4.4.4E+11", "4x11", "44E", "4E+1234", "1.E5"] {
            assert!(!is_damaged(text), "{text}");
        }
    }

    #[test]
    fn a_negative_number_is_a_subtraction_and_a_dash_before_a_number_is_none() {
        for text in [
            "-491570252",
            "-491570252.0",
            "+-491570252",
            "--491570252",
            "-0171",
            "- 491570252",
            "491570252-",
            "491570252 -",
            "(491570252)",
            "(-491570252)",
            "-491 570 252",
            "491.570.252-",
            "(491'570'252)",
        ] {
            assert!(is_damaged(text), "{text}");
        }
        for text in [
            "- 0491570252",
            "- 491 570252",
            "- 491 570 252",
            "491 57 02 52-",
            "(0491570252)",
            "(491) 570 252",
            "0491570252-",
            "-0151 23456789",
            "-(0151)23456789",
            "-",
            "+491570252",
        ] {
            assert!(!is_damaged(text), "{text}");
        }
    }

    #[test]
    fn zeros_behind_a_point_are_those_of_a_decimal() {
        for (text, whole) in [
            ("447911123456.0", "447911123456"),
            ("+447911123450,00", "+447911123450"),
            ("491713920003.00000", "491713920003"),
            ("1.000", "1"),
            ("0171.0", "0171"),
            ("+49 171 123 .0", "+49 171 123"),
        ] {
            assert_eq!(before_zeros(text), Some(whole), "{text}");
        }
        for text in [
            "0171.1234",
            "030.10.00",
            "0171 123.00",
            "4471.5",
            "100",
            ".",
            "1.",
            ".0",
        ] {
            assert_eq!(before_zeros(text), None, "{text}");
        }
    }
}
