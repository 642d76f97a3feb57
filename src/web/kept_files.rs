//! How long the files of the page are kept.
//!
//! A list is kept until its run is complete, and 30 days at most. Corrections, results and rows to
//! fix are kept until their run is pruned or forgotten.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::files;
use super::job::{Job, JobRecord, RECORD};
use super::site::Site;
use crate::exit::Failure;
use crate::ledger::{Ledger, LedgerPlace, OutputKind, RunRecord, RunState};
use crate::results::locate_outputs;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// How long drafts and lists are kept.
const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

/// What the clock says, and what it would say if nobody had set it since the program began.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    pub by_clock: Timestamp,
    pub steady: Timestamp,
}

/// Removes what has been kept for long enough; returns whether nothing of the job is left. A list
/// that was made while the clock was ahead counts as made now.
pub fn remove_old(job: &Job, now: Now) -> bool {
    let record = job.record();
    if record.made_at > now.by_clock {
        job.count_as_made(now.by_clock);
        return false;
    }
    if now.by_clock.min(now.steady).duration_since(record.made_at) <= KEPT {
        return false;
    }
    if record.runs().next().is_none() {
        return fs::remove_dir_all(&job.folder).is_ok();
    }
    remove_list(job, &record);
    false
}

/// Removes the lists of runs that are complete, where the program ended before that.
pub async fn remove_all_sent(site: &Site) -> Result<(), Failure> {
    let has_list = |job: &Arc<Job>| {
        let record = job.record();
        record.run.is_some()
            && !record.is_corrected
            && job.has_own(&record.list)
            && record.list.is_file()
    };
    let mut jobs = site.jobs.newest_first();
    jobs.retain(has_list);
    let ledger = (!jobs.is_empty())
        .then(|| site.ledger())
        .transpose()?
        .flatten();
    let runs = ledger.as_ref().map(Ledger::runs).transpose()?;
    let mut runs = runs.unwrap_or_default();
    let job_of = |run: &RunRecord| jobs.iter().find(|job| job.record().run == Some(run.run));
    runs.retain(|run| run.state() == RunState::Complete && job_of(run).is_some());
    locate_outputs(&mut runs);
    for run in &runs {
        if let Some(job) = job_of(run)
            && let Some(results) = files::output(run, Some(job), OutputKind::Results)
        {
            remove_sent(site, job, results).await?;
        }
    }
    Ok(())
}

/// Removes what is left of an upload that did not come to its end. Another page may be receiving
/// it, so it is left alone for a day; a job that cannot be read is left alone for ever.
pub fn remove_unfinished(folder: &Path, error: &io::Error) {
    let changed = fs::metadata(folder).and_then(|found| found.modified());
    let Some(changed) = changed
        .ok()
        .filter(|_| error.kind() == io::ErrorKind::NotFound)
    else {
        return;
    };
    match changed.elapsed() {
        // The clock was ahead. What is made in the folder changes it now.
        Err(_) => drop(tempfile::NamedTempFile::new_in(folder)),
        Ok(age) if age > DAY => drop(fs::remove_dir_all(folder)),
        Ok(_) => {}
    }
}

/// Removes the list of a run that is complete, after the workbook was made that shows the list and
/// its results together. If that cannot be made, the list stays until the program starts again.
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
    if job.has_own(&record.list) && !record.is_corrected {
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
            if let Ok(record) = JobRecord::read(&folder)
                && record.ledger == place.absolute()
            {
                // One file that another program has open keeps no other from being removed.
                removed = removed.and(remove_gone(&folder, &record, &runs));
            }
        }
    }
    removed
}

/// Removes what a job has of runs that are gone.
fn remove_gone(folder: &Path, record: &JobRecord, runs: &[RunRecord]) -> io::Result<()> {
    let kept = runs.iter().filter(|run| run.pruned_at.is_none());
    let kept = kept.filter(|run| record.runs().any(|of_job| of_job == run.run));
    let kept: Vec<&RunRecord> = kept.collect();
    if kept.len() == record.runs().count() {
        return Ok(());
    }
    if kept.is_empty() && record.run.is_some() {
        return fs::remove_dir_all(folder);
    }
    let outputs = kept.iter().flat_map(|run| &run.outputs);
    let outputs = outputs.filter_map(|output| output.path.clone());
    let with_workbooks = outputs.flat_map(|output| {
        let workbook = files::workbook_place(folder, &output);
        [files::digest_place(&workbook), workbook, output]
    });
    let lists = record.options.phones.suppress.iter().flatten();
    let lists = lists.map(|list| list.to_path_buf());
    let own = [folder.join(RECORD), record.list.clone()];
    let all: Vec<PathBuf> = with_workbooks.chain(lists).chain(own).collect();
    remove_all_but(&all, folder)
}

fn remove_all_but(kept: &[PathBuf], folder: &Path) -> io::Result<()> {
    let mut removed = Ok(());
    for entry in entries(folder)? {
        let is_kept = kept.iter().any(|kept| kept.starts_with(&entry));
        removed = removed.and(match (entry.is_dir(), is_kept) {
            (true, true) => remove_all_but(kept, &entry),
            (true, false) => fs::remove_dir_all(&entry),
            (false, true) => Ok(()),
            (false, false) => fs::remove_file(&entry),
        });
    }
    removed
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::job::JobId;

    fn day(day: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + day * 24 * 3600).unwrap()
    }

    fn at(by_clock: i64, steady: i64) -> Now {
        Now {
            by_clock: day(by_clock),
            steady: day(steady),
        }
    }

    /// A list that was made on this day, and its folder.
    fn made_on(made: i64) -> (tempfile::TempDir, Job) {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("1");
        fs::create_dir(&own).unwrap();
        let record = JobRecord {
            made_at: day(made),
            ..JobRecord::default()
        };
        let job = Job::new(JobId(1), own, record);
        job.save().unwrap();
        (folder, job)
    }

    #[test]
    fn a_list_goes_after_30_days() {
        let (_folder, job) = made_on(0);
        assert!(!remove_old(&job, at(30, 30)));
        assert!(remove_old(&job, at(31, 31)));
        assert!(!job.folder.exists());
    }

    #[test]
    fn a_list_that_was_made_while_the_clock_was_ahead_goes_30_days_after_that_is_seen() {
        let (_folder, job) = made_on(400);
        assert!(!remove_old(&job, at(0, 0)));
        let after_a_restart = Job::open(JobId(1), job.folder.clone()).unwrap();
        assert!(!remove_old(&after_a_restart, at(30, 30)));
        assert!(remove_old(&after_a_restart, at(31, 31)));
    }

    #[test]
    fn a_clock_that_is_set_while_the_program_runs_makes_no_list_old() {
        let (_folder, job) = made_on(0);
        assert!(!remove_old(&job, at(400, 1)), "it was set ahead");
        let (_folder, job) = made_on(0);
        assert!(
            !remove_old(&job, at(1, 400)),
            "it was ahead and was set right"
        );
        assert!(
            !remove_old(&job, at(30, -400)),
            "it was behind and was set right"
        );
    }

    #[cfg(unix)]
    #[test]
    fn an_unfinished_upload_of_a_clock_that_was_ahead_counts_as_changed_now() {
        let folder = tempfile::tempdir().unwrap();
        let ahead = std::time::SystemTime::now() + 400 * DAY;
        let of_folder = fs::File::open(folder.path()).unwrap();
        of_folder.set_modified(ahead).unwrap();
        let no_record = io::Error::from(io::ErrorKind::NotFound);
        remove_unfinished(folder.path(), &no_record);
        let changed = folder.path().metadata().unwrap().modified().unwrap();
        assert!(changed < ahead, "it is old one day from now");
    }
}
