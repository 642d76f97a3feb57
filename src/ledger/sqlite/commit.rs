//! Writes groups of claims and outcomes, each group completely or not at all.

use rusqlite::{Connection, OptionalExtension, Transaction, named_params, params};

use super::columns::{Json, json, position};
use super::{
    CellsDigest, Group, InvalidRow, LedgerError, Reply, ServiceId, Settlement, SqliteLedger,
};
use super::{attempts, journal, pace, suppressed};
use crate::lead::{Counts, RowId, RunId, Status};
use crate::ledger::TokenUsed;

const ADD_SERVICE: &str = "INSERT INTO services (address) VALUES (?1) RETURNING id";

/// A run that continues counts from zero again; the higher
/// counts of earlier starts stay until it has passed them.
const RECORD_PROGRESS: &str = "
UPDATE runs SET
    reached = max(reached, :reached),
    counts = CASE
        WHEN :total >= (SELECT coalesce(sum(value), 0) FROM json_each(runs.counts))
        THEN :counts ELSE counts
    END
WHERE id = :run
RETURNING service";

/// Not of a run that was begun before tokens were noted. A run has the clock of its first start, by which
/// it began.
const NOTE_TOKEN: &str = "
UPDATE runs SET token = CASE token WHEN '' THEN ?2 WHEN ?2 THEN token ELSE '-' END,
    ahead_s = coalesce(ahead_s, CASE (SELECT count(*) FROM starts WHERE run = ?1) WHEN 1 THEN ?3 END)
WHERE id = ?1 AND token IS NOT NULL";

const ADD_INVALID: &str = "
INSERT OR REPLACE INTO invalid_rows (run, row, file, line, campaign, cell, error_code, error)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

const ADD_BAD: &str = "
INSERT INTO known_bad (service, digest, run, row) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT DO UPDATE SET row = excluded.row WHERE NOT in_rejects AND row > excluded.row";

impl SqliteLedger {
    /// The service at this address; `None` if no lead was ever sent there.
    pub fn known_service(&self, address: &str) -> Result<Option<ServiceId>, LedgerError> {
        self.reading(|db| service_at(db, address))
    }

    /// The service at this address, which is added if it is new.
    pub fn service(&mut self, address: &str) -> Result<ServiceId, LedgerError> {
        // Usually the service is known, and then nothing
        // is written: another process may be writing.
        if let Some(known) = self.known_service(address)? {
            return Ok(known);
        }
        self.changing(|change| match service_at(change, address)? {
            Some(known) => Ok(known),
            None => change.query_row(ADD_SERVICE, [address], |row| row.get(0).map(ServiceId)),
        })
    }

    /// Writes the group. Its claims come before its settlements, so a row may be claimed
    /// and settled in one group. When this returns, the whole group is on disk; after an
    /// error nothing of it is in the ledger, and the same group can be committed again.
    pub fn commit(&mut self, run: RunId, group: &Group) -> Result<Reply, LedgerError> {
        self.refuse_replaced()?;
        let (service, suppressed) = self.changing(|change| {
            let service = write(change, run, group)?;
            let known = group.suppressed_to;
            let new = known.map(|known| suppressed::after(change, known));
            Ok((service, new.transpose()?))
        })?;
        self.filing.count(service, group.settlements.len());
        Ok(Reply {
            suppressed,
            ..Reply::default()
        })
    }

    /// Notes a token with which leads of the run were made.
    pub fn note_token(&mut self, run: RunId, token: &str) -> Result<(), LedgerError> {
        let values = params![run.0, token, None::<i64>];
        self.changing(|change| change.execute(NOTE_TOKEN, values))?;
        Ok(())
    }
}

fn service_at(db: &Connection, address: &str) -> rusqlite::Result<Option<ServiceId>> {
    let sql = "SELECT id FROM services WHERE address = ?1";
    let found = db.query_row(sql, [address], |row| row.get(0).map(ServiceId));
    found.optional()
}

fn write(change: &Transaction<'_>, run: RunId, group: &Group) -> rusqlite::Result<ServiceId> {
    // This comes first since it fails if there is no such run.
    let service = record_progress(change, run.0.cast_signed(), group)?;
    journal::append(change, run, group)?;
    for settled in &group.settlements {
        attempts::record(change, "attempts", run, settled)?;
    }
    let run = run.0.cast_signed();
    add_invalid(change, run, &group.invalid)?;
    let rejected = group.settlements.iter().filter_map(rejected_cells);
    let invalid = group.invalid.iter().map(|row| (row.row, row.cells));
    add_bad(change, service, run, rejected.chain(invalid))?;
    for TokenUsed { token, ahead_s } in &group.tokens {
        change.execute(NOTE_TOKEN, params![run, token, ahead_s])?;
    }
    pace::record(change, service, group)?;
    Ok(service)
}

fn record_progress(
    change: &Transaction<'_>,
    run: i64,
    group: &Group,
) -> rusqlite::Result<ServiceId> {
    let claimed = group.claims.iter().map(|claim| claim.row.0);
    let counts = json(&group.counts)?;
    let values = named_params! {
        ":run": run,
        ":reached": claimed.max().unwrap_or_default().cast_signed(),
        ":total": group.counts.total().cast_signed(),
        ":counts": counts,
    };
    let mut record = change.prepare_cached(RECORD_PROGRESS)?;
    Ok(ServiceId(record.query_row(values, |row| row.get(0))?))
}

/// Changes the counts of a run that is not being sent.
pub(super) fn change_counts(
    change: &Transaction<'_>,
    run: RunId,
    work: impl FnOnce(&mut Counts),
) -> rusqlite::Result<()> {
    let counts = "SELECT counts FROM runs WHERE id = ?1";
    let Json(mut counts): Json<Counts> = change.query_row(counts, [run.0], |row| row.get(0))?;
    work(&mut counts);
    let update = "UPDATE runs SET counts = ?2 WHERE id = ?1";
    change.execute(update, params![run.0, json(&counts)?])?;
    Ok(())
}

fn add_invalid(change: &Transaction<'_>, run: i64, rows: &[InvalidRow]) -> rusqlite::Result<()> {
    let mut insert = change.prepare_cached(ADD_INVALID)?;
    for row in rows {
        insert.execute(params![
            run,
            row.row.0.cast_signed(),
            position(row.file),
            row.line.cast_signed(),
            row.campaign.map(|campaign| campaign.0),
            row.cell,
            row.outcome.error_code.map(|code| code.to_string()),
            row.outcome.error,
        ])?;
    }
    Ok(())
}

/// Records cells that are not worth sending again unchanged. They count
/// only when a rejects file of the run holds them: see `runs::end`.
fn add_bad(
    change: &Transaction<'_>,
    service: ServiceId,
    run: i64,
    bad: impl Iterator<Item = (RowId, CellsDigest)>,
) -> rusqlite::Result<()> {
    let mut insert = change.prepare_cached(ADD_BAD)?;
    for (row, digest) in bad {
        insert.execute(params![service.0, digest.0, run, row.0.cast_signed()])?;
    }
    Ok(())
}

fn rejected_cells(settlement: &Settlement) -> Option<(RowId, CellsDigest)> {
    let is_rejected = settlement.outcome.status == Status::Rejected;
    let cells = settlement.cells.filter(|_| is_rejected)?;
    Some((settlement.claim.row, cells))
}
