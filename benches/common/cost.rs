//! What work costs: time, and time of the processor.

use std::fs;
use std::time::{Duration, Instant};

/// What something takes.
#[derive(Clone, Copy)]
pub struct Cost {
    /// From beginning to end.
    pub took: Duration,
    /// Of the processor, in user and system mode; only Linux tells.
    pub worked: Option<Duration>,
}

impl Cost {
    /// What the work of this process costs; `worked` says which.
    pub fn of(worked: fn() -> Option<Duration>, work: impl FnOnce()) -> Cost {
        let before = worked();
        let began = Instant::now();
        work();
        Cost {
            took: began.elapsed(),
            worked: worked().zip(before).map(|(after, before)| after - before),
        }
    }

    /// The less of each: whatever else the machine does only adds.
    pub fn least(self, other: Cost) -> Cost {
        let worked = self.worked.into_iter().chain(other.worked).min();
        Cost {
            took: self.took.min(other.took),
            worked,
        }
    }

    /// So many things a second.
    pub fn pace(&self, things: usize) -> f64 {
        things as f64 / self.took.as_secs_f64()
    }

    /// Processor time for each of so many things, in microseconds.
    pub fn micros(&self, things: usize) -> Option<f64> {
        Some(self.worked?.as_secs_f64() * 1e6 / things as f64)
    }
}

/// What all children that have ended have had of the processor, in steps of 10 ms.
pub fn by_children() -> Option<Duration> {
    ticks(13)
}

/// What this process has had of the processor, in steps of 10 ms.
pub fn by_this_process() -> Option<Duration> {
    ticks(11)
}

/// Two fields of what Linux tells of this process, counted from behind its name, which may
/// hold anything: user and system time, in hundredths of a second.
fn ticks(first: usize) -> Option<Duration> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    let fields = text.rsplit_once(") ")?.1.split(' ');
    let of_both = fields.skip(first).take(2);
    let ticks: Option<u64> = of_both.map(|field| field.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(10 * ticks?))
}
