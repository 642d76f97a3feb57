//! What a query returns, read the same from a file and from a server.

use std::error::Error;
use std::fmt;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str;

use jiff::Timestamp;
use rusqlite::types::ValueRef;
use serde::de::DeserializeOwned;
use tokio_postgres::types::{FromSql, Type};

use super::coding::os_text;
use super::sqlite::uuid_text;
use super::store::Failed;
use super::{ListPosition, OutputKind, ServiceId, UndoStatus};
use crate::lead::{CampaignId, ErrorCode, RowId, RunId, RunTag};
use crate::phone::PhoneNumber;

pub(super) enum Row<'a> {
    File(&'a rusqlite::Row<'a>),
    Server(&'a tokio_postgres::Row),
}

/// A value as the database has it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cell<'a> {
    Null,
    Int(i64),
    /// In a file, also that of a name which is not Unicode.
    Text(&'a [u8]),
    Bytes(&'a [u8]),
    Time(Timestamp),
}

/// A value that a cell can be read as.
pub(super) trait FromCell: Sized {
    /// Returns what is wrong with a cell that no version of the program writes.
    fn from_cell(cell: Cell<'_>) -> Result<Self, String>;
}

impl Row<'_> {
    /// Reads a column by its name or its place.
    pub(super) fn get<T: FromCell>(
        &self,
        column: impl rusqlite::RowIndex + tokio_postgres::row::RowIndex + fmt::Display,
    ) -> Result<T, Failed> {
        let cell = match self {
            Row::File(row) => Cell::of_file(row.get_ref(column)?),
            Row::Server(row) => Ok(row.try_get(column)?),
        };
        let read = cell.and_then(T::from_cell);
        read.map_err(|why| Failed::Damaged(format!("column {column}: {why}")))
    }
}

impl<'a> Cell<'a> {
    fn of_file(value: ValueRef<'a>) -> Result<Cell<'a>, String> {
        Ok(match value {
            ValueRef::Null => Cell::Null,
            ValueRef::Integer(number) => Cell::Int(number),
            ValueRef::Text(text) => Cell::Text(text),
            ValueRef::Blob(bytes) => Cell::Bytes(bytes),
            ValueRef::Real(number) => return Err(format!("{number} is no whole number")),
        })
    }

    fn what(&self) -> String {
        let what = match self {
            Cell::Null => "it is empty",
            Cell::Int(_) => "it has a number",
            Cell::Text(_) => "it has a text",
            Cell::Bytes(_) => "it has bytes",
            Cell::Time(_) => "it has a time",
        };
        what.to_owned()
    }
}

impl<'a> FromSql<'a> for Cell<'a> {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Cell<'a>, Box<dyn Error + Sync + Send>> {
        Ok(match *of {
            Type::INT8 => Cell::Int(i64::from_sql(of, raw)?),
            Type::INT4 => Cell::Int(i32::from_sql(of, raw)?.into()),
            Type::INT2 => Cell::Int(i16::from_sql(of, raw)?.into()),
            Type::BOOL => Cell::Int(bool::from_sql(of, raw)?.into()),
            Type::TIMESTAMPTZ => Cell::Time(Timestamp::from_sql(of, raw)?),
            Type::BYTEA => Cell::Bytes(raw),
            _ => Cell::Text(raw),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Cell<'a>, Box<dyn Error + Sync + Send>> {
        Ok(Cell::Null)
    }

    fn accepts(of: &Type) -> bool {
        use Type as T;
        [
            T::INT8,
            T::INT4,
            T::INT2,
            T::BOOL,
            T::TIMESTAMPTZ,
            T::BYTEA,
            T::TEXT,
            T::JSON,
            T::NAME,
        ]
        .contains(of)
    }
}

/// Reads types from cells.
macro_rules! read_from {
    ($cell:ident: $($of:ty => $read:expr,)*) => {$(
        impl FromCell for $of {
            fn from_cell($cell: Cell<'_>) -> Result<$of, String> {
                $read
            }
        }
    )*};
}

/// A value that is stored as JSON.
pub(super) struct Json<T>(pub(super) T);

/// The service's id of a lead; a file has a shorter form of most (`sqlite::lead_id`).
pub(super) struct LeadId(pub(super) String);

read_from! { cell:
    i64 => match cell {
        Cell::Int(number) => Ok(number),
        _ => Err(cell.what()),
    },
    u64 => narrower(cell),
    u32 => narrower(cell),
    u16 => narrower(cell),
    u8 => narrower(cell),
    usize => narrower(cell),
    NonZeroU32 => numbered(cell, "limit", |number| NonZeroU32::new(number.try_into().ok()?)),
    bool => i64::from_cell(cell).map(|number| number != 0),
    String => text(cell).map(str::to_owned),
    Vec<u8> => match cell {
        Cell::Text(bytes) | Cell::Bytes(bytes) => Ok(bytes.to_vec()),
        _ => Err(cell.what()),
    },
    PathBuf => Vec::from_cell(cell).map(|path| os_text(&path).into()),
    Timestamp => match cell {
        Cell::Time(time) => Ok(time),
        _ => numbered(cell, "time", |seconds| Timestamp::from_second(seconds).ok()),
    },
    RunId => i64::from_cell(cell).map(|run| RunId(run.cast_unsigned())),
    RowId => i64::from_cell(cell).map(|row| RowId(row.cast_unsigned())),
    CampaignId => i64::from_cell(cell).map(CampaignId),
    ServiceId => i64::from_cell(cell).map(ServiceId),
    ListPosition => i64::from_cell(cell).map(ListPosition),
    PhoneNumber => {
        numbered(cell, "phone number", |key| PhoneNumber::from_key(key.cast_unsigned()))
    },
    UndoStatus => numbered(cell, "status", UndoStatus::of_code),
    ErrorCode => text(cell)?.parse(),
    RunTag => text(cell)?.parse(),
    OutputKind => {
        let word = text(cell)?;
        let mut all = OutputKind::ALL.into_iter();
        let found = all.find(|kind| kind.as_str() == word);
        found.ok_or_else(|| format!("no kind of file is called `{word}`"))
    },
    LeadId => Ok(LeadId(match cell {
        Cell::Int(number) => number.to_string(),
        Cell::Bytes(_) => uuid_text(u128::from_be_bytes(FromCell::from_cell(cell)?)),
        _ => text(cell)?.to_owned(),
    })),
}

impl<const N: usize> FromCell for [u8; N] {
    fn from_cell(cell: Cell<'_>) -> Result<[u8; N], String> {
        match cell {
            Cell::Bytes(bytes) => bytes
                .try_into()
                .map_err(|_| format!("it has {} bytes, not {N}", bytes.len())),
            _ => Err(cell.what()),
        }
    }
}

impl<T: DeserializeOwned> FromCell for Json<T> {
    fn from_cell(cell: Cell<'_>) -> Result<Json<T>, String> {
        let read = serde_json::from_str(text(cell)?);
        read.map(Json).map_err(|error| error.to_string())
    }
}

impl<T: FromCell> FromCell for Option<T> {
    fn from_cell(cell: Cell<'_>) -> Result<Option<T>, String> {
        match cell {
            Cell::Null => Ok(None),
            _ => T::from_cell(cell).map(Some),
        }
    }
}

fn text<'a>(cell: Cell<'a>) -> Result<&'a str, String> {
    match cell {
        Cell::Text(text) => str::from_utf8(text).map_err(|error| error.to_string()),
        _ => Err(cell.what()),
    }
}

fn narrower<T: TryFrom<i64>>(cell: Cell<'_>) -> Result<T, String> {
    numbered(cell, "number of this kind", |number| number.try_into().ok())
}

/// What has this number; `what` that is called.
fn numbered<T>(cell: Cell<'_>, what: &str, of: impl FnOnce(i64) -> Option<T>) -> Result<T, String> {
    let number = i64::from_cell(cell)?;
    of(number).ok_or_else(|| format!("{number} is no {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_no_version_writes_is_said_to_be_none() {
        let status = UndoStatus::from_cell(Cell::Int(99)).unwrap_err();
        assert_eq!(status, "99 is no status");
        let digest = <[u8; 32]>::from_cell(Cell::Bytes(b"short")).unwrap_err();
        assert_eq!(digest, "it has 5 bytes, not 32");
        assert!(u16::from_cell(Cell::Int(-1)).unwrap_err().contains("-1"));
        assert_eq!(String::from_cell(Cell::Null).unwrap_err(), "it is empty");
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_text_is_read_as_it_was_written() {
        for cell in [
            Cell::Text(b"/lists/\xff\xfe.csv"),
            Cell::Bytes(b"/lists/\xff\xfe.csv"),
        ] {
            let path = PathBuf::from_cell(cell).unwrap();
            assert_eq!(path.as_os_str().as_encoded_bytes(), b"/lists/\xff\xfe.csv");
        }
    }
}
