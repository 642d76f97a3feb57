//! Writes the rows that cannot be sent, and remembers the cells of all that were found bad.

use std::collections::BTreeMap;

use tokio_postgres::types::Type;

use super::record::storable;
use super::statements::{Answers, Statement};
use crate::lead::Status;
use crate::ledger::Group;

const INVALID: &str = "
INSERT INTO leadload.invalid_rows (run, row, file, line, campaign, cell, error_code, error)
SELECT $1, * FROM unnest($2::bigint[], $3::integer[], $4::bigint[], $5::bigint[], $6::text[],
    $7::text[], $8::text[])
ON CONFLICT (run, row) DO UPDATE SET file = excluded.file, line = excluded.line,
    campaign = excluded.campaign, cell = excluded.cell, error_code = excluded.error_code,
    error = excluded.error";

const BAD: &str = "
INSERT INTO leadload.known_bad (service, digest, run, row)
SELECT $1, digest, $2, row FROM unnest($3::bytea[], $4::bigint[]) AS t (digest, row)
ORDER BY digest
ON CONFLICT (service, digest, run) DO UPDATE SET row = excluded.row
WHERE NOT known_bad.in_rejects AND known_bad.row > excluded.row";

/// Adds the rows that cannot be sent, and the digests of all that were found bad.
pub(super) fn add_bad_rows(all: &mut Vec<Statement>, service: i64, run: i64, group: &Group) {
    let invalid = &group.invalid;
    if !invalid.is_empty() {
        let rows = invalid.iter().map(|row| row.row.0.cast_signed());
        let files = invalid
            .iter()
            .map(|row| i32::try_from(row.file).unwrap_or(i32::MAX));
        let lines = invalid.iter().map(|row| row.line.cast_signed());
        let campaigns = invalid.iter().map(|row| row.campaign.map(|id| id.0));
        let cells = invalid.iter().map(|row| storable(&row.cell));
        let codes = invalid
            .iter()
            .map(|row| row.outcome.error_code.map(|code| code.to_string()));
        let errors = invalid
            .iter()
            .map(|row| row.outcome.error.as_deref().map(storable));
        all.push(
            Statement::new(INVALID, Answers::Nothing)
                .int8(run)
                .value(rows.collect::<Vec<i64>>(), Type::INT8_ARRAY)
                .value(files.collect::<Vec<i32>>(), Type::INT4_ARRAY)
                .value(lines.collect::<Vec<i64>>(), Type::INT8_ARRAY)
                .value(campaigns.collect::<Vec<Option<i64>>>(), Type::INT8_ARRAY)
                .value(cells.collect::<Vec<String>>(), Type::TEXT_ARRAY)
                .value(codes.collect::<Vec<Option<String>>>(), Type::TEXT_ARRAY)
                .value(errors.collect::<Vec<Option<String>>>(), Type::TEXT_ARRAY),
        );
    }
    let rejected = group.settlements.iter().filter_map(|settled| {
        let is_rejected = settled.outcome.status == Status::Rejected;
        let cells = settled.cells.filter(|_| is_rejected)?;
        Some((cells, settled.claim.row))
    });
    let mut first: BTreeMap<[u8; 16], i64> = BTreeMap::new();
    for (cells, row) in rejected.chain(invalid.iter().map(|row| (row.cells, row.row))) {
        let row = row.0.cast_signed();
        let known = first.entry(cells.0).or_insert(row);
        *known = row.min(*known);
    }
    if !first.is_empty() {
        let digests: Vec<Vec<u8>> = first.keys().map(|digest| digest.to_vec()).collect();
        let rows: Vec<i64> = first.values().copied().collect();
        let bad = Statement::new(BAD, Answers::Nothing)
            .int8(service)
            .int8(run);
        let bad = bad.value(digests, Type::BYTEA_ARRAY);
        all.push(bad.value(rows, Type::INT8_ARRAY));
    }
}
