//! The journal: rows before their first request leaves, and what became of them.
//!
//! Claims are few, and outcomes only appended. Kept by number from the start a lead would
//! dirty a page of a large table twice; so outcomes wait here until many can be filed at
//! once (see [`super::filing`]).

use jiff::Timestamp;
use rusqlite::{
    Connection, OptionalExtension, Transaction, TransactionBehavior, named_params, params,
};

use super::lead_id::LeadId;
use super::paces::learn;
use super::record::{line_offset, status_code};
use super::{CellsDigest, Claim, Group, Ledger, LedgerError, Refusal, ServiceId, Settlement};
use crate::lead::{Counts, RowId, RunId, Status};

const ADD_SERVICE: &str = "INSERT INTO services (address) VALUES (?1) RETURNING id";

/// A run that goes on counts from the beginning again: what it knows already is not
/// forgotten for that.
const NOTE_PROGRESS: &str = "
UPDATE runs SET
    has_sent = has_sent OR :has_claims,
    counts = CASE
        WHEN :total >= (SELECT coalesce(sum(value), 0) FROM json_each(runs.counts))
        THEN :counts ELSE counts
    END
WHERE id = :run
RETURNING service";

const CLAIM: &str = "
INSERT OR REPLACE INTO claims (run, row, file, line_offset, number, campaign)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const SETTLE: &str = "
INSERT INTO outcomes
    (run, row, file, line_offset, number, campaign,
     status, http_status, attempts, lead_id, settled_at, error_code, error)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";

const RELEASE: &str = "DELETE FROM claims WHERE run = ?1 AND row = ?2";

const REFUSE: &str = "
INSERT OR REPLACE INTO refusals (run, row, file, line, campaign, cell, error_code, error)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

const NOTE_BAD: &str = "INSERT OR IGNORE INTO known_bad (service, digest, run) VALUES (?1, ?2, ?3)";

impl Ledger {
    /// The number of the service at this address, which is given one when it is new.
    pub fn service(&mut self, address: &str) -> Result<ServiceId, LedgerError> {
        let found = find_or_add(&mut self.db, address);
        self.checked(found)
    }

    /// Writes the group: claims, then settlements, then releases, then refusals, and what
    /// was learned of the run's service. When this returns, all of it is on disk; after an error nothing of it is in the ledger,
    /// and the same group can be committed again.
    ///
    /// A row is settled or released only after it has been claimed.
    pub fn commit(&mut self, run: RunId, group: &Group) -> Result<(), LedgerError> {
        // A file that nobody finds again could be written for ever without an error.
        if !self.path.exists() {
            return Err(LedgerError::Gone {
                path: self.path.clone(),
            });
        }
        let committed = write(&mut self.db, run, group);
        let service = self.checked(committed)?;
        self.filing.note(service, group.settlements.len());
        Ok(())
    }
}

/// Most often it is known, and then nothing is written: somebody else may be at it.
fn find_or_add(db: &mut Connection, address: &str) -> rusqlite::Result<ServiceId> {
    if let Some(known) = service_at(db, address)? {
        return Ok(known);
    }
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let id = match service_at(&change, address)? {
        Some(known) => known,
        None => change.query_row(ADD_SERVICE, [address], |row| row.get(0).map(ServiceId))?,
    };
    change.commit()?;
    Ok(id)
}

/// The service at this address, where it is known.
pub(super) fn service_at(db: &Connection, address: &str) -> rusqlite::Result<Option<ServiceId>> {
    let sql = "SELECT id FROM services WHERE address = ?1";
    let found = db.query_row(sql, [address], |row| row.get(0).map(ServiceId));
    found.optional()
}

fn write(db: &mut Connection, run: RunId, group: &Group) -> rusqlite::Result<ServiceId> {
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let run = run.0.cast_signed();
    // First, since it fails where there is no such run.
    let service = note_progress(&change, run, group)?;
    claim(&change, run, &group.claims)?;
    settle(&change, run, &group.settlements)?;
    release(&change, run, &group.releases)?;
    refuse(&change, run, &group.refusals)?;
    let rejected = group.settlements.iter().filter_map(rejected_cells);
    let refused = group.refusals.iter().map(|refusal| refusal.cells);
    note_bad(&change, service, run, rejected.chain(refused))?;
    if let Some(learned) = group.learned {
        learn(&change, service, learned, Timestamp::now())?;
    }
    change.commit()?;
    Ok(service)
}

fn note_progress(change: &Transaction<'_>, run: i64, group: &Group) -> rusqlite::Result<ServiceId> {
    let counts = json(&group.counts)?;
    let values = named_params! {
        ":run": run,
        ":has_claims": !group.claims.is_empty(),
        ":total": group.counts.total().cast_signed(),
        ":counts": counts,
    };
    let mut note = change.prepare_cached(NOTE_PROGRESS)?;
    Ok(ServiceId(note.query_row(values, |row| row.get(0))?))
}

fn json(counts: &Counts) -> rusqlite::Result<String> {
    serde_json::to_string(counts)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

fn claim(change: &Transaction<'_>, run: i64, claims: &[Claim]) -> rusqlite::Result<()> {
    let mut insert = change.prepare_cached(CLAIM)?;
    for claim in claims {
        insert.execute(params![
            run,
            claim.row.0.cast_signed(),
            position(claim.file),
            line_offset(claim.row, claim.line),
            claim.number.key().cast_signed(),
            claim.campaign.0,
        ])?;
    }
    Ok(())
}

/// An outcome takes its claim's place. One without a claim is a mistake of whoever
/// settles, and nothing of its group is written.
fn settle(change: &Transaction<'_>, run: i64, settlements: &[Settlement]) -> rusqlite::Result<()> {
    let mut insert = change.prepare_cached(SETTLE)?;
    let mut delete = change.prepare_cached(RELEASE)?;
    for Settlement { claim, outcome, .. } in settlements {
        let deleted = delete.execute([run, claim.row.0.cast_signed()])?;
        if deleted != 1 {
            return Err(rusqlite::Error::StatementChangedRows(deleted));
        }
        insert.execute(params![
            run,
            claim.row.0.cast_signed(),
            position(claim.file),
            line_offset(claim.row, claim.line),
            claim.number.key().cast_signed(),
            claim.campaign.0,
            status_code(outcome.status),
            outcome.http_status,
            outcome.attempts,
            outcome.lead_id.as_deref().map(LeadId),
            outcome.settled_at.map(|time| time.as_second()),
            outcome.error_code.map(|code| code.to_string()),
            outcome.error,
        ])?;
    }
    Ok(())
}

fn release(change: &Transaction<'_>, run: i64, rows: &[RowId]) -> rusqlite::Result<()> {
    let mut delete = change.prepare_cached(RELEASE)?;
    for row in rows {
        delete.execute([run, row.0.cast_signed()])?;
    }
    Ok(())
}

fn refuse(change: &Transaction<'_>, run: i64, refusals: &[Refusal]) -> rusqlite::Result<()> {
    let mut insert = change.prepare_cached(REFUSE)?;
    for refusal in refusals {
        insert.execute(params![
            run,
            refusal.row.0.cast_signed(),
            position(refusal.file),
            refusal.line.cast_signed(),
            refusal.campaign.map(|campaign| campaign.0),
            refusal.cell,
            refusal.outcome.error_code.map(|code| code.to_string()),
            refusal.outcome.error,
        ])?;
    }
    Ok(())
}

/// Notes cells that are not worth sending again as they are; the first run to find so
/// stays the one that did.
fn note_bad(
    change: &Transaction<'_>,
    service: ServiceId,
    run: i64,
    digests: impl Iterator<Item = CellsDigest>,
) -> rusqlite::Result<()> {
    let mut insert = change.prepare_cached(NOTE_BAD)?;
    for digest in digests {
        insert.execute(params![service.0, digest.0, run])?;
    }
    Ok(())
}

fn rejected_cells(settlement: &Settlement) -> Option<CellsDigest> {
    let is_rejected = settlement.outcome.status == Status::Rejected;
    settlement.cells.filter(|_| is_rejected)
}

/// The place of an input among the others, of which there are few.
fn position(file: usize) -> i64 {
    (file as u64).cast_signed()
}
