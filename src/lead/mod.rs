//! The shared vocabulary: the ids of rows, runs and campaigns, and the outcome of a row.
//!
//! Rule: no input or output here, and no knowledge of files or the service. A row that cannot be
//! sent is not an error of the program: it has a [`RowOutcome`], which is ordinary data.

mod counts;
mod error_code;
mod list_label;
mod run_name;
mod status;

pub use counts::Counts;
pub use error_code::ErrorCode;
pub use list_label::ListLabel;
pub use run_name::{RunName, RunTag};
pub use status::Status;

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::message::Text;

/// The number of a data row, counted from 1 across all inputs of one command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RowId(pub u64);

impl fmt::Display for RowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of a run in the ledger. Never reused there; [`RunName`] tells it from those of other ledgers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub u64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id of a campaign. The service expects a JSON integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CampaignId(pub i64);

impl fmt::Display for CampaignId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What became of a row. Its form in serde is that of the ledger's journal (`ledger::sqlite::journal`), which
/// later versions read after a kill, and of rows that are being filed (`packed`): a new field is skipped in it,
/// and written at the end of a journal's line and beside a packed row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowOutcome {
    pub status: Status,
    pub lead_id: Option<String>,
    pub http_status: Option<u16>,
    /// Requests sent for this row, including refused and lost ones.
    pub attempts: u32,
    pub error_code: Option<ErrorCode>,
    /// The reason, in a sentence. May quote the service (masked and shortened).
    pub error: Option<Text>,
    /// When the row was settled (`created` or `duplicate`), in UTC and whole seconds.
    #[serde(with = "jiff::fmt::serde::timestamp::second::optional")]
    pub settled_at: Option<Timestamp>,
    /// Whether `error` quotes cells of the row: if so, only the results may contain it.
    #[serde(skip)]
    pub quotes_cells: bool,
    /// Whether the number is on a do-not-call list now: the row stays uncertain
    /// and is not sent again.
    #[serde(skip)]
    pub is_suppressed: bool,
    /// Whether a row with these cells ended in this way in an earlier run and is skipped for that
    /// reason (`--known-bad skip`): the user need not fix it again.
    #[serde(skip)]
    pub is_known_bad: bool,
}

impl RowOutcome {
    pub fn not_sent(status: Status, error_code: Option<ErrorCode>, error: Option<Text>) -> Self {
        RowOutcome {
            status,
            lead_id: None,
            http_status: None,
            attempts: 0,
            error_code,
            error,
            settled_at: None,
            quotes_cells: false,
            is_suppressed: false,
            is_known_bad: false,
        }
    }

    /// Whether the service has refused the row, and it is not known to be the reason: the ledger
    /// has it as failed, and it is tried again.
    pub fn is_tried_again(&self) -> bool {
        self.status == Status::Failed && self.error_code.is_some_and(ErrorCode::is_refusal)
    }

    /// Whether the service may have a lead of the row whose id is not known: its list of leads may
    /// tell.
    pub fn may_be_looked_up(&self) -> bool {
        let is_lost = self.error_code == Some(ErrorCode::AnswerLost) && self.lead_id.is_none();
        self.status == Status::Uncertain || self.status == Status::Duplicate && is_lost
    }

    /// Whether the service has made its lead for the answered request or for an earlier one, of which no
    /// answer has come.
    pub fn is_created_after_loss(&self) -> bool {
        self.status == Status::Created && self.error_code == Some(ErrorCode::AnswerLost)
    }

    /// The outcome of a row that cannot be sent as it is.
    pub fn invalid(code: ErrorCode, error: impl Into<Text>) -> Self {
        RowOutcome::not_sent(Status::Invalid, Some(code), Some(error.into()))
    }
}
