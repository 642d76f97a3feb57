//! Applies what earlier runs, and earlier processes of this run, did with the rows.
//!
//! A row that this run has settled keeps its outcome. A row that another run has settled is
//! `already_imported`. For a row that may have been taken, `--on-uncertain` says whether it is sent
//! again. No position in the input is stored: the input is read again from the beginning, and each
//! row is looked up in the ledger.

use std::collections::HashSet;

use crate::lead::{CampaignId, ErrorCode, RowId, RowOutcome, RunId, Status};
use crate::ledger::{CellsDigest, Known, LedgerError, Look, Recall, Scope, SentRow};
use crate::mapping::Mapping;
use crate::message::Text;
use crate::phone::PhoneNumber;
use crate::source::Row;

use super::rules::{ByOthers, doubt, why};
use super::{Batch, Earlier, KnownBad, MemoryRules, OnUncertain, Once, PlannedInput, PreparedRow};

#[derive(Debug)]
pub struct Memory {
    recall: Recall,
    rules: MemoryRules,
}

impl Memory {
    pub fn new(recall: Recall, rules: MemoryRules) -> Memory {
        Memory { recall, rules }
    }

    /// Fills in what is known about the rows of some batches.
    pub(super) fn fill_in(
        &self,
        inputs: &[PlannedInput],
        batches: &mut [Batch],
    ) -> Result<(), LedgerError> {
        let rules = &self.rules;
        let rows = batches.iter().flat_map(|batch| &batch.prepared);
        let rows = rows.filter(|row| rules.asks_about(row));
        let numbers = rows.filter_map(|row| row.phone).collect();
        // Under `hold` it is waited for, since nothing else would settle it.
        let resends = rules.goes_on && rules.on_uncertain == OnUncertain::Resend;
        let run = rules.run.filter(|_| resends);
        let look = self.recall.look(rules.service, run, numbers)?;
        let known_bad = self.known_bad(inputs, batches, &look)?;
        let lookup = Lookup {
            look,
            known_bad,
            rules,
        };
        for Batch { rows, prepared } in batches {
            let mapping = &inputs[rows.file()].mapping;
            for (row, prepared) in rows.rows().zip(prepared) {
                lookup.fill_in(mapping, row, prepared);
            }
        }
        Ok(())
    }

    /// Which cells of these rows are known to be bad, if such rows are skipped. Asked about rows that are
    /// invalid, or whose number was rejected before.
    fn known_bad(
        &self,
        inputs: &[PlannedInput],
        batches: &[Batch],
        look: &Look,
    ) -> Result<HashSet<CellsDigest>, LedgerError> {
        if self.rules.known_bad == KnownBad::Retry {
            return Ok(HashSet::new());
        }
        let mut cells = Vec::new();
        for batch in batches {
            let mapping = &inputs[batch.rows.file()].mapping;
            for (row, prepared) in batch.rows.rows().zip(&batch.prepared) {
                let outcome = prepared.outcome.as_ref();
                let is_invalid = outcome.is_some_and(|outcome| outcome.status == Status::Invalid);
                if is_invalid
                    || prepared
                        .phone
                        .is_some_and(|number| look.has_rejected(number))
                {
                    cells.push(CellsDigest::of(mapping.own_cells(row)));
                }
            }
        }
        let run = self.rules.run.unwrap_or(RunId(0));
        self.recall.known_bad(self.rules.service, run, cells)
    }
}

struct Lookup<'a> {
    look: Look,
    known_bad: HashSet<CellsDigest>,
    rules: &'a MemoryRules,
}

impl Lookup<'_> {
    fn fill_in(&self, mapping: &Mapping, row: Row<'_>, prepared: &mut PreparedRow) {
        let target = prepared.phone.zip(prepared.campaign);
        match (&mut prepared.outcome, target) {
            (None, Some((number, campaign))) => {
                self.decide(mapping, row, number, campaign, prepared)
            }
            (Some(outcome), _) if outcome.status == Status::Invalid => {
                outcome.is_known_bad = self.is_known_bad(mapping, row);
            }
            (Some(outcome), Some((number, campaign))) if outcome.status == Status::Suppressed => {
                self.suppress(row, number, campaign, outcome)
            }
            (Some(outcome), Some((number, campaign))) if outcome.status == Status::Repeated => {
                // `--once` may have changed since: the lead that this run has made stays.
                let own = self.own(row.id(), number, campaign).map(|own| own.outcome);
                let is_settled = |own: &RowOutcome| own.settled_at.is_some();
                if let Some(own) = own.filter(is_settled) {
                    *outcome = own;
                }
            }
            _ => {}
        }
    }

    /// Fills in what is known about a row whose number is on a do-not-call list. The row is not
    /// sent again, but its outcome must still show that it was sent, or may have been.
    fn suppress(
        &self,
        row: Row<'_>,
        number: PhoneNumber,
        campaign: CampaignId,
        outcome: &mut RowOutcome,
    ) {
        if let Some(own) = self.own(row.id(), number, campaign) {
            match own.outcome.status {
                Status::Created | Status::Duplicate => {
                    *outcome = own.outcome;
                    return;
                }
                Status::Uncertain => {
                    *outcome = RowOutcome {
                        error: Some(not_sent_again(why(&own), outcome)),
                        is_suppressed: true,
                        ..own.outcome
                    };
                    return;
                }
                _ => {}
            }
        }
        let known = self.look.find(number, Scope::Campaign(campaign));
        match (known.settled, known.uncertain) {
            (Some(settled), _) => outcome.lead_id = settled.outcome.lead_id,
            // With duplicates allowed, a lead is identified by run and row: those
            // of other runs do not count.
            (None, Some(uncertain)) if !self.rules.allow_duplicates => {
                let text = not_sent_again(doubt(&uncertain), outcome);
                let code = Some(ErrorCode::AnswerLost);
                *outcome = RowOutcome {
                    is_suppressed: true,
                    ..RowOutcome::not_sent(Status::Uncertain, code, Some(text))
                };
            }
            _ => {}
        }
    }

    fn decide(
        &self,
        mapping: &Mapping,
        row: Row<'_>,
        number: PhoneNumber,
        campaign: CampaignId,
        prepared: &mut PreparedRow,
    ) {
        if let Some(own) = self.own(row.id(), number, campaign) {
            let holds = self.rules.on_uncertain == OnUncertain::Hold;
            match own.outcome.status {
                Status::Failed => prepared.earlier = Some(earlier(own, false)),
                Status::Uncertain if !holds => prepared.earlier = Some(earlier(own, true)),
                _ => {
                    prepared.outcome = Some(own.outcome);
                    return;
                }
            }
        }
        if self.rules.allow_duplicates && self.rules.known_bad == KnownBad::Retry {
            return;
        }
        // If several campaigns have the number, the lead of this row's campaign is reported.
        let mut known = self.look.find(number, Scope::Campaign(campaign));
        let mut elsewhere = None;
        if self.rules.once == Once::Service && known.settled.is_none() {
            known = self.look.find(number, Scope::Service);
            elsewhere = self.look.uncertain_elsewhere(number, campaign);
        }
        if prepared.is_doubtful() {
            // This run may have sent it itself, which says more.
            known.uncertain = None;
        }
        // That counts first, whatever came later: the service does not refuse a lead in a second campaign.
        known.uncertain = elsewhere.or(known.uncertain);
        if self.rules.allow_duplicates {
            // Leads are identified by run and row: those of other runs do not count.
            (known.settled, known.uncertain) = (None, None);
        }
        self.decide_by_others(mapping, row, known, campaign, prepared);
    }

    fn decide_by_others(
        &self,
        mapping: &Mapping,
        row: Row<'_>,
        known: Known,
        campaign: CampaignId,
        prepared: &mut PreparedRow,
    ) {
        let by_others = ByOthers::of(&known, campaign, self.rules.on_uncertain);
        if let ByOthers::Settled(outcome) = by_others {
            prepared.outcome = Some(outcome);
        } else if let ByOthers::Doubt(why) = by_others {
            prepared.earlier.get_or_insert_default().doubt = Some(why);
        } else if prepared.earlier.is_some() {
            // This run has sent the row before, so it does not count as known to be bad.
        } else if let Some(SentRow { outcome, .. }) = known.rejected {
            if outcome.status == Status::Rejected && self.is_known_bad(mapping, row) {
                prepared.outcome = Some(RowOutcome {
                    attempts: 0,
                    is_known_bad: true,
                    ..outcome
                });
            } else {
                // Rows that were not tried yet go first.
                prepared.earlier.get_or_insert_default().was_refused = outcome.is_tried_again();
            }
        }
    }

    /// What an earlier process of this run did with the row.
    fn own(&self, row: RowId, number: PhoneNumber, campaign: CampaignId) -> Option<SentRow> {
        let run = self.rules.run.filter(|_| self.rules.goes_on)?;
        self.look.row(number, campaign, run, row).cloned()
    }

    /// Whether known bad rows are skipped, and a row with these cells ended badly in another run.
    fn is_known_bad(&self, mapping: &Mapping, row: Row<'_>) -> bool {
        !self.known_bad.is_empty()
            && self
                .known_bad
                .contains(&CellsDigest::of(mapping.own_cells(row)))
    }
}

fn earlier(own: SentRow, in_doubt: bool) -> Box<Earlier> {
    let code = own.outcome.error_code;
    let why = why(&own);
    Box::new(Earlier {
        attempts: own.outcome.attempts,
        was_refused: !in_doubt && code.is_some_and(ErrorCode::is_refusal),
        doubt: in_doubt.then_some(why),
    })
}

/// The text of a row that may have been taken, and that is `suppressed` by now.
pub fn not_sent_again(why: Text, suppressed: &RowOutcome) -> Text {
    let list = suppressed.error.clone().unwrap_or_default();
    text!("{why}; not sent again: {list}", why, list)
}
