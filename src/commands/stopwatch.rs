//! How long a command has worked.
//!
//! Rule: waiting for an answer or for another run is not counted. `--max-duration` counts it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Runs except while waiting. Clones share the time.
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

    /// Does not count the time of `wait`.
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
