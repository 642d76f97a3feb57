//! The journal: rows before their first request leaves, and what became of them.
//!
//! It is only appended to, a row for each group. Kept by number from the start a lead would
//! dirty a page of a large table twice; so outcomes wait here until many can be filed at
//! once (see [`super::filing`]).

use jiff::Timestamp;
use rusqlite::{
    Connection, OptionalExtension, Transaction, TransactionBehavior, named_params, params,
};
use serde::Serialize;

use super::columns::json;
use super::entries::Entries;
use super::paces::learn;
use super::recent;
use super::record::position;
use super::{CellsDigest, Group, Ledger, LedgerError, Refusal, ServiceId, Settlement};
use crate::lead::{RowId, RunId, Status};

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

const APPEND: &str = "INSERT INTO journal (run, entries) VALUES (?1, ?2)";

const REFUSE: &str = "
INSERT OR REPLACE INTO refusals (run, row, file, line, campaign, cell, error_code, error)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

const NOTE_BAD: &str = "
INSERT INTO known_bad (service, digest, run, row) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT DO UPDATE SET row = excluded.row WHERE NOT in_rejects AND row > excluded.row";

impl Ledger {
    /// The number of the service at this address, which is given one when it is new.
    pub fn service(&mut self, address: &str) -> Result<ServiceId, LedgerError> {
        let found = find_or_add(&mut self.db, address);
        self.checked(found)
    }

    /// Writes the group, of which claims count as the first: a row may be claimed and settled
    /// in one. When this returns, all of it is on disk; after an error nothing of it is in
    /// the ledger, and the same group can be committed again.
    pub fn commit(&mut self, run: RunId, group: &Group) -> Result<(), LedgerError> {
        self.refuse_replaced()?;
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
    append(&change, run, &Entries::of(group))?;
    refuse(&change, run, &group.refusals)?;
    let rejected = group.settlements.iter().filter_map(rejected_cells);
    let refused = group
        .refusals
        .iter()
        .map(|refusal| (refusal.row, refusal.cells));
    note_bad(&change, service, run, rejected.chain(refused))?;
    if let Some(learned) = group.learned {
        learn(&change, service, learned, Timestamp::now())?;
    }
    recent::add(&change, service, &group.starts)?;
    if let Some(pause) = group.pause {
        recent::pause(&change, service, pause)?;
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

/// Writes a line at the end of the journal; none where there is nothing to write.
pub(super) fn append<T: Serialize>(
    change: &Transaction<'_>,
    run: i64,
    entries: &Entries<T>,
) -> rusqlite::Result<()> {
    if !entries.is_empty() {
        let mut append = change.prepare_cached(APPEND)?;
        append.execute(params![run, entries.json()?])?;
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

/// Notes cells that are not worth sending again as they are. They count once a rejects file
/// of the run holds them: see `runs::end`.
fn note_bad(
    change: &Transaction<'_>,
    service: ServiceId,
    run: i64,
    bad: impl Iterator<Item = (RowId, CellsDigest)>,
) -> rusqlite::Result<()> {
    let mut insert = change.prepare_cached(NOTE_BAD)?;
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
