//! Makes rows that are still in the journal visible to a
//! reader: rows of a run that is being sent or was killed.
//!
//! Nothing in the ledger is changed. The rows, and the times of their attempts, are copied into temporary
//! tables of this connection. Temporary views, `sent_seen` and `attempts_seen`, combine them with the tables
//! of filed rows.

use rusqlite::{Connection, Transaction};

use super::journal::{Replay, follow};
use super::recover::outcomes_of_open;
use super::sql::FileSql;
use super::{ServiceId, Settlement, record};
use crate::lead::RunId;
use crate::ledger::attempts;
use crate::ledger::earlier::services;
use crate::ledger::record::NO_ANSWER_YET;
use crate::ledger::store::{Failed, Sql};

const CREATE: &str = "
CREATE TEMP TABLE unfiled AS SELECT * FROM main.sent LIMIT 0;
CREATE UNIQUE INDEX temp.unfiled_by_row ON unfiled (number, service, campaign, run, row);
CREATE TEMP VIEW sent_seen AS
SELECT *, 0 AS is_busy FROM temp.unfiled
UNION ALL
SELECT *, 0 FROM main.sent AS filed WHERE NOT EXISTS (
    SELECT 1 FROM temp.unfiled AS newer
    WHERE newer.number = filed.number AND newer.service = filed.service
        AND newer.campaign = filed.campaign AND newer.run = filed.run AND newer.row = filed.row
);
CREATE TEMP TABLE unfiled_attempts (
    run INTEGER, row INTEGER, first_ms INTEGER, last_ms INTEGER, ended_ms INTEGER,
    PRIMARY KEY (run, row, first_ms)
) STRICT, WITHOUT ROWID;
CREATE TEMP VIEW attempts_seen AS
SELECT * FROM temp.unfiled_attempts
UNION ALL
SELECT run, row, first_ms, last_ms, ended_ms FROM main.attempts AS filed WHERE NOT EXISTS (
    SELECT 1 FROM temp.unfiled_attempts AS newer
    WHERE newer.run = filed.run AND newer.row = filed.row AND newer.first_ms = filed.first_ms
);
";

/// Makes the rows of all services visible.
pub(super) fn show_all(change: &Transaction<'_>) -> Result<(), Failed> {
    show(change, services(&mut FileSql::new(change))?)
}

/// Makes the services' rows visible, as they are in this transaction. A claimed
/// row without an outcome appears as uncertain: it may have been taken.
pub(super) fn show(
    change: &Transaction<'_>,
    services: impl IntoIterator<Item = ServiceId>,
) -> Result<(), Failed> {
    change.execute_batch(CREATE)?;
    let record_attempts = attempts::RECORD.replace("leadload.attempts", "temp.unfiled_attempts");
    for service in services {
        let mut replay = Replay::default();
        follow(change, Some(service), 0, |_, run, entries| {
            // One journal line at a time: there may be hundreds of thousands of rows.
            let outcomes = replay.take(run, entries).into_iter();
            let outcomes: Vec<_> = outcomes.map(|outcome| (run, outcome)).collect();
            record::store(change, "temp.unfiled", service, &outcomes)?;
            Ok(true)
        })?;
        let uncertain = outcomes_of_open(change, service, replay.open, NO_ANSWER_YET)?;
        record::store(change, "temp.unfiled", service, &uncertain)?;
        for (run, settled) in &uncertain {
            if let Some(values) = attempts::values(*run, settled) {
                FileSql::new(change).change(&record_attempts, &values)?;
            }
        }
    }
    Ok(())
}

/// The claims of a service that have no outcome, as uncertain rows.
pub(super) fn open_claims(
    db: &Connection,
    service: ServiceId,
) -> rusqlite::Result<Vec<(RunId, Settlement)>> {
    let mut replay = Replay::default();
    follow(db, Some(service), 0, |_, run, entries| {
        drop(replay.take(run, entries));
        Ok(true)
    })?;
    outcomes_of_open(db, service, replay.open, NO_ANSWER_YET)
}
