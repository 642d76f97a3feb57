//! Counts numbers by country and type.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::phone::{LineKind, NumberKind, Region};
use crate::text::grouped;

#[derive(Debug, Default)]
pub(super) struct Kinds {
    numbers: HashMap<NumberKind, u64>,
    /// The latest kind and how many have come of it in a row, which are not yet among
    /// the others.
    latest: Option<(NumberKind, u64)>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Country {
    region: Option<Region>,
    calling_code: u16,
    pub(super) numbers: u64,
    lines: Vec<(LineKind, u64)>,
}

impl Kinds {
    /// One number more. Lists come with many of one kind in a row.
    pub(super) fn count(&mut self, kind: NumberKind) {
        match &mut self.latest {
            Some((latest, numbers)) if *latest == kind => *numbers += 1,
            latest => {
                if let Some((kind, numbers)) = latest.replace((kind, 1)) {
                    *self.numbers.entry(kind).or_default() += numbers;
                }
            }
        }
    }

    pub(super) fn all(&self) -> Vec<(NumberKind, u64)> {
        let mut kinds = self.numbers.clone();
        if let Some((kind, numbers)) = self.latest {
            *kinds.entry(kind).or_default() += numbers;
        }
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_by_key(|(kind, numbers)| (Reverse(*numbers), *kind));
        kinds
    }

    pub(super) fn countries(&self) -> Vec<Country> {
        let mut countries: BTreeMap<_, Country> = BTreeMap::new();
        for (kind, numbers) in self.all() {
            let place = (kind.country, kind.calling_code);
            let country = countries.entry(place).or_default();
            (country.region, country.calling_code) = place;
            country.numbers += numbers;
            country.lines.push((kind.line, numbers));
        }
        let mut countries: Vec<Country> = countries.into_values().collect();
        countries.sort_by_key(|country| Reverse(country.numbers));
        countries
    }
}

impl Country {
    pub(super) fn name(&self) -> String {
        match self.region {
            Some(region) => format!("{region} {}", region.name()),
            None => format!("+{}, country not known", self.calling_code),
        }
    }

    /// How many numbers of each type there are: `3 mobile, 1 fixed`.
    pub(super) fn lines(&self) -> String {
        let lines: Vec<String> = self
            .lines
            .iter()
            .map(|(line, numbers)| format!("{} {}", grouped(*numbers), line_name(*line)))
            .collect();
        lines.join(", ")
    }
}

fn line_name(line: LineKind) -> String {
    line.as_str().replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phone::PhoneNumber;

    #[test]
    fn numbers_are_listed_by_country_and_type_most_frequent_first() {
        let mut kinds = Kinds::default();
        for text in [
            "+447400123456",
            "+12125550123",
            "+442079460105",
            "+12125550124",
        ] {
            kinds.count(NumberKind::of(PhoneNumber::from_e164(text).unwrap()));
        }
        kinds.count(NumberKind::of(
            PhoneNumber::from_e164("+12125550125").unwrap(),
        ));
        let told: Vec<_> = kinds
            .countries()
            .iter()
            .map(|country| (country.name(), country.numbers, country.lines()))
            .collect();
        let us = (
            "US United States".to_owned(),
            3,
            "3 fixed or mobile".to_owned(),
        );
        let gb = (
            "GB United Kingdom".to_owned(),
            2,
            "1 mobile, 1 fixed".to_owned(),
        );
        assert_eq!(told, [us, gb]);
        let all: u64 = kinds.all().iter().map(|(_, numbers)| numbers).sum();
        assert_eq!(all, 5);
    }
}
