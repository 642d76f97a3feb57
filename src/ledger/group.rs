//! What every kind of ledger writes for a group beside its claims and outcomes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::attempts;
use super::earlier::NOTE_TOKEN;
use super::store::{Value, places};
use super::{CellsDigest, Group, InvalidRow, ServiceId, Settlement, TokenUsed};
use crate::lead::{RowId, RunId, Status};

/// What stands before and behind the rows.
const ADD_INVALID: [&str; 2] = [
    "INSERT INTO leadload.invalid_rows (run, row, file, line, campaign, cell, error_code, error) VALUES ",
    " ON CONFLICT (run, row) DO UPDATE SET file = excluded.file, line = excluded.line,
        campaign = excluded.campaign, cell = excluded.cell, error_code = excluded.error_code,
        error = excluded.error",
];

/// Cells that are not worth sending again unchanged. They count only when a rejects file of the run
/// holds them: see `ending`.
const ADD_BAD: [&str; 2] = [
    "INSERT INTO leadload.known_bad AS bad (service, digest, run, row) VALUES ",
    " ON CONFLICT (service, digest, run) DO UPDATE SET row = excluded.row
        WHERE NOT bad.in_rejects AND bad.row > excluded.row",
];

/// How many rows one statement inserts.
const AT_ONCE: usize = 500;

const LEARN: &str = "
UPDATE leadload.services SET rate_requests = $2, rate_per_ms = $3, rate_is_stated = $4 WHERE id = $1";

/// A statement with its values.
pub(super) type Change<'a> = (Cow<'static, str>, Vec<Value<'a>>);

/// When its rows were sent, its rows that cannot be sent, the cells that were found bad, its tokens and the
/// rate that was learned.
pub(super) fn changes(service: ServiceId, run: RunId, group: &Group) -> Vec<Change<'_>> {
    let mut changes: Vec<Change<'_>> = Vec::new();
    let attempted = group.settlements.iter();
    let attempted = attempted.filter_map(|settled| attempts::values(run, settled));
    changes.extend(attempted.map(|values| (attempts::RECORD.into(), values)));
    let invalid: Vec<_> = group.invalid.iter().map(|row| invalid(run, row)).collect();
    changes.extend(inserting(ADD_INVALID, &invalid));
    // One statement changes no row twice: the first row that has these cells counts.
    let mut first: BTreeMap<&[u8; 16], RowId> = BTreeMap::new();
    let rejected = group.settlements.iter().filter_map(rejected_cells);
    let invalid = group.invalid.iter().map(|row| (row.row, &row.cells));
    for (row, CellsDigest(digest)) in rejected.chain(invalid) {
        let known = first.entry(digest).or_insert(row);
        *known = row.min(*known);
    }
    let bad = first.into_iter();
    let bad: Vec<_> = bad
        .map(|(digest, row)| [service.into(), digest.into(), run.into(), row.into()])
        .collect();
    changes.extend(inserting(ADD_BAD, &bad));
    changes.extend(group.tokens.iter().map(|TokenUsed { token, ahead_s }| {
        (
            NOTE_TOKEN.into(),
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
        (LEARN.into(), values.into())
    }));
    changes
}

fn inserting<'a, const N: usize>(
    [before, behind]: [&'static str; 2],
    rows: &[[Value<'a>; N]],
) -> impl Iterator<Item = Change<'a>> {
    rows.chunks(AT_ONCE).map(move |rows| {
        let insert = format!("{before}{}{behind}", places(rows.len(), N));
        (insert.into(), rows.as_flattened().to_vec())
    })
}

fn invalid(run: RunId, row: &InvalidRow) -> [Value<'_>; 8] {
    let code = row.outcome.error_code.map(|code| code.to_string());
    [
        run.into(),
        row.row.into(),
        row.file.into(),
        row.line.into(),
        row.campaign.into(),
        (&row.cell).into(),
        code.into(),
        row.outcome.error.as_ref().into(),
    ]
}

fn rejected_cells(settlement: &Settlement) -> Option<(RowId, &CellsDigest)> {
    let is_rejected = settlement.outcome.status == Status::Rejected;
    let cells = settlement.cells.as_ref().filter(|_| is_rejected)?;
    Some((settlement.claim.row, cells))
}
