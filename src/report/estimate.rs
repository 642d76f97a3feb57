//! How long it would take to send what is ready.

use std::time::Duration;

use crate::rate::{KnownRate, Rate};
use crate::text::counted;

/// A span of time, or the two that it lies between where the pace is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    pub least: Duration,
    pub most: Duration,
    basis: Basis,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Basis {
    /// Limits that were given, of which this one decides.
    Given(Rate),
    /// The pace that the service took last.
    LastTime(KnownRate),
    /// Two paces that the true one lies between, slowest first.
    Between(Rate, Rate),
}

impl Estimate {
    /// The time for this many leads within limits; none without any.
    pub fn within(rates: &[Rate], leads: u64) -> Option<Estimate> {
        let slowest = rates.iter().max_by_key(|rate| rate.time_for(leads))?;
        let time = slowest.time_for(leads);
        Some(Estimate {
            least: time,
            most: time,
            basis: Basis::Given(*slowest),
        })
    }

    /// The time if the service takes as much as it did last.
    pub fn as_last_time(known: KnownRate, leads: u64) -> Estimate {
        let time = known.rate.time_for(leads);
        Estimate {
            least: time,
            most: time,
            basis: Basis::LastTime(known),
        }
    }

    /// The time where the limit is not known.
    pub fn between(slowest: Rate, fastest: Rate, leads: u64) -> Estimate {
        Estimate {
            least: fastest.time_for(leads),
            most: slowest.time_for(leads),
            basis: Basis::Between(slowest, fastest),
        }
    }

    pub(super) fn text(&self) -> String {
        format!("Sending them takes {}.", self.words())
    }

    pub(super) fn words(&self) -> String {
        let time = about(self.most);
        match self.basis {
            Basis::Given(rate) => format!("about {time} at {rate}, if the service keeps up"),
            Basis::LastTime(KnownRate {
                rate,
                is_stated: true,
            }) => format!("about {time} at the limit that this service stated last time ({rate})"),
            Basis::LastTime(KnownRate { rate, .. }) => {
                format!("about {time} at the pace that this service took last time ({rate})")
            }
            Basis::Between(..) if about(self.least) == time => format!("about {time}"),
            Basis::Between(slowest, fastest) => format!(
                "between {} ({fastest}) and {time} ({slowest}), since the service's limit is not known (--rate)",
                about(self.least)
            ),
        }
    }
}

/// A time as people say it, rounded up.
fn about(time: Duration) -> String {
    let seconds = time.as_secs_f64().ceil() as u64;
    let (minutes, hours) = (seconds.div_ceil(60), seconds.div_ceil(3600));
    match seconds {
        0..=1 => "a second".to_owned(),
        2..=90 => counted(seconds, "second"),
        91..=5400 => counted(minutes, "minute"),
        5401..=172_800 if minutes % 60 == 0 => counted(minutes / 60, "hour"),
        5401..=172_800 => format!(
            "{} {}",
            counted(minutes / 60, "hour"),
            counted(minutes % 60, "minute")
        ),
        _ => counted(hours.div_ceil(24), "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_said_as_people_say_it() {
        for (seconds, said) in [
            (0.2, "a second"),
            (12.0, "12 seconds"),
            (91.0, "2 minutes"),
            (5400.0, "90 minutes"),
            (7200.0, "2 hours"),
            (7261.0, "2 hours 2 minutes"),
            (200_000.0, "3 days"),
        ] {
            assert_eq!(about(Duration::from_secs_f64(seconds)), said);
        }
    }

    #[test]
    fn the_slowest_limit_decides() {
        let rates = [Rate::per_second(20), Rate::per_minute(100)];
        let estimate = Estimate::within(&rates, 200).unwrap();
        assert_eq!(estimate.least, Duration::from_secs(120));
        assert_eq!(
            estimate.text(),
            "Sending them takes about 2 minutes at 100/min, if the service keeps up."
        );
        assert_eq!(Estimate::within(&[], 200), None);
    }

    #[test]
    fn an_unknown_pace_gives_a_range() {
        let estimate = Estimate::between(Rate::per_minute(100), Rate::per_second(10), 10_000);
        assert_eq!(
            estimate.text(),
            "Sending them takes between 17 minutes (10/s) and 1 hour 40 minutes (100/min), since the service's limit is not known (--rate)."
        );
        let one = Estimate::between(Rate::per_minute(100), Rate::per_second(10), 1);
        assert_eq!(one.text(), "Sending them takes about a second.");
    }

    #[test]
    fn the_pace_of_last_time_gives_one_time() {
        for (is_stated, said) in [
            (false, "pace that this service took"),
            (true, "limit that this service stated"),
        ] {
            let rate = Rate::per_minute(300);
            let estimate = Estimate::as_last_time(KnownRate { rate, is_stated }, 10_000);
            assert_eq!(estimate.least, estimate.most);
            assert_eq!(
                estimate.text(),
                format!("Sending them takes about 34 minutes at the {said} last time (300/min).")
            );
        }
    }
}
