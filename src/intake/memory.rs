//! Applies what earlier runs, and earlier processes of this run, did with the rows.
//!
//! A row that this run has settled keeps its outcome. A row that another run has settled is
//! `already_imported`. For a row that may have been taken, `--on-uncertain` says whether it is sent
//! again. No position in the input is stored: the input is read again from the beginning, and each
//! row is looked up in the ledger.

use crate::lead::{CampaignId, ErrorCode, RowId, RowOutcome, RunId, Status};
use crate::ledger::{CellsDigest, Known, LedgerError, Look, Recall, Scope, SentRow, Wanted};
use crate::mapping::Mapping;
use crate::phone::PhoneNumber;
use crate::source::Row;

use super::rules::{ByOthers, doubt};
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
    ///
    /// The rows are looked up in the order of their numbers, which is the ledger's order, so
    /// neighbouring rows share the pages that are read.
    pub(super) fn fill_in(
        &mut self,
        inputs: &[PlannedInput],
        batches: &mut [Batch],
    ) -> Result<(), LedgerError> {
        let wanted = self.wanted(inputs, batches);
        let mut look = Lookup {
            look: self.recall.look(&wanted)?,
            rules: &self.rules,
        };
        for (_, batch, index) in by_number(batches) {
            let Batch { rows, prepared } = &mut batches[batch];
            let mapping = &inputs[rows.file()].mapping;
            look.fill_in(mapping, rows.row(index), &mut prepared[index])?;
        }
        Ok(())
    }

    /// What has to be looked up for these rows.
    fn wanted(&self, inputs: &[PlannedInput], batches: &[Batch]) -> Wanted {
        let mut wanted = Wanted {
            service: self.rules.service,
            // Under `hold` it is waited for, since nothing else would settle it.
            run: self
                .rules
                .run
                .filter(|_| self.rules.goes_on && self.rules.on_uncertain == OnUncertain::Resend),
            numbers: Vec::new(),
            digests: Vec::new(),
        };
        if !self.recall.needs_all() {
            return wanted;
        }
        let rows = batches.iter().flat_map(|batch| &batch.prepared);
        wanted.numbers = rows.filter_map(|row| row.phone).collect();
        if self.rules.known_bad == KnownBad::Skip {
            for batch in batches {
                let mapping = &inputs[batch.rows.file()].mapping;
                let digests = batch
                    .rows
                    .rows()
                    .map(|row| CellsDigest::of(mapping.own_cells(row)));
                wanted.digests.extend(digests);
            }
        }
        wanted
    }
}

/// Every row as its number, the index of its batch and its index there, sorted by number.
fn by_number(batches: &[Batch]) -> Vec<(Option<PhoneNumber>, usize, usize)> {
    let batches = batches.iter().enumerate();
    let rows = batches.flat_map(|(at, batch)| {
        let numbers = batch.prepared.iter().map(|row| row.phone).enumerate();
        numbers.map(move |(index, number)| (number, at, index))
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort_unstable();
    rows
}

struct Lookup<'a> {
    look: Look<'a>,
    rules: &'a MemoryRules,
}

impl Lookup<'_> {
    fn fill_in(
        &mut self,
        mapping: &Mapping,
        row: Row<'_>,
        prepared: &mut PreparedRow,
    ) -> Result<(), LedgerError> {
        let target = prepared.phone.zip(prepared.campaign);
        match (&mut prepared.outcome, target) {
            (None, Some((number, campaign))) => {
                self.decide(mapping, row, number, campaign, prepared)
            }
            (Some(outcome), _) if outcome.status == Status::Invalid => {
                outcome.is_known_bad = self.is_known_bad(mapping, row)?;
                Ok(())
            }
            (Some(outcome), Some((number, campaign))) if outcome.status == Status::Suppressed => {
                self.suppress(row, number, campaign, outcome)
            }
            (Some(outcome), Some((number, campaign))) if outcome.status == Status::Repeated => {
                // `--once` may have changed since: the lead that this run has made stays.
                let own = self.own(row.id(), number, campaign)?.map(|own| own.outcome);
                let is_settled = |own: &RowOutcome| own.settled_at.is_some();
                if let Some(own) = own.filter(is_settled) {
                    *outcome = own;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Fills in what is known about a row whose number is on a do-not-call list. The row is not
    /// sent again, but its outcome must still show that it was sent, or may have been.
    fn suppress(
        &mut self,
        row: Row<'_>,
        number: PhoneNumber,
        campaign: CampaignId,
        outcome: &mut RowOutcome,
    ) -> Result<(), LedgerError> {
        let own = self.own(row.id(), number, campaign)?.map(|own| own.outcome);
        match own {
            Some(own) if matches!(own.status, Status::Created | Status::Duplicate) => {
                *outcome = own;
                return Ok(());
            }
            Some(own) if own.status == Status::Uncertain => {
                let why = own.error.clone().unwrap_or_default();
                *outcome = RowOutcome {
                    error: Some(not_sent_again(&why, outcome)),
                    is_suppressed: true,
                    ..own
                };
                return Ok(());
            }
            _ => {}
        }
        let known = self.find(number, Scope::Campaign(campaign))?;
        match (known.settled, known.uncertain) {
            (Some(settled), _) => outcome.lead_id = settled.outcome.lead_id,
            // With duplicates allowed, a lead is identified by run and row: those
            // of other runs do not count.
            (None, Some(uncertain)) if !self.rules.allow_duplicates => {
                let text = not_sent_again(&doubt(&uncertain), outcome);
                let code = Some(ErrorCode::AnswerLost);
                *outcome = RowOutcome {
                    is_suppressed: true,
                    ..RowOutcome::not_sent(Status::Uncertain, code, Some(text))
                };
            }
            _ => {}
        }
        Ok(())
    }

    fn decide(
        &mut self,
        mapping: &Mapping,
        row: Row<'_>,
        number: PhoneNumber,
        campaign: CampaignId,
        prepared: &mut PreparedRow,
    ) -> Result<(), LedgerError> {
        if let Some(own) = self.own(row.id(), number, campaign)? {
            let holds = self.rules.on_uncertain == OnUncertain::Hold;
            match own.outcome.status {
                Status::Failed => prepared.earlier = Some(earlier(own, false)),
                Status::Uncertain if !holds => prepared.earlier = Some(earlier(own, true)),
                _ => {
                    prepared.outcome = Some(own.outcome);
                    return Ok(());
                }
            }
        }
        if self.rules.allow_duplicates && self.rules.known_bad == KnownBad::Retry {
            return Ok(());
        }
        // If several campaigns have the number, the lead of this row's campaign is reported.
        let mut known = self.find(number, Scope::Campaign(campaign))?;
        if self.rules.once == Once::Service && known.settled.is_none() {
            known = self.find(number, Scope::Service)?;
        }
        if self.rules.allow_duplicates {
            // Leads are identified by run and row: those of other runs do not count.
            (known.settled, known.uncertain) = (None, None);
        }
        self.decide_by_others(mapping, row, known, campaign, prepared)
    }

    fn decide_by_others(
        &mut self,
        mapping: &Mapping,
        row: Row<'_>,
        mut known: Known,
        campaign: CampaignId,
        prepared: &mut PreparedRow,
    ) -> Result<(), LedgerError> {
        if prepared.is_doubtful() {
            // This run may have sent it itself, which says more.
            known.uncertain = None;
        }
        let by_others = ByOthers::of(&known, campaign, self.rules.on_uncertain);
        if let ByOthers::Settled(outcome) = by_others {
            prepared.outcome = Some(outcome);
        } else if let ByOthers::Doubt(why) = by_others {
            prepared.earlier.get_or_insert_default().doubt = Some(why);
        } else if prepared.earlier.is_some() {
            // This run has sent the row before, so it does not count as known to be bad.
        } else if let Some(SentRow { outcome, .. }) = known.rejected {
            if outcome.status == Status::Rejected && self.is_known_bad(mapping, row)? {
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
        Ok(())
    }

    /// What an earlier process of this run did with the row.
    fn own(
        &mut self,
        row: RowId,
        number: PhoneNumber,
        campaign: CampaignId,
    ) -> Result<Option<SentRow>, LedgerError> {
        let Some(run) = self.rules.run.filter(|_| self.rules.goes_on) else {
            return Ok(None);
        };
        self.look
            .row(self.rules.service, number, campaign, run, row)
    }

    fn find(&mut self, number: PhoneNumber, scope: Scope) -> Result<Known, LedgerError> {
        self.look.find(self.rules.service, number, scope)
    }

    /// Whether known bad rows are skipped, and a row with these cells ended badly in another run.
    fn is_known_bad(&mut self, mapping: &Mapping, row: Row<'_>) -> Result<bool, LedgerError> {
        if self.rules.known_bad == KnownBad::Retry {
            return Ok(false);
        }
        let digest = CellsDigest::of(mapping.own_cells(row));
        let run = self.rules.run.unwrap_or(RunId(0));
        self.look.is_known_bad(self.rules.service, digest, run)
    }
}

fn earlier(own: SentRow, in_doubt: bool) -> Box<Earlier> {
    let code = own.outcome.error_code;
    let why = own.outcome.error.unwrap_or_default();
    Box::new(Earlier {
        attempts: own.outcome.attempts,
        was_refused: !in_doubt && code.is_some_and(ErrorCode::is_refusal),
        doubt: in_doubt.then_some(why),
    })
}

/// The text of a row that may have been taken, and that is `suppressed` by now.
pub fn not_sent_again(why: &str, suppressed: &RowOutcome) -> String {
    let list = suppressed.error.as_deref().unwrap_or_default();
    format!("{why}; not sent again: {list}")
}
