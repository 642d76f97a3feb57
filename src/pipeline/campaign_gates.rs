//! Which campaigns may be sent to: a gate before each.
//!
//! Rule: pure. The first row of a campaign is its canary: no other of its rows is sent
//! until an answer has been understood (created, duplicate, rejected). If the canary gets
//! none, or is put off, another row takes its place; if it was asked to come back where that may be
//! about a limit for all, it stays the canary at first. An open gate gets a canary again when a row is
//! refused in a way that may hold for all of the campaign. The gate of a campaign that is refused closes, and its rows are passed over.
//!
//! Rows that wait are kept here as their places in the window. They leave in input order.

use std::collections::{BTreeSet, HashMap, VecDeque};

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
    /// The canary: it is in flight or about to be.
    canary: Option<Slot>,
    /// Rows that were claimed before, …
    pub(super) jobs: VecDeque<Job>,
    /// … and those that were not.
    pub(super) rows: BTreeSet<Slot>,
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
    /// Rows that are claimed next, whatever their place, …
    pub(super) first: VecDeque<Slot>,
    /// … and rows that were looked at and may be claimed now.
    pub(super) free_rows: BTreeSet<Slot>,
}

impl CampaignGates {
    pub(super) fn enter(&mut self, campaign: CampaignId, row: Slot) -> Admission<'_> {
        let first = || Gate::Canary(Backlog::default());
        match self.gates.entry(campaign).or_insert_with(first) {
            Gate::Open => Admission::Go,
            Gate::Closed => Admission::Closed,
            Gate::Canary(backlog) if backlog.canary.is_none_or(|canary| canary == row) => {
                backlog.canary = Some(row);
                Admission::Go
            }
            Gate::Canary(backlog) => Admission::Wait(backlog),
        }
    }

    /// Whether a row of the campaign that was not looked at yet may go.
    pub(super) fn admits(&self, campaign: CampaignId) -> bool {
        match self.gates.get(&campaign) {
            None | Some(Gate::Open) => true,
            Some(Gate::Canary(backlog)) => backlog.canary.is_none(),
            Some(Gate::Closed) => false,
        }
    }

    pub(super) fn is_closed(&self, campaign: CampaignId) -> bool {
        matches!(self.gates.get(&campaign), Some(Gate::Closed))
    }

    /// An answer was understood: all rows may go. Returns those that were claimed before; `None` if
    /// the gate had no canary. A closed one stays closed: requests that were in flight then may still
    /// be answered.
    pub(super) fn open(&mut self, campaign: CampaignId) -> Option<VecDeque<Job>> {
        let Some(Gate::Canary(backlog)) = self.gates.get_mut(&campaign) else {
            return None;
        };
        let Backlog { jobs, rows, .. } = std::mem::take(backlog);
        self.free_rows.extend(rows);
        self.gates.insert(campaign, Gate::Open);
        Some(jobs)
    }

    /// A row was refused in a way that may hold for all: one at a time from now on. Returns whether
    /// that is new.
    pub(super) fn narrow(&mut self, campaign: CampaignId) -> bool {
        let Some(gate @ Gate::Open) = self.gates.get_mut(&campaign) else {
            return false;
        };
        *gate = Gate::Canary(Backlog::default());
        true
    }

    /// Whether the campaign needs another canary now that this row has had its turn.
    pub(super) fn needs_canary(&self, campaign: CampaignId, row: Slot) -> bool {
        match self.gates.get(&campaign) {
            Some(Gate::Canary(backlog)) => backlog.canary.is_none_or(|canary| canary == row),
            _ => false,
        }
    }

    /// Whether any row waits at a gate that was not claimed yet.
    pub(super) fn has_rows(&self) -> bool {
        let mut gates = self.gates.values();
        gates.any(|gate| matches!(gate, Gate::Canary(backlog) if !backlog.rows.is_empty()))
    }

    /// The rows at the gate that were not tried yet.
    pub(super) fn waiting_rows(&self, campaign: CampaignId) -> impl Iterator<Item = Slot> {
        let backlog = match self.gates.get(&campaign) {
            Some(Gate::Canary(backlog)) => Some(backlog),
            _ => None,
        };
        backlog.into_iter().flat_map(|of| {
            let claimed = of.jobs.iter().filter(|job| job.is_fresh());
            of.rows.iter().copied().chain(claimed.map(|job| job.slot))
        })
    }

    /// How many rows wait that were claimed before.
    pub(super) fn waiting_jobs(&self) -> usize {
        let waiting = self.gates.values().map(|gate| match gate {
            Gate::Canary(backlog) => backlog.jobs.len(),
            Gate::Open | Gate::Closed => 0,
        });
        waiting.sum()
    }

    /// Makes this row the canary. Returns the row if it was claimed before and waits here.
    pub(super) fn choose(&mut self, campaign: CampaignId, row: Slot) -> Option<Job> {
        self.free_rows.remove(&row);
        let Some(Gate::Canary(backlog)) = self.gates.get_mut(&campaign) else {
            return None;
        };
        backlog.canary = Some(row);
        backlog.rows.remove(&row);
        let at = backlog.jobs.iter().position(|job| job.slot == row)?;
        backlog.jobs.remove(at)
    }

    /// The next row at the gate becomes the canary. Returns that row if it was claimed before.
    pub(super) fn pass_on(&mut self, campaign: CampaignId) -> Option<Job> {
        let Some(Gate::Canary(backlog)) = self.gates.get_mut(&campaign) else {
            return None;
        };
        // The next row at the gate takes its place: the one released here, or an earlier one.
        backlog.canary = None;
        let job = backlog.jobs.pop_front();
        if job.is_none() {
            self.free_rows.extend(backlog.rows.pop_first());
        }
        job
    }

    /// The service takes no leads for the campaign. Returns the rows that were not tried.
    pub(super) fn close(&mut self, campaign: CampaignId) -> BTreeSet<Slot> {
        match self.gates.insert(campaign, Gate::Closed) {
            Some(Gate::Canary(backlog)) => backlog.rows,
            _ => BTreeSet::new(),
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
                backlog.rows.insert(row);
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
        assert!(gates.free_rows.iter().eq([&row(1), &row(3)]));
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
            assert_eq!(gates.free_rows.pop_first(), Some(row(index)));
            assert_eq!(gates.free_rows.pop_first(), None);
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
        assert!(!goes(&mut gates, A, row(1)));
        assert_eq!(gates.free_rows.pop_first(), None);
        assert!(goes(&mut gates, A, row(0)));
        assert!(!goes(&mut gates, A, row(2)));
    }

    #[test]
    fn a_stopped_campaign_stays_stopped_and_returns_its_waiting_rows() {
        let mut gates = CampaignGates::default();
        for index in 0..3 {
            goes(&mut gates, A, row(index));
        }
        assert_eq!(gates.close(A), [row(1), row(2)].into());
        gates.open(A);
        assert!(matches!(gates.enter(A, row(3)), Admission::Closed));
        assert!(gates.is_closed(A) && !gates.is_closed(B));
    }

    #[test]
    fn an_open_gate_is_narrowed_to_a_canary_that_is_chosen_from_elsewhere() {
        let mut gates = CampaignGates::default();
        goes(&mut gates, A, row(0));
        gates.open(A);
        assert!(gates.narrow(A));
        for index in 1..4 {
            gates.free_rows.insert(row(index));
        }
        assert!(gates.needs_canary(A, row(0)));
        assert!(gates.choose(A, row(3)).is_none());
        // An answer to a row that was in flight already changes nothing.
        assert!(!gates.needs_canary(A, row(0)));
        assert!(!goes(&mut gates, A, row(1)));
        assert!(goes(&mut gates, A, row(3)));
        assert!(gates.waiting_rows(A).eq([row(1)]));
        assert!(gates.needs_canary(A, row(3)));
    }
}
