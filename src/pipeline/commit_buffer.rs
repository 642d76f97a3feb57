//! What a run writes into the ledger, and what waits for the commit.
//!
//! The claim of a row must be on disk before its first request leaves. Claims, outcomes and
//! rows that cannot be sent form a group; the [`LedgerWriter`] commits one group while the
//! next one fills. A group is submitted when sending would have to wait for it, otherwise a
//! moment after its first entry: a slow service never waits for more than one commit, and a
//! fast one gets large groups.
//!
//! Batches wait here until the outcomes of their rows are on disk. Without a ledger a claim
//! is granted at once, and nothing waits.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use super::attempt::Job;
use super::claims::Claims;
use crate::clock;
use crate::intake::Batch;
use crate::lead::{Counts, RowId, RowOutcome};
use crate::ledger::shared_pace::NEWS_HOLD;
use crate::ledger::{
    AskedPause, CellsDigest, Claim, Committed, Group, InvalidRow, Lease, LedgerWriter, Refusal,
    Reply, SenderId, Settlement, TokenUsed,
};
use crate::phone::PhoneNumber;
use crate::rate::{KnownRate, Rate};
use crate::screen::{Listing, SuppressionLists};
use crate::simulation::{Fault, is_planted};

/// How long the first entry of a group waits for others, unless sending waits for it.
const DELAY: Duration = Duration::from_millis(10);

/// How long started requests are only counted, unless something else is written: a row is
/// hardly ever sent twice in that time, so after a kill its open claim shows that it was
/// started.
const START_DELAY: Duration = Duration::from_secs(1);

const MAX_BATCHES: usize = 8;

/// Whether a request for a row that was claimed may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permit {
    Start,
    /// The lease of its claim has run out, and there is another one.
    ClaimAgain,
    /// There is no lease, or the do-not-call list may have grown.
    Wait,
}

#[derive(Debug)]
pub(super) struct CommitBuffer {
    pub(super) writer: Option<LedgerWriter<Batch>>,
    pub(super) claims: Claims,
    /// The next group, and when it is due.
    group: Group,
    due: Option<Instant>,
    /// Batches whose outcomes are in it or in an earlier group.
    pub(super) batches: Vec<Batch>,
    /// Since when a group is with the writer, …
    pub(super) busy_since: Option<Instant>,
    /// … and how many claims it settles or releases.
    closing: usize,
    /// Whether the writer has entries that it could not commit.
    pub(super) has_failed: bool,
    known: Option<KnownRate>,
    /// What the token is known by that was noted last.
    token: Option<Arc<str>>,
    /// Whether it is noted how far the service's clock is ahead.
    knows_clock: bool,
    /// The limits that the ledger knows.
    limits: Vec<Rate>,
    lease: Lease,
    /// The do-not-call lists, one of which may grow in the ledger.
    suppression: Arc<SuppressionLists>,
    /// When the ledger has last said what is new on the list.
    known_at: Option<Instant>,
}

impl CommitBuffer {
    pub(super) fn new(
        ledger: Option<(LedgerWriter<Batch>, Arc<SuppressionLists>)>,
        limits: &[Rate],
    ) -> CommitBuffer {
        let (writer, suppression) = ledger.unzip();
        let lease = writer.as_ref().map(|writer| writer.lease.clone());
        CommitBuffer {
            lease: lease.unwrap_or(Lease::unlimited()),
            limits: limits.to_vec(),
            writer,
            claims: Claims::default(),
            group: Group::default(),
            due: None,
            batches: Vec::new(),
            busy_since: None,
            closing: 0,
            has_failed: false,
            known: None,
            token: None,
            knows_clock: false,
            suppression: suppression.unwrap_or_default(),
            known_at: None,
        }
    }

    pub(super) fn has_ledger(&self) -> bool {
        self.writer.is_some()
    }

    pub(super) fn is_busy(&self) -> bool {
        self.busy_since.is_some()
    }

    /// Whether a request for the row may start now, as far as the ledger is concerned.
    pub(super) fn permits(&self, job: &Job) -> Permit {
        let is_new = |at: Instant| Instant::now() < at + NEWS_HOLD;
        if self.has_ledger() && !self.known_at.is_some_and(is_new) {
            return Permit::Wait;
        }
        match self.lease.permits() {
            Some(sender) if sender == job.claim.sender => Permit::Start,
            Some(_) => Permit::ClaimAgain,
            None => Permit::Wait,
        }
    }

    /// The do-not-call list that a number is on.
    pub(super) fn suppressed(&self, number: PhoneNumber) -> Option<Listing<'_>> {
        self.suppression.find(number)
    }

    pub(super) fn away_since(&self) -> Option<Timestamp> {
        self.lease.away_since()
    }

    /// A ledger that is out of reach is not waited for much longer, or not at all.
    pub(super) fn end_lease(&self, at_once: bool) {
        self.lease.end(at_once);
    }

    /// Asks for a reply: whether there is a lease, and what is new.
    pub(super) fn want_reply(&mut self) {
        self.add(Duration::ZERO, |group| group.wants_reply = true);
    }

    pub(super) fn claim(&mut self, mut job: Job) {
        job.claim.resends = job.is_in_doubt();
        if self.has_ledger() {
            if !is_planted(Fault::ForgetClaim) {
                self.add(DELAY, |group| group.claims.push(job.claim));
            }
            self.claims.request(job);
            if is_planted(Fault::SendBeforeClaim) {
                self.claims.submit();
                self.claims.grant(0, SenderId::default(), Vec::new());
            }
        } else {
            self.claims.open += 1;
            self.claims.granted.push_back(job);
        }
    }

    /// Claims a row whose claim was refused, or is of a lease that has run out.
    pub(super) fn claim_again(&mut self, mut job: Job) {
        if !std::mem::take(&mut job.is_unclaimed) {
            self.claims.open -= 1;
        }
        job.claim.sender = SenderId::default();
        self.claim(job);
    }

    pub(super) fn settle(&mut self, job: &Job, outcome: &RowOutcome, cells: Option<CellsDigest>) {
        let settlement = Settlement {
            claim: job.claim,
            outcome: outcome.clone(),
            cells,
            attempted: job.attempted(outcome),
        };
        self.close(|group| group.settlements.push(settlement));
    }

    /// Replaces the outcome of a row that was settled before.
    pub(super) fn settle_again(
        &mut self,
        claim: Claim,
        outcome: RowOutcome,
        cells: Option<CellsDigest>,
    ) {
        // Settling closes a claim, and its own was closed the first time.
        self.claims.open += 1;
        let settlement = Settlement {
            claim,
            outcome,
            cells,
            attempted: None,
        };
        self.close(|group| group.settlements.push(settlement));
    }

    /// Takes a claim back: the service took no request for the row.
    pub(super) fn release(&mut self, row: RowId) {
        self.close(|group| {
            if !is_planted(Fault::KeepClaim) {
                group.releases.push(row);
            }
        });
    }

    pub(super) fn record_invalid(&mut self, row: impl FnOnce() -> InvalidRow) {
        self.add(DELAY, |group| group.invalid.push(row()));
    }

    pub(super) fn count_request(&mut self) {
        let second = clock::now().as_second();
        self.add(START_DELAY, |group| group.count_start(second));
    }

    /// Notes with which token a lead was made, or may be, and how far the service's clock was `ahead`:
    /// undoing the run needs to know its account and when it began. It is in the ledger before the outcome
    /// of the row.
    pub(super) fn note_token(&mut self, token: Option<&Arc<str>>, ahead: Option<SignedDuration>) {
        if self.token.as_ref() != token || !self.knows_clock && ahead.is_some() {
            self.token = token.cloned();
            self.knows_clock |= ahead.is_some();
            let ahead_s = ahead.map(|ahead| ahead.as_secs());
            let used = token.cloned().map(|token| TokenUsed { token, ahead_s });
            self.add(DELAY, |group| group.tokens.extend(used));
        }
    }

    /// Records that the service asked for a wait, so that later processes obey it too.
    pub(super) fn record_pause(&mut self, pause: AskedPause) {
        if !is_planted(Fault::ForgetWait) {
            self.add(DELAY, |group| group.set_pause(pause));
        }
    }

    /// Asks for start times, no closer together than this.
    pub(super) fn want_starts(&mut self, space: Duration) {
        self.add(Duration::ZERO, |group| group.wants_starts = Some(space));
    }

    /// Records the limits that are kept to, for the other runs of the service.
    pub(super) fn record_limits(&mut self, limits: &[Rate]) {
        if self.limits != limits {
            self.limits = limits.to_vec();
            self.add(Duration::ZERO, |group| group.limits = Some(limits.to_vec()));
        }
    }

    /// Adds to the next group, which is due no later than this. Nothing is recorded without a ledger.
    fn add(&mut self, delay: Duration, add: impl FnOnce(&mut Group)) {
        if self.has_ledger() {
            add(&mut self.group);
            let due = Instant::now() + delay;
            self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
        }
    }

    /// Adds what closes a claim. Without a ledger that is all that it does.
    fn close(&mut self, add: impl FnOnce(&mut Group)) {
        if !self.has_ledger() {
            self.claims.open -= 1;
        }
        self.add(DELAY, add);
    }

    pub(super) fn has_room(&self) -> bool {
        self.batches.len() < MAX_BATCHES
    }

    /// Submits the group if it is due, and returns when it will be.
    pub(super) fn submit(
        &mut self,
        counts: Counts,
        known: Option<KnownRate>,
        at_once: bool,
    ) -> Option<Instant> {
        if self.is_busy() || self.group.is_empty() && self.batches.is_empty() {
            return None;
        }
        let is_due = self.due.is_none_or(|due| due <= Instant::now());
        if !at_once && !is_due && !self.claims.wants_commit {
            return self.due;
        }
        let Some(writer) = &self.writer else {
            return None;
        };
        let mut group = std::mem::take(&mut self.group);
        group.counts = counts;
        group.claimed_at_ms = clock::now().as_millisecond();
        group.suppressed_to = Some(self.suppression.kept.position());
        if self.known != known {
            self.known = known;
            group.learned = known;
        }
        self.due = None;
        self.closing += group.settlements.len() + group.releases.len();
        self.claims.submit();
        self.busy_since = Some(Instant::now());
        writer.commit(group, std::mem::take(&mut self.batches));
        None
    }

    /// Waits for the group that is with the writer; `None` if its thread has died.
    pub(super) async fn committed(&mut self) -> Option<Committed> {
        match &mut self.writer {
            Some(writer) => writer.committed().await,
            None => None,
        }
    }

    /// Ends the commit. If the group is on disk its rows may be started, except those that are
    /// returned; otherwise the writer tries it again with the next one.
    pub(super) fn finish(&mut self, reply: Option<&mut Reply>) -> Vec<(Job, Refusal)> {
        self.busy_since = None;
        self.has_failed = reply.is_none();
        let Some(reply) = reply else {
            return Vec::new();
        };
        if let Some(new) = &reply.suppressed {
            self.suppression.kept.add(new);
            self.known_at = Some(Instant::now());
        }
        let closed = std::mem::take(&mut self.closing);
        let refused = std::mem::take(&mut reply.refused);
        self.claims.grant(closed, reply.sender, refused)
    }

    pub(super) fn retry(&mut self) {
        if let (true, false, Some(writer)) = (self.has_failed, self.is_busy(), &self.writer) {
            writer.commit(Group::default(), Vec::new());
            self.busy_since = Some(Instant::now());
        }
    }
}
