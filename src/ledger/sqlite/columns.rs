//! Conversions for values that SQLite has no column type for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Params, Row, ToSql};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::OutputKind;
use crate::lead::{ErrorCode, RowId, Status};
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

/// A digest of the path, by which it is known after it was pruned.
pub(super) fn place(path: &Path) -> [u8; 32] {
    Sha256::digest(path.as_os_str().as_encoded_bytes()).into()
}

/// Reads the column `path` back.
pub(super) fn path(row: &Row<'_>) -> rusqlite::Result<Option<PathBuf>> {
    let text = row.get_ref("path")?.as_bytes_or_null()?;
    Ok(text.map(|text| os_text(text).into()))
}

#[cfg(unix)]
fn os_text(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(bytes.to_vec())
}

/// On other systems names are Unicode, except for
/// unpaired surrogates, which are read as `\u{FFFD}`.
#[cfg(not(unix))]
fn os_text(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
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

/// What is stored for a line: its distance from the row. The distance is the same
/// for every row of a plain file; in the first file it is 1, which takes no byte.
pub(super) fn line_offset(row: RowId, line: u64) -> i64 {
    line.wrapping_sub(row.0).cast_signed()
}

/// The position of an input among all inputs of its run. There are only a few.
pub(super) fn position(file: usize) -> i64 {
    (file as u64).cast_signed()
}

pub(super) fn line(row: i64, offset: i64) -> u64 {
    row.wrapping_add(offset).cast_unsigned()
}

/// The number of a status: its place among all. 0 and 1 take no space in the table: they are
/// those that occur by the million.
pub(super) fn status_code(status: Status) -> i64 {
    status as i64
}

impl FromSql for Status {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Status> {
        let code = value.as_i64()?;
        let place = usize::try_from(code).ok();
        let status = place.and_then(|place| Status::ALL.get(place));
        status.copied().ok_or(FromSqlError::OutOfRange(code))
    }
}

impl FromSql for OutputKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<OutputKind> {
        let word = value.as_str()?;
        let mut all = [OutputKind::Results, OutputKind::Rejects].into_iter();
        all.find(|kind| kind.as_str() == word)
            .ok_or(FromSqlError::InvalidType)
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

    #[test]
    fn the_code_of_a_status_is_its_place_among_all() {
        assert_eq!(
            Status::ALL.map(status_code),
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
        );
    }

    #[test]
    fn a_line_is_found_again_whether_before_or_after_the_row_s_number() {
        for (row, at) in [(1, 2), (5, 5), (1_000_000, 2), (u64::MAX, 1)] {
            let offset = line_offset(RowId(row), at);
            assert_eq!(line(row.cast_signed(), offset), at);
        }
    }
}
