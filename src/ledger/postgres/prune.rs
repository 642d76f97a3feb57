//! Removes data from the ledger for good, while no run is being sent.
//!
//! Tables that had the data are rebuilt without it. What the server itself keeps elsewhere, its
//! log and its backups, is not the ledger's.

use jiff::Timestamp;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::PostgresLedger;
use super::claims::expire;
use super::export::stream;
use super::history::run_id;
use super::record::get;
use super::session::{LONG_ANSWER, SNAPSHOT, int8, typed};
use crate::lead::{CampaignId, RunId};
use crate::ledger::coding::may_be_number;
use crate::ledger::{LedgerError, Pruned, ServiceId};
use crate::phone::PhoneNumber;

/// Keeps leases from being acquired and renewed until the transaction ends.
pub(super) const STOP_SENDERS: &str = "LOCK TABLE leadload.senders IN SHARE ROW EXCLUSIVE MODE";

/// Whether a run is being sent, or one that was killed may have a request on its way.
const IS_SENDING: &str = "
SELECT EXISTS (
    SELECT 1 FROM leadload.senders AS e WHERE until > clock_timestamp()
        OR until + timeout_ms * interval '1 ms' > clock_timestamp() AND EXISTS (
            SELECT 1 FROM leadload.sent AS s
            WHERE s.run = e.run AND s.sender = e.id AND s.is_open
        )
)";

/// Runs that were last active before a given time, and were active since they were
/// last pruned. A start without an end was killed: the time of its beginning counts.
const OLD_RUNS: &str = "
SELECT id FROM (
    SELECT id, pruned_at, greatest(began_at, undone_at,
        (SELECT max(coalesce(ended_at, began_at)) FROM leadload.starts WHERE run = runs.id)
    ) AS worked_at
    FROM leadload.runs
) AS ages
WHERE worked_at <= $1 AND (pruned_at IS NULL OR pruned_at <= worked_at)";

/// The first two statements change rows; their numbers are added up for [`Pruned::rows`].
const PRUNE: [&str; 7] = [
    "UPDATE leadload.sent SET error = NULL WHERE error IS NOT NULL AND run = ANY($1)",
    "UPDATE leadload.invalid_rows SET cell = NULL, error = NULL
     WHERE (cell IS NOT NULL OR error IS NOT NULL) AND run = ANY($1)",
    "UPDATE leadload.undo_rows SET error = NULL WHERE run = ANY($1)",
    "UPDATE leadload.inputs SET name = NULL, path = NULL WHERE run = ANY($1)",
    "UPDATE leadload.lists SET name = NULL WHERE run = ANY($1)",
    "UPDATE leadload.outputs SET path = NULL WHERE run = ANY($1)",
    "UPDATE leadload.runs SET campaign_ids = coalesce(options -> 'campaign_ids', campaign_ids),
         options = NULL, defaults = NULL, pruned_at = clock_timestamp()
     WHERE id = ANY($1)",
];

/// The statuses are created and duplicate.
const LEADS_OF_RUN: &str =
    "SELECT count(*) FROM leadload.sent WHERE run = $1 AND status IN (0, 1) AND NOT is_open";
const LEADS_OF_NUMBER: &str =
    "SELECT count(*) FROM leadload.sent WHERE number = $1 AND status IN (0, 1) AND NOT is_open";

/// What belongs to a run goes with it.
const FORGET_RUN: [&str; 3] = [
    "DELETE FROM leadload.sent WHERE run = $1",
    "DELETE FROM leadload.known_bad WHERE run = $1",
    "DELETE FROM leadload.runs WHERE id = $1",
];

const FORGET_NUMBER: [&str; 3] = [
    "DELETE FROM leadload.attempts AS a USING leadload.sent AS s
     WHERE s.number = $1 AND a.run = s.run AND a.row = s.row",
    "DELETE FROM leadload.sent WHERE number = $1",
    "DELETE FROM leadload.undo_rows WHERE number = $1",
];

const LEADS_OF_CAMPAIGN: &str = "
SELECT count(*) FROM leadload.sent
WHERE service = $1 AND campaign = $2 AND status IN (0, 1) AND NOT is_open";

const FORGET_CAMPAIGN: [&str; 4] = [
    "DELETE FROM leadload.attempts AS a USING leadload.sent AS s
     WHERE s.service = $1 AND s.campaign = $2 AND a.run = s.run AND a.row = s.row",
    "DELETE FROM leadload.sent WHERE service = $1 AND campaign = $2",
    "DELETE FROM leadload.undo_rows
     WHERE campaign = $2 AND run IN (SELECT id FROM leadload.runs WHERE service = $1)",
    "UPDATE leadload.invalid_rows SET cell = NULL, error = NULL
     WHERE campaign = $2 AND run IN (SELECT id FROM leadload.runs WHERE service = $1)",
];

const CELLS: &str = "SELECT run, row, cell FROM leadload.invalid_rows WHERE cell IS NOT NULL";

const FORGET_CELLS: &str = "
UPDATE leadload.invalid_rows AS bad SET cell = NULL, error = NULL
FROM unnest($1::bigint[], $2::bigint[]) AS t (run, row)
WHERE bad.run = t.run AND bad.row = t.row";

/// The tables that hold what is removed.
const REBUILD: [&str; 11] = [
    "sent",
    "attempts",
    "undo_rows",
    "invalid_rows",
    "known_bad",
    "inputs",
    "lists",
    "outputs",
    "senders",
    "starts",
    "runs",
];

impl PostgresLedger {
    /// A service that a run is being sent to; `None` if none is sent.
    pub fn busy_service(&self) -> Result<Option<ServiceId>, LedgerError> {
        let live = "SELECT service FROM leadload.senders WHERE until > clock_timestamp() LIMIT 1";
        let rows = self.query(live, &[])?;
        let busy = self.read_all(&rows, |row| get(row, 0).map(ServiceId))?;
        Ok(busy.into_iter().next())
    }

    /// The runs that [`prune`](Self::prune) removes data of.
    pub fn old_runs(&self, older_than: Timestamp) -> Result<Vec<RunId>, LedgerError> {
        let older_than = storable_time(older_than);
        let rows = self.query(OLD_RUNS, &[typed(&older_than, Type::TIMESTAMPTZ)])?;
        self.read_all(&rows, |row| run_id(row, 0))
    }

    /// Removes cells, texts and file names of runs that ended before `older_than`, or that began
    /// before it and were killed. Numbers, campaigns and lead ids stay.
    pub fn prune(&mut self, older_than: Timestamp) -> Result<Pruned, LedgerError> {
        let older_than = storable_time(older_than);
        let pruned = self.alone(async |client| {
            let old = client
                .query_typed(OLD_RUNS, &[typed(&older_than, Type::TIMESTAMPTZ)])
                .await?;
            let runs = old.iter().map(|row| row.try_get(0));
            let runs: Vec<i64> = runs.collect::<Result<_, _>>()?;
            // Nothing is sent now, so all open claims have expired.
            let expire = expire("WHERE s.is_open AND s.run = ANY($1)");
            let of_runs = [typed(&runs, Type::INT8_ARRAY)];
            client.execute_typed(&expire, &of_runs).await?;
            let mut changed = [0; PRUNE.len()];
            for (sql, changed) in PRUNE.iter().zip(&mut changed) {
                *changed = client.execute_typed(sql, &of_runs).await?;
            }
            Ok(Pruned {
                runs: runs.len() as u64,
                rows: changed[0] + changed[1],
            })
        })?;
        if pruned.runs > 0 {
            self.rebuild()?;
        }
        Ok(pruned)
    }

    /// Removes a run and everything that is known about it. Returns how many leads it
    /// had that were created or duplicates: their numbers count as new afterwards.
    pub fn forget_run(&mut self, run: RunId) -> Result<u64, LedgerError> {
        let run = run.0.cast_signed();
        let leads = self.alone(async |client| {
            let leads = client.query_typed_one(LEADS_OF_RUN, &[int8(&run)]).await?;
            for sql in FORGET_RUN {
                client.execute_typed(sql, &[int8(&run)]).await?;
            }
            leads.try_get::<_, i64>(0)
        })?;
        self.rebuild()?;
        Ok(leads.cast_unsigned())
    }

    /// Removes everything that is known about a number, for all services.
    /// Returns how many leads it had that were created or duplicates.
    pub fn forget_number(&mut self, number: PhoneNumber) -> Result<u64, LedgerError> {
        let digits = number.key().to_string();
        let (mut runs, mut rows): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
        self.session.with_client(SNAPSHOT, |client| {
            stream(self.place(), client, CELLS, &[], |row| {
                // Such a row may have a valid number: it may have too many cells, for example.
                if may_be_number(self.readable(get(&row, 2))?, &digits) {
                    runs.push(self.readable(get(&row, 0))?);
                    rows.push(self.readable(get(&row, 1))?);
                }
                Ok::<(), LedgerError>(())
            })
        })??;
        let key = number.key().cast_signed();
        let leads = self.alone(async |client| {
            let leads = client
                .query_typed_one(LEADS_OF_NUMBER, &[int8(&key)])
                .await?;
            for sql in FORGET_NUMBER {
                client.execute_typed(sql, &[int8(&key)]).await?;
            }
            let values = [
                typed(&runs, Type::INT8_ARRAY),
                typed(&rows, Type::INT8_ARRAY),
            ];
            client.execute_typed(FORGET_CELLS, &values).await?;
            leads.try_get::<_, i64>(0)
        })?;
        self.rebuild()?;
        Ok(leads.cast_unsigned())
    }

    /// Removes everything that is known about the people of a campaign.
    /// Returns how many leads it had that were created or duplicates.
    pub fn forget_campaign(
        &mut self,
        service: ServiceId,
        campaign: CampaignId,
    ) -> Result<u64, LedgerError> {
        let leads = self.alone(async |client| {
            let values = [int8(&service.0), int8(&campaign.0)];
            let leads = client.query_typed_one(LEADS_OF_CAMPAIGN, &values).await?;
            for sql in FORGET_CAMPAIGN {
                client.execute_typed(sql, &values).await?;
            }
            leads.try_get::<_, i64>(0)
        })?;
        self.rebuild()?;
        Ok(leads.cast_unsigned())
    }

    /// Does the work in a transaction during which nothing is sent.
    fn alone<T>(&self, work: impl AsyncFn(&Client) -> Result<T, Error>) -> Result<T, LedgerError> {
        let done = self.session.transact_once(LONG_ANSWER, async |client| {
            client.batch_execute(STOP_SENDERS).await?;
            let is_sending = client.query_typed_one(IS_SENDING, &[]).await?;
            if is_sending.try_get(0)? {
                return Ok(None);
            }
            work(client).await.map(Some)
        })?;
        done.ok_or_else(|| {
            LedgerError::new(
                format!(
                    "a run began to send while the ledger `{}` was to be changed",
                    self.place()
                ),
                "wait until it has ended, then run the same command again",
            )
        })
    }

    /// Rebuilds the tables without what was removed.
    fn rebuild(&self) -> Result<(), LedgerError> {
        REBUILD
            .iter()
            .try_for_each(|table| self.session.rebuild(table))
    }
}

/// The nearest time that the server knows: it has no earlier and no later ones than these.
fn storable_time(time: Timestamp) -> Timestamp {
    let years = |year: i16| {
        let begin = jiff::civil::date(year, 1, 1).to_zoned(jiff::tz::TimeZone::UTC);
        begin.map(|begin| begin.timestamp())
    };
    match (years(-4000), years(9999)) {
        (Ok(first), Ok(last)) => time.clamp(first, last),
        _ => time,
    }
}
