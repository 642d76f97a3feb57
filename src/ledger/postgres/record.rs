//! A row that was sent, as it is read back, and values that the server has no type for.

use jiff::Timestamp;
use tokio_postgres::types::{FromSql, WasNull};
use tokio_postgres::{Error, Row};

use crate::lead::{CampaignId, RowId, RowOutcome, RunId};
use crate::ledger::Record;
use crate::ledger::coding::{line, status_of};
use crate::ledger::record::{NO_ANSWER, as_it_counts, without_answer};
use crate::phone::PhoneNumber;

/// The columns of `sent AS s`, in the order of [`record`].
pub(super) const COLUMNS: &str = "s.number, s.campaign, s.run, s.row, s.file, s.line_offset,
    s.status, s.http_status, s.attempts, s.lead_id, s.settled_at, s.error_code, s.error";

/// Whether a row's claim is open though its sender cannot have a request on its way any more:
/// its lease and then its time-out have passed. `e` is the row's sender.
pub(super) const IS_EXPIRED: &str =
    "(s.is_open AND coalesce(e.until + e.timeout_ms * interval '1 ms' < clock_timestamp(), true))";

/// Joins each row of `sent AS s` with the sender that claimed it.
pub(super) const SENDER: &str = "LEFT JOIN leadload.senders AS e ON e.id = s.sender";

/// Text as the server can store it: it has no NUL.
pub(super) fn storable(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

/// JSON as the server can look into it.
pub(super) fn storable_json(json: &str) -> String {
    json.replace("\\u0000", "\\ufffd")
}

/// Times are whole seconds, as in every kind of ledger.
pub(super) fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// Why a stored value cannot be read: no version of the program has written it.
pub(super) type Unreadable = String;

/// Reads the columns of a record. A row without an outcome is uncertain: it may have been taken.
pub(super) fn record(row: &Row) -> Result<Record, Unreadable> {
    let number: i64 = get(row, 0)?;
    let at: i64 = get(row, 3)?;
    let run: i64 = get(row, 2)?;
    let number = PhoneNumber::from_key(number.cast_unsigned());
    Ok(Record {
        number: number.ok_or("a number that is none")?,
        campaign: CampaignId(get(row, 1)?),
        run: RunId(run.cast_unsigned()),
        row: RowId(at.cast_unsigned()),
        file: get::<i32>(row, 4)?.cast_unsigned() as usize,
        line: line(at, get(row, 5)?),
        outcome: outcome(row)?,
    })
}

fn outcome(row: &Row) -> Result<RowOutcome, Unreadable> {
    let Some(status): Option<i16> = get(row, 6)? else {
        // None has been counted yet; an open claim is one more.
        return Ok(RowOutcome {
            attempts: 0,
            ..without_answer(0, NO_ANSWER)
        });
    };
    let code: Option<String> = get(row, 11)?;
    let settled_at: Option<Timestamp> = get(row, 10)?;
    let http_status: Option<i32> = get(row, 7)?;
    let attempts: i64 = get(row, 8)?;
    let outcome = RowOutcome {
        status: status_of(status.into()).ok_or("a status that is none")?,
        lead_id: get(row, 9)?,
        http_status: http_status.and_then(|status| u16::try_from(status).ok()),
        attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
        error_code: code.map(|code| code.parse()).transpose()?,
        error: get(row, 12)?,
        settled_at,
        quotes_cells: false,
        is_suppressed: false,
        is_known_bad: false,
    };
    Ok(as_it_counts(status.into(), outcome))
}

/// Reads a column.
pub(super) fn get<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T, Unreadable> {
    row.try_get(column).map_err(|error: Error| {
        let is_null = std::error::Error::source(&error).is_some_and(|error| error.is::<WasNull>());
        if is_null {
            format!("column {column} is empty")
        } else {
            error.to_string()
        }
    })
}
