//! How long a command has worked, without the time that it has waited for an answer or for
//! another run.

use std::cell::Cell;
use std::time::Duration;

use tokio::time::Instant;

use crate::clock::Slept;

#[derive(Debug)]
pub struct WorkTime {
    began: Instant,
    slept: Slept,
    waited: Cell<Duration>,
}

impl WorkTime {
    pub fn start() -> WorkTime {
        WorkTime {
            began: Instant::now(),
            slept: Slept::default(),
            waited: Cell::default(),
        }
    }

    pub fn seconds(&self) -> f64 {
        let worked = self.began.elapsed().saturating_sub(self.waited.get());
        worked.as_secs_f64()
    }

    /// When the command has taken this long, time in which the computer slept included. That never
    /// comes if it is beyond the clock's range.
    pub fn deadline(&self, longest: Option<Duration>) -> Option<Instant> {
        let mut deadline = self.began.checked_add(longest?);
        // A copy: what is slept is counted once for each deadline.
        let mut slept = self.slept;
        slept.bring_nearer([&mut deadline]);
        deadline
    }

    pub fn has_waited(&self, time: Duration) {
        self.waited.set(self.waited.get() + time);
    }
}
