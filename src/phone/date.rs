//! Recognizes dates and times.
//!
//! A date has as many digits as some phone numbers, and stands in the phone column of a list whose
//! cells have shifted.

/// Whether the text is a date with its year in four digits, with or without a time, or a time.
pub(super) fn is_date(text: &str) -> bool {
    is_time(text)
        || groups(text).is_some_and(|([first, second, third], rest)| {
            let is_order = is_year(first) && are_day_and_month(second, third)
                || are_day_and_month(first, second) && is_year(third);
            is_order && is_end(rest)
        })
}

/// Whether the text may be a date with its year in two digits, `12.03.85`. In some countries phone
/// numbers are written so.
pub(super) fn may_be_date(text: &str) -> bool {
    groups(text).is_some_and(|([first, second, third], rest)| {
        let is_year = |group: &str| group.len() == 2;
        let is_order = are_day_and_month(first, second) && is_year(third)
            || is_year(first) && are_day_and_month(second, third);
        let time = rest.trim_start_matches([' ', ',']);
        is_order && (time.is_empty() || is_time(time))
    })
}

/// The first three groups of digits, if the same sign is between them, and the text after them.
fn groups<'t>(text: &'t str) -> Option<([&'t str; 3], &'t str)> {
    let (first, rest) = digits(text)?;
    let sign = rest.trim_start().chars().next()?;
    if !matches!(sign, '-' | '.' | '/') {
        return None;
    }
    let behind = |rest: &'t str| rest.trim_start().strip_prefix(sign).map(str::trim_start);
    let (second, rest) = digits(behind(rest)?)?;
    let (third, rest) = digits(behind(rest)?)?;
    Some(([first, second, third], rest))
}

/// The digits at the beginning, at most four, and the text after them.
fn digits(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    (1..=4).contains(&end).then(|| text.split_at(end))
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
    time.is_empty() || is_apart && (is_time(time) || time.bytes().all(|b| b.is_ascii_digit()))
}

/// `10:15`, `7:05:00 PM`, `10:15:00.000Z`
fn is_time(text: &str) -> bool {
    let Some((hours, rest)) = text.split_once(':') else {
        return false;
    };
    let is_two =
        |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    is_two(hours)
        && value(hours) < 25
        && rest
            .get(..2)
            .is_some_and(|minutes| is_two(minutes) && value(minutes) < 60)
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
