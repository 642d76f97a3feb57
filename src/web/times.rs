//! Dates and times as the page says them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

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
