//! Whether rows that the service rejects are bad, or the service is ill.
//!
//! A service that refuses everything for one reason says nothing about the rows: they are known to
//! be bad only where it takes others, or refuses others for other reasons. Until then the ledger has
//! them as rows that are tried again, which so holds whatever ends the start, a kill too.

use std::collections::BTreeMap;

use crate::lead::{ErrorCode, RowId, RowOutcome, Status};
use crate::ledger::{CellsDigest, Claim};
use crate::text::without_words_of;

#[derive(Debug, Default)]
pub(super) struct Reasons {
    first: Option<(Option<ErrorCode>, String)>,
    /// Whether a row was taken, or rejected for another reason than the first one.
    pub(super) are_the_rows: bool,
    /// Rejected rows of which this is not known yet, and those that a stop for rows rejected alike
    /// has counted.
    pub(super) open: BTreeMap<RowId, Rejection>,
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
    /// Takes the outcome of a row with these values, which a reason may quote.
    pub(super) fn note<'v>(&mut self, outcome: &RowOutcome, values: impl Iterator<Item = &'v str>) {
        let is_bad = outcome.status == Status::Rejected && !outcome.is_known_bad;
        self.are_the_rows |= matches!(outcome.status, Status::Created | Status::Duplicate);
        if !is_bad || self.are_the_rows {
            return;
        }
        let text = without_words_of(outcome.error.as_deref().unwrap_or_default(), values);
        // A number in it may be that of the request.
        let words = text.split_whitespace();
        let words = words.filter(|word| !word.contains(char::is_numeric));
        let reason = (outcome.error_code, words.collect::<Vec<_>>().join(" "));
        let first = self.first.get_or_insert_with(|| reason.clone());
        self.are_the_rows = *first != reason;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_several(texts: &[(u16, &str)]) -> bool {
        let mut reasons = Reasons::default();
        for (code, text) in texts {
            let code = Some(ErrorCode::Http(*code));
            let outcome = RowOutcome::not_sent(Status::Rejected, code, Some((*text).to_owned()));
            reasons.note(&outcome, ["Ada Lovelace"].into_iter());
        }
        reasons.are_the_rows
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
