//! Times as people have them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The steps between the marks of an axis, in seconds: those that a clock face has.
const MARKS: [i64; 18] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
];

/// More marks than this do not fit beside each other.
const MAX_MARKS: i64 = 6;

/// The clock of a time zone.
#[derive(Debug)]
pub(super) struct Clock {
    zone: TimeZone,
    /// Whether the time of day is told with its zone, since whoever reads it may have
    /// another.
    says_utc: bool,
}

impl Clock {
    /// As the log has them, wherever it is read.
    pub(super) fn utc() -> Clock {
        Clock {
            zone: TimeZone::UTC,
            says_utc: true,
        }
    }

    /// As whoever looks at the screen has them.
    pub(super) fn here() -> Clock {
        TimeZone::try_system().map_or_else(|_| Clock::utc(), Clock::of)
    }

    /// One that goes after this zone.
    pub(super) fn of(zone: TimeZone) -> Clock {
        Clock {
            zone,
            says_utc: false,
        }
    }

    /// Hour and minute: `09:02`, or `09:02 UTC`.
    pub(super) fn time_of_day(&self, time: Timestamp) -> String {
        let form = if self.says_utc { "%H:%M UTC" } else { "%H:%M" };
        self.form(time, form)
    }

    /// Day and time: `22 November 2026, 02:31:05`.
    pub(super) fn full(&self, time: Timestamp) -> String {
        self.form(time, "%-d %B %Y, %H:%M:%S")
    }

    /// The time of day: `02:31:05`.
    pub(super) fn time(&self, time: Timestamp) -> String {
        self.form(time, "%H:%M:%S")
    }

    /// The zone by name and offset: `Europe/Berlin (UTC+01:00)`.
    pub(super) fn zone(&self, time: Timestamp) -> String {
        let offset = format!("UTC{}", self.form(time, "%:z"));
        // What is called after UTC says no more than the offset.
        let is_place = |name: &&str| !name.starts_with("Etc/") && *name != "UTC";
        match self.zone.iana_name().filter(is_place) {
            Some(name) => format!("{name} ({offset})"),
            None if offset == "UTC+00:00" => "UTC".to_owned(),
            None => offset,
        }
    }

    fn form(&self, time: Timestamp, form: &str) -> String {
        let zoned = time.to_zoned(self.zone.clone());
        zoned.strftime(form).to_string()
    }

    /// Round times between two others, a few of them, with what to write there.
    pub(super) fn marks(&self, from: Timestamp, to: Timestamp) -> Vec<(Timestamp, String)> {
        let seconds = (to.as_second() - from.as_second()).max(1);
        let day = MARKS[MARKS.len() - 1];
        let step = MARKS.into_iter().find(|step| seconds / step <= MAX_MARKS);
        let step = step.unwrap_or(day * (seconds / day / MAX_MARKS + 1));
        let form = match step {
            ..60 => "%H:%M:%S",
            60..86_400 => "%H:%M",
            _ => "%-d %b",
        };
        let offset = i64::from(self.zone.to_offset(from).seconds());
        let local = from.as_second() + offset;
        let first = local + (step - local.rem_euclid(step)) % step - offset;
        (0..)
            .map(|count| first + count * step)
            .take_while(|second| *second <= to.as_second())
            .filter_map(|second| Timestamp::from_second(second).ok())
            .filter(|mark| *mark >= from)
            .map(|mark| (mark, self.form(mark, form)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn berlin() -> Clock {
        Clock::of(TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap())
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn times_are_local_and_the_zone_is_named() {
        let time = at("2026-11-22T01:31:05Z");
        assert_eq!(berlin().full(time), "22 November 2026, 02:31:05");
        assert_eq!(berlin().time(time), "02:31:05");
        assert_eq!(berlin().zone(time), "UTC+01:00");
        assert_eq!(Clock::of(TimeZone::UTC).zone(time), "UTC");
        assert_eq!(Clock::of(TimeZone::unknown()).zone(time), "UTC");
    }

    #[test]
    fn marks_stand_at_round_local_times() {
        let marks = |from: &str, to: &str| -> Vec<String> {
            let marks = berlin().marks(at(from), at(to));
            marks.into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(
            marks("2026-11-22T01:31:05.2Z", "2026-11-22T01:31:09Z"),
            ["02:31:06", "02:31:07", "02:31:08", "02:31:09"]
        );
        assert_eq!(
            marks("2026-11-22T01:31:05Z", "2026-11-22T05:02:00Z"),
            ["03:00", "04:00", "05:00", "06:00"]
        );
        assert_eq!(
            marks("2026-11-20T12:00:00Z", "2026-12-05T12:00:00Z"),
            ["21 Nov", "24 Nov", "27 Nov", "30 Nov", "3 Dec"]
        );
        assert!(marks("2026-11-22T01:31:05.2Z", "2026-11-22T01:31:05.9Z").is_empty());
    }
}
