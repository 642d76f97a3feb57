//! How much the service took, and how fast.
//!
//! Rule: pure; time is passed in. Two measures, as TCP Westwood takes its own from the
//! acknowledgements that come back (Mascolo et al., MobiCom 2001):
//!
//! - a *cycle* runs from one resumption to the next: what was accepted in it, over its
//!   length with the wait at its end. Time in which there was nothing to send is left out;
//! - the most that was accepted within one second lately.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Accepted answers are counted by the tenth of a second.
const SLOT: Duration = Duration::from_millis(100);

const SLOTS_A_SECOND: u64 = 10;

/// What measures of the best are taken over.
const LATELY: Duration = Duration::from_secs(60);

/// And what the best mean is taken over.
const LONG: Duration = Duration::from_secs(300);

const KEPT_SLOTS: u64 = LATELY.as_secs() * SLOTS_A_SECOND;

/// Fewer accepted answers are no evidence of a rate.
pub(super) const EVIDENCE: f64 = 5.0;

/// Up to this many between refusals, twice in a row, show that there is nothing left.
const A_FEW: u32 = 10;

/// This many cycles that took the same are no coincidence: that is the limit, and what was
/// taken before is over.
const REGULAR: usize = 4;

/// The most by which they differ.
const ALIKE: f64 = 1.1;

/// As many are enough: refusals that come by chance, every fifty requests or so, make
/// cycles of any length, and the short ones alone would say that nearly nothing is taken.
pub(super) const ENOUGH: f64 = 50.0;

#[derive(Debug)]
pub(super) struct Delivery {
    origin: Instant,
    /// The number of the slot and the answers in it, oldest first.
    slots: VecDeque<(u64, u32)>,
    cycle_from: Instant,
    /// The part of the cycle in which there was nothing to send.
    idle: Duration,
    last: Instant,
    accepted: u32,
    earlier: VecDeque<(u32, Duration)>,
    means: VecDeque<(Instant, f64)>,
}

impl Delivery {
    pub(super) fn new(now: Instant) -> Delivery {
        Delivery {
            origin: now,
            slots: VecDeque::new(),
            cycle_from: now,
            idle: Duration::ZERO,
            last: now,
            accepted: 0,
            earlier: VecDeque::new(),
            means: VecDeque::new(),
        }
    }

    /// An accepted answer. What passed since the one before beyond `usual` was idleness.
    pub(super) fn accept(&mut self, now: Instant, usual: Duration) {
        self.idle += (now - self.last).saturating_sub(usual);
        self.last = now;
        self.accepted += 1;
        let slot = self.slot(now);
        match self.slots.back_mut() {
            Some((last, count)) if *last == slot => *count += 1,
            _ => self.slots.push_back((slot, 1)),
        }
        while let Some(&(first, _)) = self.slots.front()
            && first + KEPT_SLOTS < slot
        {
            self.slots.pop_front();
        }
    }

    fn slot(&self, now: Instant) -> u64 {
        // The cast is exact for a billion years.
        ((now - self.origin).as_millis() / SLOT.as_millis()) as u64
    }

    /// Whether this cycle or the one before was more than a few requests.
    pub(super) fn flows(&self) -> bool {
        let before = self.earlier.back().map_or(0, |(accepted, _)| *accepted);
        self.accepted.max(before) >= A_FEW
    }

    /// Accepted a second in this cycle, if it ends at `now`. A cycle with little in it is
    /// taken together with as much as it takes of the ones before; none if that is less
    /// than `evidence`.
    pub(super) fn mean(&self, evidence: f64, now: Instant) -> Option<f64> {
        let mut accepted = f64::from(self.accepted);
        let mut seconds = self.length(now).as_secs_f64();
        for (earlier, length) in self.earlier.iter().rev() {
            let share = ((ENOUGH - accepted) / f64::from(*earlier)).clamp(0.0, 1.0);
            accepted += f64::from(*earlier) * share;
            seconds += length.as_secs_f64() * share;
        }
        // A cycle of no time at all says nothing of a rate.
        (accepted >= evidence - 0.5).then(|| accepted / seconds.max(0.001))
    }

    pub(super) fn best(&self, now: Instant) -> f64 {
        let recent = self.means.iter().filter(|(ended, _)| *ended + LONG > now);
        recent.map(|(_, mean)| *mean).fold(0.0, f64::max)
    }

    fn length(&self, now: Instant) -> Duration {
        (now - self.cycle_from).saturating_sub(self.idle)
    }

    /// The most accepted within one second lately.
    pub(super) fn peak(&self, now: Instant) -> u32 {
        let oldest = self.slot(now).saturating_sub(KEPT_SLOTS);
        let recent = self.slots.iter().filter(|(slot, _)| *slot >= oldest);
        let (mut most, mut sum) = (0, 0);
        let mut second = VecDeque::new();
        for &(slot, count) in recent {
            second.push_back((slot, count));
            sum += count;
            while let Some(&(first, count)) = second.front()
                && first + SLOTS_A_SECOND <= slot
            {
                second.pop_front();
                sum -= count;
            }
            most = most.max(sum);
        }
        most
    }

    pub(super) fn next_cycle(&mut self, now: Instant) {
        if let Some(mean) = self.mean(EVIDENCE, now) {
            self.means.push_back((now, mean));
        }
        while let Some((ended, _)) = self.means.front()
            && *ended + LONG <= now
        {
            self.means.pop_front();
        }
        if self.accepted > 0 {
            self.earlier.push_back((self.accepted, self.length(now)));
        }
        self.forget_what_is_over(now);
        // Each has one at least.
        while self.earlier.len() > ENOUGH as usize {
            self.earlier.pop_front();
        }
        self.cycle_from = now;
        self.idle = Duration::ZERO;
        self.accepted = 0;
    }

    /// Where a service takes the same between refusals again and again, its limit is
    /// another one now, and the best of before would only be refused. Refusals that come
    /// by chance make cycles of any length.
    fn forget_what_is_over(&mut self, now: Instant) {
        let last = self.earlier.iter().rev().take(REGULAR);
        let counts: Vec<u32> = last.clone().map(|(accepted, _)| *accepted).collect();
        let least = counts.iter().copied().min().unwrap_or_default();
        let most = counts.iter().copied().max().unwrap_or_default();
        let is_regular = counts.len() == REGULAR
            && least >= A_FEW
            && f64::from(most) <= f64::from(least) * ALIKE;
        if !is_regular {
            return;
        }
        let long = last.map(|(_, length)| *length).sum();
        let from = now.checked_sub(long).unwrap_or(self.origin);
        let first = self.slot(from.max(self.origin));
        self.slots.retain(|(slot, _)| *slot > first);
        self.means.retain(|(ended, _)| *ended > from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(origin: Instant, millis: u64) -> Instant {
        origin + Duration::from_millis(millis)
    }

    #[test]
    fn the_wait_at_its_end_belongs_to_a_cycle() {
        let origin = Instant::now();
        let mut delivery = Delivery::new(origin);
        for i in 1..=100 {
            delivery.accept(at(origin, i * 5), Duration::from_secs(2));
        }
        assert_eq!(delivery.mean(EVIDENCE, at(origin, 2000)), Some(50.0));
    }

    #[test]
    fn a_cycle_with_little_in_it_is_taken_together_with_the_one_before() {
        let origin = Instant::now();
        let mut delivery = Delivery::new(origin);
        delivery.accept(at(origin, 100), Duration::MAX);
        assert_eq!(delivery.mean(EVIDENCE, at(origin, 1000)), None);
        for i in 0..9 {
            delivery.accept(at(origin, 1000 + i), Duration::MAX);
        }
        delivery.next_cycle(at(origin, 2000));
        delivery.accept(at(origin, 2500), Duration::MAX);
        assert_eq!(delivery.mean(EVIDENCE, at(origin, 4000)), Some(11.0 / 4.0));
        for i in 0..7 {
            delivery.accept(at(origin, 4000 + i), Duration::MAX);
        }
        assert_eq!(delivery.mean(EVIDENCE, at(origin, 6000)), Some(18.0 / 6.0));
    }

    #[test]
    fn cycles_that_took_the_same_again_and_again_are_all_that_counts() {
        let origin = Instant::now();
        let mut delivery = Delivery::new(origin);
        let mut cycle = |from: u64, accepted: u64| {
            for i in 0..accepted {
                delivery.accept(at(origin, from + i * 10), Duration::MAX);
            }
            delivery.next_cycle(at(origin, from + 2000));
            (
                delivery.best(at(origin, from + 2000)),
                delivery.peak(at(origin, from + 2000)),
            )
        };
        assert_eq!(cycle(0, 100), (50.0, 100));
        for (round, accepted) in [50, 51, 49, 70, 50, 51, 50].into_iter().enumerate() {
            assert_eq!(cycle(2000 + round as u64 * 2000, accepted), (50.0, 100));
        }
        assert_eq!(cycle(16_000, 51), (25.5, 51));
    }

    #[test]
    fn time_without_anything_to_send_does_not_belong_to_it() {
        let origin = Instant::now();
        let mut delivery = Delivery::new(origin);
        for i in 1..=5 {
            delivery.accept(at(origin, i * 100), Duration::from_secs(2));
        }
        delivery.accept(at(origin, 600_000), Duration::from_secs(2));
        assert_eq!(delivery.mean(EVIDENCE, at(origin, 600_500)), Some(2.0));
    }

    #[test]
    fn the_peak_is_the_fullest_second_of_the_last_ones() {
        let origin = Instant::now();
        let mut delivery = Delivery::new(origin);
        for i in 0..50 {
            delivery.accept(at(origin, 550 + i * 10), Duration::from_secs(2));
        }
        for i in 0..20 {
            delivery.accept(at(origin, 5000 + i * 100), Duration::from_secs(2));
        }
        assert_eq!(delivery.peak(at(origin, 7000)), 50);
        assert_eq!(delivery.peak(at(origin, 63_000)), 10);
        assert_eq!(delivery.peak(at(origin, 90_000)), 0);
    }
}
