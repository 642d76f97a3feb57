//! Makes rows that are still in the journal visible to a
//! reader: rows of a run that is being sent or was killed.
//!
//! Nothing in the ledger is changed. The rows, and the times of their attempts, are copied into temporary
//! tables of this connection. Temporary views with the names `sent` and `attempts` hide the tables of filed
//! rows and combine both.

use rusqlite::{Connection, Transaction};

use super::journal::{Replay, follow};
use super::recover::outcomes_of_open;
use super::{ServiceId, Settlement, attempts, record};
use crate::lead::RunId;
use crate::ledger::record::NO_ANSWER_YET;

const CREATE: &str = "
CREATE TEMP TABLE unfiled (
    number INTEGER, service INTEGER, campaign INTEGER, run INTEGER, row INTEGER, file INTEGER,
    line_offset INTEGER, status INTEGER, http_status INTEGER, attempts INTEGER, lead_id ANY,
    settled_at INTEGER, error_code TEXT, error TEXT,
    PRIMARY KEY (number, service, campaign, run, row)
) STRICT, WITHOUT ROWID;
CREATE TEMP VIEW sent AS
SELECT * FROM temp.unfiled
UNION ALL
SELECT * FROM main.sent AS filed WHERE NOT EXISTS (
    SELECT 1 FROM temp.unfiled AS newer
    WHERE newer.number = filed.number AND newer.service = filed.service
        AND newer.campaign = filed.campaign AND newer.run = filed.run AND newer.row = filed.row
);
CREATE TEMP TABLE unfiled_attempts (
    run INTEGER, row INTEGER, first_ms INTEGER, last_ms INTEGER, ended_ms INTEGER,
    PRIMARY KEY (run, row, first_ms)
) STRICT, WITHOUT ROWID;
CREATE TEMP VIEW attempts AS
SELECT * FROM temp.unfiled_attempts
UNION ALL
SELECT run, row, first_ms, last_ms, ended_ms FROM main.attempts AS filed WHERE NOT EXISTS (
    SELECT 1 FROM temp.unfiled_attempts AS newer
    WHERE newer.run = filed.run AND newer.row = filed.row AND newer.first_ms = filed.first_ms
);
";

/// Makes the services' rows visible, as they are in this transaction. A claimed
/// row without an outcome appears as uncertain: it may have been taken.
pub(super) fn show(
    change: &Transaction<'_>,
    services: impl IntoIterator<Item = ServiceId>,
) -> rusqlite::Result<()> {
    change.execute_batch(CREATE)?;
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
            attempts::record(change, "temp.unfiled_attempts", *run, settled)?;
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
