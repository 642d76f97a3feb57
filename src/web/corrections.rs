//! Phone cells that are corrected on the page. The list itself stays as it is: a corrected copy
//! becomes what is sent.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::checking::Checked;
use super::job::{Job, NotChanged};
use super::server::FormFields;
use super::words::row_error;
use crate::exit::Failure;
use crate::import::service;
use crate::results::{Corrections, write_corrected_copy};

/// What is wrong with corrections: by row, what was typed and why it cannot be sent.
type Refused = BTreeMap<u64, (String, String)>;

/// Takes what was typed. Corrections that can be sent are kept, the others are returned.
pub async fn take(
    job: &Arc<Job>,
    checked: &Arc<Checked>,
    fields: &FormFields,
) -> Result<Refused, NotChanged> {
    let mut refused = Refused::new();
    let mut kept = Corrections::new();
    for row in &checked.to_correct.rows {
        let typed = fields.get(&format!("row-{}", row.row.0)).map(str::trim);
        let Some(typed) = typed.filter(|typed| *typed != row.cell().trim()) else {
            continue;
        };
        match checked.intake.number_of(0, &row.corrected(typed)) {
            Ok(_) => drop(kept.insert((row.row, row.column), typed.to_owned())),
            Err(outcome) => {
                let why = row_error(&outcome.error.unwrap_or_default());
                refused.insert(row.row.0, (typed.to_owned(), why));
            }
        }
    }
    if kept.is_empty() {
        return Ok(refused);
    }
    let place = next_place(job);
    let (checked, to) = (Arc::clone(checked), place.clone());
    let written = service::on_a_thread(move || {
        let Some(planned) = checked.intake.inputs.first() else {
            return Ok(());
        };
        write_corrected_copy(planned, &kept, &to).map_err(Failure::from)
    });
    let written = written.await;
    written.map_err(|failure| NotChanged::Io(std::io::Error::other(failure.message().what)))?;
    let version = fields.version();
    job.change(version, |record| {
        record.list = place;
        record.is_corrected = true;
    })?;
    Ok(refused)
}

/// Where the next corrected copy goes: `october.corrected.csv`.
fn next_place(job: &Job) -> std::path::PathBuf {
    let record = job.record();
    let is_workbook = Path::new(&record.name).extension().is_some_and(|ending| {
        ending.eq_ignore_ascii_case("xlsx")
            || ending.eq_ignore_ascii_case("xls")
            || ending.eq_ignore_ascii_case("ods")
    });
    let ending = if is_workbook { "xlsx" } else { "csv" };
    let plain = job.beside_list(&format!(".corrected.{ending}"));
    if record.list == plain {
        job.beside_list(&format!(".corrected-again.{ending}"))
    } else {
        plain
    }
}
