//! Which row is the header: the first row may be a title above it, or already a contact.

use super::columns::Columns;
use super::header_words::{is_phone, means_phone};
use super::rejects_form::RejectsForm;
use crate::message::Text;
use crate::phone::{is_surely_number, looks_like_number};
use crate::source::{Header, Row, RowBatch};

const HEADER_AMONG: usize = 20;

/// What to do if one of the first rows looks like the header but is not used as the header: a title
/// or a note about the export comes first, or the user says that there is no header.
pub(super) fn header_below(has_header: bool, sample: &RowBatch) -> Option<Text> {
    let mut rows = sample.rows().take(HEADER_AMONG);
    let at = rows.position(|row| phone_cell(row).is_some())?;
    let line = sample.row(at).line();
    let mut above = sample.rows().take(at);
    let has_contacts = above.any(|row| {
        row.cells()
            .any(|cell| std::str::from_utf8(cell).is_ok_and(is_surely_number))
    });
    // The header of a second table: with or without `--no-header`, one of the tables does not fit.
    let advice = if has_contacts {
        text!(
            "the file seems to have several tables: put each into a file of its own, with its header in the first line"
        )
    } else if has_header {
        text!("remove the lines above it{| from the list, and choose it again}")
    } else {
        text!("{leave out `--no-header`|untick “The first row is a person” under {--no-header}}")
    };
    Some(text!(
        "line {line} looks like the header: {advice}",
        line = line.to_string(),
        advice
    ))
}

/// The line of a row that looks like the header of a second table.
pub(super) fn second_header(sample: &RowBatch) -> Option<u64> {
    let mut rows = sample.rows();
    rows.find(|row| phone_cell(*row).is_some())
        .map(|row| row.line())
}

/// The column (from 0) whose cell means "phone number", in a row that may be a header.
fn phone_cell(row: Row<'_>) -> Option<usize> {
    let is_named = |column: &usize| row.text(*column).is_some_and(is_phone);
    (0..row.len()).find(|column| row.len() > 1 && is_named(column))
}

/// How many rows are above the header: titles, and notes about the export. The result is 0 unless
/// the header below them is certain: it names a phone column, the rows below it have numbers in
/// that column, and neither it nor a row above it has one there.
pub fn rows_above_header(first: &Header, sample: &RowBatch) -> usize {
    if first.names.iter().any(|name| means_phone(name)) || RejectsForm::of(&first.names).is_some() {
        return 0;
    }
    let rows: Vec<Row<'_>> = sample.rows().collect();
    let candidates = rows.iter().take(HEADER_AMONG).enumerate();
    let mut named = candidates.filter_map(|(at, row)| Some((at, phone_cell(*row)?)));
    let Some((at, column)) = named.next() else {
        return 0;
    };
    let text = |row: &Row<'_>| row.text(column).unwrap_or_default().to_owned();
    let has_number = |row: &Row<'_>| looks_like_number(&text(row));
    let below = &rows[at + 1..];
    let filled = below.iter().filter(|row| !text(row).trim().is_empty());
    let numbers = below.iter().filter(|row| has_number(row)).count();
    let is_certain = numbers > 0
        && 2 * numbers >= filled.count()
        && !rows[..=at].iter().any(has_number)
        && !first
            .names
            .get(column)
            .is_some_and(|name| looks_like_number(name))
        && !rows[at].cells().any(|cell| cell.contains(&b'@'));
    // The row that was read as the header is above the real one too.
    if is_certain { at + 1 } else { 0 }
}

/// A header does not have more digits than this.
const MAX_DIGITS_IN_HEADER: usize = 8;

/// Whether the first row is a contact and not a header: it has a number in a phone column, or in
/// any column something that no header has. `phone_columns` is empty if none was found.
pub(super) fn looks_like_data(columns: &Columns<'_>, phone_columns: &[usize]) -> bool {
    let header = |column: &usize| columns.headers[*column].as_str();
    let is_beyond_doubt = |header: &str| {
        let digits = header.chars().filter(|c| c.is_numeric()).count();
        let is_address = header.contains('@') && header.contains('.');
        let is_nothing = ["n/a", "none", "null"]
            .iter()
            .any(|none| header.trim().eq_ignore_ascii_case(none));
        is_surely_number(header) || digits > MAX_DIGITS_IN_HEADER || is_address || is_nothing
    };
    let suspects = if phone_columns.is_empty() {
        &columns.own[..]
    } else {
        phone_columns
    };
    columns.own.iter().map(header).any(is_beyond_doubt)
        || suspects.iter().map(header).any(looks_like_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHONE: &str = "+447911123456";

    fn header(names: &[&str]) -> Header {
        Header {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            line: Some(1),
        }
    }

    #[test]
    fn a_contact_above_the_header_is_no_title() {
        let rows: &[&[&str]] = &[
            &["Name", "Telefon"],
            &["Ada", "+491713920003"],
            &["Bob", "+491713920004"],
        ];
        let sample = RowBatch::of_text(rows);
        for (first, above) in [
            (["Adams", "+491713920001"], 0),
            (["Adams", "0171 3920001"], 0),
            (["October", ""], 1),
            (["Hotline: 0171 3920001", "as of 2026"], 1),
        ] {
            assert_eq!(
                rows_above_header(&header(&first), &sample),
                above,
                "{first:?}"
            );
        }
    }

    #[test]
    fn a_first_row_with_a_number_is_no_header() {
        let data = |names: &[&str], phones: &[usize]| {
            looks_like_data(&Columns::of("leads.csv", &header(names), None), phones)
        };
        assert!(data(&["Ada", PHONE], &[]));
        assert!(data(&["Ada", "4479111"], &[1]));
        assert!(!data(&["name", "4479111"], &[0]));
        assert!(data(&["Ada", "171 1234567"], &[]));
        assert!(data(&["Bob", "+14155550100 (mobile)"], &[0]));
        assert!(!data(&["phone", "Sales 2025-2026"], &[0]));
        assert!(!data(&["name", "phone"], &[1]));
    }
}
