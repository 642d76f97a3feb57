//! Text that a spreadsheet would run as a formula, made harmless.

use std::borrow::Cow;

/// The text, with an apostrophe in front if a spreadsheet would take it for a
/// formula. Phone numbers and signed numbers stay as they are.
fn harmless(text: &str) -> Cow<'_, str> {
    let runs = match text.chars().next() {
        // The full-width forms count where East Asian versions open the file.
        Some('=' | '@' | '\t' | '\r' | '\n' | '＝' | '＠' | '＋' | '－') => true,
        Some('+' | '-') => !text[1..]
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b' ' | b'.')),
        _ => false,
    };
    match runs {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

/// The same as bytes, which a CSV takes.
pub(super) fn harmless_text(text: &str) -> Cow<'_, [u8]> {
    match harmless(text) {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// The same for bytes that may be no text.
pub(super) fn harmless_bytes(cell: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(cell) {
        Ok(text) => harmless_text(text),
        Err(_)
            if cell
                .first()
                .is_some_and(|byte| b"=@+-\t\r\n".contains(byte)) =>
        {
            Cow::Owned([b"'", cell].concat())
        }
        Err(_) => Cow::Borrowed(cell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_get_an_apostrophe_and_numbers_do_not() {
        for (text, harmless_text) in [
            ("=1+1", "'=1+1"),
            ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
            ("-2+3", "'-2+3"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\tx", "'\tx"),
            ("＝1", "'＝1"),
            ("+447911123456", "+447911123456"),
            ("+44 7911 123456", "+44 7911 123456"),
            ("-5.5", "-5.5"),
            ("Ada", "Ada"),
            ("", ""),
        ] {
            assert_eq!(harmless(text), harmless_text);
        }
    }
}
