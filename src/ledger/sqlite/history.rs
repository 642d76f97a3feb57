//! The ledger's history of runs.
//!
//! Reading it needs no write access and delays no writer, even while a run
//! is being sent. Everything that one call returns is from the same moment.

use jiff::Timestamp;
use rusqlite::{Connection, Row};
use serde_json::Value;

use super::columns::{Json, Seconds, all, path};
use super::recover::uncounted;
use super::unfiled::open_claims;
use super::{
    InputRecord, LedgerError, ListRecord, OutputRecord, RunRecord, ServiceId, SqliteLedger,
    StartRecord,
};
use crate::lead::{RunId, RunTag, Status};

/// The latest version of each file.
const LATEST_OUTPUTS: &str = "
SELECT * FROM outputs WHERE run = ?1 AND rowid IN
    (SELECT max(rowid) FROM outputs WHERE run = ?1 GROUP BY coalesce(path, rowid))
ORDER BY rowid";

impl SqliteLedger {
    pub fn runs(&self) -> Result<Vec<RunRecord>, LedgerError> {
        let services = self.services()?;
        // Read before the runs: a run that ends meanwhile is shown as it ended.
        let (mut busy, mut idle) = (Vec::new(), Vec::new());
        for service in services {
            match self.is_sender_locked(service)? {
                true => busy.push(service),
                false => idle.push(service),
            }
        }
        self.reading(|db| runs(db, &busy, &idle))
    }

    pub(in crate::ledger) fn services(&self) -> Result<Vec<ServiceId>, LedgerError> {
        let services = "SELECT id FROM services ORDER BY id";
        self.reading(|db| all(db, services, [], |row| row.get(0).map(ServiceId)))
    }
}

/// Reads all runs. Those of the `busy` services may be at work; what was claimed at the `idle` ones
/// is uncertain, and counted so before the ledger is cleaned up.
fn runs(
    db: &Connection,
    busy: &[ServiceId],
    idle: &[ServiceId],
) -> rusqlite::Result<Vec<RunRecord>> {
    let instant = db.unchecked_transaction()?;
    let select = "SELECT runs.*, address FROM runs JOIN services ON services.id = service
        ORDER BY runs.id";
    let mut runs: Vec<RunRecord> = all(&instant, select, [], run)?;
    let undo = super::undo::records(&instant)?;
    for run in &mut runs {
        run.undo = undo.get(&run.run).copied();
        run.starts = starts(&instant, run.run)?;
        run.inputs = inputs(&instant, run.run)?;
        run.outputs = all(&instant, LATEST_OUTPUTS, [run.run.0], OutputRecord::read)?;
    }
    for service in busy {
        let at_work = super::earlier::at_work(&instant, *service)?;
        let mut runs = runs.iter_mut();
        if let Some(run) = at_work.and_then(|found| runs.find(|run| run.run == found.run)) {
            run.is_at_work = true;
        }
    }
    for service in idle {
        let rows = uncounted(&open_claims(&instant, *service)?);
        for run in &mut runs {
            let rows = rows.get(&run.run).copied().unwrap_or_default();
            (0..rows).for_each(|_| run.counts.add(Status::Uncertain));
        }
    }
    Ok(runs)
}

fn run(row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    let options: Option<Json<Value>> = row.get("options")?;
    let Json(counts) = row.get("counts")?;
    Ok(RunRecord {
        run: RunId(row.get("id")?),
        tag: tag(row)?,
        service: row.get("address")?,
        options: options.map(|Json(options)| options),
        began_at: row.get::<_, Seconds>("began_at")?.0,
        completed_at: time(row, "completed_at")?,
        pruned_at: time(row, "pruned_at")?,
        token: row.get("token")?,
        ahead_s: row.get("ahead_s")?,
        is_at_work: false,
        counts,
        undo: None,
        starts: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
    })
}

pub(super) fn tag(row: &Row<'_>) -> rusqlite::Result<Option<RunTag>> {
    let tag: Option<String> = row.get("tag")?;
    let tag = tag.map(|tag| tag.parse()).transpose();
    tag.map_err(|error: String| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

fn time(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Timestamp>> {
    let time: Option<Seconds> = row.get(column)?;
    Ok(time.map(|Seconds(time)| time))
}

fn starts(db: &Connection, run: RunId) -> rusqlite::Result<Vec<StartRecord>> {
    let starts = "SELECT * FROM starts WHERE run = ?1 ORDER BY start";
    all(db, starts, [run.0], |row| {
        Ok(StartRecord {
            seq: row.get::<_, Option<u64>>("seq")?.unwrap_or_default(),
            lists: lists(db, run, row.get("start")?)?,
            began_at: row.get::<_, Seconds>("began_at")?.0,
            ended_at: time(row, "ended_at")?,
            process: row.get("process")?,
            user: row.get("started_by")?,
            version: row.get("version")?,
            exit_code: row.get("exit_code")?,
            stopped_by: row.get("stopped_by")?,
            requests: row.get("requests")?,
            host: row.get("host")?,
        })
    })
}

fn lists(db: &Connection, run: RunId, start: u32) -> rusqlite::Result<Vec<ListRecord>> {
    let lists = "SELECT * FROM lists WHERE run = ?1 AND start = ?2 ORDER BY position";
    all(db, lists, (run.0, start), |row| {
        Ok(ListRecord {
            name: row.get("name")?,
            sha256: row.get("sha256")?,
            numbers: row.get("numbers")?,
        })
    })
}

fn inputs(db: &Connection, run: RunId) -> rusqlite::Result<Vec<InputRecord>> {
    let inputs = "SELECT * FROM inputs WHERE run = ?1 ORDER BY position";
    all(db, inputs, [run.0], |row| {
        Ok(InputRecord {
            name: row.get("name")?,
            path: path(row)?,
            sha256: row.get("sha256")?,
            bytes: row.get("bytes")?,
            columns: row.get("columns")?,
            rows: row.get("rows")?,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::sqlite::testing::{TestLedger, at, is_soon};
    use crate::ledger::{Ending, RunState};

    fn end(test: &mut TestLedger, stopped_by: Option<&str>) {
        let ending = Ending {
            stopped_by,
            complete: stopped_by.is_none(),
            has_rejects: true,
            ..Ending::default()
        };
        test.ledger.end(RunId(1), 1, &ending, at(2)).unwrap();
    }

    fn only_run(ledger: &SqliteLedger) -> RunRecord {
        ledger.runs().unwrap().remove(0)
    }

    #[test]
    fn a_run_is_active_while_its_process_holds_the_lock_and_killed_otherwise() {
        let mut test = TestLedger::new();
        let run = test.run_of(1);
        test.ledger.begin(&run, at(1)).unwrap();
        let reading = SqliteLedger::read(test.ledger.place()).unwrap().unwrap();
        let lock = test.ledger.try_lock_sender(test.service).unwrap();
        assert_eq!(only_run(&reading).state(), RunState::AtWork);
        drop(lock);
        assert!(is_soon(|| only_run(&reading).state() == RunState::Killed));
    }

    #[test]
    fn a_run_is_stopped_until_it_is_complete() {
        let mut test = TestLedger::new();
        let run = test.run_of(1);
        test.ledger.begin(&run, at(1)).unwrap();
        end(&mut test, Some("outage"));
        assert_eq!(only_run(&test.ledger).state(), RunState::Stopped("outage"));
        end(&mut test, None);
        assert_eq!(only_run(&test.ledger).state(), RunState::Complete);
    }

    #[test]
    fn an_ended_run_is_not_active_even_if_the_lock_is_held() {
        let mut test = TestLedger::new();
        let run = test.run_of(1);
        test.ledger.begin(&run, at(1)).unwrap();
        end(&mut test, None);
        let _lock = test.ledger.try_lock_sender(test.service).unwrap();
        assert_eq!(only_run(&test.ledger).state(), RunState::Complete);
    }
}
