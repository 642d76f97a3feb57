//! Finds other countries that numbers may belong to, if their region seems wrong.
//!
//! Uses only the tables: the library would compile the patterns of every country.

use super::dialled::Dialled;
use super::digits::is_digits;
use super::plan::CallingCode;
use super::plans::CALLING_CODES;
use super::written::{ZERO_IS_OPTIONAL, american_groups};
use super::{LineKind, NumberKind, PhoneNumber, Region, tidy};

/// The countries, with a calling code other than the region's, in which some of these
/// cells are numbers in use as they are written. Each comes with the number of such cells.
pub fn others_fitting(region: Region, cells: &[String]) -> Vec<(Region, usize)> {
    let cells: Vec<Cell> = cells.iter().filter_map(|cell| Cell::of(cell)).collect();
    let own = region.calling_code();
    let others = CALLING_CODES.iter().filter(|code| Some(code.code) != own);
    let fitting = others.filter_map(|code| {
        let countries: Vec<Region> = cells.iter().filter_map(|cell| cell.within(code)).collect();
        let times = |country: &Region| countries.iter().filter(|c| *c == country).count();
        let most = countries.iter().copied().max_by_key(times)?;
        Some((most, countries.len()))
    });
    fitting.collect()
}

/// Calling codes of countries that write numbers of ten digits in groups of
/// three, three and four: North America, Mexico, Colombia.
const WRITTEN_AS_IN_AMERICA: [u16; 3] = [1, 52, 57];

struct Cell {
    digits: String,
    /// Whether the cell has only digits, so that a spreadsheet may have dropped a zero before them.
    is_bare: bool,
    is_american: bool,
}

impl Cell {
    fn of(cell: &str) -> Option<Cell> {
        let text = tidy::plain_characters(cell.trim());
        let text = tidy::unwrapped(&text);
        let text = tidy::without_mark(text).unwrap_or(text);
        let dialled = Dialled::of(text).ok().filter(|dialled| !dialled.has_plus)?;
        Some(Cell {
            is_bare: is_digits(text),
            is_american: american_groups(text),
            digits: dialled.digits,
        })
    }

    /// The country of the number in use that the cell is with this calling
    /// code; `None` if it is not one.
    fn within(&self, code: &CallingCode) -> Option<Region> {
        if self.is_american && !WRITTEN_AS_IN_AMERICA.contains(&code.code) {
            return None;
        }
        let digits = &self.digits;
        let with_code = |national: &str| format!("{}{national}", code.code);
        let writes_zero = code.has_trunk_zero() && !ZERO_IS_OPTIONAL.contains(&code.code);
        let needs_zero = writes_zero && !self.is_bare && !digits.starts_with('0');
        // Without the prefix for calls within the country; with the calling code already in the
        // digits; or with the calling code before them.
        let readings = [
            code.without_prefix(digits).map(with_code),
            code.behind(digits).map(|_| digits.clone()),
            (!needs_zero).then(|| with_code(digits)),
        ];
        readings.into_iter().flatten().find_map(|digits| {
            let kind = NumberKind::of(PhoneNumber::from_digits(&digits)?);
            kind.country.filter(|_| kind.line != LineKind::Unknown)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(region: &str, cells: &[&str]) -> Vec<String> {
        let cells: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
        let found = others_fitting(Region::parse(region).unwrap(), &cells);
        let all = found.into_iter().filter(|(_, fit)| *fit == cells.len());
        all.map(|(country, _)| country.to_string()).collect()
    }

    #[test]
    fn numbers_are_read_as_their_own_country_writes_them() {
        for (region, own, cells) in [
            ("US", "AU", &["0412 345 678", "0412 345 679"][..]),
            ("GB", "HU", &["06 30 123 4567", "06 20 123 4567"]),
            ("DE", "RU", &["8 (912) 345-67-89", "89123456789"]),
            ("US", "IE", &["087 123 4567"]),
            ("GB", "NZ", &["021 123 4567"]),
            ("DE", "US", &["1-203-555-0132", "12035550132"]),
            ("GB", "IT", &["333 123 4567", "06 1234 5678"]),
            ("GB", "DE", &["01713920001"]),
            ("US", "DE", &["1713920001"]),
        ] {
            let found = fits(region, cells);
            assert!(found.contains(&own.to_owned()), "{cells:?}: {found:?}");
        }
    }

    #[test]
    fn american_notation_excludes_countries_that_write_differently() {
        let found = fits("GB", &["(203) 555-0130", "203-555-0131"]);
        assert!(found.contains(&"US".to_owned()), "{found:?}");
        for other in ["DE", "FR", "NL", "AU", "LU", "IN"] {
            assert!(!found.contains(&other.to_owned()), "{found:?}");
        }
    }
}
