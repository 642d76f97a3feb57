//! How a run ends: whether it still sends, why not, and whether every row had its turn.
//!
//! Rule: pure.

use crate::exit::StoppedBy;
use crate::lead::CampaignId;
use crate::stop::{Stop, StopReason};

#[derive(Debug, Default)]
pub(super) struct StopState {
    pub(super) stop: Option<Stop>,
    is_reported: bool,
    pub(super) is_interrupted: bool,
    /// Whether some row was not tried as often as allowed, or not at all.
    pub(super) has_given_up: bool,
    pub(super) results_ended: bool,
    /// Campaigns that were refused while others went on.
    pub(super) refused: Vec<(CampaignId, Stop)>,
    /// What ends the run when all others had their turn: rows were refused, and it is not known if
    /// for reasons of their own.
    pub(super) later: Option<Stop>,
    /// The file and line of each of these rows.
    pub(super) stopped_at: Vec<(usize, u64)>,
}

impl StopState {
    /// Nothing more is sent. Of several reasons it keeps the one with the highest exit code.
    /// Returns what to report now. Rows that were rejected alike are reported only if
    /// `are_rows_left`: otherwise this may turn out to be no stop.
    pub(super) fn stop(&mut self, stop: Stop, are_rows_left: bool) -> Option<StoppedBy> {
        let is_first = self.stop.is_none();
        let before = self.stop.as_ref().map(Stop::by);
        let stop = Stop::worse(self.stop.take(), stop);
        let by = stop.by();
        self.stop = Some(stop);
        let is_certain = !is_first || by != StoppedBy::Rejections || are_rows_left;
        if is_certain && before != Some(by) {
            self.report()
        } else {
            None
        }
    }

    pub(super) fn report(&mut self) -> Option<StoppedBy> {
        let by = self.stop.as_ref().map(Stop::by)?;
        (!std::mem::replace(&mut self.is_reported, true)).then_some(by)
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stop.is_some()
    }

    /// Whether every row that was read had its turn: rows that were rejected alike are no
    /// reason to stop if they were the last ones of the run or of their campaign.
    pub(super) fn may_be_whole(&self) -> bool {
        let of_campaigns = self.refused.iter().map(|(_, stop)| stop);
        let mut stops = self.stop.iter().chain(of_campaigns);
        !self.has_given_up && stops.all(|stop| stop.by() == StoppedBy::Rejections)
    }

    /// All rows had their turn, so nothing was stopped.
    pub(super) fn take_back(&mut self) {
        self.stop = None;
        self.refused.clear();
    }

    /// Adds the refused campaigns to the reasons why the run is not complete.
    pub(super) fn conclude(&mut self, takes_others: bool) {
        if let Some(later) = self.later.take() {
            self.stop = Some(Stop::both(self.stop.take(), later));
        }
        if self.refused.is_empty() {
            return;
        }
        let refused = Stop::new(StopReason::Campaigns {
            refused: std::mem::take(&mut self.refused),
            others_were_sent: self.stop.is_none() && takes_others,
        });
        self.stop = Some(Stop::both(self.stop.take(), refused));
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::signals::Interrupt;

    fn signal() -> Stop {
        Stop::new(StopReason::Interrupted(Interrupt::Signal))
    }

    fn rejections() -> Stop {
        Stop::new(StopReason::RejectedAlike(NonZeroU32::MIN))
    }

    #[test]
    fn the_reason_with_the_highest_exit_code_is_kept_and_reported_once() {
        let mut state = StopState::default();
        assert_eq!(state.stop(signal(), true), Some(StoppedBy::Signal));
        assert_eq!(state.stop(rejections(), true), None);
        let disk = Stop::new(StopReason::ResultsEnded);
        assert_eq!(state.stop(disk.clone(), true), None);
        assert_eq!(state.stop, Some(disk));
    }

    #[test]
    fn rejections_of_the_last_rows_are_not_a_stop_unless_rows_were_abandoned() {
        let mut state = StopState::default();
        assert_eq!(state.stop(rejections(), false), None);
        assert!(state.may_be_whole());
        state.has_given_up = true;
        assert!(!state.may_be_whole());
        assert_eq!(state.report(), Some(StoppedBy::Rejections));
        assert_eq!(state.report(), None);
    }

    #[test]
    fn refused_campaigns_are_reported_beside_the_reason_of_the_stop() {
        let mut state = StopState::default();
        state.refused.push((CampaignId(1), rejections()));
        state.stop(signal(), true);
        state.conclude(true);
        let stop = state.stop.unwrap();
        assert_eq!(stop.by(), StoppedBy::Signal);
        let StopReason::Campaigns {
            others_were_sent, ..
        } = stop.also.unwrap().reason
        else {
            panic!("the campaign is missing");
        };
        assert!(!others_were_sent);
    }
}
