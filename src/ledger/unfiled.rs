//! Rows that are in the journal still, made known to whoever only looks: those of a run
//! that is being sent, or that was killed.
//!
//! Nothing in the ledger is changed. The rows are copied into a table of the connection's
//! own, and a view that has the name of the table where all others are found puts the two
//! together.

use rusqlite::{Connection, params};

use super::record::status_code;
use super::recover::NO_ANSWER;
use super::{LedgerError, Recall, ServiceId, journal_tables};
use crate::lead::{ErrorCode, Status};

const IS_FILED: &str = "
SELECT NOT EXISTS (SELECT 1 FROM claims) AND NOT EXISTS (SELECT 1 FROM outcomes)";

const COPY: &str = "
CREATE TEMP TABLE unfiled AS SELECT * FROM main.sent LIMIT 0;
CREATE INDEX temp.unfiled_by_number ON unfiled (number, service, campaign);
CREATE TEMP VIEW sent AS SELECT * FROM main.sent UNION ALL SELECT * FROM temp.unfiled;
";

/// The tables that were copied from.
const DROP: &str = "
DROP TABLE temp.claims;
DROP TABLE temp.outcomes";

/// What is claimed may have been taken.
const FILL: &str = "
INSERT INTO temp.unfiled
    (service, number, campaign, run, row, file, line_offset, status, http_status,
     attempts, lead_id, settled_at, error_code, error)
SELECT ?1, number, campaign, run, row, file, line_offset, status, http_status,
     attempts, lead_id, settled_at, error_code, error
FROM outcomes WHERE run IN (SELECT id FROM runs WHERE service = ?1)
UNION ALL
SELECT ?1, number, campaign, run, row, file, line_offset, ?2, NULL,
     1, NULL, NULL, ?3, ?4
FROM claims WHERE run IN (SELECT id FROM runs WHERE service = ?1)";

impl Recall {
    /// Makes known what is not filed yet of a service, as it is at this instant.
    ///
    /// # Errors
    ///
    /// Where the ledger cannot be read, or there is no room for temporary files.
    pub fn know_unfiled(&mut self, service: ServiceId) -> Result<(), LedgerError> {
        let copied = copy(&self.ledger.db, service);
        self.ledger.checked(copied)
    }
}

fn copy(db: &Connection, service: ServiceId) -> rusqlite::Result<()> {
    let change = db.unchecked_transaction()?;
    journal_tables::make(&change, Some(service))?;
    let is_filed: bool = change.query_row(IS_FILED, [], |row| row.get(0))?;
    if !is_filed {
        change.execute_batch(COPY)?;
        let values = params![
            service.0,
            status_code(Status::Uncertain),
            ErrorCode::AnswerLost.to_string(),
            NO_ANSWER,
        ];
        change.execute(FILL, values)?;
    }
    change.execute_batch(DROP)?;
    change.commit()
}
