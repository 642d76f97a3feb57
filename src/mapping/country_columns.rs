//! Finding the columns that say of which country each row's number is: by their headers,
//! confirmed by what stands below them.

use super::columns::Columns;
use super::country_words::{CODES, ELSEWHERE, PARTS, WORDS};
use super::spec::{has_any, is_one_of, snake, words};
use crate::phone::CountryCell;
use crate::source::RowBatch;

/// What a list says of its rows' countries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// The columns (from 0) that are used.
    pub(super) used: Vec<usize>,
    /// Those among them that hold calling codes, also without a plus.
    pub(super) codes: Vec<usize>,
    /// Those whose headers mean country, and whose cells are mostly none that is known.
    pub(super) unknown: Vec<usize>,
}

/// The columns that hold countries. Where the header is believed, whatever stands below it: in
/// rejects a name that is not known is why a row stands there.
pub(super) fn country_columns(
    columns: &Columns<'_>,
    sample: &RowBatch,
    believes_header: bool,
) -> Found {
    let named = if columns.has_header {
        columns.that(|header| means_country(&words(header)))
    } else {
        Vec::new()
    };
    let codes = named.iter().copied();
    let codes: Vec<usize> = codes
        .filter(|column| holds_codes(columns, *column, sample))
        .collect();
    let (used, unknown) = named.into_iter().partition(|column| {
        believes_header || codes.contains(column) || holds_countries(*column, sample)
    });
    Found {
        used,
        codes,
        unknown,
    }
}

/// Whether the column holds calling codes without a plus. Those of three digits alone may be a
/// country's number in ISO 3166 as well.
pub(super) fn holds_codes(columns: &Columns<'_>, column: usize, sample: &RowBatch) -> bool {
    if !has_any(&words(&columns.headers[column]), CODES) {
        return false;
    }
    let (mut bare, mut unknown) = (0, 0);
    for row in sample.rows() {
        let text = row.text(column).unwrap_or_default().trim();
        match CountryCell::read_code(text) {
            CountryCell::Known(_) if matches!(text.len(), 1 | 2) => {
                bare += usize::from(text.parse::<u8>().is_ok());
            }
            CountryCell::Known(_) | CountryCell::Empty => {}
            CountryCell::Unknown => unknown += 1,
        }
    }
    bare > unknown
}

/// Whether a header, by its words, means the country of whoever is called.
fn means_country(name: &str) -> bool {
    let is_named = is_one_of(name, WORDS)
        || has_any(name, WORDS)
        || PARTS.iter().any(|part| name.contains(&snake(part)));
    is_named && !has_any(name, ELSEWHERE)
}

/// Whether most of what stands in the column is the name or the code of a country. Where
/// nothing does, what comes later may.
fn holds_countries(column: usize, sample: &RowBatch) -> bool {
    let (mut known, mut unknown) = (0, 0);
    for row in sample.rows() {
        match CountryCell::read(row.text(column).unwrap_or_default()) {
            CountryCell::Empty => {}
            CountryCell::Known(_) => known += 1,
            CountryCell::Unknown => unknown += 1,
        }
    }
    unknown == 0 || known > unknown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Header;

    fn found(names: &[&str], rows: &[&[&str]], believes_header: bool) -> Found {
        let header = Header {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            line: Some(1),
        };
        let columns = Columns::of("leads.csv", &header, None);
        country_columns(&columns, &RowBatch::of_text(rows), believes_header)
    }

    #[test]
    fn the_header_is_known_in_many_languages() {
        for name in [
            "Country",
            "Country/Region",
            "MailingCountry",
            "Billing Country",
            "Address 1 - Country",
            "Country Code",
            "Land",
            "Pays",
            "País",
            "PAIS",
            "Kraj",
            "Země",
            "Ülke",
            "Страна",
            "国名",
            "국가",
            "Quốc gia",
            "Staat",
            "Dial Code",
            "Country calling code",
            "Country of residence",
            "SENDER_COUNTRY_ISO",
            "Card Address Country",
            "Laenderkuerzel",
            "Rechnungsland",
        ] {
            assert_eq!(found(&[name], &[&["Spain"]], false).used, [0], "{name}");
        }
        for name in [
            "State/Country",
            "Country of birth",
            "Preferred country",
            "Country club",
            "Card Issue Country",
            "Is EU country",
            "País de destino",
            "Land van herkomst",
            "ST/Country",
            "IP Country",
            "País de interés",
            "Pays de l'événement",
            "Land der Messe",
            "Land der Staatsangehörigkeit",
            "Kraj pochodzenia",
            "Account owner country",
            "Ship from country",
            "County",
            "Landkreis",
            "Island",
            "Phone",
        ] {
            assert_eq!(
                found(&[name], &[&["Spain"]], false),
                Found::default(),
                "{name}"
            );
        }
    }

    #[test]
    fn calling_codes_without_a_plus_are_known_by_header_and_cells() {
        let rows: &[&[&str]] = &[&["44"], &["1"], &["353"], &[""]];
        for name in ["Country Code", "Dial code", "Ländervorwahl"] {
            assert_eq!(found(&[name], rows, false).codes, [0], "{name}");
        }
        assert_eq!(found(&["Country"], rows, false).unknown, [0]);
        let numbers: &[&[&str]] = &[&["250"], &["380"]];
        assert_eq!(found(&["Country Code"], numbers, false).unknown, [0]);
    }

    #[test]
    fn most_of_its_cells_must_be_countries_but_in_rejects() {
        let rows: &[&[&str]] = &[&["North"], &["DE"], &["South"], &[""], &["n/a"]];
        assert_eq!(found(&["Country"], rows, false).unknown, [0]);
        assert_eq!(found(&["Country"], rows, true).used, [0]);
        assert_eq!(found(&["Country"], &rows[1..2], false).used, [0]);
        assert_eq!(found(&["Country"], &rows[3..], false).used, [0]);
    }
}
