//! What a run looks up about earlier runs.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension, params};

use super::coding::place;
use super::columns::{Seconds, all};
use super::history::tag;
use super::{AtWork, LedgerError, LockHolder, ServiceId, Sha256, SqliteLedger, StoredDefaults};
use crate::lead::{CampaignId, RunId};

const CAMPAIGNS_NAMED: &str = "
SELECT runs.id, key, value
FROM runs, json_each(coalesce(options -> '$.campaign_ids', campaign_ids, '{}'))
WHERE service = ?1
ORDER BY (SELECT max(seq) FROM starts WHERE run = runs.id)";

const SENDERS: &str = "
SELECT DISTINCT runs.id FROM runs JOIN inputs ON run = runs.id
WHERE service = ?1 AND reached > 0 AND (place = ?2 OR sha256 = ?3)";

const DEFAULTS: &str = "
SELECT defaults, address, tag FROM runs JOIN services ON services.id = service
WHERE runs.id = ?1";

const AT_WORK: &str = "
SELECT run, process, starts.began_at, host, started_by FROM starts JOIN runs ON runs.id = run
WHERE service = ?1 AND ended_at IS NULL AND stopped_by IS NULL
ORDER BY seq DESC LIMIT 1";

impl SqliteLedger {
    /// The campaigns that runs of the service have named, with their ids then, in the order of the
    /// runs.
    pub fn campaigns_named(
        &self,
        service: ServiceId,
    ) -> Result<Vec<(RunId, String, CampaignId)>, LedgerError> {
        self.reading(|db| {
            all(db, CAMPAIGNS_NAMED, [service.0], |row| {
                Ok((RunId(row.get(0)?), row.get(1)?, CampaignId(row.get(2)?)))
            })
        })
    }

    /// The runs that have sent any of these inputs to the service, in
    /// order. An input is recognized by its path or by its content.
    pub fn senders_of(
        &self,
        service: ServiceId,
        inputs: &[(Option<PathBuf>, Sha256)],
    ) -> Result<Vec<RunId>, LedgerError> {
        let found = self.reading(|db| {
            let mut found: BTreeSet<RunId> = BTreeSet::new();
            for (path, sha256) in inputs {
                let values = params![service.0, path.as_deref().map(place), sha256];
                let runs: Vec<RunId> = all(db, SENDERS, values, |row| row.get(0).map(RunId))?;
                found.extend(runs);
            }
            Ok(found)
        });
        Ok(found?.into_iter().collect())
    }

    /// The defaults for a rejects file of this run; `None` if there is no such run.
    pub fn defaults_of(&self, run: RunId) -> Result<Option<StoredDefaults>, LedgerError> {
        let columns = "SELECT columns FROM inputs WHERE run = ?1 ORDER BY position";
        self.reading(|db| {
            let found = db.query_row(DEFAULTS, [run.0], |row| {
                Ok(StoredDefaults {
                    tag: tag(row)?,
                    defaults: row.get(0)?,
                    service: row.get(1)?,
                    columns: all(db, columns, [run.0], |row| row.get(0))?,
                })
            });
            found.optional()
        })
    }

    /// The latest start for this service that has no end. If the sender's lock is held,
    /// this is the process that is sending; if it is free, the one that was killed last.
    pub fn at_work(&self, service: ServiceId) -> Result<Option<AtWork>, LedgerError> {
        self.reading(|db| at_work(db, service))
    }
}

pub(super) fn at_work(db: &Connection, service: ServiceId) -> rusqlite::Result<Option<AtWork>> {
    let found = db.query_row(AT_WORK, [service.0], |row| {
        let Seconds(since) = row.get(2)?;
        Ok(AtWork {
            run: RunId(row.get(0)?),
            by: LockHolder {
                process: row.get(1)?,
                host: row.get(3)?,
                user: row.get(4)?,
                since,
            },
        })
    });
    found.optional()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::NewRun;
    use crate::ledger::sqlite::testing::{TestLedger, at, input};

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
            tag: begun.tag,
            service: "https://service.example".into(),
            defaults: Some(run.defaults.clone()),
            columns: vec![[1; 32], [2; 32]],
        };
        let known = test.ledger.defaults_of(begun.run).unwrap();
        assert_eq!(known, Some(defaults.clone()));
        assert_eq!(test.ledger.defaults_of(RunId(7)).unwrap(), None);
        test.sql("UPDATE runs SET defaults = NULL");
        let pruned = StoredDefaults {
            defaults: None,
            ..defaults
        };
        let known = test.ledger.defaults_of(begun.run).unwrap();
        assert_eq!(known, Some(pruned));
    }

    #[test]
    fn the_active_run_is_the_latest_start_without_an_end() {
        let mut test = TestLedger::new();
        assert_eq!(test.ledger.at_work(test.service).unwrap(), None);
        for (content, second) in [(1, 10), (2, 20)] {
            let run = test.run_of(content);
            test.ledger.begin(&run, at(second)).unwrap();
        }
        let at_work = test.ledger.at_work(test.service).unwrap().unwrap();
        let (host, user) = super::super::coding::here();
        assert_eq!(
            at_work.to_string(),
            format!(
                "another run is sending: run 2, process {} of {user} on {host}, since 1970-01-01 00:00:20 UTC",
                std::process::id(),
            )
        );
        test.sql("UPDATE starts SET ended_at = 30 WHERE run = 2");
        let at_work = test.ledger.at_work(test.service).unwrap().unwrap();
        assert_eq!(at_work.run, RunId(1));
    }
}
