//! Runs: how they begin, continue and end.
//!
//! A start belongs to the latest run with the same identity; if that run is complete,
//! it begins a new one. The files that a start will write are recorded before it
//! writes them, so that the next start recognizes a file that was left behind.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use serde_json::{Value, json};

use super::coding::{here, place};
use super::columns::{Json, PathText, Seconds, all};
use super::history::tag;
use super::{
    Begun, Ending, LatestRun, LedgerError, NewRun, Predecessors, SqliteLedger, Unfinished,
};
use crate::lead::{Counts, RunId, RunTag};

/// The runs whose rows are all rows of this run too, so that this run's files contain
/// what theirs contain: they sent the same lists, by their paths, to the same
/// campaign, and did not select more rows. Lists from standard input are the same if
/// their contents are. A run that was pruned is not found: its options are unknown.
const COVERED: &str = "
SELECT other.id FROM runs AS this JOIN runs AS other USING (service)
WHERE this.id = ?1 AND other.id <> this.id AND other.options IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM json_each('[\"campaign\", \"campaign_column\", \"phone_columns\", \"sheet\", \"hidden_rows\",
            \"phone_rule\", \"countries\"]')
        WHERE this.options ->> value IS NOT other.options ->> value
    )
    AND (this.options ->> 'only' IS NULL OR this.options ->> 'only' IS other.options ->> 'only')
    AND (this.options ->> 'limit' IS NULL OR this.options ->> 'limit' >= other.options ->> 'limit')
    AND NOT EXISTS (
        SELECT 1 FROM inputs AS theirs
        WHERE theirs.run = other.id AND NOT EXISTS (
            SELECT 1 FROM inputs AS ours
            WHERE ours.run = this.id
                AND coalesce(ours.place, ours.sha256) = coalesce(theirs.place, theirs.sha256)
                AND (this.options ->> 'limit' IS NULL OR ours.position = theirs.position)
        )
    )";

/// The latest run of an identity, if it is open; and the latest that was undone, unless another has
/// begun or gone on since then.
const LATEST: &str = "
SELECT CASE WHEN undone_at IS NULL AND (completed_at IS NULL OR ?3 AND counts ->> 'uncertain' > 0)
        THEN id END,
    (SELECT max(id) FROM runs AS undone WHERE service = ?1 AND identity = ?2
        AND undone_at IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM runs AS later JOIN starts ON run = later.id
            WHERE later.service = ?1 AND later.identity = ?2 AND later.undone_at IS NULL
                AND seq > coalesce(undone.undone_after,
                    (SELECT max(seq) FROM starts WHERE run = undone.id))
        ))
FROM runs WHERE service = ?1 AND identity = ?2 ORDER BY id DESC LIMIT 1";

impl SqliteLedger {
    /// What [`SqliteLedger::begin`] would find, as long as no other process sends.
    pub fn predecessors(&self, run: &NewRun) -> Result<Predecessors, LedgerError> {
        self.reading(|db| {
            let latest = latest(db, run)?;
            let is_new = latest.going_on.is_none();
            let other = is_new.then(|| other(db, run)).transpose()?;
            Ok(Predecessors {
                latest,
                other: other.flatten(),
            })
        })
    }

    /// Continues the latest run of this identity, or begins a new one if
    /// that run is complete. When this returns, everything that is known
    /// about this start is on disk; after an error nothing has begun.
    pub fn begin(&mut self, run: &NewRun, now: Timestamp) -> Result<Begun, LedgerError> {
        let begun = self.changing(|change| begin(change, run, now))?;
        self.mark_file(begun.run, begun.start);
        Ok(begun)
    }

    /// The rows of a run by their outcome, as counted by the start that got furthest.
    pub fn counts_of(&self, run: RunId) -> Result<Counts, LedgerError> {
        let counts = "SELECT counts FROM runs WHERE id = ?1";
        self.reading(|db| db.query_row(counts, [run.0], |row| row.get(0)))
            .map(|Json(counts)| counts)
    }

    /// Records how a start has ended. If that fails, the start looks as if it had been killed.
    pub fn end(
        &mut self,
        run: RunId,
        start: u32,
        ending: &Ending<'_>,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        self.refuse_replaced()?;
        self.changing(|change| end(change, run, start, ending, now))?;
        // There is time for filing now. Rows that cannot be filed are filed before the next run.
        let _ = self.file_all();
        Ok(())
    }
}

fn begin(step: &Transaction<'_>, new: &NewRun, now: Timestamp) -> rusqlite::Result<Begun> {
    let unfinished = latest(step, new)?.going_on;
    let run = match unfinished {
        Some(run) => run,
        None => insert_run(step, new, now)?,
    };
    describe(step, run, new)?;
    let start = insert_start(step, run, now)?;
    insert_lists(step, run, start, new)?;
    insert_outputs(step, run, new)?;
    let covers = all(step, COVERED, [run.0], |row| row.get(0).map(RunId))?;
    let highest = "SELECT reached, read_to, tag FROM runs WHERE id = ?1";
    step.query_row(highest, [run.0], |row| {
        Ok(Begun {
            run,
            tag: tag(row)?,
            start,
            continues: unfinished.is_some(),
            reached: row.get(0)?,
            read_to: row.get(1)?,
            covers,
        })
    })
}

fn latest(db: &Connection, run: &NewRun) -> rusqlite::Result<LatestRun> {
    let values = params![run.service.0, run.identity, run.reopens];
    let found = db.query_row(LATEST, values, |row| {
        let going_on: Option<u64> = row.get(0)?;
        let undone: Option<u64> = row.get(1)?;
        Ok(LatestRun {
            going_on: going_on.map(RunId),
            undone: undone.map(RunId),
        })
    });
    Ok(found.optional()?.unwrap_or_default())
}

fn insert_run(step: &Transaction<'_>, new: &NewRun, now: Timestamp) -> rusqlite::Result<RunId> {
    let insert = "INSERT INTO runs (service, identity, began_at, token, tag)
        VALUES (?1, ?2, ?3, '', ?4) RETURNING id";
    let tag = RunTag::random();
    let values = params![new.service.0, new.identity, Seconds(now), tag.as_str()];
    step.query_row(insert, values, |row| row.get(0).map(RunId))
}

/// Writes the data that pruning removes from a run. This is done at
/// every start, since the names of the inputs may have changed too.
fn describe(step: &Transaction<'_>, run: RunId, new: &NewRun) -> rusqlite::Result<()> {
    let update = "UPDATE runs SET options = ?2, defaults = ?3, pruned_at = NULL,
        completed_at = NULL WHERE id = ?1";
    let before = "SELECT options FROM runs WHERE id = ?1";
    let before: Option<Json<Value>> = step.query_row(before, [run.0], |row| row.get(0))?;
    let options = new.options_after(before.as_ref().map(|Json(options)| options));
    let options = options.to_string();
    step.execute(update, params![run.0, options, new.defaults])?;
    let mut insert = step.prepare(
        "INSERT INTO inputs (run, position, name, path, sha256, bytes, columns, place)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT DO UPDATE
            SET name = excluded.name, path = excluded.path, place = excluded.place",
    )?;
    for (position, input) in new.inputs.iter().enumerate() {
        insert.execute(params![
            run.0,
            position,
            input.name,
            input.path.as_deref().map(PathText),
            input.sha256,
            input.bytes,
            input.columns,
            input.path.as_deref().map(place),
        ])?;
    }
    Ok(())
}

fn insert_start(step: &Transaction<'_>, run: RunId, now: Timestamp) -> rusqlite::Result<u32> {
    let insert =
        "INSERT INTO starts (run, start, began_at, process, host, started_by, version, seq)
        SELECT ?1, coalesce(max(start), 0) + 1, ?2, ?3, ?4, ?5, ?6,
            (SELECT coalesce(max(seq), 0) + 1 FROM starts)
        FROM starts WHERE run = ?1
        RETURNING start";
    let version = env!("CARGO_PKG_VERSION");
    let (host, user) = here();
    let values = params![run.0, Seconds(now), std::process::id(), host, user, version];
    step.query_row(insert, values, |row| row.get(0))
}

fn insert_lists(
    step: &Transaction<'_>,
    run: RunId,
    start: u32,
    new: &NewRun,
) -> rusqlite::Result<()> {
    let mut insert = step.prepare(
        "INSERT INTO lists (run, start, position, name, sha256, numbers)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (position, list) in new.lists.iter().enumerate() {
        insert.execute(params![
            run.0,
            start,
            position,
            list.name,
            list.sha256,
            list.numbers
        ])?;
    }
    Ok(())
}

/// Files that an earlier start has completed stay recorded:
/// they exist until this start has completed its own.
fn insert_outputs(step: &Transaction<'_>, run: RunId, new: &NewRun) -> rusqlite::Result<()> {
    step.execute(
        "DELETE FROM outputs WHERE run = ?1 AND sha256 IS NULL",
        [run.0],
    )?;
    let mut insert =
        step.prepare("INSERT INTO outputs (run, path, kind, place) VALUES (?1, ?2, ?3, ?4)")?;
    for (path, kind) in &new.outputs {
        insert.execute(params![run.0, PathText(path), kind.as_str(), place(path)])?;
    }
    Ok(())
}

/// The latest unfinished run of the same inputs, for any service:
/// a mistyped address is a difference worth reporting too.
fn other(db: &Connection, new: &NewRun) -> rusqlite::Result<Option<Unfinished>> {
    let latest = "SELECT runs.id, address, options FROM runs
        JOIN services ON services.id = service
        WHERE completed_at IS NULL AND undone_at IS NULL AND ?1 = (
            SELECT group_concat(hex(sha256), '' ORDER BY position) FROM inputs WHERE run = runs.id
        )
        ORDER BY runs.id DESC LIMIT 1";
    let contents = new.inputs.iter().flat_map(|input| input.sha256);
    let contents: String = contents.map(|byte| format!("{byte:02X}")).collect();
    let found = db.query_row(latest, [contents], |row| {
        let options: Option<Json<_>> = row.get(2)?;
        Ok(Unfinished {
            run: RunId(row.get(0)?),
            service: row.get(1)?,
            options: options.map(|Json(options)| options),
        })
    });
    found.optional()
}

fn end(
    step: &Transaction<'_>,
    run: RunId,
    start: u32,
    ending: &Ending<'_>,
    now: Timestamp,
) -> rusqlite::Result<()> {
    step.execute(
        "UPDATE starts SET ended_at = ?3, exit_code = ?4, stopped_by = ?5, requests = ?6
            WHERE run = ?1 AND start = ?2",
        params![
            run.0,
            start,
            Seconds(now),
            ending.exit_code,
            ending.stopped_by,
            ending.requests
        ],
    )?;
    if ending.has_rejects {
        step.execute(
            // Rows after the last one that was read are in no file of this start.
            "UPDATE known_bad SET in_rejects = 1 WHERE run = ?1 AND row <= ?2
                AND row NOT IN (SELECT value FROM json_each(?3))",
            params![
                run.0,
                ending.last_read,
                json!(ending.tried_again).to_string()
            ],
        )?;
    }
    // A start that stopped early may have got less far than the one before it.
    step.execute(
        "UPDATE runs SET completed_at = CASE WHEN ?2 THEN ?3 END,
            read_to = max(read_to, ?5),
            counts = CASE WHEN ?2 OR ?5 >= read_to THEN ?4 ELSE counts END
            WHERE id = ?1",
        params![
            run.0,
            ending.complete,
            Seconds(now),
            json!(ending.counts).to_string(),
            ending.last_read,
        ],
    )?;
    for (position, rows) in ending.input_rows.iter().enumerate() {
        let update = "UPDATE inputs SET rows = coalesce(?3, rows) WHERE run = ?1 AND position = ?2";
        step.execute(update, params![run.0, position, rows])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lead::{Counts, Status};
    use crate::ledger::sqlite::testing::{TestLedger, at, input};
    use crate::ledger::{ListRecord, OutputKind, OutputRecord};

    fn created(rows: usize) -> Counts {
        let mut counts = Counts::default();
        for _ in 0..rows {
            counts.add(Status::Created);
        }
        counts
    }

    fn ending(complete: bool, rows: usize) -> Ending<'static> {
        Ending {
            exit_code: if complete { 0 } else { 3 },
            stopped_by: (!complete).then_some("outage"),
            requests: 7,
            complete,
            input_rows: vec![complete.then_some(rows as u64)],
            counts: created(rows),
            last_read: rows as u64,
            has_rejects: true,
            tried_again: &[],
        }
    }

    #[test]
    fn a_run_that_is_not_complete_goes_on() {
        let mut test = TestLedger::new();
        let run = test.run_of(1);
        let first = test.ledger.begin(&run, at(1)).unwrap();
        assert_eq!((first.start, first.continues), (1, false));
        let second = test.ledger.begin(&run, at(2)).unwrap();
        assert_eq!((second.run, second.start), (first.run, 2));
        assert!(second.continues);
        let ended = ending(false, 1);
        test.ledger.end(first.run, 2, &ended, at(3)).unwrap();
        let third = test.ledger.begin(&run, at(4)).unwrap();
        assert_eq!((third.run, third.start), (first.run, 3));
    }

    #[test]
    fn a_complete_run_is_followed_by_a_new_one() {
        let mut test = TestLedger::new();
        let run = test.run_of(1);
        let first = test.ledger.begin(&run, at(1)).unwrap();
        test.ledger
            .end(first.run, 1, &ending(true, 1), at(2))
            .unwrap();
        let second = test.ledger.begin(&run, at(3)).unwrap();
        assert_eq!((second.run, second.start), (RunId(2), 1));
        assert!(!second.continues);
    }

    #[test]
    fn a_run_goes_on_in_its_own_service_alone() {
        let mut test = TestLedger::new();
        let run = test.run_of(1);
        let first = test.ledger.begin(&run, at(1)).unwrap();
        let elsewhere = NewRun {
            service: test.another_service(),
            ..run
        };
        let second = test.ledger.begin(&elsewhere, at(2)).unwrap();
        assert_ne!(second.run, first.run);
    }

    #[test]
    fn a_number_is_never_given_twice() {
        let mut test = TestLedger::new();
        let run = test.run_of(1);
        assert_eq!(test.ledger.begin(&run, at(1)).unwrap().run, RunId(1));
        test.sql("DELETE FROM runs");
        assert_eq!(test.ledger.begin(&run, at(2)).unwrap().run, RunId(2));
    }

    #[test]
    fn the_latest_unfinished_run_of_the_same_inputs_is_named() {
        let mut test = TestLedger::new();
        let two = |identity, contents: [u8; 2]| NewRun {
            inputs: contents.map(input).to_vec(),
            ..test.run_of(identity)
        };
        let (first, swapped, same) = (two(1, [1, 2]), two(2, [2, 1]), two(3, [1, 2]));
        let only_one = test.run_of(1);
        let begun_after = |test: &mut TestLedger, run: &NewRun| {
            let predecessors = test.ledger.predecessors(run).unwrap();
            let begun = test.ledger.begin(run, at(1)).unwrap();
            assert_eq!(predecessors.latest.going_on.is_some(), begun.continues);
            predecessors.other.map(|other| other.run)
        };
        for (run, other) in [
            (&only_one, None),
            (&first, None),
            (&swapped, None),
            (&same, Some(RunId(1))),
            // That run continues, whatever other runs there are.
            (&first, None),
        ] {
            assert_eq!(begun_after(&mut test, run), other);
        }
        for run in [1, 3] {
            let ended = ending(true, 1);
            test.ledger.end(RunId(run), 1, &ended, at(2)).unwrap();
        }
        assert_eq!(begun_after(&mut test, &first), None);
    }

    #[test]
    fn what_differs_is_known_by_the_options_of_the_other_run() {
        let mut test = TestLedger::new();
        let first = test.run_of(1);
        test.ledger.begin(&first, at(1)).unwrap();
        let second = NewRun {
            identity: [9; 32],
            options: json!({ "campaign": "102" }),
            ..first.clone()
        };
        let other = test.ledger.predecessors(&second).unwrap().other.unwrap();
        assert_eq!(other.options, Some(first.options));
        assert_eq!(other.service, "https://service.example");
    }

    #[test]
    fn a_run_has_reached_the_highest_row_that_is_filed() {
        let mut test = TestLedger::new();
        let run = test.run_of(1);
        assert_eq!(test.ledger.begin(&run, at(1)).unwrap().reached, 0);
        test.sql("UPDATE runs SET reached = 10");
        assert_eq!(test.ledger.begin(&run, at(2)).unwrap().reached, 10);
    }

    #[test]
    fn starts_inputs_lists_and_outputs_are_all_known_of_a_run() {
        let mut test = TestLedger::new();
        let mut run = test.run_of(1);
        run.lists.push(ListRecord {
            name: Some("dnc.txt".into()),
            sha256: [5; 32],
            numbers: 20,
        });
        run.outputs
            .push(("/lists/1.results.csv".into(), OutputKind::Results));
        let begun = test.ledger.begin(&run, at(1)).unwrap();
        test.ledger
            .end(begun.run, 1, &ending(true, 4), at(2))
            .unwrap();
        let [known] = &test.ledger.runs().unwrap()[..] else {
            panic!("one run");
        };
        assert_eq!(known.options, Some(run.options));
        assert_eq!(known.completed_at, Some(at(2)));
        assert_eq!(known.counts, created(4));
        assert_eq!(known.inputs[0].path, run.inputs[0].path);
        assert_eq!(known.inputs[0].rows, Some(4));
        assert_eq!(known.outputs[0].path.as_ref(), Some(&run.outputs[0].0));
        assert_eq!(known.outputs[0].sha256, None);
        let start = &known.starts[0];
        assert_eq!((start.began_at, start.ended_at), (at(1), Some(at(2))));
        assert_eq!(start.process, std::process::id());
        let (host, user) = here();
        assert_eq!((start.host.clone(), start.user.clone()), (host, Some(user)));
        assert_eq!(start.version, env!("CARGO_PKG_VERSION"));
        assert_eq!((start.exit_code, start.requests), (Some(0), Some(7)));
        assert_eq!(start.lists[0].name.as_deref(), Some("dnc.txt"));
    }

    #[test]
    fn a_start_that_got_less_far_takes_nothing_from_what_is_known() {
        let mut test = TestLedger::new();
        let run = test.run_of(1);
        let begun = test.ledger.begin(&run, at(1)).unwrap();
        for (start, rows, known) in [(1, 5, 5), (2, 2, 5), (3, 6, 6)] {
            let ended = ending(false, rows);
            test.ledger.end(begun.run, start, &ended, at(2)).unwrap();
            let runs = test.ledger.runs().unwrap();
            assert_eq!(runs[0].counts, created(known));
            test.ledger.begin(&run, at(3)).unwrap();
        }
    }

    #[test]
    fn a_start_forgets_nothing_of_a_file_that_is_complete() {
        let mut test = TestLedger::new();
        let path = std::path::PathBuf::from("/lists/1.results.csv");
        let mut run = test.run_of(1);
        run.outputs.push((path.clone(), OutputKind::Results));
        let places = [path.clone(), "/elsewhere".into()];
        let begun = test.ledger.begin(&run, at(1)).unwrap();
        let known = |test: &TestLedger| test.ledger.outputs_at(&places).unwrap();
        let at = |sha256: Option<[u8; 32]>| OutputRecord {
            run: begun.run,
            path: Some(path.clone()),
            kind: OutputKind::Results,
            sha256,
            rows: sha256.map(|_| 3),
            state: None,
        };
        assert_eq!(known(&test), [at(None)]);
        let output = at(Some([8; 32]));
        test.ledger.record_outputs(begun.run, &[output]).unwrap();
        assert_eq!(known(&test), [at(Some([8; 32]))]);
        test.ledger
            .begin(&run, Timestamp::from_second(2).unwrap())
            .unwrap();
        assert_eq!(known(&test), [at(Some([8; 32])), at(None)]);
    }
}
