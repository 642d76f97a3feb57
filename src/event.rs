//! What happens in a run, as it is told to whoever listens.
//!
//! Rule: told, never asked. Nothing here changes what happens.

use std::time::Duration;

use crate::exit::StoppedBy;
use crate::lead::{CampaignId, ErrorCode, RowId, RowOutcome};
use crate::phone::PhoneNumber;
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
    },
    /// So many requests are in flight now.
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
        /// Why, in one word.
        why: ErrorCode,
    },
    /// Nothing new is sent any more; what is in flight is awaited.
    Stopping {
        /// Why.
        by: StoppedBy,
        /// How much is in flight.
        in_flight: usize,
    },
}
