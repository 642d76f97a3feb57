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

use super::coding::{os_text, status_of};
use super::sqlite::uuid_text;
use super::store::Failed;
use super::{ListPosition, OutputKind, ServiceId, UndoStatus};
use crate::lead::{CampaignId, ErrorCode, RowId, RunId, RunTag, Status};
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
        column: impl rusqlite::RowIndex + tokio_postgres::row::RowIndex + fmt::Display + Copy,
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

impl FromCell for i64 {
    fn from_cell(cell: Cell<'_>) -> Result<i64, String> {
        match cell {
            Cell::Int(number) => Ok(number),
            _ => Err(cell.what()),
        }
    }
}

/// Reads a number as the narrower type.
macro_rules! narrower {
    ($($number:ty)*) => {$(
        impl FromCell for $number {
            fn from_cell(cell: Cell<'_>) -> Result<$number, String> {
                let number = i64::from_cell(cell)?;
                number.try_into().map_err(|_| format!("{number} is out of range"))
            }
        }
    )*};
}

narrower!(u64 u32 u16 u8 usize);

impl FromCell for NonZeroU32 {
    fn from_cell(cell: Cell<'_>) -> Result<NonZeroU32, String> {
        NonZeroU32::new(FromCell::from_cell(cell)?).ok_or_else(|| "it is 0".to_owned())
    }
}

/// Reads a number as what it is the number of.
macro_rules! numbered {
    ($($id:ident)*) => {$(
        impl FromCell for $id {
            fn from_cell(cell: Cell<'_>) -> Result<$id, String> {
                FromCell::from_cell(cell).map($id)
            }
        }
    )*};
}

numbered!(ServiceId CampaignId ListPosition);

impl FromCell for RunId {
    fn from_cell(cell: Cell<'_>) -> Result<RunId, String> {
        Ok(RunId(i64::from_cell(cell)?.cast_unsigned()))
    }
}

impl FromCell for RowId {
    fn from_cell(cell: Cell<'_>) -> Result<RowId, String> {
        Ok(RowId(i64::from_cell(cell)?.cast_unsigned()))
    }
}

impl FromCell for bool {
    fn from_cell(cell: Cell<'_>) -> Result<bool, String> {
        Ok(i64::from_cell(cell)? != 0)
    }
}

impl FromCell for String {
    fn from_cell(cell: Cell<'_>) -> Result<String, String> {
        text(cell).map(str::to_owned)
    }
}

impl FromCell for Timestamp {
    fn from_cell(cell: Cell<'_>) -> Result<Timestamp, String> {
        match cell {
            Cell::Time(time) => Ok(time),
            Cell::Int(seconds) => Timestamp::from_second(seconds).map_err(|e| e.to_string()),
            _ => Err(cell.what()),
        }
    }
}

impl FromCell for PathBuf {
    fn from_cell(cell: Cell<'_>) -> Result<PathBuf, String> {
        match cell {
            Cell::Text(path) | Cell::Bytes(path) => Ok(os_text(path).into()),
            _ => Err(cell.what()),
        }
    }
}

impl FromCell for Vec<u8> {
    fn from_cell(cell: Cell<'_>) -> Result<Vec<u8>, String> {
        match cell {
            Cell::Text(bytes) | Cell::Bytes(bytes) => Ok(bytes.to_vec()),
            _ => Err(cell.what()),
        }
    }
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

/// A value that is stored as JSON.
pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned> FromCell for Json<T> {
    fn from_cell(cell: Cell<'_>) -> Result<Json<T>, String> {
        let read = serde_json::from_str(text(cell)?);
        read.map(Json).map_err(|error| error.to_string())
    }
}

/// The service's id of a lead; a file has a shorter form of most (`sqlite::lead_id`).
pub(super) struct LeadId(pub(super) String);

impl FromCell for LeadId {
    fn from_cell(cell: Cell<'_>) -> Result<LeadId, String> {
        Ok(LeadId(match cell {
            Cell::Int(number) => number.to_string(),
            Cell::Bytes(_) => uuid_text(u128::from_be_bytes(FromCell::from_cell(cell)?)),
            _ => text(cell)?.to_owned(),
        }))
    }
}

impl FromCell for ErrorCode {
    fn from_cell(cell: Cell<'_>) -> Result<ErrorCode, String> {
        text(cell)?.parse()
    }
}

impl FromCell for RunTag {
    fn from_cell(cell: Cell<'_>) -> Result<RunTag, String> {
        text(cell)?.parse()
    }
}

impl FromCell for Status {
    fn from_cell(cell: Cell<'_>) -> Result<Status, String> {
        let code = i64::from_cell(cell)?;
        status_of(code).ok_or_else(|| format!("no status has the number {code}"))
    }
}

impl FromCell for UndoStatus {
    fn from_cell(cell: Cell<'_>) -> Result<UndoStatus, String> {
        let code = i64::from_cell(cell)?;
        UndoStatus::of_code(code).ok_or_else(|| format!("no status has the number {code}"))
    }
}

impl FromCell for OutputKind {
    fn from_cell(cell: Cell<'_>) -> Result<OutputKind, String> {
        let word = text(cell)?;
        let mut all = OutputKind::ALL.into_iter();
        let found = all.find(|kind| kind.as_str() == word);
        found.ok_or_else(|| format!("no kind of file is called `{word}`"))
    }
}

impl FromCell for PhoneNumber {
    fn from_cell(cell: Cell<'_>) -> Result<PhoneNumber, String> {
        let key = i64::from_cell(cell)?;
        let number = PhoneNumber::from_key(key.cast_unsigned());
        number.ok_or_else(|| format!("{key} is no phone number"))
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
