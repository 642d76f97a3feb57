//! The time of day, and time that passes while the computer sleeps, too.
//!
//! [`Instant`] and Tokio's timers stand still meanwhile on Linux and macOS: what waits for them
//! alone goes on in the morning as if there had been no night.

use std::future;
use std::sync::OnceLock;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, sleep_until};

use crate::simulation;

/// How often to look whether the computer has slept.
pub const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The time of day. Somebody may set this clock at any moment.
pub fn now() -> Timestamp {
    simulation::current().map_or_else(Timestamp::now, |computer| computer.time_of_day())
}

/// How much of the time that the computer sleeps was counted.
#[derive(Debug, Clone, Copy)]
pub struct Slept {
    counted: Duration,
}

impl Default for Slept {
    /// What was slept before does not count.
    fn default() -> Slept {
        Slept { counted: slept() }
    }
}

impl Slept {
    /// Brings moments to come nearer by the time that the computer has slept since the last call.
    pub fn bring_nearer<const N: usize>(&mut self, to_come: [&mut Option<Instant>; N]) {
        let more = slept().saturating_sub(self.counted);
        self.counted += more;
        let now = Instant::now();
        for at in to_come.into_iter().flatten() {
            let nearer = at.checked_sub(more).unwrap_or(now).max(now);
            *at = nearer.min(*at);
        }
    }

    /// Waits until this moment, which is brought nearer meanwhile. It is never reached if there is
    /// none. Nothing is lost if the future is dropped.
    pub async fn reach(&mut self, moment: &mut Option<Instant>) {
        loop {
            self.bring_nearer([&mut *moment]);
            let Some(at) = *moment else {
                return future::pending().await;
            };
            let now = Instant::now();
            if at <= now {
                return;
            }
            sleep_until(at.min(now + LOOK_AGAIN)).await;
        }
    }
}

/// Waits this long. Time in which the computer sleeps is part of it.
pub async fn wait(time: Duration) {
    let mut end = Instant::now().checked_add(time);
    Slept::default().reach(&mut end).await;
}

/// How long the computer has slept since this was first asked. In whole seconds, rounded, since two
/// clocks are never read at the same moment.
fn slept() -> Duration {
    if simulation::is_on() {
        return Duration::ZERO;
    }
    static ORIGIN: OnceLock<(Duration, std::time::Instant)> = OnceLock::new();
    let (all, awake) = ORIGIN.get_or_init(|| (monotonic(), std::time::Instant::now()));
    let now = monotonic();
    #[cfg(test)]
    let now = now + testing::SLEPT.get();
    let slept = now.saturating_sub(*all + awake.elapsed());
    Duration::from_secs((slept + Duration::from_millis(500)).as_secs())
}

/// Counts the time that the computer sleeps too. Nobody can set this clock.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub fn monotonic() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    // On macOS the clock that does not stand still has this name.
    #[cfg(target_os = "macos")]
    const CLOCK: ClockId = ClockId::Monotonic;
    #[cfg(target_os = "linux")]
    const CLOCK: ClockId = ClockId::Boottime;
    let now = clock_gettime(CLOCK);
    let (seconds, nanos) = (now.tv_sec.cast_unsigned(), now.tv_nsec.cast_unsigned());
    Duration::from_secs(seconds) + Duration::from_nanos(nanos)
}

/// The clock of Windows counts it by itself.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn monotonic() -> Duration {
    static ORIGIN: OnceLock<std::time::Instant> = OnceLock::new();
    ORIGIN.get_or_init(std::time::Instant::now).elapsed()
}

#[cfg(test)]
pub(crate) mod testing {
    use std::cell::Cell;
    use std::time::Duration;

    thread_local! {
        pub(super) static SLEPT: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    /// The computer has slept for so long, as this thread sees it.
    pub(crate) fn sleep(time: Duration) {
        SLEPT.set(SLEPT.get() + time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn the_clocks_differ_only_by_sleep() {
        let mut slept = Slept::default();
        let at = Instant::now() + HOUR;
        let mut moment = Some(at);
        slept.bring_nearer([&mut moment]);
        assert_eq!(moment, Some(at));
    }

    #[tokio::test(start_paused = true)]
    async fn a_moment_that_came_during_sleep_is_now_and_one_that_was_over_stays() {
        let mut slept = Slept::default();
        let now = Instant::now();
        tokio::time::advance(HOUR).await;
        let (mut over, mut soon, mut later) =
            (Some(now), Some(now + 2 * HOUR), Some(now + 9 * HOUR));
        testing::sleep(3 * HOUR);
        for _ in 0..2 {
            slept.bring_nearer([&mut over, &mut soon, &mut later]);
            assert_eq!(over, Some(now));
            assert_eq!(soon, Some(now + HOUR));
            assert_eq!(later, Some(now + 6 * HOUR));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_in_time_after_sleep() {
        let began = Instant::now();
        tokio::spawn(async {
            tokio::time::sleep(HOUR).await;
            testing::sleep(4 * HOUR);
        });
        wait(8 * HOUR).await;
        let late = began.elapsed().abs_diff(4 * HOUR);
        assert!(late < Duration::from_millis(10), "{late:?}");
    }
}
