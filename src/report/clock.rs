//! Times of day for people.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The time zone in which times are shown.
#[derive(Debug)]
pub(super) struct Clock(pub(super) TimeZone);

impl Clock {
    /// For logs, which are read in any time zone.
    pub(super) fn utc() -> Clock {
        Clock(TimeZone::UTC)
    }

    pub(super) fn here() -> Clock {
        Clock(TimeZone::try_system().unwrap_or(TimeZone::UTC))
    }

    /// Hour and minute: `09:02`, or `09:02 UTC`.
    pub(super) fn time_of_day(&self, time: Timestamp) -> String {
        let is_utc = self.0 == TimeZone::UTC;
        let form = if is_utc { "%H:%M UTC" } else { "%H:%M" };
        self.form(time, form)
    }

    /// Day and time: `22 November 2026, 02:31:05 (UTC+01:00)`.
    pub(super) fn full(&self, time: Timestamp) -> String {
        self.form(time, "%-d %B %Y, %H:%M:%S (UTC%:z)")
    }

    fn form(&self, time: Timestamp, form: &str) -> String {
        let zoned = time.to_zoned(self.0.clone());
        zoned.strftime(form).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn berlin() -> Clock {
        Clock(TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap())
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
