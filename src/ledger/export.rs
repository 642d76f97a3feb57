//! Which rows are exported, and what is exported of each.

use crate::lead::{CampaignId, RowId, RowOutcome, RunId, Status};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    pub runs: Vec<RunId>,
    /// Rows of this campaign; `None` for all campaigns.
    pub campaign: Option<CampaignId>,
    /// Rows with one of these statuses; empty for all.
    pub statuses: Vec<Status>,
}

impl Selection {
    /// The row as it is exported, if its status is one of these.
    pub(super) fn take(&self, mut row: ExportedRow) -> Option<ExportedRow> {
        let outcome = &mut row.outcome;
        // It is stored as failed since it is tried again; its results say what the service said.
        if outcome.is_tried_again() {
            outcome.status = Status::Rejected;
        }
        let is_meant = self.statuses.is_empty() || self.statuses.contains(&outcome.status);
        is_meant.then_some(row)
    }
}

/// A row that a run sent or found invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedRow {
    pub run: RunId,
    pub row: RowId,
    /// Its input, counted from 0.
    pub file: usize,
    /// Its line in the input, counted from 1.
    pub line: u64,
    /// The number that it was sent with, or the phone cell of an invalid row as it was read.
    pub phone: String,
    pub campaign: Option<CampaignId>,
    pub outcome: RowOutcome,
}
