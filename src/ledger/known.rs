//! What the ledger knows about a number.

use super::Record;
use crate::lead::{CampaignId, Status};

/// Where a number may be sent only once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Once in each campaign; this campaign is looked up.
    Campaign(CampaignId),
    Service,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// The earliest lead that the service has created,
    /// otherwise the earliest that it reported as a duplicate.
    pub settled: Option<Record>,
    /// The latest row that may have been taken.
    pub uncertain: Option<Record>,
    /// The latest row that was refused; it has failed if it is not known to be the reason.
    pub rejected: Option<Record>,
}

impl Known {
    pub(super) fn add(&mut self, record: Record) {
        let is_later = |a: &Record, b: &Record| (a.run, a.row) > (b.run, b.row);
        let is_earlier = |a: &Record, b: &Record| earliness(a) < earliness(b);
        match record.outcome.status {
            _ if record.is_removed() => {}
            Status::Created | Status::Duplicate => keep(&mut self.settled, record, is_earlier),
            Status::Uncertain => keep(&mut self.uncertain, record, is_later),
            Status::Rejected => keep(&mut self.rejected, record, is_later),
            Status::Failed if record.outcome.is_tried_again() => {
                keep(&mut self.rejected, record, is_later);
            }
            // Nothing was taken of the other rows: they count as never sent.
            _ => {}
        }
    }
}

fn keep(kept: &mut Option<Record>, new: Record, is_better: impl Fn(&Record, &Record) -> bool) {
    if kept.as_ref().is_none_or(|kept| is_better(&new, kept)) {
        *kept = Some(new);
    }
}

/// Created before duplicate, then by time.
fn earliness(record: &Record) -> impl Ord + use<> {
    let is_duplicate = record.outcome.status == Status::Duplicate;
    (
        is_duplicate,
        record.outcome.settled_at,
        record.run,
        record.row,
    )
}
