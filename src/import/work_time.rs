//! How long a command has worked, without the time that it has waited for an answer or for
//! another run.

use std::cell::Cell;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct WorkTime {
    pub began: Instant,
    waited: Cell<Duration>,
}

impl WorkTime {
    pub fn start() -> WorkTime {
        WorkTime {
            began: Instant::now(),
            waited: Cell::default(),
        }
    }

    pub fn seconds(&self) -> f64 {
        let worked = self.began.elapsed().saturating_sub(self.waited.get());
        worked.as_secs_f64()
    }

    pub fn has_waited(&self, time: Duration) {
        self.waited.set(self.waited.get() + time);
    }
}
