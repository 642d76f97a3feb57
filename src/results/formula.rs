//! Makes text harmless that a spreadsheet would run as a formula.
//!
//! A formula is at the beginning of a cell, and an apostrophe before it turns it into
//! text. Where a cell begins depends on who opens the file: Excel splits lines at the
//! list separator of the computer, which is `;` in half of Europe and `,` elsewhere,
//! whatever the delimiter of the file is. Take this line of a file with commas:
//!
//! ```text
//! 7,8,"x;=1+1;y",rejected
//! ```
//!
//! Such an Excel finds the cells `7,8,"x`, `=1+1` and `y",rejected`. Quotes do not help:
//! they only count at the beginning of a cell, and here they are in the middle of one.
//! For the same reason a line break between them ends the row. So an apostrophe is added
//! wherever a cell may begin with a formula, and nowhere else. The file's own delimiter
//! is not such a place: a program that splits at it also understands the quotes.

use std::borrow::Cow;

use crate::source::DELIMITERS;

/// The bytes of a cell of a file with this delimiter, with an apostrophe before everything that
/// a spreadsheet would run as a formula. Phone numbers and signed numbers stay as they are.
pub fn harmless(cell: &[u8], delimiter: u8) -> Cow<'_, [u8]> {
    let places = formulas(cell, delimiter);
    if places.is_empty() {
        return Cow::Borrowed(cell);
    }
    let mut out = Vec::with_capacity(cell.len() + places.len());
    let mut done = 0;
    for place in places {
        out.extend_from_slice(&cell[done..place]);
        out.push(b'\'');
        done = place;
    }
    out.extend_from_slice(&cell[done..]);
    Cow::Owned(out)
}

fn formulas(cell: &[u8], delimiter: u8) -> Vec<usize> {
    let is_split = |byte: u8| {
        matches!(byte, b'\n' | b'\r') || (DELIMITERS.contains(&byte) && byte != delimiter)
    };
    let first = begins_with_white_space(cell) || is_formula(cell);
    let others = (1..cell.len()).filter(|&at| {
        let split = cell[at - 1];
        let part = &cell[at..];
        is_split(split) && {
            let end = part
                .iter()
                .position(|&byte| byte == split || matches!(byte, b'\n' | b'\r'));
            // Quotes after a closing quote are part of the text.
            let part = &part[..end.unwrap_or(part.len())];
            let quotes = part.iter().take_while(|&&byte| byte == b'"').count();
            is_formula(&part[quotes..])
        }
    });
    first.then_some(0).into_iter().chain(others).collect()
}

/// Some programs drop this white space and use the text after it.
fn begins_with_white_space(cell: &[u8]) -> bool {
    matches!(cell.first(), Some(b'\t' | b'\r' | b'\n'))
}

fn is_formula(part: &[u8]) -> bool {
    // The full-width signs count in East Asian versions.
    const SIGNS: [&str; 6] = ["=", "@", "＝", "＠", "＋", "－"];
    match part.first() {
        Some(b'+' | b'-') => !part[1..]
            .iter()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'.')),
        _ => SIGNS.iter().any(|sign| part.starts_with(sign.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(delimiter: u8, cells: &[(&str, &str)]) {
        for (cell, expected) in cells {
            let made = harmless(cell.as_bytes(), delimiter);
            assert_eq!(std::str::from_utf8(&made), Ok(*expected), "{cell}");
        }
    }

    #[test]
    fn formulas_get_an_apostrophe_and_numbers_do_not() {
        check(
            b',',
            &[
                ("=1+1", "'=1+1"),
                ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
                ("-2+3", "'-2+3"),
                ("@SUM(A1)", "'@SUM(A1)"),
                ("\tx", "'\tx"),
                ("\r\nx", "'\r\nx"),
                ("＝1", "'＝1"),
                ("+447911123456", "+447911123456"),
                ("+44 7911 123456", "+44 7911 123456"),
                ("-5.5", "-5.5"),
                ("Ada", "Ada"),
                ("", ""),
            ],
        );
        assert_eq!(harmless(b"=\xFF", b','), &b"'=\xFF"[..]);
    }

    #[test]
    fn a_formula_behind_a_delimiter_of_another_file_gets_one_too() {
        check(
            b',',
            &[
                ("x;=1+1", "x;'=1+1"),
                ("x;=1+1;y;@A", "x;'=1+1;y;'@A"),
                ("=1;=2", "'=1;'=2"),
                ("x\t=1+1", "x\t'=1+1"),
                ("x|-A1", "x|'-A1"),
                ("x;＝1", "x;'＝1"),
                // A decimal comma does not end the cell.
                ("x;+1,5*A1", "x;'+1,5*A1"),
                ("x;\"=1+1\"", "x;'\"=1+1\""),
                ("x\n=1+1", "x\n'=1+1"),
                ("x\r\n=1+1", "x\r\n'=1+1"),
                ("x\n;=1", "x\n;'=1"),
            ],
        );
        check(b';', &[("x,=1+1", "x,'=1+1"), ("x;=1+1", "x;=1+1")]);
    }

    #[test]
    fn text_that_only_has_delimiters_stays_as_it_is() {
        check(
            b',',
            &[
                ("x,=1+1", "x,=1+1"),
                ("a; b=1", "a; b=1"),
                ("no; -1 is too few", "no; -1 is too few"),
                (
                    "+447911123456;+447911123457",
                    "'+447911123456;+447911123457",
                ),
                (
                    "0171 3920001;+49 171 3920002",
                    "0171 3920001;+49 171 3920002",
                ),
                ("two\nlines, and more", "two\nlines, and more"),
                ("x;\"y\"", "x;\"y\""),
                ("x;", "x;"),
                ("x;;", "x;;"),
            ],
        );
        check(b';', &[("Hello,\nWorld", "Hello,\nWorld")]);
    }

    #[test]
    fn harmless_text_is_unchanged() {
        for cell in ["=1", "x;=1", "x\n@y;=1"] {
            let once = harmless(cell.as_bytes(), b',').into_owned();
            assert_eq!(harmless(&once, b','), once);
        }
    }
}
