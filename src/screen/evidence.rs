//! Evidence for the countries of a list's numbers, counted while the list is read.
//!
//! The region for a whole list completes every number without a calling code, also one of
//! another country: `(203) 555-0132` of New Haven is in use in London too. That must be
//! noticed before anything is sent.

use std::collections::BTreeMap;

use super::Lengths;
use crate::lead::RowId;
use crate::phone::{LineKind, Read, Region, Written};

const MAX_LINES: usize = 3;

/// How many cells are kept to find the country that they fit.
const MAX_CELLS: usize = 200;

const MAX_NAMES: usize = 10;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sample {
    pub lines: Vec<u64>,
    /// The cells; more of them are kept than of the lines.
    pub cells: Vec<String>,
}

impl Sample {
    fn record(&mut self, line: u64, cell: &str) {
        if self.lines.len() < MAX_LINES {
            self.lines.push(line);
        }
        if self.cells.len() < MAX_CELLS {
            self.cells.push(cell.to_owned());
        }
    }

    fn add(&mut self, later: Sample) {
        self.lines.extend(later.lines);
        self.lines.truncate(MAX_LINES);
        self.cells.extend(later.cells);
        self.cells.truncate(MAX_CELLS);
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Completed {
    pub numbers: u64,
    /// Numbers that are in no range in use in the country.
    pub not_in_use: u64,
    /// Numbers that are not written as the country writes them.
    pub foreign: u64,
}

/// The first cells whose numbers were completed with the region, and the first of the doubtful ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FirstCells {
    pub by_region: Sample,
    pub doubtful: Sample,
}

/// The counts of one list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    pub numbers: u64,
    /// Numbers that were completed with the country of their row.
    pub by_row: BTreeMap<Region, Completed>,
    /// Numbers that were completed with the region for the whole list.
    pub by_region: Completed,
    /// Of `by_region`, those whose rows name another country in a vague country column.
    pub contradicted: u64,
    /// Of `by_region`, those that are foreign, contradicted or in no range in use.
    pub doubtful: u64,
    pub first: FirstCells,
    /// Of `by_region`, those that begin with the region's calling code and are in use there: they
    /// are certainly of that country.
    pub with_own_code: u64,
    /// International numbers by calling code.
    pub international: BTreeMap<u16, u64>,
    /// How long all numbers are.
    pub lengths: Lengths,
    /// The countries that rows with a number name.
    pub countries: BTreeMap<Region, u64>,
    /// Rows whose number has no calling code and that name no country.
    pub without_country: u64,
    /// Numbers without a calling code that are too long or too short for the region.
    pub impossible: u64,
    /// Unknown names of countries, the first few.
    pub unknown_countries: BTreeMap<String, u64>,
    /// Columns (from 0) that hold a number in rows without one in a phone column; the first such
    /// column of each row is counted.
    pub would_fill: BTreeMap<usize, u64>,
    pub later_columns: LaterColumns,
}

/// Rows whose number is not from their first phone column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaterColumns {
    /// Those whose first phone cell is empty.
    pub empty: u64,
    /// Those whose first phone cell cannot be used.
    pub unusable: u64,
    /// The first of these rows, with their lines.
    pub first_unusable: Vec<(RowId, u64)>,
}

const MAX_UNUSABLE: usize = 5;

impl LaterColumns {
    pub fn record_unusable(&mut self, row: RowId, line: u64) {
        self.unusable += 1;
        if self.first_unusable.len() < MAX_UNUSABLE {
            self.first_unusable.push((row, line));
        }
    }

    pub fn add(&mut self, later: &LaterColumns) {
        self.empty += later.empty;
        self.unusable += later.unusable;
        self.first_unusable.extend(&later.first_unusable);
        self.first_unusable.truncate(MAX_UNUSABLE);
    }
}

impl Evidence {
    /// Records the number of a cell, its line, and the country that its row names, if any. With
    /// `is_contradicted` the row names a country other than the region. Returns whether the number
    /// was completed with the region and is doubtful, because of the number itself or its row.
    pub fn record(
        &mut self,
        line: u64,
        cell: &str,
        read: Read,
        country: Option<Region>,
        is_contradicted: bool,
    ) -> bool {
        let Read {
            number,
            written,
            kind,
        } = read;
        self.numbers += 1;
        self.lengths.record(number, kind.calling_code);
        if let Some(country) = country {
            *self.countries.entry(country).or_default() += 1;
        }
        if written == Written::International {
            *self.international.entry(kind.calling_code).or_default() += 1;
            return false;
        }
        let completed = match country {
            Some(country) => self.by_row.entry(country).or_default(),
            None => &mut self.by_region,
        };
        let is_in_use = kind.line != LineKind::Unknown;
        completed.numbers += 1;
        completed.not_in_use += u64::from(!is_in_use);
        let is_foreign = written == Written::Foreign;
        completed.foreign += u64::from(is_foreign);
        if country.is_some() {
            return false;
        }
        self.first.by_region.record(line, cell);
        self.with_own_code += u64::from(written == Written::WithCode && is_in_use);
        self.contradicted += u64::from(is_contradicted);
        let is_doubtful = is_foreign || !is_in_use || is_contradicted;
        if is_doubtful {
            self.doubtful += 1;
            self.first.doubtful.record(line, cell);
        }
        is_doubtful
    }

    pub fn add(&mut self, later: Evidence) {
        self.add_countries(&later);
        self.numbers += later.numbers;
        for (region, completed) in later.by_row {
            self.by_row.entry(region).or_default().add(completed);
        }
        self.by_region.add(later.by_region);
        self.with_own_code += later.with_own_code;
        self.contradicted += later.contradicted;
        self.doubtful += later.doubtful;
        self.first.by_region.add(later.first.by_region);
        self.first.doubtful.add(later.first.doubtful);
        self.without_country += later.without_country;
        self.impossible += later.impossible;
        sum(&mut self.would_fill, &later.would_fill);
        self.later_columns.add(&later.later_columns);
        for (name, rows) in later.unknown_countries {
            self.record_unknown_country(&name, rows);
        }
    }

    /// Counts rows whose number needs a country and that name this unknown one.
    pub fn record_unknown_country(&mut self, name: &str, rows: u64) {
        let names = self.unknown_countries.len();
        match self.unknown_countries.get_mut(name) {
            Some(known) => *known += rows,
            None if names < MAX_NAMES => {
                self.unknown_countries.insert(name.to_owned(), rows);
            }
            None => {}
        }
    }

    /// Adds the countries of rows that are not sent themselves.
    pub fn add_countries(&mut self, other: &Evidence) {
        sum(&mut self.international, &other.international);
        sum(&mut self.countries, &other.countries);
        self.lengths.add(&other.lengths);
    }
}

impl Completed {
    fn add(&mut self, later: Completed) {
        self.numbers += later.numbers;
        self.not_in_use += later.not_in_use;
        self.foreign += later.foreign;
    }
}

fn sum<K: Ord + Copy>(counts: &mut BTreeMap<K, u64>, later: &BTreeMap<K, u64>) {
    for (key, count) in later {
        *counts.entry(*key).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::phone::{NumberKind, PhoneNumber};

    use super::*;

    /// Numbers, each with how it was written and what completed it, from this line on. Each row counts
    /// for everything else too.
    fn recorded(first_line: u64, numbers: &[(u16, u8, bool)]) -> Evidence {
        let region = Region::parse("GB").unwrap();
        let mut evidence = Evidence::default();
        for (line, (last, by, is_foreign)) in (first_line..).zip(numbers) {
            let cell = format!("+4420{:08}", 79_460_000 + u32::from(*last));
            let number = PhoneNumber::from_e164(&cell).unwrap();
            let written = match (by % 3, is_foreign) {
                (0, _) => Written::International,
                (_, true) => Written::Foreign,
                (_, false) if last % 2 == 0 => Written::WithCode,
                (_, false) => Written::National,
            };
            let country = (by % 3 == 1).then_some(region);
            let kind = NumberKind::of(number);
            let read = Read {
                number,
                written,
                kind,
            };
            evidence.record(line, &cell, read, country, last % 5 == 0);
            evidence.record_unknown_country(&format!("Land {}", last % 8), 1);
            evidence.impossible += 1;
            evidence.without_country += 1;
            *evidence.would_fill.entry(usize::from(*by)).or_default() += 1;
            evidence.later_columns.empty += 1;
            evidence.later_columns.record_unusable(RowId(line), line);
        }
        evidence
    }

    #[test]
    fn of_many_unknown_countries_ten_are_counted() {
        let mut evidence = Evidence::default();
        for n in (0..12).chain([0, 11]) {
            evidence.record_unknown_country(&format!("Land {n}"), 2);
        }
        let counts = &evidence.unknown_countries;
        assert_eq!((counts.len(), counts["Land 0"]), (10, 4));
        assert!(!counts.contains_key("Land 10"));
    }

    proptest! {
        #[test]
        fn every_number_is_counted_once_by_what_completed_it(
            numbers in prop::collection::vec((0..999_u16, 0..3_u8, any::<bool>()), 0..40),
        ) {
            let found = recorded(2, &numbers);
            let by_row: u64 = found.by_row.values().map(|completed| completed.numbers).sum();
            let international: u64 = found.international.values().sum();
            prop_assert_eq!(found.numbers, numbers.len() as u64);
            prop_assert_eq!(by_row + international + found.by_region.numbers, found.numbers);
            prop_assert!(found.doubtful <= found.by_region.numbers);
            prop_assert!(found.by_region.foreign <= found.doubtful);

            let of_region = || numbers.iter().filter(|(_, by, _)| by % 3 == 2);
            let with_code = of_region().filter(|(last, _, is_foreign)| last % 2 == 0 && !is_foreign);
            prop_assert_eq!(found.with_own_code, with_code.count() as u64);
            let contradicted = of_region().filter(|(last, ..)| last % 5 == 0);
            prop_assert_eq!(found.contradicted, contradicted.count() as u64);
            let named: u64 = found.unknown_countries.values().sum();
            prop_assert_eq!(named, found.numbers);
            let lines = of_region().count().min(MAX_LINES);
            prop_assert_eq!(found.first.by_region.lines.len(), lines);
        }

        #[test]
        fn counts_of_parts_add_up(
            numbers in prop::collection::vec((0..999_u16, 0..3_u8, any::<bool>()), 0..40),
            cut in 0..40_usize,
        ) {
            let cut = cut.min(numbers.len());
            let mut parts = recorded(2, &numbers[..cut]);
            parts.add(recorded(2 + cut as u64, &numbers[cut..]));
            prop_assert_eq!(parts, recorded(2, &numbers));
        }
    }
}
