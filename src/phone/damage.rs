//! Recognizes phone numbers that a spreadsheet has damaged.

/// Whether the text is what a spreadsheet shows instead of a number: an error, `####` for a column
/// that is too narrow, scientific notation, which has lost the last digits, or a negative number.
pub(super) fn is_damaged(text: &str) -> bool {
    is_error_value(text) || is_scientific(text) || is_negative(text)
}

/// `-491570252`: what a spreadsheet makes of `+61-491570313`, which it takes for a subtraction.
pub(super) fn is_negative(text: &str) -> bool {
    let signed = text.trim_start_matches('+');
    let number = signed.trim_start_matches('-');
    number.len() < signed.len() && is_digits(before_zeros(number).unwrap_or(number))
}

/// `#REF!`, `#NAME?`, `#N/A`, `#DIV/0!`, `####`, and the same in other languages.
fn is_error_value(text: &str) -> bool {
    let Some(error) = text.strip_prefix('#') else {
        return false;
    };
    if !error.is_empty() && error.chars().all(|c| c == '#') {
        return true;
    }
    let is_word = error.starts_with(|c: char| c.is_alphabetic() || c == '¡');
    let known = ["N/A", "NV", "ND", "NB", "NUL"];
    is_word && (error.ends_with(['!', '?']) || known.iter().any(|k| error.eq_ignore_ascii_case(k)))
}

/// `4.47912E+11`; also with a comma, without a fraction, in lower case or with spaces.
fn is_scientific(text: &str) -> bool {
    if !text.contains(['e', 'E']) {
        return false;
    }
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let Some((mantissa, exponent)) = dense.split_once(['e', 'E']) else {
        return false;
    };
    let mantissa = mantissa.trim_start_matches(['+', '-']);
    let exponent = exponent.trim_start_matches(['+', '-']);
    let is_mantissa = match mantissa.split_once(['.', ',']) {
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction),
        None => is_digits(mantissa),
    };
    is_mantissa && is_digits(exponent) && exponent.len() <= 3
}

/// The digits before the zeros of a number that was stored as a decimal, `491713920003.000`; `None`
/// if the text is none.
pub(super) fn before_zeros(text: &str) -> Option<&str> {
    let (whole, zeros) = text.split_once(['.', ','])?;
    let is_decimal = is_digits(whole.strip_prefix('+').unwrap_or(whole))
        && !zeros.is_empty()
        && zeros.bytes().all(|b| b == b'0');
    is_decimal.then_some(whole)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
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
        ] {
            assert!(is_damaged(text), "{text}");
        }
        for text in [
            "- 491570252",
            "-0151 23456789",
            "-(0151)23456789",
            "-",
            "491570252-",
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
        ] {
            assert_eq!(before_zeros(text), Some(whole), "{text}");
        }
        for text in [
            "0171.1234",
            "030.10.00",
            "0171 123.0",
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
