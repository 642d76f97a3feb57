//! What a run looks up about earlier ones.

use std::collections::HashMap;
use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::columns::{Seconds, place};
use super::run::{AtWork, Sha256, StoredDefaults};
use super::{Ledger, LedgerError, LockHolder, ServiceId};
use crate::lead::{CampaignId, RunId};

impl Ledger {
    /// The ids of campaigns that runs of the service have named, by name, as the service last
    /// reported them.
    pub fn campaign_ids(
        &self,
        service: ServiceId,
    ) -> Result<HashMap<String, CampaignId>, LedgerError> {
        self.checked(campaign_ids(&self.db, service))
    }

    /// The runs that have sent any of these inputs to the service, known by their path or
    /// by what they hold; in order.
    pub fn senders_of(
        &self,
        service: ServiceId,
        inputs: &[(Option<PathBuf>, Sha256)],
    ) -> Result<Vec<RunId>, LedgerError> {
        self.checked(senders_of(&self.db, service, inputs))
    }

    /// What a rejects file of this run takes for its defaults; nothing where there is no
    /// such run, or where it was pruned.
    pub fn defaults_of(&self, run: RunId) -> Result<Option<StoredDefaults>, LedgerError> {
        self.checked(defaults_of(&self.db, run))
    }

    /// The latest start in this service that has no end: who is at it, where the sender's
    /// lock is held, and who was killed last, where it is free.
    pub fn at_work(&self, service: ServiceId) -> Result<Option<AtWork>, LedgerError> {
        self.checked(at_work(&self.db, service))
    }
}

fn campaign_ids(
    db: &Connection,
    service: ServiceId,
) -> rusqlite::Result<HashMap<String, CampaignId>> {
    let mut named = db.prepare(
        "SELECT key, value FROM runs, json_each(options, '$.campaign_ids')
            WHERE service = ?1 AND options IS NOT NULL ORDER BY runs.id",
    )?;
    let named = named.query_map([service.0], |row| {
        Ok((row.get(0)?, CampaignId(row.get(1)?)))
    })?;
    named.collect()
}

fn senders_of(
    db: &Connection,
    service: ServiceId,
    inputs: &[(Option<PathBuf>, Sha256)],
) -> rusqlite::Result<Vec<RunId>> {
    let mut senders = db.prepare(
        "SELECT DISTINCT runs.id FROM runs JOIN inputs ON run = runs.id
            WHERE service = ?1 AND reached > 0 AND (place = ?2 OR sha256 = ?3)",
    )?;
    let mut found = Vec::new();
    for (path, sha256) in inputs {
        let place = path.as_deref().map(place);
        let runs = senders.query_map(params![service.0, place, sha256], run_id)?;
        found.extend(runs.collect::<rusqlite::Result<Vec<RunId>>>()?);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn run_id(row: &Row<'_>) -> rusqlite::Result<RunId> {
    row.get(0).map(RunId)
}

fn defaults_of(db: &Connection, run: RunId) -> rusqlite::Result<Option<StoredDefaults>> {
    let defaults = "SELECT defaults, address FROM runs JOIN services ON services.id = service
        WHERE runs.id = ?1 AND defaults IS NOT NULL";
    let found = db.query_row(defaults, [run.0], |row| Ok((row.get(0)?, row.get(1)?)));
    let Some((defaults, service)) = found.optional()? else {
        return Ok(None);
    };
    let mut columns = db.prepare("SELECT columns FROM inputs WHERE run = ?1 ORDER BY position")?;
    let columns = columns.query_map([run.0], |row| row.get(0))?;
    Ok(Some(StoredDefaults {
        service,
        defaults,
        columns: columns.collect::<rusqlite::Result<_>>()?,
    }))
}

pub(super) fn at_work(db: &Connection, service: ServiceId) -> rusqlite::Result<Option<AtWork>> {
    let latest = "SELECT run, process, starts.began_at, host FROM starts JOIN runs ON runs.id = run
        WHERE service = ?1 AND ended_at IS NULL AND stopped_by IS NULL
        ORDER BY starts.began_at DESC, run DESC, start DESC LIMIT 1";
    let found = db.query_row(latest, [service.0], |row| {
        let Seconds(began_at) = row.get(2)?;
        Ok(AtWork {
            run: RunId(row.get(0)?),
            by: LockHolder {
                process: row.get(1)?,
                host: row.get(3)?,
                since: began_at,
            },
        })
    });
    found.optional()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::NewRun;
    use crate::ledger::testing::{TestLedger, at, input};

    #[test]
    fn who_has_sent_an_input_is_known_by_its_path_and_by_what_it_holds() {
        let mut test = TestLedger::new();
        let moved = NewRun {
            identity: [2; 32],
            inputs: vec![super::super::InputRecord {
                path: Some("/moved.csv".into()),
                ..input(1)
            }],
            ..test.run_of(1)
        };
        for run in [test.run_of(1), moved, test.run_of(3)] {
            test.ledger.begin(&run, at(1)).unwrap();
        }
        let senders = |test: &TestLedger, path: &str, content| {
            let input = (Some(PathBuf::from(path)), [content; 32]);
            test.ledger.senders_of(test.service, &[input]).unwrap()
        };
        assert_eq!(senders(&test, "/lists/1.csv", 1), []);
        test.sql("UPDATE runs SET reached = 1");
        assert_eq!(senders(&test, "/lists/1.csv", 9), [RunId(1)]);
        assert_eq!(senders(&test, "/new.csv", 1), [RunId(1), RunId(2)]);
        assert_eq!(senders(&test, "/new.csv", 9), []);
        let elsewhere = test.another_service();
        let input = (None, [1; 32]);
        assert_eq!(test.ledger.senders_of(elsewhere, &[input]).unwrap(), []);
    }

    #[test]
    fn rejects_are_given_the_defaults_of_their_run_until_it_is_pruned() {
        let mut test = TestLedger::new();
        let run = NewRun {
            inputs: vec![input(1), input(2)],
            defaults: r#"{"region":"GB"}"#.into(),
            ..test.run_of(1)
        };
        let begun = test.ledger.begin(&run, at(1)).unwrap();
        let defaults = StoredDefaults {
            service: "https://service.example".into(),
            defaults: run.defaults.clone(),
            columns: vec![[1; 32], [2; 32]],
        };
        assert_eq!(test.ledger.defaults_of(begun.run).unwrap(), Some(defaults));
        assert_eq!(test.ledger.defaults_of(RunId(7)).unwrap(), None);
        test.sql("UPDATE runs SET defaults = NULL");
        assert_eq!(test.ledger.defaults_of(begun.run).unwrap(), None);
    }

    #[test]
    fn who_is_at_work_is_the_latest_start_without_an_end() {
        let mut test = TestLedger::new();
        assert_eq!(test.ledger.at_work(test.service).unwrap(), None);
        for (content, second) in [(1, 10), (2, 20)] {
            let run = test.run_of(content);
            test.ledger.begin(&run, at(second)).unwrap();
        }
        let at_work = test.ledger.at_work(test.service).unwrap().unwrap();
        assert_eq!(
            at_work.to_string(),
            format!(
                "run 2 is being sent by process {} on {}, since 1970-01-01 00:00:20 UTC",
                std::process::id(),
                gethostname::gethostname().display()
            )
        );
        test.sql("UPDATE starts SET ended_at = 30 WHERE run = 2");
        let at_work = test.ledger.at_work(test.service).unwrap().unwrap();
        assert_eq!(at_work.run, RunId(1));
    }
}
