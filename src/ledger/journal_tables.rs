//! The journal as two tables, `claims` and `outcomes`, for whoever only looks.
//!
//! They are the connection's own, and hold the journal as it is when they are made.

use rusqlite::Transaction;

use super::ServiceId;
use super::insert::Insert;
use super::replay::{Replay, follow};

const CREATE: &str = "
CREATE TEMP TABLE claims (run, row, file, line_offset, number, campaign);
CREATE TEMP TABLE outcomes (
    seq INTEGER PRIMARY KEY, number, campaign, run, row, file, line_offset,
    status, http_status, attempts, lead_id, settled_at, error_code, error
)";

const CLAIM: Insert<6> =
    Insert("INSERT INTO temp.claims (number, campaign, run, row, file, line_offset)");

const SETTLE: Insert<13> = Insert(
    "INSERT INTO temp.outcomes
    (number, campaign, run, row, file, line_offset,
     status, http_status, attempts, lead_id, settled_at, error_code, error)",
);

/// Makes the tables of what the journal has of one service, or of all, within a transaction:
/// what is filed meanwhile is in the tables still for whoever reads in the same one.
pub(super) fn make(change: &Transaction<'_>, service: Option<ServiceId>) -> rusqlite::Result<()> {
    change.execute_batch(CREATE)?;
    let mut replay = Replay::default();
    follow(change, service, 0, |_, run, entries| {
        // A group at a time: there may be hundreds of thousands of rows.
        let outcomes = replay.take(run, entries);
        SETTLE.all(change, &outcomes, |outcome| {
            outcome.shortened().columns(run)
        })?;
        Ok(true)
    })?;
    let open: Vec<_> = replay.open.into_iter().collect();
    CLAIM.all(change, &open, |((run, _), claim)| claim.columns(*run))
}
