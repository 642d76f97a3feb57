//! Cells that call somebody else, in every form that people have met, over all countries.
//!
//! For each of Google's example numbers of every country a cell is written in a form that must not
//! give another number: it gives the number that is meant, or an error. What a form may come to is
//! said by the contract of the reader, not by what it does today.

use std::collections::BTreeSet;

use super::*;

/// An example of a country: its international and national form, and the number.
struct Example {
    region: Region,
    international: String,
    national: String,
    number: PhoneNumber,
}

impl Example {
    /// The digits after the calling code.
    fn digits(&self) -> String {
        let code = self.region.calling_code().unwrap().to_string();
        let digits = self.number.key().to_string();
        digits.strip_prefix(&code).unwrap().to_owned()
    }

    fn code(&self) -> u16 {
        self.region.calling_code().unwrap()
    }
}

/// Google's examples of numbers in use.
fn examples() -> Vec<Example> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/phones/examples.csv");
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_path(file)
        .unwrap();
    let rows = reader.records().map(Result::unwrap);
    let examples: Vec<Example> = rows
        .filter(|row| &row[0] != "001" && &row[5] == "= valid")
        .filter_map(|row| {
            Some(Example {
                region: Region::parse(&row[0])?,
                international: row[1].to_owned(),
                national: row[2].to_owned(),
                number: PhoneNumber::from_e164(&row[4]).ok()?,
            })
        })
        .collect();
    let regions: BTreeSet<Region> = examples.iter().map(|example| example.region).collect();
    assert_eq!(regions.len(), 245);
    examples
}

fn rules(rule: PhoneRule) -> PhoneRules {
    PhoneRules {
        rule,
        kinds: LineKinds::ALL,
        ..PhoneRules::default()
    }
}

/// How cells of one form were read.
#[derive(Debug, Default)]
struct Tally {
    cells: usize,
    right: usize,
    refused: usize,
}

impl Tally {
    /// Counts a cell; it must give `meant` or one of these errors.
    #[track_caller]
    fn note(
        &mut self,
        cell: &str,
        read: Result<PhoneNumber, PhoneProblem>,
        meant: Option<PhoneNumber>,
        errors: &[&str],
    ) {
        self.cells += 1;
        match read {
            Ok(number) if Some(number) == meant => self.right += 1,
            Ok(number) => panic!("`{cell}` is read as {number}, and means {meant:?}"),
            Err(problem) => {
                let code = problem.code().to_string();
                assert!(errors.contains(&code.as_str()), "`{cell}`: {problem:?}");
                self.refused += 1;
            }
        }
    }

    /// Counts a cell with something beside a written number, if that alone is the example's number.
    /// In countries that share a calling code some cannot be read nationally.
    #[track_caller]
    fn note_beside(&mut self, example: &Example, written: &str, cell: &str) {
        let read = |cell| rules(PhoneRule::Possible).read(cell, Some(example.region));
        let errors = [
            "phone_not_e164",
            "phone_ambiguous",
            "phone_damaged",
            "phone_impossible",
        ];
        if read(written) == Ok(example.number) {
            self.note(cell, read(cell), Some(example.number), &errors);
        }
    }
}

/// A number with its thousands apart.
fn grouped(number: i64, between: &str) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push_str(between);
        }
        grouped.push(digit);
    }
    grouped
}

#[test]
fn the_result_of_a_subtraction_is_no_number_in_any_country() {
    let mut tally = Tally::default();
    for example in examples() {
        let code: i64 = example.code().into();
        let result = code - example.digits().parse::<i64>().unwrap();
        for cell in [
            result.to_string(),
            format!("{result}.0"),
            format!("\u{2212}{}", -result),
            format!("=\"{result}\""),
            format!("+{result}"),
            format!("tel:{result}"),
            format!("{}-", -result),
            format!("({})", -result),
            format!("-{}", grouped(-result, "\u{202f}")),
            format!("-{}", grouped(-result, ".")),
            format!("({})", grouped(-result, "'")),
        ] {
            // Fewer digits in brackets may be a part of a number.
            if !cell.starts_with(['-', '+', '=', 't', '\u{2212}']) && -result < 1_000_000 {
                continue;
            }
            for rule in [PhoneRule::E164, PhoneRule::Possible, PhoneRule::Valid] {
                for region in [None, Some(example.region)] {
                    let read = rules(rule).read(&cell, region);
                    tally.note(&cell, read, None, &["phone_damaged"]);
                }
            }
        }
    }
    assert_eq!(tally.cells, tally.refused);
}

#[test]
fn a_dash_before_a_written_number_changes_nothing() {
    for example in examples() {
        for dash in ["- ", "– ", "• "] {
            for cell in [&example.international, &example.national] {
                let region = Some(example.region);
                // Of bare digits a spreadsheet may have made the dash, too.
                let is_bare = !cell.starts_with('0') && cell.bytes().all(|b| b.is_ascii_digit());
                let plain = match is_bare && dash != "• " {
                    true => Err(PhoneProblem::Damaged),
                    false => rules(PhoneRule::Possible).read(cell, region),
                };
                let with_dash = rules(PhoneRule::Possible).read(&format!("{dash}{cell}"), region);
                assert_eq!(plain, with_dash, "{dash}{cell}");
            }
        }
    }
}

/// The cell with its last digits hidden.
fn masked(cell: &str, hidden: usize, sign: &str) -> String {
    let digits = cell.chars().filter(char::is_ascii_digit).count();
    let mut seen = 0;
    cell.chars()
        .map(|c| {
            seen += usize::from(c.is_ascii_digit());
            let is_hidden = c.is_ascii_digit() && seen + hidden > digits;
            if is_hidden {
                sign.to_owned()
            } else {
                c.to_string()
            }
        })
        .collect()
}

#[test]
fn a_number_with_hidden_digits_is_no_number() {
    let mut tally = Tally::default();
    for example in examples() {
        for sign in ["*", "x", "X", "#", "•", "…", "_", "?", "·"] {
            for hidden in 1..=6 {
                for cell in [&example.international, &example.national] {
                    let cell = masked(cell, hidden, sign);
                    let read = rules(PhoneRule::Possible).read(&cell, Some(example.region));
                    // Where all digits of a short number are hidden, nothing may be left.
                    let errors = [
                        "phone_not_e164",
                        "phone_impossible",
                        "phone_damaged",
                        "phone_missing",
                    ];
                    tally.note(&cell, read, None, &errors);
                }
            }
        }
    }
    assert_eq!(tally.cells, tally.refused);
}

#[test]
fn a_mark_after_a_number_is_decoration_only_if_no_digit_can_be_missing() {
    let mut decorated = 0;
    for example in examples() {
        let longest = plan::National::of(example.number).is_longest();
        for mark in ["*", " *", "+"] {
            let cell = format!("{}{mark}", example.international);
            let read = rules(PhoneRule::Possible).read(&cell, None);
            if longest {
                assert_eq!(read, Ok(example.number), "{cell}");
                decorated += 1;
            } else {
                assert_eq!(read, Err(PhoneProblem::Masked), "{cell}");
            }
        }
    }
    assert!(decorated > 1000, "{decorated}");
}

#[test]
fn dates_and_amounts_are_numbers_in_no_country() {
    for (region, _) in Region::all_by_name() {
        let region = Region::parse(&region);
        for year in [1899 + 1, 1985, 2026, 2100] {
            for (month, day) in [(3, 12), (12, 31), (1, 1), (11, 9)] {
                for cell in [
                    format!("{year}-{month:02}-{day:02}"),
                    format!("{year}/{month}/{day}"),
                    format!("{day:02}.{month:02}.{year}"),
                    format!("{day}/{month}/{year}"),
                    format!("{month:02}-{day:02}-{year}"),
                    format!("{year}-{month:02}-{day:02} 00:00:00"),
                    format!("{day}.{month}.{year} 7:05"),
                ] {
                    for rule in [PhoneRule::E164, PhoneRule::Possible] {
                        let read = rules(rule).read(&cell, region);
                        assert_eq!(read, Err(PhoneProblem::Date), "{cell}");
                    }
                }
            }
        }
        for cell in [
            "(13.05.1985)",
            "13.05.2024 14.30",
            "2024-05",
            "2024/12",
            "2023/24",
            "09.15-17.45",
            "9:15 - 17:45",
            "12/2025",
            "2025/2026",
        ] {
            let read = rules(PhoneRule::Possible).read(cell, region);
            assert_eq!(read, Err(PhoneProblem::Date), "{cell}");
        }
        for cell in [
            "442,079,460,101",
            "1,442,079",
            "44,20,79,460",
            "€4420794601",
            "4420794601 $",
            "4420794.60",
            "4.420.794,60",
            "491713920003.5",
            "12.345.678,9",
        ] {
            let read = rules(PhoneRule::Possible).read(cell, region);
            assert_eq!(read, Err(PhoneProblem::Amount), "{cell}");
        }
    }
}

#[test]
fn a_zero_behind_a_point_is_dropped_from_a_number_with_other_signs() {
    let mut tally = Tally::default();
    for example in examples() {
        let (code, digits) = (example.code(), example.digits());
        let region = Some(example.region);
        for cell in [
            format!("+{code} {digits}"),
            example.international.replace(['.', ','], " "),
        ] {
            let plain = rules(PhoneRule::Possible).read(&cell, region);
            for zero in [".0", ",0", " .0"] {
                let cell = format!("{cell}{zero}");
                let read = rules(PhoneRule::Possible).read(&cell, region);
                let errors = ["phone_damaged", "phone_ambiguous", "phone_impossible"];
                tally.note(&cell, read, plain.as_ref().ok().copied(), &errors);
            }
        }
    }
    eprintln!("{tally:?}");
    assert!(tally.refused * 20 < tally.right, "{tally:?}");
}

#[test]
fn the_own_code_behind_the_trunk_zero_never_calls_somebody_else() {
    let mut tally = Tally::default();
    for example in examples() {
        if !plan::CallingCode::of(example.region).has_trunk_zero() {
            continue;
        }
        let (code, digits) = (example.code(), example.digits());
        let cell = format!("0{code}{digits}");
        let read = rules(PhoneRule::Possible).read(&cell, Some(example.region));
        let as_it_stands = PhoneNumber::from_e164(&format!("+{code}{code}{digits}"));
        let stays = read.as_ref().is_ok_and(|number| {
            let is_usual = plan::National::of(*number).is_usual();
            as_it_stands == Ok(*number) && rules::is_valid(*number) && is_usual
        });
        if !stays {
            let errors = ["phone_ambiguous", "phone_impossible"];
            tally.note(&cell, read, Some(example.number), &errors);
        }
    }
    eprintln!("{tally:?}");
}

#[test]
fn two_zeros_before_a_country_code_never_call_another_country() {
    let (mut tally, mut countries) = (Tally::default(), BTreeSet::new());
    let examples = examples();
    // A landline and a mobile number of each country is enough.
    let some = examples.iter().filter(|example| {
        let first = (example.region, example.digits().len());
        countries.insert(first)
    });
    let some: Vec<&Example> = some.collect();
    for (name, _) in Region::all_by_name() {
        let region = Region::parse(&name);
        for example in &some {
            let international = example.international.trim_start_matches('+');
            for cell in [format!("00{international}"), format!("00 {international}")] {
                let read = rules(PhoneRule::Possible).read(&cell, region);
                tally.note(&cell, read, Some(example.number), &["phone_ambiguous"]);
            }
        }
    }
    eprintln!("{tally:?}");
    assert!(tally.refused * 100 < tally.right, "{tally:?}");
    for (cell, region) in [("0096265123456", "SG"), ("0056 9 1234567", "CO")] {
        let read = rules(PhoneRule::Possible).read(cell, Region::parse(region));
        assert!(read.is_err(), "{cell}: {read:?}");
    }
    let us = Region::parse("US");
    for cell in [
        "011 49 1512 3456789",
        "(011) 49 1512 3456789",
        "011-49-1512-3456789",
    ] {
        let read = rules(PhoneRule::Possible).read(cell, us).unwrap();
        assert_eq!(read.to_string(), "+4915123456789", "{cell}");
    }
}

/// How often the code twice, or before the trunk zero, gives the number, an error, or the number that
/// it is as it stands.
#[test]
fn a_zero_in_brackets_never_calls_somebody_else() {
    let mut tally = Tally::default();
    let is_of_person = |example: &Example| {
        use LineKind as L;
        let line = NumberKind::of(example.number).line;
        matches!(line, L::Fixed | L::Mobile | L::FixedOrMobile)
    };
    for example in examples().into_iter().filter(is_of_person) {
        let (code, digits) = (example.code(), example.digits());
        // The zero of an Italian landline is the one in brackets.
        let behind = match code {
            39 => digits.strip_prefix('0').unwrap_or(&digits),
            _ => &digits,
        };
        for cell in [
            format!("+{code} (0) {behind}"),
            format!("+{code}[0]{behind}"),
            format!("00{code} (0){behind}"),
        ] {
            for region in [None, Some(example.region)] {
                let read = rules(PhoneRule::Possible).read(&cell, region);
                let errors = ["phone_ambiguous", "phone_impossible"];
                tally.note(&cell, read, Some(example.number), &errors);
            }
        }
    }
    println!("{tally:?}");
    assert!(tally.cells > 2_000 && tally.refused * 100 < tally.cells);
}

/// Whether it has all its digits or one is missing, and whether its plus is there.
#[test]
fn a_number_behind_its_code_is_read_alike_with_and_without_the_plus() {
    let mut read_as = 0;
    for example in examples() {
        let (code, digits) = (example.code(), example.digits());
        for digits in [&digits[..], &digits[..digits.len() - 1]] {
            for cell in [format!("{code} {digits}"), format!("{code}{digits}-")] {
                let rules = rules(PhoneRule::Valid);
                if let Ok(number) = rules.read(&cell, Some(example.region)) {
                    let whole = rules.read(&number.to_string(), Some(example.region));
                    assert_eq!(whole, Ok(number), "{cell} in {}", example.region);
                    read_as += 1;
                }
            }
        }
    }
    assert!(read_as > 1_000, "{read_as}");
    let germany = Region::parse("DE");
    for cell in ["49 151 2345678", "491512345678", "(49) 151 2345678-"] {
        let read = rules(PhoneRule::Possible).read(cell, germany);
        assert_eq!(read, Err(PhoneProblem::CodeTwice), "{cell}");
    }
}

#[test]
fn what_stands_behind_a_whole_number_never_makes_it_longer() {
    let mut tally = Tally::default();
    for example in examples() {
        let number = example.number.to_string();
        for written in [&example.international, &example.national, &number] {
            for end in [
                ".5", ",7", ".00", ",000", "(45)", " (7)", " ( 123 )", " [57]", " (-57)", " (57",
                " 57)", " · 57", " (9-17)", "+", "*",
            ] {
                let cell = format!("{written}{end}");
                tally.note_beside(&example, written, &cell);
            }
        }
    }
    println!("{tally:?}");
    assert!(tally.cells > 20_000, "{tally:?}");
}

#[test]
fn the_number_of_an_item_before_a_number_in_use_never_calls_somebody_else() {
    let mut tally = Tally::default();
    for example in examples() {
        for item in ["1. ", "2) ", "12. ", "31) "] {
            let cell = format!("{item}{}", example.national);
            tally.note_beside(&example, &example.national, &cell);
        }
        let items = ["2 ", "2 - ", "3 / ", "(1) ", "[2] ", "1.) ", "9 . "];
        for item in items.iter().filter(|_| example.national.starts_with('0')) {
            let cell = format!("{item}{}", example.national);
            tally.note_beside(&example, &example.national, &cell);
        }
    }
    println!("{tally:?}");
    assert!(tally.cells > 8_000, "{tally:?}");
}

#[test]
fn a_code_too_much_never_calls_somebody_else() {
    let (mut right, mut stays, mut refused) = (0, 0, 0);
    for example in examples() {
        let (code, digits) = (example.code(), example.digits());
        let dialled: String = example
            .national
            .chars()
            .filter(char::is_ascii_digit)
            .collect();
        let trunk = dialled.strip_suffix(&digits).unwrap_or_default();
        let mut cells = vec![
            (format!("+{code}{code}{digits}"), None),
            (format!("+{code} {code} {digits}"), None),
            (format!("00{code}{code}{digits}"), None),
            (format!("+{code} 00{code}{digits}"), None),
            (format!("+{code}00{code}{digits}"), None),
            (format!("00{code}{code}{digits}"), Some(example.region)),
            (format!("00{code} ({code}) {digits}"), Some(example.region)),
            (format!("{code}{code}{digits}"), Some(example.region)),
        ];
        if trunk.starts_with('0') {
            cells.push((format!("{code} {trunk}{digits}"), Some(example.region)));
        }
        for (cell, region) in cells {
            match rules(PhoneRule::Possible).read(&cell, region) {
                Ok(number) if number == example.number => right += 1,
                Ok(number) => {
                    let national = plan::National::of(number);
                    let is_as_it_stands = national.kind().line != LineKind::Unknown;
                    assert!(
                        is_as_it_stands && national.is_usual(),
                        "`{cell}` is read as {number}"
                    );
                    stays += 1;
                }
                Err(problem) => {
                    let code = problem.code().to_string();
                    assert!(
                        ["phone_ambiguous", "phone_impossible"].contains(&code.as_str()),
                        "{cell}: {problem:?}"
                    );
                    refused += 1;
                }
            }
        }
    }
    println!("{right} right, {stays} in use as they stand, {refused} refused");
    assert!(right > 3 * (stays + refused));
}

#[test]
fn a_number_in_use_that_begins_with_its_own_code_stays() {
    let mut stays = 0;
    for example in examples() {
        let begins = example.digits().starts_with(&example.code().to_string());
        let is_usual = plan::National::of(example.number).is_usual();
        if begins && is_usual {
            let read = rules(PhoneRule::Possible).read(&example.number.to_string(), None);
            assert_eq!(read, Ok(example.number));
            stays += 1;
        }
    }
    assert!(stays > 0);
    for cell in [
        "+393931234567",
        "+4747123456",
        "+6565123456",
        "+494921123456",
    ] {
        let read = rules(PhoneRule::Possible).read(cell, None);
        assert_eq!(read.unwrap().to_string(), cell);
    }
    for (cell, region, expected) in [
        ("+91919876543210", "", "+919876543210"),
        ("+43 43 664 1234563", "", "+436641234563"),
        ("43 0664 1234563", "AT", "+436641234563"),
        ("49 0171 3920004", "DE", "+491713920004"),
        ("+49491713920002", "", "phone_ambiguous"),
    ] {
        let read = rules(PhoneRule::Possible).read(cell, Region::parse(region));
        let read = read.map_or_else(|problem| problem.code().to_string(), |n| n.to_string());
        assert_eq!(read, expected, "{cell}");
    }
}

#[test]
fn another_ending_behind_a_slash_makes_two_numbers_only_of_a_number_by_itself() {
    for (cell, region, expected) in [
        ("030 / 12 34 56 / 57", "DE", "phone_ambiguous"),
        ("0461/1234/35", "DE", "phone_ambiguous"),
        ("0461/1234/35/36", "DE", "phone_ambiguous"),
        ("01/234 56/78", "AT", "phone_ambiguous"),
        ("0475/12/34/56", "BE", "+32475123456"),
        ("0664/123/4567", "AT", "+436641234567"),
        ("212/456/1234", "US", "+12124561234"),
        ("044/123/45/67", "CH", "+41441234567"),
    ] {
        let read = rules(PhoneRule::Possible).read(cell, Region::parse(region));
        let read = read.map_or_else(|problem| problem.code().to_string(), |n| n.to_string());
        assert_eq!(read, expected, "{cell}");
    }
    let mut both = 0;
    for example in examples() {
        for (before, ending) in [(2, "57"), (1, "7"), (3, "571")] {
            let mut shorter = example.national.clone();
            shorter.truncate(shorter.len() - before);
            let Ok(by_itself) = rules(PhoneRule::Possible).read(&shorter, Some(example.region))
            else {
                continue;
            };
            let cell = format!("{shorter}/{ending}");
            let read = rules(PhoneRule::Possible).read(&cell, Some(example.region));
            if NumberKind::of(by_itself).line != LineKind::Unknown {
                let code = read.map_err(|problem| problem.code().to_string());
                assert_eq!(code, Err("phone_ambiguous".to_owned()), "{cell}");
                both += 1;
            }
        }
    }
    assert!(both > 100, "{both}");
}

#[test]
fn zeros_behind_a_point_are_dropped_from_a_whole_number_and_damage_to_any_other() {
    for example in examples() {
        let digits = example.number.key().to_string();
        for zeros in [".0", ".00", ".000", ",000", ".000000"] {
            let cell = format!("+{digits}{zeros}");
            let read = rules(PhoneRule::Possible).read(&cell, None);
            let plain = rules(PhoneRule::Possible).read(&format!("+{digits}"), None);
            assert_eq!(read, plain, "{cell}");
            let short = format!("+{}{zeros}", &digits[..5]);
            let read = rules(PhoneRule::Possible).read(&short, None);
            assert_eq!(read, Err(PhoneProblem::Damaged), "{short}");
        }
    }
}

#[test]
fn every_way_in_which_google_writes_a_number_is_still_read() {
    for example in examples() {
        let international = rules(PhoneRule::Possible).read(&example.international, None);
        assert_eq!(
            international,
            Ok(example.number),
            "{}",
            example.international
        );
    }
}
