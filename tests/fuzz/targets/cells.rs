//! Cells of a list.

use leadload::phone::{CountryCell, PhoneNumber, PhoneRule, PhoneRules, Region};

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
        Err(problem) => {
            return refused(&problem.text().to_string())
                || refused(&problem.of_typed().to_string());
        }
    };
    let number = read.number.to_string();
    let digits = number.strip_prefix('+').expect("E.164");
    assert!((7..=15).contains(&digits.len()), "{number}");
    assert_eq!(PhoneNumber::from_e164(&number), Ok(read.number));
    // What is in use is read as itself, wherever it is read, and on do-not-call lists. Of other numbers
    // `--phone-rule possible` asks no more than a length.
    let regions = [None, region, Region::parse("US"), Region::parse("DE")];
    for region in regions
        .into_iter()
        .filter(|_| rules.rule == PhoneRule::Valid)
    {
        assert_eq!(rules.read(&number, region), Ok(read.number));
        assert_eq!(rules.for_lists().read(&number, region), Ok(read.number));
    }
    // The last digits of a number are in its cell, in their order.
    let in_cell = digits_of(&cell);
    let mut in_cell = in_cell.chars();
    let mut end = digits[digits.len() - 4..].chars();
    let is_there = end.all(|digit| in_cell.any(|c| c == digit));
    assert!(is_there || has_letters(&cell), "{number} from {cell:?}");
    // Space around it says nothing.
    assert_eq!(rules.read(&format!(" {cell}\t"), region), Ok(read.number));
    true
}

/// The digits of a cell, of any script.
fn digits_of(cell: &str) -> String {
    use unicode_normalization::UnicodeNormalization;
    cell.nfkc().filter(char::is_ascii_digit).collect()
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
