//! How long it would take to send the ready rows.

use std::time::Duration;

use super::time_left::rounded;
use crate::message::Text;
use crate::rate::{KnownRate, Pace, PaceSource, Rate};

/// If the longest time is at most this, no range is given.
const SHORT: Duration = Duration::from_secs(5);

/// A time; or the least and the most time, if the rate is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    pub least: Duration,
    pub most: Duration,
    pub(super) words: Text,
}

impl Estimate {
    /// The time for this many leads within the limits; `None` without limits.
    pub fn within(rates: &[Rate], leads: u64) -> Option<Estimate> {
        let slowest = rates.iter().max_by_key(|rate| rate.time_for(leads))?;
        let pace = Pace {
            rate: *slowest,
            source: PaceSource::Given,
        };
        let basis = format!("at {pace}, if the service keeps up");
        Some(Estimate::at(*slowest, leads, &basis))
    }

    /// The time at the rate that the service accepted last time.
    pub fn as_last_time(known: KnownRate, leads: u64) -> Estimate {
        let KnownRate {
            mut rate,
            is_stated,
        } = known;
        if rate.per.subsec_nanos() > 0 {
            rate = Rate::of_pace(rate.pace());
        }
        let found = Pace {
            rate,
            source: PaceSource::Found,
        };
        let basis = match is_stated {
            true => format!("at {rate}, as the service stated last time"),
            false => format!("at {found} last time"),
        };
        Estimate::at(rate, leads, &basis)
    }

    fn at(rate: Rate, leads: u64, basis: &str) -> Estimate {
        let time = rate.time_for(leads);
        Estimate {
            least: time,
            most: time,
            words: text!("about {time}{ {basis}|}", time = rounded(time), basis),
        }
    }

    /// The time if the limit is not known.
    pub fn between(slowest: Rate, fastest: Rate, leads: u64) -> Estimate {
        let (least, most) = (fastest.time_for(leads), slowest.time_for(leads));
        let words = match (rounded(least), rounded(most)) {
            (_, said) if most <= SHORT => text!("about {said}", said),
            (least, most) if least == most => text!("about {most}", most),
            (least, most) => text!(
                "between {least}{ ({fastest})|} and {most}{ ({slowest}), since the service's limit is not known (--rate)|}",
                least,
                most,
                fastest = fastest.to_string(),
                slowest = slowest.to_string()
            ),
        };
        Estimate { least, most, words }
    }

    /// The time in a sentence.
    pub(super) fn text(&self) -> Text {
        text!("Sending them takes {time}.", time = self.words.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_limit_decides() {
        let rates = [Rate::per_second(20), Rate::per_minute(100)];
        let estimate = Estimate::within(&rates, 200).unwrap();
        assert_eq!(estimate.least, Duration::from_secs(120));
        assert_eq!(
            estimate.text().to_string(),
            "Sending them takes about 2 min at 100/min, as set, if the service keeps up."
        );
        assert_eq!(Estimate::within(&[], 200), None);
    }

    #[test]
    fn an_unknown_pace_gives_a_range() {
        let estimate = Estimate::between(Rate::per_minute(100), Rate::per_second(10), 10_000);
        assert_eq!(
            estimate.text().to_string(),
            "Sending them takes between 17 min (10/s) and 1 h 40 min (100/min), since the service's limit is not known (--rate)."
        );
        let one = Estimate::between(Rate::per_minute(100), Rate::per_second(10), 1);
        assert_eq!(one.text().to_string(), "Sending them takes about 1 s.");
        let few = Estimate::between(Rate::per_minute(100), Rate::per_second(10), 3);
        assert_eq!(few.text().to_string(), "Sending them takes about 2 s.");
        let more = Estimate::between(Rate::per_minute(100), Rate::per_second(10), 8);
        assert_eq!(more.text().to_string(), "Sending them takes about 5 s.");
    }

    #[test]
    fn a_known_pace_gives_one_estimate() {
        for (is_stated, said) in [
            (false, "at about 5/s, found by trying last time"),
            (true, "at 300/min, as the service stated last time"),
        ] {
            let rate = Rate::per_minute(300);
            let estimate = Estimate::as_last_time(KnownRate { rate, is_stated }, 10_000);
            assert_eq!(estimate.least, estimate.most);
            assert_eq!(
                estimate.text().to_string(),
                format!("Sending them takes about 34 min {said}.")
            );
        }
    }
}
