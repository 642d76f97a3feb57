//! What the phone cells of a row say.

use std::collections::HashMap;

use crate::lead::{ErrorCode, RowOutcome};
use crate::mapping::Mapping;
use crate::phone::{NumberKind, PhoneNumber, PhoneProblem, PhoneReader, Region};
use crate::source::Row;

/// What stands in a cell for no country.
const NO_COUNTRY: [&str; 5] = ["n/a", "n.a.", "none", "null", "unknown"];

/// More spellings of countries than this are not remembered.
const MOST_SPELLINGS: usize = 10_000;

/// What a row says before anything else is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reading {
    /// It cannot be read as a row: no cell is believed.
    Misshapen(Box<RowOutcome>),
    /// It holds no number that can be used.
    NoNumber(Box<RowOutcome>),
    /// It holds a number, of this kind if that was asked for.
    Number(PhoneNumber, Option<NumberKind>),
}

impl Reading {
    /// The number, where there is one.
    pub(super) fn number(&self) -> Option<PhoneNumber> {
        match self {
            Reading::Number(number, _) => Some(*number),
            Reading::Misshapen(_) | Reading::NoNumber(_) => None,
        }
    }
}

/// Reads numbers, row by row. One for each thread: what the phone rules remember is
/// not shared.
#[derive(Debug, Clone)]
pub(super) struct NumberReader {
    phones: PhoneReader,
    /// For rows whose country is not known by its name: they have one.
    cautious: PhoneReader,
    /// The country of numbers in national form, where the row names none.
    default_region: Option<Region>,
    /// Whether kinds are asked for.
    tells_kinds: bool,
    /// The countries that rows have named.
    regions: HashMap<String, Option<Region>>,
}

/// The country of a row's number in national form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowRegion {
    Known(Region),
    None,
    /// The row names one that there is not.
    Unknown,
}

impl NumberReader {
    pub(super) fn new(
        phones: PhoneReader,
        default_region: Option<Region>,
        tells_kinds: bool,
    ) -> NumberReader {
        NumberReader {
            cautious: phones.without_assuming(),
            phones,
            default_region,
            tells_kinds,
            regions: HashMap::new(),
        }
    }

    /// What the row says.
    pub(super) fn read(&mut self, mapping: &Mapping, row: Row<'_>) -> Reading {
        if let Some(outcome) = mapping.misshapen(row) {
            return Reading::Misshapen(Box::new(outcome));
        }
        match self.number(mapping, row) {
            Ok(number) => {
                let kind = self.tells_kinds.then(|| NumberKind::of(number));
                Reading::Number(number, kind)
            }
            Err(outcome) => Reading::NoNumber(Box::new(outcome)),
        }
    }

    /// The number in the first phone column that has a usable one; else what is
    /// wrong with the first that is not empty.
    fn number(&mut self, mapping: &Mapping, row: Row<'_>) -> Result<PhoneNumber, RowOutcome> {
        let region = self.region(mapping, row);
        let (phones, known) = match region {
            RowRegion::Known(region) => (&self.phones, Some(region)),
            RowRegion::None => (&self.phones, None),
            RowRegion::Unknown => (&self.cautious, None),
        };
        let mut problem = PhoneProblem::Missing;
        for column in &mapping.phone_columns {
            let cell = row.text(*column).unwrap_or_default();
            match phones.read(cell, known) {
                Ok(number) => return Ok(number),
                Err(found) if problem == PhoneProblem::Missing => problem = found,
                Err(_) => {}
            }
        }
        if region == RowRegion::Unknown && problem.needs_region() {
            return Err(RowOutcome::invalid(
                ErrorCode::PhoneNotE164,
                "a number in national form, and its country is not known by that name: write an ISO code such as GB, or the number with + and country code",
            ));
        }
        if problem == PhoneProblem::Missing && row.cells().all(|cell| cell.trim_ascii().is_empty())
        {
            return Err(RowOutcome::invalid(problem.code(), "the row is empty"));
        }
        Err(RowOutcome::invalid(problem.code(), problem.to_string()))
    }

    fn region(&mut self, mapping: &Mapping, row: Row<'_>) -> RowRegion {
        let default = self
            .default_region
            .map_or(RowRegion::None, RowRegion::Known);
        let Some(column) = mapping.region_column else {
            return default;
        };
        let cell = row.text(column).unwrap_or_default().trim();
        let says_nothing = !cell.chars().any(char::is_alphanumeric);
        if says_nothing
            || NO_COUNTRY
                .iter()
                .any(|none| cell.eq_ignore_ascii_case(none))
        {
            return default;
        }
        let region = match self.regions.get(cell) {
            Some(region) => *region,
            None => {
                let region = Region::parse(cell);
                if self.regions.len() < MOST_SPELLINGS {
                    self.regions.insert(cell.to_owned(), region);
                }
                region
            }
        };
        region.map_or(RowRegion::Unknown, RowRegion::Known)
    }
}
