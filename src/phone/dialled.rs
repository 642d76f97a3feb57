//! Takes the digits from a written number, and reads its signs.

use std::ops::Range;

use super::problem::Result;
use super::{PhoneProblem, digits};

/// A number as it is dialled: without the signs that only make it readable.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dialled {
    pub has_plus: bool,
    /// The digits, without a `(0)`. `+00` is read as `+`.
    pub digits: String,
    /// How many of the digits come before the `(0)`, if there is one.
    pub zero_at: Option<usize>,
}

impl Dialled {
    /// Reads the text that remains when everything around the number is removed.
    pub fn of(text: &str) -> Result<Dialled> {
        check_characters(text)?;
        let first = text.find(is_digit).ok_or(PhoneProblem::Missing)?;
        let (before, number) = text.split_at(first);
        if number.contains('+') {
            return Err(PhoneProblem::Symbol('+'));
        }
        let has_plus = before.contains('+');
        let mut digits = digits::of(text);
        let zero = bracketed_zero(text);
        let mut zero_at = zero.map(|zero| digits::count(&text[..zero.start]));
        if let Some(at) = zero_at {
            digits.remove(at);
        }
        if has_plus && digits.starts_with("00") {
            digits.drain(..2);
            zero_at = zero_at.map(|at| at.saturating_sub(2));
        }
        Ok(Dialled {
            has_plus,
            digits,
            zero_at,
        })
    }

    pub fn with_zero(&self) -> String {
        let mut digits = self.digits.clone();
        digits.insert(self.zero_at.unwrap_or(0), '0');
        digits
    }
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// Whether the sign only makes a number readable.
fn is_sign(c: char) -> bool {
    matches!(
        c,
        '+' | '-' | '.' | '(' | ')' | '/' | '\\' | '[' | ']' | '~' | ' ' | '\n'
    )
}

fn check_characters(text: &str) -> Result<()> {
    let Some(other) = text.chars().find(|c| !is_digit(*c) && !is_sign(*c)) else {
        return Ok(());
    };
    let has_letters = text.contains(char::is_alphabetic);
    match other {
        _ if has_letters && text.contains(char::is_numeric) => Err(PhoneProblem::Letters),
        _ if has_letters => Err(PhoneProblem::NoDigits),
        symbol if text.contains(is_digit) => Err(PhoneProblem::Symbol(symbol)),
        _ => Ok(()),
    }
}

/// The position of a `(0)` or `[0]` after another digit. It is the zero for
/// calls within the country, which callers from abroad leave out.
pub(super) fn bracketed_zero(text: &str) -> Option<Range<usize>> {
    let first = text.find(is_digit)?;
    let mut brackets = text.match_indices(['(', '[']).filter(|(at, _)| *at > first);
    brackets.find_map(|(at, _)| {
        let inside = text[at + 1..].trim_start_matches(' ');
        let rest = inside.strip_prefix('0')?.trim_start_matches(' ');
        let is_closed = rest.starts_with([')', ']']);
        is_closed.then(|| at..text.len() - rest.len() + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialled(text: &str) -> (bool, String, Option<usize>) {
        let read = Dialled::of(text).expect(text);
        (read.has_plus, read.digits, read.zero_at)
    }

    #[test]
    fn signs_that_only_make_a_number_readable_are_left_out() {
        for text in [
            "(0171) 123-45.67",
            "[0171]/1234567",
            "0171\\1234567",
            "0171\n1234567",
            " - 01711234567",
        ] {
            assert_eq!(dialled(text), (false, "01711234567".into(), None), "{text}");
        }
    }

    #[test]
    fn a_plus_counts_anywhere_before_the_digits() {
        for text in [
            "+447911",
            "++447911",
            "(+44)7911",
            "+(44) 7911",
            "+ 44 7911",
            "+00447911",
            "+ (00)447911",
        ] {
            assert_eq!(dialled(text), (true, "447911".into(), None), "{text}");
        }
    }

    #[test]
    fn a_zero_in_brackets_is_kept_apart() {
        for text in [
            "+44 (0)7911",
            "+44[0]7911",
            "+44 ( 0 ) 7911",
            "+0044 (0)7911",
        ] {
            let read = Dialled::of(text).unwrap();
            assert_eq!(
                (read.digits.as_str(), read.zero_at),
                ("447911", Some(2)),
                "{text}"
            );
            assert_eq!(read.with_zero(), "4407911");
        }
        for text in ["(0)7911", "(07)911", "07911()", "07911("] {
            assert_eq!(dialled(text).2, None, "{text}");
        }
    }

    #[test]
    fn characters_that_no_number_has_are_refused() {
        let problem = |text| Dialled::of(text).unwrap_err();
        assert_eq!(problem("0171 HELLO"), PhoneProblem::Letters);
        assert_eq!(problem("n/a"), PhoneProblem::NoDigits);
        assert_eq!(problem("*123#"), PhoneProblem::Symbol('*'));
        assert_eq!(problem("123+"), PhoneProblem::Symbol('+'));
        assert_eq!(problem("123²"), PhoneProblem::Symbol('²'));
        for text in ["", "-", "--", "...", "?", "( )"] {
            assert_eq!(problem(text), PhoneProblem::Missing, "{text}");
        }
    }
}
