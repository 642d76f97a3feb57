//! Cells of a list.

use leadload::phone::{CountryCell, PhoneNumber, PhoneProblem, PhoneRule, PhoneRules, Region};

use super::{refused, split_line};

/// A first line with the region and marks for the rules, as in `GB v+`, and the cell.
pub fn phone(input: &[u8]) -> bool {
    let (line, cell) = split_line(input);
    let line = String::from_utf8_lossy(line);
    let cell = String::from_utf8_lossy(cell);
    let region = line.get(..2).and_then(Region::parse);
    let rules = PhoneRules {
        rule: match line.contains('v') {
            true => PhoneRule::Valid,
            false => PhoneRule::Possible,
        },
        assume_plus: line.contains('+'),
        ..PhoneRules::default()
    };
    let read = match rules.read_as(&cell, region) {
        Ok(read) => read,
        Err(problem) => return refused(&problem.to_string()) || refused(&problem.of_typed()),
    };
    let number = read.number.to_string();
    let digits = number.strip_prefix('+').expect("E.164");
    assert!((7..=15).contains(&digits.len()), "{number}");
    assert_eq!(PhoneNumber::from_e164(&number), Ok(read.number));
    // What is sent is read as itself, wherever it is read. `--phone-rule possible` takes numbers that are in
    // use nowhere, and some of these look as if their calling code was there twice.
    for region in [None, region, Region::parse("US"), Region::parse("DE")] {
        let again = rules.read(&number, region);
        let is_odd = rules.rule == PhoneRule::Possible && again == Err(PhoneProblem::CodeTwice);
        assert!(again == Ok(read.number) || is_odd, "{number}: {again:?}");
    }
    // The digits of a number are those of its cell, but for a prefix and a calling code.
    let in_cell = digits_of(&cell);
    let end = &digits[digits.len().saturating_sub(4)..];
    assert!(
        in_cell.contains(end) || has_letters(&cell),
        "{number} from {cell:?}"
    );
    // Space around it says nothing.
    assert_eq!(rules.read(&format!(" {cell}\t"), region), Ok(read.number));
    // A person who may be called is found on a do-not-call list too.
    assert_eq!(rules.for_lists().read(&number, region), Ok(read.number));
    true
}

/// The digits of a cell, of any script.
fn digits_of(cell: &str) -> String {
    use unicode_normalization::UnicodeNormalization;
    let plain = cell.nfkc().filter_map(|c| match c {
        '0'..='9' => Some(c),
        _ => None,
    });
    plain.collect()
}

/// Whether digits may be written as letters, or in another script.
fn has_letters(cell: &str) -> bool {
    cell.chars()
        .any(|c| c.is_alphabetic() || c.is_numeric() && !c.is_ascii())
}

pub fn country(input: &[u8]) -> bool {
    let text = String::from_utf8_lossy(input);
    let mut is_known = false;
    for read in [CountryCell::read(&text), CountryCell::read_code(&text)] {
        let CountryCell::Known(region) = read else {
            continue;
        };
        is_known = true;
        // Its name is the country itself.
        let again = CountryCell::read(region.name());
        assert_eq!(again, CountryCell::Known(region), "{text:?}");
        // So it is with space around it.
        assert_ne!(
            CountryCell::read_code(&format!(" {text} ")),
            CountryCell::Empty
        );
    }
    is_known
}
