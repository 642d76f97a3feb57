//! Numbers of every country that are split after their area code.

use super::*;

/// How many numbers were read as they are, as other numbers, and not at all.
#[derive(Debug, Default)]
struct Tally {
    right: usize,
    wrong: Vec<String>,
    lost: Vec<String>,
}

fn rules() -> PhoneRules {
    PhoneRules {
        kinds: LineKinds::ALL,
        ..PhoneRules::default()
    }
}

impl Tally {
    fn note(&mut self, area: &str, number: &str, region: Region, expected: &str) {
        let read = rules().read_with_area_code(area, number, Some(region));
        let shown = format!("{region}: {area:?} {number:?} of {expected}: {read:?}");
        match read {
            Ok(read) if read.number.to_string() == expected => self.right += 1,
            Ok(_) => self.wrong.push(shown),
            Err(_) => self.lost.push(shown),
        }
    }
}

/// Google's examples: the country, the national form and the number.
fn examples() -> Vec<(Region, String, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/phones/examples.csv");
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let examples = lines.filter_map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let is_person = ["fixed", "mobile", "fixed_or_mobile"].contains(&cells[10]);
        let is_usual = cells[8] == "yes" && cells[0] == cells[9] && is_person;
        is_usual.then(|| {
            (
                Region::parse(cells[0]).unwrap(),
                cells[2].to_owned(),
                cells[4].to_owned(),
            )
        })
    });
    examples.collect()
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// The area code and the number behind it; `None` if the national form is not in groups.
fn split(national: &str) -> Option<(&str, &str)> {
    let first = national.find(|c: char| c.is_ascii_digit())?;
    // A trunk prefix in a group of its own, as in `8 (495) 123-45-67`, belongs to the area code.
    let mut at = national[first..]
        .match_indices([')', ' ', '-', '/'])
        .map(|(at, _)| first + at);
    let at = at.find(|at| digits(&national[..*at]).len() >= 2)?;
    let (area, number) = national.split_at(at + 1);
    (digits(number).len() >= 4).then_some((area, number.trim()))
}

#[test]
fn a_number_in_two_cells_is_the_whole_number_in_every_country() {
    let (mut joined, mut whole, mut alone) = (Tally::default(), Tally::default(), Tally::default());
    let mut countries = std::collections::BTreeSet::new();
    for (region, national, e164) in examples() {
        let Some((area, number)) = split(&national) else {
            continue;
        };
        countries.insert(region.to_string());
        let area_digits = digits(area);
        let bare = area_digits.trim_start_matches('0');
        for area in [area, &area_digits, bare, &format!("{bare}.0")] {
            for number in [number, &digits(number)] {
                joined.note(area, number, region, &e164);
            }
        }
        let code = region.calling_code().unwrap();
        for area in [area, bare, ""] {
            whole.note(area, &e164, region, &e164);
            whole.note(area, &e164.replace('+', "00"), region, &e164);
        }
        whole.note(&area_digits, &national, region, &e164);
        for area in [format!("+{code}"), format!("00{code}"), format!("+{code} ")] {
            whole.note(&area, &national, region, &e164);
        }
        let read = |area| rules().read_with_area_code(area, &digits(number), Some(region));
        for area in ["", "-", "0", "n/a"] {
            match read(area) {
                // `06` before a Hungarian number is no area code: it is whole without it.
                Ok(read) if read.number.to_string() == e164 => alone.right += 1,
                Ok(_) if number.starts_with('0') => alone.right += 1,
                Ok(read) => alone
                    .wrong
                    .push(format!("{region}: {number} of {e164}: {read:?}")),
                Err(why) => alone.lost.push(why.text().to_string()),
            }
        }
    }
    for (name, tally) in [("joined", &joined), ("whole", &whole), ("alone", &alone)] {
        eprintln!(
            "{name}: {} right, {} wrong, {} stopped",
            tally.right,
            tally.wrong.len(),
            tally.lost.len()
        );
        tally
            .wrong
            .iter()
            .take(60)
            .for_each(|wrong| eprintln!("  wrong {wrong}"));
    }
    joined
        .lost
        .iter()
        .take(60)
        .for_each(|lost| eprintln!("  joined, stopped {lost}"));
    whole
        .lost
        .iter()
        .take(60)
        .for_each(|lost| eprintln!("  whole, stopped {lost}"));
    eprintln!("{} countries", countries.len());
    assert!(joined.wrong.is_empty() && whole.wrong.is_empty() && alone.wrong.is_empty());
    assert!(countries.len() > 100, "{countries:?}");
    assert!(50 * joined.lost.len() < joined.right && 50 * whole.lost.len() < whole.right);
}

#[test]
fn what_a_spreadsheet_makes_of_two_cells_is_the_same_number_or_none() {
    let (mut decimals, mut refused) = (Tally::default(), 0);
    for (region, national, e164) in examples() {
        let Some((area, number)) = split(&national) else {
            continue;
        };
        let (area, number) = (digits(area), digits(number));
        let bare = area.trim_start_matches('0');
        if !number.starts_with('0') {
            for zeros in [".0", ",00"] {
                let number = format!("{number}{zeros}");
                decimals.note(&format!("{bare}{zeros}"), &number, region, &e164);
                decimals.note(&area, &number, region, &e164);
            }
        }
        for (area, number) in [
            (area.clone(), format!("-{number}")),
            (format!("-{bare}"), number.clone()),
            (area.clone(), "12.05.2024".to_owned()),
            (area.clone(), "1,234,567".to_owned()),
        ] {
            let read = rules().read_with_area_code(&area, &number, Some(region));
            assert!(read.is_err(), "{area} {number}: {read:?}");
            refused += 1;
        }
    }
    let Tally { right, wrong, lost } = &decimals;
    eprintln!("{right} right, {} stopped, {refused} refused", lost.len());
    assert_eq!(wrong, &[""; 0]);
    assert!(50 * lost.len() < *right);
}

#[test]
fn what_stands_beside_a_local_number_never_makes_another_one() {
    let mut tally = Tally::default();
    for (region, national, e164) in examples() {
        let Some((area, number)) = split(&national) else {
            continue;
        };
        // With a zero first, a number is whole.
        if number.starts_with('0') {
            continue;
        }
        for local in [number, &digits(number)] {
            for cell in [
                format!("1. {local}"),
                format!("12) {local}"),
                format!("{local} (45)"),
                format!("{local}(7)"),
                format!("{local}.5"),
                format!("{local},000"),
                format!("{local}/12"),
                format!("{local}+"),
                format!("{local}*"),
            ] {
                tally.note(area, &cell, region, &e164);
            }
        }
    }
    let Tally { right, wrong, lost } = &tally;
    eprintln!("{right} right, {} stopped", lost.len());
    assert_eq!(wrong, &[""; 0]);
    assert!(right + lost.len() > 5_000);
}

#[test]
fn a_calling_code_without_its_plus_is_no_area_code() {
    let read = |area: &str, number: &str, region: &str| {
        let read = rules().read_with_area_code(area, number, Region::parse(region));
        read.map(|read| read.number.to_string())
    };
    assert_eq!(read("49", "15112345100", "DE").unwrap(), "+4915112345100");
    assert_eq!(read("49", "891234567", "DE").unwrap(), "+49891234567");
    // 55 is Santa Maria's area code too.
    assert_eq!(read("55", "32221234", "BR").unwrap(), "+555532221234");
    assert_eq!(read("55", "11987654321", "BR").unwrap(), "+5511987654321");
    // A mobile number split behind its beginning, and a landline's number with its zero.
    assert_eq!(
        read("0157", "02521234", "DE"),
        Err(PhoneProblem::AreaCodeTwice)
    );
}

#[test]
fn an_area_code_is_read_as_people_and_spreadsheets_write_it() {
    for (area, number, region, expected) in [
        ("202", "456-1000", "US", Some("+12024561000")),
        ("(202)", "4561000", "US", Some("+12024561000")),
        ("202", "(202) 456-1000", "US", Some("+12024561000")),
        ("202", "2024561000", "US", Some("+12024561000")),
        ("202", "1-202-456-1000", "US", Some("+12024561000")),
        ("212", "2024561000", "US", Some("+12024561000")),
        ("", "4561000", "US", None),
        ("", "2024561000", "US", Some("+12024561000")),
        ("030", "1234567", "DE", Some("+49301234567")),
        ("30", "123 45 67", "DE", Some("+49301234567")),
        ("030", "030 1234567", "DE", Some("+49301234567")),
        ("030", "0171 3920001", "DE", Some("+491713920001")),
        ("030", "+491713920001", "DE", Some("+491713920001")),
        ("030", "0049 171 3920001", "DE", Some("+491713920001")),
        ("06221", "12345", "DE", Some("+49622112345")),
        ("171", "3920001", "DE", Some("+491713920001")),
        ("", "1234567", "DE", None),
        ("-", "23456789", "DE", None),
        ("", "030 1234567", "DE", Some("+49301234567")),
        ("+49", "171 3920001", "GB", Some("+491713920001")),
        ("0049", "0171 3920001", "GB", Some("+491713920001")),
        ("+49 30", "1234567", "GB", Some("+49301234567")),
        ("+49 30", "0171 3920001", "GB", Some("+491713920001")),
        ("0461", "1234567", "DE", Some("+494611234567")),
        ("06", "12345678", "IT", Some("+390612345678")),
        ("333", "1234567", "IT", Some("+393331234567")),
        ("331", "0123450", "IT", None),
        ("0332", "123456", "IT", Some("+390332123456")),
        ("010", "01234567", "EG", Some("+201001234567")),
        ("02", "2123-4560", "KR", Some("+82221234560")),
        ("02", "21234560", "KR", Some("+82221234560")),
        ("6", "12345678", "IT", Some("+390612345678")),
        ("06", "06 12345678", "IT", Some("+390612345678")),
        ("+39", "06 12345678", "DE", Some("+390612345678")),
        ("11", "91234-5678", "BR", Some("+5511912345678")),
        ("011", "2345-6789", "BR", Some("+551123456789")),
        ("15", "912345678", "BR", Some("+5515912345678")),
        ("55", "1234 5678", "MX", Some("+525512345678")),
        ("91", "1234567", "ES", Some("+34911234567")),
        ("011", "4123-4567", "AR", Some("+541141234567")),
        ("11", "15-4123-4567", "AR", Some("+5491141234567")),
        ("495", "123-45-67", "RU", Some("+74951234567")),
        ("8495", "1234567", "RU", Some("+74951234567")),
        ("1", "234 5678", "HU", Some("+3612345678")),
        ("06 1", "234 5678", "HU", Some("+3612345678")),
        ("22", "1234567", "PL", Some("+48221234567")),
        ("022", "1234567", "PL", Some("+48221234567")),
        ("0212", "345 67 89", "TR", Some("+902123456789")),
        ("212", "3456789", "TR", Some("+902123456789")),
        ("020", "7946 0958", "GB", Some("+442079460958")),
        ("20", "79460958", "GB", Some("+442079460958")),
        ("09", "12345678", "FI", Some("+358912345678")),
        ("01", "23456789", "FR", Some("+33123456789")),
        ("", "123456789", "FR", Some("+33123456789")),
        ("", "9876543210", "IN", Some("+919876543210")),
        ("", "23456789", "IN", None),
        ("011", "23456789", "IN", Some("+911123456789")),
        ("030", "", "DE", None),
        ("030", "n/a", "DE", None),
        ("030", "1234567 ext 12", "DE", None),
        ("030", "1234567 / 7654321", "DE", None),
        ("Berlin", "1234567", "DE", None),
        ("030 Berlin", "1234567", "DE", None),
        ("030/040", "12345678", "DE", None),
        ("(030)(040)", "12345678", "DE", None),
        ("030-040", "12345678", "DE", None),
        // Calling codes of other countries, in a column that says area code.
        ("34", "612345678", "ES", Some("+34612345678")),
        ("351", "912345678", "ES", None),
        ("33", "612345678", "ES", None),
        ("44", "2079460958", "US", None),
        ("1", "2124567890", "IN", None),
        ("646", "2124567890", "US", Some("+12124567890")),
    ] {
        let read = rules().read_with_area_code(area, number, Region::parse(region));
        let found = read.as_ref().ok().map(|read| read.number.to_string());
        assert_eq!(
            found.as_deref(),
            expected,
            "{area:?} {number:?} {region} {read:?}"
        );
    }
}

#[test]
fn a_local_number_that_begins_like_its_area_code_is_not_guessed() {
    let read = |area, number| rules().read_with_area_code(area, number, Region::parse("DE"));
    for (area, number) in [
        ("30", "30123456"),
        ("030", "301234567"),
        ("030", "30 12 34 56"),
    ] {
        assert_eq!(
            read(area, number),
            Err(PhoneProblem::AreaCodeTwice),
            "{area} {number}"
        );
    }
    for (area, number) in [("030", "30123456"), ("30", "301-23456")] {
        assert_eq!(
            read(area, number).unwrap().number.to_string(),
            "+493030123456"
        );
    }
    assert_eq!(read("", "1234567"), Err(PhoneProblem::NoAreaCode));
    assert_eq!(read("030", "n/a"), Err(PhoneProblem::NoDigits));
}

#[test]
fn without_a_region_the_plus_or_the_flag_decides() {
    let read = |assume_plus, area, number| {
        let rules = PhoneRules {
            assume_plus,
            ..rules()
        };
        let read = rules.read_with_area_code(area, number, None);
        read.ok().map(|read| read.number.to_string())
    };
    assert_eq!(read(false, "030", "1234567"), None);
    assert_eq!(
        read(false, "+49", "1713920001"),
        Some("+491713920001".to_owned())
    );
    assert_eq!(
        read(true, "49", "1713920001"),
        Some("+491713920001".to_owned())
    );
    assert_eq!(read(true, "030", "1234567"), None);
}

#[test]
fn american_digits_with_the_region_of_another_country_look_foreign() {
    let read = |area, number| {
        let read = rules().read_with_area_code(area, number, Region::parse("GB"));
        read.map(|read| read.written)
    };
    assert_eq!(read("203", "555-0130"), Ok(Written::Foreign));
    assert_eq!(read("20", "7946 0958"), Ok(Written::National));
}
