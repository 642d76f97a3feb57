//! A row that was sent, as the ledger knows it.

use super::coding::{REMOVED, line, status_code, status_of};
use super::column::{Column, Kind};
use super::row::{LeadId, Row};
use super::store::{Failed, Value};
use crate::lead::{CampaignId, ErrorCode, RowId, RowOutcome, RunId, Status};
use crate::message::{Template, Text};
use crate::phone::PhoneNumber;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentRow {
    pub run: RunId,
    pub row: RowId,
    pub campaign: CampaignId,
    pub number: PhoneNumber,
    /// Its input, counted from 0.
    pub file: usize,
    /// Its line in the input, counted from 1.
    pub line: u64,
    /// Its outcome; times are whole seconds.
    pub outcome: RowOutcome,
}

/// A row that is a lead, or may be one, and the service that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeadAt {
    pub record: SentRow,
    /// Its address.
    pub service: String,
}

/// The columns of a row before its outcome, in the order in which [`SentRow::read`] reads them.
pub(super) const KEY: [&str; 6] = ["number", "campaign", "run", "row", "file", "line_offset"];

/// How a fact about an outcome is stored.
pub(super) type Stored = fn(&RowOutcome) -> Value<'_>;

/// All that is stored of an outcome; [`outcome`] reads them by their places after [`KEY`]. A new fact is
/// another one here, with a step in `schema`, a line in [`outcome`], and a field of [`RowOutcome`], whose
/// introduction says what that means for the journal of a file. `reconcile` decides whether a look-up keeps it.
pub(super) const OUTCOME: [(Column, Stored); 7] = [
    stored("status", Kind::Whole, |of| status_code(of.status).into()),
    stored("http_status", Kind::Whole, |of| of.http_status.into()),
    stored("attempts", Kind::Whole, |of| of.attempts.into()),
    stored("lead_id", Kind::LeadId, |of| {
        let id = of.lead_id.as_deref();
        id.map_or(Value::Null, |id| Value::LeadId(id.into()))
    }),
    stored("settled_at", Kind::Time, |of| of.settled_at.into()),
    stored("error_code", Kind::Text, |of| {
        of.error_code.map(|code| code.to_string()).into()
    }),
    stored("error", Kind::Text, |of| of.error.as_ref().into()),
];

const fn stored(name: &'static str, kind: Kind, how: Stored) -> (Column, Stored) {
    (Column { name, kind }, how)
}

/// What is stored of the outcome of a claim without an answer, as SQL, from its row with the name `s`.
pub(super) fn of_open(column: &str, why: Template) -> String {
    match column {
        "status" => status_code(Status::Uncertain).to_string(),
        "attempts" => "s.attempts + 1".to_owned(),
        "error_code" => format!("'{}'", ErrorCode::AnswerLost),
        "error" => format!("'{}'", Text::from(why)),
        _ => "NULL".to_owned(),
    }
}

/// The columns of a row that was sent, of the table with this name and a point.
pub(super) fn columns(of: &str) -> String {
    let outcome = OUTCOME.iter().map(|(column, _)| column.name);
    let all = KEY.into_iter().chain(outcome);
    each_of(all, |name| format!("{of}{name}"))
}

/// A list in a statement.
pub(super) fn each_of<T>(all: impl IntoIterator<Item = T>, of: impl FnMut(T) -> String) -> String {
    let all: Vec<String> = all.into_iter().map(of).collect();
    all.join(", ")
}

impl SentRow {
    pub(super) fn read(row: &Row<'_>) -> Result<SentRow, Failed> {
        let at: i64 = row.get(3)?;
        Ok(SentRow {
            number: row.get(0)?,
            campaign: row.get(1)?,
            run: row.get(2)?,
            row: RowId(at.cast_unsigned()),
            file: row.get(4)?,
            line: line(at, row.get(5)?),
            outcome: outcome(row)?,
        })
    }

    /// Whether its lead was removed from the service again.
    pub(super) fn is_removed(&self) -> bool {
        self.outcome.error_code == Some(ErrorCode::Undone)
    }
}

/// Reads the outcome from [`columns`].
pub(super) fn outcome(row: &Row<'_>) -> Result<RowOutcome, Failed> {
    let Some(code): Option<i64> = row.get(6)? else {
        // None has been counted yet; an open claim is one more.
        return Ok(RowOutcome {
            attempts: 0,
            ..without_answer(0, NO_ANSWER)
        });
    };
    let status = status_of(code);
    let (lead_id, error): (Option<LeadId>, Option<String>) = (row.get(9)?, row.get(12)?);
    let outcome = RowOutcome {
        status: status
            .ok_or_else(|| Failed::Damaged(format!("no status has the number {code}")))?,
        lead_id: lead_id.map(|LeadId(id)| id),
        http_status: row.get(7)?,
        attempts: row.get(8)?,
        error_code: row.get(11)?,
        error: error.map(Text::said),
        settled_at: row.get(10)?,
        quotes_cells: false,
        is_suppressed: false,
        is_known_bad: false,
    };
    Ok(as_it_counts(code, outcome))
}

/// What is stored with a row whose lead was removed again.
pub(super) const REMOVED_AGAIN: &str = "the lead was removed from the service again";

/// The outcome of a row whose stored status is `status`. Where its lead was removed for another row that
/// has it, or may have been, that is `undone`; what the service had said stays stored.
pub(super) fn as_it_counts(status: i64, outcome: RowOutcome) -> RowOutcome {
    if status < REMOVED || outcome.error_code == Some(ErrorCode::Undone) {
        return outcome;
    }
    RowOutcome {
        error_code: Some(ErrorCode::Undone),
        error: Some(ITS_LEAD_WAS_REMOVED.into()),
        ..outcome
    }
}

const ITS_LEAD_WAS_REMOVED: Template =
    template!("its lead was removed from the service again, or may have been");

/// Why a claim is uncertain that no answer can come to any more, …
pub(super) const NO_ANSWER: Template = template!("the run ended before the answer came");

/// … and one that an answer may still come to.
pub(super) const NO_ANSWER_YET: Template =
    template!("no answer yet, or the run ended before it came");

/// The outcome of a claim without an answer: one attempt may
/// have left, besides those of earlier starts.
pub(super) fn without_answer(earlier: u32, why: Template) -> RowOutcome {
    RowOutcome {
        attempts: earlier + 1,
        ..RowOutcome::not_sent(
            Status::Uncertain,
            Some(ErrorCode::AnswerLost),
            Some(why.into()),
        )
    }
}
