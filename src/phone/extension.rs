//! Detects extensions.
//!
//! An extension is dialled after the call is answered. Without it the call reaches
//! the switchboard. So a number with an extension is an error; it is not cut short.

use super::digits::{self, split_behind};
use super::problem::Result;
use super::{PhoneProblem, words};

/// With fewer digits before it a word is not a label: the `x` of `1x`.
const FEWEST_BEFORE: usize = 7;

/// The text without an extension that is empty or zero. Any other extension is an error.
pub(super) fn without_extension(text: &str) -> Result<&str> {
    let Some((at, after)) = label(text) else {
        return Ok(text);
    };
    let digits = after.trim_start_matches(['.', ':', '=', '-', ' ', '(', ',']);
    let (extension, rest) = split_behind(digits, |c| c.is_ascii_digit());
    let is_one_sign = text[at..].len() == after.len() + 1;
    if extension.contains(|c| c != '0') {
        Err(PhoneProblem::Extension)
    } else if rest.contains(char::is_alphanumeric) || (extension.is_empty() && is_one_sign) {
        // Not an extension. Later steps decide about the letters.
        Ok(text)
    } else {
        Ok(text[..at].trim_end_matches([' ', ',', ';', '-', '(']))
    }
}

/// Whether a sign of an extension was right behind the digits, where it may also hide a digit:
/// `text` is what is left of `before` without the extension.
pub(super) fn is_glued(text: &str, before: &str) -> bool {
    let sign = before[text.len()..].chars().next();
    sign.is_some_and(|c| matches!(c, 'x' | 'X' | '#'))
}

/// Whether the text begins with a label, not with another number.
pub(super) fn begins_with_label(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('#') || is_label(split_behind(text, char::is_alphabetic).0)
}

fn is_label(word: &str) -> bool {
    words::has("extension", word)
}

/// The position of a label, and the text after it.
fn label(text: &str) -> Option<(usize, &str)> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| !c.is_alphabetic() && !matches!(c, '#' | '~'));
        let at = text.len() - rest.len();
        let (name, after) = match rest.chars().next()? {
            '#' | '~' => rest.split_at(1),
            _ => split_behind(rest, char::is_alphabetic),
        };
        // Google takes `~` as the sign of an extension after any digits.
        let fewest = if name == "~" { 1 } else { FEWEST_BEFORE };
        let is_known = matches!(name, "#" | "~") || is_label(name);
        if is_known && digits::count(&text[..at]) >= fewest {
            return Some((at, after));
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_is_refused_in_every_way_of_writing() {
        for extension in [
            "ext 12",
            "ext. 12",
            "Ext.12",
            "EXT:12",
            "extension 12",
            "x12",
            "X 12",
            "#12",
            "# 12",
            "~12",
            "доб. 12",
            "int 12",
            "Durchwahl 12",
            "poste 12",
            "anexo 12",
            "ext 12 (office)",
            "(ext 12)",
        ] {
            let text = format!("089 1234567 {extension}");
            assert_eq!(
                without_extension(&text),
                Err(PhoneProblem::Extension),
                "{text}"
            );
        }
    }

    #[test]
    fn a_tilde_is_the_sign_of_an_extension_as_it_is_to_google() {
        assert_eq!(
            without_extension("03~1234~5678"),
            Err(PhoneProblem::Extension)
        );
        assert_eq!(without_extension("~ 0171 1234567"), Ok("~ 0171 1234567"));
    }

    #[test]
    fn an_extension_that_is_empty_or_zero_is_dropped() {
        for extension in [
            "ext",
            "ext.",
            "ext 0",
            "x0",
            "x000",
            "#0",
            "(ext. 00)",
            ", ext.",
        ] {
            let text = format!("089 1234567 {extension}");
            assert_eq!(without_extension(&text), Ok("089 1234567"), "{text}");
        }
    }

    #[test]
    fn an_x_that_no_digits_follow_or_few_precede_is_a_letter() {
        for text in [
            "1x 089 1234567",
            "089 1234567 1x",
            "089 1234567x",
            "*123#",
            "089 1234567 next 12",
        ] {
            assert_eq!(without_extension(text), Ok(text));
        }
    }
}
