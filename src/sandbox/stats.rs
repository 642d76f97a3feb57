//! Counts what the sandbox has done.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

/// Counts since the start. The JSON leaves out `arrivals_us`, which has
/// eight bytes for every request.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    pub connections: u64,
    /// Requests for leads, with any result.
    pub lead_requests: u64,
    /// Requests for the campaign list (each page counts).
    pub campaign_requests: u64,
    /// Requests for the list of leads (each page counts), with any result.
    pub list_requests: u64,
    /// Requests to delete a lead, with any result.
    pub delete_requests: u64,
    pub created: u64,
    pub deleted: u64,
    /// Leads not stored because the campaign has the number, whatever answer was sent.
    pub duplicates_refused: u64,
    /// Answers to requests for leads with a status of 400 or more, by status.
    pub refused: BTreeMap<u16, u64>,
    /// Faults by name. `rule` and `outage` are the scripted ones.
    pub faults: BTreeMap<String, u64>,
    /// The most requests for leads that were unanswered at the same time.
    pub peak_in_flight: u64,
    /// When the head of each request for a lead, for the list of leads, or to delete one arrived,
    /// in microseconds since the start, ascending.
    #[serde(skip)]
    pub arrivals_us: Vec<u64>,
}

impl Stats {
    /// The most requests for leads in any span `[t, t + window)`.
    pub fn max_in_window(&self, window: Duration) -> usize {
        let window = u64::try_from(window.as_micros()).unwrap_or(u64::MAX);
        let starting_at = |(index, start): (usize, &u64)| {
            let rest = &self.arrivals_us[index..];
            rest.partition_point(|arrival| arrival.saturating_sub(*start) < window)
        };
        let spans = self.arrivals_us.iter().enumerate();
        spans.map(starting_at).max().unwrap_or(0)
    }

    pub(super) fn count_fault(&mut self, name: &str) {
        *self.faults.entry(name.to_owned()).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_does_not_include_its_end() {
        let stats = Stats {
            arrivals_us: vec![0, 10, 20, 100, 105, 109, 110],
            ..Stats::default()
        };
        let most = |us| stats.max_in_window(Duration::from_micros(us));
        assert_eq!(most(0), 0);
        assert_eq!(most(1), 1);
        assert_eq!(most(10), 3);
        assert_eq!(most(11), 4);
        assert_eq!(most(1_000), 7);
    }
}
