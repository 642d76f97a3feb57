//! Conversions for values that SQLite has no column type for.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Params, Row, ToSql};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::coding::{os_text, status_of};
use super::{OutputKind, UndoStatus};
use crate::lead::{ErrorCode, Status};
use crate::phone::PhoneNumber;

/// A time, as seconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seconds(pub(super) Timestamp);

impl ToSql for Seconds {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.as_second().into())
    }
}

impl FromSql for Seconds {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let time = Timestamp::from_second(value.as_i64()?);
        time.map(Seconds).map_err(FromSqlError::other)
    }
}

pub(super) fn all<T, A: FromIterator<T>>(
    db: &Connection,
    query: &str,
    values: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<A> {
    db.prepare_cached(query)?.query_map(values, read)?.collect()
}

pub(super) fn json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// A path, stored as text with exactly its own bytes: SQLite compares and
/// keeps text byte by byte, so a name that is not UTF-8 is found again too.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathText<'a>(pub(super) &'a Path);

impl ToSql for PathText<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let bytes = self.0.as_os_str().as_encoded_bytes();
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(bytes)))
    }
}

/// Reads the column `path` back.
pub(super) fn path(row: &Row<'_>) -> rusqlite::Result<Option<PathBuf>> {
    let text = row.get_ref("path")?.as_bytes_or_null()?;
    Ok(text.map(|text| os_text(text).into()))
}

/// A value that is stored as JSON.
#[derive(Debug)]
pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let read = serde_json::from_str(value.as_str()?);
        read.map(Json).map_err(FromSqlError::other)
    }
}

impl FromSql for ErrorCode {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let read = value.as_str()?.parse();
        read.map_err(|error: String| FromSqlError::Other(error.into()))
    }
}

/// The position of an input among all inputs of its run. There are only a few.
pub(super) fn position(file: usize) -> i64 {
    (file as u64).cast_signed()
}

impl FromSql for Status {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Status> {
        let code = value.as_i64()?;
        status_of(code).ok_or(FromSqlError::OutOfRange(code))
    }
}

impl FromSql for OutputKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<OutputKind> {
        let word = value.as_str()?;
        let mut all = OutputKind::ALL.into_iter();
        all.find(|kind| kind.as_str() == word)
            .ok_or(FromSqlError::InvalidType)
    }
}

impl FromSql for UndoStatus {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<UndoStatus> {
        let code = value.as_i64()?;
        UndoStatus::of_code(code).ok_or(FromSqlError::OutOfRange(code))
    }
}

impl FromSql for PhoneNumber {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<PhoneNumber> {
        let key = value.as_i64()?;
        PhoneNumber::from_key(key.cast_unsigned()).ok_or(FromSqlError::OutOfRange(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(path: &Path) -> PathBuf {
        let db = Connection::open_in_memory().unwrap();
        let read = db.query_row("SELECT ?1 AS path", [PathText(path)], super::path);
        read.unwrap().unwrap()
    }

    #[test]
    fn a_path_is_read_as_it_was_written() {
        for path in ["/home/ada/leads.csv", "größe/list.csv", r"C:\lists\a.csv"] {
            assert_eq!(stored(Path::new(path)), Path::new(path));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_text_is_read_as_it_was_written() {
        let path = PathBuf::from(os_text(b"/lists/\xff\xfe.csv"));
        assert_eq!(stored(&path), path);
    }
}
