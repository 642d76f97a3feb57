//! Times of day for people.

use jiff::Timestamp;
use jiff::tz::TimeZone;

#[derive(Debug)]
pub(super) struct Clock {
    zone: TimeZone,
    /// Whether the time of day is followed by its zone, since readers may be in
    /// another.
    says_utc: bool,
}

impl Clock {
    /// For logs, which are read anywhere.
    pub(super) fn utc() -> Clock {
        Clock {
            zone: TimeZone::UTC,
            says_utc: true,
        }
    }

    pub(super) fn here() -> Clock {
        TimeZone::try_system().map_or_else(|_| Clock::utc(), Clock::of)
    }

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

    /// Day and time: `22 November 2026, 02:31:05 (UTC+01:00)`.
    pub(super) fn full(&self, time: Timestamp) -> String {
        self.form(time, "%-d %B %Y, %H:%M:%S (UTC%:z)")
    }

    fn form(&self, time: Timestamp, form: &str) -> String {
        let zoned = time.to_zoned(self.zone.clone());
        zoned.strftime(form).to_string()
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
        assert_eq!(
            berlin().full(time),
            "22 November 2026, 02:31:05 (UTC+01:00)"
        );
    }
}
