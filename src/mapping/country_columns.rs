//! Finds the columns that hold each row's country: by their headers, confirmed by their cells.

use super::columns::Columns;
use super::header_words::{has_calling_code, is_calling_code, is_country};
use crate::phone::CountryCell;
use crate::source::RowBatch;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CountryColumns {
    /// The columns (from 0) that name the country of numbers in national form.
    pub used: Vec<usize>,
    /// Of `used`, the columns that hold calling codes, which may have no plus.
    pub codes: Vec<usize>,
    /// The columns (from 0) whose headers mean a country but that hold few known ones. They do not
    /// complete numbers, but a country that they name is evidence against another one.
    pub vague: Vec<usize>,
    /// Whether the columns were found, and not named by a flag. If found, they are sent too.
    pub are_found: bool,
}

impl CountryColumns {
    /// Finds the columns by their headers and the first rows. With `believes_header` the cells do
    /// not matter: a row may be in a rejects file because its country is unknown.
    pub(super) fn find(
        columns: &Columns<'_>,
        sample: &RowBatch,
        believes_header: bool,
    ) -> CountryColumns {
        let named = if columns.has_header {
            columns.that(|header| is_country(header) || is_calling_code(header))
        } else {
            Vec::new()
        };
        let codes = named.iter().copied();
        let codes: Vec<usize> = codes
            .filter(|column| holds_codes(columns, *column, sample))
            .collect();
        let (used, mut vague): (Vec<usize>, Vec<usize>) = named.into_iter().partition(|column| {
            // `DDI` is a calling code in Brazil, and a phone number in Britain.
            let is_believed = believes_header && is_country(&columns.headers[*column]);
            is_believed || codes.binary_search(column).is_ok() || holds_countries(*column, sample)
        });
        vague.retain(|column| is_country(&columns.headers[*column]));
        CountryColumns {
            used,
            codes,
            vague,
            are_found: true,
        }
    }

    pub(super) fn named(columns: &Columns<'_>, sample: &RowBatch, column: usize) -> CountryColumns {
        let has_codes = holds_codes(columns, column, sample);
        CountryColumns {
            used: vec![column],
            codes: Vec::from_iter(has_codes.then_some(column)),
            ..CountryColumns::default()
        }
    }
}

/// Whether the column holds calling codes without a plus. Codes of three digits do not show that:
/// they may also be country numbers of ISO 3166.
fn holds_codes(columns: &Columns<'_>, column: usize, sample: &RowBatch) -> bool {
    if !has_calling_code(&columns.headers[column]) {
        return false;
    }
    let (mut bare, mut unknown) = (0, 0);
    for row in sample.rows() {
        let text = row.text(column).unwrap_or_default().trim();
        match CountryCell::read_code(text) {
            CountryCell::Known(_) if text.len() != 3 => {
                bare += usize::from(text.bytes().all(|byte| byte.is_ascii_digit()));
            }
            CountryCell::Known(_) | CountryCell::Empty => {}
            CountryCell::Unknown => unknown += 1,
        }
    }
    bare > unknown
}

/// Whether most filled cells of the column are the name or the code of a country. A column without
/// any filled cell counts: later cells may be filled.
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

    fn found(names: &[&str], rows: &[&[&str]], believes_header: bool) -> CountryColumns {
        let header = Header {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            line: Some(1),
        };
        let columns = Columns::of("leads.csv", &header, None);
        CountryColumns::find(&columns, &RowBatch::of_text(rows), believes_header)
    }

    #[test]
    fn a_column_of_calling_codes_is_known_by_its_header_and_its_cells() {
        for name in [
            "ISD Code",
            "DDI",
            "Dialing code",
            "International Code",
            "phone_code",
            "Int. Vorwahl",
            "Prefijo internacional",
            "Kod kraju",
            "国番号",
            "CC",
        ] {
            for cells in [
                ["+34", "+351"],
                ["34", "351"],
                ["0034", "00351"],
                ["34", "49"],
            ] {
                let rows = cells.map(|cell| vec![cell]);
                let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
                let found = found(&[name], &rows, false);
                assert_eq!(found.used, [0], "{name} {cells:?}");
            }
            for believes_header in [false, true] {
                let rows: &[&[&str]] = &[&["020 7946 0134"], &["020 7946 0135"]];
                let found = found(&[name], rows, believes_header);
                let is_named = is_country(name) && believes_header;
                assert_eq!(found.used.len(), usize::from(is_named), "{name}");
            }
        }
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
            let found = found(&[name], &[&["Spain"]], false);
            assert_eq!((found.used, found.vague), (vec![], vec![]), "{name}");
        }
    }

    #[test]
    fn calling_codes_without_a_plus_are_known_by_header_and_cells() {
        let rows: &[&[&str]] = &[&["44"], &["1"], &["353"], &[""]];
        for name in ["Country Code", "Dial code", "Ländervorwahl"] {
            assert_eq!(found(&[name], rows, false).codes, [0], "{name}");
        }
        assert_eq!(found(&["Country"], rows, false).vague, [0]);
        let numbers: &[&[&str]] = &[&["250"], &["380"]];
        assert_eq!(found(&["Country Code"], numbers, false).vague, [0]);
    }

    #[test]
    fn most_of_its_cells_must_be_countries_but_in_rejects() {
        let rows: &[&[&str]] = &[&["North"], &["DE"], &["South"], &[""], &["n/a"]];
        assert_eq!(found(&["Country"], rows, false).vague, [0]);
        assert_eq!(found(&["Country"], rows, true).used, [0]);
        assert_eq!(found(&["Country"], &rows[1..2], false).used, [0]);
        assert_eq!(found(&["Country"], &rows[3..], false).used, [0]);
    }
}
