//! Rows that are sent to find out whether others failed for reasons of their own.
//!
//! A refusal or a missing answer may be about one row, about a kind of rows, or about all. Rows of a
//! kind often stand together, so the row that shows which it is comes from elsewhere in what was
//! read, and was not tried before. It is sent alone.
//!
//! Rows that an earlier start has tried, or another run for the same people, say little: they wait
//! until another row of their campaign was taken, or nothing else is left. So what kept an earlier
//! start from sending the rows behind it cannot keep this one from it too.

use std::collections::{BTreeMap, BTreeSet};

use tokio::time::Instant;

use super::attempt::{Job, Step};
use super::stops::Scope;
use super::window::Slot;
use super::{LeadSender, Pipeline};
use crate::api::Answer;
use crate::lead::CampaignId;
use crate::stop::Stop;

/// A row that was refused in a way that may hold for all.
#[derive(Debug)]
pub(super) struct Suspect {
    pub(super) job: Job,
    answer: Answer,
    /// Why the run, or its campaign, ends if the refusal holds for all.
    stop: Stop,
    /// The number of the refusal in this start: a row sent after it shows whether it was the row's own.
    at: u64,
}

impl<S: LeadSender> Pipeline<'_, S> {
    /// Keeps the row until others show what its refusal means. The ledger has it at once as one that
    /// a later start tries again: that holds whatever ends this one.
    pub(super) fn put_aside(&mut self, mut job: Job, answer: Answer, stop: Stop) {
        let campaign = job.claim.campaign;
        if let Some(outcome) = job.refused_for_now(&answer) {
            self.commits.settle(&job, &outcome, None);
        }
        let slot = job.slot;
        let at = self.stops.refusals;
        self.undecided.suspects.push(Suspect {
            job,
            answer,
            stop,
            at,
        });
        if self.is_ending(campaign) {
            return self.give_up_suspects(Some(campaign));
        }
        if self.stops.is_probing(campaign) {
            self.narrow(campaign);
            let next = &mut self.schedule.next;
            if let Some(job) = next.take_if(|job| job.claim.campaign == campaign) {
                self.schedule.push(Instant::now(), job);
            }
        }
        self.next_canary(campaign, slot, true);
    }

    /// One row of the campaign at a time from now on, the last one first.
    pub(super) fn narrow(&mut self, campaign: CampaignId) {
        if self.schedule.gates.narrow(campaign) {
            self.undecided.probes = 0;
        }
    }

    /// Another row of the campaign goes, if this one was its canary.
    pub(super) fn next_canary(&mut self, campaign: CampaignId, row: Slot, from_elsewhere: bool) {
        if !self.schedule.gates.needs_canary(campaign, row) {
            return;
        }
        let chosen = from_elsewhere.then(|| self.elsewhere(Some(campaign)));
        let Some(slot) = chosen.flatten() else {
            return self.schedule.pass_on(campaign);
        };
        self.schedule.deferred.remove(&slot);
        if let Some(job) = self.schedule.gates.choose(campaign, slot) {
            self.schedule.push(Instant::now(), job);
        } else if !self.claimed_rows().any(|row| row == slot) {
            self.schedule.gates.first.push_back(slot);
        }
    }

    /// A row that was not tried yet, of any campaign that may be sent to; or a row of this campaign, by
    /// turns one of those and any one that earlier starts have tried: one that got no usable answer
    /// or one that was refused, since either may be what stopped them.
    pub(super) fn elsewhere(&mut self, campaign: Option<CampaignId>) -> Option<Slot> {
        self.look_ahead();
        let gates = &self.schedule.gates;
        let count = self.undecided.probes;
        let turn = [0, 1, 0, 2][count as usize % 4];
        let at_gate = campaign.into_iter().flat_map(|of| gates.waiting_rows(of));
        // Others may all be claimed by now, or be deferred.
        let claimed = self.claimed_rows();
        let deferred = self.schedule.deferred.keys().copied();
        let others = claimed.chain(deferred).filter(|_| campaign.is_some());
        let unclaimed = gates.free_rows.iter().copied().chain(at_gate);
        let (mut rows, mut least) = (Vec::new(), None);
        for slot in unclaimed.chain(others) {
            if let Some((_, prepared)) = self.window.get(slot)
                && let Some((of, phone)) = prepared.campaign.zip(prepared.phone)
                && campaign.map_or_else(|| gates.admits(of), |campaign| campaign == of)
                && (campaign.is_some() || prepared.earlier.is_none())
            {
                let earlier = prepared.earlier.as_ref();
                let kind = earlier.map_or(0, |earlier| 1 + u8::from(earlier.was_refused));
                let rank = (kind != turn, kind);
                if least.is_none_or(|least| rank < least) {
                    (rows, least) = (Vec::new(), Some(rank));
                }
                if Some(rank) == least {
                    rows.push((slot, phone.calling_code()));
                }
            }
        }
        self.undecided.probes += 1;
        // Every other one is of a country of which no row was refused, if there is one.
        if count.is_multiple_of(2) {
            let suspects = self.undecided.suspects.iter();
            let refused: Vec<u16> = suspects
                .map(|of| of.job.claim.number.calling_code())
                .collect();
            let is_other = |(_, code): &(Slot, u16)| !refused.contains(code);
            if rows.iter().any(is_other) {
                rows.retain(is_other);
            }
        }
        rows.sort_unstable();
        let at = match least {
            Some((_, 0)) => spread(count / 2, rows.len()),
            _ => fastrand::usize(..rows.len().max(1)),
        };
        rows.get(at).map(|(slot, _)| *slot)
    }

    /// Rows that were claimed and not tried yet, but for those at a gate.
    fn claimed_rows(&self) -> impl Iterator<Item = Slot> {
        let claims = self.commits.claims.rows();
        claims.chain(self.schedule.waiting_rows())
    }

    /// All rows that were read may be chosen now.
    fn look_ahead(&mut self) {
        while let Some(slot) = self.window.peek_ready() {
            self.window.step_over(slot);
            self.schedule.gates.free_rows.insert(slot);
        }
    }

    /// Defers rows that were refused in an earlier start though the rows before them were not sent
    /// yet: these may keep the start from coming so far.
    fn defer_refused(&mut self) {
        if !std::mem::take(&mut self.schedule.has_refused_ahead) {
            return;
        }
        self.look_ahead();
        let (window, deferred) = (&self.window, &mut self.schedule.deferred);
        self.schedule.gates.free_rows.retain(|slot| {
            let row = window.get(*slot).map(|(_, prepared)| prepared);
            let refused = row.filter(|prepared| prepared.was_refused());
            let campaign = refused.and_then(|prepared| prepared.campaign);
            deferred.extend(campaign.map(|campaign| (*slot, campaign)));
            campaign.is_none()
        });
    }

    /// Rows that an earlier start has tried may go: of a campaign of which a row was taken, or of
    /// all. Returns whether there are any.
    pub(super) fn release_deferred(&mut self, campaign: Option<CampaignId>) -> bool {
        self.defer_refused();
        let deferred = std::mem::take(&mut self.schedule.deferred).into_iter();
        let (released, kept): (BTreeMap<_, _>, BTreeMap<_, _>) =
            deferred.partition(|(_, of)| campaign.is_none_or(|meant| meant == *of));
        self.schedule.deferred = kept;
        self.schedule.has_only_tried |= campaign.is_none() && !released.is_empty();
        let mut rows: Vec<Slot> = released.into_keys().collect();
        // Those that stopped the starts before are among them, and must not be first each time. Nor do
        // rows that are refused alike again stop this one before those in doubt had their turn.
        fastrand::shuffle(&mut rows);
        let mut turns = [0; 2];
        let rows = rows.into_iter().map(|slot| {
            let row = self.window.get(slot);
            let is_in_doubt = row.is_some_and(|(_, prepared)| prepared.is_doubtful());
            let turn = &mut turns[usize::from(is_in_doubt)];
            *turn += 1;
            (*turn, !is_in_doubt, slot)
        });
        let mut rows: Vec<(u64, bool, Slot)> = rows.collect();
        rows.sort_unstable();
        let has_any = !rows.is_empty();
        let rows = rows.into_iter().map(|(.., slot)| slot);
        self.schedule.gates.first.extend(rows);
        has_any
    }

    /// The first `refusals` of the run were those rows' own: the rows of the campaign are rejected.
    pub(super) fn reject_suspects(&mut self, campaign: CampaignId, refusals: u64) {
        let is_meant = |of: &mut Suspect| of.job.claim.campaign == campaign && of.at <= refusals;
        let rejected: Vec<Suspect> = self.undecided.suspects.extract_if(.., is_meant).collect();
        for Suspect {
            mut job, answer, ..
        } in rejected
        {
            let step = job.judge(answer, &self.policy, &self.undecided.periods, false);
            if let Step::Settle(outcome) = step {
                let cells = self.bad_cells(&job);
                self.commits.settle_again(job.claim, outcome.clone(), cells);
                self.give(job.slot, outcome);
            }
        }
    }

    /// Decides about the rows that were refused when no further row can show what it means: none is
    /// left, or none has room in the window. Returns whether there were any.
    pub(super) fn decide_suspects(&mut self) -> bool {
        let suspects = self.undecided.suspects.iter();
        let campaigns: BTreeSet<CampaignId> = suspects.map(|of| of.job.claim.campaign).collect();
        for campaign in &campaigns {
            if self.stops.has_taken(*campaign) {
                self.reject_suspects(*campaign, self.stops.refusals);
            } else {
                self.meet_stop(*campaign);
            }
            self.stops.forget_refusals(*campaign);
        }
        !campaigns.is_empty()
    }

    /// Ends the suspects of a campaign without an outcome. The others of it end too, unless more of
    /// them may come.
    fn meet_stop(&mut self, campaign: CampaignId) {
        let suspects = self.undecided.suspects.iter();
        let last = suspects.rev().find(|of| of.job.claim.campaign == campaign);
        let Some(stop) = last.map(|last| last.stop.clone()) else {
            return;
        };
        if self.progress.is_read {
            self.stop_scope(Scope::Campaign, campaign, stop);
        } else {
            self.stop_state.later.get_or_insert(stop);
        }
        self.give_up_suspects(Some(campaign));
    }

    /// Ends suspects without an outcome, unless an attempt may have been taken: a later start tries
    /// them again.
    pub(super) fn give_up_suspects(&mut self, campaign: Option<CampaignId>) {
        let is_meant = |of: &mut Suspect| campaign.is_none_or(|one| of.job.claim.campaign == one);
        let suspects: Vec<Suspect> = self.undecided.suspects.extract_if(.., is_meant).collect();
        for Suspect { mut job, .. } in suspects {
            self.stop_state.has_given_up = true;
            match job.uncertain() {
                Some(outcome) => self.give(job.slot, outcome),
                None => {
                    let place = (job.claim.file, job.claim.line);
                    self.stop_state.stopped_at.push(place);
                    self.window.pass_over(job.slot);
                }
            }
        }
    }
}

/// The place of a choice among `len` rows, after `count` others: the last one, and then each far
/// from those before it.
fn spread(count: u32, len: usize) -> usize {
    let share = match count {
        0 => u64::from(u32::MAX),
        _ => u64::from(count.reverse_bits()),
    };
    usize::try_from((share * len as u64) >> 32).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_spread_over_all_rows() {
        let places: Vec<usize> = (0..8).map(|count| spread(count, 80)).collect();
        assert_eq!(places, [79, 40, 20, 60, 10, 50, 30, 70]);
        assert!((0..100).all(|count| spread(count, 1) == 0));
    }
}
