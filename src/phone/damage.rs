//! Recognizes phone numbers that a spreadsheet has damaged.

/// Whether the text is what a spreadsheet shows instead of a number: an error, `####` for
/// a column that is too narrow, or scientific notation, which has lost the last digits.
pub(super) fn is_damaged(text: &str) -> bool {
    is_error_value(text) || is_scientific(text)
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
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let mantissa = mantissa.trim_start_matches(['+', '-']);
    let exponent = exponent.trim_start_matches(['+', '-']);
    let is_mantissa = match mantissa.split_once(['.', ',']) {
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction),
        None => is_digits(mantissa),
    };
    is_mantissa && is_digits(exponent) && exponent.len() <= 3
}

/// The text without the `.0` of a number that was stored as a decimal.
pub(super) fn without_fraction(text: &str) -> &str {
    let whole = text.trim_end_matches('0');
    let is_whole = |whole: &&str| {
        whole.bytes().all(|b| b.is_ascii_digit() || b == b'+')
            && (1..=2).contains(&(text.len() - whole.len() - 1))
    };
    whole
        .strip_suffix(['.', ','])
        .filter(is_whole)
        .unwrap_or(text)
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
    fn the_fraction_of_a_number_kept_as_a_decimal_is_dropped() {
        assert_eq!(without_fraction("447911123456.0"), "447911123456");
        assert_eq!(without_fraction("+447911123450,00"), "+447911123450");
        for text in [
            "0171.1234",
            "1.000",
            "030.10.00",
            "0171 123.0",
            "4471.5",
            "100",
            ".",
        ] {
            assert_eq!(without_fraction(text), text);
        }
    }
}
