//! Rows whose outcome depends on what other rows are answered.
//!
//! Rule: pure. A refusal that may hold for every row of a campaign is the row's own only
//! where another row of it is understood (see [`super::stops`]). A row that is out of attempts
//! has failed by itself only where another row was answered meanwhile: otherwise the service
//! may be away (see [`super::outage`]).

use super::attempt::Job;
use crate::api::Answer;
use crate::lead::{CampaignId, RowOutcome};

#[derive(Debug, Default)]
pub(super) struct Undecided {
    refused: Vec<(Job, Answer)>,
    exhausted: Vec<(Job, RowOutcome)>,
    /// How many answers about rows there have been.
    epoch: u64,
}

impl Undecided {
    /// How many rows wait here.
    pub(super) fn len(&self) -> usize {
        self.refused.len() + self.exhausted.len()
    }

    /// How many answers about rows there have been.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Another row was answered. Returns the rows that have failed by themselves, then.
    pub(super) fn answered(&mut self) -> Vec<(Job, RowOutcome)> {
        self.epoch += 1;
        self.take_exhausted()
    }

    /// Keeps a row whose refusal may be every row's.
    pub(super) fn add_refused(&mut self, job: Job, answer: Answer) {
        self.refused.push((job, answer));
    }

    /// Keeps a row that is out of attempts, and the outcome that it will have.
    pub(super) fn add_exhausted(&mut self, job: Job, outcome: RowOutcome) {
        self.exhausted.push((job, outcome));
    }

    /// The refused rows of a campaign, or of all.
    pub(super) fn take_refused(&mut self, campaign: Option<CampaignId>) -> Vec<(Job, Answer)> {
        let is_meant = |job: &Job| campaign.is_none_or(|meant| job.claim.campaign == meant);
        self.refused
            .extract_if(.., |(job, _)| is_meant(job))
            .collect()
    }

    /// The rows that are out of attempts.
    pub(super) fn take_exhausted(&mut self) -> Vec<(Job, RowOutcome)> {
        std::mem::take(&mut self.exhausted)
    }
}
