//! Rows that wait: for their time, or for the same number to come back.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use tokio::time::Instant;

use super::Target;
use super::attempt::Job;
use super::window::Slot;
use crate::lead::CampaignId;

/// The jobs that are neither new nor in flight.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// By the time at which they may be sent, in input order within it.
    waiting: BTreeMap<(Instant, Slot), Job>,
    /// Numbers in flight …
    busy: HashSet<Target>,
    /// … and the jobs that wait until the same number is not.
    parked: HashMap<Target, VecDeque<Job>>,
}

impl Queue {
    pub(super) fn push(&mut self, due: Instant, job: Job) {
        self.waiting.insert((due, job.slot), job);
    }

    /// When the next job may be sent.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.waiting.keys().next().map(|(due, _)| *due)
    }

    pub(super) fn pop(&mut self) -> Option<Job> {
        self.waiting.pop_first().map(|(_, job)| job)
    }

    /// The job, unless its number is in flight: then it is kept until that is back.
    pub(super) fn unless_busy(&mut self, job: Job) -> Option<Job> {
        if !self.busy.contains(&job.target()) {
            return Some(job);
        }
        self.parked.entry(job.target()).or_default().push_back(job);
        None
    }

    pub(super) fn depart(&mut self, target: Target) {
        self.busy.insert(target);
    }

    /// It is back: the next job with the same number may go.
    pub(super) fn arrive(&mut self, target: Target) {
        self.busy.remove(&target);
        if let Entry::Occupied(mut parked) = self.parked.entry(target) {
            if let Some(job) = parked.get_mut().pop_front() {
                self.waiting.insert((Instant::now(), job.slot), job);
            }
            if parked.get().is_empty() {
                parked.remove();
            }
        }
    }

    pub(super) fn for_each(&mut self, change: impl FnMut(&mut Job)) {
        let waiting = self.waiting.values_mut();
        waiting
            .chain(self.parked.values_mut().flatten())
            .for_each(change);
    }

    /// Takes out the jobs of a campaign, also those that wait for a number: the answer that
    /// would let them go may be the one that ends the campaign.
    pub(super) fn take_campaign(&mut self, campaign: CampaignId) -> Vec<Job> {
        let all = std::mem::take(&mut self.waiting);
        let (mut taken, mut kept) = (Vec::new(), BTreeMap::new());
        for (key, job) in all {
            if job.claim.campaign == campaign {
                taken.push(job);
            } else {
                kept.insert(key, job);
            }
        }
        self.waiting = kept;
        let parked = self.parked.extract_if(|(of, _), _| *of == campaign);
        taken.extend(parked.flat_map(|(_, jobs)| jobs));
        taken
    }

    pub(super) fn drain(&mut self) -> Vec<Job> {
        let waiting = std::mem::take(&mut self.waiting).into_values();
        let parked = std::mem::take(&mut self.parked).into_values();
        waiting.chain(parked.flatten()).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.parked.is_empty()
    }
}
