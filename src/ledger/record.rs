//! A row that was sent, as the ledger knows it.

use crate::lead::{CampaignId, RowId, RowOutcome, RunId};
use crate::phone::PhoneNumber;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub run: RunId,
    pub row: RowId,
    pub campaign: CampaignId,
    pub number: PhoneNumber,
    /// Its input, counted from 0.
    pub file: usize,
    /// Its line in the input, counted from 1.
    pub line: u64,
    /// Its outcome; times are whole seconds.
    pub outcome: RowOutcome,
}
