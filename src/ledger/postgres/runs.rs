//! Runs: how they begin, continue and end.
//!
//! A start belongs to the latest run with the same identity; if that run is complete, it begins
//! a new one. It may begin only if no other start of the run has a lease. One transaction does
//! all of that, and a key that the process makes up tells whether it has happened already.

use std::thread;
use std::time::Duration;

use gethostname::gethostname;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::PostgresLedger;
use super::pace::{self, ServerClock};
use super::record::{get, storable, storable_json};
use super::sender::{self, LOCK, Sender, acquire};
use super::session::{bytes, int4, int8, text, typed};
use crate::lead::{Counts, RunId};
use crate::ledger::coding::place;
use crate::ledger::lease::Moment;
use crate::ledger::{
    AtWork, Begun, Ending, Lease, LedgerError, LockHolder, NewRun, NotBegun, Predecessors,
    SenderId, ServiceId, Unfinished,
};

/// How often a lease of another process is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The runs whose rows are all rows of this run too, so that this run's files contain
/// what theirs contain: they sent the same lists, by their paths, to the same
/// campaign, and did not select more rows. Lists from standard input are the same if
/// their contents are. A run that was pruned is not found: its options are unknown.
const COVERED: &str = "
SELECT other.id FROM leadload.runs AS this JOIN leadload.runs AS other USING (service)
WHERE this.id = $1 AND other.id <> this.id AND other.options IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM unnest(ARRAY['campaign', 'campaign_column', 'phone_columns', 'sheet',
            'phone_rule', 'countries']) AS key
        WHERE this.options ->> key IS DISTINCT FROM other.options ->> key
    )
    AND (this.options ->> 'only' IS NULL
        OR this.options ->> 'only' IS NOT DISTINCT FROM other.options ->> 'only')
    AND (this.options ->> 'limit' IS NULL
        OR (this.options ->> 'limit')::numeric >= (other.options ->> 'limit')::numeric)
    AND NOT EXISTS (
        SELECT 1 FROM leadload.inputs AS theirs
        WHERE theirs.run = other.id AND NOT EXISTS (
            SELECT 1 FROM leadload.inputs AS ours
            WHERE ours.run = this.id
                AND coalesce(ours.place, ours.sha256) = coalesce(theirs.place, theirs.sha256)
                AND (this.options ->> 'limit' IS NULL OR ours.position = theirs.position)
        )
    )
ORDER BY other.id";

const LATEST: &str = "
SELECT id, completed_at IS NULL OR $3 AND coalesce((counts ->> 'uncertain')::bigint, 0) > 0
FROM leadload.runs WHERE service = $1 AND identity = $2 ORDER BY id DESC LIMIT 1";

/// The latest unfinished run of the same inputs, for any service.
const OTHER: &str = "
SELECT runs.id, address, options::text FROM leadload.runs
JOIN leadload.services ON services.id = service
WHERE completed_at IS NULL AND $1 = (
    SELECT string_agg(encode(sha256, 'hex'), '' ORDER BY position)
    FROM leadload.inputs WHERE run = runs.id
)
ORDER BY runs.id DESC LIMIT 1";

const LEASE: &str = "
SELECT s.run, process, host, began_at,
    (extract(epoch FROM until - clock_timestamp()) * 1000)::bigint, until
FROM leadload.senders AS s JOIN leadload.starts USING (run, start)
WHERE s.run = $1 AND until > clock_timestamp() ORDER BY until DESC LIMIT 1";

/// What is known of a start with this key.
const BEGUN_BEFORE: &str = "
SELECT starts.run, starts.start, (SELECT max(id) FROM leadload.senders
    WHERE senders.run = starts.run AND senders.start = starts.start)
FROM leadload.starts WHERE key = $1";

const INSERT_START: &str = "
INSERT INTO leadload.starts (run, start, key, began_at, process, host, version)
SELECT $1, coalesce(max(start), 0) + 1, $2, $3, $4, $5, $6 FROM leadload.starts WHERE run = $1
RETURNING start";

/// No other start has a lease, so one without an end was killed, or is cut off.
const NOTE_KILLED: &str = "
UPDATE leadload.starts SET stopped_by = 'killed'
WHERE run = $1 AND ended_at IS NULL AND stopped_by IS NULL AND start < $2";

/// Leases from long ago: an open claim whose sender is not there counts as expired.
const FORGET_EXPIRED: &str = "
DELETE FROM leadload.senders WHERE service = $1
    AND until + timeout_ms * interval '1 ms' < clock_timestamp() - interval '1 hour'";

/// Rows of killed starts: for each of them a request may have left that is not counted yet.
const COUNT_OPEN: &str = "SELECT count(*) FROM leadload.sent WHERE run = $1 AND is_open";

const INSERT_INPUT: &str = "
INSERT INTO leadload.inputs (run, position, name, path, sha256, bytes, columns, place)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (run, position) DO UPDATE
SET name = excluded.name, path = excluded.path, place = excluded.place";

const INSERT_LIST: &str = "
INSERT INTO leadload.lists (run, start, position, name, sha256, numbers)
VALUES ($1, $2, $3, $4, $5, $6)";

const INSERT_OUTPUT: &str =
    "INSERT INTO leadload.outputs (run, path, kind, place) VALUES ($1, $2, $3, $4)";

/// A lease that is under way.
#[derive(Debug, Clone)]
pub(super) struct LiveLease {
    pub(super) at_work: AtWork,
    until: Timestamp,
    /// How long it lasts from now on, by the server's clock.
    left: Duration,
}

/// What beginning a run came to.
enum Started {
    Begun(Box<Begun>, SenderId),
    NotBegun(NotBegun),
}

impl PostgresLedger {
    /// What [`PostgresLedger::begin`] would find now.
    pub fn predecessors(&self, run: &NewRun) -> Result<Predecessors, LedgerError> {
        let values = (run.service.0, run.identity, run.reopens);
        let going_on = self
            .session
            .run(async |client| going_on(client, values).await)?;
        let other = match going_on {
            Some(_) => None,
            None => self.other(run)?,
        };
        Ok(Predecessors { going_on, other })
    }

    fn other(&self, run: &NewRun) -> Result<Option<Unfinished>, LedgerError> {
        let contents = run.inputs.iter().flat_map(|input| input.sha256);
        let contents: String = contents.map(|byte| format!("{byte:02x}")).collect();
        let rows = self.query(OTHER, &[text(&contents)])?;
        let found = self.read_all(&rows, |row| {
            let options: Option<String> = get(row, 2)?;
            let options = options.map(|options| serde_json::from_str(&options));
            Ok(Unfinished {
                run: RunId(get::<i64>(row, 0)?.cast_unsigned()),
                service: get(row, 1)?,
                options: options.transpose().map_err(|error| error.to_string())?,
            })
        })?;
        Ok(found.into_iter().next())
    }

    /// Waits until no process has a lease of the run: while one is at it, or, if `waits` is not
    /// set, until it is certain that one is. Returns that process.
    pub fn await_turn(&self, run: RunId, waits: bool) -> Result<Option<AtWork>, LedgerError> {
        let mut first: Option<Timestamp> = None;
        loop {
            let Some(lease) = self.lease_of(run)? else {
                return Ok(None);
            };
            // One that ends at another time was renewed, so its process lives.
            let is_renewed = *first.get_or_insert(lease.until) != lease.until;
            if is_renewed && !waits {
                return Ok(Some(lease.at_work));
            }
            thread::sleep(lease.left.clamp(Duration::from_millis(10), LOOK_EVERY));
        }
    }

    /// The lease of a run, if one is under way.
    pub(super) fn lease_of(&self, run: RunId) -> Result<Option<LiveLease>, LedgerError> {
        let run = run.0.cast_signed();
        let found = self
            .session
            .run(async |client| client.query_typed_opt(LEASE, &[int8(&run)]).await)?;
        let lease = found.as_ref().map(live_lease).transpose();
        self.readable(lease)
    }

    /// Continues the latest run of this identity, or begins a new one if that run is complete.
    /// If another process has come before this one, returns how, and nothing has begun.
    pub fn begin(
        &mut self,
        run: &NewRun,
        now: Timestamp,
    ) -> Result<Result<Begun, NotBegun>, LedgerError> {
        let key = fastrand::u128(..).to_be_bytes();
        let lease = self.place().lease;
        let asked = Moment::now();
        let started = self
            .session
            .begin_within(async |client| begin(client, run, &key, lease, now).await)?;
        let (begun, sender) = match started {
            Started::NotBegun(why) => return Ok(Err(why)),
            Started::Begun(begun, sender) => (*begun, sender),
        };
        let lease = Lease::granted(sender, lease, asked);
        self.session.begin(lease, run.sending.patience);
        self.sender = Some(Sender {
            run: begun.run,
            start: begun.start,
            service: run.service,
            terms: run.sending.clone(),
            leases: vec![sender],
            asked,
            group: 0,
            clock: ServerClock::new(),
        });
        Ok(Ok(begun))
    }

    /// The rows of a run by their outcome, as counted by the start that got furthest.
    pub fn counts_of(&self, run: RunId) -> Result<Counts, LedgerError> {
        let run = run.0.cast_signed();
        let counts = "SELECT counts::text FROM leadload.runs WHERE id = $1";
        let rows = self.query(counts, &[int8(&run)])?;
        let row = rows
            .first()
            .ok_or_else(|| LedgerError::lost_run(self.place()))?;
        let counts: String = self.readable(get(row, 0))?;
        self.readable(serde_json::from_str(&counts))
    }

    /// Records how a start has ended, and gives its lease up.
    pub fn end(
        &mut self,
        run: RunId,
        start: u32,
        ending: &Ending<'_>,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let lease = self.sender.as_ref().map(Sender::id);
        self.session
            .transact(async |client| end(client, (run, start), ending, lease, now).await)
    }
}

fn live_lease(row: &tokio_postgres::Row) -> Result<LiveLease, Error> {
    let process: i64 = row.try_get(1)?;
    let left: i64 = row.try_get(4)?;
    Ok(LiveLease {
        at_work: AtWork {
            run: RunId(row.try_get::<_, i64>(0)?.cast_unsigned()),
            by: LockHolder {
                process: u32::try_from(process).unwrap_or_default(),
                host: row.try_get(2)?,
                since: row.try_get(3)?,
            },
        },
        until: row.try_get(5)?,
        left: Duration::from_millis(left.max(0).cast_unsigned()),
    })
}

async fn going_on(
    client: &Client,
    (service, identity, reopens): (i64, [u8; 32], bool),
) -> Result<Option<RunId>, Error> {
    let identity = identity.as_slice();
    let values = [
        int8(&service),
        bytes(&identity),
        typed(&reopens, Type::BOOL),
    ];
    let Some(row) = client.query_typed_opt(LATEST, &values).await? else {
        return Ok(None);
    };
    let run = RunId(row.try_get::<_, i64>(0)?.cast_unsigned());
    Ok(row.try_get::<_, bool>(1)?.then_some(run))
}

async fn begin(
    client: &Client,
    new: &NewRun,
    key: &[u8; 16],
    lease: Duration,
    now: Timestamp,
) -> Result<Started, Error> {
    client.query_typed(LOCK, &[int8(&new.service.0)]).await?;
    let key = key.as_slice();
    let before = client.query_typed_opt(BEGUN_BEFORE, &[bytes(&key)]).await?;
    if let Some(row) = before {
        let run = RunId(row.try_get::<_, i64>(0)?.cast_unsigned());
        let begun = begun(client, run, row.try_get(1)?, false).await?;
        return Ok(Started::Begun(begun.into(), SenderId(row.try_get(2)?)));
    }
    let unfinished = going_on(client, (new.service.0, new.identity, new.reopens)).await?;
    if unfinished != new.expected {
        return Ok(Started::NotBegun(NotBegun::Changed));
    }
    if let Some(run) = unfinished {
        let id = run.0.cast_signed();
        let live = client.query_typed_opt(LEASE, &[int8(&id)]).await?;
        if let Some(lease) = live.as_ref().map(live_lease).transpose()? {
            return Ok(Started::NotBegun(NotBegun::Busy(lease.at_work)));
        }
    }
    let run = match unfinished {
        Some(run) => run,
        None => insert_run(client, new, now).await?,
    };
    describe(client, run, new).await?;
    let start = insert_start(client, run, &key, now).await?;
    insert_lists(client, run, start, new).await?;
    insert_outputs(client, run, new).await?;
    client
        .execute_typed(FORGET_EXPIRED, &[int8(&new.service.0)])
        .await?;
    let who = (new.service, run, start.cast_unsigned());
    count_lost_starts(client, new.service, run, start).await?;
    let sender = acquire(client, who, lease, &new.sending).await?;
    let sender = sender.unwrap_or_default();
    let begun = begun(client, run, start, unfinished.is_some()).await?;
    Ok(Started::Begun(begun.into(), sender))
}

async fn begun(client: &Client, run: RunId, start: i32, continues: bool) -> Result<Begun, Error> {
    let id = run.0.cast_signed();
    let highest = "SELECT reached, read_to FROM leadload.runs WHERE id = $1";
    let highest = client.query_typed_one(highest, &[int8(&id)]).await?;
    let covers = client.query_typed(COVERED, &[int8(&id)]).await?;
    let covers = covers.iter().map(|row| row.try_get(0));
    let covers = covers.map(|id: Result<i64, _>| id.map(|id| RunId(id.cast_unsigned())));
    Ok(Begun {
        run,
        start: start.cast_unsigned(),
        continues: continues || start > 1,
        reached: highest.try_get::<_, i64>(0)?.cast_unsigned(),
        read_to: highest.try_get::<_, i64>(1)?.cast_unsigned(),
        covers: covers.collect::<Result<_, _>>()?,
    })
}

async fn insert_run(client: &Client, new: &NewRun, now: Timestamp) -> Result<RunId, Error> {
    let insert = "INSERT INTO leadload.runs (service, identity, began_at)
        VALUES ($1, $2, $3) RETURNING id";
    let identity = new.identity.as_slice();
    let values = [
        int8(&new.service.0),
        bytes(&identity),
        typed(&now, Type::TIMESTAMPTZ),
    ];
    let row = client.query_typed_one(insert, &values).await?;
    Ok(RunId(row.try_get::<_, i64>(0)?.cast_unsigned()))
}

/// Writes the data that pruning removes from a run. This is done at
/// every start, since the names of the inputs may have changed too.
async fn describe(client: &Client, run: RunId, new: &NewRun) -> Result<(), Error> {
    let run = run.0.cast_signed();
    let update = "UPDATE leadload.runs SET options = $2::text::json, defaults = $3,
        pruned_at = NULL, completed_at = NULL WHERE id = $1";
    let options = storable_json(&new.options.to_string());
    let defaults = storable(&new.defaults);
    let values = [int8(&run), text(&options), text(&defaults)];
    client.execute_typed(update, &values).await?;
    for (position, input) in (0_i32..).zip(&new.inputs) {
        let name = input.name.as_deref().map(storable);
        let path = input.path.as_deref();
        let path_bytes = path.map(|path| path.as_os_str().as_encoded_bytes());
        let place = path.map(place);
        let place = place.as_ref().map(<[u8; 32]>::as_slice);
        let (sha256, columns) = (input.sha256.as_slice(), input.columns.as_slice());
        let size = input.bytes.cast_signed();
        let values = [
            int8(&run),
            int4(&position),
            text(&name),
            bytes(&path_bytes),
            bytes(&sha256),
            int8(&size),
            bytes(&columns),
            bytes(&place),
        ];
        client.execute_typed(INSERT_INPUT, &values).await?;
    }
    Ok(())
}

async fn insert_start(
    client: &Client,
    run: RunId,
    key: &&[u8],
    now: Timestamp,
) -> Result<i32, Error> {
    let run = run.0.cast_signed();
    let process = i64::from(std::process::id());
    let host = storable(&gethostname().to_string_lossy());
    let version = env!("CARGO_PKG_VERSION");
    let values = [
        int8(&run),
        bytes(key),
        typed(&now, Type::TIMESTAMPTZ),
        int8(&process),
        text(&host),
        text(&version),
    ];
    let row = client.query_typed_one(INSERT_START, &values).await?;
    row.try_get(0)
}

async fn insert_lists(client: &Client, run: RunId, start: i32, new: &NewRun) -> Result<(), Error> {
    let run = run.0.cast_signed();
    for (position, list) in (0_i32..).zip(&new.lists) {
        let name = list.name.as_deref().map(storable);
        let sha256 = list.sha256.as_slice();
        let numbers = list.numbers.cast_signed();
        let values = [
            int8(&run),
            int4(&start),
            int4(&position),
            text(&name),
            bytes(&sha256),
            int8(&numbers),
        ];
        client.execute_typed(INSERT_LIST, &values).await?;
    }
    Ok(())
}

/// Files that an earlier start has completed stay recorded:
/// they exist until this start has completed its own.
async fn insert_outputs(client: &Client, run: RunId, new: &NewRun) -> Result<(), Error> {
    let run = run.0.cast_signed();
    let clear = "DELETE FROM leadload.outputs WHERE run = $1 AND sha256 IS NULL";
    client.execute_typed(clear, &[int8(&run)]).await?;
    for (path, kind) in &new.outputs {
        let (kind, place) = (kind.as_str(), place(path));
        let path = path.as_os_str().as_encoded_bytes();
        let place = place.as_slice();
        let values = [int8(&run), bytes(&path), text(&kind), bytes(&place)];
        client.execute_typed(INSERT_OUTPUT, &values).await?;
    }
    Ok(())
}

/// Counts what killed starts of the run may have sent last.
async fn count_lost_starts(
    client: &Client,
    service: ServiceId,
    run: RunId,
    start: i32,
) -> Result<(), Error> {
    let id = run.0.cast_signed();
    let killed = client
        .execute_typed(NOTE_KILLED, &[int8(&id), int4(&start)])
        .await?;
    if killed == 0 {
        return Ok(());
    }
    let open = client.query_typed_one(COUNT_OPEN, &[int8(&id)]).await?;
    pace::count_now(client, service, open.try_get(0)?).await
}

async fn end(
    client: &Client,
    (run, start): (RunId, u32),
    ending: &Ending<'_>,
    lease: Option<SenderId>,
    now: Timestamp,
) -> Result<(), Error> {
    let (run, start) = (run.0.cast_signed(), start.cast_signed());
    let exit_code = i32::from(ending.exit_code);
    let requests = ending.requests.cast_signed();
    let values = [
        int8(&run),
        int4(&start),
        typed(&now, Type::TIMESTAMPTZ),
        int4(&exit_code),
        text(&ending.stopped_by),
        int8(&requests),
    ];
    let ended = "UPDATE leadload.starts
        SET ended_at = $3, exit_code = $4, stopped_by = $5, requests = $6
        WHERE run = $1 AND start = $2";
    client.execute_typed(ended, &values).await?;
    let last_read = ending.last_read.cast_signed();
    if ending.has_rejects {
        // Rows after the last one that was read are in no file of this start.
        let update = "UPDATE leadload.known_bad SET in_rejects = true WHERE run = $1 AND row <= $2";
        let values = [int8(&run), int8(&last_read)];
        client.execute_typed(update, &values).await?;
    }
    // A start that stopped early may have counted fewer rows than the one before it.
    let update = "UPDATE leadload.runs
        SET completed_at = CASE WHEN $2 THEN $3 ELSE completed_at END,
        read_to = greatest(read_to, $6),
        counts = CASE WHEN $2 OR $5 >= counted THEN $4::text::json ELSE counts END,
        counted = CASE WHEN $2 OR $5 >= counted THEN $5 ELSE counted END
        WHERE id = $1";
    let counts = json!(ending.counts).to_string();
    let total = ending.counts.total().cast_signed();
    let values = [
        int8(&run),
        typed(&ending.complete, Type::BOOL),
        typed(&now, Type::TIMESTAMPTZ),
        text(&counts),
        int8(&total),
        int8(&last_read),
    ];
    client.execute_typed(update, &values).await?;
    for (position, rows) in (0_i32..).zip(&ending.input_rows) {
        let update = "UPDATE leadload.inputs SET rows = coalesce($3, rows)
            WHERE run = $1 AND position = $2";
        let rows = rows.map(u64::cast_signed);
        let values = [int8(&run), int4(&position), typed(&rows, Type::INT8)];
        client.execute_typed(update, &values).await?;
    }
    if let Some(lease) = lease {
        client.execute_typed(sender::END, &[int8(&lease.0)]).await?;
    }
    Ok(())
}

/// Options as they are stored.
pub(super) fn options(text: Option<String>) -> Result<Option<Value>, String> {
    let parsed = text.map(|text| serde_json::from_str(&text)).transpose();
    parsed.map_err(|error| error.to_string())
}
