//! The country that a row names for its number.

use std::collections::HashMap;

use crate::phone::{CountryCell, Region};
use crate::source::Row;

const MAX_SPELLINGS: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowRegion {
    Known(Region),
    None,
    /// The cell in this column (from 0) names an unknown country.
    Unknown(usize),
    /// The cells in these columns (from 0) name different countries.
    Disagree(usize, usize),
}

impl RowRegion {
    pub fn known(self) -> Option<Region> {
        match self {
            RowRegion::Known(region) => Some(region),
            RowRegion::None | RowRegion::Unknown(_) | RowRegion::Disagree(..) => None,
        }
    }
}

/// Reads the countries of rows, and remembers the meaning of each spelling.
#[derive(Debug, Clone, Default)]
pub struct RowRegions {
    names: HashMap<String, CountryCell>,
    codes: HashMap<String, CountryCell>,
}

impl RowRegions {
    /// The country that the cells in `columns` (from 0) name. Columns that are
    /// also in `codes` hold calling codes.
    pub fn read(&mut self, columns: &[usize], codes: &[usize], row: Row<'_>) -> RowRegion {
        let mut found = None;
        for column in columns {
            let text = row.text(*column).unwrap_or_default();
            let region = match self.cell(text, codes.contains(column)) {
                CountryCell::Empty => continue,
                CountryCell::Unknown => return RowRegion::Unknown(*column),
                CountryCell::Known(region) => region,
            };
            match found {
                None => found = Some((region, *column)),
                // With the same calling code, a national number is the same number in both.
                Some((other, _)) if region.shares_calling_code(other) => {}
                Some((_, first)) => return RowRegion::Disagree(first, *column),
            }
        }
        found.map_or(RowRegion::None, |(region, _)| RowRegion::Known(region))
    }

    fn cell(&mut self, text: &str, is_code: bool) -> CountryCell {
        let (known, read): (_, fn(&str) -> CountryCell) = if is_code {
            (&mut self.codes, CountryCell::read_code)
        } else {
            (&mut self.names, CountryCell::read)
        };
        if let Some(country) = known.get(text) {
            return *country;
        }
        let country = read(text);
        if known.len() < MAX_SPELLINGS {
            known.insert(text.to_owned(), country);
        }
        country
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::RowBatch;

    #[test]
    fn the_columns_of_a_row_agree_or_say_nothing_or_contradict_each_other() {
        let rows = RowBatch::of_text(&[
            &["GB", ""],
            &["", "Deutschland"],
            &["UK", "England"],
            &["US", "+1"],
            &["Canada", "USA"],
            &["GB", "US"],
            &["GB", "Neverland"],
            &["", "n/a"],
            &["GB"],
        ]);
        let known = |code| RowRegion::Known(Region::parse(code).unwrap());
        let expected = [
            known("GB"),
            known("DE"),
            known("GB"),
            known("US"),
            known("CA"),
            RowRegion::Disagree(0, 1),
            RowRegion::Unknown(1),
            RowRegion::None,
            known("GB"),
        ];
        let mut regions = RowRegions::default();
        for (row, expected) in rows.rows().zip(expected) {
            assert_eq!(regions.read(&[0, 1], &[], row), expected);
        }
    }
}
