//! Recognizes amounts of money and other quantities.

use super::digits::{self, is_digits};

/// Whether the text is an amount: with a currency sign, with thousands separated by commas, or with
/// decimals that are not zero. Groups of three digits with points between them are a phone number
/// in Spain, `912.345.678`.
pub(super) fn is_amount(text: &str) -> bool {
    let has_digits = digits::count(text) > 0;
    let (signed, text) = (text, text.trim_start_matches('-'));
    let is_negative_decimal = || {
        let whole = digits::decimal(text).map(|(whole, _)| whole);
        text.len() < signed.len() && whole.is_some_and(|whole| !whole.starts_with('0'))
    };
    let has_marks = || {
        has_thousands(text.trim_start_matches('+'), ',')
            || has_decimals(text)
            || has_dash_for_cents(text)
            || is_negative_decimal()
    };
    has_digits && (text.contains(is_currency) || text.contains(['.', ',']) && has_marks())
}

/// Splits off what may be decimals behind other signs than those of an amount: one digit, or zeros,
/// behind the only point or comma.
pub(super) fn decimals(text: &str) -> Option<(&str, &str)> {
    let (before, decimals) = text.split_once(['.', ','])?;
    let may_be = is_digits(decimals) && (digits::are_zeros(decimals) || decimals.len() == 1);
    may_be.then_some((before, decimals))
}

/// The currency signs of Unicode that people use.
fn is_currency(c: char) -> bool {
    matches!(c, '$' | '\u{A2}'..='\u{A5}' | '\u{58F}' | '\u{60B}' | '\u{E3F}' | '\u{17DB}' | '\u{20A0}'..='\u{20CF}' | '\u{FDFC}' | '\u{FFE0}'..='\u{FFE6}')
}

/// `1,234,567` or, as in India, `12,34,567`.
pub(super) fn has_thousands(text: &str, separator: char) -> bool {
    let whole = match separator {
        '.' => text,
        _ => text.split_once('.').map_or(text, |(whole, _)| whole),
    };
    let groups: Vec<&str> = whole.split(separator).collect();
    let [first, between @ .., last] = groups.as_slice() else {
        return false;
    };
    let are_of = |digits: usize| between.iter().all(|group| group.len() == digits);
    groups.iter().all(|group| is_digits(group))
        && (first.len() <= 3 && !first.starts_with('0') && last.len() == 3)
        && (are_of(3) || first.len() <= 2 && are_of(2))
}

/// `1234567.89`, `1.234.567,89`, `1 234 567.89`: one decimal mark, which separates nothing else.
/// More than two decimals count only after more digits than a group of a phone number has.
fn has_decimals(text: &str) -> bool {
    let Some(at) = text.rfind(['.', ',']) else {
        return false;
    };
    let (whole, decimals) = (&text[..at], &text[at + 1..]);
    let is_cents = (1..=2).contains(&decimals.len());
    let is_bare = is_digits(whole) && (whole == "0" || !whole.starts_with('0'));
    let mark = &text[at..=at];
    let others = ['.', ',', ' ', '\'']
        .into_iter()
        .filter(|other| !mark.contains(*other));
    is_digits(decimals)
        && !whole.contains(mark)
        && (is_bare && (is_cents || whole.len() >= FEWEST_WHOLE)
            || is_cents && others.into_iter().any(|other| has_thousands(whole, other)))
}

/// No group of a phone number with a single dot has as many digits.
const FEWEST_WHOLE: usize = 7;

/// `1234567.-`, as prices are written in Switzerland.
fn has_dash_for_cents(text: &str) -> bool {
    let price = text.strip_suffix('-');
    let whole = price.and_then(|price| price.strip_suffix(['.', ',']));
    whole.is_some_and(|whole| whole.ends_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_known_by_their_signs() {
        for text in [
            "442,079,460,101",
            "44,20,79,46,101",
            "+442,079,460,101",
            "1,234",
            "€1234567",
            "1234567 €",
            "$ 442079460101",
            "1234567.89",
            "1234567,8",
            "491713920003.5",
            "51.50",
            "0.25",
            "1.234.567,89",
            "1 234 567,89",
            "1,234,567.89",
            "1'234'567.90",
            "-1,234,567.00",
            "1234567.-",
        ] {
            assert!(is_amount(text), "{text}");
        }
    }

    #[test]
    fn numbers_with_points_are_no_amounts() {
        for text in [
            "912.345.678",
            "600.123.456",
            "212.555.0123",
            "+1.2125550123",
            "0171.3920001",
            "030.1234567",
            "12.34.56.78",
            "01.23.45.67.89",
            "030,123,456",
            "1 212 555.0123",
            "912345.678",
            "442079460101",
            "0171-3920001",
            "$",
            "",
        ] {
            assert!(!is_amount(text), "{text}");
        }
    }
}
