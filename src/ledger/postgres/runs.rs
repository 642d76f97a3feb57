//! Runs: how they begin and continue.
//!
//! A start belongs to the latest run with the same identity; if that run is complete, it begins
//! a new one. It may begin only if no other start of the run has a lease. One transaction does
//! all of that, and a key that the process makes up tells whether it has happened already.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::PostgresLedger;
use super::description::{describe, insert_lists};
use super::history::run_id;
use super::outputs;
use super::pace::{self, ServerClock};
use super::record::{get, storable, whole_seconds};
use super::sender::{LOCK, Sender, acquire, lease_of};
use super::session::{BEGINNING, bytes, int4, int8, text, typed};
use crate::lead::{Counts, RunId, RunTag};
use crate::ledger::coding::here;
use crate::ledger::lease::Moment;
use crate::ledger::{
    Begun, LatestRun, Lease, LedgerError, NewRun, NotBegun, Predecessors, SenderId, ServiceId,
    Unfinished,
};

/// The runs whose rows are all rows of this run too, so that this run's files contain
/// what theirs contain: they sent the same lists, by their paths, to the same
/// campaign, and did not select more rows. Lists from standard input are the same if
/// their contents are. A run that was pruned is not found: its options are unknown.
const COVERED: &str = "
SELECT other.id FROM leadload.runs AS this JOIN leadload.runs AS other USING (service)
WHERE this.id = $1 AND other.id <> this.id AND other.options IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM unnest(ARRAY['campaign', 'campaign_column', 'phone_columns', 'sheet', 'hidden_rows',
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

/// The latest run of an identity, if it is open; and the latest that was undone, unless another has
/// begun or gone on since then.
const LATEST: &str = "
SELECT CASE WHEN undone_at IS NULL AND (
        completed_at IS NULL OR $3 AND coalesce((counts ->> 'uncertain')::bigint, 0) > 0
    ) THEN id END,
    (SELECT max(id) FROM leadload.runs AS undone WHERE service = $1 AND identity = $2
        AND undone_at IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM leadload.runs AS later JOIN leadload.starts ON run = later.id
            WHERE later.service = $1 AND later.identity = $2 AND later.undone_at IS NULL
                AND seq > coalesce(undone.undone_after,
                    (SELECT max(seq) FROM leadload.starts WHERE run = undone.id))
        ))
FROM leadload.runs WHERE service = $1 AND identity = $2 ORDER BY id DESC LIMIT 1";

/// The latest unfinished run of the same inputs, for any service.
const OTHER: &str = "
SELECT runs.id, address, options::text FROM leadload.runs
JOIN leadload.services ON services.id = service
WHERE completed_at IS NULL AND undone_at IS NULL AND $1 = (
    SELECT string_agg(encode(sha256, 'hex'), '' ORDER BY position)
    FROM leadload.inputs WHERE run = runs.id
)
ORDER BY runs.id DESC LIMIT 1";

/// What is known of a start with this key.
const BEGUN_BEFORE: &str = "
SELECT starts.run, starts.start, (SELECT max(id) FROM leadload.senders
    WHERE senders.run = starts.run AND senders.start = starts.start)
FROM leadload.starts WHERE key = $1";

const INSERT_START: &str = "
INSERT INTO leadload.starts (run, start, key, began_at, process, host, started_by, version, seq)
SELECT $1, coalesce(max(start), 0) + 1, $2, $3, $4, $5, $6, $7,
    (SELECT coalesce(max(seq), 0) + 1 FROM leadload.starts)
FROM leadload.starts WHERE run = $1
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

/// What beginning a run came to.
enum Started {
    Begun(Box<Begun>, SenderId),
    NotBegun(NotBegun),
}

impl PostgresLedger {
    /// What [`PostgresLedger::begin`] would find now.
    pub fn predecessors(&self, run: &NewRun) -> Result<Predecessors, LedgerError> {
        let latest = self
            .session
            .read(async |client| latest(client, run).await)?;
        let other = match latest.going_on {
            Some(_) => None,
            None => self.other(run)?,
        };
        Ok(Predecessors { latest, other })
    }

    fn other(&self, run: &NewRun) -> Result<Option<Unfinished>, LedgerError> {
        let contents = run.inputs.iter().flat_map(|input| input.sha256);
        let contents: String = contents.map(|byte| format!("{byte:02x}")).collect();
        let rows = self.query(OTHER, &[text(&contents)])?;
        let found = self.read_all(&rows, |row| {
            Ok(Unfinished {
                run: run_id(row, 0)?,
                service: get(row, 1)?,
                options: options(get(row, 2)?)?,
            })
        })?;
        Ok(found.into_iter().next())
    }

    /// Continues the latest run of this identity, or begins a new one if that run is complete.
    /// If another process has come before this one, returns how, and nothing has begun.
    pub fn begin(
        &mut self,
        run: &NewRun,
        now: Timestamp,
    ) -> Result<Result<Begun, NotBegun>, LedgerError> {
        let key = fastrand::u128(..).to_be_bytes();
        let now = whole_seconds(now);
        let lease = self.place().lease;
        let asked = Moment::now();
        let started = self.session.transact_within(BEGINNING, async |client| {
            begin(client, run, &key, lease, now).await
        })?;
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
            last_counted_group: 0,
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
}

async fn latest(client: &Client, run: &NewRun) -> Result<LatestRun, Error> {
    let identity = run.identity.as_slice();
    let values = [
        int8(&run.service.0),
        bytes(&identity),
        typed(&run.reopens, Type::BOOL),
    ];
    let Some(row) = client.query_typed_opt(LATEST, &values).await? else {
        return Ok(LatestRun::default());
    };
    let run = |id: Option<i64>| id.map(|id| RunId(id.cast_unsigned()));
    Ok(LatestRun {
        going_on: run(row.try_get(0)?),
        undone: run(row.try_get(1)?),
    })
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
    let latest = latest(client, new).await?;
    if latest != new.expected {
        return Ok(Started::NotBegun(NotBegun::Changed));
    }
    let unfinished = latest.going_on;
    if let Some(run) = unfinished
        && let Some(lease) = lease_of(client, run).await?
    {
        return Ok(Started::NotBegun(NotBegun::Busy(lease.at_work)));
    }
    let run = match unfinished {
        Some(run) => run,
        None => insert_run(client, new, now).await?,
    };
    describe(client, run, new).await?;
    let start = insert_start(client, run, &key, now).await?;
    insert_lists(client, run, start, new).await?;
    outputs::begin(client, run, &new.outputs).await?;
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
    let highest = "SELECT reached, read_to, tag FROM leadload.runs WHERE id = $1";
    let highest = client.query_typed_one(highest, &[int8(&id)]).await?;
    let covers = client.query_typed(COVERED, &[int8(&id)]).await?;
    let covers = covers.iter().map(|row| row.try_get(0));
    let covers = covers.map(|id: Result<i64, _>| id.map(|id| RunId(id.cast_unsigned())));
    // One that is no tag is that of no rejects.
    let tag: Option<&str> = highest.try_get(2)?;
    Ok(Begun {
        run,
        tag: tag.and_then(|tag| tag.parse().ok()),
        start: start.cast_unsigned(),
        continues: continues || start > 1,
        reached: highest.try_get::<_, i64>(0)?.cast_unsigned(),
        read_to: highest.try_get::<_, i64>(1)?.cast_unsigned(),
        covers: covers.collect::<Result<_, _>>()?,
    })
}

async fn insert_run(client: &Client, new: &NewRun, now: Timestamp) -> Result<RunId, Error> {
    let insert = "INSERT INTO leadload.runs (service, identity, began_at, token, tag)
        VALUES ($1, $2, $3, '', $4) RETURNING id";
    let identity = new.identity.as_slice();
    let tag = RunTag::random();
    let tag = tag.as_str();
    let values = [
        int8(&new.service.0),
        bytes(&identity),
        typed(&now, Type::TIMESTAMPTZ),
        text(&tag),
    ];
    let row = client.query_typed_one(insert, &values).await?;
    Ok(RunId(row.try_get::<_, i64>(0)?.cast_unsigned()))
}

async fn insert_start(
    client: &Client,
    run: RunId,
    key: &&[u8],
    now: Timestamp,
) -> Result<i32, Error> {
    let run = run.0.cast_signed();
    let process = i64::from(std::process::id());
    let (host, user) = here();
    let (host, user) = (storable(&host), storable(&user));
    let version = env!("CARGO_PKG_VERSION");
    let values = [
        int8(&run),
        bytes(key),
        typed(&now, Type::TIMESTAMPTZ),
        int8(&process),
        text(&host),
        text(&user),
        text(&version),
    ];
    let row = client.query_typed_one(INSERT_START, &values).await?;
    row.try_get(0)
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

/// Options as they are stored.
pub(super) fn options(text: Option<String>) -> Result<Option<Value>, String> {
    let parsed = text.map(|text| serde_json::from_str(&text)).transpose();
    parsed.map_err(|error| error.to_string())
}
