//! What every kind of ledger writes for a group beside its claims and outcomes.

use super::attempts;
use super::earlier::NOTE_TOKEN;
use super::store::Value;
use super::{CellsDigest, Group, InvalidRow, ServiceId, Settlement, TokenUsed};
use crate::lead::{RowId, RunId, Status};

const ADD_INVALID: &str = "
INSERT INTO leadload.invalid_rows (run, row, file, line, campaign, cell, error_code, error)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (run, row) DO UPDATE SET file = excluded.file, line = excluded.line,
    campaign = excluded.campaign, cell = excluded.cell, error_code = excluded.error_code,
    error = excluded.error";

/// Cells that are not worth sending again unchanged. They count only when a rejects file of the run
/// holds them: see `ending`.
const ADD_BAD: &str = "
INSERT INTO leadload.known_bad AS bad (service, digest, run, row) VALUES ($1, $2, $3, $4)
ON CONFLICT (service, digest, run) DO UPDATE SET row = excluded.row
WHERE NOT bad.in_rejects AND bad.row > excluded.row";

const LEARN: &str = "
UPDATE leadload.services SET rate_requests = $2, rate_per_ms = $3, rate_is_stated = $4 WHERE id = $1";

/// A statement with its values.
pub(super) type Change<'a> = (&'static str, Vec<Value<'a>>);

/// When its rows were sent, its rows that cannot be sent, the cells that were found bad, its tokens and the
/// rate that was learned.
pub(super) fn changes(service: ServiceId, run: RunId, group: &Group) -> Vec<Change<'_>> {
    let attempted = group
        .settlements
        .iter()
        .filter_map(|settled| attempts::values(run, settled));
    let mut changes: Vec<Change<'_>> = attempted.map(|values| (attempts::RECORD, values)).collect();
    changes.extend(
        group
            .invalid
            .iter()
            .map(|row| (ADD_INVALID, invalid(run, row))),
    );
    let rejected = group.settlements.iter().filter_map(rejected_cells);
    let invalid = group.invalid.iter().map(|row| (row.row, &row.cells));
    changes.extend(rejected.chain(invalid).map(|(row, CellsDigest(digest))| {
        (
            ADD_BAD,
            vec![service.into(), digest.into(), run.into(), row.into()],
        )
    }));
    changes.extend(group.tokens.iter().map(|TokenUsed { token, ahead_s }| {
        (
            NOTE_TOKEN,
            vec![run.into(), (&**token).into(), (*ahead_s).into()],
        )
    }));
    changes.extend(group.learned.map(|known| {
        // A rate's span is between a millisecond and a day.
        let per_ms = u32::try_from(known.rate.per.as_millis()).unwrap_or(u32::MAX);
        let requests = known.rate.requests.get().into();
        let values = [
            service.into(),
            requests,
            per_ms.max(1).into(),
            known.is_stated.into(),
        ];
        (LEARN, values.into())
    }));
    changes
}

fn invalid(run: RunId, row: &InvalidRow) -> Vec<Value<'_>> {
    let code = row.outcome.error_code.map(|code| code.to_string());
    vec![
        run.into(),
        row.row.into(),
        row.file.into(),
        row.line.into(),
        row.campaign.into(),
        (&row.cell).into(),
        code.into(),
        row.outcome.error.as_deref().into(),
    ]
}

fn rejected_cells(settlement: &Settlement) -> Option<(RowId, &CellsDigest)> {
    let is_rejected = settlement.outcome.status == Status::Rejected;
    let cells = settlement.cells.as_ref().filter(|_| is_rejected)?;
    Some((settlement.claim.row, cells))
}
