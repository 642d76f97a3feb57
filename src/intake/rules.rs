//! The rules for rows that were tried before.

use super::PreparedRow;
use crate::lead::{CampaignId, ErrorCode, RowOutcome, RunId, Status};
use crate::ledger::{Known, SentRow, ServiceId};
use crate::message::Text;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Once {
    #[default]
    Campaign,
    Service,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KnownBad {
    #[default]
    Retry,
    Skip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnUncertain {
    /// Send again. Unless duplicates are allowed, the service refuses a second lead.
    Resend,
    Hold,
}

#[derive(Debug, Clone, Copy)]
pub struct MemoryRules {
    pub service: ServiceId,
    /// `None` if the rows are only checked.
    pub run: Option<RunId>,
    pub goes_on: bool,
    pub once: Once,
    pub on_uncertain: OnUncertain,
    pub known_bad: KnownBad,
    /// Whether a lead is identified by run and row, not by its number.
    pub allow_duplicates: bool,
}

impl MemoryRules {
    /// Whether what the ledger knows of the row's number may decide about the row.
    pub(super) fn asks_about(&self, row: &PreparedRow) -> bool {
        match row.outcome.as_ref().map(|outcome| outcome.status) {
            None => self.goes_on || !self.allow_duplicates || self.known_bad == KnownBad::Skip,
            Some(Status::Suppressed) => true,
            Some(Status::Repeated) => self.goes_on,
            Some(_) => false,
        }
    }
}

/// What rows of other runs with the same number mean for a row that is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ByOthers {
    /// It is not sent; this is its outcome.
    Settled(RowOutcome),
    /// It may be sent, though its lead may exist already; this says why.
    Doubt(Text),
    /// Nothing.
    Free,
}

impl ByOthers {
    pub fn of(known: &Known, campaign: CampaignId, on_uncertain: OnUncertain) -> ByOthers {
        if let Some(settled) = &known.settled {
            return ByOthers::Settled(already_imported(settled));
        }
        let Some(uncertain) = &known.uncertain else {
            return ByOthers::Free;
        };
        // The service does not refuse a second lead in another campaign.
        if on_uncertain == OnUncertain::Hold || uncertain.campaign != campaign {
            ByOthers::Settled(held(uncertain))
        } else {
            ByOthers::Doubt(doubt(uncertain))
        }
    }
}

fn already_imported(settled: &SentRow) -> RowOutcome {
    RowOutcome {
        lead_id: settled.outcome.lead_id.clone(),
        settled_at: settled.outcome.settled_at,
        ..RowOutcome::not_sent(Status::AlreadyImported, None, None)
    }
}

/// The outcome of a row that is not sent again because another run may have created its lead.
fn held(uncertain: &SentRow) -> RowOutcome {
    let text = text!(
        "{doubt}; {`--on-uncertain resend` sends it again, to|it may be in} campaign {campaign}{| already}",
        doubt = doubt(uncertain),
        campaign = uncertain.campaign.to_string()
    );
    RowOutcome::not_sent(Status::Uncertain, Some(ErrorCode::AnswerLost), Some(text))
}

/// Why the lead of another run's row may exist.
pub(super) fn doubt(uncertain: &SentRow) -> Text {
    text!(
        "run {run}, row {row}: {why}",
        run = uncertain.run.to_string(),
        row = uncertain.row.to_string(),
        why = why(uncertain)
    )
}

/// Why a row is uncertain.
pub(super) fn why(uncertain: &SentRow) -> Text {
    let outcome = &uncertain.outcome;
    match (&outcome.error, outcome.error_code) {
        (Some(why), _) => why.clone(),
        // The text was pruned.
        (None, Some(_)) => text!("the answer was lost"),
        // Its lead was known, until it was to be removed.
        (None, None) => text!("its lead may have been removed again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lead::RowId;
    use crate::phone::PhoneNumber;

    #[test]
    fn why_a_row_is_uncertain_is_known_after_its_text_was_pruned() {
        let of = |code, error: Option<&str>| {
            let outcome = RowOutcome::not_sent(Status::Uncertain, code, error.map(Text::said));
            let row = SentRow {
                run: RunId(3),
                row: RowId(7),
                campaign: CampaignId(101),
                number: PhoneNumber::from_key(447_911_123_456).unwrap(),
                file: 0,
                line: 8,
                outcome,
            };
            doubt(&row).to_string()
        };
        let lost = Some(ErrorCode::AnswerLost);
        let connection = Some(ErrorCode::Connection);
        for (code, error, said) in [
            (lost, Some("it was cut off"), "cut off"),
            (lost, None, "lost"),
            (connection, None, "lost"),
            (None, None, "removed"),
        ] {
            let text = of(code, error);
            assert!(text.starts_with("run 3, row 7: "), "{text}");
            assert!(text.contains(said), "{text}");
        }
    }
}
