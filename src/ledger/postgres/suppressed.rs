//! The do-not-call list that stays.

use jiff::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::PostgresLedger;
use super::record::{Unreadable, get, storable, whole_seconds};
use super::session::{ANSWER, int8, text, typed};
use crate::ledger::{LedgerError, ListPosition, NewlySuppressed, Suppressed};
use crate::phone::PhoneNumber;

/// Numbers come on the list one command after the other, so that a position never passes over one.
/// Those who read do not wait.
const LOCK: &str = "LOCK TABLE leadload.suppressed IN SHARE ROW EXCLUSIVE MODE";

const ADD: &str = "
INSERT INTO leadload.suppressed (number, reason, added_at)
SELECT number, $2, $3 FROM unnest($1::bigint[]) WITH ORDINALITY AS t (number, nth)
ORDER BY nth ON CONFLICT DO NOTHING RETURNING number";

const REMOVE: &str = "DELETE FROM leadload.suppressed WHERE number = ANY($1) RETURNING number";

const LIST: &str = "SELECT number, reason, added_at FROM leadload.suppressed ORDER BY id";

/// The numbers after a position.
pub(super) const AFTER: &str =
    "SELECT number, added_at, id FROM leadload.suppressed WHERE id > $1 ORDER BY id";

impl PostgresLedger {
    /// Puts numbers on the list. Returns those that were not on it.
    pub fn suppress(
        &mut self,
        numbers: &[PhoneNumber],
        reason: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<PhoneNumber>, LedgerError> {
        let keys = keys(numbers);
        let (reason, now) = (reason.map(storable), whole_seconds(now));
        let rows = self.session.transact_once(ANSWER, async |client| {
            client.batch_execute(LOCK).await?;
            let values = [
                typed(&keys, Type::INT8_ARRAY),
                text(&reason),
                typed(&now, Type::TIMESTAMPTZ),
            ];
            client.query_typed(ADD, &values).await
        })?;
        self.read_all(&rows, number)
    }

    /// Takes numbers off the list. Returns those that were on it.
    pub fn unsuppress(&mut self, numbers: &[PhoneNumber]) -> Result<Vec<PhoneNumber>, LedgerError> {
        let keys = keys(numbers);
        let rows = self.session.transact_once(ANSWER, async |client| {
            let values = [typed(&keys, Type::INT8_ARRAY)];
            client.query_typed(REMOVE, &values).await
        })?;
        self.read_all(&rows, number)
    }

    /// The list, in the order in which it grew.
    pub fn suppressed(&self) -> Result<Vec<Suppressed>, LedgerError> {
        let rows = self.query(LIST, &[])?;
        self.read_all(&rows, |row| {
            Ok(Suppressed {
                number: number(row)?,
                reason: get(row, 1)?,
                added_at: get(row, 2)?,
            })
        })
    }

    /// What came on the list after this position.
    pub fn suppressed_after(&self, known: ListPosition) -> Result<NewlySuppressed, LedgerError> {
        let rows = self.query(AFTER, &[int8(&known.0)])?;
        self.readable(new(&rows, known))
    }
}

/// Reads the answer to [`AFTER`].
pub(super) fn new(rows: &[Row], known: ListPosition) -> Result<NewlySuppressed, Unreadable> {
    let mut new = NewlySuppressed {
        numbers: Vec::new(),
        to: known,
    };
    for row in rows {
        new.numbers.push((number(row)?, get(row, 1)?));
        new.to = ListPosition(get(row, 2)?);
    }
    Ok(new)
}

fn keys(numbers: &[PhoneNumber]) -> Vec<i64> {
    let keys = numbers.iter().map(|number| number.key().cast_signed());
    keys.collect()
}

fn number(row: &Row) -> Result<PhoneNumber, Unreadable> {
    let key: i64 = get(row, 0)?;
    let number = PhoneNumber::from_key(key.cast_unsigned());
    Ok(number.ok_or("a number that is none")?)
}
