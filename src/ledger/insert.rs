//! Many rows with few statements: to begin and end a statement costs SQLite as much as to
//! insert a row or two.

use rusqlite::types::Value;
use rusqlite::{Transaction, params_from_iter};

/// Rows of one statement.
const AT_ONCE: usize = 16;

/// `INSERT INTO` a table and so many columns, without the values.
pub(super) struct Insert<const COLUMNS: usize>(pub(super) &'static str);

impl<const COLUMNS: usize> Insert<COLUMNS> {
    /// Inserts a row for each thing, in that order.
    pub(super) fn all<T, V: IntoIterator<Item = Value>>(
        &self,
        change: &Transaction<'_>,
        things: &[T],
        values: impl Fn(&T) -> V,
    ) -> rusqlite::Result<()> {
        let (many, rest) = things.split_at(things.len() - things.len() % AT_ONCE);
        for (things, at_once) in [(many, AT_ONCE), (rest, 1)] {
            if things.is_empty() {
                continue;
            }
            let mut insert = change.prepare_cached(&self.sql(at_once))?;
            for things in things.chunks(at_once) {
                insert.execute(params_from_iter(things.iter().flat_map(&values)))?;
            }
        }
        Ok(())
    }

    fn sql(&self, rows: usize) -> String {
        let row = format!("({})", ["?"; COLUMNS].join(","));
        format!("{} VALUES {}", self.0, vec![row; rows].join(","))
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn however_many_there_are_each_is_inserted_once_and_in_order() {
        let mut db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE pairs (a, b)").unwrap();
        for count in [0, 1, 15, 16, 17, 40] {
            let things: Vec<i64> = (0..count).collect();
            let change = db.transaction().unwrap();
            Insert::<2>("INSERT INTO pairs (a, b)")
                .all(&change, &things, |thing| {
                    [Value::Integer(*thing), Value::Integer(-thing)]
                })
                .unwrap();
            let mut all = change
                .prepare("SELECT a, b FROM pairs ORDER BY rowid")
                .unwrap();
            let all = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
            let all: rusqlite::Result<Vec<(i64, i64)>> = all.unwrap().collect();
            let expected: Vec<(i64, i64)> = things.iter().map(|thing| (*thing, -thing)).collect();
            assert_eq!(all.unwrap(), expected);
            // Rolled back.
        }
    }
}
