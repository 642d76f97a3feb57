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
    let factor = 1u32 << failures.saturating_sub(1).min(31);
    FIRST.saturating_mul(factor).min(LONGEST).mul_f64(chance)
}

/// The same, but at least half of the longest possible wait: a service that is down or refuses
/// requests must not be tried again at once.
pub fn long_delay(failures: u32, chance: f64) -> Duration {
    delay(failures, 0.5 + chance / 2.0)
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
}
