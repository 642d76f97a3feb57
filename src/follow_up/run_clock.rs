//! The clock that this computer had when a run was sent, as far as the service's list of leads shows it.
//!
//! No lead is made after the answer about it. If leads are listed as later than that, the clock was behind
//! then, or is ahead now, or the service means another zone: whichever it is, all times of the run are by as
//! much too early. Where the clock was right, a single lead may have another time for another reason, so this
//! counts only if not more of them are listed as made just before their answers.
//!
//! This says nothing of a clock that was set while the run was sent, or of a run most of whose leads the
//! service had before: what its own clock said then is not on record.

use jiff::{SignedDuration, Timestamp};

use super::lookup::{later_than, was_made_before};
use crate::api::{ListedLead, Made};

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RunClock {
    /// By how much a lead is listed as later than its answer, at most.
    latest: SignedDuration,
    later: u64,
    in_time: u64,
}

impl RunClock {
    /// Takes a lead that is listed with the id of a row that was answered at that time.
    pub(super) fn note(&mut self, lead: &ListedLead, answered: Option<Timestamp>) {
        if let Some(late) = later_than(lead, answered) {
            self.later += 1;
            self.latest = self.latest.max(late);
        }
        self.in_time += u64::from(was_made_before(lead, answered));
    }

    /// When a lead was made, by this clock.
    pub(super) fn of(self, made: Made) -> Made {
        if self.later < self.in_time {
            return made;
        }
        let at = made.at.saturating_sub(self.latest).unwrap_or(made.at);
        Made { at, ..made }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::follow_up::lookup::is_older;
    use crate::lead::{CampaignId, RowId};
    use crate::ledger::UndoRow;
    use crate::phone::PhoneNumber;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn row(answered: i64) -> UndoRow {
        UndoRow {
            row: RowId(1),
            number: PhoneNumber::from_key(447_911_000_001).unwrap(),
            campaign: CampaignId(101),
            lead_id: Some("a".to_owned()),
            made_at: Some(at(answered)),
            answer_lost: false,
            attempted: Vec::new(),
            was_asked: false,
            outcome: None,
        }
    }

    fn is_older_by(clock: RunClock, made: i64, began: i64, answered: i64) -> bool {
        let made = clock.of(Made {
            at: at(made),
            has_zone: true,
        });
        let timeout = Some(SignedDuration::from_secs(60));
        is_older(made, at(began), timeout, &row(answered))
    }

    proptest! {
        /// The run began at 0, by a clock that was behind.
        #[test]
        fn leads_of_the_run_and_leads_from_before_it_are_told_apart_however_far_the_clock_was_behind(
            behind in prop_oneof![0..10_i64, 0..200_000_i64],
            own in prop::collection::vec((0..90_000_i64, 0..30_i64), 1..8),
            earlier in prop::collection::vec((0..90_000_i64, 91..300_000_i64), 0..8),
        ) {
            let own: Vec<_> = own.iter().map(|(answered, took)| (answered - took, *answered)).collect();
            let earlier: Vec<_> = earlier.iter().map(|(answered, ago)| (-ago, *answered)).collect();
            let earlier = &earlier[..earlier.len().min(own.len())];
            let mut clock = RunClock::default();
            for (made, answered) in own.iter().chain(earlier) {
                clock.note(&ListedLead::made_at("a", at(*made)), Some(at(answered - behind)));
            }
            for (made, answered) in own {
                prop_assert!(!is_older_by(clock, made, -behind, answered - behind), "{made}");
            }
            for (made, answered) in earlier {
                prop_assert!(is_older_by(clock, *made, -behind, answered - behind), "{made}");
            }
        }

        #[test]
        fn a_single_lead_with_another_time_changes_nothing_for_the_others(
            answered in prop::collection::vec(0..90_000_i64, 2..8),
            late in 0..9_000_000_i64,
        ) {
            let mut clock = RunClock::default();
            clock.note(&ListedLead::made_at("a", at(late)), Some(at(0)));
            for answered in &answered {
                clock.note(&ListedLead::made_at("a", at(*answered)), Some(at(*answered)));
            }
            for answered in answered {
                prop_assert!(!is_older_by(clock, answered, 0, answered));
            }
        }
    }
}
