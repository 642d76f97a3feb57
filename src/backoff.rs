//! How long to wait before trying again: exponential backoff with full jitter.
//!
//! Rule: pure; chance is handed in. The wait before the n-th further attempt is
//! drawn evenly from zero to `first × 2ⁿ⁻¹`, capped: of the published variants,
//! the one with the least work and the fewest collisions ("Exponential Backoff
//! And Jitter", AWS Architecture Blog, 2015).

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The longest wait after the first failure.
    pub first: Duration,
    /// The longest wait after any.
    pub cap: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff {
            first: Duration::from_secs(1),
            cap: Duration::from_secs(60),
        }
    }
}

impl Backoff {
    /// The wait after `failures` failures; `chance` is drawn from 0 to 1.
    pub fn delay(&self, failures: u32, chance: f64) -> Duration {
        self.longest(failures).mul_f64(chance.clamp(0.0, 1.0))
    }

    fn longest(&self, failures: u32) -> Duration {
        let factor = 1u32 << failures.saturating_sub(1).min(31);
        self.first.saturating_mul(factor).min(self.cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_doubles_up_to_the_cap() {
        let seconds: Vec<u64> = (1..=9)
            .map(|failures| Backoff::default().delay(failures, 1.0).as_secs())
            .collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(
            Backoff::default().delay(u32::MAX, 1.0),
            Duration::from_secs(60)
        );
    }

    #[test]
    fn the_whole_range_down_to_zero_is_used() {
        let backoff = Backoff::default();
        assert_eq!(backoff.delay(3, 0.0), Duration::ZERO);
        assert_eq!(backoff.delay(3, 0.5), Duration::from_secs(2));
    }
}
