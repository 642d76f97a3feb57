//! The entries of the ledger: what is written for each row.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::{Known, ListPosition, NewlySuppressed};
use crate::clock;
use crate::lead::{CampaignId, Counts, RowId, RowOutcome};
use crate::phone::PhoneNumber;
use crate::rate::{KnownRate, Rate};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServiceId(pub(super) i64);

/// A process while it may send, and its lease, where several machines share a ledger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SenderId(pub(super) i64);

/// A digest of a row's cells, which recognizes the row without storing its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellsDigest(pub [u8; 16]);

/// Entries that are committed together, all or none. Fields that the journal does not store,
/// or stores behind the others, are marked with `serde(skip)`.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Group {
    /// Rows whose first request may leave when the group is committed, …
    pub claims: Vec<Claim>,
    /// … and when that was asked for, in milliseconds since 1970: before any of these requests. 0 if
    /// that is not known. The journal stores it after the others.
    #[serde(skip)]
    pub claimed_at_ms: i64,
    pub settlements: Vec<Settlement>,
    /// Claimed rows of which no request can have been taken: they count as never claimed.
    pub releases: Vec<RowId>,
    #[serde(skip)]
    pub invalid: Vec<InvalidRow>,
    /// The run's rows by status, as counted so far.
    #[serde(skip)]
    pub counts: Counts,
    /// What was learned about the rate that the service accepts, if that is new. It is no
    /// reason to send a group to the writer but waits for the next one: if a kill loses
    /// it, it is learned again. A group that has nothing else is written all the same.
    #[serde(skip)]
    pub learned: Option<KnownRate>,
    /// The tokens with which leads were made, if these are new.
    #[serde(skip)]
    pub tokens: Vec<TokenUsed>,
    /// Requests that started since the last group.
    #[serde(skip)]
    pub starts: Vec<StartsInSecond>,
    #[serde(skip)]
    pub pause: Option<AskedPause>,
    /// The limits that this run keeps to, if they are new.
    #[serde(skip)]
    pub limits: Option<Vec<Rate>>,
    /// Start times are wanted of those that all runs share, no closer together than this.
    #[serde(skip)]
    pub wants_starts: Option<Duration>,
    /// A reply is wanted: whether there is a lease, and what is new of the pace.
    #[serde(skip)]
    pub wants_reply: bool,
    /// How much is known of the do-not-call list, to be told what is new; `None` to be told nothing.
    #[serde(skip)]
    pub suppressed_to: Option<ListPosition>,
}

/// What comes back for a group that was committed. A ledger
/// that no other process sends with answers nothing.
#[derive(Debug, Default)]
pub struct Reply {
    /// The claims that were not granted, …
    pub refused: Vec<(RowId, Refusal)>,
    /// … and the lease under which all others were.
    pub sender: SenderId,
    /// Whether other processes may send to the service too.
    pub is_shared: bool,
    /// Whether a run under way has a limit, so that every start has to be reserved.
    pub is_paced: bool,
    /// The start times that were reserved.
    pub starts: Vec<Instant>,
    /// A wait that the service asked a run for, this one or another.
    pub pause: Option<AskedPause>,
    /// Whose run has claimed a number that was refused as [`Refusal::Busy`], and how long that holds at
    /// most if its process has ended.
    pub claimed_by: Option<(Arc<str>, Duration)>,
    /// What is new on the do-not-call list, if that was asked.
    pub suppressed: Option<NewlySuppressed>,
}

/// A token with which leads were made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenUsed {
    /// What it is known by.
    pub token: Arc<str>,
    /// How far the service's clock was ahead of this computer's then, in seconds, if it said the time.
    pub ahead_s: Option<i64>,
}

/// Why a claim was not granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The row itself was settled meanwhile, or may have been taken: by an earlier start.
    Own(RowOutcome),
    /// Another run has sent the number, or may have: this is known of it.
    Known(Box<Known>),
    /// Another run has claimed the number, and its outcome is not known yet.
    Busy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartsInSecond {
    /// In seconds since 1970.
    pub second: i64,
    pub requests: u32,
}

/// A wait that the service asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedPause {
    pub asked_at: Timestamp,
    pub wait: Duration,
    pub http_status: u16,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecentUse {
    /// The requests of the last day, in order of time.
    pub starts: Vec<StartsInSecond>,
    /// The last wait that the service asked for; it may be over.
    pub pause: Option<AskedPause>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub row: RowId,
    /// Its input, counted from 0.
    pub file: usize,
    /// Its line in the input, counted from 1.
    pub line: u64,
    pub number: PhoneNumber,
    pub campaign: CampaignId,
    /// Whether the row may be sent though it, or its number, may have been taken before.
    #[serde(skip)]
    pub resends: bool,
    /// The lease under which it was granted.
    #[serde(skip)]
    pub sender: SenderId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settlement {
    pub claim: Claim,
    /// Created, duplicate, rejected, failed or uncertain.
    pub outcome: RowOutcome,
    /// The digest of its cells, if it was rejected.
    #[serde(skip)]
    pub cells: Option<CellsDigest>,
    /// When its attempts were, if that is known.
    #[serde(skip)]
    pub attempted: Option<Attempted>,
}

impl Settlement {
    /// When it was sent, if somebody who looks it up or removes its lead needs to know.
    pub(super) fn attempts_to_keep(&self) -> Option<Attempted> {
        let outcome = &self.outcome;
        self.attempted
            .filter(|_| outcome.may_be_looked_up() || outcome.is_created_after_loss())
    }
}

/// When one start of a run has sent a row: by this the service's list of leads tells whether it has made its
/// lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempted {
    /// No attempt was earlier.
    pub first: Timestamp,
    /// The last attempt that is on record. Of a process that was killed this is the claim alone: what
    /// somebody else does between that and the day on which it is noticed is not this row's.
    pub last: Timestamp,
    /// Until when a process that was killed may have made others; `None` if none was.
    pub ended: Option<Timestamp>,
}

impl Attempted {
    /// An open claim, whose process was killed before `ended`.
    pub(super) fn claimed(at: Timestamp, ended: Timestamp) -> Attempted {
        Attempted {
            first: at,
            last: at,
            ended: Some(ended),
        }
    }

    /// No attempt was later.
    pub fn surely_over(&self) -> Timestamp {
        self.ended.map_or(self.last, |ended| ended.max(self.last))
    }

    /// As they are stored, in milliseconds since 1970; `None` if they are no times.
    pub(super) fn of_millis(first: i64, last: i64, ended: Option<i64>) -> Option<Attempted> {
        let time = |ms| Timestamp::from_millisecond(ms).ok();
        Some(Attempted {
            first: time(first)?,
            last: time(last)?,
            ended: ended.and_then(time),
        })
    }
}

/// A row that cannot be sent as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidRow {
    pub row: RowId,
    /// Its input, counted from 0.
    pub file: usize,
    /// Its line in the input, counted from 1.
    pub line: u64,
    /// Its campaign, if the id is known.
    pub campaign: Option<CampaignId>,
    /// The phone cell as it was read.
    pub cell: String,
    pub outcome: RowOutcome,
    pub cells: CellsDigest,
}

impl AskedPause {
    pub fn asked_now(wait: Duration, http_status: u16) -> AskedPause {
        AskedPause {
            asked_at: clock::now(),
            wait,
            http_status,
        }
    }

    pub fn until(&self) -> Timestamp {
        let wait = SignedDuration::try_from(self.wait).unwrap_or_default();
        self.asked_at.saturating_add(wait).unwrap_or_default()
    }

    /// How much of it is left; `None` if it is over, or was noted under a clock that was wrong. If
    /// that means a request too early, the service asks again.
    pub fn left(&self, now: Timestamp) -> Option<Duration> {
        if is_of_wrong_clock(self.asked_at, now) {
            return None;
        }
        let since = now.duration_since(self.asked_at.min(now)).unsigned_abs();
        let left = self.wait.saturating_sub(since);
        (!left.is_zero()).then_some(left)
    }

    /// Whether it ends later than one that was known when it was asked for.
    pub(super) fn outlasts(&self, known: Option<AskedPause>) -> bool {
        known.and_then(|known| known.left(self.asked_at)) < Some(self.wait)
    }
}

/// Whether a time was noted under a clock that was wrong: it lies ahead, by more than a clock is
/// set back to stay right. It may be years ahead, so it holds nothing back.
pub fn is_of_wrong_clock(noted: Timestamp, now: Timestamp) -> bool {
    noted.duration_since(now) > SignedDuration::from_mins(1)
}

impl CellsDigest {
    pub fn of<'a>(cells: impl Iterator<Item = &'a [u8]>) -> CellsDigest {
        let mut digest = Sha256::new();
        for cell in cells {
            // The length of each cell is included: the cells `a`, `bc` differ from `ab`, `c`.
            digest.update((cell.len() as u64).to_le_bytes());
            digest.update(cell);
        }
        let mut short = [0; 16];
        short.copy_from_slice(&digest.finalize()[..16]);
        CellsDigest(short)
    }
}

impl Group {
    pub(super) fn append(&mut self, later: Group) {
        self.claims.extend(later.claims);
        self.claimed_at_ms = self.claimed_at_ms.max(later.claimed_at_ms);
        self.settlements.extend(later.settlements);
        self.releases.extend(later.releases);
        self.invalid.extend(later.invalid);
        if !later.counts.is_empty() {
            self.counts = later.counts;
        }
        self.learned = later.learned.or(self.learned);
        self.tokens.extend(later.tokens);
        self.starts.extend(later.starts);
        if let Some(pause) = later.pause {
            self.set_pause(pause);
        }
        self.limits = later.limits.or(self.limits.take());
        self.wants_starts = later.wants_starts;
        self.wants_reply |= later.wants_reply;
        self.suppressed_to = later.suppressed_to.or(self.suppressed_to);
    }

    /// Records a wait that the service asked for; of several the one that ends last counts.
    pub fn set_pause(&mut self, pause: AskedPause) {
        if pause.outlasts(self.pause) {
            self.pause = Some(pause);
        }
    }

    pub fn count_start(&mut self, second: i64) {
        match self.starts.last_mut() {
            Some(last) if last.second == second => last.requests += 1,
            _ => self.starts.push(StartsInSecond {
                second,
                requests: 1,
            }),
        }
    }

    /// Whether the group has nothing that must be written: `counts` and `learned` may be lost.
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty()
            && self.settlements.is_empty()
            && self.releases.is_empty()
            && self.invalid.is_empty()
            && self.tokens.is_empty()
            && self.starts.is_empty()
            && self.pause.is_none()
            && self.limits.is_none()
            && self.wants_starts.is_none()
            && !self.wants_reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::Rate;

    fn learned(requests: Option<u32>) -> Group {
        Group {
            learned: requests.map(|requests| KnownRate {
                rate: Rate::per_second(requests),
                is_stated: false,
            }),
            ..Group::default()
        }
    }

    #[test]
    fn what_was_learned_later_wins_and_nothing_new_takes_nothing_away() {
        let mut group = learned(None);
        for (later, kept) in [(Some(1), Some(1)), (None, Some(1)), (Some(2), Some(2))] {
            group.append(learned(later));
            assert_eq!(group.learned, learned(kept).learned);
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn asked(second: i64, wait: u64) -> AskedPause {
        AskedPause {
            asked_at: at(second),
            wait: Duration::from_secs(wait),
            http_status: 429,
        }
    }

    #[test]
    fn a_wait_never_lasts_longer_from_now_on_than_was_asked_for() {
        let years = 3 * 366 * 24 * 3600;
        for (now, left) in [
            (100, Some(20)),
            (115, Some(5)),
            (120, None),
            (100 + years, None),
            // The clock was set back a little.
            (70, Some(20)),
            (39, None),
            (100 - years, None),
        ] {
            let left: Option<Duration> = left.map(Duration::from_secs);
            assert_eq!(asked(100, 20).left(at(now)), left, "{now}");
        }
    }

    #[test]
    fn the_wait_that_ends_last_counts_unless_its_clock_was_wrong() {
        let mut group = Group::default();
        for (pause, counts) in [
            (asked(10_000, 20), true),
            (asked(100, 20), true),
            (asked(101, 10), false),
            (asked(101, 20), true),
            (asked(200, 1), true),
        ] {
            group.set_pause(pause);
            assert_eq!(group.pause == Some(pause), counts, "{pause:?}");
        }
    }

    #[test]
    fn starts_are_counted_by_the_second() {
        let mut group = Group::default();
        for second in [7, 7, 8, 8, 8, 7] {
            group.count_start(second);
        }
        let counts = group.starts.iter().map(|all| (all.second, all.requests));
        assert_eq!(counts.collect::<Vec<_>>(), [(7, 2), (8, 3), (7, 1)]);
    }

    #[test]
    fn a_learned_rate_alone_does_not_send_a_group() {
        assert!(learned(Some(1)).is_empty());
    }
}
