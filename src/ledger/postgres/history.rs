//! The ledger's history of runs, and what a run looks up about earlier ones.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use jiff::Timestamp;
use tokio_postgres::Row;

use super::PostgresLedger;
use super::outputs::{self, digest, output};
use super::record::{Unreadable, get};
use super::runs::options;
use super::session::{bytes, int8};
use super::undo;
use crate::lead::{CampaignId, Counts, RunId, RunTag, Status};
use crate::ledger::coding::{os_text, place};
use crate::ledger::{
    InputRecord, LedgerError, ListRecord, OutputRecord, RunRecord, ServiceId, Sha256, StartRecord,
    StoredDefaults,
};

/// The column before the last one has how many rows of a run that was killed were claimed for the first time.
const RUNS: &str = "
SELECT runs.id, address, options::text, began_at, completed_at, pruned_at, counts::text,
    EXISTS (SELECT 1 FROM leadload.senders WHERE run = runs.id AND until > clock_timestamp()),
    token, tag, CASE WHEN completed_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM leadload.senders WHERE run = runs.id AND until > clock_timestamp())
    THEN (SELECT count(*) FROM leadload.sent WHERE run = runs.id AND is_open
        AND status IS NULL AND row > read_to) END, ahead_s
FROM leadload.runs JOIN leadload.services ON services.id = service ORDER BY runs.id";

const STARTS: &str = "
SELECT run, start, began_at, ended_at, process, host, version, exit_code, stopped_by, requests,
    started_by, seq
FROM leadload.starts ORDER BY run, start";

const LISTS: &str = "
SELECT run, start, name, sha256, numbers FROM leadload.lists ORDER BY run, start, position";

const INPUTS: &str = "
SELECT run, name, path, sha256, bytes, columns, rows FROM leadload.inputs ORDER BY run, position";

const CAMPAIGNS_NAMED: &str = "
SELECT runs.id, key, value::bigint FROM leadload.runs, json_each_text(
    CASE WHEN json_typeof(coalesce(options -> 'campaign_ids', campaign_ids)) = 'object'
        THEN coalesce(options -> 'campaign_ids', campaign_ids) END
) WHERE service = $1
ORDER BY (SELECT max(seq) FROM leadload.starts WHERE run = runs.id)";

const SENDERS_OF: &str = "
SELECT DISTINCT runs.id FROM leadload.runs JOIN leadload.inputs ON run = runs.id
WHERE service = $1 AND reached > 0 AND (place = $2 OR sha256 = $3)";

const DEFAULTS: &str = "
SELECT defaults, address, tag FROM leadload.runs JOIN leadload.services ON services.id = service
WHERE runs.id = $1";

/// Rows by their run.
type ByRun<T> = HashMap<RunId, Vec<T>>;

impl PostgresLedger {
    pub fn runs(&self) -> Result<Vec<RunRecord>, LedgerError> {
        let outputs = format!(
            "SELECT {} FROM leadload.outputs ORDER BY id",
            outputs::COLUMNS
        );
        let queries = [
            RUNS,
            STARTS,
            LISTS,
            INPUTS,
            &outputs,
            undo::BEGUN,
            undo::COUNTS,
        ];
        let answers = self.session.read_long(async |client| {
            let mut answers = Vec::new();
            for sql in queries {
                answers.push(client.query_typed(sql, &[]).await?);
            }
            Ok(answers)
        })?;
        let [runs, starts, lists, inputs, outputs, begun, counts] = &answers[..] else {
            return Ok(Vec::new());
        };
        let mut runs = self.readable(runs_of(runs, starts, lists, inputs, outputs))?;
        let undo = self.readable(undo::records(begun, counts))?;
        for run in &mut runs {
            run.undo = undo.get(&run.run).copied();
        }
        Ok(runs)
    }

    /// The campaigns that runs of the service have named, with their ids then, in the order of the
    /// runs.
    pub fn campaigns_named(
        &self,
        service: ServiceId,
    ) -> Result<Vec<(RunId, String, CampaignId)>, LedgerError> {
        let rows = self.query(CAMPAIGNS_NAMED, &[int8(&service.0)])?;
        self.read_all(&rows, |row| {
            Ok((run_id(row, 0)?, get(row, 1)?, CampaignId(get(row, 2)?)))
        })
    }

    /// The runs that have sent any of these inputs to the service, in
    /// order. An input is recognized by its path or by its content.
    pub fn senders_of(
        &self,
        service: ServiceId,
        inputs: &[(Option<PathBuf>, Sha256)],
    ) -> Result<Vec<RunId>, LedgerError> {
        let mut found: BTreeSet<RunId> = BTreeSet::new();
        for (path, sha256) in inputs {
            let place = path.as_deref().map(place);
            let place = place.as_ref().map(<[u8; 32]>::as_slice);
            let sha256 = sha256.as_slice();
            let values = [int8(&service.0), bytes(&place), bytes(&sha256)];
            let rows = self.query(SENDERS_OF, &values)?;
            found.extend(self.read_all(&rows, |row| run_id(row, 0))?);
        }
        Ok(found.into_iter().collect())
    }

    /// The defaults for a rejects file of this run; `None` if there is no such run.
    pub fn defaults_of(&self, run: RunId) -> Result<Option<StoredDefaults>, LedgerError> {
        let run = run.0.cast_signed();
        let columns = "SELECT columns FROM leadload.inputs WHERE run = $1 ORDER BY position";
        let rows = self.query(columns, &[int8(&run)])?;
        let columns = self.read_all(&rows, |row| digest(row, 0))?;
        let rows = self.query(DEFAULTS, &[int8(&run)])?;
        let found = self.read_all(&rows, |row| {
            Ok(StoredDefaults {
                tag: tag(get(row, 2)?)?,
                defaults: get(row, 0)?,
                service: get(row, 1)?,
                columns: columns.clone(),
            })
        })?;
        Ok(found.into_iter().next())
    }
}

fn runs_of(
    runs: &[Row],
    starts: &[Row],
    lists: &[Row],
    inputs: &[Row],
    outputs: &[Row],
) -> Result<Vec<RunRecord>, Unreadable> {
    let mut of_start: HashMap<(RunId, i32), Vec<ListRecord>> = HashMap::new();
    for row in lists {
        let start = (run_id(row, 0)?, get(row, 1)?);
        of_start.entry(start).or_default().push(list(row)?);
    }
    let mut starts_of: ByRun<StartRecord> = HashMap::new();
    for row in starts {
        let (run, number) = (run_id(row, 0)?, get(row, 1)?);
        let lists = of_start.remove(&(run, number)).unwrap_or_default();
        starts_of.entry(run).or_default().push(start(row, lists)?);
    }
    let mut inputs_of: ByRun<InputRecord> = HashMap::new();
    for row in inputs {
        inputs_of
            .entry(run_id(row, 0)?)
            .or_default()
            .push(input(row)?);
    }
    let mut outputs_of: ByRun<OutputRecord> = HashMap::new();
    for row in outputs {
        let output = output(row)?;
        let of_run = outputs_of.entry(output.run).or_default();
        // Only the latest version of each file.
        of_run.retain(|earlier| earlier.path.is_none() || earlier.path != output.path);
        of_run.push(output);
    }
    let runs = runs.iter().map(|row| {
        let run = run_id(row, 0)?;
        let counts: &str = get(row, 6)?;
        let mut counts: Counts = serde_json::from_str(counts).map_err(|error| error.to_string())?;
        let uncounted: Option<i64> = get(row, 10)?;
        (0..uncounted.unwrap_or_default()).for_each(|_| counts.add(Status::Uncertain));
        Ok(RunRecord {
            run,
            tag: tag(get(row, 9)?)?,
            service: get(row, 1)?,
            options: options(get(row, 2)?)?,
            began_at: get(row, 3)?,
            completed_at: get(row, 4)?,
            pruned_at: get(row, 5)?,
            token: get(row, 8)?,
            ahead_s: get(row, 11)?,
            is_at_work: get(row, 7)?,
            counts,
            undo: None,
            starts: starts_of.remove(&run).unwrap_or_default(),
            inputs: inputs_of.remove(&run).unwrap_or_default(),
            outputs: outputs_of.remove(&run).unwrap_or_default(),
        })
    });
    runs.collect()
}

pub(super) fn tag(text: Option<String>) -> Result<Option<RunTag>, String> {
    text.map(|text| text.parse()).transpose()
}

fn list(row: &Row) -> Result<ListRecord, Unreadable> {
    Ok(ListRecord {
        name: get(row, 2)?,
        sha256: digest(row, 3)?,
        numbers: get::<i64>(row, 4)?.cast_unsigned(),
    })
}

fn start(row: &Row, lists: Vec<ListRecord>) -> Result<StartRecord, Unreadable> {
    let exit_code: Option<i32> = get(row, 7)?;
    let requests: Option<i64> = get(row, 9)?;
    let ended_at: Option<Timestamp> = get(row, 3)?;
    let seq: Option<i64> = get(row, 11)?;
    Ok(StartRecord {
        seq: seq.unwrap_or_default().cast_unsigned(),
        began_at: get(row, 2)?,
        ended_at,
        process: natural(row, 4)?,
        host: get(row, 5)?,
        user: get(row, 10)?,
        version: get(row, 6)?,
        exit_code: exit_code.and_then(|code| u8::try_from(code).ok()),
        stopped_by: get(row, 8)?,
        requests: requests.map(i64::cast_unsigned),
        lists,
    })
}

fn input(row: &Row) -> Result<InputRecord, Unreadable> {
    let path: Option<&[u8]> = get(row, 2)?;
    let rows: Option<i64> = get(row, 6)?;
    Ok(InputRecord {
        name: get(row, 1)?,
        path: path.map(|path| os_text(path).into()),
        sha256: digest(row, 3)?,
        bytes: get::<i64>(row, 4)?.cast_unsigned(),
        columns: digest(row, 5)?,
        rows: rows.map(i64::cast_unsigned),
    })
}

pub(super) fn run_id(row: &Row, column: usize) -> Result<RunId, Unreadable> {
    Ok(RunId(get::<i64>(row, column)?.cast_unsigned()))
}

fn natural(row: &Row, column: usize) -> Result<u32, Unreadable> {
    Ok(u32::try_from(get::<i64>(row, column)?).unwrap_or_default())
}
