//! Finding the phone column: by its header, confirmed by what stands below it.
//!
//! A header says what somebody meant the column to be; the cells say what it is.
//! Where the two disagree the cells win, and it is said.

use std::cmp::Reverse;

use super::columns::Columns;
use super::error::PhoneCandidate;
use super::phone_words::{LAST_RESORTS, NOT_TO_CALL, PARTS, WHOLE_NAMES, WORDS};
use super::spec::{snake, words};
use super::{MappingError, RejectsForm};
use crate::phone::{is_surely_number, looks_like_number};
use crate::source::{Header, Row, RowBatch};

/// Among so many rows a header is looked for that does not stand in the first.
const HEADER_AMONG: usize = 20;

/// A phone column that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The column, from 0.
    pub(super) column: usize,
    /// What is to be said about it beside which it is.
    pub(super) note: Option<String>,
}

/// What the cells of a column look like, in a sample of the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Evidence {
    /// Cells that are not empty.
    filled: usize,
    /// Those among them that look like phone numbers.
    numbers: usize,
    /// Those that can hardly be anything else.
    sure: usize,
    /// Those among them that have a plus.
    with_plus: usize,
}

impl Evidence {
    fn of(column: usize, sample: &RowBatch) -> Evidence {
        let mut evidence = Evidence::default();
        for row in sample.rows() {
            let cell = row.text(column).unwrap_or_default().trim();
            evidence.filled += usize::from(!cell.is_empty());
            evidence.numbers += usize::from(looks_like_number(cell));
            let is_sure = is_surely_number(cell);
            evidence.sure += usize::from(is_sure);
            evidence.with_plus += usize::from(is_sure && cell.contains('+'));
        }
        evidence
    }

    /// Whether nothing speaks against numbers here, where a header speaks for them.
    fn confirms(self) -> bool {
        2 * self.numbers >= self.filled
    }

    /// Whether nearly all cells are written as nothing but phone numbers with a calling code are.
    fn are_phones(self) -> bool {
        // A single one may stand there since its cells have shifted.
        self.with_plus > 1 && 10 * self.with_plus >= 8 * self.filled
    }

    /// Whether the cells alone say that these are numbers.
    fn suffices(self) -> bool {
        self.filled > 0 && 10 * self.numbers >= 8 * self.filled && 2 * self.sure >= self.filled
    }
}

/// The one column that holds the phone numbers. Where several do, whom to call is not guessed.
///
/// Where none has numbers, headers that mean it as a whole come before those that merely
/// contain such a word. So it is with rejects too, whose numbers are bad by nature: the same
/// column must be found as in the list that they are of.
pub(super) fn phone_column(
    columns: &Columns<'_>,
    sample: &RowBatch,
    is_rejects: bool,
) -> Result<Found, MappingError> {
    if !is_rejects {
        match with_numbers(columns, sample)[..] {
            [column] => return Ok(found_by_header(columns, column, sample)),
            [_, _, ..] => return Err(several(columns, &with_numbers(columns, sample), sample)),
            [] => {}
        }
    }
    let evidence = |column: &usize| Evidence::of(*column, sample);
    let mut overruled: Vec<usize> = Vec::new();
    for fits in TIERS {
        let mut tier = columns.that(|header| fits(&words(header)));
        tier.retain(|column| !overruled.contains(column));
        let confirmed = tier.iter().copied();
        let confirmed: Vec<usize> = confirmed.filter(|c| evidence(c).confirms()).collect();
        let left = match confirmed.is_empty() {
            true if is_rejects => tier.clone(),
            _ => confirmed,
        };
        if !left.is_empty() {
            let column = one_of(columns, left, sample)?;
            let note = overruled
                .first()
                .map(|named| few_numbers(columns, *named, Some(column)));
            return Ok(Found { column, note });
        }
        overruled.extend(tier);
    }
    by_cells(columns, sample, &overruled)
}

/// The columns whose headers mean a phone that can be called.
fn phone_headers(columns: &Columns<'_>) -> Vec<usize> {
    let [by_name, by_word, _] = TIERS;
    columns.that(|header| by_name(&words(header)) || by_word(&words(header)))
}

/// The columns whose headers mean a phone and whose cells are numbers; where there are any,
/// those too whose cells can hardly be anything else.
fn with_numbers(columns: &Columns<'_>, sample: &RowBatch) -> Vec<usize> {
    let evidence = |column: &usize| Evidence::of(*column, sample);
    let has_numbers = |column: &usize| evidence(column).numbers > 0 && evidence(column).confirms();
    let named: Vec<usize> = phone_headers(columns)
        .into_iter()
        .filter(has_numbers)
        .collect();
    if named.is_empty() {
        return named;
    }
    let may_be_called = |header: &str| !is_not_to_call(&words(header));
    let mut all = columns.that(may_be_called);
    all.retain(|column| named.contains(column) || evidence(column).are_phones());
    all
}

/// The only column with numbers, and what is to be said of one whose header promises more.
fn found_by_header(columns: &Columns<'_>, column: usize, sample: &RowBatch) -> Found {
    let [by_name, ..] = TIERS;
    let mut named = columns.that(|header| by_name(&words(header))).into_iter();
    let overruled = named.find(|named| !Evidence::of(*named, sample).confirms());
    Found {
        column,
        note: overruled.map(|named| few_numbers(columns, named, Some(column))),
    }
}

/// The columns beside those in use that may have numbers as well.
pub(super) fn other_phone_columns(columns: &Columns<'_>, used: &[usize]) -> Vec<usize> {
    let mut others = phone_headers(columns);
    others.retain(|column| !used.contains(column));
    others
}

/// What is to be said of columns that somebody has named, where few of their cells hold
/// numbers.
pub(super) fn doubt_about(
    columns: &Columns<'_>,
    named: &[usize],
    sample: &RowBatch,
) -> Option<String> {
    let evidence = |column: &usize| Evidence::of(*column, sample);
    let wrong = named.iter().find(|named| !evidence(named).confirms())?;
    let numbers = |column: &usize| evidence(column).numbers;
    let mut others = with_numbers(columns, sample);
    others.retain(|column| !named.contains(column));
    let other = others.into_iter().max_by_key(numbers)?;
    Some(format!(
        "{} holds few phone numbers, and {} holds many",
        columns.label(*wrong),
        columns.label(other)
    ))
}

/// The one column whose cells say that it holds the phone numbers, where no header does,
/// or where the cells of those that do (`named`) say otherwise.
fn by_cells(
    columns: &Columns<'_>,
    sample: &RowBatch,
    named: &[usize],
) -> Result<Found, MappingError> {
    let found: Vec<usize> = columns
        .that(|header| !is_not_to_call(&words(header)))
        .into_iter()
        .filter(|column| Evidence::of(*column, sample).suffices())
        .collect();
    match (named, &found[..]) {
        ([named, ..], [column]) => Ok(Found {
            column: *column,
            note: Some(few_numbers(columns, *named, Some(*column))),
        }),
        ([], [column]) => Ok(Found {
            column: *column,
            note: Some(format!(
                "no header means a phone number, so {} is taken, whose cells look like it{}",
                columns.label(*column),
                match columns.has_header {
                    true => "; if the first line is a contact already, say --no-header",
                    false => "",
                }
            )),
        }),
        (_, [_, _, ..]) => Err(several(columns, &found, sample)),
        ([named], []) => Ok(Found {
            column: *named,
            note: Some(few_numbers(columns, *named, None)),
        }),
        ([], []) => Err(MappingError::NoPhoneColumn {
            sheets: Vec::new(),
            header_below: header_below(sample),
            headers: columns.names(),
            input: columns.input.to_owned(),
        }),
        (several_named, []) => Err(several(columns, several_named, sample)),
    }
}

/// That a column whose header means a phone number holds few, and which is taken instead.
fn few_numbers(columns: &Columns<'_>, named: usize, taken: Option<usize>) -> String {
    let named = columns.label(named);
    match taken {
        None => format!("{named} holds few phone numbers"),
        Some(taken) => format!(
            "{named} holds few phone numbers, so {} is taken, which holds many",
            columns.label(taken)
        ),
    }
}

/// All columns that hold phone numbers, for a list on which every number counts.
pub(super) fn phone_columns(columns: &Columns<'_>, sample: &RowBatch) -> Vec<usize> {
    let [by_name, by_word, _] = TIERS;
    let named = columns.that(|header| by_name(&words(header)));
    let suggested = columns.that(|header| by_word(&words(header)));
    let own = columns.own.iter().copied();
    own.filter(|column| {
        let evidence = Evidence::of(*column, sample);
        // What is called a phone number counts whatever stands there: what cannot
        // be read is to be complained of.
        named.contains(column)
            || suggested.contains(column) && evidence.confirms()
            || evidence.suffices()
    })
    .collect()
}

/// Which headers mean a phone number, the surest first.
const TIERS: [fn(&str) -> bool; 3] = [
    |name| is_one_of(name, WHOLE_NAMES),
    |name| {
        !is_not_to_call(name)
            && (name.split('_').any(|word| is_one_of(word, WORDS))
                || PARTS.iter().any(|part| name.contains(&snake(part))))
    },
    |name| is_one_of(name, LAST_RESORTS),
];

fn is_not_to_call(name: &str) -> bool {
    name.split('_').any(|word| is_one_of(word, NOT_TO_CALL))
}

/// Whether a name in its snake form is one of the words. Marks that some scripts put on
/// letters are no letters to [`snake`], so that words are compared in that form too.
fn is_one_of(name: &str, words: &[&str]) -> bool {
    words.iter().any(|word| snake(word) == name)
}

/// Of several columns whose headers and cells are right, the one that has numbers at
/// all; which of two is meant is not guessed.
fn one_of(
    columns: &Columns<'_>,
    confirmed: Vec<usize>,
    sample: &RowBatch,
) -> Result<usize, MappingError> {
    let is_filled = |column: &usize| Evidence::of(*column, sample).filled > 0;
    let filled: Vec<usize> = confirmed.iter().copied().filter(is_filled).collect();
    let left = match filled.is_empty() {
        true => confirmed,
        false => filled,
    };
    match left[..] {
        [column] => Ok(column),
        _ => Err(several(columns, &left, sample)),
    }
}

fn several(columns: &Columns<'_>, found: &[usize], sample: &RowBatch) -> MappingError {
    let candidate = |column: &usize| PhoneCandidate {
        label: columns.label(*column),
        name: columns.flag_text(*column),
        numbers: Evidence::of(*column, sample).numbers,
    };
    let mut candidates: Vec<PhoneCandidate> = found.iter().map(candidate).collect();
    candidates.sort_by_key(|candidate| Reverse(candidate.numbers));
    MappingError::SeveralPhoneColumns {
        candidates,
        rows: sample.len(),
        input: columns.input.to_owned(),
    }
}

/// The first of the rows that looks like the header, where the first line is something
/// else: a title, or a note on the export.
fn header_below(sample: &RowBatch) -> Option<u64> {
    let mut rows = sample.rows().take(HEADER_AMONG);
    rows.find(|row| phone_cell(*row).is_some())
        .map(|row| row.line())
}

/// The column (from 0) in which a row that may be a header says that phone numbers stand below.
fn phone_cell(row: Row<'_>) -> Option<usize> {
    let [is_phone, ..] = TIERS;
    let is_phone = |column: &usize| row.text(*column).is_some_and(|name| is_phone(&words(name)));
    (0..row.len()).find(|column| row.len() > 1 && is_phone(column))
}

/// How many rows stand above the header: titles, and notes on the export. None, unless the
/// header below them is certain: it names a phone column, the rows below it have numbers there,
/// and no row above it does either.
pub fn rows_above_header(first: &Header, sample: &RowBatch) -> usize {
    let means_phone = |header: &String| TIERS[..2].iter().any(|fits| fits(&words(header)));
    if first.names.iter().any(means_phone) || RejectsForm::of(&first.names).is_some() {
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
        && !rows[at].cells().any(|cell| cell.contains(&b'@'));
    match is_certain {
        // The row that was taken for the header stands above it too.
        true => at + 1,
        false => 0,
    }
}

/// More digits than this have no place in a header.
const MOST_DIGITS_IN_HEADER: usize = 8;

/// Whether the first row is not a header but a contact: a number stands in it, where
/// the phone column is or anywhere beyond doubt. `phone_columns` are empty where none
/// was found.
pub(super) fn looks_like_data(columns: &Columns<'_>, phone_columns: &[usize]) -> bool {
    let header = |column: &usize| columns.headers[*column].as_str();
    let is_beyond_doubt = |header: &str| {
        let digits = header.chars().filter(|c| c.is_numeric()).count();
        let is_address = header.contains('@') && header.contains('.');
        let is_nothing = ["n/a", "none", "null"]
            .iter()
            .any(|none| header.trim().eq_ignore_ascii_case(none));
        is_surely_number(header) || digits > MOST_DIGITS_IN_HEADER || is_address || is_nothing
    };
    let suspects = match phone_columns.is_empty() {
        true => &columns.own[..],
        false => phone_columns,
    };
    columns.own.iter().map(header).any(is_beyond_doubt)
        || suspects.iter().map(header).any(looks_like_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHONE: &str = "+447911123456";

    fn columns(headers: &[String]) -> Columns<'_> {
        Columns {
            input: "leads.csv",
            headers,
            has_header: true,
            own: (0..headers.len()).collect(),
            saved: None,
        }
    }

    fn headers(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn found(names: &[&str], rows: &[&[&str]]) -> Result<Found, MappingError> {
        phone_column(&columns(&headers(names)), &RowBatch::of_text(rows), false)
    }

    fn column(names: &[&str], rows: &[&[&str]]) -> usize {
        found(names, rows).unwrap().column
    }

    #[test]
    fn the_header_is_known_in_many_languages() {
        for name in [
            "Phone",
            "Mobile No.",
            "Tél.",
            "Téléphone portable",
            "Móvil",
            "Handynummer",
            "Cellulare",
            "Nr telefonu",
            "Телефон",
            "电话号码",
            "お電話番号",
            "휴대폰 번호",
            "رقم الهاتف",
            "Số điện thoại",
            "Phone (work)",
            "Customer Phone Number",
        ] {
            assert_eq!(column(&["x", name], &[&["Ada", PHONE]]), 1, "{name}");
        }
    }

    #[test]
    fn where_header_and_data_disagree_the_data_wins_and_it_is_said() {
        let rows: &[&[&str]] = &[&["iPhone", PHONE], &["Nokia", "+447911123457"]];
        let found = found(&["Phone", "Kontakt"], rows).unwrap();
        assert_eq!(found.column, 1);
        assert_eq!(
            found.note.unwrap(),
            "column 1 (`Phone`) holds few phone numbers, so column 2 (`Kontakt`) is taken, which holds many"
        );
    }

    #[test]
    fn of_rejects_the_header_is_believed() {
        let names = headers(&["phone", "emergency contact phone"]);
        let rows = RowBatch::of_text(&[&["x", PHONE], &["y", PHONE]]);
        let found = |is_rejects| phone_column(&columns(&names), &rows, is_rejects).unwrap();
        assert_eq!(found(true).column, 0);
        assert_eq!(found(false).column, 1);
        assert!(found(false).note.is_some());
    }

    #[test]
    fn without_a_telling_header_the_cells_decide() {
        let rows: &[&[&str]] = &[&["1000234", PHONE, "2026-11-21"]];
        assert_eq!(column(&["id", "kontakt", "seit"], rows), 1);
    }

    #[test]
    fn an_empty_phone_column_is_no_rival() {
        assert_eq!(column(&["phone", "mobile"], &[&["", PHONE]]), 1);
    }

    #[test]
    fn of_two_columns_with_numbers_none_is_guessed() {
        assert!(matches!(
            found(&["phone", "mobile"], &[&[PHONE, PHONE]]),
            Err(MappingError::SeveralPhoneColumns { .. })
        ));
        assert!(matches!(
            found(&["a", "b"], &[&[PHONE, PHONE]]),
            Err(MappingError::SeveralPhoneColumns { .. })
        ));
    }

    #[test]
    fn a_fax_is_not_called_for_its_digits() {
        assert!(matches!(
            found(&["name", "fax"], &[&["Ada", PHONE]]),
            Err(MappingError::NoPhoneColumn { .. })
        ));
    }

    #[test]
    fn ids_and_dates_are_no_phone_numbers() {
        assert!(matches!(
            found(&["id", "date"], &[&["1000234", "2026-11-21"]]),
            Err(MappingError::NoPhoneColumn { .. })
        ));
    }

    #[test]
    fn a_list_to_be_left_alone_counts_with_every_number() {
        let names = headers(&["phone", "mobile", "since"]);
        let rows = RowBatch::of_text(&[&[PHONE, "+447911123457", "2026-11-21"]]);
        assert_eq!(phone_columns(&columns(&names), &rows), [0, 1]);
    }

    #[test]
    fn a_first_row_with_a_number_is_no_header() {
        let data =
            |names: &[&str], phones: &[usize]| looks_like_data(&columns(&headers(names)), phones);
        assert!(data(&["Ada", PHONE], &[]));
        assert!(data(&["Ada", "4479111"], &[1]));
        assert!(!data(&["name", "4479111"], &[0]));
        assert!(data(&["Ada", "171 1234567"], &[]));
        assert!(data(&["Bob", "+14155550100 (mobile)"], &[0]));
        assert!(!data(&["phone", "Sales 2025-2026"], &[0]));
        assert!(!data(&["name", "phone"], &[1]));
    }
}
