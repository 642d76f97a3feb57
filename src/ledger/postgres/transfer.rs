//! What a ledger on a server has that a copy of a file does not bring.

use super::sql::ServerSql;
use crate::lead::Status;
use crate::ledger::coding::status_code;
use crate::ledger::store::Failed;

/// Which of the rows of a number has its claim: the earliest lead, or else the latest row that
/// may be one.
fn claim() -> String {
    let uncertain = status_code(Status::Uncertain);
    format!(
        "UPDATE leadload.sent AS s SET holds = true FROM (
            SELECT DISTINCT ON (number, service, campaign) run, row FROM leadload.sent
            WHERE status IN (0, 1, {uncertain})
            ORDER BY number, service, campaign, status, CASE WHEN status < 2 THEN settled_at END,
                CASE WHEN status < 2 THEN run ELSE -run END, row
        ) AS first
        WHERE s.run = first.run AND s.row = first.row"
    )
}

/// What the other kind of ledger does not have: counts added up, the pace, and numbers that
/// are given from now on.
const COMPLETE: [&str; 3] = [
    "UPDATE leadload.runs SET counted = (
        SELECT coalesce(sum(value::bigint), 0) FROM json_each_text(counts))",
    "INSERT INTO leadload.pace (service) SELECT id FROM leadload.services",
    "SELECT setval(pg_get_serial_sequence('leadload.services', 'id'), max(id)) FROM leadload.services
     HAVING max(id) IS NOT NULL",
];

/// Completes a copy of another ledger.
pub(super) fn complete(sql: &mut ServerSql<'_>) -> Result<(), Failed> {
    sql.batch(&claim())?;
    COMPLETE.iter().try_for_each(|complete| sql.batch(complete))
}
