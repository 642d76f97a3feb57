//! What happens in a run, as the pipeline reports it.
//!
//! Rule: one way. No listener influences the run.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::exit::StoppedBy;
use crate::lead::{CampaignId, ErrorCode, RowId, RowOutcome};
use crate::phone::PhoneNumber;
use crate::rate::{Pace, Rate};
use crate::source::Row;

#[derive(Debug, Clone)]
pub enum RunEvent<'a> {
    Settled {
        row: Row<'a>,
        phone: Option<PhoneNumber>,
        campaign: Option<CampaignId>,
        outcome: &'a RowOutcome,
        /// Whether the row was still to be sent when it was read. Otherwise its
        /// outcome was known then.
        sent: bool,
    },
    /// The answer about a row has come, or none will come.
    Answered {
        row: RowId,
        http_status: Option<u16>,
        asks_to_wait: bool,
        /// What the service calls the request, if it was refused.
        request_id: Option<&'a str>,
    },
    Retrying {
        row: RowId,
        attempt: u32,
        after: Duration,
        /// The reason in one word, because the service's text may name a person.
        why: ErrorCode,
    },
    /// The service refuses for now, and the whole run waits.
    Held {
        wait: Duration,
        why: ErrorCode,
    },
    /// The service no longer accepts the token, and another one is waited for, at most so long.
    AwaitsToken {
        longest: Duration,
    },
    /// The service gives no usable answers and gets one request at a time. Reported once for each
    /// outage, and again after each attempt without a usable answer.
    Outage {
        since: Timestamp,
        why: ErrorCode,
        /// The reason as a sentence, if the sentence is this program's and not the service's.
        reason: Option<&'a str>,
        next: Duration,
    },
    Recovered {
        outage: Duration,
    },
    /// A slower pace does not lower the share of refusals, so the pace is no longer lowered for them.
    /// Reported once.
    RefusedByChance(ByChance),
    /// One of several campaigns takes no leads; the others continue.
    CampaignStopped {
        campaign: CampaignId,
        by: StoppedBy,
    },
    /// The state of the run; reported once a second.
    Pulse(Pulse),
    /// Nothing new is sent; the run waits for the requests in flight.
    Stopping {
        by: StoppedBy,
        in_flight: usize,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pulse {
    /// Time since sending began.
    pub elapsed: Duration,
    /// `None` means that there is no limit.
    pub allowed: Option<Pace>,
    pub in_flight: usize,
    pub requests: u64,
    pub read: u64,
    /// Rows that were read and still wait to be sent or answered.
    pub waiting: u64,
    pub pause: Option<Pause>,
}

/// The shares that were refused, from 0 to 1, and the pace of each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByChance {
    pub before: (f64, Rate),
    pub slower: (f64, Rate),
}

/// A wait of all rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// How long it takes, at most; zero if that is not known.
    pub left: Duration,
    pub why: Waiting,
}

/// What all rows wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waiting {
    /// The service has asked for it.
    Asked,
    /// The service refuses for now, and has not said for how long.
    Refused,
    /// There has been no usable answer since then.
    Outage { since: Timestamp },
    /// The only rows left are tried again later.
    Retry,
    /// What was sent before, by earlier starts too, has used up the rate.
    Pace,
    /// Other runs have claimed so many of the rows, and it is not known yet what became of them. `by`: whose
    /// run it is.
    Others { rows: u64, by: Option<Arc<str>> },
    /// The service no longer accepts the token, and another one may come.
    Token,
    /// The ledger has been out of reach since then.
    Ledger { since: Timestamp },
    /// What was given to the ledger then is not written yet.
    Commit { since: Timestamp },
}

impl Waiting {
    /// A wait of so long, at most; zero if that is not known.
    pub fn lasting(self, left: Duration) -> Pause {
        Pause { left, why: self }
    }

    /// Each as a word, for machines.
    pub const WORDS: [&str; 7] = [
        "refused", "outage", "retry", "pace", "claims", "token", "ledger",
    ];

    pub fn word(&self) -> &'static str {
        let at = match self {
            Waiting::Asked | Waiting::Refused => 0,
            Waiting::Outage { .. } => 1,
            Waiting::Retry => 2,
            Waiting::Pace => 3,
            Waiting::Others { .. } => 4,
            Waiting::Token => 5,
            Waiting::Ledger { .. } | Waiting::Commit { .. } => 6,
        };
        Waiting::WORDS[at]
    }

    /// Whether no other event tells of it.
    pub fn is_told_by_pulses(&self) -> bool {
        use Waiting::{Commit, Others, Pace, Retry};
        matches!(self, Retry | Pace | Others { .. } | Commit { .. })
    }
}
