//! Phone cells that are corrected on the page. The list itself stays as it is: a corrected copy
//! becomes what is sent. It is written on a thread of its own, since a list may be long.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::checking::Checked;
use super::job::{Job, NotChanged};
use super::server::FormFields;
use super::trouble::Trouble;
use super::words::row_error;
use super::work;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::results::{Corrections, write_corrected_copy};

/// What is wrong with corrections: by row, what was typed and why it cannot be sent.
pub type Refused = BTreeMap<u64, (String, String)>;

#[derive(Debug, Default)]
pub enum CorrectState {
    #[default]
    NotBegun,
    /// A corrected copy is being written.
    Keeping,
    /// The copy is the list now, or there was nothing to keep. Some could not be kept.
    Refused(Arc<Refused>),
    Failed(Arc<NotChanged>),
}

impl CorrectState {
    /// What could not be kept, if something could not.
    pub fn refused(&self) -> Option<Arc<Refused>> {
        match self {
            CorrectState::Refused(refused) if !refused.is_empty() => Some(Arc::clone(refused)),
            _ => None,
        }
    }

    pub fn is_at_work(&self) -> bool {
        matches!(self, CorrectState::Keeping)
    }
}

/// Takes what was typed into a form of this version: begins to keep what can be sent.
pub fn begin(
    job: &Arc<Job>,
    checked: &Arc<Checked>,
    fields: &FormFields,
) -> Result<(), NotChanged> {
    let (kept, refused) = sorted(checked, fields);
    let refused = CorrectState::Refused(Arc::new(refused));
    let mut state = job.state();
    let version = fields.version();
    if state.record.version != version || state.corrections.is_at_work() {
        return Err(NotChanged::Stale);
    }
    if kept.is_empty() {
        state.corrections = refused;
        return Ok(());
    }
    state.corrections = CorrectState::Keeping;
    drop(state);
    let (of, checked) = (Arc::clone(job), Arc::clone(checked));
    let job = Arc::clone(job);
    let keep = async move || write(&of, &checked, &kept);
    work::begin(keep, move |written| {
        let changed = take(&job, version, written);
        job.state().corrections = match changed {
            Ok(()) => refused,
            Err(why) => CorrectState::Failed(Arc::new(why)),
        };
        job.has_changed();
    });
    Ok(())
}

/// The corrections that can be sent, and the others.
fn sorted(checked: &Checked, fields: &FormFields) -> (Corrections, Refused) {
    let mut refused = Refused::new();
    let mut kept = Corrections::new();
    for row in &checked.to_correct.rows {
        let typed = fields.get(&format!("row-{}", row.row.0)).map(str::trim);
        let Some(typed) = typed.filter(|typed| *typed != row.cell().trim()) else {
            continue;
        };
        match checked.intake.number_of(0, &row.corrected(typed)) {
            Ok(_) => {
                kept.insert((row.row, row.column), typed.to_owned());
                let extension = row
                    .extension
                    .map(|column| ((row.row, column), String::new()));
                kept.extend(extension);
            }
            Err(outcome) => {
                let why = row_error(outcome.error.as_ref());
                refused.insert(row.row.0, (typed.to_owned(), why));
            }
        }
    }
    (kept, refused)
}

/// Writes the corrected copy, in a folder of its own: two at the same time do not meet.
fn write(job: &Job, checked: &Checked, kept: &Corrections) -> Result<(TempDir, PathBuf), Failure> {
    let folder = job.new_folder().stopped_by(StoppedBy::Disk)?;
    let mut place = folder.path().to_owned();
    if let Some(planned) = checked.intake.inputs.first() {
        place.push(next_name(job, planned.form.text().is_none()));
        write_corrected_copy(planned, kept, &place)?;
    }
    Ok((folder, place))
}

/// Makes the corrected copy the list.
fn take(
    job: &Job,
    version: u64,
    written: Result<(TempDir, PathBuf), Failure>,
) -> Result<(), NotChanged> {
    let written = written.map_err(|failure| NotChanged::Failed(Trouble::of(&failure)));
    let (folder, place) = written?;
    let before = job.record().list;
    job.change(version, |record| {
        record.list = place;
        record.is_corrected = true;
    })?;
    let _ = folder.keep();
    if job.has_own(&before) {
        // The corrected copy has all of it.
        let _ = fs::remove_file(&before);
    }
    Ok(())
}

/// What the corrected copy is called: `october.corrected.csv`.
fn next_name(job: &Job, is_workbook: bool) -> String {
    let record = job.record();
    let stem = Path::new(&record.name)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    let ending = if is_workbook { "xlsx" } else { "csv" };
    format!("{stem}.corrected.{ending}")
}
