//! A row that was sent, as it is stored and read back.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, Value, ValueRef};
use rusqlite::{Row, Transaction, params_from_iter};

use super::ServiceId;
use super::columns::{Seconds, Word};
use super::journal::Outcome;
use super::lead_id::{self, StoredLeadId};
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

/// The columns of `sent`, in the order of [`values`] and of [`Record::read`].
pub(super) const COLUMNS: &str = "number, service, campaign, run, row, file, line_offset, status,
    http_status, attempts, lead_id, settled_at, error_code, error";

/// Rows that one statement inserts: to begin and end one costs SQLite as much as to insert a
/// row or two.
const AT_ONCE: usize = 16;

/// Inserts rows into `table`, each with its run and in the place of what is known of it: its
/// last outcome is the one that stays.
pub(super) fn store(
    change: &Transaction<'_>,
    table: &str,
    service: ServiceId,
    rows: &[(i64, Outcome)],
) -> rusqlite::Result<()> {
    for rows in rows.chunks(AT_ONCE) {
        let all_values = vec!["(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"; rows.len()].join(",");
        let sql = format!("INSERT OR REPLACE INTO {table} ({COLUMNS}) VALUES {all_values}");
        let all = rows
            .iter()
            .flat_map(|(run, row)| values(service, *run, row));
        change
            .prepare_cached(&sql)?
            .execute(params_from_iter(all))?;
    }
    Ok(())
}

fn values(service: ServiceId, run: i64, outcome: &Outcome) -> [Value; 14] {
    let text = |text: &Option<Box<str>>| Value::from(text.as_deref().map(str::to_owned));
    let claim = outcome.claim;
    [
        claim.number.into(),
        service.0.into(),
        claim.campaign.into(),
        run.into(),
        claim.row.into(),
        claim.file.into(),
        claim.line_offset.into(),
        outcome.status.into(),
        outcome.http_status.into(),
        outcome.attempts.into(),
        outcome.lead_id.as_deref().map(lead_id::stored).into(),
        outcome.settled_at.into(),
        text(&outcome.error_code),
        text(&outcome.error),
    ]
}

impl Record {
    /// Reads a row of a query that begins with [`COLUMNS`].
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Record> {
        let at: i64 = row.get(4)?;
        let Key(number) = row.get(0)?;
        Ok(Record {
            number,
            campaign: CampaignId(row.get(2)?),
            run: RunId(row.get(3)?),
            row: RowId(at.cast_unsigned()),
            file: row.get(5)?,
            line: line(at, row.get(6)?),
            outcome: outcome(row)?,
        })
    }
}

fn outcome(row: &Row<'_>) -> rusqlite::Result<RowOutcome> {
    let StoredStatus(status) = row.get(7)?;
    let lead_id: Option<StoredLeadId> = row.get(10)?;
    let settled_at: Option<Seconds> = row.get(11)?;
    let error_code: Option<Word<ErrorCode>> = row.get(12)?;
    Ok(RowOutcome {
        status,
        lead_id: lead_id.map(|StoredLeadId(text)| text),
        http_status: row.get(8)?,
        attempts: row.get(9)?,
        error_code: error_code.map(|Word(code)| code),
        error: row.get(13)?,
        settled_at: settled_at.map(|Seconds(time)| time),
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

/// The number of a status. 0 and 1 take no space in the table: they are those that occur by the
/// million.
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
