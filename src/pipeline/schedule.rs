//! Which claimed row is sent next. A row that waits for its time, its number or its campaign
//! does not hold up the others.
//!
//! Rule: pure.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use tokio::time::Instant;

use super::Target;
use super::attempt::Job;
use super::campaign_gates::CampaignGates;
use super::window::Slot;
use crate::lead::CampaignId;
use crate::simulation::{Fault, is_planted};

#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// The job that is sent next, as soon as the pace allows.
    pub(super) next: Option<Job>,
    pub(super) gates: CampaignGates,
    /// Rows that were tried before this start, with their campaigns: they wait until another one has
    /// been taken.
    pub(super) deferred: BTreeMap<Slot, CampaignId>,
    /// Whether such rows, refused then, may have been read that were not looked at yet.
    pub(super) has_refused_ahead: bool,
    /// Whether no other one was left, so that they no longer wait.
    pub(super) has_only_tried: bool,
    /// The other jobs by the time at which they may be sent, then in input order.
    waiting: BTreeMap<(Instant, Slot), Job>,
    /// Numbers in flight …
    busy: HashSet<Target>,
    /// … and the jobs that wait for them.
    parked: HashMap<Target, VecDeque<Job>>,
}

impl Schedule {
    pub(super) fn push(&mut self, due: Instant, job: Job) {
        self.waiting.insert((due, job.slot), job);
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.waiting.keys().next().map(|(due, _)| *due)
    }

    /// How many jobs wait for other runs, and when the first of the others is due.
    pub(super) fn waits(&self) -> (usize, Option<Instant>) {
        let others = self.waiting.values().filter(|job| job.is_others).count();
        let own = self.waiting.iter().find(|(_, job)| !job.is_others);
        (others, own.map(|((due, _), _)| *due))
    }

    /// How many jobs wait because the service has put them off.
    pub(super) fn count_put_off(&self) -> usize {
        self.waiting.values().filter(|job| job.is_put_off()).count()
    }

    /// The job that is due first.
    pub(super) fn pop(&mut self) -> Option<Job> {
        self.waiting.pop_first().map(|(_, job)| job)
    }

    /// The first due job that is meant.
    pub(super) fn pop_due(&mut self, is_meant: impl Fn(&Job) -> bool) -> Option<Job> {
        let at = self.first_due(is_meant)?;
        self.waiting.remove(&at)
    }

    pub(super) fn has_due(&self, is_meant: impl Fn(&Job) -> bool) -> bool {
        self.first_due(is_meant).is_some()
    }

    fn first_due(&self, is_meant: impl Fn(&Job) -> bool) -> Option<(Instant, Slot)> {
        let now = Instant::now();
        let mut due = self.waiting.iter().take_while(|((due, _), _)| *due <= now);
        due.find(|(_, job)| is_meant(job)).map(|(at, _)| *at)
    }

    /// The job of this row, whenever it is due.
    pub(super) fn take_row(&mut self, row: Slot) -> Option<Job> {
        let (due, _) = self.waiting.keys().find(|(_, slot)| *slot == row)?;
        self.waiting.remove(&(*due, row))
    }

    /// Returns the job, or keeps it here while its number is in flight.
    pub(super) fn unless_busy(&mut self, job: Job) -> Option<Job> {
        if !self.busy.contains(&job.target()) || is_planted(Fault::SameNumberAtOnce) {
            return Some(job);
        }
        self.parked.entry(job.target()).or_default().push_back(job);
        None
    }

    pub(super) fn depart(&mut self, target: Target) {
        self.busy.insert(target);
    }

    /// A number is no longer in flight: the next job with the same number may go.
    pub(super) fn arrive(&mut self, target: Target) {
        self.busy.remove(&target);
        self.unpark(target);
    }

    /// If the number is not in flight, the next job that waits for it may go: the one before it waits
    /// for something else.
    pub(super) fn unpark(&mut self, target: Target) {
        if self.busy.contains(&target) {
            return;
        }
        if let Entry::Occupied(mut parked) = self.parked.entry(target) {
            if let Some(job) = parked.get_mut().pop_front() {
                self.waiting.insert((Instant::now(), job.slot), job);
            }
            if parked.get().is_empty() {
                parked.remove();
            }
        }
    }

    pub(super) fn pass_on(&mut self, campaign: CampaignId) {
        if let Some(job) = self.gates.pass_on(campaign) {
            self.push(Instant::now(), job);
        }
    }

    /// The rows that wait for their time and were not tried yet.
    pub(super) fn waiting_rows(&self) -> impl Iterator<Item = Slot> {
        let fresh = self.waiting.values().filter(|job| job.is_fresh());
        fresh.map(|job| job.slot)
    }

    /// Removes the jobs of a campaign, or all. That includes those that wait for a number: the
    /// answer that would release them may be the one that ends the campaign.
    pub(super) fn take(&mut self, campaign: Option<CampaignId>) -> Vec<Job> {
        let is_meant = |of: CampaignId| campaign.is_none_or(|meant| of == meant);
        let next = self.next.take_if(|job| is_meant(job.claim.campaign));
        let mut jobs: Vec<Job> = next.into_iter().collect();
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let (taken, kept): (BTreeMap<_, _>, _) =
            waiting.partition(|(_, job)| is_meant(job.claim.campaign));
        self.waiting = kept;
        jobs.extend(taken.into_values());
        let parked = self.parked.extract_if(|(of, _), _| is_meant(*of));
        jobs.extend(parked.flat_map(|(_, jobs)| jobs));
        jobs.extend(self.gates.take_jobs(is_meant));
        jobs
    }

    pub(super) fn is_empty(&self) -> bool {
        let has_jobs = !self.waiting.is_empty() || !self.parked.is_empty();
        let has_rows = !self.gates.first.is_empty() || !self.gates.free_rows.is_empty();
        self.next.is_none() && !has_jobs && !has_rows && self.deferred.is_empty()
    }
}
