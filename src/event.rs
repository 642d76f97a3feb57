//! What happens in a run, as the pipeline reports it.
//!
//! Rule: one way. No listener changes what happens.

use std::time::Duration;

use jiff::Timestamp;

use crate::exit::StoppedBy;
use crate::lead::{CampaignId, ErrorCode, RowId, RowOutcome};
use crate::phone::PhoneNumber;
use crate::rate::Rate;
use crate::source::Row;

#[derive(Debug, Clone, Copy)]
pub enum RunEvent<'a> {
    Settled {
        row: Row<'a>,
        phone: Option<PhoneNumber>,
        campaign: Option<CampaignId>,
        outcome: &'a RowOutcome,
        /// Whether it was still open when it was read, so that this process sent it; what
        /// became of the others was known then.
        sent: bool,
    },
    Retrying {
        row: RowId,
        attempt: u32,
        after: Duration,
        /// Why, in one word: what the service said may name a person.
        why: ErrorCode,
    },
    /// The service refuses for now, and everything waits.
    Held {
        wait: Duration,
        why: ErrorCode,
    },
    /// More requests are allowed now, or fewer; none means no limit of our own.
    Paced(Option<Rate>),
    /// The service gives no usable answers, and gets one request at a time. Reported once
    /// for each outage and again with each attempt that brings nothing.
    Outage {
        since: Timestamp,
        why: ErrorCode,
        /// The same in a sentence, where it is ours and not the service's.
        reason: Option<&'a str>,
        next: Duration,
    },
    Recovered {
        outage: Duration,
    },
    /// One campaign of several takes no leads; the others go on.
    CampaignStopped {
        campaign: CampaignId,
        by: StoppedBy,
    },
    /// How the run is doing; reported once a second.
    Pulse(Pulse),
    /// Nothing new is sent; what is in flight is awaited.
    Stopping {
        by: StoppedBy,
        in_flight: usize,
    },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pulse {
    /// Time since the sending began.
    pub elapsed: Duration,
    pub allowed: Option<Rate>,
    pub in_flight: usize,
    pub requests: u64,
    pub read: u64,
    /// Rows that were read and are still to be sent, or to be answered.
    pub waiting: u64,
    pub pause: Option<Pause>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    pub left: Duration,
    /// Since when the service has given no usable answer; none where it asks to wait.
    pub outage_since: Option<Timestamp>,
}
