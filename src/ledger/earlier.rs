//! What a run looks up about earlier runs, and about its service.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::Duration;

use super::coding::place;
use super::row::Json;
use super::store::{Failed, Sql, Value};
use super::{AtWork, Ledger, LedgerError, ServiceId, Sha256, StoredDefaults};
use crate::lead::{CampaignId, Counts, RunId};
use crate::rate::{KnownRate, Rate};

const SERVICE: &str = "SELECT id FROM leadload.services WHERE address = $1";

const ADD_SERVICE: &str = "
INSERT INTO leadload.services (address) VALUES ($1) ON CONFLICT (address) DO NOTHING";

const ADD_PACE: &str = "
INSERT INTO leadload.pace (service) SELECT id FROM leadload.services WHERE address = $1
ON CONFLICT (service) DO NOTHING";

const CAMPAIGNS_NAMED: &str = "
SELECT id, coalesce(options -> 'campaign_ids', campaign_ids) AS campaign_ids FROM leadload.runs
WHERE service = $1 ORDER BY (SELECT max(seq) FROM leadload.starts WHERE run = runs.id)";

const SENDERS: &str = "
SELECT DISTINCT runs.id FROM leadload.runs JOIN leadload.inputs ON run = runs.id
WHERE service = $1 AND reached > 0 AND (place = $2 OR sha256 = $3)";

const DEFAULTS: &str = "
SELECT defaults, address, tag FROM leadload.runs JOIN leadload.services ON services.id = service
WHERE runs.id = $1";

const KNOWN_RATE: &str = "
SELECT rate_requests, rate_per_ms, rate_is_stated FROM leadload.services
WHERE id = $1 AND rate_requests IS NOT NULL";

/// Not of a run that was begun before tokens were noted. A run has the clock of its first start, by which
/// it began.
pub(super) const NOTE_TOKEN: &str = "
UPDATE leadload.runs SET token = CASE token WHEN '' THEN $2 WHEN $2 THEN token ELSE '-' END,
    ahead_s = coalesce(ahead_s,
        CASE (SELECT count(*) FROM leadload.starts WHERE run = $1) WHEN 1 THEN CAST($3 AS bigint) END)
WHERE id = $1 AND token IS NOT NULL";

/// In a file, a start that was killed has no end either; on a server, its lease runs out.
const AT_WORK: &str = "
SELECT run, process, starts.began_at, host, started_by
FROM leadload.starts JOIN leadload.runs ON runs.id = run
WHERE service = $1 AND /*file ended_at IS NULL AND stopped_by IS NULL*//*server EXISTS (
    SELECT 1 FROM leadload.senders AS s
    WHERE s.run = starts.run AND s.start = starts.start AND s.until > clock_timestamp()
)*/ ORDER BY seq DESC LIMIT 1";

impl Ledger {
    /// The latest start for this service that is at work. In a file, one that was killed is not told apart:
    /// the process is sending if it holds the sender's lock.
    pub fn at_work(&self, service: ServiceId) -> Result<Option<AtWork>, LedgerError> {
        self.reading(|sql| at_work(sql, service))
    }

    /// The service at this address; `None` if no lead was ever sent there.
    pub fn known_service(&self, address: &str) -> Result<Option<ServiceId>, LedgerError> {
        self.reading(|sql| sql.row(SERVICE, &[address.into()], |row| row.get(0)))
    }

    /// The service at this address, which is added if it is new.
    pub fn service(&mut self, address: &str) -> Result<ServiceId, LedgerError> {
        // Usually the service is known, and then nothing
        // is written: another process may be writing.
        if let Some(known) = self.known_service(address)? {
            return Ok(known);
        }
        self.changing(|sql| {
            sql.change(ADD_SERVICE, &[address.into()])?;
            sql.on_server(ADD_PACE, &[address.into()])?;
            sql.value(SERVICE, &[address.into()])
        })
    }

    pub(super) fn services(&self) -> Result<Vec<ServiceId>, LedgerError> {
        self.reading(services)
    }

    /// The last rate that was learned for the service; `None` if there is none yet.
    pub fn known_rate(&self, service: ServiceId) -> Result<Option<KnownRate>, LedgerError> {
        self.reading(|sql| {
            sql.row(KNOWN_RATE, &[service.into()], |row| {
                let requests = row.get("rate_requests")?;
                let per_ms: std::num::NonZeroU32 = row.get("rate_per_ms")?;
                let per = Duration::from_millis(per_ms.get().into());
                Ok(KnownRate {
                    rate: Rate { requests, per },
                    is_stated: row.get("rate_is_stated")?,
                })
            })
        })
    }

    /// The campaigns that runs of the service have named, with their ids then, in the order of the
    /// runs.
    pub fn campaigns_named(
        &self,
        service: ServiceId,
    ) -> Result<Vec<(RunId, String, CampaignId)>, LedgerError> {
        let named = self.reading(|sql| {
            sql.rows(CAMPAIGNS_NAMED, &[service.into()], |row| {
                let ids: Option<Json<HashMap<String, i64>>> = row.get("campaign_ids")?;
                Ok((row.get("id")?, ids))
            })
        })?;
        let of_run = |(run, ids): (RunId, Option<Json<HashMap<String, i64>>>)| {
            let mut named: Vec<_> = ids
                .map(|Json(ids)| ids)
                .unwrap_or_default()
                .into_iter()
                .collect();
            named.sort();
            let named = named.into_iter();
            named.map(move |(name, id)| (run, name, CampaignId(id)))
        };
        Ok(named.into_iter().flat_map(of_run).collect())
    }

    /// The runs that have sent any of these inputs to the service, in
    /// order. An input is recognized by its path or by its content.
    pub fn senders_of(
        &self,
        service: ServiceId,
        inputs: &[(Option<PathBuf>, Sha256)],
    ) -> Result<Vec<RunId>, LedgerError> {
        let found = self.reading(|sql| {
            let mut found: BTreeSet<RunId> = BTreeSet::new();
            for (path, sha256) in inputs {
                let place = path.as_deref().map(place);
                let values = [service.into(), place.as_ref().into(), sha256.into()];
                found.extend(sql.rows(SENDERS, &values, |row| row.get::<RunId>(0))?);
            }
            Ok(found)
        })?;
        Ok(found.into_iter().collect())
    }

    /// The defaults for a rejects file of this run; `None` if there is no such run.
    pub fn defaults_of(&self, run: RunId) -> Result<Option<StoredDefaults>, LedgerError> {
        let columns = "SELECT columns FROM leadload.inputs WHERE run = $1 ORDER BY position";
        self.reading(|sql| {
            let columns = sql.rows(columns, &[run.into()], |row| row.get(0))?;
            sql.row(DEFAULTS, &[run.into()], |row| {
                Ok(StoredDefaults {
                    tag: row.get("tag")?,
                    defaults: row.get("defaults")?,
                    service: row.get("address")?,
                    columns: columns.clone(),
                })
            })
        })
    }

    /// The rows of a run by their outcome, as counted by the start that got furthest.
    pub fn counts_of(&self, run: RunId) -> Result<Counts, LedgerError> {
        let counts = "SELECT counts FROM leadload.runs WHERE id = $1";
        let Json(counts) = self.reading(|sql| sql.value(counts, &[run.into()]))?;
        Ok(counts)
    }

    /// Notes a token with which leads of the run were made.
    pub fn note_token(&mut self, run: RunId, token: &str) -> Result<(), LedgerError> {
        let values = [run.into(), token.into(), Value::Null];
        self.changing(|sql| sql.change(NOTE_TOKEN, &values).map(drop))
    }
}

pub(super) fn services(sql: &mut dyn Sql) -> Result<Vec<ServiceId>, Failed> {
    let services = "SELECT id FROM leadload.services ORDER BY id";
    sql.rows(services, &[], |row| row.get(0))
}

pub(super) fn at_work(sql: &mut dyn Sql, service: ServiceId) -> Result<Option<AtWork>, Failed> {
    sql.row(AT_WORK, &[service.into()], AtWork::read)
}
