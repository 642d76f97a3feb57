//! What the ledger knows about a number.

use super::SentRow;
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
    pub settled: Option<SentRow>,
    /// The latest row that may have been taken.
    pub uncertain: Option<SentRow>,
    /// The latest row that was refused; it has failed if it is not known to be the reason.
    pub rejected: Option<SentRow>,
}

impl Known {
    pub(super) fn of<'a>(rows: impl Iterator<Item = &'a SentRow>) -> Known {
        let mut known = Known::default();
        rows.for_each(|row| known.add(row));
        known
    }

    pub(super) fn add(&mut self, record: &SentRow) {
        let is_later = |a: &SentRow, b: &SentRow| (a.run, a.row) > (b.run, b.row);
        let is_earlier = |a: &SentRow, b: &SentRow| earliness(a) < earliness(b);
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

fn keep(kept: &mut Option<SentRow>, new: &SentRow, is_better: impl Fn(&SentRow, &SentRow) -> bool) {
    if kept.as_ref().is_none_or(|kept| is_better(new, kept)) {
        *kept = Some(new.clone());
    }
}

/// Created before duplicate, then by time.
fn earliness(record: &SentRow) -> impl Ord + use<> {
    let is_duplicate = record.outcome.status == Status::Duplicate;
    (
        is_duplicate,
        record.outcome.settled_at,
        record.run,
        record.row,
    )
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::lead::{ErrorCode, RowId, RowOutcome, RunId};
    use crate::phone::PhoneNumber;

    fn record(run: u64, status: Status, second: i64) -> SentRow {
        let code = (status == Status::Failed).then_some(ErrorCode::Http(423));
        let mut outcome = RowOutcome::not_sent(status, code, None);
        outcome.settled_at = Timestamp::from_second(second).ok();
        SentRow {
            run: RunId(run),
            row: RowId(1),
            campaign: CampaignId(1),
            number: PhoneNumber::from_key(447_911_123_456).unwrap(),
            file: 0,
            line: 2,
            outcome,
        }
    }

    #[test]
    fn the_earliest_lead_counts_and_of_what_was_refused_or_is_open_the_latest() {
        use Status::{Created, Duplicate, Failed, Rejected, Uncertain};
        for (records, settled, uncertain, rejected) in [
            (vec![(1, Created, 5), (2, Created, 4)], Some(2), None, None),
            (
                vec![(1, Duplicate, 3), (2, Created, 4)],
                Some(2),
                None,
                None,
            ),
            (
                vec![(1, Duplicate, 3), (2, Duplicate, 4)],
                Some(1),
                None,
                None,
            ),
            (
                vec![(1, Uncertain, 9), (2, Uncertain, 8)],
                None,
                Some(2),
                None,
            ),
            (vec![(1, Rejected, 9), (2, Failed, 8)], None, None, Some(2)),
            (
                vec![(1, Created, 1), (2, Rejected, 2)],
                Some(1),
                None,
                Some(2),
            ),
        ] {
            for turned in [false, true] {
                let mut records = records.clone();
                if turned {
                    records.reverse();
                }
                let mut known = Known::default();
                for (run, status, second) in &records {
                    known.add(&record(*run, *status, *second));
                }
                let runs = [&known.settled, &known.uncertain, &known.rejected]
                    .map(|kept| kept.as_ref().map(|record| record.run.0));
                assert_eq!(runs, [settled, uncertain, rejected], "{records:?}");
            }
        }
    }
}
