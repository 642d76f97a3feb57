//! Reads and writes all tables as rows of plain cells.

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Row, ToSql, Transaction, TransactionBehavior, params_from_iter};

use super::lead_id::{StoredLeadId, stored};
use super::{LedgerError, SqliteLedger, unfiled};
use crate::ledger::transfer::{Cell, Cells, Column, Kind, TABLES, Table, Write};

impl SqliteLedger {
    /// Passes all rows on, as they are at this moment. A row
    /// that is being sent is uncertain. Locks keep others from sending if the ledger is to move.
    pub(in crate::ledger) fn each_row(
        &self,
        _moves: bool,
        mut each: impl FnMut(&'static Table, Cells) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        let services = self.services()?;
        let mut result = Ok(());
        self.reading(|db| {
            // The temporary tables that show rows which are not filed are removed with it.
            let snapshot = db.unchecked_transaction()?;
            unfiled::show(&snapshot, services)?;
            for table in TABLES {
                let mut select = snapshot.prepare(&select(table))?;
                let mut rows = select.query([])?;
                while let Some(row) = rows.next()? {
                    result = each(table, cells(table, row)?);
                    if result.is_err() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        })?;
        result
    }

    /// The highest number that was ever given to a run, though the run may be forgotten.
    pub(in crate::ledger) fn last_run(&self) -> Result<i64, LedgerError> {
        let last = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'runs'";
        self.reading(|db| db.query_row(last, [], |row| row.get(0)))
    }

    /// Makes sure that no run gets this number or a lower one.
    pub(in crate::ledger) fn skip_runs(&mut self, last: i64) -> Result<(), LedgerError> {
        self.changing(|change| {
            change.execute("DELETE FROM sqlite_sequence WHERE name = 'runs'", [])?;
            let skip = "INSERT INTO sqlite_sequence (name, seq) VALUES ('runs', ?1)";
            change.execute(skip, [last])
        })?;
        Ok(())
    }

    /// Writes rows as they are given, all of them or none. The ledger has to be empty.
    pub(in crate::ledger) fn fill(
        &mut self,
        rows: impl FnOnce(&mut Write<'_>) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        let place = self.place.clone();
        let failed = |error| LedgerError::of(&place, error);
        let change = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        rows(&mut |table, cells| insert(&change, table, &cells).map_err(failed))?;
        change.commit().map_err(failed)
    }
}

fn select(table: &Table) -> String {
    let columns = table.columns.iter().map(|column| column.name);
    let columns: Vec<&str> = columns.collect();
    // This table has no number of its own, but that of its row.
    let key = if table.key == "id" && table.name == "outputs" {
        "rowid"
    } else {
        table.key
    };
    format!(
        "SELECT {} FROM {} ORDER BY {key}",
        columns.join(", "),
        table.name
    )
}

fn cells(table: &Table, row: &Row<'_>) -> rusqlite::Result<Cells> {
    let columns = table.columns.iter().enumerate();
    columns
        .map(|(index, column)| cell(column, index, row))
        .collect()
}

fn cell(column: &Column, index: usize, row: &Row<'_>) -> rusqlite::Result<Cell> {
    if column.kind == Kind::LeadId {
        let id: Option<StoredLeadId> = row.get(index)?;
        return Ok(id.map_or(Cell::Empty, |StoredLeadId(text)| Cell::Text(text)));
    }
    Ok(match row.get_ref(index)? {
        ValueRef::Null => Cell::Empty,
        ValueRef::Integer(number) => Cell::Whole(number),
        ValueRef::Text(bytes) if column.kind == Kind::Path => Cell::Bytes(bytes.to_vec()),
        ValueRef::Text(_) => Cell::Text(row.get(index)?),
        _ => Cell::Bytes(row.get(index)?),
    })
}

/// A cell of a column, as it is stored.
struct Stored<'a>(&'a Column, &'a Cell);

impl ToSql for Stored<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let Stored(column, cell) = self;
        Ok(match cell {
            Cell::Empty => ToSqlOutput::Owned(Value::Null),
            Cell::Whole(number) => (*number).into(),
            Cell::Text(text) if column.kind == Kind::LeadId => ToSqlOutput::Owned(stored(text)),
            Cell::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            // A path is text whose bytes need not be Unicode.
            Cell::Bytes(bytes) if column.kind == Kind::Path => {
                ToSqlOutput::Borrowed(ValueRef::Text(bytes))
            }
            Cell::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

fn insert(change: &Transaction<'_>, table: &Table, cells: &Cells) -> rusqlite::Result<()> {
    let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({})",
        table.name,
        columns.join(", "),
        vec!["?"; columns.len()].join(", ")
    );
    let values = table.columns.iter().zip(cells);
    let values = values.map(|(column, cell)| Stored(column, cell));
    change
        .prepare_cached(&sql)?
        .execute(params_from_iter(values))?;
    Ok(())
}
