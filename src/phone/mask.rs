//! Recognizes numbers of which some digits are hidden.
//!
//! Exports hide digits behind stars, bullets, dots, dashes or letters. What is left may be long enough
//! to be somebody else's number. Stars, `#`, `_` and letters are no signs of phone numbers anyway, so
//! here is only what could be taken for a separator or for decoration.

use super::tidy::is_bullet;

/// Whether signs are there in place of digits: more than one dot or bullet in a row, or several
/// dashes at the end. A single bullet hides a digit at the end, or right before a digit at the
/// beginning (before `0` and `+` it is that of a list).
pub(super) fn is_masked(cell: &str) -> bool {
    let Some(first) = cell.find(char::is_numeric) else {
        let hidden = cell
            .chars()
            .filter(|c| matches!(c, '*' | '#' | '\u{2026}') || is_bullet(*c));
        // Nothing but `#` is a column that is too narrow.
        return hidden.count() > 1 && !cell.chars().all(|c| c == '#');
    };
    // Dots between a label and its number mean nothing.
    let text = match cell[..first].rfind(char::is_alphabetic) {
        Some(label) => cell[label..].trim_start_matches(|c: char| !c.is_numeric()),
        None => cell,
    };
    let text = text.trim();
    let before_digit = text
        .strip_prefix(is_bullet)
        .is_some_and(|rest| rest.starts_with(|c: char| matches!(c, '1'..='9')));
    before_digit
        || text.ends_with(is_bullet)
        || text.ends_with("--")
        || text.contains('\u{2026}')
        || has_run(text)
}

fn has_run(text: &str) -> bool {
    let mut run = 0;
    text.chars().filter(|c| !c.is_whitespace()).any(|c| {
        run = if c == '.' || is_bullet(c) { run + 1 } else { 0 };
        run > 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_in_place_of_digits_are_a_mask() {
        for cell in [
            "+49 171 392••••",
            "+49 171 392•",
            "+49 171 392....",
            "+49 171 392 …",
            "+49 171 ··· 001",
            "•••• 3920001",
            "•713920001",
            "0171 • • • 0001",
            "+49 171 392----",
            "••••••",
            "** ***",
        ] {
            assert!(is_masked(cell), "{cell}");
        }
    }

    #[test]
    fn one_sign_between_groups_or_before_a_number_is_none() {
        for cell in [
            "0171•392•0001",
            "0171 · 3920001",
            "• 0171 3920001",
            "•+49 171 3920001",
            "+49.171.3920001.",
            "Tel....: 0171 3920001",
            "0171 3920001 -",
            "...",
            "",
        ] {
            assert!(!is_masked(cell), "{cell}");
        }
    }
}
