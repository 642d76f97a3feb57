//! What happens in a run, as the pipeline reports it.
//!
//! Rule: one way. No listener influences the run.

use std::time::Duration;

use jiff::Timestamp;

use crate::exit::StoppedBy;
use crate::lead::{CampaignId, ErrorCode, RowId, RowOutcome};
use crate::phone::PhoneNumber;
use crate::rate::Pace;
use crate::source::Row;

#[derive(Debug, Clone, Copy)]
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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    pub left: Duration,
    /// Whether the service asked for it.
    pub is_asked: bool,
    /// Since when there has been no usable answer; `None` if there was one.
    pub outage_since: Option<Timestamp>,
    /// Whether it is not the service but the ledger that does not answer.
    pub is_ledger: bool,
}
