//! Whether rows that the service rejects are bad, or the service is ill.
//!
//! A service that refuses all rows of a campaign for one reason says nothing about the rows: they are
//! known to be bad only where it takes others in the same start, or refuses others for other
//! reasons. Until then the ledger has them as rows that are tried again, which so holds whatever
//! ends the start, a kill too.

use std::collections::{BTreeMap, HashMap};

use crate::api::verdict::without_request_id;
use crate::lead::{CampaignId, ErrorCode, RowId, RowOutcome, Status};
use crate::ledger::{CellsDigest, Claim};
use crate::text::without_words_of;

#[derive(Debug, Default)]
pub(super) struct Reasons {
    campaigns: HashMap<CampaignId, OfCampaign>,
    /// Rejected rows of which this is not known yet, and those that a stop for rows rejected alike
    /// has counted.
    pub(super) open: BTreeMap<RowId, Rejection>,
}

#[derive(Debug, Default)]
struct OfCampaign {
    first: Option<(Option<ErrorCode>, String)>,
    /// Whether a row was taken, or rejected for another reason than the first one.
    are_the_rows: bool,
}

/// A rejected row that the ledger has as one that is tried again.
#[derive(Debug)]
pub(super) struct Rejection {
    pub(super) claim: Claim,
    pub(super) outcome: RowOutcome,
    pub(super) cells: Option<CellsDigest>,
    pub(super) is_counted: bool,
}

/// What the ledger keeps of a rejected row that the same command tries again: one that the service
/// never took.
pub(super) fn tried_again(rejected: &RowOutcome) -> RowOutcome {
    RowOutcome {
        status: Status::Failed,
        ..rejected.clone()
    }
}

impl Reasons {
    /// Whether rows of the campaign are rejected for themselves.
    pub(super) fn are_the_rows(&self, campaign: CampaignId) -> bool {
        self.campaigns
            .get(&campaign)
            .is_some_and(|of| of.are_the_rows)
    }

    /// Takes the outcome of a row with these values, which a reason may quote.
    pub(super) fn count<'v>(
        &mut self,
        campaign: CampaignId,
        outcome: &RowOutcome,
        values: impl Iterator<Item = &'v str>,
    ) {
        let has_taken = matches!(outcome.status, Status::Created | Status::Duplicate);
        let is_bad = outcome.status == Status::Rejected && !outcome.is_known_bad;
        if !is_bad && !has_taken {
            return;
        }
        let of = self.campaigns.entry(campaign).or_default();
        of.are_the_rows |= has_taken;
        if of.are_the_rows {
            return;
        }
        let error = outcome.error.as_ref().map(without_request_id);
        let text = without_words_of(&error.unwrap_or_default(), values);
        // A number in it may be that of the request.
        let words = text.split_whitespace();
        let words = words.filter(|word| !word.contains(char::is_numeric));
        let reason = (outcome.error_code, words.collect::<Vec<_>>().join(" "));
        let first = of.first.get_or_insert_with(|| reason.clone());
        of.are_the_rows = *first != reason;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::verdict::naming;

    fn are_several(texts: &[(u16, &str)]) -> bool {
        let mut reasons = Reasons::default();
        for (id, (code, text)) in texts.iter().enumerate() {
            let code = Some(ErrorCode::Http(*code));
            let outcome = RowOutcome::not_sent(
                Status::Rejected,
                code,
                Some(naming(text, Some(&id.to_string()))),
            );
            reasons.count(CampaignId(1), &outcome, ["Ada Lovelace"].into_iter());
        }
        assert!(!reasons.are_the_rows(CampaignId(2)));
        reasons.are_the_rows(CampaignId(1))
    }

    #[test]
    fn a_reason_is_the_same_whichever_row_or_request_it_names() {
        assert!(!are_several(&[
            (419, "Page expired"),
            (419, "Page expired")
        ]));
        assert!(!are_several(&[
            (422, "no: request 7f3a"),
            (422, "no: request 81bc")
        ]));
        assert!(!are_several(&[
            (422, "Ada may not be called"),
            (422, "Lovelace may not be called")
        ]));
        assert!(are_several(&[
            (422, "the name is too long"),
            (422, "the city is unknown")
        ]));
        assert!(are_several(&[(410, "no"), (451, "no")]));
    }
}
