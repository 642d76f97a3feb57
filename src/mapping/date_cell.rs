//! Dates in cells, to compare them.

use jiff::civil::Date;
use jiff::fmt::strtime::BrokenDownTime;

/// Which of two numbers that may both be a month is the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOrder {
    DayFirst,
    MonthFirst,
}

/// What a cell means with the day first, and with the month first. Often these are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateCell {
    pub day_first: Option<Date>,
    pub month_first: Option<Date>,
}

/// Nobody writes the month first with dots.
const IN_NO_DOUBT: [&str; 9] = [
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d.%m.%Y",
    "%d.%m.%y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d %b %Y",
    "%b %d, %Y",
];

const DAY_FIRST: [&str; 4] = ["%d/%m/%Y", "%d-%m-%Y", "%d/%m/%y", "%d-%m-%y"];

const MONTH_FIRST: [&str; 4] = ["%m/%d/%Y", "%m-%d-%Y", "%m/%d/%y", "%m-%d-%y"];

/// Words behind a time of day.
const TIME_WORDS: [&str; 9] = ["Z", "AM", "PM", "am", "pm", "Uhr", "h", "UTC", "GMT"];

/// A smaller year is one of two digits.
const FIRST_YEAR: i16 = 1900;

impl DateCell {
    /// The date at the beginning of a cell, with or without a time behind it.
    pub fn read(cell: &str) -> Option<DateCell> {
        let text = cell.trim().replace(". ", ".");
        // Not even a year.
        if !text.contains(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let read = |forms: &[&str]| forms.iter().find_map(|form| date(form, &text));
        let found = match read(&IN_NO_DOUBT) {
            Some(date) => DateCell {
                day_first: Some(date),
                month_first: Some(date),
            },
            None => DateCell {
                day_first: read(&DAY_FIRST),
                month_first: read(&MONTH_FIRST),
            },
        };
        found.day_first.or(found.month_first).map(|_| found)
    }

    /// The order that this date shows, if only one is possible.
    pub fn order(self) -> Option<DateOrder> {
        match (self.day_first, self.month_first) {
            (Some(_), None) => Some(DateOrder::DayFirst),
            (None, Some(_)) => Some(DateOrder::MonthFirst),
            _ => None,
        }
    }

    /// Whether the date is another one in the other order.
    pub fn is_ambiguous(self) -> bool {
        self.order().is_none() && self.day_first != self.month_first
    }
}

/// The date that the text begins with, if it is written in this form.
fn date(form: &str, text: &str) -> Option<Date> {
    let (found, end) = BrokenDownTime::parse_prefix(form, text).ok()?;
    let date = found.to_date().ok()?;
    (date.year() >= FIRST_YEAR && is_time(&text[end..])).then_some(date)
}

/// Whether nothing is behind a date but a time: `2026-11-28 withdrawn` says more than a date.
fn is_time(rest: &str) -> bool {
    let time = rest.trim_start_matches(['.', ',', ' ', 'T']);
    let mut words = time.split(|c: char| !c.is_alphabetic());
    let is_clock = |c: char| c.is_alphanumeric() || " :.,+-".contains(c);
    let has_colon = || time.len() < rest.len() && time.get(1..3).is_some_and(|at| at.contains(':'));
    time.is_empty()
        || has_colon()
            && time.chars().all(is_clock)
            && words.all(|word| word.is_empty() || TIME_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<DateCell> {
        DateCell::read(text)
    }

    #[test]
    fn dates_are_known_with_and_without_a_time() {
        let day_first = Date::new(2026, 11, 8).ok();
        for text in [
            "2026-11-08",
            " 2026/11/8 ",
            "08.11.2026",
            "8. 11. 2026",
            "8.11.26",
            "08-Nov-2026",
            "8 Nov 2026",
            "Nov 8, 2026",
            "2026-11-08T10:15:00Z",
            "2026-11-08 10:15",
            "8.11.2026, 10:15 Uhr",
        ] {
            let month_first = day_first;
            let expected = DateCell {
                day_first,
                month_first,
            };
            assert_eq!(read(text), Some(expected), "{text}");
        }
        let month_first = Date::new(2026, 8, 11).ok();
        for text in ["08/11/2026", "8-11-2026", "08/11/2026 07:00 PM", "8/11/26"] {
            let expected = DateCell {
                day_first,
                month_first,
            };
            assert_eq!(read(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "yes",
            "2026",
            "2026-13-01",
            "31/31/2026",
            "30.02.2026",
            "12/2026",
            "1.2.345",
            "2026-11-08x",
            "2026-11-08 withdrawn",
            "2026-11-08, 10:15 revoked",
            "2026-11-08 - 2027-01-01",
            "2026-11-08 no",
            "020 7946 0101",
            "1-2-2026-3",
            "1",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_day_after_the_twelfth_shows_the_order() {
        let order = |text: &str| read(text).unwrap().order();
        assert_eq!(order("13/11/2026"), Some(DateOrder::DayFirst));
        assert_eq!(order("11/13/2026"), Some(DateOrder::MonthFirst));
        assert_eq!(order("11/12/2026"), None);
        assert_eq!(order("2026-11-13"), None);
        assert!(read("11/12/2026").unwrap().is_ambiguous());
        assert!(!read("11/11/2026").unwrap().is_ambiguous());
    }
}
