//! Leads that are removed from the service again.

use jiff::Timestamp;

use super::Attempted;
use crate::lead::{CampaignId, ErrorCode, RowId, RowOutcome, Status};
use crate::phone::PhoneNumber;

/// Why a lead is not removed, and a row is not known to have one.
pub(super) const MADE_BY_ANOTHER: &str = "this lead was made by an earlier run: run ";
pub(super) const NO_LEAD_ID: &str = "the service gave it no id";
pub(super) const MAY_HAVE_ARRIVED: &str =
    "its answer was lost, so it is not known whether there is a lead";
pub(super) const PERHAPS_ANOTHERS: &str =
    "an answer was lost, so the lead may not be this run's: it may be older, or somebody else's";

/// What became of a row when its run was undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UndoStatus {
    /// Its lead was removed.
    Undone,
    /// Its lead was not there any more.
    Gone,
    /// Its lead is still there: the service has refused to remove it, or it is not only this run's.
    Kept,
    /// It is not known whether there is a lead, or whether it is this run's.
    Unknown,
}

impl UndoStatus {
    pub const ALL: [UndoStatus; 4] = [
        UndoStatus::Undone,
        UndoStatus::Gone,
        UndoStatus::Kept,
        UndoStatus::Unknown,
    ];

    /// The word in files and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            UndoStatus::Undone => "undone",
            UndoStatus::Gone => "gone",
            UndoStatus::Kept => "kept",
            UndoStatus::Unknown => "unknown",
        }
    }

    /// Whether there is no lead any more, so that the person counts as new.
    pub fn is_removed(self) -> bool {
        matches!(self, UndoStatus::Undone | UndoStatus::Gone)
    }

    /// Its number in the ledger: its place among all.
    pub(super) fn code(self) -> i64 {
        self as i64
    }

    pub(super) fn of_code(code: i64) -> Option<UndoStatus> {
        UndoStatus::ALL.get(usize::try_from(code).ok()?).copied()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoOutcome {
    pub status: UndoStatus,
    pub http_status: Option<u16>,
    pub error: Option<String>,
    /// In whole seconds; `None` if nothing was asked of the service.
    pub settled_at: Option<Timestamp>,
}

/// A row of a run that is undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoRow {
    pub row: RowId,
    pub number: PhoneNumber,
    pub campaign: CampaignId,
    pub lead_id: Option<String>,
    /// When the row was settled, so that its lead was made just before; known in the plan alone.
    pub made_at: Option<Timestamp>,
    /// Whether an answer about it was lost, so that its lead may have been made earlier; known in the plan
    /// alone, as is what follows.
    pub answer_lost: bool,
    /// When each start has sent it, as far as that is on record.
    pub attempted: Vec<Attempted>,
    /// Whether the service may have been asked to remove it before.
    pub was_asked: bool,
    /// Whether looking the row up may tell whether there is a lead.
    pub may_be_looked_up: bool,
    /// `None` while its lead is to be removed.
    pub outcome: Option<UndoOutcome>,
}

impl UndoRow {
    /// The row of a plan as it is when the ledger knows what was found of it; `None` if the service
    /// has no lead.
    pub fn found(self, found: &RowOutcome) -> Option<UndoRow> {
        let why = match found.status {
            Status::Created => None,
            Status::Duplicate => Some(PERHAPS_ANOTHERS.to_owned()),
            _ => return None,
        };
        let may_be_looked_up = why.is_some() && found.lead_id.is_none();
        let outcome = why.map(|why| UndoOutcome {
            status: UndoStatus::Unknown,
            http_status: None,
            error: Some(why),
            settled_at: None,
        });
        Some(UndoRow {
            lead_id: found.lead_id.clone(),
            made_at: found.settled_at,
            answer_lost: found.error_code == Some(ErrorCode::AnswerLost),
            may_be_looked_up,
            outcome,
            ..self
        })
    }
}

/// What is known of undoing a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoRecord {
    /// When it began: since then the run does not continue.
    pub began_at: Timestamp,
    pub counts: UndoCounts,
}

/// Rows by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UndoCounts {
    of: [u64; UndoStatus::ALL.len()],
    /// Rows whose leads are still to be removed.
    pub left: u64,
}

impl UndoCounts {
    pub fn add(&mut self, status: Option<UndoStatus>, rows: u64) {
        match status {
            Some(status) => self.of[status as usize] += rows,
            None => self.left += rows,
        }
    }

    pub fn of(&self, status: UndoStatus) -> u64 {
        self.of[status as usize]
    }

    /// Whether the person may still be called.
    pub fn all_are_removed(&self) -> bool {
        self.left + self.of(UndoStatus::Kept) + self.of(UndoStatus::Unknown) == 0
    }
}
