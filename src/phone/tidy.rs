//! Replaces characters that have many forms with one form.
//!
//! Promise: no digit is added, dropped or moved here. What is removed is either
//! invisible (direction marks) or only wraps the number (quotes, `tel:`).

use std::borrow::Cow;

use super::words;

/// The text with every space as ` `, every dash as `-`, every digit in ASCII, and without
/// invisible characters. A line break stays a line break: another number may follow.
pub(super) fn plain_characters(cell: &str) -> Cow<'_, str> {
    if cell.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(cell);
    }
    Cow::Owned(cell.chars().filter_map(plain_character).collect())
}

fn plain_character(c: char) -> Option<char> {
    Some(match c {
        ' '..='~' => c,
        '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => '\n',
        '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' => return None,
        '\u{2060}'..='\u{2069}' | '\u{FEFF}' => return None,
        _ if c.is_whitespace() || matches!(c, '\u{2800}' | '\u{3164}') => ' ',
        '\u{2010}'..='\u{2015}' | '\u{2043}' | '\u{2212}' => '-',
        '\u{30FC}' | '\u{FE58}' | '\u{FE63}' => '-',
        '\u{301C}' | '\u{2053}' => '~',
        _ if is_bullet(c) => '.',
        '\u{2044}' | '\u{2215}' => '/',
        '\u{FE62}' => '+',
        '\u{3001}' => ',',
        // The full-width signs have the same order as ASCII. Full-width
        // letters stay as they are: no number has letters.
        '\u{FF21}'..='\u{FF3A}' | '\u{FF41}'..='\u{FF5A}' => c,
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
        _ => ascii_digit(c).unwrap_or(c),
    })
}

/// Signs that are as usual between groups of digits as in place of a digit.
pub(super) fn is_bullet(c: char) -> bool {
    matches!(
        c,
        '\u{B7}' | '\u{2022}' | '\u{2024}' | '\u{2027}' | '\u{2219}' | '\u{30FB}'
    )
}

/// The zeros of scripts with ten consecutive digits: Arabic, Persian, N'Ko,
/// ten scripts of India, Thai, Lao, Tibetan, Burmese, Khmer, Mongolian.
const ZEROS: [u32; 19] = [
    0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66,
    0x0DE6, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x17E0, 0x1810,
];

fn ascii_digit(c: char) -> Option<char> {
    let digit = |zero: &u32| char::from_digit(u32::from(c).checked_sub(*zero)?, 10);
    ZEROS.iter().find_map(digit)
}

/// The text without what wraps it: `="…"`, quotes, apostrophes, `<…>`, and a label such as `tel:`
/// before it.
pub(super) fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix("=\"").unwrap_or(text);
    let text = text.trim_matches(is_quote).trim();
    let text = without_label(text).trim_matches(is_quote);
    // Separators may remain of a list of numbers.
    let text = text.trim_matches([',', ';', ' ', '\n']);
    if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '(')) {
        text.trim_end_matches(['>', ' '])
    } else {
        text
    }
}

fn is_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '`' | '´' | '«' | '»' | '<' | '>' | '\u{2018}'..='\u{201F}'
    )
}

/// The text without a `*` or `+` after its digits, as people mark a number that they explain
/// elsewhere; `None` if there is no such mark. Several are no mark, but hide digits.
pub(super) fn without_mark(text: &str) -> Option<&str> {
    let number = text.strip_suffix(['*', '+'])?.trim_end();
    let is_number = number.ends_with(|c: char| c.is_ascii_digit() || c == ')');
    is_number.then_some(number)
}

/// The text without a label and its colon. After `tel` there may be a dot or a space instead.
fn without_label(text: &str) -> &str {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return text;
    }
    let Some(end) = text.find([':', '.', ' ']) else {
        return text;
    };
    let (label, rest) = text.split_at(end);
    let number = rest.trim_start_matches(['.', ':', ' ']);
    let has_colon = rest[..rest.len() - number.len()].contains(':');
    let is_label = words::has("before a number", label);
    if is_label && (has_colon || label.eq_ignore_ascii_case("tel")) {
        number
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_spaces_and_digits_of_other_scripts_become_plain_ones() {
        assert_eq!(plain_characters("０１７１‑１２３"), "0171-123");
        assert_eq!(
            plain_characters("٠١٢٣٤٥٦٧٨٩ ۰۱۲۳۴۵۶۷۸۹"),
            "0123456789 0123456789"
        );
        assert_eq!(plain_characters("（０３）１２３４ー５６"), "(03)1234-56");
        assert_eq!(
            plain_characters("＋44\u{a0}79\u{202f}11\u{2009}1\t2"),
            "+44 79 11 1 2"
        );
        assert_eq!(plain_characters("०९ ๐๙"), "09 09");
    }

    #[test]
    fn invisible_characters_are_removed() {
        assert_eq!(
            plain_characters("\u{202a}+44\u{200b}79\u{ad}11\u{202c}\u{feff}"),
            "+447911"
        );
    }

    #[test]
    fn a_line_break_stays_one() {
        assert_eq!(plain_characters("1\r\n2\u{2028}3"), "1\n\n2\n3");
    }

    #[test]
    fn quotes_formulas_and_labels_around_a_number_are_taken_away() {
        for text in [
            "=\"0171\"",
            "\"0171\"",
            "'0171",
            "’0171",
            "`0171",
            "tel:0171",
            "TEL:0171",
            "Tel. 0171",
            "tel.: 0171",
            "Tel 0171",
            " 'tel:0171' ",
            "0171;",
            "„0171“",
            "p:0171",
            "whatsapp:0171",
            "Mobile: 0171",
            "<0171>",
            "tel:<0171>",
            "0171 >",
        ] {
            assert_eq!(unwrapped(text), "0171", "{text}");
        }
    }

    #[test]
    fn a_word_that_begins_like_a_label_stays() {
        assert_eq!(unwrapped("tel0171"), "tel0171");
        assert_eq!(unwrapped("tél 1"), "tél 1");
        assert_eq!(unwrapped("p 0171"), "p 0171");
        assert_eq!(unwrapped("*123*"), "*123*");
    }

    #[test]
    fn one_mark_after_a_number_is_taken_away() {
        for text in ["0171*", "0171+", "0171 *"] {
            assert_eq!(without_mark(text), Some("0171"), "{text}");
        }
        for text in ["0171", "0171**", "0171*+", "0171 + *", "*", "+"] {
            assert_eq!(without_mark(text), None, "{text}");
        }
    }
}
