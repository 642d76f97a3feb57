//! Every phone header of the lists, in every form, beside columns that only look like numbers.

use super::header_words::{means_phone, names_of};
use super::{Mapping, MappingError, MappingSpec, PhoneColumn};
use crate::source::{Header, RowBatch};

fn plan(names: &[&str], rows: &[&[&str]]) -> Result<Mapping, MappingError> {
    let header = Header {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        line: Some(1),
    };
    let rows = RowBatch::of_text(rows);
    Mapping::plan("leads.csv", &header, &rows, &MappingSpec::default())
}

/// The ways in which a program or a person may write a header.
fn forms(name: &str) -> Vec<String> {
    let spaced = name.replace('_', " ");
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).collect::<String>()
    });
    let camel: String = words.collect();
    if name.ends_with(char::is_numeric) {
        return vec![
            spaced.to_uppercase(),
            format!("Home {spaced}"),
            format!("{spaced} (work)"),
        ];
    }
    let mut forms = vec![
        format!("{spaced}1"),
        format!("{spaced} 2"),
        format!("{name}_3"),
        format!("{spaced} 1 - Value"),
        spaced.to_uppercase(),
        format!("{}1", spaced.to_uppercase()),
        format!("Home {spaced}"),
        format!("{spaced} (work)"),
        format!("Business {spaced} 2"),
        format!(" {spaced}: "),
    ];
    // In scripts without upper case a name in one word is another word.
    if camel.is_ascii() {
        forms.push(format!("{camel}2"));
        forms.push(format!("home{camel}"));
        forms.push(camel);
    }
    let is_plain = name.chars().count() > 3 && name.chars().all(|c| c.is_ascii_lowercase());
    if is_plain && !name.ends_with('s') {
        forms.push(format!("{name}s"));
    }
    forms.push(spaced);
    forms
}

const CUSTOMERS: [&str; 3] = ["1000234", "20245610", "4155550199"];

#[test]
fn every_phone_header_is_known_in_every_form_and_wins_over_columns_that_only_say_number() {
    let (mut seen, mut unknown, mut wrong) = (0, Vec::new(), Vec::new());
    let lists = ["phone", "phone words", "phone heads", "phone parts"];
    for name in lists.into_iter().flat_map(names_of) {
        for form in forms(name) {
            seen += 1;
            if !means_phone(&form) {
                unknown.push(form);
                continue;
            }
            let others = ["Number", "Nr", "Contact", "Numero", "Nummer 1", "номер"];
            let other = others[seen % others.len()];
            let names = [other, "Name", &form];
            let rows = CUSTOMERS.map(|customer| [customer, "Ada", "(415) 555-0132"]);
            let rows: Vec<&[&str]> = rows.iter().map(|row| &row[..]).collect();
            match plan(&names, &rows) {
                Ok(mapping) if mapping.phone_columns == [PhoneColumn::from(2)] => {}
                _ => wrong.push(format!("{other} beside {form}")),
            }
        }
    }
    eprintln!(
        "{seen} headers, {} unknown, {} wrong",
        unknown.len(),
        wrong.len()
    );
    assert!(unknown.is_empty(), "{unknown:?}");
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(seen > 2_000, "{seen}");
}

/// Headers that the lists do not have in these words, from customer databases and word by word
/// compounds.
const KNOWN: &[&str] = &[
    "Phone1",
    "Tel1",
    "CELL1",
    "Telefon1",
    "GSM1",
    "Mobile_2",
    "Phone 1 - Value",
    "Phones",
    "Mobiles",
    "Telephones",
    "Teléfonos",
    "Handynummern",
    "homephone",
    "workphone",
    "businessphone",
    "HomePhone",
    "MobilePhone",
    "OtherPhone",
    "Home Phone 2",
    "Business Phone",
    "Fone",
    "Fone 2",
    "DID",
    "ANI",
    "DIDs",
    "WhatsApp",
    "WhatsApp Number",
    "No. Telp",
    "No WA",
    "خلوي",
    "Whatsapp2",
    "WhatsApp Phone Number",
    "Phone Number 2",
    "Mobile Phone Number",
    "Person - Phone",
    "Phone - Work",
    "Phone (Home)",
    "Primary Phone",
    "Company Main Phone",
    "Privattelefon",
    "Geschäftstelefon",
    "Diensthandy",
    "Mobiltelefonnummer",
    "Telefonnummern",
    "Privattelefonnummer",
    "Firmenhandynummer",
    "Festnetznummer",
    "Mobilfunknummern",
    "telefonszáma",
    "Telefonszám 2",
    "Mobilszám",
    "Telefony",
    "Téléphones",
    "Téléphone 1",
    "Móviles",
    "Celulares",
    "Telefones",
    "Celular 2",
    "Telefoni",
    "Thuistelefoon",
    "Werktelefoon",
    "Telefoonnummers",
    "Hemtelefon",
    "Arbetstelefon",
    "Kotipuhelin",
    "Puhelinnumerot",
    "Telefoner",
    "Heimasími",
    "Телефоны",
    "Телефон 1",
    "Мобильный2",
    "Telefonlar",
    "Τηλέφωνα",
    "電話1",
    "手机2",
    "phonenumber1",
    "phoneno",
    "cellnumber",
    "telno",
    "Tel. No. 1",
    "worktel",
    "homecell",
    "workmobile",
    "customerphone",
    "lead_phone_number",
    "PHONE_NUMBER_1",
    "phone1",
    "mob1",
    "Mob. No",
    "Phone1Number",
    "Ph.",
    "Ph No",
    "Caller ID",
    "Fono",
    "Telefones Celulares",
    "Handys",
];

/// Headers that mean something else.
const OTHER: &[&str] = &[
    "Fax",
    "Fax1",
    "Home Fax",
    "homefax",
    "Faxnummer",
    "Faxnummern",
    "Telefax",
    "Pager 2",
    "Number",
    "Number1",
    "Nr",
    "Contact",
    "Customer number",
    "Kundennummer",
    "Order no",
    "Invoice Nr.",
    "Name",
    "Microphone",
    "francophone",
    "Saxophone",
    "headphones",
    "Excel",
    "Hotel",
    "Titel",
    "Automobil",
    "CEP",
    "PLZ",
    "ZIP",
    "Postal code",
    "Did they call",
    "Anime",
    "Company",
    "Home",
    "Work",
    "Office",
    "City",
    "Telegram",
    "Vodafone",
];

#[test]
fn headers_of_customer_databases_and_compounds_are_known_and_others_are_not() {
    let unknown: Vec<_> = KNOWN.iter().filter(|name| !means_phone(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let known: Vec<_> = OTHER.iter().filter(|name| means_phone(name)).collect();
    assert!(known.is_empty(), "{known:?}");
}

#[test]
fn a_header_about_a_phone_whose_cells_are_no_numbers_does_not_compete() {
    for (about, cell) in [
        ("Phone type", "mobile"),
        ("Phone 1 - Type", "Work"),
        ("Phone country", "49"),
        ("Phone verified", "true"),
        ("Telefonart", "privat"),
        ("phone_opt_in", "1"),
        ("Mobile app", "yes"),
        ("Cell line", "HeLa"),
        ("Phone consent", "2025-01-01"),
        ("Phone Ext", "12"),
        ("iPhone", "14"),
    ] {
        let rows: &[&[&str]] = &[
            &[cell, "Ada", "+4915123456789"],
            &[cell, "Bob", "+4915123456780"],
        ];
        let mapping = plan(&[about, "Name", "Phone"], rows).unwrap();
        assert_eq!(mapping.phone_columns[0].number, 2, "{about}");
    }
}

#[test]
fn a_phone_column_with_numbers_that_cannot_be_used_does_not_make_customers_be_called() {
    let rows: &[&[&str]] = &[
        &["1000234", "089 1234567 ext 12"],
        &["1000235", "089 1234568 ext 13"],
    ];
    let mapping = plan(&["Number", "Phone1"], rows).unwrap();
    assert_eq!(mapping.phone_columns[0].number, 1);
    let rows: &[&[&str]] = &[
        &["+4915112345678", "+4915112345670"],
        &["+4915112345679", "see note 1234567"],
        &["+4915112345677", "see note 1234568"],
    ];
    let several = plan(&["Number", "Phone1"], rows);
    assert!(matches!(
        several,
        Err(MappingError::SeveralPhoneColumns { .. })
    ));
}

#[test]
fn a_header_that_only_says_number_wins_over_no_other_column_with_numbers() {
    let numbers: [[&str; 3]; 5] = [
        ["2125550134", "2025550135", "3035550136"],
        ["212-555-0134", "(202) 555-0135", "303.555.0136"],
        ["+6561234567", "+6561234568", ""],
        ["020 7946 0134", "020 7946 0135", "020 7946 0136"],
        ["49151123456789", "49151123456780", "49151123456781"],
    ];
    for vague in ["Number", "Nr.", "Contact", "Número", "номер", "Number 2"] {
        for other in ["Account", "Ansprechpartner", "Ref 2", "x"] {
            for cells in numbers {
                let rows = [
                    &["4951234567", "Ada", cells[0]][..],
                    &["4951234568", "Bob", cells[1]],
                    &["4951234569", "Cy", cells[2]],
                ];
                let found = plan(&[vague, "Name", other], &rows);
                assert!(
                    matches!(&found, Err(MappingError::SeveralPhoneColumns { candidates, .. }) if candidates.len() == 2),
                    "{vague} {other} {cells:?}: {found:?}"
                );
            }
        }
        // Other columns with digits are no phone numbers.
        for cells in [
            ["2024-11-03", "2024-11-04", "2024-11-05"],
            ["20241103", "20241104", "20241105"],
            ["1234567.50", "2345678.90", "3456789.10"],
            ["100234", "100235", "100236"],
            ["SW1A 1AA", "10115", "75001"],
        ] {
            let rows = [
                &["2125550134", "Ada", cells[0]][..],
                &["2025550135", "Bob", cells[1]],
                &["3035550136", "Cy", cells[2]],
            ];
            let mapping = plan(&[vague, "Name", "Ref"], &rows).unwrap();
            assert_eq!(mapping.phone_columns, [PhoneColumn::from(0)], "{cells:?}");
        }
    }
}

#[test]
fn beside_an_empty_phone_column_another_one_with_numbers_is_asked_about() {
    for other in ["Contact No", "Number", "Direct line", "x"] {
        let rows: &[&[&str]] = &[&["Ada", "", "+919876543210"], &["Bob", "", "09876543211"]];
        let found = plan(&["Name", "Phone", other], rows);
        let is_asked = matches!(&found, Err(MappingError::SeveralPhoneColumns { candidates, .. }) if candidates.len() == 2);
        let is_used = found.is_ok_and(|mapping| mapping.phone_columns == [PhoneColumn::from(2)]);
        assert!(is_asked || is_used, "{other}");
    }
    let rows: &[&[&str]] = &[&["Ada", "", "1001"], &["Bob", "", "1002"]];
    let mapping = plan(&["Name", "Phone", "Ref"], rows).unwrap();
    assert_eq!(mapping.phone_columns, [PhoneColumn::from(1)]);
}

#[test]
fn a_list_of_people_who_must_not_be_called_is_not_called() {
    let rows: &[&[&str]] = &[&["+491713920001"], &["+491713920002"]];
    for header in [
        "Do not call",
        "Blocked numbers",
        "DNC Number",
        "Sperrliste",
        "Nicht anrufen",
    ] {
        assert!(plan(&[header], rows).is_err(), "{header}");
    }
    let rows: &[&[&str]] = &[&["+491713920001", "+491713920002"]];
    let mapping = plan(&["Phone", "DNC Phone"], rows).unwrap();
    assert_eq!(mapping.phone_columns, [PhoneColumn::from(0)]);
}

#[test]
fn cep_is_a_postal_code_in_brazil_and_a_mobile_number_in_turkey() {
    let rows: &[&[&str]] = &[
        &["01310-100", "11 91234-5678"],
        &["04538133", "11 91234-5679"],
    ];
    let mapping = plan(&["CEP", "Fone"], rows).unwrap();
    assert_eq!(mapping.phone_columns, [PhoneColumn::from(1)]);
    for rows in [
        &[&["Ada", "01310-100"][..], &["Bob", "04538133"]][..],
        &[&["Ada", "1310100"]],
    ] {
        assert!(plan(&["Nome", "CEP"], rows).is_err());
    }
    let rows: &[&[&str]] = &[&["Ada", "5321234567"], &["Bob", "0532 123 45 67"]];
    assert_eq!(
        plan(&["Ad", "Cep"], rows).unwrap().phone_columns,
        [PhoneColumn::from(1)]
    );
    let rows: &[&[&str]] = &[
        &["0212 123 45 67", "0532 123 45 67"],
        &["0212 123 45 68", "0532 123 45 68"],
    ];
    assert!(plan(&["Telefon", "Cep"], rows).is_err());
}

#[test]
fn several_columns_of_the_new_headers_are_listed_with_flags_in_order() {
    let rows: &[&[&str]] = &[
        &["7", "+4915112345678", "+4915112345670", "+493012345"],
        &["8", "", "+4915112345671", "+493012346"],
    ];
    let error = plan(&["Number", "Phone1", "Phone 2 - Value", "Fax1"], rows).unwrap_err();
    let text = error.to_string();
    for named in [
        "column 3 (`Phone 2 - Value`) in 2 rows, column 2 (`Phone1`) in 1 row",
        "--phone-column 'Phone 2 - Value' --phone-column Phone1",
    ] {
        assert!(text.contains(named), "{text}");
    }
}
