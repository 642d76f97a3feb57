//! Writes numbers, dates, times and durations as text.
//!
//! The number format of the cell decides whether a stored number is a date. The number itself
//! decides whether it is a date, a time of day or both, because the format may show less.

use std::fmt::Write;

use calamine::ExcelDateTime;
use jiff::SignedDuration;

/// The serial number of the day after 9999-12-31, which is Excel's last day.
const SERIAL_END: f64 = 2_958_466.0;

const MILLIS_PER_DAY: f64 = 86_400_000.0;

/// Appends the fewest digits that distinguish the number from its
/// neighbours, never with an exponent.
pub(super) fn push_number(out: &mut String, number: f64) {
    match number {
        // What a sheet shows for such a number.
        _ if !number.is_finite() => out.push_str("#NUM!"),
        0.0 => out.push('0'),
        _ => {
            let _ = write!(out, "{number}");
        }
    }
}

/// Appends an Excel serial number as `2026-11-21`, `2026-11-21T10:30:00` or
/// `10:30:00`, or as the hours of a duration, `36:30:00`. A number that is
/// not a date, such as a phone number in a column of dates, stays a number.
pub(super) fn push_serial(out: &mut String, time: &ExcelDateTime) {
    let serial = time.as_f64();
    if !(-SERIAL_END..SERIAL_END).contains(&serial) || (serial < 0.0 && !time.is_duration()) {
        return push_number(out, serial);
    }
    if time.is_duration() {
        return push_duration(out, (serial * MILLIS_PER_DAY).round() as i128);
    }
    let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
    let millis = ((i128::from(hour) * 60 + i128::from(minute)) * 60 + i128::from(second)) * 1000
        + i128::from(milli);
    // Day 0 is not a calendar day: the cell holds only a time.
    if serial < 1.0 {
        return push_duration(out, millis);
    }
    let _ = write!(out, "{year:04}-{month:02}-{day:02}");
    if millis != 0 {
        out.push('T');
        push_duration(out, millis);
    }
}

/// Appends a date, or a date and time, that is text already. Leaves out a
/// time of midnight, and zeros at the end of a fraction of a second.
pub(super) fn push_iso(out: &mut String, text: &str) {
    let text = match text.rsplit_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|b| b == b'0') => whole,
        Some((_, fraction)) if fraction.bytes().all(|b| b.is_ascii_digit()) => {
            text.trim_end_matches('0')
        }
        _ => text,
    };
    out.push_str(text.strip_suffix("T00:00:00").unwrap_or(text));
}

/// Appends an OpenDocument duration (`PT36H30M00S`) as hours, minutes and
/// seconds (`36:30:00`). OpenDocument stores a time of day as a duration too.
pub(super) fn push_iso_duration(out: &mut String, text: &str) {
    match text.parse::<SignedDuration>() {
        Ok(duration) => push_duration(out, duration.as_millis()),
        Err(_) => out.push_str(text),
    }
}

fn push_duration(out: &mut String, millis: i128) {
    if millis < 0 {
        out.push('-');
    }
    let millis = millis.unsigned_abs();
    let (seconds, milli) = (millis / 1000, millis % 1000);
    let (minutes, second) = (seconds / 60, seconds % 60);
    let (hour, minute) = (minutes / 60, minutes % 60);
    let _ = write!(out, "{hour:02}:{minute:02}:{second:02}");
    if milli != 0 {
        let fraction = format!(".{milli:03}");
        out.push_str(fraction.trim_end_matches('0'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calamine::ExcelDateTimeType;

    fn serial(number: f64, is_duration: bool, is_1904: bool) -> String {
        let kind = if is_duration {
            ExcelDateTimeType::TimeDelta
        } else {
            ExcelDateTimeType::DateTime
        };
        let mut out = String::new();
        push_serial(&mut out, &ExcelDateTime::new(number, kind, is_1904));
        out
    }

    fn date(number: f64) -> String {
        serial(number, false, false)
    }

    #[test]
    fn a_serial_number_is_a_date_a_time_or_both() {
        assert_eq!(date(46347.0), "2026-11-21");
        assert_eq!(date(46347.0 + 10.5 / 24.0), "2026-11-21T10:30:00");
        assert_eq!(date(46347.0 + 0.25 / 86400.0), "2026-11-21T00:00:00.25");
        assert_eq!(date(10.5 / 24.0), "10:30:00");
        assert_eq!(date(1.0), "1900-01-01");
        assert_eq!(date(61.0), "1900-03-01");
        assert_eq!(serial(46347.0 - 1462.0, false, true), "2026-11-21");
    }

    #[test]
    fn a_number_that_is_no_date_stays_a_number() {
        assert_eq!(date(447_911_123_456.0), "447911123456");
        assert_eq!(date(-1.5), "-1.5");
        assert_eq!(serial(1e300, true, false).len(), 301);
    }

    #[test]
    fn a_duration_counts_hours_beyond_a_day() {
        assert_eq!(serial(36.5 / 24.0, true, false), "36:30:00");
        assert_eq!(serial(-0.5 / 24.0, true, false), "-00:30:00");
    }

    #[test]
    fn times_stored_as_text_get_the_same_form() {
        let iso = |text: &str| {
            let mut out = String::new();
            push_iso(&mut out, text);
            out
        };
        assert_eq!(iso("2026-11-21"), "2026-11-21");
        assert_eq!(iso("2026-11-21T00:00:00.000"), "2026-11-21");
        assert_eq!(
            iso("2026-11-21T10:30:00.500000000"),
            "2026-11-21T10:30:00.5"
        );
        let duration = |text: &str| {
            let mut out = String::new();
            push_iso_duration(&mut out, text);
            out
        };
        assert_eq!(duration("PT10H30M00S"), "10:30:00");
        assert_eq!(duration("PT36H30M00.250000000S"), "36:30:00.25");
        assert_eq!(duration("-PT1H"), "-01:00:00");
        assert_eq!(duration("soon"), "soon");
    }
}
