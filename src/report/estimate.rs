//! How long it would take to send what is ready.

use std::time::Duration;

use super::summary::seconds;
use crate::rate::{KnownRate, Rate};

/// A span of time, or the two that it lies between where the pace is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    /// The least time.
    pub least: Duration,
    /// The most.
    pub most: Duration,
    basis: Basis,
}

/// What the time was worked out from.
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
    /// The time for so many leads within limits; none without any.
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

    /// The time where nobody has said what is allowed.
    pub fn between(slowest: Rate, fastest: Rate, leads: u64) -> Estimate {
        Estimate {
            least: fastest.time_for(leads),
            most: slowest.time_for(leads),
            basis: Basis::Between(slowest, fastest),
        }
    }

    /// In a sentence.
    pub(super) fn text(&self) -> String {
        format!("Sending them takes {}.", self.words())
    }

    /// In words.
    pub(super) fn words(&self) -> String {
        let span = |time: Duration| seconds(time.as_secs_f64());
        match self.basis {
            Basis::Given(rate) => format!("{} or longer at {rate}", span(self.least)),
            Basis::LastTime(KnownRate { rate, is_stated }) => format!(
                "{} at {rate}, the {}",
                span(self.least),
                match is_stated {
                    true => "limit that the service stated last time",
                    false => "pace that the service took last time",
                }
            ),
            Basis::Between(slowest, fastest) => format!(
                "{} at {fastest}, {} at {slowest}: say with --rate what the service allows",
                span(self.least),
                span(self.most)
            ),
        }
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
            estimate.text(),
            "Sending them takes 2 min 0 s or longer at 100/min."
        );
        assert_eq!(Estimate::within(&[], 200), None);
    }

    #[test]
    fn an_unknown_pace_gives_a_range() {
        let estimate = Estimate::between(Rate::per_minute(100), Rate::per_second(10), 10_000);
        assert_eq!(
            estimate.text(),
            "Sending them takes 16 min 40 s at 10/s, 1 h 40 min at 100/min: say with --rate what the service allows."
        );
    }

    #[test]
    fn the_pace_of_last_time_gives_one_time() {
        for (is_stated, said) in [
            (false, "pace that the service took"),
            (true, "limit that the service stated"),
        ] {
            let rate = Rate::per_minute(300);
            let estimate = Estimate::as_last_time(KnownRate { rate, is_stated }, 10_000);
            assert_eq!(estimate.least, estimate.most);
            assert_eq!(
                estimate.text(),
                format!("Sending them takes 33 min 20 s at 300/min, the {said} last time.")
            );
        }
    }
}
