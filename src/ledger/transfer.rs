//! Copies everything that a ledger knows into an empty one of either kind.
//!
//! Both kinds have the same tables for what is known, which are read and written as rows of plain cells. When
//! all is written, the copy is read again, and the number of rows and a digest of each table must be those of
//! the source.

use std::collections::BTreeMap;

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::coding::{storable, storable_json, whole_seconds};
use super::column::{Column, Kind};
use super::postgres::STOP_SENDERS;
use super::record::OUTCOME;
use super::row::{LeadId, Row};
use super::store::{Failed, Sql, Value, places};
use super::{Ledger, LedgerError, LedgerPlace};

/// How many rows one statement inserts.
const AT_ONCE: usize = 1_000;

/// A table that both kinds have, with the columns that are copied, in order.
#[derive(Debug, Clone, Copy)]
struct Table {
    name: &'static str,
    /// Of `sent`, those before its outcome ([`OUTCOME`]).
    columns: &'static [Column],
    /// By what its rows are sorted, so that both kinds read them in one order.
    key: &'static str,
}

type Cells = Vec<Value<'static>>;

macro_rules! tables {
    ($($table:ident by $key:literal { $($column:ident $kind:ident,)* })*) => {
        &[$(Table {
            name: stringify!($table),
            key: $key,
            columns: &[$(Column { name: stringify!($column), kind: Kind::$kind },)*],
        },)*]
    };
}

/// In the order in which they can be written: each row after those that it names.
const TABLES: &[Table] = tables! {
    services by "id" {
        id Whole, address Text, rate_requests Whole, rate_per_ms Whole, rate_is_stated YesNo,
    }
    runs by "id" {
        id Whole, service Whole, identity Bytes, options Json, defaults Text, began_at Time,
        completed_at Time, reached Whole, read_to Whole, counts Json, pruned_at Time,
        undone_at Time, token Text, ahead_s Whole, tag Text, undone_after Whole,
        campaign_ids Json,
    }
    starts by "run, start" {
        run Whole, start Whole, began_at Time, ended_at Time, process Whole, host Text,
        started_by Text, version Text, exit_code Whole, stopped_by Text, requests Whole,
        seq Whole,
    }
    inputs by "run, position" {
        run Whole, position Whole, name Text, path Path, place Bytes, sha256 Bytes, bytes Whole,
        columns Bytes, rows Whole,
    }
    lists by "run, start, position" {
        run Whole, start Whole, position Whole, name Text, sha256 Bytes, numbers Whole,
    }
    outputs by "outputs.id" {
        run Whole, path Path, place Bytes, kind Text, sha256 Bytes, rows Whole,
    }
    sent by "run, row" {
        run Whole, row Whole, number Whole, service Whole, campaign Whole, file Whole,
        line_offset Whole,
    }
    invalid_rows by "run, row" {
        run Whole, row Whole, file Whole, line Whole, campaign Whole, cell Text, error_code Text,
        error Text,
    }
    known_bad by "service, digest, run" {
        service Whole, digest Bytes, run Whole, row Whole, in_rejects YesNo,
    }
    attempts by "run, row, first_ms" {
        run Whole, row Whole, first_ms Whole, last_ms Whole, ended_ms Whole,
    }
    undo_rows by "run, row" {
        run Whole, row Whole, number Whole, campaign Whole, lead_id LeadId, asked_at Time,
        status Whole, http_status Whole, error Text, settled_at Time,
    }
    suppressed by "id" { number Whole, reason Text, added_at Time, }
    recent_starts by "service, second" { service Whole, second Whole, requests Whole, }
};

const LAST_RUN: &str = "SELECT
/*file coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'runs'*/
/*server CASE WHEN is_called THEN last_value ELSE 0 END FROM leadload.runs_id_seq*/";

/// No run gets this number or a lower one.
const SKIP_RUNS: &str = "
/*file INSERT OR REPLACE INTO sqlite_sequence (rowid, name, seq)
VALUES ((SELECT rowid FROM sqlite_sequence WHERE name = 'runs'), 'runs', $1)*/
/*server SELECT setval('leadload.runs_id_seq', $1)*/";

/// What was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transferred {
    pub runs: u64,
    /// Rows that were sent, with what came of them.
    pub sent: u64,
}

/// The rows of each table, counted and digested.
#[derive(Debug, Default)]
struct Tally {
    tables: BTreeMap<&'static str, (u64, Sha256)>,
}

impl Tally {
    fn add(&mut self, table: &Table, cells: &Cells) {
        let (rows, digest) = self.tables.entry(table.name).or_default();
        *rows += 1;
        // Their form for debugging has texts in quotes, so what differs looks different.
        digest.update(format!("{cells:?}"));
    }

    fn rows(&self, table: &str) -> u64 {
        self.tables.get(table).map_or(0, |(rows, _)| *rows)
    }

    fn finish(self) -> BTreeMap<&'static str, (u64, [u8; 32])> {
        let tables = self.tables.into_iter();
        tables
            .map(|(name, (rows, digest))| (name, (rows, digest.finalize().into())))
            .collect()
    }
}

impl Ledger {
    /// Copies everything that is committed now into `to`, which has to be empty, and compares the
    /// two. A row whose outcome is not known yet is uncertain in the copy. If the ledger `moves`, nothing
    /// is sent meanwhile.
    pub fn transfer(
        &self,
        to: &mut Ledger,
        place: &LedgerPlace,
        moves: bool,
    ) -> Result<Transferred, LedgerError> {
        let mut source = Tally::default();
        to.filling(|sql| {
            let mut copy = Inserting::new(sql);
            let mut copied = Ok(());
            // What fails there is not an error of this ledger.
            self.each_row(moves, |table, cells| {
                source.add(table, &cells);
                copied = copy.add(table, cells);
                copied.is_ok()
            })?;
            copied?;
            copy.finish()
        })?;
        let last = self.last_run()?;
        if last > 0 {
            to.changing(|sql| sql.change(SKIP_RUNS, &[last.into()]).map(drop))?;
        }
        let mut copy = Tally::default();
        to.each_row(false, |table, cells| {
            copy.add(table, &cells);
            true
        })?;
        let transferred = Transferred {
            runs: source.rows("runs"),
            sent: source.rows("sent"),
        };
        let (source, copy) = (source.finish(), copy.finish());
        match source
            .iter()
            .find(|(name, tally)| copy.get(*name) != Some(*tally))
        {
            None => Ok(transferred),
            Some((name, _)) => Err(LedgerError(message!(
                "the copy `{place}` differs from {ledger} in the table {name}",
                "do not use the copy; {report_bug}",
                place = place.to_string(),
                name = *name
            ))),
        }
    }
}

impl Ledger {
    /// The highest number that was ever given to a run, though the run may be forgotten.
    pub fn last_run(&self) -> Result<i64, LedgerError> {
        self.reading(|sql| sql.value(LAST_RUN, &[]))
    }

    /// Passes the rows of all tables on, as they are at this moment, as long as `each` returns `true`. A row
    /// that is being sent is uncertain.
    fn each_row(
        &self,
        moves: bool,
        mut each: impl FnMut(&'static Table, Cells) -> bool,
    ) -> Result<(), LedgerError> {
        self.streaming(|sql| {
            if moves {
                // In a file, locks keep others from sending.
                sql.on_server(STOP_SENDERS, &[])?;
            }
            let mut goes_on = true;
            for table in TABLES {
                sql.each(&table.select(), &[], &mut |row| {
                    goes_on = goes_on && each(table, table.read(row)?);
                    Ok(goes_on)
                })?;
            }
            Ok(())
        })
    }
}

impl Table {
    fn columns(&self) -> impl Iterator<Item = Column> {
        let outcome = match self.name {
            "sent" => &OUTCOME[..],
            _ => &[],
        };
        let columns = self.columns.iter().copied();
        columns.chain(outcome.iter().map(|(column, _)| *column))
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.columns().map(|column| column.name).collect();
        names.join(", ")
    }

    fn select(&self) -> String {
        let (name, key) = (self.name, self.key);
        let seen = match name {
            "sent" | "attempts" => "_seen",
            _ => "",
        };
        format!(
            "SELECT {} FROM leadload.{name}{seen} AS {name} ORDER BY {key}",
            self.names()
        )
    }

    fn read(&self, row: &Row<'_>) -> Result<Cells, Failed> {
        let columns = self.columns().enumerate();
        columns
            .map(|(index, column)| column.kind.read(row, index))
            .collect()
    }
}

impl Kind {
    fn read(self, row: &Row<'_>, index: usize) -> Result<Value<'static>, Failed> {
        let text = || row.get::<Option<String>>(index);
        let bytes = || row.get::<Option<Vec<u8>>>(index);
        let value = match self {
            Kind::Whole => row.get::<Option<i64>>(index)?.map(Value::Int),
            Kind::YesNo => row.get::<Option<bool>>(index)?.map(Value::Bool),
            Kind::Time => {
                let time = row.get::<Option<Timestamp>>(index)?;
                time.map(|time| whole_seconds(time).into())
            }
            Kind::Text => text()?.map(|text| storable(&text).into_owned().into()),
            Kind::Json => text()?.map(|json| Value::Json(storable_json(&json))),
            Kind::LeadId => {
                let id = row.get::<Option<LeadId>>(index)?;
                id.map(|LeadId(id)| Value::LeadId(storable(&id).into_owned().into()))
            }
            Kind::Bytes => bytes()?.map(|bytes| Value::Bytes(bytes.into())),
            Kind::Path => bytes()?.map(|path| Value::Path(path.into())),
        };
        Ok(value.into())
    }
}

/// Inserts rows, many at once.
struct Inserting<'a> {
    sql: &'a mut dyn Sql,
    table: &'static Table,
    rows: Vec<Cells>,
}

impl Inserting<'_> {
    fn new(sql: &mut dyn Sql) -> Inserting<'_> {
        Inserting {
            sql,
            table: &TABLES[0],
            rows: Vec::new(),
        }
    }

    fn add(&mut self, table: &'static Table, row: Cells) -> Result<(), Failed> {
        if self.table.name != table.name || self.rows.len() == AT_ONCE {
            self.finish()?;
        }
        self.table = table;
        self.rows.push(row);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Failed> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let insert = format!(
            "INSERT INTO leadload.{} ({}) VALUES {}",
            self.table.name,
            self.table.names(),
            places(self.rows.len(), self.table.columns().count())
        );
        let values: Vec<Value<'_>> = self.rows.drain(..).flatten().collect();
        self.sql.change(&insert, &values)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(rows: &[Cells]) -> BTreeMap<&'static str, (u64, [u8; 32])> {
        let mut tally = Tally::default();
        rows.iter().for_each(|cells| tally.add(&TABLES[0], cells));
        tally.finish()
    }

    #[test]
    fn copies_are_alike_only_if_every_cell_is_there_once_and_in_its_place() {
        let text = |text: &'static str| Value::from(text);
        let row = || vec![1_i64.into(), text("ab"), Value::Null];
        let whole = tally(&[row()]);
        assert_eq!(whole, tally(&[row()]));
        assert_eq!(whole["services"].0, 1);
        for other in [
            vec![],
            vec![row(), row()],
            vec![vec![2_i64.into(), text("ab"), Value::Null]],
            vec![vec![1_i64.into(), text("a"), text("b"), Value::Null]],
            vec![vec![1_i64.into(), text("ac"), Value::Null]],
            vec![vec![1_i64.into(), text("ab"), text("")]],
            vec![vec![1_i64.into(), b"ab".into(), Value::Null]],
            vec![vec![text("ab"), 1_i64.into(), Value::Null]],
        ] {
            assert_ne!(whole, tally(&other));
        }
    }
}
