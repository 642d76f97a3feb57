//! Recognizes dates and times.
//!
//! A date has as many digits as some phone numbers, and stands in the phone column of a list whose
//! cells have shifted.

use super::digits::{self, is_digits};

/// Whether the text is a date with its year in four digits, with or without a time, a month or a
/// school year, a time, or opening hours.
pub(super) fn is_date(text: &str) -> bool {
    let text = text.trim_matches(['(', ')']);
    is_time(text, ":")
        || behind_date(text, is_year).is_some_and(is_end)
        || text.split_once(['-', '/']).is_some_and(is_month_or_hours)
}

/// `2024-05`, `12/2025`, `2023/24`, `9.15-17.45`
fn is_month_or_hours((first, second): (&str, &str)) -> bool {
    let is_next_year = value(first) % 100 + 1 == value(second);
    let is_month = |text: &str| text.len() <= 2 && (1..=12).contains(&value(text));
    let (from, to) = (first.trim_end(), second.trim_start());
    is_year(first) && is_digits(second) && (is_month(second) || is_year(second) || is_next_year)
        || is_year(second) && is_digits(first) && is_month(first)
        || is_whole_time(from) && is_whole_time(to)
}

/// Whether the text may be a date with its year in two digits, `12.03.85`. In some countries phone
/// numbers are written so.
pub(super) fn may_be_date(text: &str) -> bool {
    let rest = behind_date(text, |group| group.len() == 2);
    let time = rest.map(|rest| rest.trim_start_matches([' ', ',']));
    time.is_some_and(|time| time.is_empty() || is_time(time, ":"))
}

/// The text behind a date at its beginning: three groups of digits with the same sign between them,
/// of which the first or the last is a year.
fn behind_date(text: &str, is_year: fn(&str) -> bool) -> Option<&str> {
    let sign = text.chars().find(|c| matches!(c, '-' | '.' | '/'))?;
    let mut parts = text.splitn(3, sign);
    let (first, second) = (parts.next()?.trim_end(), parts.next()?.trim());
    let (third, rest) = digits::split_behind(parts.next()?.trim_start(), |c| c.is_ascii_digit());
    let is_order = is_year(first) && are_day_and_month(second, third)
        || are_day_and_month(first, second) && is_year(third);
    let is_date = is_order && [first, second, third].into_iter().all(is_digits);
    is_date.then_some(rest)
}

fn value(group: &str) -> u32 {
    group.parse().unwrap_or(0)
}

/// A year of ours, of the Persian calendar, or of the Thai one.
fn is_year(group: &str) -> bool {
    group.len() == 4 && matches!(value(group), 1300..=1450 | 1900..=2100 | 2480..=2600)
}

fn are_day_and_month(one: &str, other: &str) -> bool {
    let is_day = |group: &str| group.len() <= 2 && (1..=31).contains(&value(group));
    is_day(one) && is_day(other) && value(one).min(value(other)) <= 12
}

/// What may come after a date: nothing, a dot, or a time, perhaps without its colons.
fn is_end(rest: &str) -> bool {
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    let time = rest.trim_start_matches([' ', 'T', ',']);
    let is_apart = time.len() < rest.len();
    time.is_empty() || is_apart && (is_time(time, ":.h") || is_digits(time))
}

/// `10:15`, `7:05:00 PM`, `10:15:00.000Z`, with one of these signs behind the hours.
fn is_time(text: &str, signs: &str) -> bool {
    let Some((hours, rest)) = text.split_once(|c: char| signs.contains(c)) else {
        return false;
    };
    let is_below = |limit: u32, text: &str| is_digits(text) && value(text) < limit;
    let minutes = rest.get(..2);
    hours.len() <= 2 && is_below(25, hours) && minutes.is_some_and(|text| is_below(60, text))
}

/// `9.15`, with nothing behind the minutes.
fn is_whole_time(text: &str) -> bool {
    is_time(text, ":.") && (4..=5).contains(&text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_known_in_every_order_and_with_every_sign() {
        for text in [
            "1985-03-12",
            "1985/3/12",
            "21.11.2026",
            "12/03/1985",
            "3-12-1985",
            "1. 2. 2026",
            "2026. 11. 21.",
            "2026-11-21 10:15",
            "2026-11-21T10:15:00Z",
            "21.11.2026, 10:15 Uhr",
            "2026-11-21 101500",
            "21/11/2569",
            "1403/01/15",
            "10:15",
            "7:05:00 PM",
        ] {
            assert!(is_date(text), "{text}");
        }
    }

    #[test]
    fn numbers_with_the_same_signs_are_no_dates() {
        for text in [
            "12 03 1985",
            "0171-39-2000",
            "12.13.1985.1",
            "32.11.2026",
            "13/13/2026",
            "1985-03-12-4",
            "212-555-0123",
            "20.12.3456",
            "1985.03/12",
            "+1985-03-12",
            "26.12.34",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn a_year_of_two_digits_may_be_one() {
        for text in ["12.03.85", "85-3-12", "1/2/26"] {
            assert!(may_be_date(text), "{text}");
        }
        for text in ["45.99.85", "12.03.1985", "12 03 85", "12.03.85.12"] {
            assert!(!may_be_date(text), "{text}");
        }
    }
}
