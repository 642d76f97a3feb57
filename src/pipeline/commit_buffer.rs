//! What a run writes down, and what it has to wait for.
//!
//! A row is claimed before its first request leaves, and the claim must be on disk by
//! then. Claims, outcomes and rows that cannot be sent make a group; one group at a time
//! is with the [`LedgerWriter`], while the next gathers. A group goes when sending would have
//! to wait for it, and otherwise a moment after its first entry: a slow service is never
//! kept waiting by more than one commit, and a fast one makes large groups.
//!
//! Rows are claimed ahead of sending, as many as it takes that sending does not wait:
//! the number doubles when it has to and shrinks slowly while it has not. A crash leaves
//! each open claim as a row that may have been taken. Where those are sent again that
//! does little harm; where they are held (`--on-uncertain hold`), no more than twice the
//! rows in flight are ever open, beside those that are put aside (see [`super::stops`]).
//!
//! Without a ledger a claim is granted at once.

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::Policy;
use super::attempt::Job;
use crate::intake::{Batch, OnUncertain};
use crate::lead::{Counts, RowId, RowOutcome};
use crate::ledger::{
    AskedPause, CellsDigest, Claim, Committed, Group, InvalidRow, LedgerWriter, Settlement,
};
use crate::rate::KnownRate;

/// How long the first entry of a group waits for others, unless sending waits for it.
const DELAY: Duration = Duration::from_millis(10);

/// How long requests that were started are counted before that is written down, unless
/// something else is: a row is hardly ever sent twice in that time, so that after a kill
/// its open claim stands for what was not written.
const START_DELAY: Duration = Duration::from_secs(1);

/// Claimed and not yet started, at most.
const MAX_AHEAD: usize = 4096;

/// How many batches may wait for a commit.
const MAX_BATCHES: usize = 8;

#[derive(Debug)]
pub(super) struct CommitBuffer {
    writer: Option<LedgerWriter<Batch>>,
    /// The group that gathers, and when it is due.
    group: Group,
    due: Option<Instant>,
    /// Batches whose outcomes are in it or in a group before it.
    batches: Vec<Batch>,
    /// Whether a group is with the writer, …
    is_busy: bool,
    /// … and how many claims are settled there, and not on disk yet.
    settling: usize,
    /// Whether the writer has entries that it could not commit.
    has_failed: bool,
    /// Rows whose claims are in the group that gathers, …
    asked: Vec<Job>,
    /// … in the group that is with the writer, …
    asked_before: Vec<Job>,
    /// … and on disk.
    granted: VecDeque<Job>,
    /// How many may be in these three.
    ahead: usize,
    is_starved: bool,
    /// Whether a request was held up by the claims that were granted last.
    was_awaited: bool,
    /// Claims that are not settled on disk, and how many there may be.
    open: usize,
    most_open: usize,
    on_uncertain: OnUncertain,
    /// The pace that the service is known to take, as it was written down last.
    known: Option<KnownRate>,
}

impl CommitBuffer {
    pub(super) fn new(writer: Option<LedgerWriter<Batch>>, policy: &Policy) -> CommitBuffer {
        CommitBuffer {
            writer,
            group: Group::default(),
            due: None,
            batches: Vec::new(),
            is_busy: false,
            settling: 0,
            has_failed: false,
            asked: Vec::new(),
            asked_before: Vec::new(),
            granted: VecDeque::new(),
            ahead: 1,
            is_starved: false,
            was_awaited: false,
            open: 0,
            on_uncertain: policy.on_uncertain,
            most_open: usize::MAX,
            known: None,
        }
    }

    /// Says how many requests may be in flight, and how many rows are put aside: those
    /// wait, with open claims, for others that show whose refusal it was.
    pub(super) fn set_most_in_flight(&mut self, most: usize, aside: usize) {
        if self.on_uncertain == OnUncertain::Hold {
            self.most_open = 2 * most + aside;
        }
    }

    /// Whether there is a ledger.
    pub(super) fn are_kept(&self) -> bool {
        self.writer.is_some()
    }

    /// Rows that are claimed, or about to be, and not started.
    pub(super) fn unstarted(&self) -> usize {
        self.asked.len() + self.asked_before.len() + self.granted.len()
    }

    /// Whether another row may be claimed now.
    pub(super) fn want_claims(&self) -> bool {
        self.unstarted() < self.ahead && self.open < self.most_open
    }

    /// Asks for a row to be claimed.
    pub(super) fn claim(&mut self, job: Job) {
        self.open += 1;
        if self.are_kept() {
            self.group.claims.push(job.claim);
            self.begin_group();
            self.asked.push(job);
        } else {
            self.granted.push_back(job);
        }
    }

    /// The next row that may be started.
    pub(super) fn next_granted(&mut self) -> Option<Job> {
        self.granted.pop_front()
    }

    /// Takes note that the next row may not be started yet for the sake of the pace: then
    /// nothing was held up by its claim.
    pub(super) fn record_idle(&mut self) {
        self.was_awaited = false;
    }

    /// Takes note that a row was started as soon as its claim was granted, or not.
    pub(super) fn note_start(&mut self) {
        if std::mem::take(&mut self.was_awaited) {
            self.ahead = (self.ahead * 2).min(MAX_AHEAD);
        }
    }

    /// Whether a row may be started.
    pub(super) fn has_granted(&self) -> bool {
        !self.granted.is_empty()
    }

    /// Notes that a request could leave if only a claim were on disk.
    pub(super) fn starve(&mut self) {
        let is_awaited = !self.asked.is_empty() || !self.asked_before.is_empty();
        self.is_starved = is_awaited || self.open >= self.most_open;
    }

    /// Writes down what became of a claimed row.
    pub(super) fn settle(
        &mut self,
        claim: Claim,
        outcome: &RowOutcome,
        cells: Option<CellsDigest>,
    ) {
        if !self.are_kept() {
            self.open -= 1;
            return;
        }
        self.group.settlements.push(Settlement {
            claim,
            outcome: outcome.clone(),
            cells,
        });
        self.begin_group();
    }

    /// Takes a claim back: no request for the row was taken.
    pub(super) fn release(&mut self, row: RowId) {
        if !self.are_kept() {
            self.open -= 1;
            return;
        }
        self.group.releases.push(row);
        self.begin_group();
    }

    /// Writes down a row that cannot be sent.
    pub(super) fn refuse(&mut self, refusal: InvalidRow) {
        debug_assert!(self.are_kept(), "nobody would take it");
        self.group.invalid.push(refusal);
        self.begin_group();
    }

    /// Counts a request that leaves now, for the limits of later processes.
    pub(super) fn count_request(&mut self) {
        if self.are_kept() {
            self.group.count_start(Timestamp::now().as_second());
            self.begin_group_due_in(START_DELAY);
        }
    }

    /// Writes down that the service has asked for a wait, which later processes obey too.
    pub(super) fn note_pause(&mut self, pause: AskedPause) {
        if self.are_kept() {
            self.group.set_pause(pause);
            self.begin_group();
        }
    }

    fn begin_group(&mut self) {
        self.begin_group_due_in(DELAY);
    }

    fn begin_group_due_in(&mut self, delay: Duration) {
        let due = Instant::now() + delay;
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
    }

    /// Whether a batch may be put behind the entries.
    pub(super) fn have_room(&self) -> bool {
        self.batches.len() < MAX_BATCHES
    }

    /// Puts a batch behind the entries: it is passed on when they are on disk.
    pub(super) fn enqueue_after_commit(&mut self, batch: Batch) {
        self.batches.push(batch);
    }

    /// Whether a group is with the writer.
    pub(super) fn are_busy(&self) -> bool {
        self.is_busy
    }

    /// Hands the group over if it is time, and returns when it will be.
    pub(super) fn hand_over(
        &mut self,
        counts: Counts,
        known: Option<KnownRate>,
        at_once: bool,
    ) -> Option<Instant> {
        if self.is_busy || self.group.is_empty() && self.batches.is_empty() {
            return None;
        }
        let due = self.due;
        let is_due = due.is_none_or(|due| due <= Instant::now());
        if !at_once && !is_due && !self.is_starved {
            return due;
        }
        let Some(writer) = &self.writer else {
            return None;
        };
        let mut group = std::mem::take(&mut self.group);
        group.counts = counts;
        if self.known != known {
            self.known = known;
            group.learned = known;
        }
        self.due = None;
        self.settling += group.settlements.len() + group.releases.len();
        self.asked_before.append(&mut self.asked);
        self.is_busy = true;
        writer.commit(group, std::mem::take(&mut self.batches));
        None
    }

    /// Waits for the group that is with the writer; nothing if its thread has died.
    pub(super) async fn committed(&mut self) -> Option<Committed> {
        match &mut self.writer {
            Some(writer) => writer.committed().await,
            None => None,
        }
    }

    /// Takes note that the group is on disk: its rows may be started.
    pub(super) fn grant(&mut self) {
        self.is_busy = false;
        self.has_failed = false;
        self.open -= std::mem::take(&mut self.settling);
        let was_starved = std::mem::take(&mut self.is_starved);
        if self.asked_before.is_empty() {
            return;
        }
        self.was_awaited = was_starved;
        if !was_starved {
            self.ahead = (self.ahead - (self.ahead / 64).max(1)).max(1);
        }
        self.granted.extend(self.asked_before.drain(..));
    }

    /// Takes note that the group is not on disk. It is tried again with the next one.
    pub(super) fn fail(&mut self) {
        self.is_busy = false;
        self.has_failed = true;
    }

    /// Whether the last group is not on disk.
    pub(super) fn have_failed(&self) -> bool {
        self.has_failed
    }

    /// Tries once more what could not be committed.
    pub(super) fn retry(&mut self) {
        if let (true, false, Some(writer)) = (self.has_failed, self.is_busy, &self.writer) {
            writer.commit(Group::default(), Vec::new());
            self.is_busy = true;
        }
    }

    /// All rows that were claimed, or were to be, and not started.
    pub(super) fn take_unstarted(&mut self) -> Vec<Job> {
        let mut jobs = std::mem::take(&mut self.asked);
        jobs.append(&mut self.asked_before);
        jobs.extend(self.granted.drain(..));
        jobs
    }

    /// The writer, once nothing more is to be written down.
    pub(super) fn into_keeper(self) -> Option<LedgerWriter<Batch>> {
        self.writer
    }
}
