//! How runs begin and continue.
//!
//! A start belongs to the latest run with the same identity; if that run is complete,
//! it begins a new one. The files that a start will write are recorded before it
//! writes them, so that the next start recognizes a file that was left behind.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value as JsonValue;

use super::coding::{here, place};
use super::outputs;
use super::row::Json;
use super::store::{Failed, Sql, Value};
use super::{
    Begun, LatestRun, Ledger, LedgerError, NewRun, NotBegun, Predecessors, Sha256, Unfinished,
};
use crate::lead::{RunId, RunTag};

/// Options that are the same in two runs of which one covers the other.
const SAME: [&str; 7] = [
    "campaign",
    "campaign_column",
    "phone_columns",
    "sheet",
    "hidden_rows",
    "phone_rule",
    "countries",
];

/// The runs whose rows are all rows of this run too, so that this run's files contain
/// what theirs contain: they sent the same lists, by their paths, to the same
/// campaign, and did not select more rows. Lists from standard input are the same if
/// their contents are. A run that was pruned is not found: its options are unknown.
const COVERED: &str = "
SELECT other.id FROM leadload.runs AS this JOIN leadload.runs AS other USING (service)
WHERE this.id = $1 AND other.id <> this.id AND other.options IS NOT NULL
    AND (this.options ->> 'only' IS NULL
        OR this.options ->> 'only' IS NOT DISTINCT FROM other.options ->> 'only')
    AND (this.options ->> 'limit' IS NULL
        OR CAST(this.options ->> 'limit' AS bigint) >= CAST(other.options ->> 'limit' AS bigint))
    AND NOT EXISTS (
        SELECT 1 FROM leadload.inputs AS theirs
        WHERE theirs.run = other.id AND NOT EXISTS (
            SELECT 1 FROM leadload.inputs AS ours
            WHERE ours.run = this.id
                AND coalesce(ours.place, ours.sha256) = coalesce(theirs.place, theirs.sha256)
                AND (this.options ->> 'limit' IS NULL OR ours.position = theirs.position)
        )
    )";

/// The latest run of an identity, if it is open; and the latest that was undone, unless another has
/// begun or gone on since then.
const LATEST: &str = "
SELECT CASE WHEN undone_at IS NULL AND (
        completed_at IS NULL OR $3 AND coalesce(CAST(counts ->> 'uncertain' AS bigint), 0) > 0
    ) THEN id END AS going_on,
    (SELECT max(id) FROM leadload.runs AS undone WHERE service = $1 AND identity = $2
        AND undone_at IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM leadload.runs AS later JOIN leadload.starts ON run = later.id
            WHERE later.service = $1 AND later.identity = $2 AND later.undone_at IS NULL
                AND seq > coalesce(undone.undone_after,
                    (SELECT max(seq) FROM leadload.starts WHERE run = undone.id))
        )) AS undone
FROM leadload.runs WHERE service = $1 AND identity = $2 ORDER BY id DESC LIMIT 1";

/// The inputs of the runs that are not complete.
const UNFINISHED: &str = "
SELECT run, sha256 FROM leadload.inputs JOIN leadload.runs ON runs.id = run
WHERE completed_at IS NULL AND undone_at IS NULL ORDER BY run, position";

const INSERT_RUN: &str = "
INSERT INTO leadload.runs (service, identity, began_at, token, tag) VALUES ($1, $2, $3, '', $4)
RETURNING id";

const DESCRIBE: &str = "
UPDATE leadload.runs SET options = $2, defaults = $3, pruned_at = NULL, completed_at = NULL
WHERE id = $1";

const INSERT_INPUT: &str = "
INSERT INTO leadload.inputs (run, position, name, path, sha256, bytes, columns, place)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (run, position) DO UPDATE
SET name = excluded.name, path = excluded.path, place = excluded.place";

const INSERT_START: &str = "
INSERT INTO leadload.starts (run, start, began_at, process, host, started_by, version, seq /*server , key */)
SELECT $1, coalesce(max(start), 0) + 1, $2, $3, $4, $5, $6,
    (SELECT coalesce(max(seq), 0) + 1 FROM leadload.starts) /*server , $7 */
FROM leadload.starts WHERE run = $1
RETURNING start";

const INSERT_LIST: &str = "
INSERT INTO leadload.lists (run, start, position, name, sha256, numbers)
VALUES ($1, $2, $3, $4, $5, $6)";

impl Ledger {
    /// What [`Ledger::begin`] would find now.
    pub fn predecessors(&self, run: &NewRun) -> Result<Predecessors, LedgerError> {
        self.reading(|sql| {
            let latest = latest(sql, run)?;
            let other = match latest.going_on {
                Some(_) => None,
                None => other(sql, run)?,
            };
            Ok(Predecessors { latest, other })
        })
    }

    /// Continues the latest run of this identity, or begins a new one if that run is complete. When this
    /// returns, everything that is known about this start is on disk; after an error nothing has begun. If
    /// another process has come before this one, returns how, and nothing has begun.
    pub fn begin(
        &mut self,
        run: &NewRun,
        now: Timestamp,
    ) -> Result<Result<Begun, NotBegun>, LedgerError> {
        match self {
            Ledger::File(ledger) => ledger.begin(run, now),
            Ledger::Server(ledger) => ledger.begin(run, now),
        }
    }
}

pub(super) fn latest(sql: &mut dyn Sql, run: &NewRun) -> Result<LatestRun, Failed> {
    let values = [
        run.service.into(),
        (&run.identity).into(),
        run.reopens.into(),
    ];
    let found = sql.row(LATEST, &values, |row| {
        Ok(LatestRun {
            going_on: row.get("going_on")?,
            undone: row.get("undone")?,
        })
    })?;
    Ok(found.unwrap_or_default())
}

/// The latest unfinished run of the same inputs, for any service:
/// a mistyped address is a difference worth reporting too.
fn other(sql: &mut dyn Sql, new: &NewRun) -> Result<Option<Unfinished>, Failed> {
    let mut contents: BTreeMap<RunId, Vec<Sha256>> = BTreeMap::new();
    sql.each(UNFINISHED, &[], &mut |row| {
        let of_run = contents.entry(row.get("run")?).or_default();
        of_run.push(row.get("sha256")?);
        Ok(true)
    })?;
    let own: Vec<Sha256> = new.inputs.iter().map(|input| input.sha256).collect();
    let mut same = contents.iter().rev().filter(|(_, of_run)| **of_run == own);
    let Some((run, _)) = same.next() else {
        return Ok(None);
    };
    let described = "SELECT address, options FROM leadload.runs
        JOIN leadload.services ON services.id = service WHERE runs.id = $1";
    sql.row(described, &[(*run).into()], |row| {
        let options: Option<Json<_>> = row.get("options")?;
        Ok(Unfinished {
            run: *run,
            service: row.get("address")?,
            options: options.map(|Json(options)| options),
        })
    })
}

/// Records a start of the run that goes on, or of a new one. `key` is what its process has made up, to know
/// the start again when the answer of a server is lost.
pub(super) fn start(
    sql: &mut dyn Sql,
    new: &NewRun,
    going_on: Option<RunId>,
    key: &[u8; 16],
    now: Timestamp,
) -> Result<(RunId, u32), Failed> {
    let run = match going_on {
        Some(run) => run,
        None => insert_run(sql, new, now)?,
    };
    describe(sql, run, new)?;
    let start = insert_start(sql, run, key, now)?;
    for (position, list) in new.lists.iter().enumerate() {
        let values = [
            run.into(),
            start.into(),
            position.into(),
            list.name.as_deref().into(),
            (&list.sha256).into(),
            list.numbers.into(),
        ];
        sql.change(INSERT_LIST, &values)?;
    }
    outputs::begin(sql, run, &new.outputs)?;
    Ok((run, start))
}

/// What is known of a run that a start has begun.
pub(super) fn begun(sql: &mut dyn Sql, run: RunId, start: u32) -> Result<Begun, Failed> {
    let same = SAME.map(|key| {
        format!(" AND this.options ->> '{key}' IS NOT DISTINCT FROM other.options ->> '{key}'")
    });
    let covered = format!("{COVERED}{} ORDER BY other.id", same.concat());
    let covers = sql.rows(&covered, &[run.into()], |row| row.get(0))?;
    let highest = "SELECT reached, read_to, tag FROM leadload.runs WHERE id = $1";
    let begun = sql.row(highest, &[run.into()], |row| {
        Ok(Begun {
            run,
            tag: row.get("tag")?,
            start,
            continues: start > 1,
            reached: row.get("reached")?,
            read_to: row.get("read_to")?,
            covers: covers.clone(),
        })
    })?;
    begun.ok_or_else(|| Failed::Damaged(format!("run {run} is missing")))
}

fn insert_run(sql: &mut dyn Sql, new: &NewRun, now: Timestamp) -> Result<RunId, Failed> {
    let tag = RunTag::random();
    let values = [
        new.service.into(),
        (&new.identity).into(),
        now.into(),
        tag.as_str().into(),
    ];
    sql.value(INSERT_RUN, &values)
}

/// Writes the data that pruning removes from a run. This is done at
/// every start, since the names of the inputs may have changed too.
fn describe(sql: &mut dyn Sql, run: RunId, new: &NewRun) -> Result<(), Failed> {
    let before = "SELECT options FROM leadload.runs WHERE id = $1";
    let before: Option<Json<JsonValue>> = sql.value(before, &[run.into()])?;
    let options = new.options_after(before.as_ref().map(|Json(options)| options));
    let values = [run.into(), Value::json(&options), (&new.defaults).into()];
    sql.change(DESCRIBE, &values)?;
    for (position, input) in new.inputs.iter().enumerate() {
        let place = input.path.as_deref().map(place);
        let values = [
            run.into(),
            position.into(),
            input.name.as_deref().into(),
            input.path.as_deref().into(),
            (&input.sha256).into(),
            input.bytes.into(),
            (&input.columns).into(),
            place.as_ref().into(),
        ];
        sql.change(INSERT_INPUT, &values)?;
    }
    Ok(())
}

fn insert_start(
    sql: &mut dyn Sql,
    run: RunId,
    key: &[u8; 16],
    now: Timestamp,
) -> Result<u32, Failed> {
    let (host, user) = here();
    let values = [
        run.into(),
        now.into(),
        std::process::id().into(),
        (&host).into(),
        (&user).into(),
        env!("CARGO_PKG_VERSION").into(),
        key.into(),
    ];
    sql.value(INSERT_START, &values)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::lead::{Counts, Status};
    use crate::ledger::sqlite::testing::{TestLedger, at, input};
    use crate::ledger::{ListRecord, OutputKind, OutputRecord, StartEnd};

    fn created(rows: usize) -> Counts {
        let mut counts = Counts::default();
        for _ in 0..rows {
            counts.add(Status::Created);
        }
        counts
    }

    fn ending(complete: bool, rows: usize) -> StartEnd<'static> {
        StartEnd {
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
        let first = test.begin(&run, at(1));
        assert_eq!((first.start, first.continues), (1, false));
        let second = test.begin(&run, at(2));
        assert_eq!((second.run, second.start), (first.run, 2));
        assert!(second.continues);
        let ended = ending(false, 1);
        test.ledger.end(first.run, 2, &ended, at(3)).unwrap();
        let third = test.begin(&run, at(4));
        assert_eq!((third.run, third.start), (first.run, 3));
    }

    #[test]
    fn a_complete_run_is_followed_by_a_new_one() {
        let mut test = TestLedger::new();
        let run = test.run_of(1);
        let first = test.begin(&run, at(1));
        test.ledger
            .end(first.run, 1, &ending(true, 1), at(2))
            .unwrap();
        let second = test.begin(&run, at(3));
        assert_eq!((second.run, second.start), (RunId(2), 1));
        assert!(!second.continues);
    }

    #[test]
    fn a_run_goes_on_in_its_own_service_alone() {
        let mut test = TestLedger::new();
        let run = test.run_of(1);
        let first = test.begin(&run, at(1));
        let elsewhere = NewRun {
            service: test.another_service(),
            ..run
        };
        let second = test.begin(&elsewhere, at(2));
        assert_ne!(second.run, first.run);
    }

    #[test]
    fn a_number_is_never_given_twice() {
        let mut test = TestLedger::new();
        let run = test.run_of(1);
        assert_eq!(test.begin(&run, at(1)).run, RunId(1));
        test.sql("DELETE FROM runs");
        assert_eq!(test.begin(&run, at(2)).run, RunId(2));
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
            let begun = test.begin(run, at(1));
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
        test.begin(&first, at(1));
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
        assert_eq!(test.begin(&run, at(1)).reached, 0);
        test.sql("UPDATE runs SET reached = 10");
        assert_eq!(test.begin(&run, at(2)).reached, 10);
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
        let begun = test.begin(&run, at(1));
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
        let begun = test.begin(&run, at(1));
        for (start, rows, known) in [(1, 5, 5), (2, 2, 5), (3, 6, 6)] {
            let ended = ending(false, rows);
            test.ledger.end(begun.run, start, &ended, at(2)).unwrap();
            let runs = test.ledger.runs().unwrap();
            assert_eq!(runs[0].counts, created(known));
            test.begin(&run, at(3));
        }
    }

    #[test]
    fn a_start_forgets_nothing_of_a_file_that_is_complete() {
        let mut test = TestLedger::new();
        let path = std::path::PathBuf::from("/lists/1.results.csv");
        let mut run = test.run_of(1);
        run.outputs.push((path.clone(), OutputKind::Results));
        let places = [path.clone(), "/elsewhere".into()];
        let begun = test.begin(&run, at(1));
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
        test.begin(&run, Timestamp::from_second(2).unwrap());
        assert_eq!(known(&test), [at(Some([8; 32])), at(None)]);
    }
}
