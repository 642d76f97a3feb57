//! A row that was sent, as it is read back.

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, Type, ValueRef};

use super::lead_id::StoredLeadId;
use crate::lead::{CampaignId, ErrorCode, RowId, RowOutcome, RunId, Status};
use crate::phone::PhoneNumber;

/// A row that was sent, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The run that sent it.
    pub run: RunId,
    /// Its number in that run.
    pub row: RowId,
    /// The campaign that it was sent to.
    pub campaign: CampaignId,
    /// The number that it was sent with.
    pub number: PhoneNumber,
    /// Its input, counted from 0.
    pub file: usize,
    /// Its line there, from 1.
    pub line: u64,
    /// What became of it; times are whole seconds.
    pub outcome: RowOutcome,
}

/// A query for [`Record`]s: what follows the columns, in the order in which
/// [`Record::read`] takes them.
macro_rules! select_sent {
    ($rest:literal) => {
        concat!(
            "SELECT number, campaign, run, row, file, line_offset, status, http_status, ",
            "attempts, lead_id, settled_at, error_code, error FROM sent ",
            $rest
        )
    };
}
pub(super) use select_sent;

impl Record {
    /// Reads a row of a query that [`select_sent`] made.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Record> {
        let at: i64 = row.get(3)?;
        let Key(number) = row.get(0)?;
        Ok(Record {
            number,
            campaign: CampaignId(row.get(1)?),
            run: RunId(row.get::<_, i64>(2)?.cast_unsigned()),
            row: RowId(at.cast_unsigned()),
            file: row.get::<_, u32>(4)? as usize,
            line: line(at, row.get(5)?),
            outcome: outcome(row)?,
        })
    }
}

fn outcome(row: &Row<'_>) -> rusqlite::Result<RowOutcome> {
    let StoredStatus(status) = row.get(6)?;
    let lead_id: Option<StoredLeadId> = row.get(9)?;
    let error_code: Option<StoredErrorCode> = row.get(11)?;
    let settled_at: Option<i64> = row.get(10)?;
    Ok(RowOutcome {
        status,
        lead_id: lead_id.map(|StoredLeadId(text)| text),
        http_status: row.get(7)?,
        attempts: row.get(8)?,
        error_code: error_code.map(|StoredErrorCode(code)| code),
        error: row.get(12)?,
        settled_at: settled_at.map(time).transpose()?,
        quotes_cells: false,
        is_known_bad: false,
    })
}

/// What is stored for a line: its distance from the row, which is the same for every
/// row of a plain file, and 1 in the first: no byte.
pub(super) fn line_offset(row: RowId, line: u64) -> i64 {
    line.wrapping_sub(row.0).cast_signed()
}

/// The place of an input among the others, of which there are few.
pub(super) fn position(file: usize) -> i64 {
    (file as u64).cast_signed()
}

fn line(row: i64, offset: i64) -> u64 {
    row.wrapping_add(offset).cast_unsigned()
}

fn time(seconds: i64) -> rusqlite::Result<Timestamp> {
    Timestamp::from_second(seconds).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(10, Type::Integer, Box::new(error))
    })
}

/// The number that stands for a status. 0 and 1 take no room: they are of those that
/// occur by the million.
pub(super) fn status_code(status: Status) -> i64 {
    match status {
        Status::Created => 0,
        Status::Duplicate => 1,
        Status::Rejected => 2,
        Status::Failed => 3,
        Status::Uncertain => 4,
        Status::Repeated => 5,
        Status::AlreadyImported => 6,
        Status::Suppressed => 7,
        Status::Invalid => 8,
        Status::Ready => 9,
        Status::Excluded => 10,
    }
}

/// A status as it is stored.
struct StoredStatus(Status);

impl FromSql for StoredStatus {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<StoredStatus> {
        let code = value.as_i64()?;
        let mut all = Status::ALL.into_iter();
        let status = all.find(|status| status_code(*status) == code);
        status
            .map(StoredStatus)
            .ok_or(FromSqlError::OutOfRange(code))
    }
}

/// An error code as it is stored.
struct StoredErrorCode(ErrorCode);

impl FromSql for StoredErrorCode {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<StoredErrorCode> {
        let code = value.as_str()?.parse();
        code.map(StoredErrorCode).map_err(FromSqlError::other)
    }
}

/// A phone number as it is stored.
struct Key(PhoneNumber);

impl FromSql for Key {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Key> {
        let key = value.as_i64()?;
        let number = PhoneNumber::from_key(key.cast_unsigned());
        number.map(Key).ok_or(FromSqlError::OutOfRange(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_statuses_have_one_code() {
        let mut codes = Status::ALL.map(status_code);
        codes.sort_unstable();
        assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }

    #[test]
    fn a_line_is_found_again_whether_before_or_after_the_row_s_number() {
        for (row, at) in [(1, 2), (5, 5), (1_000_000, 2), (u64::MAX, 1)] {
            let offset = line_offset(RowId(row), at);
            assert_eq!(line(row.cast_signed(), offset), at);
        }
    }
}
