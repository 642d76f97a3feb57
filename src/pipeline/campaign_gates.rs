//! Which campaigns may be sent to: a gate before each.
//!
//! Rule: pure. The first row of a campaign is its canary: no other of its rows is sent
//! until an answer has been understood (created, duplicate, rejected). If the canary gets
//! none it is tried again, and while it waits the next row takes its place, unless the answer
//! was only to come back later. The gate of a campaign that is refused closes, and its rows
//! are passed over.
//!
//! Rows that wait are kept here as their places in the window. They leave in input order.

use std::collections::{HashMap, VecDeque};

use super::attempt::Job;
use super::window::Slot;
use crate::lead::CampaignId;

#[derive(Debug)]
enum Gate {
    Open,
    Canary(Backlog),
    Closed,
}

/// The rows that wait for a canary.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    /// Whether there is a canary: a row is in flight or about to be.
    is_out: bool,
    /// The canary, if the service only asked it to come back later.
    comes_back: Option<Slot>,
    /// Rows that were tried before, …
    pub(super) jobs: VecDeque<Job>,
    /// … and those that were not.
    pub(super) rows: VecDeque<Slot>,
}

#[derive(Debug)]
pub(super) enum Admission<'g> {
    Go,
    /// The row joins these.
    Wait(&'g mut Backlog),
    Closed,
}

#[derive(Debug, Default)]
pub(super) struct CampaignGates {
    gates: HashMap<CampaignId, Gate>,
    /// Rows that waited and may be claimed now.
    pub(super) free_rows: VecDeque<Slot>,
}

impl CampaignGates {
    pub(super) fn enter(&mut self, campaign: CampaignId, row: Slot) -> Admission<'_> {
        let first = || Gate::Canary(Backlog::default());
        match self.gates.entry(campaign).or_insert_with(first) {
            Gate::Open => Admission::Go,
            Gate::Closed => Admission::Closed,
            Gate::Canary(backlog) if backlog.comes_back == Some(row) => {
                backlog.comes_back = None;
                Admission::Go
            }
            Gate::Canary(backlog) if !backlog.is_out => {
                backlog.is_out = true;
                Admission::Go
            }
            Gate::Canary(backlog) => Admission::Wait(backlog),
        }
    }

    pub(super) fn is_closed(&self, campaign: CampaignId) -> bool {
        matches!(self.gates.get(&campaign), Some(Gate::Closed))
    }

    /// An answer was understood: all rows may go. Returns those that were tried before. A
    /// closed gate stays closed: requests that were in flight then may still be answered.
    pub(super) fn open(&mut self, campaign: CampaignId) -> VecDeque<Job> {
        let Some(Gate::Canary(backlog)) = self.gates.get_mut(&campaign) else {
            return VecDeque::new();
        };
        let Backlog { jobs, rows, .. } = std::mem::take(backlog);
        self.free_rows.extend(rows);
        self.gates.insert(campaign, Gate::Open);
        jobs
    }

    /// The canary brought no answer that can be understood, or its row cannot be sent: the
    /// next row takes its place. Returns that row if it was tried before.
    pub(super) fn pass_on(&mut self, campaign: CampaignId) -> Option<Job> {
        let Some(Gate::Canary(backlog)) = self.gates.get_mut(&campaign) else {
            return None;
        };
        // The next row at the gate takes its place: the one released here, or an earlier one.
        backlog.is_out = false;
        let job = backlog.jobs.pop_front();
        if job.is_none() {
            self.free_rows.extend(backlog.rows.pop_front());
        }
        job
    }

    /// The service asked the canary to come back later: no reason to risk another row.
    pub(super) fn await_return(&mut self, campaign: CampaignId, row: Slot) {
        if let Some(Gate::Canary(backlog)) = self.gates.get_mut(&campaign) {
            backlog.comes_back = Some(row);
        }
    }

    /// The service takes no leads for the campaign. Returns the rows that were not tried.
    pub(super) fn close(&mut self, campaign: CampaignId) -> VecDeque<Slot> {
        match self.gates.insert(campaign, Gate::Closed) {
            Some(Gate::Canary(backlog)) => backlog.rows,
            _ => VecDeque::new(),
        }
    }

    pub(super) fn take_jobs(&mut self, is_meant: impl Fn(CampaignId) -> bool) -> Vec<Job> {
        let meant = self.gates.iter_mut().filter(|(of, _)| is_meant(**of));
        let jobs = meant.filter_map(|(_, gate)| match gate {
            Gate::Canary(backlog) => Some(std::mem::take(&mut backlog.jobs)),
            Gate::Open | Gate::Closed => None,
        });
        jobs.flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: CampaignId = CampaignId(1);
    const B: CampaignId = CampaignId(2);

    fn row(index: usize) -> Slot {
        Slot::new(0, index)
    }

    fn goes(gates: &mut CampaignGates, campaign: CampaignId, row: Slot) -> bool {
        match gates.enter(campaign, row) {
            Admission::Go => true,
            Admission::Wait(backlog) => {
                backlog.rows.push_back(row);
                false
            }
            Admission::Closed => false,
        }
    }

    #[test]
    fn one_row_of_each_campaign_goes_until_an_answer_is_understood() {
        let mut gates = CampaignGates::default();
        let went: Vec<bool> = [(A, 0), (A, 1), (B, 2), (A, 3), (B, 4)]
            .map(|(campaign, index)| goes(&mut gates, campaign, row(index)))
            .into();
        assert_eq!(went, [true, false, true, false, false]);
        gates.open(A);
        let free: Vec<Slot> = gates.free_rows.drain(..).collect();
        assert_eq!(free, [row(1), row(3)]);
        assert!(goes(&mut gates, A, row(5)));
        assert!(!goes(&mut gates, B, row(6)));
    }

    #[test]
    fn the_next_row_replaces_a_canary_without_a_usable_answer() {
        let mut gates = CampaignGates::default();
        for index in 0..3 {
            goes(&mut gates, A, row(index));
        }
        for index in 1..3 {
            gates.pass_on(A);
            assert_eq!(gates.free_rows.pop_front(), Some(row(index)));
            assert_eq!(gates.free_rows.pop_front(), None);
            assert!(goes(&mut gates, A, row(index)));
        }
        // No row is left to take its place: the next one that comes does.
        gates.pass_on(A);
        assert!(goes(&mut gates, A, row(3)));
        assert!(!goes(&mut gates, A, row(4)));
    }

    #[test]
    fn a_canary_that_is_retried_later_keeps_its_place() {
        let mut gates = CampaignGates::default();
        goes(&mut gates, A, row(0));
        gates.await_return(A, row(0));
        assert!(!goes(&mut gates, A, row(1)));
        assert_eq!(gates.free_rows.pop_front(), None);
        assert!(goes(&mut gates, A, row(0)));
        assert!(!goes(&mut gates, A, row(2)));
    }

    #[test]
    fn a_stopped_campaign_stays_stopped_and_returns_its_waiting_rows() {
        let mut gates = CampaignGates::default();
        for index in 0..3 {
            goes(&mut gates, A, row(index));
        }
        assert_eq!(gates.close(A), [row(1), row(2)]);
        gates.open(A);
        assert!(matches!(gates.enter(A, row(3)), Admission::Closed));
        assert!(gates.is_closed(A) && !gates.is_closed(B));
    }
}
