//! How long to wait before trying again: exponential backoff with full jitter.
//!
//! Rule: pure; chance is passed in. The wait before the n-th further attempt is drawn evenly
//! from zero to one, two, four, … seconds, a minute at most: of the published variants, the
//! one with the least work and the fewest collisions ("Exponential Backoff And Jitter", AWS
//! Architecture Blog, 2015).

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// The wait after `failures` failures; `chance` is drawn from 0 to 1.
pub fn delay(failures: u32, chance: f64) -> Duration {
    let factor = 1u32 << failures.saturating_sub(1).min(31);
    FIRST.saturating_mul(factor).min(LONGEST).mul_f64(chance)
}

/// The same, of which at least half is kept: no wait at all would be no answer to a service
/// that is away or refuses.
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
