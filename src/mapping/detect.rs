//! Detects the phone column: by its header, confirmed by its cells.
//!
//! A header says what the column should be; the cells say what it is. If the two disagree, the
//! cells win, and a note says so.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashSet;

use super::area_codes::AreaCodes;
use super::columns::Columns;
use super::error::{MappingError, PhoneCandidate};
use super::header_row::header_below;
use super::header_words::{
    has_phone, is_not_to_call, is_phone, may_be_phone, may_be_postal_code, means_phone,
};
use super::phone_column::PhoneColumn;
use crate::message::Text;
use crate::phone::{is_surely_number, looks_like_number};
use crate::source::RowBatch;

/// A column (from 0), and a note on the choice.
type Found = (usize, Option<Text>);

/// What the cells of a column look like, in a sample of the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct CellStats {
    filled: usize,
    /// Cells that look like phone numbers.
    numbers: usize,
    /// Of `numbers`, the cells with as many digits as a mobile number.
    long: usize,
    /// Cells that can hardly be anything else.
    sure: usize,
    /// Of `sure`, the cells with a plus.
    with_plus: usize,
    /// Cells with so many digits that they may be a number that cannot be used as it is.
    with_digits: usize,
}

/// A cell with fewer digits is no phone number, however it is written.
const FEWEST_DIGITS: usize = 6;

/// A mobile number has at least as many digits, and no postal code has.
const FEWEST_OF_MOBILE: usize = 10;

impl CellStats {
    fn of<'c>(cells: impl Iterator<Item = Cow<'c, str>>, fewest_digits: usize) -> CellStats {
        let mut stats = CellStats::default();
        for cell in cells {
            let cell = cell.trim();
            let digits = cell.chars().filter(|c| c.is_numeric()).count();
            stats.filled += usize::from(!cell.is_empty());
            stats.with_digits += usize::from(digits >= FEWEST_DIGITS);
            let is_number = digits >= fewest_digits && looks_like_number(cell);
            stats.numbers += usize::from(is_number);
            stats.long += usize::from(is_number && digits >= FEWEST_OF_MOBILE);
            let is_sure = is_surely_number(cell);
            stats.sure += usize::from(is_sure);
            stats.with_plus += usize::from(is_sure && cell.contains('+'));
        }
        stats
    }

    /// Whether the cells do not speak against a header that means numbers.
    fn confirms(self) -> bool {
        2 * self.numbers >= self.filled
    }

    /// Whether nearly all cells are written with a plus, as only phone numbers are. A single one
    /// may be here because its row has shifted.
    fn are_phones(self) -> bool {
        self.with_plus > 1 && 10 * self.with_plus >= 8 * self.filled
    }

    /// Whether nearly all cells may be phone numbers of full length, whatever the header says.
    fn may_be_phones(self) -> bool {
        self.suffices() || self.filled > 0 && 10 * self.long >= 8 * self.filled
    }

    /// Whether the cells alone show that these are numbers.
    fn suffices(self) -> bool {
        self.filled > 0 && 10 * self.numbers >= 8 * self.filled && 2 * self.sure >= self.filled
    }
}

struct Sampled<'a, 'h> {
    columns: &'a Columns<'h>,
    rows: &'a RowBatch,
    area_codes: &'a AreaCodes,
    /// One for each column.
    stats: Vec<CellStats>,
}

impl<'a, 'h> Sampled<'a, 'h> {
    fn new(
        columns: &'a Columns<'h>,
        rows: &'a RowBatch,
        area_codes: &'a AreaCodes,
    ) -> Sampled<'a, 'h> {
        let stats = |column: usize| {
            let header = &columns.headers[column];
            let fewest = if may_be_postal_code(header) {
                FEWEST_OF_MOBILE
            } else {
                0
            };
            let number = PhoneColumn {
                area_code: area_codes.of(column),
                ..PhoneColumn::from(column)
            };
            CellStats::of(rows.rows().map(|row| number.cell(row)), fewest)
        };
        Sampled {
            columns,
            rows,
            area_codes,
            stats: (0..columns.headers.len()).map(stats).collect(),
        }
    }

    /// The columns whose headers mean a phone and whose cells are numbers. If there are any, also
    /// the columns whose cells can hardly be anything else.
    fn with_numbers(&self) -> Vec<usize> {
        let has_area_code = |column: &usize| self.area_codes.of(*column).is_some();
        let is_phone = |column: &usize| means_phone(&self.columns.headers[*column]);
        let mut named = self.columns.own.clone();
        named.retain(|column| is_phone(column) || has_area_code(column));
        named.retain(|column| {
            let stats = self.stats[*column];
            stats.numbers > 0 && stats.confirms()
        });
        if named.is_empty() {
            return named;
        }
        let mut all = self.columns.that(|header| !is_not_to_call(header));
        all.retain(|column| {
            let stats = self.stats[*column];
            // `Cep` is a mobile number in Turkish: its cells need no plus.
            let is_mobile = may_be_postal_code(&self.columns.headers[*column]);
            named.binary_search(column).is_ok()
                || stats.are_phones()
                || is_mobile && stats.suffices()
        });
        all
    }

    /// The only column with numbers, with a note if the header of another one means a phone too.
    fn only_one(&self, column: usize) -> Found {
        let mut named = self.columns.that(is_phone);
        named.retain(|named| !self.stats[*named].confirms());
        self.found(column, &named)
    }

    /// The column whose header is the most certain to mean a phone, unless its cells disagree. A
    /// header that only says number means nothing beside a phone column with digits: these are
    /// numbers that cannot be used, and those are the numbers of customers. Nor does it win over any
    /// other column that may hold phone numbers.
    fn by_header(&self, is_rejects: bool) -> Result<Found, MappingError> {
        let mut overruled: Vec<usize> = Vec::new();
        for fits in [is_phone, has_phone, may_be_phone] {
            let mut tier = self.columns.that(fits);
            let known: HashSet<&usize> = overruled.iter().collect();
            tier.retain(|column| !known.contains(column) && !self.is_postal_code(*column));
            let (mut left, others): (Vec<usize>, Vec<usize>) = tier
                .into_iter()
                .partition(|column| self.stats[*column].confirms());
            if left.is_empty() && is_rejects {
                left.clone_from(&others);
            }
            if !left.is_empty() {
                if !is_rejects {
                    left.extend(self.rivals(&left));
                }
                return Ok(self.found(self.one_of(left)?, &overruled));
            }
            overruled.extend(others);
            if overruled
                .iter()
                .any(|column| self.stats[*column].with_digits > 0)
            {
                break;
            }
        }
        self.by_cells(&overruled)
    }

    /// The other columns that may hold phone numbers, if the headers of these only say number, or if
    /// they are empty.
    fn rivals(&self, chosen: &[usize]) -> Vec<usize> {
        let only_says_number = |column: &usize| {
            let header = &self.columns.headers[*column];
            !means_phone(header) && !may_be_postal_code(header)
        };
        let is_empty = |column: &usize| self.stats[*column].filled == 0;
        if !chosen.iter().all(only_says_number) && !chosen.iter().all(is_empty) {
            return Vec::new();
        }
        let mut others = self.columns.that(|header| !is_not_to_call(header));
        others.retain(|other| {
            chosen.binary_search(other).is_err() && self.stats[*other].may_be_phones()
        });
        others
    }

    fn is_postal_code(&self, column: usize) -> bool {
        may_be_postal_code(&self.columns.headers[column]) && !self.stats[column].confirms()
    }

    /// The one column whose cells show that it holds the phone numbers, if no header means a phone
    /// or if the cells under those headers (`named`) disagree.
    fn by_cells(&self, named: &[usize]) -> Result<Found, MappingError> {
        let columns = self.columns;
        let mut found = columns.that(|header| !is_not_to_call(header));
        found.retain(|column| self.stats[*column].suffices());
        let mut usable = named.to_vec();
        usable.retain(|column| self.stats[*column].numbers > 0);
        if let [column] = found[..]
            && !usable.is_empty()
            && !usable.contains(&column)
        {
            usable.push(column);
            return Err(self.several(&usable));
        }
        match (named, &found[..]) {
            ([_, ..], [column]) => Ok(self.found(*column, named)),
            ([], [column]) => Ok((
                *column,
                Some(if columns.has_header {
                    text!(
                        "no header says phone, so {column} is used: its cells look like phone numbers; if the first line is a contact already, {say --no-header|tick “The first row is a person” under {--no-header}}",
                        column = columns.label(*column)
                    )
                } else {
                    text!(
                        "column {column} is used: its cells look like phone numbers",
                        column = (column + 1).to_string()
                    )
                }),
            )),
            ([named], []) => Ok((*named, Some(self.few_numbers(*named)))),
            ([], []) => Err(MappingError::NoPhoneColumn {
                sheets: Vec::new(),
                header_below: header_below(columns.has_header, self.rows),
                headers: columns.names(),
                input: columns.input.to_owned(),
            }),
            (_, [_, _, ..]) => Err(self.several(&found)),
            (several_named, []) => Err(self.several(several_named)),
        }
    }

    /// Of several columns whose headers and cells fit, the only one that is not empty. If two are
    /// left, neither is guessed.
    fn one_of(&self, confirmed: Vec<usize>) -> Result<usize, MappingError> {
        let mut filled = confirmed.clone();
        filled.retain(|column| self.stats[*column].filled > 0);
        let left = if filled.is_empty() { confirmed } else { filled };
        match left[..] {
            [column] => Ok(column),
            _ => Err(self.several(&left)),
        }
    }

    fn several(&self, found: &[usize]) -> MappingError {
        let candidate = |column: &usize| PhoneCandidate {
            label: self.columns.label(*column),
            name: self.columns.flag_text(*column),
            numbers: self.stats[*column].numbers,
        };
        let mut candidates: Vec<PhoneCandidate> = found.iter().map(candidate).collect();
        candidates.sort_by_key(|candidate| Reverse(candidate.numbers));
        MappingError::SeveralPhoneColumns {
            candidates,
            rows: self.rows.len(),
            input: self.columns.input.to_owned(),
        }
    }

    fn found(&self, column: usize, overruled: &[usize]) -> Found {
        let note = overruled.first().map(|named| {
            text!(
                "{few}, so {column} is used, which holds many",
                few = self.few_numbers(*named),
                column = self.columns.label(column)
            )
        });
        (column, note)
    }

    fn few_numbers(&self, column: usize) -> Text {
        let column = self.columns.label(column);
        text!("{column} holds few phone numbers", column)
    }
}

/// The one column that holds the phone numbers. If several do, the program does
/// not guess whom to call.
///
/// If no column has numbers, a header that means a phone as a whole comes before a header that only
/// contains such a word. The same applies to rejects, whose numbers are bad by nature: the column
/// must be the same as in the list that they come from.
pub(super) fn phone_column(
    columns: &Columns<'_>,
    rows: &RowBatch,
    area_codes: &AreaCodes,
    is_rejects: bool,
) -> Result<Found, MappingError> {
    let sampled = Sampled::new(columns, rows, area_codes);
    let with_numbers = if is_rejects {
        Vec::new()
    } else {
        sampled.with_numbers()
    };
    match with_numbers[..] {
        [column] => Ok(sampled.only_one(column)),
        [] => sampled.by_header(is_rejects),
        [_, _, ..] => Err(sampled.several(&with_numbers)),
    }
}

/// All columns that hold phone numbers, for a list where every number counts.
pub(super) fn phone_columns(
    columns: &Columns<'_>,
    rows: &RowBatch,
    area_codes: &AreaCodes,
) -> Vec<usize> {
    let sampled = Sampled::new(columns, rows, area_codes);
    let own = columns.own.iter().copied();
    own.filter(|column| {
        let header = &columns.headers[*column];
        let stats = sampled.stats[*column];
        // A column that is called a phone number counts whatever its cells are, so that cells that
        // cannot be read are reported.
        let is_named = is_phone(header) || area_codes.of(*column).is_some();
        is_named || has_phone(header) && stats.confirms() || stats.suffices()
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Header;

    const PHONE: &str = "+447911123456";

    fn columns(header: &Header) -> Columns<'_> {
        Columns::of("leads.csv", header, None)
    }

    fn headers(names: &[&str]) -> Header {
        Header {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            line: Some(1),
        }
    }

    fn found(names: &[&str], rows: &[&[&str]]) -> Result<Found, MappingError> {
        phone_column(
            &columns(&headers(names)),
            &RowBatch::of_text(rows),
            &AreaCodes::default(),
            false,
        )
    }

    fn column(names: &[&str], rows: &[&[&str]]) -> usize {
        found(names, rows).unwrap().0
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
    fn where_header_and_data_disagree_the_data_wins_and_a_note_says_so() {
        let rows: &[&[&str]] = &[&["iPhone", PHONE], &["Nokia", "+447911123457"]];
        let found = found(&["Phone", "Kontakt"], rows).unwrap();
        assert_eq!(found.0, 1);
        let note = found.1.unwrap().to_string();
        assert!(note.contains("column 1 (`Phone`)"), "{note}");
        assert!(note.contains("column 2 (`Kontakt`)"), "{note}");
    }

    #[test]
    fn in_a_rejects_file_the_header_decides() {
        let names = headers(&["phone", "emergency contact phone"]);
        let rows = RowBatch::of_text(&[&["x", PHONE], &["y", PHONE]]);
        let found = |is_rejects| {
            phone_column(&columns(&names), &rows, &AreaCodes::default(), is_rejects).unwrap()
        };
        assert_eq!(found(true).0, 0);
        assert_eq!(found(false).0, 1);
        assert!(found(false).1.is_some());
    }

    #[test]
    fn without_a_telling_header_the_cells_decide() {
        let rows: &[&[&str]] = &[&["1000234", PHONE, "2026-11-21"]];
        assert_eq!(column(&["id", "kontakt", "seit"], rows), 1);
    }

    #[test]
    fn an_empty_phone_column_does_not_compete() {
        assert_eq!(column(&["phone", "mobile"], &[&["", PHONE]]), 1);
    }

    #[test]
    fn with_two_number_columns_neither_is_guessed() {
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
    fn a_fax_column_is_not_chosen_for_its_digits() {
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
    fn every_number_of_a_do_not_call_list_counts() {
        let names = headers(&["phone", "mobile", "since"]);
        let rows = RowBatch::of_text(&[&[PHONE, "+447911123457", "2026-11-21"]]);
        assert_eq!(
            phone_columns(&columns(&names), &rows, &AreaCodes::default()),
            [0, 1]
        );
    }
}
