//! The words everyone uses: what a row is called, what becomes of it, and why.
//!
//! Rule: no input or output here, and no knowledge of files or of the service.
//! A row that cannot be sent is not an error of the program: it is a
//! [`RowOutcome`], data like any other.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

/// The number of a data row, counted from 1 across all inputs of one command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub u64);

impl fmt::Display for RowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id of a campaign, which the service takes as a JSON integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct CampaignId(pub i64);

impl fmt::Display for CampaignId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What became of a row. The names are those of the results file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// The service made the lead.
    Created,
    /// The service says that the campaign already has the number.
    Duplicate,
    /// The same number and campaign stood earlier in this import; not sent.
    Repeated,
    /// Settled by an earlier run; not sent.
    AlreadyImported,
    /// On a do-not-call list; not sent.
    Suppressed,
    /// Cannot be sent as it stands; not sent.
    Invalid,
    /// The service refused this row.
    Rejected,
    /// Out of attempts, and none of them can have been taken.
    Failed,
    /// Some attempt may have been taken, and no later answer settled it.
    Uncertain,
    /// Would be sent (a dry run only).
    Ready,
}

impl Status {
    /// Every status, in the order in which they are reported.
    pub const ALL: [Status; 10] = [
        Status::Created,
        Status::Duplicate,
        Status::Repeated,
        Status::AlreadyImported,
        Status::Suppressed,
        Status::Invalid,
        Status::Rejected,
        Status::Failed,
        Status::Uncertain,
        Status::Ready,
    ];

    /// The word used in files, in JSON and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Created => "created",
            Status::Duplicate => "duplicate",
            Status::Repeated => "repeated",
            Status::AlreadyImported => "already_imported",
            Status::Suppressed => "suppressed",
            Status::Invalid => "invalid",
            Status::Rejected => "rejected",
            Status::Failed => "failed",
            Status::Uncertain => "uncertain",
            Status::Ready => "ready",
        }
    }

    /// Whether a row that ended so asks for somebody's attention: exit code 1.
    pub fn is_problem(self) -> bool {
        matches!(
            self,
            Status::Invalid | Status::Rejected | Status::Failed | Status::Uncertain
        )
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a row ended as it did: the documented words of the column `error_code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorCode {
    /// The phone cell is empty.
    PhoneMissing,
    /// The phone cell cannot be read as one international number.
    PhoneNotE164,
    /// The number is not as long as a number of its country can be, or no country has
    /// its calling code.
    PhoneImpossible,
    /// The number is in no range that its country gives out.
    PhoneInvalid,
    /// The phone cell can be read as several numbers.
    PhoneAmbiguous,
    /// A spreadsheet has put something else in the number's place.
    PhoneDamaged,
    /// The number is of a country that is not allowed.
    CountryNotAllowed,
    /// The row has more or fewer cells than the header.
    FieldCount,
    /// A quote in the row is never closed.
    UnclosedQuote,
    /// The row is longer than any contact.
    RowTooLong,
    /// No campaign id can be had from the row.
    CampaignInvalid,
    /// A cell holds bytes that are no text in the file's encoding.
    Encoding,
    /// The answer to an attempt was lost, which may be the one that made the lead.
    AnswerLost,
    /// No answer within the time limit.
    Timeout,
    /// The connection could not be made, or broke.
    Connection,
    /// A success status without an id that could be read.
    UnreadableAnswer,
    /// The service refused with this HTTP status.
    Http(u16),
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorCode::PhoneMissing => f.pad("phone_missing"),
            ErrorCode::PhoneNotE164 => f.pad("phone_not_e164"),
            ErrorCode::PhoneImpossible => f.pad("phone_impossible"),
            ErrorCode::PhoneInvalid => f.pad("phone_invalid"),
            ErrorCode::PhoneAmbiguous => f.pad("phone_ambiguous"),
            ErrorCode::PhoneDamaged => f.pad("phone_damaged"),
            ErrorCode::CountryNotAllowed => f.pad("country_not_allowed"),
            ErrorCode::FieldCount => f.pad("field_count"),
            ErrorCode::UnclosedQuote => f.pad("unclosed_quote"),
            ErrorCode::RowTooLong => f.pad("row_too_long"),
            ErrorCode::CampaignInvalid => f.pad("campaign_invalid"),
            ErrorCode::Encoding => f.pad("encoding"),
            ErrorCode::AnswerLost => f.pad("answer_lost"),
            ErrorCode::Timeout => f.pad("timeout"),
            ErrorCode::Connection => f.pad("connection"),
            ErrorCode::UnreadableAnswer => f.pad("unreadable_answer"),
            ErrorCode::Http(status) => f.pad(&format!("http_{status}")),
        }
    }
}

/// How a row ended: exactly one for each row of a completed import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowOutcome {
    /// What became of the row.
    pub status: Status,
    /// The service's id of the lead, where it said one.
    pub lead_id: Option<String>,
    /// The HTTP status of the last answer.
    pub http_status: Option<u16>,
    /// Requests sent for this row, refused and lost ones included.
    pub attempts: u32,
    /// Why, in one documented word.
    pub error_code: Option<ErrorCode>,
    /// Why, in a sentence; may quote the service (masked and shortened).
    pub error: Option<String>,
    /// When the row was settled (`created` or `duplicate`), in UTC.
    pub settled_at: Option<Timestamp>,
}

impl RowOutcome {
    /// An outcome that no request led to.
    pub fn not_sent(status: Status, error_code: Option<ErrorCode>, error: Option<String>) -> Self {
        RowOutcome {
            status,
            lead_id: None,
            http_status: None,
            attempts: 0,
            error_code,
            error,
            settled_at: None,
        }
    }

    /// The outcome of a row that cannot be sent as it stands.
    pub fn invalid(code: ErrorCode, error: impl Into<String>) -> Self {
        RowOutcome::not_sent(Status::Invalid, Some(code), Some(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_listed_once_and_named_in_snake_case() {
        let names: Vec<&str> = Status::ALL.iter().map(|s| s.as_str()).collect();
        assert_eq!(
            names,
            [
                "created",
                "duplicate",
                "repeated",
                "already_imported",
                "suppressed",
                "invalid",
                "rejected",
                "failed",
                "uncertain",
                "ready"
            ]
        );
    }

    #[test]
    fn a_refusal_is_named_after_its_http_status() {
        assert_eq!(ErrorCode::Http(422).to_string(), "http_422");
    }
}
