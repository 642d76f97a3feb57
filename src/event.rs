//! What happens in a run, as the pipeline reports it.
//!
//! Rule: one way. No listener changes what happens.

use std::time::Duration;

use jiff::Timestamp;

use crate::api::verdict::Wait;
use crate::exit::StoppedBy;
use crate::lead::{CampaignId, ErrorCode, RowId, RowOutcome};
use crate::phone::PhoneNumber;
use crate::rate::Rate;
use crate::source::Row;

/// Something that happened.
#[derive(Debug, Clone, Copy)]
pub enum RunEvent<'a> {
    /// A row has its outcome, sent or not.
    Settled {
        /// The row.
        row: Row<'a>,
        /// Its number, where it has one.
        phone: Option<PhoneNumber>,
        /// Its campaign, where the id is known.
        campaign: Option<CampaignId>,
        /// What became of it.
        outcome: &'a RowOutcome,
        /// Whether it was still open when it was read, so that this process sent it; what
        /// became of the others was known then.
        sent: bool,
    },
    /// How many requests are in flight now.
    InFlight(usize),
    /// A row will be sent again.
    Retrying {
        /// The row.
        row: RowId,
        /// Its attempts so far.
        attempt: u32,
        /// How long it waits.
        after: Duration,
        /// Why, in one word: what the service said may name a person.
        why: ErrorCode,
    },
    /// The service refuses for now, and everything waits.
    Held {
        /// How long.
        wait: Duration,
        /// What it said of that.
        hint: Wait,
        /// Why, in one word.
        why: ErrorCode,
    },
    /// More requests are allowed now, or fewer; none means no limit of our own.
    Paced(Option<Rate>),
    /// The service gives no usable answers, and gets one request at a time. Reported once
    /// for each outage and again with each attempt that brings nothing.
    Outage {
        /// Since when.
        since: Timestamp,
        /// Why, in one word.
        why: ErrorCode,
        /// The same in a sentence, where it is ours and not the service's.
        reason: Option<&'a str>,
        /// How long it is until the next attempt.
        next: Duration,
    },
    /// It answers again.
    Recovered {
        /// After how long.
        outage: Duration,
    },
    /// One campaign of several takes no leads; the others go on.
    CampaignStopped {
        /// The campaign.
        campaign: CampaignId,
        /// Why.
        by: StoppedBy,
    },
    /// How the run is doing; reported once a second.
    Pulse(Pulse),
    /// Nothing new is sent; what is in flight is awaited.
    Stopping {
        /// Why.
        by: StoppedBy,
        /// How much is in flight.
        in_flight: usize,
    },
}

/// How a run is doing while rows are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pulse {
    /// Time since the sending began.
    pub elapsed: Duration,
    /// The requests that are allowed now; none means no limit of our own.
    pub allowed: Option<Rate>,
    /// Requests in flight.
    pub in_flight: usize,
    /// Requests started.
    pub requests: u64,
    /// Rows that were read.
    pub read: u64,
    /// Rows that were read and are still to be sent, or to be answered.
    pub waiting: u64,
    /// What everything waits for, if it does.
    pub pause: Option<Pause>,
}

/// A pause of all requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// How long it will last from now.
    pub left: Duration,
    /// Why.
    pub reason: PauseReason,
}

/// Why all requests wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseReason {
    /// The service refuses for now.
    Refused(ErrorCode),
    /// It gives no usable answers, since then.
    Outage {
        /// Since when.
        since: Timestamp,
        /// Why, in one word.
        why: ErrorCode,
    },
}
