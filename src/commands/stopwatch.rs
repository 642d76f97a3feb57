//! How long a command has been at work.
//!
//! Rule: what somebody else is waited for, who answers a question or sends another run, is
//! no work. `--max-duration` is about something else: when it has to be over.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Runs from its start on, but for the time that was spent waiting. Clones are one.
#[derive(Debug, Clone)]
pub(super) struct Stopwatch {
    began: Instant,
    waited: Arc<Mutex<Duration>>,
}

impl Stopwatch {
    /// Starts it.
    pub(super) fn start() -> Stopwatch {
        Stopwatch {
            began: Instant::now(),
            waited: Arc::default(),
        }
    }

    /// When it was started.
    pub(super) fn began(&self) -> Instant {
        self.began
    }

    /// Waits for somebody else, and does not count that.
    pub(super) fn pause<T>(&self, wait: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let waited_for = wait();
        *self.waited.lock().unwrap_or_else(PoisonError::into_inner) += began.elapsed();
        waited_for
    }

    /// The seconds of work so far.
    pub(super) fn seconds(&self) -> f64 {
        let waited = *self.waited.lock().unwrap_or_else(PoisonError::into_inner);
        self.began.elapsed().saturating_sub(waited).as_secs_f64()
    }
}
