//! The do-not-call list that stays: numbers that no import sends.

use jiff::Timestamp;

use super::row::Row;
use super::store::{Failed, Sql, Value, places};
use super::{Ledger, LedgerError};
use crate::phone::PhoneNumber;

/// Numbers come on the list one command after the other, so that a position never passes over one.
/// Those who read do not wait.
const LOCK: &str = "LOCK TABLE leadload.suppressed IN SHARE ROW EXCLUSIVE MODE";

pub(super) const AFTER: &str =
    "SELECT number, added_at, id FROM leadload.suppressed WHERE id > $1 ORDER BY id";

/// How many numbers one statement takes.
const AT_ONCE: usize = 1_000;

/// A number on the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppressed {
    pub number: PhoneNumber,
    /// In the words of the person who put it there.
    pub reason: Option<String>,
    /// In whole seconds.
    pub added_at: Timestamp,
}

/// How much of the list is known. Numbers that are added later come after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListPosition(pub(super) i64);

/// The numbers that came on the list after a position, each with the time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewlySuppressed {
    pub numbers: Vec<(PhoneNumber, Timestamp)>,
    /// The position after them.
    pub to: ListPosition,
}

impl Ledger {
    /// Puts numbers on the do-not-call list. Returns those that were not on it.
    pub fn suppress(
        &mut self,
        numbers: &[PhoneNumber],
        reason: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<PhoneNumber>, LedgerError> {
        self.changing_once(|sql| {
            sql.on_server(LOCK, &[])?;
            let mut added = Vec::new();
            for numbers in numbers.chunks(AT_ONCE) {
                let of = |number: &PhoneNumber| [(*number).into(), reason.into(), now.into()];
                let values: Vec<Value<'_>> = numbers.iter().flat_map(of).collect();
                let add = format!(
                    "INSERT INTO leadload.suppressed (number, reason, added_at) VALUES {}
                    ON CONFLICT DO NOTHING RETURNING number",
                    places(numbers.len(), 3)
                );
                added.extend(sql.rows(&add, &values, |row| row.get::<PhoneNumber>(0))?);
            }
            Ok(added)
        })
    }

    /// Takes numbers off the do-not-call list. Returns those that were on it.
    pub fn unsuppress(&mut self, numbers: &[PhoneNumber]) -> Result<Vec<PhoneNumber>, LedgerError> {
        self.changing_once(|sql| {
            let mut removed = Vec::new();
            for numbers in numbers.chunks(AT_ONCE) {
                let values: Vec<Value<'_>> = numbers.iter().map(|n| (*n).into()).collect();
                let remove = format!(
                    "DELETE FROM leadload.suppressed WHERE number IN {} RETURNING number",
                    places(1, numbers.len())
                );
                removed.extend(sql.rows(&remove, &values, |row| row.get::<PhoneNumber>(0))?);
            }
            Ok(removed)
        })
    }

    /// The do-not-call list, in the order in which it grew.
    pub fn suppressed(&self) -> Result<Vec<Suppressed>, LedgerError> {
        let list = "SELECT number, reason, added_at FROM leadload.suppressed ORDER BY id";
        self.reading(|sql| {
            sql.rows(list, &[], |row| {
                Ok(Suppressed {
                    number: row.get("number")?,
                    reason: row.get("reason")?,
                    added_at: row.get("added_at")?,
                })
            })
        })
    }

    /// What came on the do-not-call list after this position.
    pub fn suppressed_after(&self, known: ListPosition) -> Result<NewlySuppressed, LedgerError> {
        self.reading(|sql| after(sql, known))
    }
}

pub(super) fn after(sql: &mut dyn Sql, known: ListPosition) -> Result<NewlySuppressed, Failed> {
    let mut new = NewlySuppressed::none(known);
    sql.each(AFTER, &[known.0.into()], &mut |row| {
        new.add(row)?;
        Ok(true)
    })?;
    Ok(new)
}

impl NewlySuppressed {
    pub(super) fn none(known: ListPosition) -> NewlySuppressed {
        NewlySuppressed {
            numbers: Vec::new(),
            to: known,
        }
    }

    pub(super) fn add(&mut self, row: &Row<'_>) -> Result<(), Failed> {
        self.numbers
            .push((row.get("number")?, row.get("added_at")?));
        self.to = row.get("id")?;
        Ok(())
    }
}
