//! Changes the counts of a run that is not being sent.

use super::row::Json;
use super::store::{Failed, Sql, Value};
use crate::lead::{Counts, RunId};

/// The counts of a run, which nobody else changes until the transaction ends.
pub(super) fn to_change(sql: &mut dyn Sql, run: RunId) -> Result<Counts, Failed> {
    let counts = "SELECT counts FROM leadload.runs WHERE id = $1 /*server FOR NO KEY UPDATE */";
    let Json(counts) = sql.value(counts, &[run.into()])?;
    Ok(counts)
}

pub(super) fn write(sql: &mut dyn Sql, run: RunId, counts: &Counts) -> Result<(), Failed> {
    let update = "UPDATE leadload.runs SET counts = $2 WHERE id = $1";
    sql.change(update, &[run.into(), Value::json(counts)])?;
    Ok(())
}
