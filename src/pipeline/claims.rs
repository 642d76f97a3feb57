//! Rows that are claimed ahead of being sent.
//!
//! As many as needed so that sending never waits for the disk: the number doubles when
//! sending had to wait and shrinks slowly while it does not. A crash leaves each open claim as
//! a row that may have been taken. If such rows are sent again, that does little harm; if they
//! are held (`--on-uncertain hold`), at most twice the number in flight are open, plus those
//! that wait for other rows' answers (see [`Undecided`](super::answering::Undecided)) and those that
//! the service has put off.
//!
//! Rule: pure. The [`CommitBuffer`](super::commit_buffer::CommitBuffer) brings claims to disk.

use std::collections::{HashMap, VecDeque};

use super::attempt::Job;
use super::window::Slot;
use crate::lead::RowId;
use crate::ledger::{Refusal, SenderId};

const MAX_AHEAD: usize = 4096;

#[derive(Debug)]
pub(super) struct Claims {
    /// Rows whose claims are in the next group, …
    requested: Vec<Job>,
    /// … in the group that is with the ledger's writer, …
    submitted: Vec<Job>,
    /// … and on disk: they may be started.
    pub(super) granted: VecDeque<Job>,
    /// The most rows in these three together.
    ahead: usize,
    /// Whether sending is waiting for a claim.
    pub(super) wants_commit: bool,
    /// Whether sending waited for the claims that were granted last.
    was_awaited: bool,
    /// Claims that are not settled on disk yet, and the most there may be.
    pub(super) open: usize,
    pub(super) max_open: usize,
}

impl Default for Claims {
    fn default() -> Claims {
        Claims {
            requested: Vec::new(),
            submitted: Vec::new(),
            granted: VecDeque::new(),
            ahead: 1,
            wants_commit: false,
            was_awaited: false,
            open: 0,
            max_open: usize::MAX,
        }
    }
}

impl Claims {
    pub(super) fn wants_more(&self) -> bool {
        self.unstarted() < self.ahead && self.open < self.max_open
    }

    pub(super) fn unstarted(&self) -> usize {
        self.requested.len() + self.submitted.len() + self.granted.len()
    }

    pub(super) fn unstarted_jobs(&self) -> impl Iterator<Item = &Job> + Clone {
        let jobs = self.requested.iter().chain(&self.submitted);
        jobs.chain(&self.granted)
    }

    /// The rows that were not tried yet.
    pub(super) fn rows(&self) -> impl Iterator<Item = Slot> {
        let fresh = self.unstarted_jobs().filter(|job| job.is_fresh());
        fresh.map(|job| job.slot)
    }

    /// Adds a row whose claim is in the next group.
    pub(super) fn request(&mut self, job: Job) {
        self.open += 1;
        self.requested.push(job);
    }

    pub(super) fn submit(&mut self) {
        self.submitted.append(&mut self.requested);
    }

    /// The group is on disk: its claims may be started under the lease, except those that are
    /// `refused`, and `closed` others are settled or released. Returns the refused ones.
    pub(super) fn grant(
        &mut self,
        closed: usize,
        sender: SenderId,
        refused: Vec<(RowId, Refusal)>,
    ) -> Vec<(Job, Refusal)> {
        self.open -= closed;
        let was_wanted = std::mem::take(&mut self.wants_commit);
        if self.submitted.is_empty() {
            return Vec::new();
        }
        self.was_awaited = was_wanted;
        if !was_wanted {
            self.ahead = (self.ahead - (self.ahead / 64).max(1)).max(1);
        }
        let mut refused: HashMap<RowId, Refusal> = refused.into_iter().collect();
        let mut not_granted = Vec::new();
        for mut job in self.submitted.drain(..) {
            match refused.remove(&job.claim.row) {
                Some(refusal) => {
                    job.is_unclaimed = true;
                    not_granted.push((job, refusal));
                }
                None => {
                    job.claim.sender = sender;
                    job.is_others = false;
                    self.granted.push_back(job);
                }
            }
        }
        self.open -= not_granted.len();
        not_granted
    }

    /// Whether any claim is not on disk yet.
    pub(super) fn is_awaiting(&self) -> bool {
        !self.requested.is_empty() || !self.submitted.is_empty()
    }

    /// Records that only a missing claim holds the next request up.
    pub(super) fn request_commit(&mut self) {
        self.wants_commit = self.is_awaiting() || self.open >= self.max_open;
    }

    /// Records that the next row waits for the pace, so its claim held nothing up.
    pub(super) fn record_idle(&mut self) {
        self.was_awaited = false;
    }

    /// Records that a campaign held its rows up until now, and no claim did.
    pub(super) fn record_gate(&mut self) {
        self.was_awaited = false;
        self.wants_commit = false;
    }

    /// Records that a row was started. If it waited for its claim, more are claimed ahead.
    pub(super) fn record_start(&mut self) {
        if std::mem::take(&mut self.was_awaited) {
            self.ahead = (self.ahead * 2).min(MAX_AHEAD);
        }
    }

    pub(super) fn take_unstarted(&mut self) -> Vec<Job> {
        let mut jobs = std::mem::take(&mut self.requested);
        jobs.append(&mut self.submitted);
        jobs.extend(self.granted.drain(..));
        jobs
    }
}
