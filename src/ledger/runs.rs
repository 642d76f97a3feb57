//! The ledger's history of runs.
//!
//! Reading it needs no write access and delays no writer, even while a run
//! is being sent. Everything that one call returns is from the same moment.

use std::collections::HashMap;

use super::row::{Json, Row};
use super::store::{Failed, Sql};
use super::{
    InputRecord, Ledger, LedgerError, ListRecord, OutputRecord, RunRecord, StartRecord, outputs,
    undoing,
};
use crate::lead::{Counts, RunId, Status};

const RUNS: &str = "
SELECT runs.id, tag, address, options, began_at, completed_at, pruned_at, token, ahead_s, counts
FROM leadload.runs JOIN leadload.services ON services.id = service ORDER BY runs.id";

const STARTS: &str = "
SELECT run, start, seq, began_at, ended_at, process, host, started_by, version, exit_code, stopped_by, requests
FROM leadload.starts ORDER BY run, start";

const LISTS: &str = "
SELECT run, start, name, sha256, numbers FROM leadload.lists ORDER BY run, start, position";

const INPUTS: &str = "
SELECT run, name, path, sha256, bytes, columns, rows FROM leadload.inputs ORDER BY run, position";

/// What nobody has recorded an end of yet.
#[derive(Debug, Clone, Copy)]
pub(super) enum OpenWork {
    /// The run is being sent.
    Sending,
    /// So many of its rows were claimed for the first time by a process that was killed.
    Uncounted(u64),
}

impl Ledger {
    pub fn runs(&self) -> Result<Vec<RunRecord>, LedgerError> {
        // Read before the runs: a run that ends meanwhile is shown as it ended.
        let busy = self.busy_services()?;
        self.reading_slowly(|sql| {
            let mut runs = read_all(sql)?;
            for (run, work) in sql.open_work(&busy)? {
                let Some(run) = runs.iter_mut().find(|found| found.run == run) else {
                    continue;
                };
                match work {
                    OpenWork::Sending => run.is_at_work = true,
                    OpenWork::Uncounted(rows) => {
                        (0..rows).for_each(|_| run.counts.add(Status::Uncertain));
                    }
                }
            }
            Ok(runs)
        })
    }
}

fn read_all(sql: &mut dyn Sql) -> Result<Vec<RunRecord>, Failed> {
    let mut runs = sql.rows(RUNS, &[], run)?;
    let mut starts = sql.by_run(STARTS, |row| Ok((row.get::<u32>("start")?, start(row)?)))?;
    let mut lists = sql.by_run(LISTS, |row| Ok((row.get::<u32>("start")?, list(row)?)))?;
    let mut inputs = sql.by_run(INPUTS, input)?;
    let outputs = format!(
        "SELECT {} FROM leadload.outputs ORDER BY outputs.id",
        outputs::COLUMNS
    );
    let mut outputs = sql.by_run(&outputs, outputs::read)?;
    let undo = undoing::records(sql)?;
    for run in &mut runs {
        let lists = lists.remove(&run.run).unwrap_or_default();
        let of_run = starts.remove(&run.run).unwrap_or_default().into_iter();
        let with_lists = of_run.map(|(number, mut start)| {
            let of_start = lists.iter().filter(|(of, _)| *of == number);
            start.lists = of_start.map(|(_, list)| list.clone()).collect();
            start
        });
        run.starts = with_lists.collect();
        run.inputs = inputs.remove(&run.run).unwrap_or_default();
        run.outputs = latest(outputs.remove(&run.run).unwrap_or_default());
        run.undo = undo.get(&run.run).copied();
    }
    Ok(runs)
}

/// The latest version of each file.
fn latest(outputs: Vec<OutputRecord>) -> Vec<OutputRecord> {
    let mut latest: Vec<OutputRecord> = Vec::new();
    for output in outputs {
        latest.retain(|earlier| earlier.path.is_none() || earlier.path != output.path);
        latest.push(output);
    }
    latest
}

impl dyn Sql + '_ {
    /// Reads rows whose table has the number of a run.
    fn by_run<T>(
        &mut self,
        sql: &str,
        mut read: impl FnMut(&Row<'_>) -> Result<T, Failed>,
    ) -> Result<HashMap<RunId, Vec<T>>, Failed> {
        let mut all: HashMap<RunId, Vec<T>> = HashMap::new();
        self.each(sql, &[], &mut |row| {
            all.entry(row.get("run")?).or_default().push(read(row)?);
            Ok(true)
        })?;
        Ok(all)
    }
}

fn run(row: &Row<'_>) -> Result<RunRecord, Failed> {
    let options: Option<Json<serde_json::Value>> = row.get("options")?;
    let Json(counts): Json<Counts> = row.get("counts")?;
    Ok(RunRecord {
        run: row.get("id")?,
        tag: row.get("tag")?,
        service: row.get("address")?,
        options: options.map(|Json(options)| options),
        began_at: row.get("began_at")?,
        completed_at: row.get("completed_at")?,
        pruned_at: row.get("pruned_at")?,
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

fn start(row: &Row<'_>) -> Result<StartRecord, Failed> {
    Ok(StartRecord {
        seq: row.get::<Option<u64>>("seq")?.unwrap_or_default(),
        began_at: row.get("began_at")?,
        ended_at: row.get("ended_at")?,
        process: row.get("process")?,
        host: row.get("host")?,
        user: row.get("started_by")?,
        version: row.get("version")?,
        exit_code: row.get("exit_code")?,
        stopped_by: row.get("stopped_by")?,
        requests: row.get("requests")?,
        lists: Vec::new(),
    })
}

fn list(row: &Row<'_>) -> Result<ListRecord, Failed> {
    Ok(ListRecord {
        name: row.get("name")?,
        sha256: row.get("sha256")?,
        numbers: row.get("numbers")?,
    })
}

fn input(row: &Row<'_>) -> Result<InputRecord, Failed> {
    Ok(InputRecord {
        name: row.get("name")?,
        path: row.get("path")?,
        sha256: row.get("sha256")?,
        bytes: row.get("bytes")?,
        columns: row.get("columns")?,
        rows: row.get("rows")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::sqlite::testing::{TestLedger, at, is_soon};
    use crate::ledger::{RunState, StartEnd};

    fn end(test: &mut TestLedger, stopped_by: Option<&str>) {
        let ending = StartEnd {
            stopped_by,
            complete: stopped_by.is_none(),
            has_rejects: true,
            ..StartEnd::default()
        };
        test.ledger.end(RunId(1), 1, &ending, at(2)).unwrap();
    }

    fn only_run(ledger: &Ledger) -> RunRecord {
        ledger.runs().unwrap().remove(0)
    }

    #[test]
    fn a_run_is_active_while_its_process_holds_the_lock_and_killed_otherwise() {
        let mut test = TestLedger::new();
        let run = test.run_of(1);
        test.begin(&run, at(1));
        let reading = Ledger::read(&test.place()).unwrap().unwrap();
        let lock = test.ledger.try_lock_sender(test.service).unwrap();
        assert_eq!(only_run(&reading).state(), RunState::AtWork);
        drop(lock);
        assert!(is_soon(|| only_run(&reading).state() == RunState::Killed));
    }

    #[test]
    fn a_run_is_stopped_until_it_is_complete() {
        let mut test = TestLedger::new();
        let run = test.run_of(1);
        test.begin(&run, at(1));
        end(&mut test, Some("outage"));
        assert_eq!(only_run(&test.ledger).state(), RunState::Stopped("outage"));
        end(&mut test, None);
        assert_eq!(only_run(&test.ledger).state(), RunState::Complete);
    }

    #[test]
    fn an_ended_run_is_not_active_even_if_the_lock_is_held() {
        let mut test = TestLedger::new();
        let run = test.run_of(1);
        test.begin(&run, at(1));
        end(&mut test, None);
        let _lock = test.ledger.try_lock_sender(test.service).unwrap();
        assert_eq!(only_run(&test.ledger).state(), RunState::Complete);
    }
}
