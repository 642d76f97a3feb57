//! Dates and times.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::message::Text;

fn local(time: Timestamp) -> jiff::Zoned {
    time.to_zoned(TimeZone::try_system().unwrap_or(TimeZone::UTC))
}

/// `24 November 2026, 15:40`
pub fn day(time: Timestamp) -> String {
    local(time).strftime("%-d %B %Y, %H:%M").to_string()
}

/// `Friday 18:40`
pub fn weekday_and_time(time: Timestamp) -> String {
    local(time).strftime("%A %H:%M").to_string()
}

/// At the terminal in UTC, on the page as the clock here shows it.
pub(super) fn moment(time: Timestamp) -> Text {
    let utc = time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    text!("{{utc}|{here}}", utc, here = day(time))
}
