//! How long to wait before trying again: exponential backoff with full jitter.
//!
//! Rule: pure; the random value is passed in. The wait after the n-th failure is uniformly random
//! between zero and 1, 2, 4, … seconds, but never above a minute. Of the published variants, this
//! one needs the least work and has the fewest collisions ("Exponential Backoff And Jitter", AWS
//! Architecture Blog, 2015).

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// The wait after `failures` failures; `chance` is a random value from 0 to 1.
pub fn delay(failures: u32, chance: f64) -> Duration {
    growing_delay(2.0, failures, chance)
}

/// The wait after `failures` failures, where each longest wait is so many times the last.
fn growing_delay(growth: f64, failures: u32, chance: f64) -> Duration {
    let times = i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX);
    let longest = FIRST.as_secs_f64() * growth.powi(times);
    let longest = longest.min(LONGEST.as_secs_f64());
    Duration::from_secs_f64(longest * chance)
}

/// The wait after `failures` failures, at least half of the longest possible one: a service that is down or refuses
/// requests must not be tried again at once.
pub fn long_delay(failures: u32, chance: f64) -> Duration {
    delay(failures, 0.5 + chance / 2.0)
}

/// The wait after so many refusals in a row that do not say how long. It grows slower: where refusals come
/// by chance, half of them or more, waits that double are without end on average.
pub fn refused_delay(refusals: u32, chance: f64) -> Duration {
    const GROWTH: f64 = 1.3;
    growing_delay(GROWTH, refusals, 0.5 + chance / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_doubles_up_to_the_cap() {
        let seconds: Vec<u64> = (1..=9)
            .map(|failures| delay(failures, 1.0).as_secs())
            .collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(delay(u32::MAX, 1.0), Duration::from_secs(60));
    }

    #[test]
    fn the_whole_range_down_to_zero_is_used() {
        assert_eq!(delay(3, 0.0), Duration::ZERO);
        assert_eq!(delay(3, 0.5), Duration::from_secs(2));
        assert_eq!(long_delay(3, 0.0), Duration::from_secs(2));
    }

    #[test]
    fn waits_for_refusals_by_chance_have_an_end_up_to_seven_of_ten() {
        let waits = |share: f64| -> f64 {
            let waits =
                (1..100).map(|nth| refused_delay(nth, 0.5).as_secs_f64() * share.powf(nth.into()));
            waits.sum()
        };
        assert!(waits(0.5) < 1.5, "{}", waits(0.5));
        assert!(waits(0.7) < 6.0, "{}", waits(0.7));
        assert_eq!(refused_delay(17, 1.0), Duration::from_secs(60));
    }
}
