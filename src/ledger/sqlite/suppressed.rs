//! The do-not-call list that stays.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::columns::{Seconds, all};
use super::{LedgerError, ListPosition, NewlySuppressed, SqliteLedger, Suppressed};
use crate::phone::PhoneNumber;

const ADD: &str = "
INSERT INTO suppressed (number, reason, added_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";

const AFTER: &str = "SELECT number, added_at, id FROM suppressed WHERE id > ?1 ORDER BY id";

impl SqliteLedger {
    /// Puts numbers on the list. Returns those that were not on it.
    pub fn suppress(
        &mut self,
        numbers: &[PhoneNumber],
        reason: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<PhoneNumber>, LedgerError> {
        self.changing(|change| {
            let mut add = change.prepare_cached(ADD)?;
            let mut added = Vec::new();
            for number in numbers {
                let values = params![number.key().cast_signed(), reason, Seconds(now)];
                if add.execute(values)? > 0 {
                    added.push(*number);
                }
            }
            Ok(added)
        })
    }

    /// Takes numbers off the list. Returns those that were on it.
    pub fn unsuppress(&mut self, numbers: &[PhoneNumber]) -> Result<Vec<PhoneNumber>, LedgerError> {
        self.changing(|change| {
            let mut remove = change.prepare_cached("DELETE FROM suppressed WHERE number = ?1")?;
            let mut removed = Vec::new();
            for number in numbers {
                if remove.execute([number.key().cast_signed()])? > 0 {
                    removed.push(*number);
                }
            }
            Ok(removed)
        })
    }

    /// The list, in the order in which it grew.
    pub fn suppressed(&self) -> Result<Vec<Suppressed>, LedgerError> {
        let list = "SELECT number, reason, added_at FROM suppressed ORDER BY id";
        self.reading(|db| {
            all(db, list, [], |row| {
                Ok(Suppressed {
                    number: row.get(0)?,
                    reason: row.get(1)?,
                    added_at: row.get::<_, Seconds>(2)?.0,
                })
            })
        })
    }

    /// What came on the list after this position.
    pub fn suppressed_after(&self, known: ListPosition) -> Result<NewlySuppressed, LedgerError> {
        self.reading(|db| after(db, known))
    }
}

pub(super) fn after(db: &Connection, known: ListPosition) -> rusqlite::Result<NewlySuppressed> {
    let mut new = NewlySuppressed {
        numbers: Vec::new(),
        to: known,
    };
    let mut select = db.prepare_cached(AFTER)?;
    let mut rows = select.query([known.0])?;
    while let Some(row) = rows.next()? {
        new.numbers.push((row.get(0)?, row.get::<_, Seconds>(1)?.0));
        new.to = ListPosition(row.get(2)?);
    }
    Ok(new)
}
