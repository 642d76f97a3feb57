//! The right of a process to start requests, where several machines share a ledger.
//!
//! It ends by itself unless it is renewed, so a process that was cut off stops by itself: it
//! starts nothing later than the lease's length after it last asked for the renewal, less a
//! [`MARGIN`]. How much time has passed is the larger of what two clocks say. A monotonic clock
//! may stand still while a computer sleeps, and a clock of the day may be set back.
//!
//! One thread renews ([`Lease::renewed`]), another one asks before each request
//! ([`Lease::permits`]).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use super::entry::SenderId;
use crate::clock::{self, monotonic};

/// For what differs between clocks, and for the time between the question and the request.
pub const MARGIN: Duration = Duration::from_millis(500);

/// A moment by two clocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    monotonic: Duration,
    of_day: SystemTime,
}

#[derive(Debug, Clone)]
pub struct Lease(Option<Arc<Mutex<Term>>>);

#[derive(Debug)]
struct Term {
    /// The latest lease, and when its last renewal was asked for.
    sender: SenderId,
    asked: Moment,
    length: Duration,
    /// Since when the ledger has been out of reach: nothing starts then.
    away_since: Option<Timestamp>,
    /// How the run is ending, if it is.
    ends: Option<ShutdownPhase>,
}

/// How long a run that ends still waits for a ledger that is out of reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ShutdownPhase {
    Soon,
    AtOnce,
}

impl Moment {
    pub(super) fn now() -> Moment {
        Moment {
            monotonic: monotonic(),
            of_day: SystemTime::now(),
        }
    }

    pub(super) fn is_older_than(self, age: Duration) -> bool {
        Moment::now().since(self) >= age
    }

    fn since(self, earlier: Moment) -> Duration {
        let of_day = self.of_day.duration_since(earlier.of_day);
        let monotonic = self.monotonic.saturating_sub(earlier.monotonic);
        monotonic.max(of_day.unwrap_or_default())
    }
}

impl Lease {
    /// For a ledger that a lock of the operating system protects.
    pub fn unlimited() -> Lease {
        Lease(None)
    }

    /// The lease that was granted for this long when it was asked for.
    pub(super) fn granted(sender: SenderId, length: Duration, asked: Moment) -> Lease {
        Lease(Some(Arc::new(Mutex::new(Term {
            sender,
            asked,
            length,
            away_since: None,
            ends: None,
        }))))
    }

    /// The lease under which a request may start now; `None` if none may.
    pub fn permits(&self) -> Option<SenderId> {
        match self.term() {
            None => Some(SenderId::default()),
            Some(term) => term.permits(Moment::now()).then_some(term.sender),
        }
    }

    /// Records that the lease was renewed, or that there is a new one.
    pub(super) fn renewed(&self, sender: SenderId, asked: Moment) {
        if let Some(mut term) = self.term() {
            (term.sender, term.asked) = (sender, asked);
            term.away_since = None;
        }
    }

    /// Records that the ledger is out of reach.
    pub(super) fn lost_touch(&self) {
        if let Some(mut term) = self.term() {
            term.away_since.get_or_insert_with(clock::now);
        }
    }

    /// Records that the ledger is in reach.
    pub(super) fn in_touch(&self) {
        if let Some(mut term) = self.term() {
            term.away_since = None;
        }
    }

    /// Since when the ledger has been out of reach; `None` if it is in reach.
    pub fn away_since(&self) -> Option<Timestamp> {
        self.term()?.away_since
    }

    /// Records that the run is ending: the ledger is not waited for much longer, or not at all.
    pub fn end(&self, at_once: bool) {
        let ends = if at_once {
            ShutdownPhase::AtOnce
        } else {
            ShutdownPhase::Soon
        };
        if let Some(mut term) = self.term() {
            term.ends = term.ends.max(Some(ends));
        }
    }

    pub(super) fn ends(&self) -> Option<ShutdownPhase> {
        self.term()?.ends
    }

    fn term(&self) -> Option<MutexGuard<'_, Term>> {
        let term = self.0.as_ref()?;
        Some(term.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Term {
    fn permits(&self, now: Moment) -> bool {
        self.away_since.is_none() && now.since(self.asked) + MARGIN < self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Duration = Duration::from_secs(10);

    fn at(monotonic: u64, of_day: u64) -> Moment {
        Moment {
            monotonic: Duration::from_millis(monotonic),
            of_day: SystemTime::UNIX_EPOCH + Duration::from_millis(1_000_000 + of_day),
        }
    }

    fn term() -> Term {
        Term {
            sender: SenderId::default(),
            asked: at(5_000, 5_000),
            length: LENGTH,
            away_since: None,
            ends: None,
        }
    }

    #[test]
    fn nothing_starts_after_the_lease_less_its_margin() {
        assert!(term().permits(at(5_000, 5_000)));
        assert!(term().permits(at(14_499, 14_499)));
        assert!(!term().permits(at(14_500, 14_500)));
    }

    #[test]
    fn the_clock_that_says_more_has_passed_counts() {
        assert!(!term().permits(at(5_001, 60_000)));
        assert!(!term().permits(at(60_000, 5_001)));
    }

    #[test]
    fn a_clock_that_was_set_back_prolongs_nothing() {
        assert!(term().permits(at(6_000, 0)));
        assert!(!term().permits(at(15_000, 0)));
    }

    #[test]
    fn nothing_starts_while_the_ledger_is_out_of_reach() {
        let lease = Lease::granted(SenderId::default(), LENGTH, Moment::now());
        assert!(lease.permits().is_some());
        lease.lost_touch();
        assert_eq!(lease.permits(), None);
        assert!(lease.away_since().is_some());
        lease.in_touch();
        assert!(lease.permits().is_some());
    }
}
