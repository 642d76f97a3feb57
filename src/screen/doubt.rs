//! The doubt rule: whether the numbers of a list are of the region that completes them.
//!
//! This is about numbers that are completed with the region for the whole list, not with their own
//! row's country. Such a number is doubtful if it is in no range in use in the region, if it is not
//! written as that country writes numbers, or if its row names another country. All completed
//! numbers of a list are doubtful if the rows that name a country agree on another one, if the list
//! has at least three international numbers and none of them is of the region, or if nearly all
//! numbers without a calling code are too long or too short for the region. Doubtful numbers are
//! too many if there are at least three and they are more than a fifth of the completed ones. If
//! they are also under a fifth of all rows with a number, only they are held back; otherwise
//! nothing is sent until the user decides.

use std::cmp::Reverse;

use super::evidence::{Completed, Evidence, Sample};
use crate::phone::{Region, others_fitting};

/// Fewer doubtful numbers than this may be chance.
const FEWEST: u64 = 3;

/// How many international numbers a list must have for their countries to count.
const FEWEST_INTERNATIONAL: u64 = 3;

/// Of the numbers without a calling code, if at least `FEWEST_IMPOSSIBLE` are too
/// long or too short for the region, and at least `IMPOSSIBLE_FOR_ONE` times as
/// many as fit, the ones that fit may be chance.
const FEWEST_IMPOSSIBLE: u64 = 10;
const IMPOSSIBLE_FOR_ONE: u64 = 4;

/// More than one in this many completed numbers is too many. Fewer than one in this many rows is
/// little enough to hold back.
const PART: u64 = 5;

/// How many of ten rows that name a country must name the same one, to count as agreement.
const AGREEING_OF_TEN: u64 = 9;

/// A country is offered only if at least this many of five numbers fit it.
const FITTING_OF_FIVE: usize = 4;

/// The countries of most lists: they come first if several countries fit equally well.
const COUNTRIES_WITH_MANY_LISTS: [&str; 40] = [
    "US", "GB", "DE", "FR", "ES", "IT", "NL", "IN", "CN", "PL", "AU", "BR", "MX", "CH", "AT", "BE",
    "SE", "PT", "IE", "CZ", "ZA", "TR", "JP", "DK", "NO", "RU", "NZ", "FI", "GR", "HU", "RO", "KR",
    "AE", "SA", "IL", "SG", "HK", "AR", "CO", "CL",
];

/// Why all completed numbers of a list are doubtful.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// The rows that name a country name this one.
    Country(Region),
    /// The list has this many international numbers, all of them of other countries.
    International(u64),
    /// This many numbers, nearly all without a calling code, are too long or too short.
    Impossible(u64),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListDoubt {
    pub doubtful: u64,
    pub by_region: Completed,
    /// Completed numbers whose rows name another country.
    pub contradicted: u64,
    /// Why all are doubtful, if they are.
    pub against: Option<Against>,
    pub first: Sample,
    /// Whether the doubtful numbers are held back.
    pub is_held: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fitting {
    pub country: Region,
    /// How many of the tried numbers are in use in this country as they are written.
    pub numbers: usize,
    /// Whether the lists name it themselves: in a column, or by numbers with its calling code.
    pub is_named: bool,
}

/// What is doubtful in all lists of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    pub region: Region,
    pub lists: Vec<ListDoubt>,
    /// Whether too many numbers are doubtful to continue without the user's decision.
    pub refuses: bool,
    /// The countries that the doubtful numbers fit, the likeliest first.
    pub fitting: Vec<Fitting>,
    pub tried: usize,
}

impl Doubt {
    pub fn of(region: Region, lists: &[&Evidence]) -> Doubt {
        let mut judged: Vec<ListDoubt> =
            lists.iter().map(|list| list_doubt(region, list)).collect();
        let refuses = hold_back(&mut judged, lists);
        let held = judged.iter().filter(|list| list.is_held);
        let cells: Vec<String> = held.flat_map(|list| list.first.cells.clone()).collect();
        let fitting = fitting(region, &cells, lists);
        Doubt {
            region,
            fitting,
            tried: cells.len(),
            lists: judged,
            refuses,
        }
    }

    /// The likely country of the doubtful numbers: the only one that they fit, or the only one of
    /// those that the lists name.
    pub fn likely(&self) -> Option<Region> {
        match self.fitting[..] {
            [first] => Some(first.country),
            [first, second, ..] => (first.is_named && !second.is_named).then_some(first.country),
            [] => None,
        }
    }

    pub fn doubtful(&self) -> u64 {
        self.lists.iter().map(|list| list.doubtful).sum()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum DoubtLevel {
    Fine,
    HeldBack,
    Refused,
}

fn doubt_level(doubtful: u64, completed: u64, numbers: u64) -> DoubtLevel {
    if !are_many(doubtful, completed) {
        DoubtLevel::Fine
    } else if PART * doubtful < numbers {
        DoubtLevel::HeldBack
    } else {
        DoubtLevel::Refused
    }
}

/// Decides for each list whether its doubtful numbers are held back, from its own numbers and from
/// those of all lists together. Returns whether so many are doubtful that the user must decide.
fn hold_back(judged: &mut [ListDoubt], lists: &[&Evidence]) -> bool {
    let all = doubt_level(
        judged.iter().map(|list| list.doubtful).sum(),
        judged.iter().map(|list| list.by_region.numbers).sum(),
        lists.iter().map(|list| list.numbers).sum(),
    );
    let mut refuses = false;
    for (list, evidence) in judged.iter_mut().zip(lists) {
        let own = doubt_level(list.doubtful, list.by_region.numbers, evidence.numbers);
        refuses |= own.max(all) == DoubtLevel::Refused;
        list.is_held = own.max(all) != DoubtLevel::Fine;
    }
    refuses
}

/// Whether a do-not-call list was read with the wrong region: its numbers are not written as that
/// country writes numbers, or the list itself points to another country. Numbers outside the ranges
/// in use do not count here: on such a list they do no harm.
pub fn is_wrong_for(region: Region, list: &Evidence) -> bool {
    let completed = list.by_region.numbers;
    are_many(list.by_region.foreign, completed)
        || completed >= FEWEST && against(region, list).is_some()
}

/// Whether `some` of `all` are more than a few mistakes.
pub fn are_many(some: u64, all: u64) -> bool {
    some >= FEWEST && PART * some > all
}

fn list_doubt(region: Region, list: &Evidence) -> ListDoubt {
    let against = against(region, list);
    let completed = list.by_region.numbers;
    let (doubtful, first) = match against {
        Some(_) => (completed, &list.first.by_region),
        None => (list.doubtful, &list.first.doubtful),
    };
    ListDoubt {
        doubtful,
        by_region: list.by_region,
        contradicted: list.contradicted,
        against: against.filter(|_| completed > 0),
        first: first.clone(),
        is_held: false,
    }
}

fn against(region: Region, list: &Evidence) -> Option<Against> {
    let named: u64 = list.countries.values().sum();
    let most = list.countries.iter().max_by_key(|(_, rows)| **rows);
    let agree = |rows: u64| 10 * rows >= AGREEING_OF_TEN * named;
    if let Some((country, rows)) = most
        && !country.shares_calling_code(region)
        && agree(*rows)
    {
        return Some(Against::Country(*country));
    }
    let international: u64 = list.international.values().sum();
    let is_of_region = |code: &u16| region.calling_code() == Some(*code);
    let has_own = list.with_own_code > 0 || list.international.keys().any(is_of_region);
    if international >= FEWEST_INTERNATIONAL && !has_own {
        return Some(Against::International(international));
    }
    let impossible = list.impossible;
    (impossible >= FEWEST_IMPOSSIBLE && impossible >= IMPOSSIBLE_FOR_ONE * list.by_region.numbers)
        .then_some(Against::Impossible(impossible))
}

/// The other countries that these cells may be of, the likeliest first: countries that the lists
/// name, then those that more cells fit, then those of most lists.
fn fitting(region: Region, cells: &[String], lists: &[&Evidence]) -> Vec<Fitting> {
    let is_named = |country: Region| {
        lists.iter().any(|list| {
            let codes = &list.international;
            let code = country.calling_code();
            list.countries.contains_key(&country)
                || code.is_some_and(|code| codes.contains_key(&code))
        })
    };
    let place = |country: Region| {
        let mut usual = COUNTRIES_WITH_MANY_LISTS.iter();
        let code = country.to_string();
        usual.position(|known| *known == code).unwrap_or(usize::MAX)
    };
    let mut fitting = others_fitting(region, cells);
    fitting.retain(|(_, fit)| 5 * fit >= FITTING_OF_FIVE * cells.len());
    fitting.sort_by_key(|(country, fit)| {
        let twentieths = 20 * fit / cells.len().max(1);
        (!is_named(*country), Reverse(twentieths), place(*country))
    });
    let fitting = fitting.into_iter();
    fitting
        .map(|(country, numbers)| Fitting {
            country,
            numbers,
            is_named: is_named(country),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::screen::Completed;

    /// A list of numbers. The region has completed some of them, some of these doubtfully.
    fn list(numbers: u64, completed: u64, doubtful: u64) -> Evidence {
        Evidence {
            numbers,
            by_region: Completed {
                numbers: completed,
                not_in_use: doubtful,
                foreign: 0,
            },
            doubtful,
            ..Evidence::default()
        }
    }

    fn britain() -> Region {
        Region::parse("GB").unwrap()
    }

    fn judged(numbers: u64, completed: u64, doubtful: u64) -> (bool, bool) {
        let evidence = list(numbers, completed, doubtful);
        let doubt = Doubt::of(britain(), &[&evidence]);
        (doubt.refuses, doubt.lists[0].is_held)
    }

    #[test]
    fn three_and_more_than_a_fifth_are_many_and_under_a_fifth_of_all_are_held_back() {
        let (fine, held, refused) = ((false, false), (false, true), (true, true));
        for (numbers, completed, doubtful, expected) in [
            (100, 2, 2, fine),
            (100, 15, 3, fine),
            (100, 14, 3, held),
            (16, 14, 3, held),
            (15, 14, 3, refused),
            (3, 3, 3, refused),
            (10_000, 10_000, 2000, fine),
            (10_000, 9_999, 2000, refused),
            (10_001, 9_999, 2000, held),
            (0, 0, 0, fine),
        ] {
            assert_eq!(
                judged(numbers, completed, doubtful),
                expected,
                "{numbers} {completed} {doubtful}"
            );
        }
    }

    #[test]
    fn countries_agree_where_nine_of_ten_are_the_same() {
        let region = |code: &str| Region::parse(code).unwrap();
        let named = |countries: &[(&str, u64)]| Evidence {
            countries: countries.iter().map(|(c, n)| (region(c), *n)).collect(),
            ..list(30, 3, 0)
        };
        for (countries, is_against) in [
            (&[("US", 1)][..], true),
            (&[("US", 9), ("GB", 1)], true),
            (&[("US", 8), ("GB", 1)], false),
            (&[("DE", 5), ("FR", 5)], false),
            (&[("GB", 5)], false),
            (&[("JE", 5)], false),
        ] {
            let found = against(britain(), &named(countries));
            assert_eq!(found.is_some(), is_against, "{countries:?}");
        }
    }

    #[test]
    fn three_international_numbers_count_where_none_is_of_the_region() {
        let region = |code: &str| Region::parse(code).unwrap().calling_code().unwrap();
        let with = |codes: &[(&str, u64)], with_own_code| Evidence {
            international: codes.iter().map(|(of, n)| (region(of), *n)).collect(),
            with_own_code,
            ..list(30, 3, 0)
        };
        for (evidence, found) in [
            (with(&[("US", 2)], 0), None),
            (
                with(&[("US", 2), ("DE", 1)], 0),
                Some(Against::International(3)),
            ),
            (with(&[("US", 3), ("GB", 1)], 0), None),
            (with(&[("US", 3)], 1), None),
        ] {
            assert_eq!(against(britain(), &evidence), found, "{evidence:?}");
        }
    }

    #[test]
    fn ten_numbers_of_a_wrong_length_count_where_they_are_four_times_as_many_as_fit() {
        for (impossible, fitting, counts) in [
            (9, 0, false),
            (10, 0, true),
            (10, 3, false),
            (12, 3, true),
            (39, 10, false),
            (40, 10, true),
        ] {
            let evidence = Evidence {
                impossible,
                ..list(60, fitting, 0)
            };
            let found = against(britain(), &evidence);
            let expected = counts.then_some(Against::Impossible(impossible));
            assert_eq!(found, expected, "{impossible} {fitting}");
        }
    }

    #[test]
    fn the_likely_country_is_the_only_one_that_fits_or_that_is_named() {
        let likely = |named: &[bool]| {
            let countries = ["US", "MX", "CO"].map(|code| Region::parse(code).unwrap());
            let fitting = countries.into_iter().zip(named);
            let fitting = fitting.map(|(country, is_named)| Fitting {
                country,
                numbers: 5,
                is_named: *is_named,
            });
            let doubt = Doubt {
                fitting: fitting.collect(),
                ..Doubt::of(britain(), &[])
            };
            doubt.likely().map(|country| country.to_string())
        };
        for named in [&[false][..], &[true], &[true, false], &[true, false, false]] {
            assert_eq!(likely(named).as_deref(), Some("US"), "{named:?}");
        }
        for named in [&[][..], &[false, false], &[true, true]] {
            assert_eq!(likely(named), None, "{named:?}");
        }
    }

    #[test]
    fn countries_are_offered_that_four_of_five_numbers_fit_those_of_most_lists_first() {
        let offered = |of_america: usize| {
            let mut cells = vec!["(203) 555-0132".to_owned(); of_america];
            cells.resize(5, "12".to_owned());
            fitting(britain(), &cells, &[])
        };
        assert_eq!(offered(3), []);
        for of_america in [4, 5] {
            let found = offered(of_america);
            assert_eq!(found[0].country, Region::parse("US").unwrap());
            assert!(found.iter().all(|of| of.numbers == of_america));
        }
        // Bare digits fit many.
        let cells = vec!["301234567".to_owned(); 5];
        let found = fitting(britain(), &cells, &[]);
        let place = |of: &Fitting| {
            let code = of.country.to_string();
            COUNTRIES_WITH_MANY_LISTS.iter().position(|of| *of == code)
        };
        let places: Vec<usize> = found.iter().filter_map(place).collect();
        assert!(places.len() > 1 && places.is_sorted(), "{found:?}");
    }

    proptest! {
        #[test]
        fn another_list_never_removes_a_doubt(
            first in (0..60_u64, 0..60_u64, 0..60_u64),
            second in (0..60_u64, 0..60_u64, 0..60_u64),
        ) {
            let of = |(international, fine, doubtful)| {
                list(international + fine + doubtful, fine + doubtful, doubtful)
            };
            let (first, second) = (of(first), of(second));
            let alone = Doubt::of(britain(), &[&first]);
            let both = Doubt::of(britain(), &[&first, &second]);
            prop_assert!(both.refuses || !alone.refuses);
            prop_assert!(!alone.lists[0].is_held || both.lists[0].is_held);
        }
    }
}
