//! The folder of all jobs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use jiff::Timestamp;
use tempfile::TempDir;

use super::job::{Job, JobId, JobRecord};
use super::kept_files::{self, Now};
use super::work::WorkState;
use crate::lead::RunId;
use crate::paths::is_within;
use crate::private_file;

#[derive(Debug)]
pub struct Jobs {
    folder: PathBuf,
    all: Mutex<BTreeMap<JobId, Arc<Job>>>,
    /// What the clock said when the folder was opened, and when that was.
    opened: (Timestamp, Instant),
}

impl Jobs {
    /// Opens the folder, and removes what has been kept for long enough.
    pub fn open(folder: PathBuf) -> io::Result<Jobs> {
        private_file::folders().create(&folder)?;
        let mut all = BTreeMap::new();
        for entry in fs::read_dir(&folder)?.flatten() {
            let name = entry.file_name();
            let Some(id) = name.to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            match Job::open(JobId(id), entry.path()) {
                Ok(job) => drop(all.insert(job.id, Arc::new(job))),
                Err(error) => kept_files::remove_unfinished(&entry.path(), &error),
            }
        }
        let jobs = Jobs {
            folder,
            all: Mutex::new(all),
            opened: (Timestamp::now(), Instant::now()),
        };
        jobs.remove_old();
        Ok(jobs)
    }

    /// Removes what has been kept for long enough: at the start, and before a list is added.
    fn remove_old(&self) {
        let is_at_work = |job: &Arc<Job>| job.state().sending.is_at_work();
        let (at, opened) = self.opened;
        let now = Now {
            by_clock: Timestamp::now(),
            steady: at.saturating_add(opened.elapsed()).unwrap_or(at),
        };
        self.all()
            .retain(|_, job| is_at_work(job) || !kept_files::remove_old(job, now));
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<JobId, Arc<Job>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new folder for a list that is about to arrive. It goes unless a job is made of it.
    pub fn new_folder(&self) -> io::Result<(JobId, TempDir)> {
        let last = self.all().keys().next_back().map_or(0, |last| last.0);
        let mut id = last + 1;
        loop {
            let name = id.to_string();
            let mut folders = private_file::temporary_folders();
            match folders.prefix(&name).rand_bytes(0).tempdir_in(&self.folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => id += 1,
                made => return made.map(|folder| (JobId(id), folder)),
            }
        }
    }

    /// Makes a job of a folder and keeps it.
    pub fn add(&self, id: JobId, folder: TempDir, record: JobRecord) -> io::Result<Arc<Job>> {
        self.remove_old();
        let job = Arc::new(Job::new(id, folder.path().to_owned(), record));
        job.save()?;
        let _ = folder.keep();
        self.all().insert(id, Arc::clone(&job));
        Ok(job)
    }

    pub fn get(&self, id: JobId) -> Option<Arc<Job>> {
        let job = self.all().get(&id).cloned();
        job.filter(|job| job.folder.is_dir())
    }

    /// All jobs, the newest first.
    pub fn newest_first(&self) -> Vec<Arc<Job>> {
        // The files of a run that was pruned or forgotten are gone.
        let all = self.all().values().rev().cloned().collect::<Vec<_>>();
        all.into_iter().filter(|job| job.folder.is_dir()).collect()
    }

    /// The folder itself, for files that belong to no job.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the page keeps this file.
    pub fn has(&self, file: &Path) -> bool {
        is_within(file, &self.folder)
    }

    /// Has every list checked again: what was new may have been sent meanwhile.
    pub fn forget_checks(&self) {
        for job in self.newest_first() {
            job.state().check = WorkState::default();
            // A check that is being made ends.
            job.has_changed();
        }
    }

    /// The job whose list this run has sent, in its present version or an earlier one.
    pub fn of_run(&self, run: RunId) -> Option<Arc<Job>> {
        let mut jobs = self.newest_first().into_iter();
        jobs.find(|job| job.record().runs().any(|of_job| of_job == run))
    }

    /// The jobs that are being sent or wait for their turn, the one that sends first.
    pub fn at_work(&self) -> Vec<Arc<Job>> {
        let mut jobs = self.newest_first();
        jobs.retain(|job| job.state().sending.is_at_work());
        // Each is looked at once, since it may begin meanwhile.
        jobs.sort_by_cached_key(|job| !job.state().sending.is_sending());
        jobs
    }
}
