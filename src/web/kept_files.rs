//! How long the files of the page are kept.
//!
//! A list is kept until its run is complete, and 30 days at most. Corrections, results and rows to
//! fix are kept until their run is pruned or forgotten.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::files;
use super::job::{Job, JobRecord};
use super::site::Site;
use crate::exit::Failure;
use crate::ledger::{Ledger, LedgerPlace, RunRecord};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// How long drafts and lists are kept.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Removes what has been kept for long enough; returns whether nothing of the job is left.
pub fn remove_old(job: &Job) -> bool {
    let record = job.record();
    let age = Timestamp::now().duration_since(record.made_at);
    if age.unsigned_abs() <= KEPT {
        return false;
    }
    if record.runs().next().is_none() {
        return fs::remove_dir_all(&job.folder).is_ok();
    }
    remove_list(job, &record);
    false
}

/// Removes what is left of an upload that did not come to its end. Another page may be receiving
/// it, so it is left alone for a day; a job that cannot be read is left alone for ever.
pub fn remove_unfinished(folder: &Path, error: &io::Error) {
    let age = fs::metadata(folder).and_then(|found| found.modified());
    let age = age.ok().and_then(|then| then.elapsed().ok());
    if error.kind() == io::ErrorKind::NotFound && age > Some(DAY) {
        let _ = fs::remove_dir_all(folder);
    }
}

/// Removes the list of a run that is complete, after the workbook was made that shows the list and
/// its results together. If that cannot be made, the list stays for the next attempt.
pub async fn remove_sent(site: &Site, job: &Job, results: PathBuf) -> Result<(), Failure> {
    let record = job.record();
    if let Some(run) = record.run {
        files::results_workbook(site, job, run, results).await?;
    }
    remove_list(job, &record);
    Ok(())
}

/// A corrected copy stays: nothing else has the corrections.
fn remove_list(job: &Job, record: &JobRecord) {
    if record.list.starts_with(&job.folder) && !record.is_corrected {
        let _ = fs::remove_file(&record.list);
    }
}

/// Removes the files of runs that were pruned or forgotten in this ledger. `pages` is the folder
/// of all pages.
pub fn remove_pruned(pages: &Path, place: &LedgerPlace) -> io::Result<()> {
    let Ok(Some(ledger)) = Ledger::read(place) else {
        return Ok(());
    };
    let Ok(runs) = ledger.runs() else {
        return Ok(());
    };
    let mut removed = Ok(());
    for page in entries(pages)? {
        for folder in entries(&page.join(super::LISTS))? {
            let record = JobRecord::read(&folder).ok();
            let is_gone = record.is_some_and(|record| is_gone(&record, place, &runs));
            if is_gone {
                // One file that another program has open keeps no other from being removed.
                removed = removed.and(fs::remove_dir_all(&folder));
            }
        }
    }
    removed
}

fn is_gone(record: &JobRecord, place: &LedgerPlace, runs: &[RunRecord]) -> bool {
    let is_kept = |run| {
        let mut known = runs.iter().filter(|known| known.run == run);
        known.any(|known| known.pruned_at.is_none())
    };
    let is_draft = record.run.is_none();
    record.ledger == place.absolute() && !is_draft && !record.runs().any(is_kept)
}

/// What is in a folder, if there is one.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if is_no_folder(&error) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn is_no_folder(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
