//! Finds columns with the extensions of numbers in another column. A number with an extension reaches
//! somebody else, wherever the extension is written.

use std::collections::BTreeSet;

use super::beside::{PhoneHeader, Side, completing, owner, phone_headers};
use super::columns::Columns;
use super::phone_column::PhoneColumn;
use crate::phone::CountryCell;
use crate::source::RowBatch;

const MAX_DIGITS: usize = 6;

/// What people write where there is no extension.
const NONE: [&str; 14] = [
    "na", "nil", "no", "non", "nein", "none", "keine", "kein", "aucun", "aucune", "ninguno",
    "ninguna", "nessuno", "nenhum",
];

/// Columns (from 0) with extensions, each with the other words of its header.
pub(super) type Extensions = Vec<(usize, Vec<String>)>;

pub(super) fn find(columns: &Columns<'_>, sample: &RowBatch) -> Extensions {
    let mut found = completing(columns, "extension");
    found.retain(|(column, _)| holds_extensions(*column, sample));
    found
}

/// Adds to the phone columns which columns have their extensions.
pub(super) fn add_to(phones: &mut [PhoneColumn], columns: &Columns<'_>, extensions: &Extensions) {
    let mut all: BTreeSet<usize> = phone_headers(columns).into_iter().collect();
    all.extend(phones.iter().map(|phone| phone.number));
    for (extension, _) in extensions {
        all.remove(extension);
    }
    let all = PhoneHeader::all(columns, all);
    for (extension, rest) in extensions {
        let of = owner(&all, (*extension, rest), Side::Behind);
        let mut phones = phones.iter_mut();
        if let Some(phone) = phones.find(|phone| Some(phone.number) == of) {
            phone.extension = Some(*extension);
        }
    }
}

/// Whether the cell of an extension has one.
pub(super) fn is_filled(cell: &str) -> bool {
    let cell = cell.trim();
    let mut digits = cell.chars().filter(|c| c.is_numeric()).peekable();
    let has_digits = digits.peek().is_some();
    if has_digits {
        return digits.any(|digit| digit.to_digit(10) != Some(0));
    }
    let is_none = |none: &&str| cell.trim_end_matches('.').eq_ignore_ascii_case(none);
    CountryCell::read(cell) != CountryCell::Empty && !NONE.iter().any(is_none)
}

/// Whether the filled cells of the column do not speak against extensions: a header such as `Poste`
/// also means what somebody does, and `Durchwahl` may have whole numbers.
fn holds_extensions(column: usize, sample: &RowBatch) -> bool {
    let cells = sample.rows().filter_map(|row| row.text(column));
    let (mut extensions, mut others) = (0, 0);
    for cell in cells.filter(|cell| is_filled(cell)) {
        let digits = cell.chars().filter(|c| c.is_numeric()).count();
        let is_extension = (1..=MAX_DIGITS).contains(&digits);
        extensions += usize::from(is_extension);
        others += usize::from(!is_extension);
    }
    extensions >= others
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::header_words::names_of;
    use crate::source::Header;

    /// The phone columns (from 0) that have an extension, each with its column.
    fn found(names: &[&str], used: &[usize], cells: &[&str]) -> Vec<(usize, usize)> {
        let header = Header {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            line: Some(1),
        };
        let columns = Columns::of("leads.csv", &header, None);
        let extensions = find(&columns, &RowBatch::of_text(&[cells]));
        let mut phones: Vec<PhoneColumn> = used.iter().copied().map(PhoneColumn::from).collect();
        add_to(&mut phones, &columns, &extensions);
        let with = phones
            .iter()
            .filter_map(|phone| Some((phone.number, phone.extension?)));
        with.collect()
    }

    #[test]
    fn every_header_of_the_list_alone_or_with_the_words_of_the_phone_column_counts() {
        let mut seen = 0;
        for name in names_of("extension") {
            let spaced = name.replace('_', " ");
            for extension in [
                spaced.clone(),
                spaced.to_uppercase(),
                format!("{spaced}."),
                format!("Phone {spaced}"),
                format!("Work Phone {spaced}"),
                format!("{spaced} 1"),
            ] {
                let phone = if extension.ends_with('1') {
                    "Work Phone 1"
                } else {
                    "Work Phone"
                };
                let names = ["Name", phone, &extension];
                assert_eq!(
                    found(&names, &[1], &["Ada", "+4930", "12"]),
                    [(1, 2)],
                    "{names:?}"
                );
                seen += 1;
            }
        }
        assert!(seen > 300, "{seen}");
    }

    #[test]
    fn an_extension_belongs_to_the_phone_that_its_header_names_or_that_is_before_it() {
        let cells = ["+4930", "12", "+4931", "13"];
        for names in [
            [
                "Work Phone",
                "Work Phone Ext",
                "Home Phone",
                "Home Phone Ext",
            ],
            ["Phone 1", "Ext 1", "Phone 2", "Ext 2"],
            ["Phone1", "Ext1", "Phone2", "Ext2"],
            ["Phone", "Ext", "Home Phone", "Home Phone Extension"],
            ["WorkPhone", "WorkPhoneExt", "HomePhone", "HomePhoneExt"],
        ] {
            assert_eq!(
                found(&names, &[0, 2], &cells),
                [(0, 1), (2, 3)],
                "{names:?}"
            );
        }
        let names = ["Phone", "Mobile", "Ext"];
        assert_eq!(found(&names, &[0, 1], &["+4930", "+4917", "12"]), [(0, 2)]);
        let names = ["Work Phone", "Ext", "Home Phone"];
        assert_eq!(found(&names, &[2], &["+4930", "12", "+4931"]), []);
        assert_eq!(
            found(&["Telefon", "Telefondurchwahl"], &[0], &["030", "12"]),
            [(0, 1)]
        );
        for other in [
            "Account Manager ext",
            "Sales extension",
            "Text",
            "Next",
            "File extension",
        ] {
            assert_eq!(
                found(&["Phone", other], &[0], &["+4930", "12"]),
                [],
                "{other}"
            );
        }
    }

    #[test]
    fn a_column_of_whole_numbers_or_of_words_has_no_extensions() {
        assert_eq!(
            found(&["Telefon", "Durchwahl"], &[0], &["030", "030 1234567"]),
            []
        );
        assert_eq!(
            found(&["Téléphone", "Poste"], &[0], &["01", "Directrice"]),
            []
        );
    }

    #[test]
    fn a_cell_that_says_none_is_empty() {
        for cell in [
            "", " ", "0", "00", "-", "--", "n/a", "N/A", "none", "null", "keine", "0.0", "?",
        ] {
            assert!(!is_filled(cell), "{cell}");
        }
        for cell in ["1", "012", "x12", "ext. 5", "12.0", "Empfang"] {
            assert!(is_filled(cell), "{cell}");
        }
    }
}
