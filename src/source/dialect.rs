//! Detects the delimiter between the cells of a text: `,`, `;`, a tab or `|`.
//!
//! The method follows van den Burg, Nazábal and Sutton ("Wrangling messy CSV files by detecting
//! row and type patterns", 2019). A delimiter scores higher if more rows have the usual number of
//! cells, and if more of these rows have a cell with a known type: a number, a date, an address.

use std::collections::BTreeMap;
use std::io::Cursor;

use super::batch::SAMPLE_BYTES;
use super::reader::sep_line;
use super::{CsvReader, RowBatch};

/// The delimiters that can be detected. If two score the same, the first is chosen.
pub const DELIMITERS: [u8; 4] = *b",;\t|";

const ROWS: usize = 1000;

/// The delimiter of a text that begins with `sample`; a comma if no other fits
/// better. With `is_whole` there is no more text, so the last row counts too.
pub(super) fn detect_delimiter(sample: &[u8], is_whole: bool) -> u8 {
    if let Some((delimiter, _)) = sep_line(sample) {
        return delimiter;
    }
    let mut best = (b',', 0.0);
    for delimiter in DELIMITERS {
        let score = score(&rows(sample, delimiter, is_whole));
        if score > best.1 {
            best = (delimiter, score);
        }
    }
    best.0
}

fn rows(sample: &[u8], delimiter: u8, is_whole: bool) -> RowBatch {
    let input = Box::new(Cursor::new(sample.to_vec()));
    let Ok(mut reader) = CsvReader::new("", input, delimiter) else {
        return RowBatch::default();
    };
    let rows = reader.read_rows(RowBatch::default(), ROWS, SAMPLE_BYTES);
    let mut rows = rows.unwrap_or_default();
    if !is_whole && reader.is_at_end {
        rows.truncate(rows.len().saturating_sub(1));
    }
    rows
}

/// From 0, if every row is one cell, to 2.
fn score(rows: &RowBatch) -> f64 {
    let mut by_count: BTreeMap<usize, usize> = BTreeMap::new();
    for row in rows.rows() {
        *by_count.entry(row.len()).or_default() += 1;
    }
    // The most frequent number of cells; the larger one if two are equally frequent.
    let usual = by_count.iter().max_by_key(|(cells, rows)| (*rows, *cells));
    let Some((cells, alike)) = usual.filter(|(cells, _)| **cells > 1) else {
        return 0.0;
    };
    let usual_rows = rows.rows().filter(|row| row.len() == *cells);
    let telling = usual_rows
        .filter(|row| row.cells().any(is_something))
        .count();
    let share = |count: usize| count as f64 / rows.len() as f64;
    share(*alike) + share(telling)
}

/// Whether a cell has a known type: one or several numbers with four digits
/// or more together, a date, a time, a mail address. An amount with a
/// decimal comma, cut at the comma, is usually too short to count.
fn is_something(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    let digits = cell.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_numeric = |byte: &u8| byte.is_ascii_digit() || b"+-./: ()',;".contains(byte);
    let is_address = || {
        cell.contains(&b'.')
            && cell.iter().filter(|byte| **byte == b'@').count() == 1
            && cell.iter().all(|byte| {
                byte.is_ascii_alphanumeric() || b"@._+-".contains(byte) || !byte.is_ascii()
            })
    };
    digits >= 4 && cell.iter().all(is_numeric) || is_address()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(text: &str) -> char {
        char::from(detect_delimiter(text.as_bytes(), true))
    }

    #[test]
    fn each_delimiter_is_detected_from_the_rows() {
        for delimiter in [',', ';', '\t', '|'] {
            let text = "name,phone,city\nAda,+447911123456,Leeds\nBob,+447911123457,York\n"
                .replace(',', &delimiter.to_string());
            assert_eq!(detected(&text), delimiter);
        }
    }

    #[test]
    fn decimal_commas_do_not_make_a_comma_the_delimiter() {
        let text = "name;phone;amount\nAda;+447911123456;1,50\nBob;+447911123457;2,75\n";
        assert_eq!(detected(text), ';');
    }

    #[test]
    fn a_comma_in_every_name_does_not_outweigh_the_numbers() {
        let text = "Last, First;Phone\nLovelace, Ada;+447911123456\nByron, Anne;+447911123457\n";
        assert_eq!(detected(text), ';');
    }

    #[test]
    fn a_ragged_or_quoted_first_line_decides_nothing() {
        assert_eq!(
            detected("Contacts, all of them\nname;phone\nAda;07911123456\n"),
            ';'
        );
        assert_eq!(
            detected("\"name, first\";\"phone\"\n\"Ada\";\"07911123456\"\n"),
            ';'
        );
    }

    #[test]
    fn a_single_column_gets_a_comma_by_default() {
        assert_eq!(detected("phone\n+447911123456\n"), ',');
        assert_eq!(detected(""), ',');
    }

    #[test]
    fn a_header_alone_is_enough() {
        assert_eq!(detected("phone;name\n"), ';');
    }

    #[test]
    fn excel_may_name_the_delimiter_in_the_first_line() {
        for (text, delimiter, len) in [
            ("sep=;\r\na;b", b';', 6),
            ("SEP=|\na", b'|', 6),
            ("\"sep=,\"\na", b',', 8),
            ("sep=\t\na", b'\t', 6),
        ] {
            assert_eq!(
                sep_line(text.as_bytes()),
                Some((delimiter, len)),
                "{text:?}"
            );
        }
        for text in ["sep=;", "separator=;\n", "sep=;;\n", "a;b\n"] {
            assert_eq!(sep_line(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(detected("sep=|\nname;x|phone\n"), '|');
    }
}
