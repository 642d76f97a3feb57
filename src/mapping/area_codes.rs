//! Finds columns with the area codes of numbers in another column: by their headers, confirmed by
//! the cells of both.

use std::collections::{HashMap, HashSet};

use super::beside::{PhoneHeader, Side, completing, owner, phone_headers};
use super::columns::Columns;
use super::header_words::{is_country, is_not_to_call, may_be_phone};
use crate::source::RowBatch;

/// An area code has at most so many digits, with its zero, or a calling code before it.
const MAX_DIGITS: usize = 7;

/// The columns (from 0) with area codes, each with the column of its numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AreaCodes {
    pairs: Vec<(usize, usize)>,
    /// The first column with the area codes of each column of numbers.
    of: HashMap<usize, usize>,
}

impl AreaCodes {
    /// With `believes_header` empty cells do not matter, nor which numbers the rows have: those of
    /// rejects are bad by nature.
    pub(super) fn find(
        columns: &Columns<'_>,
        sample: &RowBatch,
        believes_header: bool,
    ) -> AreaCodes {
        let mut named = completing(columns, "area code");
        named.retain(|(column, _)| {
            let header = &columns.headers[*column];
            !is_not_to_call(header)
                && holds_area_codes(*column, sample, is_country(header), believes_header)
        });
        let areas: HashSet<usize> = named.iter().map(|(area, _)| *area).collect();
        let mut phones = phone_headers(columns);
        phones.retain(|column| !areas.contains(column));
        let phones = PhoneHeader::all(columns, phones);
        let pairs = named.iter().filter_map(|(area, rest)| {
            // A header that only says number is the local number right behind its area code.
            let next = area + 1;
            let is_own = columns.own.binary_search(&next).is_ok();
            let is_number = is_own && may_be_phone(&columns.headers[next]);
            let number = match owner(&phones, (*area, rest), Side::Before) {
                _ if is_number && rest.iter().all(|word| is_digits(word)) => next,
                found => found?,
            };
            (believes_header || holds_local_numbers(*area, number, sample))
                .then_some((*area, number))
        });
        let pairs: Vec<(usize, usize)> = pairs.collect();
        // The first of several stays.
        let of = pairs.iter().rev().map(|(area, number)| (*number, *area));
        AreaCodes {
            of: of.collect(),
            pairs,
        }
    }

    /// The columns with area codes.
    pub(super) fn columns(&self) -> Vec<usize> {
        self.pairs.iter().map(|(area, _)| *area).collect()
    }

    /// The column with the area codes of this column.
    pub(super) fn of(&self, number: usize) -> Option<usize> {
        self.of.get(&number).copied()
    }
}

/// Whether most filled cells may be area codes. If the header may mean a country too, a zero must
/// come first in some.
fn holds_area_codes(
    column: usize,
    sample: &RowBatch,
    may_be_country: bool,
    may_be_empty: bool,
) -> bool {
    let (mut codes, mut others, mut with_zero) = (0, 0, 0);
    for row in sample.rows() {
        let cell = row.text(column).unwrap_or_default().trim();
        let is_code =
            (1..=MAX_DIGITS).contains(&digits(cell).count()) && !cell.contains(char::is_alphabetic);
        codes += usize::from(is_code);
        others += usize::from(!is_code && cell.contains(char::is_alphanumeric));
        let mut digits = digits(cell);
        with_zero +=
            usize::from(is_code && digits.next() == Some('0') && digits.next() != Some('0'));
    }
    let are_codes = codes > others || may_be_empty && codes == others;
    are_codes && (with_zero > 0 || !may_be_country)
}

/// Whether a number lacks the area code that its row has.
fn holds_local_numbers(area: usize, number: usize, sample: &RowBatch) -> bool {
    sample.rows().any(|row| {
        let text = |column: usize| row.text(column).unwrap_or_default();
        let area: String = digits(text(area))
            .skip_while(|digit| *digit == '0')
            .collect();
        let number = text(number).trim();
        let local: String = digits(number).collect();
        !area.is_empty()
            && !local.is_empty()
            && !number.starts_with(['+', '(', '0'])
            && !local.starts_with(&area)
    })
}

fn is_digits(word: &str) -> bool {
    word.chars().all(char::is_numeric)
}

fn digits(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_numeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::header_words::names_of;
    use crate::source::Header;

    fn found(names: &[&str], rows: &[&[&str]]) -> Vec<(usize, usize)> {
        let header = Header {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            line: Some(1),
        };
        let columns = Columns::of("leads.csv", &header, None);
        AreaCodes::find(&columns, &RowBatch::of_text(rows), false).pairs
    }

    #[test]
    fn every_header_of_the_list_is_joined_with_the_number_beside_it_in_every_form() {
        let mut seen = 0;
        for name in names_of("area code") {
            let spaced = name.replace('_', " ");
            for area in [spaced.clone(), spaced.to_uppercase(), format!("{spaced} 1")] {
                for number in [
                    "Phone",
                    "Telefon",
                    "Rufnummer",
                    "Number",
                    "Número",
                    "Phone 1",
                ] {
                    let names = ["Name", &area, number];
                    let rows: &[&[&str]] =
                        &[&["Ada", "030", "1234567"], &["Bob", "", "+4930123456"]];
                    assert_eq!(found(&names, rows), [(1, 2)], "{names:?}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 1_500, "{seen}");
    }

    #[test]
    fn an_area_code_belongs_to_the_phone_that_its_header_names_or_that_is_beside_it() {
        let row: &[&str] = &["Ada", "030", "1234567", "0171", "3920001"];
        for names in [
            ["Name", "Vorwahl", "Telefon", "Mobilvorwahl", "Mobil"],
            [
                "Name",
                "Home Area Code",
                "Home Phone",
                "Work Area Code",
                "Work Phone",
            ],
            ["Name", "Area code 1", "Phone 1", "Area code 2", "Phone 2"],
            [
                "Name",
                "HomeAreaCode",
                "HomePhone",
                "MobileAreaCode",
                "MobilePhone",
            ],
            [
                "Name",
                "Telefonvorwahl",
                "Telefonnummer",
                "Handyvorwahl",
                "Handynummer",
            ],
        ] {
            assert_eq!(found(&names, &[row]), [(1, 2), (3, 4)], "{names:?}");
        }
        let row: &[&str] = &["030", "1234567", "0171 3920001"];
        assert_eq!(found(&["Vorwahl", "Telefon", "Mobil"], &[row]), [(0, 1)]);
        let row: &[&str] = &["030", "0171 3920001", "1234567"];
        assert_eq!(found(&["Vorwahl", "Mobil", "Telefon"], &[row]), [(0, 2)]);
        let row: &[&str] = &["1234567", "030"];
        assert_eq!(
            found(&["Phone", "Area code"], &[row]),
            [(0, 1)].map(|(a, b)| (b, a))
        );
    }

    #[test]
    fn a_column_that_is_no_area_code_or_has_whole_numbers_beside_it_is_not_joined() {
        let whole: &[&[&str]] = &[&["202", "(202) 456-1000"], &["202", "2024561001"]];
        assert!(found(&["Area code", "Phone"], whole).is_empty());
        for (header, cell) in [
            ("Prefix", "Dr."),
            ("Landesvorwahl", "49"),
            ("Country code", "49"),
            ("Ländervorwahl", "+49"),
            ("Indicatif", "33"),
            ("Area", "030"),
            ("Code", "030"),
            ("Fax area code", "030"),
            ("Zip code", "10115"),
            ("Area code of the supplier", "030"),
        ] {
            assert!(
                found(&[header, "Phone"], &[&[cell, "1234567"]]).is_empty(),
                "{header}"
            );
        }
    }
}
