//! A request rate as people write it: `20/s`, `100/min`, `20/10s`, `0.5/s`.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

/// At most `requests` starts in any period of length `per`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub requests: NonZeroU32,
    pub per: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RateChoice {
    Limits(Vec<Rate>),
    /// What the service turns out to allow.
    Auto,
    /// This program sets no limit; it obeys the service's refusals.
    Unlimited,
}

/// `auto` starts at the only limit that such a service has ever published, …
pub const AUTO_START: Rate = Rate::per_minute(100);
/// … and goes no further where no limit is stated.
pub const AUTO_MOST: Rate = Rate::per_second(10);

/// The service's limit as a run has learned it. The next run starts with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownRate {
    pub rate: Rate,
    /// Whether the service's answers state this limit; if not, it was found by trying.
    pub is_stated: bool,
}

/// The limit that a run keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    pub rate: Rate,
    pub source: PaceSource,
}

/// Where a limit is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaceSource {
    /// Somebody has set it.
    Given,
    /// The service's answers state it.
    Stated,
    /// Something was refused at a faster pace.
    Found,
    /// Little is known yet, and the pace grows fast.
    Trying,
    /// Nothing is refused at the fastest pace that is tried where no limit is stated.
    Most,
}

#[cfg(test)]
impl Pace {
    pub fn stated(rate: Rate) -> Pace {
        let source = PaceSource::Stated;
        Pace { rate, source }
    }
}

impl fmt::Display for Pace {
    /// The limit and why it is believed in: `100/min, as the service states`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = match self.rate.pace() {
            fast if fast >= 3.0 => format!("{}/s", (fast * 10.0).round() / 10.0),
            slow if slow >= 0.2 => format!("{}/min", (slow * 60.0).round()),
            slow => format!("{}/min", (slow * 600.0).round() / 10.0),
        };
        let rate = match self.rate.per.subsec_nanos() {
            0 => self.rate.to_string(),
            _ => format!("about {about}"),
        };
        match self.source {
            PaceSource::Given => write!(f, "{rate}, as set"),
            PaceSource::Stated => write!(f, "{rate}, as the service states"),
            PaceSource::Found => write!(f, "about {about}, found by trying"),
            PaceSource::Trying => write!(f, "about {about}, trying how much is allowed"),
            PaceSource::Most => write!(f, "{about}, the most that is tried"),
        }
    }
}

/// The most requests in one period: the start times in a period are kept in memory.
const MAX_REQUESTS: f64 = 1_000_000.0;

const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Spans that are kept are so many times longer than limits say: a request that is delayed on its
/// way and one that is not must not end up in one span at the service.
const SLACK: f64 = 1.01;

impl Rate {
    /// The span in which at most `requests` may start, so that no more of them *arrive* within `per`.
    pub fn kept_span(&self) -> Duration {
        self.per.mul_f64(SLACK)
    }

    pub const fn per_second(requests: u32) -> Rate {
        Rate::over(requests, Duration::from_secs(1))
    }

    pub const fn per_minute(requests: u32) -> Rate {
        Rate::over(requests, Duration::from_secs(60))
    }

    const fn over(requests: u32, per: Duration) -> Rate {
        Rate {
            requests: NonZeroU32::MIN.saturating_add(requests.saturating_sub(1)),
            per,
        }
    }

    /// Turns a pace, in requests per second, into a rate as people would write it: per ten seconds
    /// if it is fast, per ten minutes if it is slow, else per minute. The rate is rounded down, by
    /// at most a hundredth unless it is very slow, and never to zero.
    pub fn of_pace(requests_a_second: f64) -> Rate {
        let seconds = match requests_a_second {
            fast if fast >= 10.0 => 10,
            slow if slow < 1.5 => 600,
            _ => 60,
        };
        // Gives back what floating-point errors took from a whole number.
        let requests = requests_a_second * seconds as f64 + 1e-6;
        // The cast saturates: a value that is too large becomes the maximum, NaN becomes 0.
        Rate::over(requests as u32, Duration::from_secs(seconds))
    }

    /// Requests a second.
    pub const fn pace(&self) -> f64 {
        self.requests.get() as f64 / self.per.as_secs_f64()
    }

    /// The shortest time that this many requests take.
    pub fn time_for(&self, requests: u64) -> Duration {
        self.per
            .mul_f64(requests as f64 / f64::from(self.requests.get()))
    }
}

impl FromStr for Rate {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().starts_with(['-', '0']) && !text.contains(['.', ',']) {
            return parse(text).ok_or("it must be more than 0, such as `20/s`");
        }
        parse(text).ok_or(
            "write requests per time span, such as `20/s`, `100/min`, `20/10s` or `0.5/s`; the span is at most a day",
        )
    }
}

fn parse(text: &str) -> Option<Rate> {
    let (requests, unit) = text.trim().split_once('/')?;
    let per = span(unit.trim())?;
    let is_plain = |c: char| c.is_ascii_digit() || c == '.';
    let requests: f64 = requests
        .trim()
        .parse()
        .ok()
        .filter(|_| requests.trim().chars().all(is_plain))?;
    // A fraction is the same rate over a longer period: 0.5/s is 1/2s, 2.5/s is 5/2s.
    let scale = (1..=10_000u32).find(|scale| {
        let scaled = requests * f64::from(*scale);
        scaled >= 1.0 && (scaled - scaled.round()).abs() < 1e-9
    })?;
    let scaled = (requests * f64::from(scale)).round();
    let per = per.checked_mul(scale)?;
    if scaled > MAX_REQUESTS {
        return None;
    }
    Some(Rate {
        // The cast is exact: a whole number from 1 to a million.
        requests: NonZeroU32::new(scaled as u32)?,
        per,
    })
}

/// `s`, `10s`, `min`, `2 hours`: a period of at most a day.
fn span(text: &str) -> Option<Duration> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (count, unit) = text.split_at(digits);
    let count: u32 = match count {
        "" => 1,
        count => count.parse().ok()?,
    };
    let unit = match unit.trim() {
        "ms" => Duration::from_millis(1),
        "s" | "sec" | "second" | "seconds" => Duration::from_secs(1),
        "m" | "min" | "minute" | "minutes" => Duration::from_secs(60),
        "h" | "hour" | "hours" => Duration::from_secs(3600),
        "d" | "day" | "days" => LONGEST,
        _ => return None,
    };
    let span = unit.checked_mul(count)?;
    (!span.is_zero() && span <= LONGEST).then_some(span)
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.per.as_millis();
        let (count, unit) = match millis {
            _ if millis.is_multiple_of(3_600_000) => (millis / 3_600_000, "h"),
            _ if millis.is_multiple_of(60_000) => (millis / 60_000, "min"),
            _ if millis.is_multiple_of(1000) => (millis / 1000, "s"),
            _ => (millis, "ms"),
        };
        match count {
            1 => write!(f, "{}/{unit}", self.requests),
            _ => write!(f, "{}/{count}{unit}", self.requests),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_people_write_them() {
        for (text, requests, millis, shown) in [
            ("20/s", 20, 1000, "20/s"),
            ("100/min", 100, 60_000, "100/min"),
            (" 20 / 10s ", 20, 10_000, "20/10s"),
            ("0.5/s", 1, 2000, "1/2s"),
            ("2.5/s", 5, 2000, "5/2s"),
            ("0.1/min", 1, 600_000, "1/10min"),
            ("1000/hour", 1000, 3_600_000, "1000/h"),
            ("5000/day", 5000, 86_400_000, "5000/24h"),
            ("1/250ms", 1, 250, "1/250ms"),
        ] {
            let rate: Rate = text.parse().unwrap();
            assert_eq!(rate.requests.get(), requests, "{text}");
            assert_eq!(rate.per.as_millis(), millis, "{text}");
            assert_eq!(rate.to_string(), shown);
        }
    }

    #[test]
    fn a_pace_becomes_a_rate_close_to_it_and_never_above() {
        for (pace, shown) in [
            (100.0 / 60.0, "100/min"),
            (10.0, "100/10s"),
            (93.27, "932/10s"),
            (0.5, "300/10min"),
            (1.0 / 60.0, "10/10min"),
            (0.0, "1/10min"),
        ] {
            assert_eq!(Rate::of_pace(pace).to_string(), shown);
        }
        for pace in (100..20_000).map(|pace| f64::from(pace) / 100.0) {
            let told = Rate::of_pace(pace).pace();
            assert!(told <= pace + 1e-6 && told >= pace * 0.988, "{pace}");
        }
    }

    #[test]
    fn a_pace_says_why_it_is_believed_in() {
        use PaceSource::{Found, Given, Most, Stated, Trying};
        for (rate, source, shown) in [
            ("20/s", Given, "20/s, as set"),
            ("1/250ms", Given, "about 4/s, as set"),
            ("100/min", Stated, "100/min, as the service states"),
            ("40/1495ms", Stated, "about 26.8/s, as the service states"),
            ("576/min", Found, "about 9.6/s, found by trying"),
            ("590/10min", Found, "about 59/min, found by trying"),
            (
                "100/min",
                Trying,
                "about 100/min, trying how much is allowed",
            ),
            ("100/10s", Most, "10/s, the most that is tried"),
        ] {
            let rate: Rate = rate.parse().unwrap();
            assert_eq!(Pace { rate, source }.to_string(), shown);
        }
    }

    #[test]
    fn malformed_rates_are_refused() {
        for text in [
            "",
            "20",
            "0/s",
            "-5/s",
            "10/fortnight",
            "1e9/s",
            "inf/s",
            "nan/s",
            "1/0s",
            "/s",
            "5/",
            "5/2days",
            "2000000/s",
            "0.00001/s",
        ] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }
}
