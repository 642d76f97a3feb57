//! Which row is sent next, among those that are claimed: one that waits for its time, its
//! number or its campaign does not hold up the others.
//!
//! Rule: pure.

use tokio::time::Instant;

use super::attempt::Job;
use super::campaign_gates::{Admission, CampaignGates};
use super::queue::Queue;
use super::window::Slot;
use crate::lead::CampaignId;

#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// The job that is sent next, as soon as the pace allows.
    pub(super) next: Option<Job>,
    pub(super) queue: Queue,
    pub(super) gates: CampaignGates,
}

impl Schedule {
    /// The queued job that has waited longest for its time.
    pub(super) fn pop(&mut self) -> Option<Admission<Job>> {
        let job = self.queue.pop()?;
        Some(self.gates.enter_again(job.claim.campaign, job))
    }

    /// A row that was claimed and may be started, unless its campaign was refused meanwhile.
    pub(super) fn admit(&self, job: Job) -> Admission<Job> {
        if self.gates.is_closed(job.claim.campaign) {
            Admission::Closed(job)
        } else {
            Admission::Go(job)
        }
    }

    /// Queues the jobs that have waited for others of their campaign and may go now.
    pub(super) fn queue_free_jobs(&mut self) {
        for job in self.gates.take_free_jobs() {
            self.queue.push(Instant::now(), job);
        }
    }

    /// Nothing more is sent to the campaign. Returns what has waited for it.
    pub(super) fn close(&mut self, campaign: CampaignId) -> (Vec<Job>, Vec<Slot>) {
        let (mut jobs, rows) = self.gates.close(campaign);
        jobs.extend(self.queue.take_campaign(campaign));
        jobs.extend(self.next.take_if(|job| job.claim.campaign == campaign));
        (jobs, rows)
    }

    pub(super) fn for_each(&mut self, mut change: impl FnMut(&mut Job)) {
        self.next.iter_mut().for_each(&mut change);
        self.queue.for_each(&mut change);
        self.gates.for_each(&mut change);
    }

    pub(super) fn drain(&mut self) -> Vec<Job> {
        let mut jobs: Vec<Job> = self.next.take().into_iter().collect();
        jobs.append(&mut self.queue.drain());
        jobs.append(&mut self.gates.drain());
        jobs
    }

    /// Whether no row waits that could be sent without another answer.
    pub(super) fn is_empty(&self) -> bool {
        self.next.is_none() && self.queue.is_empty() && !self.gates.has_free_rows()
    }
}
